/** What the worker answers: the columns of a file by its first records, and the audit of those that are chosen. */
import type { ReportPage } from "../types";
import type { Asked, Guess, Opened, ShownColumn, Told } from "./messages";
import { Beyond, Refused, type Choice, type Column, type Table, type Value } from "./types";

// So many values of a column go to the page: first values, and the values that rates can be of.
const VALUES = 50;

/** The parts of an audit. */
export interface Parts {
  /** The first records, quickly, and whether they are all. */
  head: (file: File) => Promise<{ table: Table; whole: boolean }>;
  /** All records of some columns. */
  read: (file: File, columns: string[]) => Promise<Table>;
  guess: (table: Table) => Guess;
  /** A value as Python names it. */
  name: (value: Value) => string;
  /** The page of an audit, and how many records were left out. */
  audit: (table: Table, choice: Choice) => { page: ReportPage; left: number };
}

function shown(column: Column, parts: Parts): ShownColumn {
  let missing = 0;
  for (let i = 0; i < column.codes.length; i++) if (column.codes[i] < 0) missing++;
  return { name: column.name, type: column.type, values: column.values.slice(0, VALUES).map(parts.name), distinct: column.values.length, missing, refusal: column.refusal };
}

/** Answers questions one after the other. */
export function answering(parts: Parts, tell: (told: Told) => void): (asked: Asked) => Promise<void> {
  // The columns that were read last: another level or value needs no second reading.
  let kept: { file: File; columns: string; table: Table } | null = null;
  async function open(file: File): Promise<Opened> {
    const { table, whole } = await parts.head(file);
    const { source, records, notes } = table;
    return { source, records, whole, notes, columns: table.columns.map((column) => shown(column, parts)), guess: parts.guess(table) };
  }
  async function audit(file: File, choice: Choice): Promise<{ page: ReportPage; left: number }> {
    const columns = [...new Set([...choice.attributes, ...choice.tasks, ...choice.task_predictions])];
    const key = JSON.stringify(columns);
    if (kept?.file !== file || kept.columns !== key) {
      tell({ doing: "reading" });
      kept = { file, columns: key, table: await parts.read(file, columns) };
    }
    tell({ doing: "counting" });
    return parts.audit(kept.table, choice);
  }
  return async (asked) => {
    try {
      tell("open" in asked ? { opened: await open(asked.open) } : await audit(asked.file, asked.audit));
    } catch (error) {
      tell(error instanceof Refused ? { refused: error.message, beyond: error instanceof Beyond } : { failed: (error as Error).message });
    }
  };
}
