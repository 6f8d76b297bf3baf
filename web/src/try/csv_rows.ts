/**
 * Rows of a CSV file as codes into the distinct texts of each column, by Arrow's rules: quotes count at the start of a field
 * only, what follows the closing quote belongs to the field, empty lines are no rows, every row has as many fields as the
 * header. Bytes are compared, and text is made of distinct values alone: a million rows take no million strings.
 */

import { BLOCK } from "./csv_dialect";
import { printable } from "./text";
import { Refused } from "./types";

const QUOTE = 34;
const LINE_FEED = 10;
const RETURN = 13;
/** Characters of a row that a message shows. */
const SHOWN = 96;

/** The distinct texts of one column and, for each record, which of them it has. */
export class Texts {
  codes = new Int32Array(1024);
  count = 0;
  /** The record that has each text first. */
  first = new Int32Array(64);
  private start = new Int32Array(64);
  private size = new Int32Array(64);
  private hash = new Int32Array(64);
  private slots = new Int32Array(256);

  constructor(private readonly store: Bytes) {}

  /** Give the next record the text that stands in the store from `start` to `end`. */
  add(record: number, start: number, end: number, hash: number): void {
    if (record >= this.codes.length) this.codes = grown(this.codes);
    this.codes[record] = this.find(record, start, end, hash);
  }

  private find(record: number, start: number, end: number, hash: number): number {
    const { bytes } = this.store;
    const mask = this.slots.length - 1;
    const length = end - start;
    let slot = hash & mask;
    for (let held = this.slots[slot]; held; held = this.slots[slot]) {
      const code = held - 1;
      if (this.hash[code] === hash && this.size[code] === length) {
        let i = 0;
        for (let other = this.start[code]; i < length && bytes[start + i] === bytes[other + i]; ) i += 1;
        if (i === length) return code;
      }
      slot = (slot + 1) & mask;
    }
    const code = this.count;
    if (code === this.first.length) {
      this.first = grown(this.first);
      this.start = grown(this.start);
      this.size = grown(this.size);
      this.hash = grown(this.hash);
    }
    this.first[code] = record;
    this.start[code] = this.store.keep(start, length);
    this.size[code] = length;
    this.hash[code] = hash;
    this.slots[slot] = code + 1;
    this.count += 1;
    if (2 * this.count > this.slots.length) this.rehash();
    return code;
  }

  private rehash(): void {
    this.slots = new Int32Array(2 * this.slots.length);
    const mask = this.slots.length - 1;
    for (let code = 0; code < this.count; code += 1) {
      let slot = this.hash[code] & mask;
      while (this.slots[slot]) slot = (slot + 1) & mask;
      this.slots[slot] = code + 1;
    }
  }

  /** The distinct texts; null for one that is not UTF-8. */
  texts(): (string | null)[] {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    return Array.from({ length: this.count }, (_, code) => {
      const { bytes } = this.store;
      const start = this.start[code];
      const size = this.size[code];
      // Short texts of ASCII, which most are, without a call of the decoder.
      if (size <= 24) {
        let text = "";
        let i = 0;
        for (; i < size && bytes[start + i] < 128; i += 1) text += String.fromCharCode(bytes[start + i]);
        if (i === size) return text;
      }
      try {
        return decoder.decode(bytes.subarray(start, start + size));
      } catch {
        return null;
      }
    });
  }
}

function grown(array: Int32Array): Int32Array<ArrayBuffer> {
  const out = new Int32Array(2 * array.length);
  out.set(array);
  return out;
}

/** The bytes of the file, and behind them the fields that had to be put together, one of which is in the making. */
class Bytes {
  /** Where the field in the making begins. */
  open: number;

  constructor(
    public bytes: Uint8Array,
    public end: number,
  ) {
    this.open = end;
  }

  push(byte: number): void {
    if (this.end === this.bytes.length) {
      const room = new Uint8Array(this.bytes.length + Math.max(1 << 16, this.bytes.length >> 1));
      room.set(this.bytes);
      this.bytes = room;
    }
    this.bytes[this.end] = byte;
    this.end += 1;
  }

  /** Where a text stays that is new: where it is. The field in the making is kept, and the next is made behind it. */
  keep(start: number, length: number): number {
    if (start === this.open && length) this.open = this.end;
    return start;
  }
}

export interface Rows {
  header: (string | null)[];
  records: number;
  /** How many records end within the first block, by which Arrow decides on types. */
  firstBlock: number;
  /** By the place of a column: those that were asked for. */
  columns: Map<number, Texts>;
}

/** What is wrong with the rows, in the words of Arrow. */
export class Damaged extends Error {}

/** The header of a file, and where the first row begins; no names where it does not end. */
function headerOf(data: Uint8Array, separator: number): { names: (string | null)[]; next: number } {
  const end = data.length;
  let at = 0;
  while (at < end && (data[at] === LINE_FEED || data[at] === RETURN)) at += 1;
  const begin = at;
  const names: (string | null)[] = [];
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (let more = true; more; ) {
    let field: Uint8Array;
    if (data[at] === QUOTE) {
      const store = new Bytes(data.subarray(at + 1, begin + BLOCK + 2), 0);
      store.end = store.open = store.bytes.length;
      const size = store.end;
      at += 1 + composed(store, 0, size, separator, 0);
      field = store.bytes.subarray(size, store.end);
    } else {
      const start = at;
      while (at < end && data[at] !== separator && data[at] !== LINE_FEED && data[at] !== RETURN && at - begin <= BLOCK) at += 1;
      field = data.subarray(start, at);
    }
    if (at - begin > BLOCK) throw new Damaged("straddling object");
    try {
      names.push(decoder.decode(field));
    } catch {
      names.push(null);
    }
    more = at < end && data[at] === separator;
    if (more) at += 1;
  }
  if (at >= end) return { names: [], next: end };
  return { names, next: at + (data[at] === RETURN && data[at + 1] === LINE_FEED ? 2 : 1) };
}

