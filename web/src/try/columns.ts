/** The columns of the file: names, types, first values, gaps. */
import { h } from "../dom";
import { count } from "../numbers";
import { head, label, more, scrolling, sentence } from "../report/parts";
import { printable } from "../text";
import type { Opened, ShownColumn } from "./messages";
import { inPageWords } from "./page_words";

const SHOWN = 40;
const FIRST = 4;

/** The first values of a column as one line. */
export function firstValues(column: ShownColumn, many = FIRST): string {
  const shown = column.values.slice(0, many).map((value) => printable(value, 24) || "(empty)");
  return shown.join(", ") + (column.distinct > shown.length ? ", …" : "");
}

export function columnTable(opened: Opened): HTMLElement {
  const { attributes, tasks, reasons } = opened.guess;
  const roleOf = (name: string) => (attributes.includes(name) ? "groups" : tasks.includes(name) ? "truth" : "prediction");
  const guessed = new Map(reasons.map(({ column, text }) => [column, `${roleOf(column)}: ${sentence(text)}`]));
  const rows = opened.columns.map((column) => () => h("tr", {},
    h("th", { scope: "row" }, label(column.name, 60)),
    h("td", {}, column.type),
    h("td", { class: "values" }, h("bdi", {}, firstValues(column)), column.refusal ? h("span", { class: "note cannot" }, sentence(inPageWords(column.refusal))) : null),
    h("td", { class: "number" }, count(column.distinct)),
    h("td", { class: "number" }, column.missing ? count(column.missing) : ""),
    ...(guessed.size ? [h("td", { class: "soft" }, guessed.get(column.name) ?? "")] : [])));
  const body = h("tbody");
  const button = more(rows, SHOWN, body, "columns");
  const table = h("table", { class: "plain columns" }, head("column", "type", "first values", "different", "missing", ...(guessed.size ? ["guessed as"] : [])), body);
  return h("div", {}, scrolling(table, "Columns, table"), button);
}
