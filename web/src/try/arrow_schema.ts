/** What the writer of a Parquet file noted of Arrow types that Parquet has none of: zones of time, and durations. */

import { Flatbuffer, type FlatTable } from "./flatbuffer";

const [SCHEMA, INT, TIMESTAMP, LIST, DURATION, LARGE_LIST, LAST] = [1, 2, 10, 12, 18, 21, 26];
const VERSIONS = 5;
const UNITS = ["SECONDS", "MILLIS", "MICROS", "NANOS"];

export interface Noted {
  zone?: string;
  /** The unit of a duration. */
  duration?: string;
  /** Of each field of a column that has some, in their order. */
  fields?: Noted[];
}

/** Of each column of the file, in their order; empty where nothing was noted. A note that cannot be followed is damage, as to Arrow. */
export function notedTypes(encoded: string | undefined): Noted[] {
  if (!encoded) return [];
  const bytes = Uint8Array.from(atob(encoded), (one) => one.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  // Older writers leave out the mark before the length.
  const start = view.getUint32(0, true) === 0xffffffff ? 8 : 4;
  const length = view.getInt32(start - 4, true);
  if (length < 0 || start + length > bytes.length) throw new Error("what its writer noted of types has no end");
  const message = new Flatbuffer(bytes.slice(start, start + length)).root();
  const schema = message.table(2);
  if (schema === null || message.number(1, 1) !== SCHEMA || message.number(0, 2) >= VERSIONS) throw new Error("what its writer noted of types is no schema");
  pairs(schema, 2);
  return schema.tables(1).map(noted);
}

/** Names and values that a table carries, which are looked at only for where they stand. */
function pairs(table: FlatTable, field: number): void {
  for (const pair of table.tables(field)) [0, 1].forEach((side) => pair.text(side));
}

function noted(field: FlatTable): Noted {
  field.text(0);
  pairs(field, 6);
  const kind = field.number(2, 1);
  const type = field.table(3);
  const fields = field.tables(5).map(noted);
  if (type === null || kind < 1 || kind > LAST) throw new Error("what its writer noted of types is of no known type");
  if (kind === INT && ![8, 16, 32, 64].includes(type.number(0, 4))) throw new Error("what its writer noted of types has numbers of no known width");
  if ((kind === LIST || kind === LARGE_LIST) && fields.length !== 1) throw new Error("what its writer noted of types has lists of several fields");
  // Of what is noted as categories, Arrow restores text alone: all else comes as it is stored.
  if (field.table(4) !== null) return {};
  if (kind === DURATION) return { duration: UNITS[type.number(0, 2, 1)] };
  if (kind === TIMESTAMP) {
    const zone = type.text(1);
    return zone ? { zone } : {};
  }
  return fields.length ? { fields } : {};
}
