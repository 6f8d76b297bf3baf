/** Search by regular expression in a worker: a pattern that never ends is stopped, and the page never waits. */

const LIMIT = 1000;

// It runs apart from the page, so it is kept as text.
const WORKER = `
let names = [];
onmessage = ({ data }) => {
  if (data.names) {
    names = data.names;
    if (data.order) {
      const compare = new Intl.Collator("en", { numeric: true }).compare;
      postMessage({ order: Uint32Array.from(names.keys()).sort((a, b) => compare(names[a], names[b])) });
    }
    return;
  }
  try {
    const pattern = new RegExp(data.pattern, "iu");
    const found = [];
    for (let i = 0; i < names.length; i++) if (pattern.test(names[i])) found.push(i);
    postMessage({ id: data.id, found: Uint32Array.from(found) });
  } catch (error) {
    postMessage({ id: data.id, problem: error.message });
  }
};`;

export interface Answer {
  found?: Uint32Array;
  problem?: string;
}

export class Search {
  private worker: Worker | null = null;
  private asked = 0;
  private cancel: (() => void) | null = null;

  constructor(private readonly names: string[]) {}

  private start(): Worker {
    if (this.worker === null) {
      const address = URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
      this.worker = new Worker(address);
      this.worker.postMessage({ names: this.names });
    }
    return this.worker;
  }

  /** The order of names, made apart: a page of many labels does not wait for it. */
  inOrder(): Promise<Uint32Array> {
    const address = URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" }));
    const worker = new Worker(address);
    return new Promise((resolve) => {
      worker.addEventListener("message", ({ data }) => {
        worker.terminate();
        resolve(data.order);
      });
      worker.postMessage({ names: this.names, order: true });
    });
  }

  /** Drop a question that has not been answered. */
  drop(): void {
    this.cancel?.();
  }

  private stop(): void {
    this.worker?.terminate();
    this.worker = null;
  }

  /** The labels that match, or what is wrong with the pattern. A newer question drops an older one. */
  ask(pattern: string): Promise<Answer | null> {
    this.cancel?.();
    const id = ++this.asked;
    return new Promise((resolve) => {
      const worker = this.start();
      const done = (answer: Answer | null) => {
        clearTimeout(timer);
        worker.removeEventListener("message", heard);
        this.cancel = null;
        resolve(answer);
      };
      const heard = ({ data }: MessageEvent) => {
        if (data.id === id) done(data.problem ? { problem: data.problem } : { found: data.found });
      };
      const timer = setTimeout(() => {
        this.stop();
        done({ problem: `this pattern took longer than ${LIMIT / 1000} s and was stopped` });
      }, LIMIT);
      this.cancel = () => {
        // An unfinished search may never end: its worker goes with it.
        this.stop();
        done(null);
      };
      worker.addEventListener("message", heard);
      worker.postMessage({ id, pattern });
    });
  }
}
