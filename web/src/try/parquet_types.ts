/** What a column of a Parquet file holds: the type that Arrow reads it as, and how what is stored becomes a value. */

import type { SchemaElement } from "hyparquet";

import type { Noted } from "./arrow_schema";
import { small } from "./csv_types";
import { dateOf, durationOf, momentOf, timeOf, UNITS, zoneOf } from "./moments";
import { canonical, quotedByPython } from "./text";
import type { ColumnType, Value } from "./types";

export interface Stored {
  type: ColumnType;
  /** Whether values are to be read as they are stored. */
  raw: boolean;
  convert: (stored: unknown) => Value | null;
  /** Whether what is stored differently may be one value. */
  merges: boolean;
  /** What type the column has by all of its values, and how these are then spelled. */
  settle?: (values: Value[]) => [ColumnType, Value[]];
  /** Whether these are decimal numbers, which are no floats in lists. */
  digits?: boolean;
  refusal?: string;
}

/** Floats hold so many digits of a decimal number. */
const FLOAT_DIGITS = 15;

const as = (type: ColumnType, convert: (stored: unknown) => Value | null, raw = true, merges = true): Stored => ({ type, raw, convert, merges });
const number = (type: ColumnType, convert: (stored: unknown) => Value): Stored => as(type, convert, true, false);

/** What a column of lists holds in them, where that is something else than labels. */
export function listed(element: SchemaElement): string | null {
  const { converted_type: kind, logical_type: logical } = element;
  if (kind === "LIST" || logical?.type === "LIST" || element.repetition_type === "REPEATED") return "lists";
  if (kind === "MAP" || kind === "MAP_KEY_VALUE" || logical?.type === "MAP") return "maps";
  return element.num_children ? "fields" : null;
}

/** How the values of a column are stored, and what they are. */
export function storedAs(element: SchemaElement, name: string, noted: Noted = {}): Stored {
  const { converted_type: kind, logical_type: logical, type } = element;
  if (element.repetition_type === "REPEATED" || kind === "LIST" || logical?.type === "LIST") return as("list", () => null);
  if (kind === "MAP" || kind === "MAP_KEY_VALUE" || logical?.type === "MAP") return refused(name, "map");
  if (element.num_children) return as("other", () => null, false);
  if (logical?.type === "NULL") return as("float", () => null);
  if (kind === "DECIMAL" || logical?.type === "DECIMAL") return decimal(element);
  if (type === "BOOLEAN") return number("boolean", (stored) => Boolean(stored));
  if (type === "FLOAT" || type === "DOUBLE") return number("float", Number);
  if (logical?.type === "FLOAT16") return as("float", (stored) => halfFloat(stored as Uint8Array));
  // Arrow has 64 bits for the nanoseconds of such a moment, and lets those run over that are more.
  if (type === "INT96") return as("date", (stored) => momentOf(BigInt.asIntN(64, stored as bigint), UNITS.NANOS, null));
  if (kind === "DATE" || logical?.type === "DATE") return as("date", (stored) => dateOf(BigInt(stored as number)));
  if (logical?.type === "TIMESTAMP" || kind === "TIMESTAMP_MILLIS" || kind === "TIMESTAMP_MICROS") return timestamp(element, noted.zone ?? "UTC", name);
  if (logical?.type === "TIME" || kind === "TIME_MILLIS" || kind === "TIME_MICROS") return timeOfDay(element);
  if (type === "INT64" && noted.duration !== undefined) {
    const unit = UNITS[noted.duration];
    return as("text", (stored) => durationOf(BigInt(stored as bigint), unit));
  }
  if (type === "INT32" || type === "INT64") return integer(element);
  if (type === "BYTE_ARRAY") {
    const text = kind === "UTF8" || kind === "JSON" || logical?.type === "STRING" || logical?.type === "JSON";
    // JSON is text to Arrow too.
    return text && kind !== "JSON" && logical?.type !== "JSON" ? as("text", (stored) => stored as string, false, false) : as("text", (stored) => decoded(stored as Uint8Array, text));
  }
  return refused(name, `fixed_size_binary[${element.type_length ?? 0}]`);
}

function refused(name: string, kind: string): Stored {
  const refusal = `column ${quotedByPython(name)} holds ${kind} values; numbers, text, true/false or lists of labels are read`;
  return { ...as("other", () => null), refusal };
}

