/** What the parts of an audit in the browser hand to each other: a file's columns, the choice of roles, labels, and a refusal. */

/** A value of a column as the file has it; a whole number beyond 2^53 is a bigint. */
export type Value = string | number | bigint | boolean;

/** The type that the Python reader gives the column of such a file. */
export type ColumnType = "text" | "integer" | "float" | "boolean" | "date" | "list" | "other";

/**
 * A column: its distinct values in the order of their first record, and for each record the place of its value, -1 where it is missing.
 * The values of a column of lists are the labels in them, and its places say only which lists are missing.
 */
export interface Column {
  name: string;
  type: ColumnType;
  values: Value[];
  codes: Int32Array;
  /** Why the column cannot be used, where it cannot: said when it is chosen, in the words of the Python package. */
  refusal?: string;
}

export interface Table {
  /** The file's name, as shown. */
  source: string;
  records: number;
  columns: Column[];
  /** The columns that the file has, where only some were read. */
  names?: string[];
  /** What was found on reading, such as a delimiter or an encoding, in words. */
  notes: string[];
}

/** Which columns play which role: names as audit() takes them. */
export interface Choice {
  attributes: string[];
  tasks: string[];
  task_predictions: string[];
  /** The value of the task that rates are of; null where the rule decides. */
  positive: string | null;
  confidence: number;
  min_group: number;
  /** Whether records that lack a value of a chosen column are left out; else they are refused. */
  leave_out?: boolean;
}

/** One variable's labels: all values of a categorical variable, or the one label of a yes/no column. */
export interface Labels {
  variable: string;
  kind: "categorical" | "binary";
  /** Canonical names of the categories in the order that Python gives them; of a yes/no column the one label "1". */
  categories: string[];
  /** For each record the place of its category; of a yes/no column 1 or 0. */
  codes: Int32Array;
}

/** The labels of an audit, checked at the door: each attribute is one variable; tasks and predictions are one variable, or a set of yes/no columns. */
export interface Roles {
  records: number;
  attributes: Labels[];
  tasks: Labels[];
  predictions: Labels[];
  /** Places of predicted categories that no truth has, for each task. */
  invented: number[][];
}

/** An input that is refused: the words are those of the Python package. */
export class Refused extends Error {}

/** An input that the Python package measures and this page does not, such as probabilities: the message gives the way to a full audit. */
export class Beyond extends Refused {}
