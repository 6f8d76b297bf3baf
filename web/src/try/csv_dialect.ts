/** How a CSV file is written: what separates its values and how its characters are encoded, found from its first rows. */

import { Refused } from "./types";

/** A separator by its name. Comma comes first: it is taken wherever it fits. */
const SEPARATORS: Record<string, string> = { ",": "commas", "\t": "tabs", ";": "semicolons", "|": "bars" };
/** Rows that are looked at, in the first bytes or, where not one row ends there, in as many as a row may have. */
const ROWS = 100;
const HEAD = 1 << 16;
/** A header or a row of more bytes than this is no table. */
export const BLOCK = 1 << 24;
/** The longest field that the look at the first rows takes. */
const LONGEST_FIELD = 131072;
const LINE_FEED = 10;
const RETURN = 13;

type Encoding = "utf-8" | "utf-8-sig" | "utf-16" | "utf-32";

export interface Dialect {
  separator: string;
  /** Columns whose first values are numbers such as 0,7. */
  decimalCommas: string[];
  /** What is unusual, in words. */
  note: string | null;
}

/** Byte order marks; that of UTF-32 begins as that of UTF-16 does, so it comes first. */
const MARKS: [number[], Encoding, boolean][] = [
  [[0xff, 0xfe, 0, 0], "utf-32", true],
  [[0, 0, 0xfe, 0xff], "utf-32", false],
  [[0xff, 0xfe], "utf-16", true],
  [[0xfe, 0xff], "utf-16", false],
  [[0xef, 0xbb, 0xbf], "utf-8-sig", true],
];

function markOf(bytes: Uint8Array): { encoding: Encoding; little: boolean; length: number } {
  const found = MARKS.find(([mark]) => mark.every((byte, i) => bytes[i] === byte));
  return found ? { encoding: found[1], little: found[2], length: found[0].length } : { encoding: "utf-8", little: true, length: 0 };
}

/** The text of UTF-32; a character that is none is null, or a replacement character where `fatal` is not set. */
function fromUtf32(bytes: Uint8Array, little: boolean, fatal: boolean): string | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: string[] = [];
  let part = "";
  for (let at = 0; at + 4 <= bytes.length; at += 4) {
    const code = view.getUint32(at, little);
    const wrong = code > 0x10ffff || (code >= 0xd800 && code < 0xe000);
    if (wrong && fatal) return null;
    part += wrong ? "\ufffd" : String.fromCodePoint(code);
    if (part.length > 1 << 16) {
      parts.push(part);
      part = "";
    }
  }
  if (fatal && bytes.length % 4) return null;
  return parts.join("") + part;
}

