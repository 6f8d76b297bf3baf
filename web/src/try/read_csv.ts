/** CSV files as tables: columns, types and values are those that the Python package reads from the same file. */

import { ADVICE } from "./advice";
import { dialectOf, inUtf8 } from "./csv_dialect";
import { Damaged, explained, rowsOf } from "./csv_rows";
import { changes, typed } from "./csv_types";
import { counted, printable, quotedByPython } from "./text";
import { Beyond, Refused, type Column, type Table } from "./types";

/** Columns that the page offers; and values that are held at once. */
const MOST_COLUMNS = 1000;
const MOST_VALUES = 3e8;

/** Read a CSV file: some of its columns by name (by default all), and of the records the first `most`; data may be `cut` from a longer file. */
export function readCsv(data: ArrayBuffer | Uint8Array, source: string, wanted: string[] | null = null, most = Infinity, cut = false): Table {
  const bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  if (!bytes.length) throw new Refused(`${source} is empty (0 bytes)`);
  const dialect = dialectOf(bytes, source);
  const utf8 = inUtf8(bytes, source, cut);
  const places = (names: (string | null)[]): Set<number> => {
    if (wanted === null && names.length > MOST_COLUMNS) {
      throw new Beyond(
        `${source} has ${counted(names.length)} columns, and this page takes ${counted(MOST_COLUMNS)} at most: the command of the full audit reads any number`,
      );
    }
    return new Set(names.flatMap((name, place) => (wanted === null || (name !== null && wanted.includes(name)) ? [place] : [])));
  };
  let rows;
  try {
    rows = rowsOf(utf8, dialect.separator.charCodeAt(0), places, most, cut);
  } catch (error) {
    if (!(error instanceof Damaged)) throw error;
    throw explained(source, error, isUtf8(utf8), ADVICE.encoding);
  }
  if (rows.header.includes(null)) throw explained(source, new Damaged(""), false, ADVICE.encoding);
  const header = rows.header as string[];
  const alone = header.length === 1 && !wanted?.includes(header[0]) ? [",", ";", "\t", "|"].find((separator) => header[0].includes(separator)) : undefined;
  if (alone !== undefined) {
    throw new Refused(
      `${source} has one column, ${quotedByPython(printable(header[0], 60))}: its values look separated by ${quotedByPython(alone)}, but ` +
        `its rows have not all as many values as its header. If they should, ${ADVICE.separator}`,
    );
  }
  if (rows.records * rows.columns.size > MOST_VALUES) {
    throw new Beyond(
      `${source} has ${counted(rows.records)} records of ${counted(rows.columns.size)} columns, more than this page holds: the command of the full audit reads them`,
    );
  }
  const times = new Map<string, number>();
  for (const name of header) times.set(name, (times.get(name) ?? 0) + 1);
  const read = [...rows.columns].map(([place, held]) => {
    let early = held.count;
    if (rows.firstBlock < rows.records) {
      early = 0;
      while (early < held.count && held.first[early] < rows.firstBlock) early += 1;
    }
    return { name: header[place], held, texts: held.texts(), early };
  });
  // Where a column is asked for whose later rows do not fit, all that are asked for are looked at again.
  const again = wanted !== null && read.some(({ texts, early }) => changes(texts, early));
  const columns: Column[] = [];
  for (const { name, held, texts, early } of read) {
    const codes = held.codes.subarray(0, rows.records);
    if ((times.get(name) ?? 0) > 1) {
      columns.push(useless(name, codes, `${source} has ${times.get(name)} columns named ${quotedByPython(printable(name, 60))}: rename them, so that it is clear which is meant`));
      continue;
    }
    if (dialect.decimalCommas.includes(name)) {
      columns.push(useless(name, codes, `the column ${quotedByPython(printable(name, 60))} of ${source} holds numbers with decimal commas, such as 0,7: ${ADVICE.decimal}`));
      continue;
    }
    if (texts.includes(null)) {
      columns.push(useless(name, codes, explained(source, new Damaged(""), false, ADVICE.encoding).message));
      continue;
    }
    columns.push(typed(name, texts, codes, early, again));
  }
  const notes = dialect.note === null ? [] : [`${printable(source)} is read as it seems to be written: ${dialect.note}`];
  return { source, records: rows.records, columns, notes, names: header };
}

/** A column that is there and cannot be used. */
function useless(name: string, codes: Int32Array, refusal: string): Column {
  return { name, type: "other", values: [], codes: new Int32Array(codes.length).fill(-1), refusal };
}

/** Whether the first bytes are UTF-8; a last character may be cut. */
function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, 1 << 24), { stream: true });
    return true;
  } catch {
    return false;
  }
}
