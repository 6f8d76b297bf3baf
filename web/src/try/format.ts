/** Numbers in sentences, spelled as Python spells them. */

/** A number with so many digits after the point, as Python writes it: exact halves go to the even digit. */
export function fixed(x: number, digits: number, signed = false): string {
  const negative = x < 0 || Object.is(x, -0);
  const size = Math.abs(x);
  let text = size.toFixed(digits);
  // JavaScript takes the larger of two that are as near; Python the even one.
  const rest = size < 1e20 ? size.toFixed(100).split(".")[1].slice(digits) : "";
  if (/^50*$/.test(rest) && /[13579]$/.test(text)) {
    const whole = BigInt(text.replace(".", "")) - 1n;
    const spelled = whole.toString().padStart(digits + 1, "0");
    text = digits ? `${spelled.slice(0, -digits)}.${spelled.slice(-digits)}` : spelled;
  }
  return (negative ? "-" : signed ? "+" : "") + text;
}

/** A whole number with its thousands apart. */
export function grouped(x: number): string {
  return fixed(x, 0).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** A figure to three digits after the point, or more where they would all be 0. */
export function number(value: number | null | undefined, signed = true): string {
  if (value === null || value === undefined) return "undefined";
  return fixed(value, value === 0 || Math.abs(value) >= 0.0005 ? 3 : 5, signed);
}

/** A figure to three digits; what is rounded to 0 has no sign of its own. */
export function short(value: number | null | undefined): string {
  if (value === null || value === undefined) return "undefined";
  const cut = Number(fixed(value, 3));
  return fixed(cut === 0 ? 0 : cut, 3, true);
}

export function percent(value: number | null | undefined): string {
  return value === null || value === undefined ? "an unknown share" : `${fixed(100 * value, 1)}%`;
}

/** A number to two digits, not below it. */
export function roundedUp(x: number): number {
  const size = 10 ** Math.max(String(Math.ceil(x)).length - 2, 0);
  return Math.ceil(x / size) * size;
}

export const symbol = (direction: string | null | undefined): string => (direction ?? "").replace("->", "→");