/** The text of bytes; null where they are not in their encoding. */
function decoded(bytes: Uint8Array, encoding: Encoding, little: boolean): string | null {
  if (encoding === "utf-32") return fromUtf32(bytes, little, true);
  try {
    return new TextDecoder(little ? "utf-16le" : "utf-16be", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** The bytes of a file in UTF-8 without a mark, whatever encoding its mark names; a file that is `cut` may end within a character. */
export function inUtf8(bytes: Uint8Array, source: string, cut = false): Uint8Array {
  const { encoding, little, length } = markOf(bytes);
  const body = bytes.subarray(length);
  if (encoding.startsWith("utf-8")) return body;
  const text = cut ? decodedHead(body, encoding, little) : decoded(body, encoding, little);
  if (text === null) throw new Refused(`${source} cannot be read as csv: its byte order mark says ${encoding.toUpperCase()}, which its bytes are not`);
  return new TextEncoder().encode(text);
}

/** Whether the name of a file says that tabs separate its values. */
export function isTsv(source: string): boolean {
  return source.split(".").slice(1).some((suffix) => suffix.toLowerCase() === "tsv");
}

/** How a CSV file is written; the bytes are those of the file, its mark included. */
export function dialectOf(bytes: Uint8Array, source: string): Dialect {
  let size = Math.min(bytes.length, HEAD);
  const ends = (byte: number): boolean => byte === LINE_FEED || byte === RETURN;
  if (size === HEAD && !bytes.subarray(0, size).some(ends)) size = Math.min(bytes.length, BLOCK);
  const cut = bytes.length > size;
  const { encoding, little, length } = markOf(bytes);
  const head = bytes.subarray(length, size);
  // A character that is cut at the end is left out, as an incremental decoder does.
  const text = decodedHead(head, encoding, little);
  const tsv = isTsv(source);
  const usual = tsv ? "\t" : ",";
  const fitting = new Map<string, string[][]>();
  for (const separator of tsv ? [usual] : Object.keys(SEPARATORS)) {
    const rows = firstRows(text, separator, cut);
    if (rows.length && rows[0].length > 1 && rows.every((row) => row.length === rows[0].length)) {
      fitting.set(separator, rows);
      if (separator === usual) break;
    }
  }
  let found = usual;
  let most = 0;
  for (const [separator, rows] of fitting) {
    if (rows[0].length > most) [found, most] = [separator, rows[0].length];
  }
  const words = tsv || found === "," ? [] : [`its values are separated by ${SEPARATORS[found]}`];
  if (!encoding.startsWith("utf-8")) words.push(`its text is in ${encoding.toUpperCase()}`);
  return {
    separator: found,
    decimalCommas: found === "," ? [] : decimalCommas(fitting.get(found) ?? [[]]),
    note: words.length ? words.join(" and ") : null,
  };
}

/** The text of the first bytes of a file: what is wrong is replaced, and a character that is cut is left out. */
function decodedHead(head: Uint8Array, encoding: Encoding, little: boolean): string {
  if (encoding === "utf-32") return fromUtf32(head, little, false) ?? "";
  const name = encoding === "utf-16" ? (little ? "utf-16le" : "utf-16be") : "utf-8";
  return new TextDecoder(name, { ignoreBOM: true }).decode(head, { stream: true });
}

/** The header and the first rows; the last one is left out where the text is cut within it. */
function firstRows(text: string, separator: string, cut: boolean): string[][] {
  const rows = rowsOf(text, separator, ROWS);
  if (rows === null) return [];
  return (cut && rows.length < ROWS ? rows.slice(0, -1) : rows).filter((row) => row.length);
}

/** Rows as Python's csv.reader gives them: an empty line has no values; null where a field is too long for it. */
function rowsOf(text: string, separator: string, limit: number): string[][] | null {
  const rows: string[][] = [];
  const between = separator.charCodeAt(0);
  let at = 0;
  while (at < text.length && rows.length < limit) {
    const row: string[] = [];
    let open = true;
    if (text[at] === "\n" || text[at] === "\r") {
      at += text[at] === "\r" && text[at + 1] === "\n" ? 2 : 1;
      rows.push(row);
      continue;
    }
    while (open) {
      let field = "";
      if (text[at] === '"') {
        at += 1;
        for (;;) {
          const end = text.indexOf('"', at);
          field += text.slice(at, end < 0 ? text.length : end);
          at = end < 0 ? text.length : end + 1;
          if (text[at] !== '"' || end < 0) break;
          field += '"';
          at += 1;
        }
      }
      if (field.length > LONGEST_FIELD) return null;
      const start = at;
      for (; at < text.length; at += 1) {
        const code = text.charCodeAt(at);
        if (code === between || code === LINE_FEED || code === RETURN) break;
        if (at - start > LONGEST_FIELD) return null;
      }
      field += text.slice(start, at);
      if (field.length > LONGEST_FIELD) return null;
      row.push(field);
      open = text[at] === separator;
      if (open) at += 1;
      else if (at < text.length) at += text[at] === "\r" && text[at + 1] === "\n" ? 2 : 1;
    }
    rows.push(row);
  }
  return rows;
}

/** The columns whose values in some rows, behind the header, are numbers with decimal commas. */
function decimalCommas(rows: string[][]): string[] {
  const [header, ...records] = rows;
  return header.filter((_, place) => {
    const values = records.map((row) => row[place].trim()).filter((value) => value !== "");
    return values.some((value) => value.includes(",")) && values.every((value) => /^[+-]?\p{Nd}+(,\p{Nd}+)?$/u.test(value));
  });
}