/** Read the rows behind the header; `wanted` are places of columns, `most` bounds the records. Of data that are `cut` the last row is left out. */
export function rowsOf(data: Uint8Array, separator: number, wanted: (names: (string | null)[]) => Set<number>, most = Infinity, cut = false): Rows {
  const { names, next } = headerOf(data, separator);
  if (!names.length) throw new Damaged("cannot infer number of columns");
  const places = wanted(names);
  const store = new Bytes(data, data.length);
  const columns = new Map([...places].map((place) => [place, new Texts(store)]));
  const byPlace = names.map((_, place) => columns.get(place) ?? null);
  const seen = scanInto(store, separator, next, most, byPlace, cut);
  return { header: names, records: seen.rows, firstBlock: seen.firstBlock, columns };
}

/** The rows from a place on, each field into its column; a column that is null is passed over. */
function scanInto(
  store: Bytes,
  separator: number,
  from: number,
  most: number,
  columns: (Texts | null)[],
  cut: boolean,
): { rows: number; firstBlock: number } {
  const file = store.bytes;
  const end = store.end;
  const width = columns.length;
  let at = from;
  let rows = 0;
  let firstBlock = -1;
  while (at < end && rows < most) {
    let byte = file[at];
    if (byte === LINE_FEED || byte === RETURN) {
      at += 1;
      continue;
    }
    const begin = at;
    let place = 0;
    for (let more = true; more; ) {
      const column = place < width ? columns[place] : null;
      let hash = 0;
      byte = at < end ? file[at] : LINE_FEED;
      if (byte === QUOTE) {
        at += 1;
        const start = at;
        while (at < end && (byte = file[at]) !== QUOTE) {
          hash = (Math.imul(hash, 31) + byte) | 0;
          at += 1;
          if (at - begin > BLOCK) throw new Damaged("straddling object");
        }
        const after = at + 1 < end ? file[at + 1] : LINE_FEED;
        if (at < end && (after === separator || after === LINE_FEED || after === RETURN)) {
          if (column !== null) column.add(rows, start, at, mixed(hash));
          at += 1;
        } else {
          // A doubled quote is one, and what follows the last belongs to the field: put together behind the file.
          hash = 0;
          at = composed(store, start, end, separator, begin);
          if (column !== null) {
            for (let i = store.open; i < store.end; i += 1) hash = (Math.imul(hash, 31) + store.bytes[i]) | 0;
            column.add(rows, store.open, store.end, mixed(hash));
          }
        }
      } else {
        const start = at;
        while (byte !== separator && byte !== LINE_FEED && byte !== RETURN) {
          hash = (Math.imul(hash, 31) + byte) | 0;
          at += 1;
          if (at >= end) break;
          byte = file[at];
        }
        if (column !== null) column.add(rows, start, at, mixed(hash));
      }
      place += 1;
      more = at < end && file[at] === separator;
      if (more) at += 1;
    }
    if (at - begin > BLOCK) throw new Damaged("straddling object");
    if (cut && at >= end) break;
    if (place !== width) throw new Damaged(unequal(file.subarray(begin, at), width, place));
    at += at + 1 < end && file[at] === RETURN && file[at + 1] === LINE_FEED ? 2 : 1;
    rows += 1;
    if (firstBlock < 0 && at > BLOCK) firstBlock = rows - 1;
  }
  return { rows, firstBlock: firstBlock < 0 ? rows : firstBlock };
}

/** Put a field that began with a quote together at the end of the store; where it ends in the file. */
function composed(store: Bytes, from: number, end: number, separator: number, begin: number): number {
  let at = from;
  store.end = store.open;
  while (at < end) {
    const byte = store.bytes[at];
    at += 1;
    if (byte === QUOTE) {
      if (at >= end || store.bytes[at] !== QUOTE) break;
      at += 1;
    }
    store.push(byte);
    if (at - begin > BLOCK) throw new Damaged("straddling object");
  }
  while (at < end) {
    const byte = store.bytes[at];
    if (byte === separator || byte === LINE_FEED || byte === RETURN) break;
    store.push(byte);
    at += 1;
  }
  return at;
}

function mixed(hash: number): number {
  return Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) | 0;
}

function unequal(row: Uint8Array, expected: number, found: number): string {
  const cut = row.length > 100;
  const text = new TextDecoder().decode(cut ? row.subarray(0, SHOWN) : row);
  return `CSV parse error: Expected ${expected} columns, got ${found}: ${text}${cut ? " ..." : ""}`;
}

/** The refusal of a damaged file. */
export function explained(source: string, error: Damaged, utf8: boolean, advice: string): Refused {
  let text = error.message;
  if (text.includes("cannot infer number of columns")) return new Refused(`${source} has no records: at most a header was found`);
  if (text.includes("straddl")) text = "the header or a row does not end within 16 MB, so this does not look like a table with line breaks";
  else if (!utf8) text = `it holds text that is not UTF-8: ${advice}`;
  return new Refused(`${source} cannot be read as csv: ${printable(text, 300)}`);
}
