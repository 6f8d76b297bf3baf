/** Numbers as people read them. A number of a document is null where undefined, "inf" or "-inf" at a limit. */

export type Num = number | null | "inf" | "-inf";

const MINUS = "−";

/** As a float: NaN where undefined. */
export function float(value: Num | undefined): number {
  if (value === null || value === undefined) return NaN;
  if (value === "inf") return Infinity;
  if (value === "-inf") return -Infinity;
  return value;
}

/** Four digits after the point, with a sign where the sign says something. */
export function figure(value: Num | undefined, signed = true, digits = 4): string {
  const x = float(value);
  if (Number.isNaN(x)) return "—";
  if (!Number.isFinite(x)) return x > 0 ? "+∞" : `${MINUS}∞`;
  const text = Math.abs(x).toFixed(digits);
  if (x < 0 && Number(text) !== 0) return MINUS + text;
  return (signed ? "+" : "") + text;
}

/** Counts with thousands apart; weighted counts keep one digit. */
export function count(value: Num | undefined): string {
  const x = float(value);
  if (Number.isNaN(x)) return "—";
  if (!Number.isInteger(x)) return x.toLocaleString("en-US", { maximumFractionDigits: 1 });
  // A table has hundreds of counts, and the browser's own form takes longer than all else of a cell.
  return String(x).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Probabilities of chance: tiny ones in powers. */
export function chance(value: Num | undefined): string {
  const x = float(value);
  if (Number.isNaN(x)) return "—";
  if (x !== 0 && x < 0.001) return x.toExponential(1).replace("-", MINUS);
  return x.toFixed(3);
}

/** A share as a percentage, such as a confidence level. */
export function percent(value: number): string {
  return `${Number((100 * value).toFixed(4))}%`;
}

/** Short text for an axis. */
export function tick(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-4 ? value.toExponential(0) : String(Number(value.toPrecision(6)));
  return text.replace("-", MINUS);
}
