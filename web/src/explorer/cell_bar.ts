/** A bar from 0 with its interval in a cell of the table: as few elements as do, since a sort makes hundreds of them. */
import { s } from "../dom";

/** `within` are the limits, null where there are none; all are on the scale. */
export function cellBar(value: number | null, within: [number, number] | null, scale: [number, number]): SVGElement {
  const at = (x: number) => ((100 * (x - scale[0])) / (scale[1] - scale[0])).toFixed(2);
  const zero = at(0);
  const unsure = within !== null && within[0] <= 0 && within[1] >= 0;
  const kind = unsure ? "none" : (value ?? 0) < 0 ? "less" : "more";
  const lines = [`M${zero} 0V22`];
  if (within !== null) lines.push(`M${at(within[0])} 7V15M${at(within[0])} 11H${at(within[1])}M${at(within[1])} 7V15`);
  return s("svg", { class: "cell-bar", viewBox: "0 0 100 22", preserveAspectRatio: "none", height: 22, "aria-hidden": "true" },
    value === null ? null : s("path", { d: `M${zero} 5H${at(value)}V17H${zero}Z`, class: `bar ${kind}` }),
    s("path", { d: lines.join(""), class: "whisker thin" }));
}
