/** The explorer on paper: the labels that pass the filters, and in words what these are. */
import { h } from "../dom";
import { count } from "../numbers";
import { printable } from "../text";
import type { Columns } from "./columns";
import { runLetter } from "./canvas";
import type { Rows } from "./rows";
import type { State } from "./state";
import type { LabelTable } from "./table";

/** What is shown, as somebody needs it who has the paper alone. */
export function inWords(columns: Columns, rows: Rows, state: State): string[] {
  const out: string[] = [];
  if (columns.runs.length > 1) out.push(`Runs: ${state.runs.map((r) => `${runLetter(r)} ${printable(columns.runs[r].name, 60)}`).join(", ")}.`);
  if (columns.runs[0].contrasts.length) out.push(`Gap: ${columns.contrastName(state.contrast)}.`);
  const filters = [...state.filters].map(([id, { low, high }]) => {
    const column = columns.get(id)!;
    const ends = [low === null ? "" : `from ${column.format(low)}`, high === null ? "" : `to ${column.format(high)}`];
    return `${column.title} ${ends.filter(Boolean).join(" ")}`;
  });
  if (state.search) filters.push(`names that match ${printable(state.search, 80)}`);
  if (state.onlyFlagged) filters.push("flagged labels");
  if (state.onlySelected) filters.push("selected labels");
  if (state.rankedOnly && rows.unranked) filters.push("ranked labels");
  if (filters.length) out.push(`Only: ${filters.join("; ")}.`);
  const sorted = state.sort.column === "label" ? "label" : columns.get(state.sort.column)?.title;
  if (sorted) out.push(`Sorted by ${sorted}${columns.runs.length > 1 && state.sort.column !== "label" ? ` of ${runLetter(state.sort.run)}` : ""}, ${state.sort.down ? "the largest first" : "the least first"}.`);
  return out;
}

/** What stands over the table on paper alone; the table itself gives up its empty rows meanwhile. */
export function onPaper(table: LabelTable, words: () => string[]): HTMLElement {
  const node = h("div", { class: "paper-only" });
  window.addEventListener("beforeprint", () => {
    table.print(true);
    const left = table.unprinted;
    node.replaceChildren(...words().map((line) => h("p", {}, line)), ...(left ? [h("p", {}, `${count(left)} further labels pass these filters and are not printed: the CSV has all of them.`)] : []));
  });
  window.addEventListener("afterprint", () => table.print(false));
  return node;
}
