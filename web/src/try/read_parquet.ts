/**
 * Parquet files as tables: types and values are those that the Python package reads from the same file.
 *
 * Every codec that Python reads is read without WebAssembly, which a page without 'wasm-unsafe-eval' may not run. Values are
 * read as they are stored, and their distinct ones alone are made dates, decimals and the like.
 */

import { decompress as zstd } from "fzstd";
import { parquetMetadata, parquetRead, type Compressors, type FileMetaData, type SchemaElement } from "hyparquet";
import { decompressBrotli } from "hyparquet-compressors/src/brotli.js";
import { gunzip } from "hyparquet-compressors/src/gzip.js";
import { decompressLz4, decompressLz4Raw } from "hyparquet-compressors/src/lz4.js";

import { notedTypes, type Noted } from "./arrow_schema";
import { storedAs, type Stored } from "./parquet_types";
import { counted, printable, quotedByPython } from "./text";
import { Beyond, Refused, type Column, type Table, type Value } from "./types";

/** Columns that the page offers, and values and bytes of them that are held at once. */
const MOST_COLUMNS = 1000;
const MOST_VALUES = 3e8;
const MOST_BYTES = 2e9;
/** Whole numbers below this are looked up in an array, where this marks those that have not been seen. */
const FEW = 4096;
const UNSEEN = -2;
const MAGIC = [0x50, 0x41, 0x52, 0x31];

const compressors: Compressors = {
  GZIP: (input, length) => gunzip(input, new Uint8Array(length)),
  BROTLI: decompressBrotli,
  ZSTD: (input) => zstd(input),
  LZ4: decompressLz4,
  LZ4_RAW: decompressLz4Raw,
};

/** A column of the file, or a field of one: where it stands, and how it is stored. */
interface Leaf {
  name: string;
  way: string[];
  stored: Stored;
}

/** Read a Parquet file: some of its columns by name (by default all), and of the records the first `most`. */
export async function readParquet(data: ArrayBuffer | Uint8Array, source: string, wanted: string[] | null = null, most = Infinity): Promise<Table> {
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  if (!bytes.length) throw new Refused(`${source} is empty (0 bytes)`);
  try {
    return await read(bytes, source, wanted, most);
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Refused(`${source} cannot be read as parquet: ${printable(error instanceof Error ? error.message : String(error), 300)}`);
  }
}

async function read(bytes: Uint8Array, source: string, wanted: string[] | null, most: number): Promise<Table> {
  const last = bytes.length - 4;
  if (bytes.length < 12 || !MAGIC.every((byte, i) => bytes[i] === byte && bytes[last + i] === byte)) {
    throw new Error("Parquet magic bytes not found in footer. Either the file is corrupted or this is not a parquet file.");
  }
  const buffer = (bytes.byteOffset || bytes.byteLength < bytes.buffer.byteLength ? bytes.slice() : bytes).buffer as ArrayBuffer;
  const metadata = parquetMetadata(buffer);
  const total = Number(metadata.num_rows);
  const records = Math.min(total, most);
  if (!Number.isSafeInteger(total) || total < 0 || metadata.row_groups.reduce((sum, group) => sum + Number(group.num_rows), 0) !== total) {
    throw new Error("the numbers of rows in its footer do not add up");
  }
  const noted = notedTypes(metadata.key_value_metadata?.find(({ key }) => key === "ARROW:schema")?.value);
  const { leaves, nested } = leavesOf(metadata.schema, noted);
  if (wanted === null && leaves.length > MOST_COLUMNS) {
    throw new Beyond(
      `${source} has ${counted(leaves.length)} columns, and this page takes ${counted(MOST_COLUMNS)} at most: the command of the full audit reads any number`,
    );
  }
  const asked = leaves.filter((leaf) => wanted === null || wanted.includes(leaf.name));
  const roots = new Set(asked.map((leaf) => leaf.way[0]));
  const stored = metadata.row_groups
    .flatMap((group) => group.columns)
    .reduce((sum, chunk) => sum + (roots.has(chunk.meta_data?.path_in_schema[0] ?? "") ? Number(chunk.meta_data?.total_uncompressed_size ?? 0) : 0), 0);
  if (records * asked.length > MOST_VALUES || stored > MOST_BYTES) {
    throw new Beyond(
      `${source} has ${counted(total)} records of ${counted(asked.length)} columns, more than this page holds: the command of the full audit reads them`,
    );
  }
  const times = new Map<string, number>();
  for (const leaf of leaves) times.set(leaf.name, (times.get(leaf.name) ?? 0) + 1);
  const bare = asStored(metadata, leaves);
  const columns: Column[] = [];
  for (const leaf of asked) {
    const many = times.get(leaf.name) ?? 0;
    const refusal =
      many > 1 ? `${source} has ${many} columns named ${quotedByPython(printable(leaf.name, 60))}: rename them, so that it is clear which is meant` : leaf.stored.refusal;
    if (refusal !== undefined || leaf.stored.type === "list") {
      columns.push({ name: leaf.name, type: leaf.stored.type, values: [], codes: new Int32Array(records).fill(-1), ...(refusal === undefined ? {} : { refusal }) });
      continue;
    }
    columns.push(await columnOf(buffer, bare, leaf, records));
  }
  for (const [name, fields] of nested) {
    if (!wanted?.includes(name)) continue;
    const some = fields.slice(0, 4).map((field) => quotedByPython(printable(`${name}.${field}`, 60)));
    const refusal = `column ${quotedByPython(printable(name, 60))} holds fields: name one of them, such as ${some.join(", ")}`;
    columns.push({ name, type: "other", values: [], codes: new Int32Array(records).fill(-1), refusal });
  }
  return { source, records, columns, notes: [], names: [...leaves.map((leaf) => leaf.name), ...columns.slice(asked.length).map((column) => column.name)] };
}

