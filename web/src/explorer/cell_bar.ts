/** A bar from 0 with its interval in a cell of the table: as few elements as do, since a sort draws hundreds of them. */
import { s } from "../dom";

export class CellBar {
  private readonly bar = s("path");
  private readonly lines = s("path", { class: "whisker thin" });
  readonly node = s("svg", { class: "cell-bar", viewBox: "0 0 100 22", preserveAspectRatio: "none", height: 22, "aria-hidden": "true" }, this.bar, this.lines);

  /** A value that is not a number has no bar. `low` and `high` are NaN where there is no interval; all are drawn as far as the scale goes. */
  draw(value: number, low: number, high: number, [least, most]: [number, number]): void {
    const at = (x: number) => ((100 * (Math.min(most, Math.max(least, x)) - least)) / (most - least)).toFixed(2);
    const zero = at(0);
    const kind = low <= 0 && high >= 0 ? "none" : value < 0 ? "less" : "more";
    let lines = `M${zero} 0V22`;
    if (low === low && high === high) lines += `M${at(low)} 7V15M${at(low)} 11H${at(high)}M${at(high)} 7V15`;
    this.bar.setAttribute("class", `bar ${kind}`);
    this.bar.setAttribute("d", value === value ? `M${zero} 5H${at(value)}V17H${zero}Z` : "");
    this.lines.setAttribute("d", lines);
  }
}
