/** Which type Arrow gives a column of a CSV file, and the values that its texts then are. */

import { OutsideYears } from "./moments";
import type { Column, ColumnType, Value } from "./types";

/** An empty field of a text file is missing, and so are the spellings that other tools write for it. */
export const NULLS = new Set(["", "NA", "N/A", "NaN", "nan", "null", "NULL", "#N/A", "<NA>"]);
const TRUE = new Set(["1", "true", "True", "TRUE"]);
const FALSE = new Set(["0", "false", "False", "FALSE"]);
/** A code with a leading zero is text: 01 and 1 are two codes. */
const CODE = /^0[0-9]+$/;
const SMALLEST = -(2n ** 63n);
const LARGEST = 2n ** 63n - 1n;

type Reader = (text: string) => Value | null;

/** Without the blanks that numbers may stand between. */
function trimmed(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, "");
}

function plainInteger(text: string): Value | null {
  if (/^0[xX][0-9a-fA-F]{1,16}$/.test(text)) return small(BigInt.asIntN(64, BigInt(text)));
  if (!/^-?[0-9]+$/.test(text)) return null;
  if (text.length < 16) return Number(text) + 0;
  const value = BigInt(text);
  return value >= SMALLEST && value <= LARGEST ? small(value) : null;
}

/** A whole number that is a bigint only where a float would not tell it from its neighbours. */
export function small(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function plainFloat(text: string): Value | null {
  if (/^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/.test(text)) return Number(text);
  if (/^[+-]?(?:inf|infinity)$/i.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  return /^[+-]?nan(?:\([0-9a-zA-Z_]*\))?$/i.test(text) ? NaN : null;
}

const integer: Reader = (text) => plainInteger(trimmed(text));
const float: Reader = (text) => plainFloat(trimmed(text));
const boolean: Reader = (text) => (TRUE.has(text) ? true : FALSE.has(text) ? false : null);

const DAY = "(\\d{4})-(\\d{2})-(\\d{2})";
const DATE = new RegExp(`^${DAY}$`);
const TIME = /^(\d{2}):(\d{2})(?::(\d{2}))?$/;
const STAMP = new RegExp(`^${DAY}(?:[ T](\\d{2})(?::?(\\d{2})(?::?(\\d{2})(?:\\.(\\d{1,9}))?)?)?)?(Z|[+-]\\d{2}(?::?\\d{2})?)?$`);

function isDay(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return day <= [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
}

const date: Reader = (text) => {
  const found = DATE.exec(trimmed(text));
  return found && isDay(Number(found[1]), Number(found[2]), Number(found[3])) ? found[0] : null;
};

const time: Reader = (text) => {
  const found = TIME.exec(trimmed(text));
  return found && Number(found[1]) < 24 && Number(found[2]) < 60 && Number(found[3] ?? 0) < 60
    ? `${found[1]}:${found[2]}:${found[3] ?? "00"}`
    : null;
};

const FIRST_NANOSECOND = -(2n ** 63n);
const LAST_NANOSECOND = 2n ** 63n - 1n;

/** A time stamp as isoformat() writes it: of seconds or of nanoseconds, of a zone or of none. */
function stamp(nanoseconds: boolean, zoned: boolean): Reader {
  return (text) => {
    const found = STAMP.exec(text);
    if (!found || (found[8] !== undefined) !== zoned || (found[8] !== undefined && found[4] === undefined)) return null;
    const [year, month, day, hour, minute, second] = found.slice(1, 7).map((part) => Number(part ?? 0));
    if (!isDay(year, month, day) || hour > 23 || minute > 59 || second > 59) return null;
    if (found[7] !== undefined && !nanoseconds) return null;
    let seconds = BigInt(Date.UTC(2000, month - 1, day, hour, minute, second) / 1000) + daysTo(year, month, day);
    if (zoned && found[8] !== "Z") {
      const [, sign, hours, minutes] = /^([+-])(\d{2}):?(\d{2})?$/.exec(found[8]) as RegExpExecArray;
      if (Number(hours) > 23 || Number(minutes ?? 0) > 59) return null;
      const offset = BigInt(Number(hours) * 3600 + Number(minutes ?? 0) * 60);
      seconds -= sign === "-" ? -offset : offset;
    }
    const parts = nanoseconds ? BigInt((found[7] ?? "").padEnd(9, "0")) : 0n;
    const whole = seconds * 1_000_000_000n + parts;
    // Arrow multiplies seconds before it adds the parts of one: what is too early by then is no time stamp.
    if (nanoseconds && (seconds * 1_000_000_000n < FIRST_NANOSECOND || whole > LAST_NANOSECOND)) return null;
    return isoformat(seconds, Number(parts), nanoseconds) + (zoned ? "+00:00" : "");
  };
}

/** Seconds by which a day of the year 2000 is moved to its own year. */
function daysTo(year: number, month: number, day: number): bigint {
  const moved = new Date(0);
  moved.setUTCFullYear(year, month - 1, day);
  return BigInt((moved.getTime() - Date.UTC(2000, month - 1, day)) / 1000);
}

/** A moment as isoformat() writes it; nanoseconds are shown where there are any beyond microseconds. */
export function isoformat(seconds: bigint, nanoseconds: number, pandas: boolean): string {
  const moment = new Date(Number(seconds) * 1000).toISOString();
  const plain = moment.slice(0, moment.indexOf("."));
  if (!nanoseconds) return plain;
  const digits = String(nanoseconds).padStart(9, "0");
  return `${plain}.${pandas && nanoseconds % 1000 ? digits : digits.slice(0, 6)}`;
}

/** In the order in which Arrow tries them; a column without any value is read as a float that is missing everywhere. */
const KINDS: [ColumnType, Reader][] = [
  ["integer", integer],
  ["boolean", boolean],
  ["date", date],
  ["date", time],
  ["date", stamp(false, false)],
  ["date", stamp(false, true)],
  ["date", stamp(true, false)],
  ["date", stamp(true, true)],
  ["float", float],
];
/** What is tried of all rows, where later rows do not fit the type of the first ones; blanks around numbers are not taken. */
const KINDS_OF_ALL: [ColumnType, Reader, Reader][] = [
  ["integer", plainInteger, integer],
  ["float", plainFloat, float],
  ["boolean", boolean, boolean],
];

const text: Reader = (value) => value;

function there(texts: (string | null)[]): string[] {
  return texts.filter((one): one is string => one !== null && !NULLS.has(one));
}

/** The type of a column by the texts that stand in the first block of the file, `early` of all; null where later ones do not fit it. */
function kindOf(texts: (string | null)[], early: number): [ColumnType, Reader] | null {
  const held = there(texts);
  if (held.some((one) => CODE.test(one))) return ["text", text];
  const first = early < texts.length ? there(texts.slice(0, early)) : held;
  if (!first.length) return held.length ? null : ["float", float];
  const found = KINDS.find(([, read]) => first.every((one) => read(one) !== null));
  if (!found) return ["text", text];
  return first.length === held.length || held.every((one) => found[1](one) !== null) ? found : null;
}

/** The type that all texts of a column fit. */
function kindOfAll(texts: (string | null)[]): [ColumnType, Reader] {
  const held = there(texts);
  if (held.some((one) => CODE.test(one))) return ["text", text];
  const fits = KINDS_OF_ALL.find(([, fit]) => held.every((one) => fit(one) !== null));
  return fits ? [fits[0], fits[2]] : ["text", text];
}

/** Whether later rows of a column do not fit the type of the first ones: then all columns are looked at again. */
export function changes(texts: (string | null)[], early: number): boolean {
  return early < texts.length && kindOf(texts, early) === null;
}

/** A column of a file: `texts` are distinct, in the order of their first record, and `early` of them stand in the first block. */
export function typed(name: string, texts: (string | null)[], codes: Int32Array, early: number, again: boolean): Column {
  const [type, read] = (again ? null : kindOf(texts, early)) ?? kindOfAll(texts);
  const values: Value[] = [];
  const places = new Map<Value, number>();
  const target = new Int32Array(texts.length);
  let same = true;
  texts.forEach((one, i) => {
    const value = one === null || NULLS.has(one) ? null : read(one);
    if (value === null || (typeof value === "number" && Number.isNaN(value))) {
      target[i] = -1;
      same = false;
      return;
    }
    // 0 and -0 are one value.
    const key = value === 0 ? 0 : value;
    let place = places.get(key);
    if (place === undefined) {
      place = values.length;
      places.set(key, place);
      values.push(key);
    }
    target[i] = place;
    same = same && place === i;
  });
  const outside = type === "date" ? values.map((value) => outsideYears(value as string)).find((one) => one !== null) : undefined;
  const refusal = outside ? { refusal: outside.refusal(name) } : {};
  return { name, type, values, codes: same ? codes : codes.map((code) => target[code]), ...refusal };
}

/** A date of the year 0, or one that its zone moves out of the years that dates have. */
function outsideYears(text: string): OutsideYears | null {
  const found = /^(?:0000|[+-]\d{6})-\d{2}-\d{2}(?:T\d{2}:\d{2}:\d{2})?/.exec(text);
  return found && new OutsideYears(BigInt(Date.parse(found[0].length > 13 ? `${found[0]}Z` : found[0]) / 1000));
}
