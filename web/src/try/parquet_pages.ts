/**
 * What is checked of a Parquet file before it is decoded: the footer and the headers of the pages, as the Python package and Arrow do.
 *
 * hyparquet trusts both. A damaged one would give values of other records, or never end.
 */

import type { FileMetaData } from "hyparquet";

import { counted, printable, quotedByPython } from "./text";
import { BINARY, BOOL, checked, Ended, I32, I64, LIST, STRUCT, structAt, type Numbers, type Shape, type Struct } from "./thrift";

/** Bytes behind the footer: its length, and who it is. */
const END = 8;
/** Bytes of a page's header that are read at most, as Arrow has it. */
const HEADER = 16 << 20;
/** Arrow reads so many bytes more than the footer says, for the sake of an old writer. */
const PADDING = 100;
/** What every footer has, by the fields of Parquet's own definition. */
const PAIR: Shape = { needed: { 1: BINARY } };
const COLUMN: Shape = {
  needed: { 1: I32, 2: LIST, 3: LIST, 4: I32, 5: I64, 6: I64, 7: I64, 9: I64 },
  inner: { 8: PAIR, 13: { needed: { 1: I32, 2: I32, 3: I32 } } },
};
const GROUP: Shape = {
  needed: { 1: LIST, 2: I64, 3: I64 },
  inner: { 1: { needed: { 2: I64, 3: STRUCT }, inner: { 3: COLUMN } }, 4: { needed: { 1: I32, 2: BOOL, 3: BOOL } } },
};
/** Decimal numbers, times and moments, and whole numbers, as later writers say it. */
const LOGICAL: Shape = {
  needed: {},
  inner: { 5: { needed: { 1: I32, 2: I32 } }, 7: { needed: { 1: BOOL, 2: STRUCT } }, 8: { needed: { 1: BOOL, 2: STRUCT } }, 10: { needed: { 2: BOOL } } },
};
const FOOTER: Shape = {
  needed: { 1: I32, 2: LIST, 3: I64, 4: LIST },
  inner: { 2: { needed: { 4: BINARY }, inner: { 4: "text", 10: LOGICAL } }, 4: GROUP, 5: PAIR },
};
/** How levels and dictionaries may be written: runs, and plain or its older name. */
const [RLE, BIT_PACKED, PLAIN, OLD_PLAIN] = [3, 4, 0, 2];
const [DATA, DICTIONARY, DATA_2] = [0, 2, 3];
/** The field in which a page of each type says more, and what must be there. */
const DETAILS: Record<number, [number, number[]]> = { [DATA]: [5, [1, 2, 3, 4]], [DICTIONARY]: [7, [1, 2]], [DATA_2]: [8, [1, 2, 3, 4, 5, 6]] };

/** Refuse a footer that cannot be followed; the names in its schema, whole: hyparquet takes a byte order mark off them. */
export function checkFooter(bytes: Uint8Array): string[] {
  const end = bytes.length - END;
  const length = new DataView(bytes.buffer, bytes.byteOffset + end).getUint32(0, true);
  if (length > end) throw new Error("the file has no footer");
  const names: string[] = [];
  checked(bytes.subarray(end - length, end), 0, FOOTER, names);
  return names;
}

/** The metadata with what Arrow goes by: row groups say how many rows there are, and a column's place which it is. */
export function byPlace(read: FileMetaData, names: string[]): FileMetaData {
  if (names.length !== read.schema.length) throw new Error("its schema has columns without one name");
  const metadata = { ...read, schema: read.schema.map((element, i) => ({ ...element, name: names[i] })) };
  const paths = leafPaths(metadata).map(({ path }) => path);
  const rows = metadata.row_groups.reduce((sum, group) => sum + group.num_rows, 0n);
  const groups = metadata.row_groups.map((group) => {
    if (group.columns.length < paths.length) throw new Error(`a row group has ${counted(group.columns.length)} of ${counted(paths.length)} columns`);
    const columns = group.columns.map((chunk, i) => (chunk.meta_data ? { ...chunk, meta_data: { ...chunk.meta_data, path_in_schema: paths[i] ?? [] } } : chunk));
    return { ...group, columns };
  });
  return { ...metadata, num_rows: rows, row_groups: groups };
}

