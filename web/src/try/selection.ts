/** What the reader has chosen so far, and what is missing before anything can be measured. */
import type { Guess, Opened } from "./messages";
import type { Choice } from "./types";

export interface Pair {
  task: string;
  prediction: string;
}

export interface Selection {
  attributes: string[];
  /** A name is empty until it is chosen. */
  pairs: Pair[];
  /** Null where the rule decides. */
  positive: string | null;
  confidence: number;
  min_group: number;
  leave_out: boolean;
}

export const CONFIDENCES = [0.9, 0.95, 0.99];

/** The guesses as a first choice. */
export function firstSelection(guess: Guess): Selection {
  const count = Math.max(1, guess.tasks.length);
  return {
    attributes: [...guess.attributes],
    pairs: Array.from({ length: count }, (_, i) => ({ task: guess.tasks[i] ?? "", prediction: guess.task_predictions[i] ?? "" })),
    positive: null,
    confidence: 0.95,
    min_group: 30,
    leave_out: false,
  };
}

/** What is still to be chosen, a sentence each. */
export function missing(selection: Selection): string[] {
  const out: string[] = [];
  if (!selection.attributes.length) out.push("Choose at least one column of groups.");
  selection.pairs.forEach((pair, i) => {
    const which = selection.pairs.length > 1 ? ` of pair ${i + 1}` : "";
    if (!pair.task) out.push(`Choose the column with the truth${which}.`);
    if (!pair.prediction) out.push(`Choose the column with the prediction${which}.`);
  });
  return out;
}

/** The columns that have a role besides that of groups. */
export function paired(selection: Selection): Set<string> {
  return new Set(selection.pairs.flatMap((pair) => [pair.task, pair.prediction]).filter(Boolean));
}

/** The choice as audit() takes it. A column that became truth or prediction is no longer one of groups. */
export function choiceOf(selection: Selection): Choice {
  const used = paired(selection);
  return {
    attributes: selection.attributes.filter((name) => !used.has(name)),
    tasks: selection.pairs.map((pair) => pair.task),
    task_predictions: selection.pairs.map((pair) => pair.prediction),
    positive: selection.pairs.length === 1 ? selection.positive : null,
    confidence: selection.confidence,
    min_group: selection.min_group,
    leave_out: selection.leave_out,
  };
}

/** The values that rates can be of: those of the only task, where the page has them all. */
export function positives(selection: Selection, opened: Opened): string[] {
  if (selection.pairs.length !== 1) return [];
  const column = opened.columns.find(({ name }) => name === selection.pairs[0].task);
  return column && column.values.length === column.distinct && column.distinct > 1 ? column.values : [];
}

// Two values of which one is plainly the positive one, the last: the rule of the package.
const EVIDENT = [["0", "1"], ["-1", "1"], ["false", "true"], ["no", "yes"], ["n", "y"]];

/** The value that rates are of where none is chosen; null where every value has rates. */
export function evident(values: string[]): string | null {
  const spelled = new Map(values.map((value) => [value.trim().toLowerCase(), value]));
  const found = EVIDENT.find(([no, yes]) => spelled.size === 2 && spelled.has(no) && spelled.has(yes));
  return found ? spelled.get(found[1])! : null;
}
