/** Numbers and text in sentences, spelled as Python spells them. */
import { printable as onePageLine } from "../text";

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

/** A number to six digits, without zeros at its end. */
export function general(x: number): string {
  return String(Number(x.toPrecision(6)));
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

const PRIVATE = /\p{Co}/u;

/** Text from outside as one harmless line: control and direction marks escaped, long text cut. */
export function printable(text: string, limit = 80): string {
  if (!PRIVATE.test(text)) return onePageLine(text, limit);
  // Characters of private use stay as they are in the words of an audit; the page escapes them where it shows them.
  const characters = Array.from(text);
  const cut = characters.length > limit ? [...characters.slice(0, limit - 1), "…"] : characters;
  return cut.map((one) => (PRIVATE.test(one) ? one : onePageLine(one, 1))).join("");
}

/** Text in quotes, as Python shows a text. */
export function quoted(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll("\\", "\\\\").replaceAll(mark, `\\${mark}`);
  return mark + onePageLine(escaped, Infinity) + mark;
}

/** A number to two digits, not below it. */
export function roundedUp(x: number): number {
  const size = 10 ** Math.max(String(Math.ceil(x)).length - 2, 0);
  return Math.ceil(x / size) * size;
}

export const symbol = (direction: string | null | undefined): string => (direction ?? "").replace("->", "→");