function integer(element: SchemaElement): Stored {
  const { converted_type: kind, logical_type: logical } = element;
  const unsigned = kind?.startsWith("UINT_") || (logical?.type === "INTEGER" && !logical.isSigned);
  const bits = element.type === "INT64" ? 64 : 32;
  return number("integer", (stored) => {
    const value = BigInt(stored as number | bigint);
    return small(unsigned ? BigInt.asUintN(bits, value) : value);
  });
}

/** Bytes as text; what is no UTF-8 is written as escapes where the file does not say that it is text. */
function decoded(bytes: Uint8Array, text: boolean): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (text) throw error;
  }
  let out = "";
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at];
    const size = lead < 0x80 ? 1 : lead >> 5 === 6 ? 2 : lead >> 4 === 14 ? 3 : lead >> 3 === 30 ? 4 : 0;
    try {
      if (!size) throw new Error();
      out += new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(at, at + size));
      at += size;
    } catch {
      out += `\\x${lead.toString(16).padStart(2, "0")}`;
      at += 1;
    }
  }
  return out;
}

/** A decimal number: a float where floats hold all of its digits, else whole numbers and floats one by one. */
function decimal(element: SchemaElement): Stored {
  const scale = element.scale ?? 0;
  const one = 10n ** BigInt(scale);
  const most = 10n ** BigInt(element.precision ?? 0);
  const whole = (stored: unknown): bigint => {
    const digits = stored instanceof Uint8Array ? signed(stored) : BigInt(stored as number | bigint);
    if (digits >= most || digits <= -most) throw new Error(`a decimal number has more than ${element.precision} digits`);
    return digits;
  };
  const float = (digits: bigint): number => {
    const text = (digits < 0n ? -digits : digits).toString().padStart(scale + 1, "0");
    return Number(`${digits < 0n ? "-" : ""}${scale ? `${text.slice(0, -scale)}.${text.slice(-scale)}` : text}`);
  };
  if ((element.precision ?? 0) <= FLOAT_DIGITS) return { ...as("float", (stored) => float(whole(stored))), digits: true };
  const convert = (stored: unknown): Value => {
    const digits = whole(stored);
    return digits % one === 0n ? small(digits / one) : float(digits);
  };
  return { ...as("float", convert), settle: settled, digits: true };
}

/** Whole numbers where all are, floats where none is changed by being one, else text. */
function settled(values: Value[]): [ColumnType, Value[]] {
  const numbers = values as (number | bigint)[];
  if (!numbers.length) return ["text", values];
  const large = numbers.some((value) => typeof value === "bigint" && BigInt.asIntN(64, value) !== value);
  const fraction = numbers.some((value) => typeof value === "number" && !Number.isInteger(value));
  if (!fraction && !large) return ["integer", values];
  if (fraction && !numbers.some((value) => typeof value === "bigint")) return ["float", values];
  return ["text", values.map(canonical)];
}

function signed(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = value * 256n + BigInt(byte);
  return BigInt.asIntN(8 * bytes.length, value);
}

function timestamp(element: SchemaElement, zone: string, name: string): Stored {
  const { converted_type: kind, logical_type: logical } = element;
  const stamp = logical?.type === "TIMESTAMP" ? logical : null;
  const unit = UNITS[stamp?.unit ?? (kind === "TIMESTAMP_MILLIS" ? "MILLIS" : "MICROS")];
  const zoned = stamp ? stamp.isAdjustedToUTC : true;
  const ahead = zoned ? zoneOf(zone, name) : null;
  if (typeof ahead === "string") return { ...as("date", () => null), refusal: ahead };
  return as("date", (stored) => momentOf(stored as bigint, unit, ahead));
}

function timeOfDay(element: SchemaElement): Stored {
  const { converted_type: kind, logical_type: logical } = element;
  const unit = UNITS[logical?.type === "TIME" ? logical.unit : kind === "TIME_MILLIS" ? "MILLIS" : "MICROS"];
  return as("date", (stored) => timeOf(BigInt(stored as number | bigint), unit));
}

function halfFloat(bytes: Uint8Array): number {
  const bits = (bytes[1] << 8) | bytes[0];
  const sign = bits >> 15 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return (sign * fraction) / 2 ** 24;
  if (exponent === 0x1f) return fraction ? NaN : sign * Infinity;
  return sign * 2 ** (exponent - 15) * (1 + fraction / 1024);
}
