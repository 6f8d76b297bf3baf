/** What the page and its worker tell each other. Records stay in the worker: the page knows what it shows. */
import type { ReportPage } from "../types";
import type { Choice, ColumnType } from "./types";

/** A column as the page shows it. */
export interface ShownColumn {
  name: string;
  type: ColumnType;
  /** The first different values, as text; of a column with few, all. */
  values: string[];
  distinct: number;
  missing: number;
  /** Why the column cannot be used, where it cannot. */
  refusal?: string;
}

/** Which columns are likely meant. */
export interface Guess extends Pick<Choice, "attributes" | "tasks" | "task_predictions"> {
  /** Why each column was taken, in words. */
  reasons: { column: string; text: string }[];
}

/** An opened file. */
export interface Opened {
  source: string;
  /** The records that were looked at; all of the file where it is whole. */
  records: number;
  whole: boolean;
  columns: ShownColumn[];
  notes: string[];
  guess: Guess;
}

/** What is being done. */
export type Doing = "reading" | "counting";

export type Asked = { open: File } | { audit: Choice; file: File };

export type Told = { doing: Doing } | { opened: Opened } | { page: ReportPage; left: number } | { refused: string; beyond: boolean } | { failed: string };
