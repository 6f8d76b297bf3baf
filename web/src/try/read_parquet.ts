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
import { checkedGzip } from "./gzip_check";
import { OutsideYears } from "./moments";
import { byPlace, checkFooter, checkPages } from "./parquet_pages";
import { listed, storedAs, type Stored } from "./parquet_types";
import { counted, general, printable, quotedByPython, rowNumbers } from "./text";
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
  GZIP: (input, length) => checkedGzip(input, gunzip(input, new Uint8Array(length))),
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
  /** What the lists of a column of lists hold. */
  item?: { way: string[]; stored: Stored };
}

/** Read a Parquet file: some of its columns by name (by default all), and of the records the first `most`. */
export async function readParquet(data: ArrayBuffer | Uint8Array, source: string, wanted: string[] | null = null, most = Infinity): Promise<Table> {
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  if (!bytes.length) throw new Refused(`${source} is empty (0 bytes)`);
  try {
    return await read(bytes, source, wanted, most);
  } catch (error) {
    if (error instanceof Refused) throw error;
    throw new Refused(damage(source, error));
  }
}

async function read(bytes: Uint8Array, source: string, wanted: string[] | null, most: number): Promise<Table> {
  const last = bytes.length - 4;
  if (bytes.length < 12 || !MAGIC.every((byte, i) => bytes[last + i] === byte)) {
    throw new Error("Parquet magic bytes not found in footer. Either the file is corrupted or this is not a parquet file.");
  }
  const buffer = (bytes.byteOffset || bytes.byteLength < bytes.buffer.byteLength ? bytes.slice() : bytes).buffer as ArrayBuffer;
  const names = checkFooter(new Uint8Array(buffer));
  const metadata = byPlace(parquetMetadata(buffer), names);
  const total = Number(metadata.num_rows);
  const records = Math.min(total, most);
  if (!Number.isSafeInteger(total) || metadata.row_groups.some((group) => group.num_rows < 0n)) throw new Error("the numbers of rows in its footer are none");
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
    columns.push(refusal === undefined ? await readOne(buffer, bare, leaf, records, source) : unread(leaf, records, refusal));
  }
  for (const [name, fields] of nested) {
    if (!wanted?.includes(name)) continue;
    const some = fields.slice(0, 4).map((field) => quotedByPython(printable(`${name}.${field}`, 60)));
    const refusal = `column ${quotedByPython(printable(name, 60))} holds fields: name one of them, such as ${some.join(", ")}`;
    columns.push({ name, type: "other", values: [], codes: new Int32Array(records).fill(-1), refusal });
  }
  return { source, records, columns, notes: [], names: [...leaves.map((leaf) => leaf.name), ...columns.slice(asked.length).map((column) => column.name)] };
}

/** A column that cannot be used, and why. */
function unread(leaf: Leaf, records: number, refusal: string): Column {
  return { name: leaf.name, type: leaf.stored.type, values: [], codes: new Int32Array(records).fill(-1), refusal };
}

/** One column, or why it cannot be used: damage in one column leaves the others as they are. */
async function readOne(buffer: ArrayBuffer, metadata: FileMetaData, leaf: Leaf, records: number, source: string): Promise<Column> {
  try {
    checkPages(new Uint8Array(buffer), metadata, leaf.way[0]);
    return await (leaf.item ? listsOf(buffer, metadata, leaf, leaf.item.stored, records) : columnOf(buffer, metadata, leaf, records));
  } catch (error) {
    return unread(leaf, records, error instanceof OutsideYears ? error.refusal(leaf.name) : damage(source, error));
  }
}

function damage(source: string, error: unknown): string {
  return `${source} cannot be read as parquet: ${printable(error instanceof Error ? error.message : String(error), 300)}`;
}

/** The columns, with the fields of nested ones in their stead, by dotted names; and the fields of each nested one. */
function leavesOf(schema: SchemaElement[], noted: Noted[]): { leaves: Leaf[]; nested: Map<string, string[]> } {
  const own = new Set<string>();
  const nested = new Map<string, string[]>();
  let at = 1;
  const walk = (way: string[], note: Noted | undefined): Leaf[] => {
    const place = at;
    const element = schema[at];
    if (element === undefined) throw new Error("its schema is cut");
    at += 1;
    const path = [...way, element.name];
    const name = path.join(".");
    if (!way.length) own.add(element.name);
    const stored = storedAs(element, name, note);
    const fields: string[] = [];
    const inner: Leaf[] = [];
    for (let i = 0; i < (element.num_children ?? 0); i += 1) {
      fields.push(schema[at]?.name ?? "");
      inner.push(...walk(path, note?.fields?.[i]));
    }
    if (stored.type === "list") return [listLeaf(schema, place, name, path, stored, note?.fields?.[0])];
    if (!element.num_children || stored.refusal !== undefined) return [{ name, way: path, stored }];
    if (!way.length) nested.set(name, fields);
    return inner;
  };
  const leaves: Leaf[] = [];
  for (let top = 0; at < schema.length; top += 1) leaves.push(...walk([], noted[top]));
  // A column whose own name has a dot comes by that name alone.
  return { leaves: leaves.filter((leaf) => leaf.way.length === 1 || !own.has(leaf.name)), nested };
}

