/** Work for later, done while nobody waits: a step at a time, and none while the reader does something. */
import type { Columns } from "./columns";
import type { State } from "./state";
import type { LabelTable } from "./table";

type Idle = (done: (deadline: { timeRemaining(): number }) => void) => void;

// Browsers that do not say when they rest get a step from time to time.
const PAUSE = 200;
const whenIdle: Idle = "requestIdleCallback" in window ? (done) => window.requestIdleCallback(done) : (done) => setTimeout(() => done({ timeRemaining: () => 0 }), PAUSE);
// Figures of all metrics are computed before they are asked for where they are no more than this: some 60 MB with their ranks and orders.
const MOST = 3e6;

export class Ahead {
  private steps: Iterator<void> | null = null;
  private due = false;

  /** Do these steps instead of what is left of the last ones. */
  begin(steps: Iterator<void>): void {
    this.steps = steps;
    this.later();
  }

  private later(): void {
    if (this.due) return;
    this.due = true;
    whenIdle((deadline) => {
      this.due = false;
      do {
        if (this.steps === null || this.steps.next().done) return void (this.steps = null);
      } while (deadline.timeRemaining() > 0);
      this.later();
    });
  }
}

/** What the table needs for each metric, so that choosing one is answered at once. */
export function* everyMetric(columns: Columns, table: LabelTable, state: State): Generator<void> {
  const { runs, metrics } = columns;
  const { contrast } = state;
  if (!runs[0].contrasts.length || metrics.length * runs.length * runs[0].size > MOST) return;
  for (const metric of metrics) {
    for (const run of runs) {
      run.ranks(metric, contrast);
      yield;
    }
    yield* table.prepare({ ...state, metric, contrast });
  }
}
