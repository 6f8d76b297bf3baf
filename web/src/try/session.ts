/** The worker that reads and counts, as the page uses it: one file, one question at a time, stopped at once when asked. */
import type { ReportPage } from "../types";
import type { Asked, Doing, Opened, Told } from "./messages";
import { Beyond, Refused, type Choice } from "./types";

/** The reader stopped the work. */
export class Stopped extends Error {}

export class Session {
  private worker: Worker | null = null;
  private stopped: (() => void) | null = null;

  constructor(
    private readonly file: File,
    private readonly start: () => Worker,
    private readonly told: (doing: Doing) => void,
  ) {}

  /** Read the first records. */
  async open(): Promise<Opened> {
    const answer = await this.ask({ open: this.file });
    if (!("opened" in answer)) throw new Error("the worker answered something else");
    return answer.opened;
  }

  /** Measure all records. */
  async audit(choice: Choice): Promise<{ page: ReportPage; left: number }> {
    const answer = await this.ask({ audit: choice, file: this.file });
    if (!("page" in answer)) throw new Error("the worker answered something else");
    return answer;
  }

  /** End the work, finished or not. */
  stop(): void {
    this.worker?.terminate();
    this.worker = null;
    this.stopped?.();
  }

  private ask(question: Asked): Promise<Told> {
    const worker = (this.worker ??= this.start());
    return new Promise((resolve, reject) => {
      const done = () => {
        this.stopped = null;
        worker.onmessage = worker.onerror = null;
      };
      worker.onmessage = ({ data }: MessageEvent<Told>) => {
        if ("doing" in data) return this.told(data.doing);
        done();
        if ("refused" in data) reject(data.beyond ? new Beyond(data.refused) : new Refused(data.refused));
        else if ("failed" in data) reject(new Error(data.failed));
        else resolve(data);
      };
      worker.onerror = (event) => {
        done();
        event.preventDefault?.();
        this.worker = null;
        reject(new Error(event.message || "the worker ended"));
      };
      this.stopped = () => {
        done();
        reject(new Stopped());
      };
      worker.postMessage(question);
    });
  }
}