/** A column of lists: what they hold is a level deeper, or two. */
function listLeaf(schema: SchemaElement[], place: number, name: string, way: string[], stored: Stored, note: Noted | undefined): Leaf {
  const [list, repeated, inner] = schema.slice(place, place + 3);
  let [item, path] = [list, way];
  if (list.num_children && list.repetition_type !== "REPEATED") {
    const bare = repeated.num_children !== 1 || repeated.name === "array" || repeated.name === `${list.name}_tuple`;
    [item, path] = bare ? [repeated, [...way, repeated.name]] : [inner, [...way, repeated.name, inner.name]];
  }
  // What makes the lists of it says nothing of what it is.
  const single: SchemaElement = item === inner ? item : { ...item, repetition_type: "REQUIRED" };
  const other = listed(single);
  const held = storedAs(single, name, note);
  const refusal = other === null ? held.refusal : `column ${quotedByPython(name)} holds lists of ${other}; a list of labels per record is read`;
  return { name, way, stored: refusal === undefined ? stored : { ...stored, refusal }, item: { way: path, stored: held } };
}

/** The metadata without what would have values converted one by one; text stays text. */
function asStored(metadata: FileMetaData, leaves: Leaf[]): FileMetaData {
  const raw = new Set(leaves.flatMap(({ way, stored, item }) => (item ?? { stored }).stored.raw ? [(item ?? { way }).way.join("\0")] : []));
  const lists = new Set(leaves.filter((leaf) => leaf.item).map((leaf) => leaf.way.join("\0")));
  let at = 1;
  const schema = [...metadata.schema];
  const walk = (way: string[]): void => {
    const element = schema[at];
    const path = [...way, element.name];
    if (raw.has(path.join("\0"))) {
      const { converted_type: _, logical_type: __, ...plain } = element;
      schema[at] = plain;
    }
    // An older name of the same, the only one that hyparquet knows lists by.
    if (lists.has(path.join("\0")) && element.num_children) schema[at] = { ...schema[at], converted_type: "LIST" };
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
  await eachValue(buffer, metadata, leaf, records, (value, record) => {
    codes[record] = value === null || value === undefined ? -1 : code(value);
  });
  const [settled, values] = leaf.stored.settle?.(found) ?? [type, found];
  return { name: leaf.name, type: settled, values, codes };
}

/** A column of lists: the labels in them, and which lists are missing. A list that is none of labels is refused. */
async function listsOf(buffer: ArrayBuffer, metadata: FileMetaData, leaf: Leaf, item: Stored, records: number): Promise<Column> {
  const codes = new Int32Array(records);
  const sizes = new Set<number>();
  const found = new Set<Value>();
  let gaps = 0;
  let first = -1;
  await eachValue(buffer, metadata, leaf, records, (list, record) => {
    if (list === null || list === undefined) {
      codes[record] = -1;
      sizes.add(0);
      return;
    }
    const held = Array.from(list as ArrayLike<unknown>);
    sizes.add(held.length);
    for (const stored of held) {
      const value = stored === null || stored === undefined ? null : item.convert(stored);
      if (value !== null && !Number.isNaN(value)) found.add(value === 0 ? 0 : value);
      else {
        gaps += 1;
        if (first < 0) first = record;
      }
    }
  });
  const values = item.settle?.([...found])[1] ?? [...found];
  const refusal = gaps ? missingItems(leaf.name, first, gaps) : item.digits ? undefined : matrixRows(leaf.name, values, sizes);
  return refusal === undefined ? { name: leaf.name, type: "list", values, codes } : unread(leaf, records, refusal);
}

/** A missing label may be any label. */
function missingItems(name: string, record: number, gaps: number): string {
  return (
    `column '${printable(name, 60)}' has a list of labels with a missing one in it (${rowNumbers([record])}; ${counted(gaps)} in all). Leave it out ` +
    "of the list where the record has no such label, or make the whole list missing (None)"
  );
}

/** Lists that are rows of a matrix: probabilities, or as many zeros and ones for every record. */
function matrixRows(name: string, values: Value[], sizes: Set<number>): string | undefined {
  if (!values.length || values.some((value) => typeof value === "string")) return undefined;
  const numbers = values.map(Number).sort((a, b) => a - b);
  const fraction = numbers.find((number) => !Number.isInteger(number));
  const [size] = sizes;
  const rows = sizes.size === 1 && size > 1 && numbers.every((number) => number === 0 || number === 1);
  if (fraction === undefined && !rows) return undefined;
  const what = fraction === undefined ? `${counted(size)} zeros and ones for every record` : `fractions such as ${general(fraction)}`;
  return (
    `column '${printable(name, 60)}' holds lists with ${what}, which would be read as names of labels: they look like rows of ` +
    "a matrix. Give each of its columns a name, or lists of the labels that a record has"
  );
}

/** What a column holds for each record. */
async function eachValue(buffer: ArrayBuffer, metadata: FileMetaData, leaf: Leaf, records: number, take: (value: unknown, record: number) => void): Promise<void> {
  const inner = leaf.way.slice(1);
  let filled = 0;
  let wrong: unknown = null;
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
          take(value, rowStart + i);
        }
        filled += Math.max(end, 0);
      } catch (error) {
        wrong = error;
      }
    },
  });
  if (wrong !== null) throw wrong;
  if (filled < records) throw new Error(`the column ${quotedByPython(printable(leaf.name, 60))} ends after ${counted(filled)} of ${counted(records)} rows`);
}
