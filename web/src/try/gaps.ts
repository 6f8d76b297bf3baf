/** Records that lack a value of a chosen column, and the table without them. */
import { Refused, type Choice, type Column, type Table } from "./types";

/** The records that lack a value of a chosen column are left out, as if the file did not have them; `left` is how many they are. */
export function withoutGaps(table: Table, choice: Choice): { table: Table; left: number } {
  const names = new Set([...choice.attributes, ...choice.tasks, ...choice.task_predictions]);
  const chosen = table.columns.filter(({ name, refusal }) => names.has(name) && refusal === undefined);
  const kept: number[] = [];
  for (let record = 0; record < table.records; record += 1) if (chosen.every(({ codes }) => codes[record] >= 0)) kept.push(record);
  const left = table.records - kept.length;
  // A column without any value is refused for that, by name.
  if (!left || chosen.some(({ values }) => !values.length)) return { table, left: 0 };
  if (!kept.length) throw new Refused("every record has a missing value in one of the chosen columns, so that none is left");
  return { table: { ...table, records: kept.length, columns: table.columns.map((column) => (chosen.includes(column) ? taken(column, kept) : column)) }, left };
}

/** The values of some records; those that no record has any more are gone. */
function taken(column: Column, records: number[]): Column {
  const place = new Int32Array(column.values.length).fill(-1);
  const values: Column["values"] = [];
  const codes = Int32Array.from(records, (record) => {
    const code = column.codes[record];
    if (place[code] < 0) place[code] = values.push(column.values[code]) - 1;
    return place[code];
  });
  return { ...column, values, codes };
}
