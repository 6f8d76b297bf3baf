/** Files as tables, by their names: CSV and Parquet. */

import { readCsv } from "./read_csv";
import { readParquet } from "./read_parquet";
import { counted } from "./text";
import { Beyond, Refused, type Table } from "./types";

/** Bytes of a file that the page reads at most. */
export const MOST_BYTES = 500_000_000;
/** Records that are read for the choice of columns. */
export const HEAD_RECORDS = 20_000;
/** Bytes that are looked at for them. */
const HEAD_BYTES = 1 << 25;

/** How files begin that are something else than their name says. */
const MAGIC: [number[], string, string][] = [
  [[0x50, 0x41, 0x52, 0x31], "a Parquet file", "parquet"],
  [[0x41, 0x52, 0x52, 0x4f, 0x57, 0x31], "an Arrow or Feather file", ""],
  [[0x1f, 0x8b], "gzipped", ""],
  [[0x50, 0x4b, 3, 4], "a zip archive or a spreadsheet", ""],
  [[0xd0, 0xcf, 0x11, 0xe0], "an Excel file with a password, or one of before 2007 (.xls)", ""],
];
const FORMATS: Record<string, "csv" | "parquet"> = { csv: "csv", tsv: "csv", parquet: "parquet", pq: "parquet" };
const OTHERS = ["xlsx", "arrow", "feather", "ipc", "jsonl", "ndjson", "json", "gz"];
const TITLES = "Parquet (.parquet), CSV (.csv, .tsv), Excel (.xlsx), Arrow/Feather (.arrow, .feather) and JSON lines (.jsonl), also gzipped";

/** Refuse what the page does not read; the format of what it does. */
function formatOf(source: string, size: number): "csv" | "parquet" {
  const suffix = /\.([^.]*)$/.exec(source)?.[1].toLowerCase() ?? "";
  if (OTHERS.includes(suffix)) {
    throw new Beyond(`${source} is of a format that this page does not read: it reads CSV (.csv, .tsv) and Parquet (.parquet). The full audit reads ${TITLES}`);
  }
  if (!Object.hasOwn(FORMATS, suffix)) throw new Refused(`'${source}' is of no format that is read; ${TITLES} are`);
  if (size === 0) throw new Refused(`${source} is empty (0 bytes)`);
  if (size > MOST_BYTES) {
    throw new Beyond(`${source} has ${counted(Math.ceil(size / 1e6))} MB, and this page reads ${counted(MOST_BYTES / 1e6)} MB at most: the full audit reads files of any size`);
  }
  return FORMATS[suffix];
}

/** A file with another content than its name says. */
function disguised(bytes: Uint8Array, format: string): string | null {
  const found = MAGIC.find(([magic, , own]) => own !== format && magic.every((byte, i) => bytes[i] === byte));
  return found ? `its first bytes say that it is ${found[1]}: rename or convert it` : null;
}

async function read(file: Blob | ArrayBuffer, source: string, wanted: string[] | null, most: number): Promise<Table> {
  const size = file instanceof ArrayBuffer ? file.byteLength : file.size;
  const format = formatOf(source, size);
  const cut = format === "csv" && most < Infinity && size > HEAD_BYTES;
  const part = cut ? file.slice(0, HEAD_BYTES) : file;
  const bytes = new Uint8Array(part instanceof ArrayBuffer ? part : await part.arrayBuffer());
  try {
    const table = format === "csv" ? readCsv(bytes, source, wanted, most, cut) : await readParquet(bytes, source, wanted, most);
    if (!table.records && wanted === null) throw new Refused(`${source} has no records`);
    return table;
  } catch (error) {
    if (!(error instanceof Refused) || error instanceof Beyond) throw error;
    const disguise = disguised(bytes, format);
    throw disguise === null ? error : new Refused(`${source} cannot be read as ${format}: ${disguise}`);
  }
}

/** Some columns of a file, by default all. Throws Refused. */
export function readTable(file: Blob | ArrayBuffer, source: string, wanted: string[] | null = null): Promise<Table> {
  return read(file, source, wanted, Infinity);
}

/** The first records of a file, for the choice of columns: quick, however large the file is. Throws Refused. */
export function readHead(file: Blob | ArrayBuffer, source: string): Promise<Table> {
  return read(file, source, null, HEAD_RECORDS);
}