/** Refuse columns whose pages cannot be followed, or do not hold what the footer says; `root` is the first step to them. */
export function checkPages(bytes: Uint8Array, metadata: FileMetaData, root: string): void {
  const leaves = leafPaths(metadata);
  for (const group of metadata.row_groups) {
    for (const [place, chunk] of group.columns.entries()) {
      const said = chunk.meta_data;
      if (said === undefined) throw new Error("the footer does not say where a column is");
      if (said.path_in_schema[0] !== root) continue;
      const name = quotedByPython(printable(said.path_in_schema.join("."), 60));
      const values = Number(said.num_values);
      const repeated = leaves[place]?.repeated ?? false;
      if (!repeated && values !== Number(group.num_rows)) {
        throw new Error(`column ${name} has ${counted(values)} values for ${counted(Number(group.num_rows))} rows`);
      }
      const [data, dictionary] = [Number(said.data_page_offset), Number(said.dictionary_page_offset ?? 0)];
      const start = dictionary > 0 ? Math.min(data, dictionary) : data;
      const found = valuesOf(bytes, start, start + Number(said.total_compressed_size), values, name, repeated);
      if (found !== values) throw new Error(`column ${name} has ${counted(found)} of its ${counted(values)} values`);
    }
  }
}

/** The ways to the columns that have values of their own, and whether they stand in lists. */
function leafPaths(metadata: FileMetaData): { path: string[]; repeated: boolean }[] {
  const out: { path: string[]; repeated: boolean }[] = [];
  if (metadata.schema.some((element) => (element.num_children ?? 0) < 0)) throw new Error("its schema has a column of less than no fields");
  let at = 1;
  const walk = (way: string[], inside: boolean): void => {
    const element = metadata.schema[at];
    if (element === undefined) throw new Error("its schema is cut");
    at += 1;
    const path = [...way, element.name];
    const repeated = inside || element.repetition_type === "REPEATED";
    if (!element.num_children) out.push({ path, repeated });
    for (let i = 0; i < (element.num_children ?? 0); i += 1) walk(path, repeated);
  };
  while (at < metadata.schema.length) walk([], false);
  return out;
}

/** How many values the pages of a column hold. */
function valuesOf(bytes: Uint8Array, start: number, end: number, wanted: number, name: string, repeated: boolean): number {
  if (start < 0 || end > bytes.length) throw new Error(`column ${name} does not lie within the file`);
  let [values, at] = [0, start];
  while (values < wanted && at < Math.min(end + PADDING, bytes.length)) {
    const header = headerAt(bytes, at, name);
    const [type, size, packed] = [1, 2, 3].map((field) => header.numbers.get(field) ?? -1);
    const [place, needed] = DETAILS[type] ?? [0, []];
    const details: Numbers = header.structs.get(place) ?? new Map();
    if (Math.min(size, packed) < 0 || !needed.every((field) => details.has(field))) throw new Error(`a page of column ${name} does not say what it holds`);
    at += header.end + packed;
    if (at > bytes.length) throw new Error(`a page of column ${name} has no end`);
    const held = details.get(1) ?? 0;
    if (held < 0) throw new Error(`a page of column ${name} has ${counted(held)} values`);
    // Levels of lists, the second, are written for columns that stand in lists alone.
    if (type === DATA && ![3, ...(repeated ? [4] : [])].every((field) => [RLE, BIT_PACKED].includes(details.get(field) ?? -1))) throw new Error(`levels of column ${name} are written in no known way`);
    if (type === DICTIONARY && (![PLAIN, OLD_PLAIN].includes(details.get(2) ?? -1) || values)) throw new Error(`the dictionary of column ${name} is not where or what it has to be`);
    if (type === DATA || type === DATA_2) values += held;
  }
  return values;
}

function headerAt(bytes: Uint8Array, at: number, name: string): Struct {
  try {
    return structAt(bytes.subarray(at, at + HEADER), 0);
  } catch (error) {
    if (error instanceof Ended) throw new Error(`the header of a page of column ${name} has no end`);
    throw new Error(`the pages of column ${name} cannot be followed: ${error instanceof Error ? error.message : String(error)}`);
  }
}