/** The columns, with the fields of nested ones in their stead, by dotted names; and the fields of each nested one. */
function leavesOf(schema: SchemaElement[], noted: Noted[]): { leaves: Leaf[]; nested: Map<string, string[]> } {
  const own = new Set<string>();
  const nested = new Map<string, string[]>();
  let at = 1;
  const walk = (way: string[]): Leaf[] => {
    const element = schema[at];
    if (element === undefined) throw new Error("its schema is cut");
    at += 1;
    const path = [...way, element.name];
    const name = path.join(".");
    if (!way.length) own.add(element.name);
    const stored = storedAs(element, name, way.length ? {} : noted[top]);
    if (!element.num_children) return [{ name, way: path, stored }];
    const fields: string[] = [];
    const inner: Leaf[] = [];
    for (let i = 0; i < element.num_children; i += 1) {
      fields.push(schema[at]?.name ?? "");
      inner.push(...walk(path));
    }
    if (stored.type === "list" || stored.refusal !== undefined) return [{ name, way: path, stored }];
    if (!way.length) nested.set(name, fields);
    return inner;
  };
  const leaves: Leaf[] = [];
  let top = 0;
  for (; at < schema.length; top += 1) leaves.push(...walk([]));
  // A column whose own name has a dot comes by that name alone.
  return { leaves: leaves.filter((leaf) => leaf.way.length === 1 || !own.has(leaf.name)), nested };
}

/** The metadata without what would have values converted one by one; text stays text. */
function asStored(metadata: FileMetaData, leaves: Leaf[]): FileMetaData {
  const raw = new Set(leaves.filter((leaf) => leaf.stored.raw).map((leaf) => leaf.way.join("\0")));
  let at = 1;
  const schema = [...metadata.schema];
  const walk = (way: string[]): void => {
    const element = schema[at];
    const path = [...way, element.name];
    if (raw.has(path.join("\0"))) {
      const { converted_type: _, logical_type: __, ...plain } = element;
      schema[at] = plain;
    }
    at += 1;
    for (let i = 0; i < (element.num_children ?? 0); i += 1) walk(path);
  };
  while (at < schema.length) walk([]);
  return { ...metadata, schema };
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
// One character for each byte, so that bytes can be a key.
const latin = new TextDecoder("latin1");
const parsers = {
  timestampFromNanoseconds: (nanoseconds: bigint) => nanoseconds,
  stringFromBytes: (bytes: Uint8Array | undefined) => bytes && decoder.decode(bytes),
} as unknown as Record<string, never>;

/** One column, as codes into its distinct values. */
async function columnOf(buffer: ArrayBuffer, metadata: FileMetaData, leaf: Leaf, records: number): Promise<Column> {
  const codes = new Int32Array(records).fill(-1);
  const found: Value[] = [];
  const places = new Map<unknown, number>();
  const bytes = new Map<unknown, number>();
  const byValue = new Map<Value, number>();
  const { convert, merges, type } = leaf.stored;
  const inner = leaf.way.slice(1);
  let filled = 0;
  let wrong: unknown = null;
  const place = (stored: unknown): number => {
    const value = convert(stored);
    if (value === null || (typeof value === "number" && Number.isNaN(value))) return -1;
    const key = value === 0 ? 0 : value;
    const known = merges ? byValue.get(key) : undefined;
    if (known !== undefined) return known;
    if (merges) byValue.set(key, found.length);
    return found.push(key) - 1;
  };
  // Most whole numbers are small: these are looked up in an array.
  const few = new Int32Array(FEW).fill(UNSEEN);
  const code = (stored: unknown): number => {
    let key: unknown = stored;
    if (typeof stored === "bigint") {
      const number = Number(stored);
      if (Number.isSafeInteger(number)) key = number;
    }
    if (typeof key === "number" && key >= 0 && key < FEW && Number.isInteger(key)) {
      if (few[key] === UNSEEN) few[key] = place(stored);
      return few[key];
    }
    const held = stored instanceof Uint8Array ? bytes : places;
    if (stored instanceof Uint8Array) key = latin.decode(stored);
    let at = held.get(key);
    if (at === undefined) {
      at = place(stored);
      held.set(key, at);
    }
    return at;
  };
  await parquetRead({
    file: { byteLength: buffer.byteLength, slice: (start, end) => buffer.slice(start, end) },
    metadata,
    columns: [leaf.way[0]],
    rowStart: 0,
    rowEnd: records,
    compressors,
    parsers,
    utf8: false,
    onChunk: ({ columnData, rowStart }) => {
      try {
        const end = Math.min(columnData.length, records - rowStart);
        for (let i = 0; i < end; i += 1) {
          let value: unknown = columnData[i];
          for (const step of inner) value = value === null || value === undefined ? null : (value as Record<string, unknown>)[step];
          codes[rowStart + i] = value === null || value === undefined ? -1 : code(value);
        }
        filled += Math.max(end, 0);
      } catch (error) {
        wrong = error;
      }
    },
  });
  if (wrong !== null) throw wrong;
  if (filled < records) throw new Error(`the column ${quotedByPython(printable(leaf.name, 60))} ends after ${counted(filled)} of ${counted(records)} rows`);
  const [settled, values] = leaf.stored.settle?.(found) ?? [type, found];
  return { name: leaf.name, type: settled, values, codes };
}
