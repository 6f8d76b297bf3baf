/** What the worker answers: it keeps the columns of the file, and hands out what the page shows. */
import type { ReportPage } from "../types";
import type { Asked, Guess, Opened, Progress, ShownColumn, Told } from "./messages";
import { Beyond, Refused, type Choice, type Column, type Table, type Value } from "./types";

// So many values of a column go to the page: first values, and the values that rates can be of.
const VALUES = 50;

/** The parts of an audit. */
export interface Parts {
  read: (file: File, progress: (share: number) => void) => Promise<Table>;
  guess: (table: Table) => Guess;
  /** A value as Python names it. */
  name: (value: Value) => string;
  audit: (choice: Choice, table: Table) => ReportPage;
}

function shown(column: Column, parts: Parts): ShownColumn {
  let missing = 0;
  for (let i = 0; i < column.codes.length; i++) if (column.codes[i] < 0) missing++;
  return { name: column.name, type: column.type, values: column.values.slice(0, VALUES).map(parts.name), distinct: column.values.length, missing, refusal: column.refusal };
}

/** Answers questions one after the other. */
export function answering(parts: Parts, tell: (told: Told) => void): (asked: Asked) => Promise<void> {
  let table: Table | null = null;
  const progress = (doing: Progress["doing"], share: number | null) => tell({ progress: { doing, share } });
  async function open(file: File): Promise<Opened> {
    progress("reading", file.size ? 0 : null);
    table = await parts.read(file, (share) => progress("reading", share));
    const { source, records, notes } = table;
    return { source, records, notes, columns: table.columns.map((column) => shown(column, parts)), guess: parts.guess(table) };
  }
  function audit(choice: Choice): ReportPage {
    if (table === null) throw new Error("no file is open");
    progress("counting", null);
    return parts.audit(choice, table);
  }
  return async (asked) => {
    try {
      tell("open" in asked ? { opened: await open(asked.open) } : { page: audit(asked.audit) });
    } catch (error) {
      tell(error instanceof Refused ? { refused: error.message, beyond: error instanceof Beyond } : { failed: (error as Error).message });
    }
  };
}
