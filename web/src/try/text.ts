/** Text and numbers as Python spells them: what categories are called, how they are ordered, and how they stand in messages. */

import type { Value } from "./types";

/** A float as Python's repr() writes it. */
export function repr(number: number): string {
  if (Number.isNaN(number)) return "nan";
  if (!Number.isFinite(number)) return number > 0 ? "inf" : "-inf";
  if (Object.is(number, -0)) return "-0.0";
  const [digits, power] = number.toExponential().split("e");
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  const plain = exponent < -6 ? number.toFixed(20) : String(number);
  return plain.includes(".") ? plain : `${plain}.0`;
}

/** A number with six significant digits, as the format ":g" gives it. */
export function general(number: number): string {
  if (!Number.isFinite(number)) return repr(number);
  if (number === 0) return Object.is(number, -0) ? "-0" : "0";
  const [digits, power] = number.toExponential(5).split("e");
  const exponent = Number(power);
  const trimmed = (text: string): string => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (exponent < -4 || exponent >= 6) return `${trimmed(digits)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  return trimmed(number.toFixed(5 - exponent));
}

/** A count with commas between thousands. */
export function counted(number: number | bigint): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Where records stand, as a person counts the rows of a table: `places` count from 0, and there are as `many` in all. */
export function rowNumbers(places: number[], many = places.length): string {
  const rows = places.map((place) => String(place + 1)).join(", ");
  return `row${places.length > 1 ? "s" : ""} ${rows}${many > places.length ? ", …" : ""}, counted from 1 without the header`;
}

/** The one spelling of a category: 1, 1.0, true and "1" are one. */
export function canonical(value: Value): string {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "1" : "0";
  if (typeof value === "bigint") return value.toString();
  return Number.isInteger(value) ? BigInt(value).toString() : repr(value);
}

const NUMBER = /^[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?$/;
const NOT_FINITE = /^([+-]?)(inf|infinity|nan)$/i;

/** What Python's str.strip() takes away at both ends. */
const BLANK = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const ENDS = new RegExp(`^${BLANK}+|${BLANK}+$`, "gu");
const BLANKS = new RegExp(`${BLANK}+`, "gu");

export function strip(text: string): string {
  return text.replace(ENDS, "");
}

/** Words between blanks, as str.split() gives them. */
export function words(text: string): string[] {
  return strip(text).split(BLANKS).filter((word) => word !== "");
}

/** The value of a decimal digit of any script. */
function digit(character: string): string {
  const code = character.codePointAt(0) as number;
  if (code >= 0x1d7ce && code <= 0x1d7ff) return String((code - 0x1d7ce) % 10);
  let first = code;
  while (code - first < 9 && /\p{Nd}/u.test(String.fromCodePoint(first - 1))) first -= 1;
  return String(code - first);
}

/** What Python's float() makes of text; null where it is no number. */
export function asFloat(text: string): number | null {
  // Of text in ASCII the blanks of C are taken away, of other text all blanks.
  // eslint-disable-next-line no-control-regex
  const plain = /^[\x00-\x7f]*$/.test(text) ? text.replace(/^[\t-\r ]+|[\t-\r ]+$/g, "") : strip(text.replace(/\p{Nd}/gu, digit));
  const special = NOT_FINITE.exec(plain);
  if (special) return special[2].toLowerCase() === "nan" ? NaN : special[1] === "-" ? -Infinity : Infinity;
  return NUMBER.test(plain) ? Number(plain.replaceAll("_", "")) : null;
}

/** Compares text by its characters, which are code points in Python and halves of pairs in JavaScript. */
export function byCharacters(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) {
      const paired = (code: number): boolean => code >= 0xd800 && code <= 0xdfff;
      return paired(x) === paired(y) ? x - y : paired(x) ? 1 : -1;
    }
  }
  return a.length - b.length;
}

/** Sorts categories: numbers by value and before words, words by their characters. */
export function inOrder(categories: Iterable<string>): string[] {
  const held = [...categories].map((text): [string, number | null] => {
    const number = asFloat(text);
    return [text, number !== null && Number.isFinite(number) ? number : null];
  });
  held.sort(([a, x], [b, y]) => {
    if (x === null || y === null) return x === y ? byCharacters(a, b) : x === null ? 1 : -1;
    return x - y || byCharacters(a, b);
  });
  return held.map(([text]) => text);
}

const ESCAPED: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escaped(character: string): string {
  if (character in ESCAPED) return ESCAPED[character];
  const code = character.codePointAt(0) as number;
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
}

/** Text from outside as one harmless line: control and direction marks escaped, long text cut. */
export function printable(text: string, limit = 80): string {
  const characters = [...text];
  const shown = characters.length > limit ? [...characters.slice(0, limit - 1), "…"] : characters;
  return shown.map((character) => (/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(character) ? escaped(character) : character)).join("");
}

/** Text as Python's repr() quotes it. */
export function quotedByPython(text: string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = [...text].map((character) => {
    if (character === "\\" || character === mark) return `\\${character}`;
    return character !== " " && /[\p{C}\p{Z}]/u.test(character) ? escaped(character) : character;
  });
  return `${mark}${body.join("")}${mark}`;
}

/** Text in quotes, with what cannot be seen spelled out once. */
export function quoted(text: string, limit = 40): string {
  return `'${printable(text, limit)}'`;
}

const SHOWN = 5;

/** A few values, quoted. */
export function shown(values: Iterable<string>): string {
  const held = inOrder(values);
  const more = held.length > SHOWN ? ` and ${counted(held.length - SHOWN)} more` : "";
  return held.slice(0, SHOWN).map((value) => quoted(value, 30)).join(", ") + more;
}
