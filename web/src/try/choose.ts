/** The second view: which columns are groups, truth and prediction. Guesses are chosen beforehand; the reader confirms them. */
import { h } from "../dom";
import { count, percent } from "../numbers";
import { label, section, sentence } from "../report/parts";
import { printable } from "../text";
import { beyond } from "./beyond";
import { columnTable, firstValues } from "./columns";
import type { Opened, ShownColumn } from "./messages";
import { inPageWords } from "./page_words";
import { choiceOf, CONFIDENCES, evident, missing, paired, positives, type Selection } from "./selection";

// Columns with more values than this are seldom groups; they are a click away.
const GROUPS_AT_MOST = 24;
const OFFERED = 14;

interface Asking {
  opened: Opened;
  selection: Selection;
  audit: () => void;
}

function likely(column: ShownColumn): boolean {
  return column.distinct > 1 && column.distinct <= GROUPS_AT_MOST && column.type !== "float" && column.type !== "list";
}

/** The columns that may be groups, each with a box to tick. */
function groupBoxes({ opened, selection }: Asking, changed: () => void): HTMLElement {
  const holder = h("div", { class: "boxes", role: "group", "aria-labelledby": "groups-title" });
  let all = false;
  const draw = () => {
    const used = paired(selection);
    const free = opened.columns.filter(({ name }) => !used.has(name));
    const first = free.filter((column) => selection.attributes.includes(column.name) || likely(column));
    const shown = all ? free : first.length ? first.slice(0, Math.max(OFFERED, selection.attributes.length)) : free.slice(0, OFFERED);
    const boxes = shown.map((column) => {
      const box = h("input", { type: "checkbox", change: () => {
        selection.attributes = box.checked ? [...selection.attributes, column.name] : selection.attributes.filter((name) => name !== column.name);
        changed();
      } });
      box.checked = selection.attributes.includes(column.name);
      box.disabled = column.refusal !== undefined;
      const shows = column.refusal === undefined ? firstValues(column, 3) : `cannot be used: ${printable(reasonOf(column.refusal), 90)}`;
      return h("label", { class: "box" }, box, h("span", {}, label(column.name, 60), h("span", { class: "note" }, h("bdi", {}, shows))));
    });
    const rest = free.length - shown.length;
    holder.replaceChildren(...boxes, rest > 0 ? h("button", { type: "button", class: "quiet", click: () => { all = true; draw(); holder.querySelectorAll<HTMLElement>("input")[shown.length]?.focus(); } }, `${count(rest)} more column${rest > 1 ? "s" : ""}`) : "");
  };
  holder.addEventListener("redraw", draw);
  draw();
  return holder;
}

/** A list of all columns to choose one from. */
function columnSelect(opened: Opened, chosen: string, name: string, choose: (column: string) => void): HTMLSelectElement {
  const select = h("select", { "aria-label": name, change: () => choose(select.value === "" ? "" : opened.columns[Number(select.value)].name) },
    h("option", { value: "" }, "choose a column"),
    ...opened.columns.map((column, i) => h("option", { value: i, disabled: column.refusal !== undefined }, printable(column.name, 60) + (column.refusal === undefined ? "" : ` (cannot be used: ${printable(reasonOf(column.refusal), 90)})`))));
  const place = opened.columns.findIndex((column) => column.name === chosen);
  select.value = place < 0 ? "" : String(place);
  return select;
}

/** Why a column cannot be used, without the way out, which stands in the table of columns. */
function reasonOf(refusal: string): string {
  const [said] = inPageWords(refusal).split(/: (?=save |rename )/);
  return said.replace(/^.* (?=holds |has |it holds )/, "");
}

function hintOf(opened: Opened, name: string): HTMLElement {
  const column = opened.columns.find((one) => one.name === name);
  return h("span", { class: "note" }, column ? h("bdi", {}, firstValues(column)) : " ");
}

function pairRows(asking: Asking, changed: () => void): HTMLElement {
  const { opened, selection } = asking;
  const holder = h("div", { class: "pairs" });
  const draw = () => {
    const several = selection.pairs.length > 1;
    const rows = selection.pairs.map((pair, i) => {
      const which = several ? ` ${i + 1}` : "";
      const [truth, prediction] = [h("div", {}, hintOf(opened, pair.task)), h("div", {}, hintOf(opened, pair.prediction))];
      const field = (title: string, part: "task" | "prediction", hint: HTMLElement) => h("div", { class: "field" },
        h("span", { class: "field-title", "aria-hidden": "true" }, i === 0 ? title : ""),
        columnSelect(opened, pair[part], `${title}${which}`, (name) => { pair[part] = name; selection.positive = null; hint.replaceChildren(hintOf(opened, name)); changed(); }), hint);
      const away = several ? h("button", { type: "button", class: "quiet away", "aria-label": `Remove pair ${i + 1}`, click: () => { selection.pairs.splice(i, 1); draw(); changed(); holder.querySelector<HTMLElement>("select")?.focus(); } }, "✕") : null;
      return h("div", { class: "pair" }, field("Truth", "task", truth), field("Prediction", "prediction", prediction), away);
    });
    const add = h("button", { type: "button", class: "quiet", click: () => { selection.pairs.push({ task: "", prediction: "" }); draw(); changed(); holder.querySelectorAll<HTMLElement>("select")[2 * (selection.pairs.length - 1)].focus(); } }, "Add a pair");
    holder.replaceChildren(...rows, h("p", { class: "note" }, add, " for a model with several yes/no labels, such as one column for each object in an image"));
  };
  draw();
  return holder;
}

/** What rates are of, the level of intervals, the size of small groups: each has a sensible beginning. */
function details({ opened, selection }: Asking, changed: () => void): HTMLElement {
  const holder = h("div", { class: "details-row" });
  const draw = () => {
    const values = positives(selection, opened);
    const plainly = evident(values);
    const positive = h("select", { change: () => { selection.positive = positive.value === "" ? null : values[Number(positive.value)]; changed(); } },
      h("option", { value: "" }, plainly === null ? "every value" : `${printable(plainly, 60)} (guessed)`), ...values.map((value, i) => h("option", { value: i }, printable(value, 60) || "(empty)")));
    if (selection.positive !== null) positive.value = String(values.indexOf(selection.positive));
    const level = h("select", { change: () => { selection.confidence = Number(level.value); changed(); } }, ...CONFIDENCES.map((value) => h("option", { value }, percent(value))));
    level.value = String(selection.confidence);
    const small = h("input", { type: "number", min: 0, max: 1000000, step: 1, change: () => { selection.min_group = Math.max(0, Math.floor(Number(small.value) || 0)); small.value = String(selection.min_group); changed(); } });
    small.value = String(selection.min_group);
    const open = holder.querySelector("details")?.open ?? false;
    const gaps = h("input", { type: "checkbox", change: () => { selection.leave_out = gaps.checked; changed(); } });
    gaps.checked = selection.leave_out;
    holder.replaceChildren(
      h("label", { class: "box gaps" }, gaps, h("span", {}, "Leave out records with missing values", h("span", { class: "note" }, "in the chosen columns; the result says how many"))),
      values.length ? h("label", { class: "field" }, h("span", { class: "field-title" }, "Rates are of the value"), positive) : "",
      h("details", { open }, h("summary", {}, "Further choices"), h("div", { class: "further" },
        h("label", { class: "field" }, h("span", { class: "field-title" }, "Level of intervals"), level),
        h("label", { class: "field" }, h("span", { class: "field-title" }, "Small groups have fewer than"), small))));
  };
  holder.addEventListener("redraw", draw);
  draw();
  return holder;
}

export function chooseView(asking: Asking): HTMLElement[] {
  const { opened, selection } = asking;
  const said = h("div", { class: "action", "aria-live": "polite" });
  const command = h("div");
  const redraw = new Event("redraw");
  const boxes = groupBoxes(asking, changed);
  const more = details(asking, changed);
  // What is drawn anew loses the keyboard's place: only what the pairs decide is, and never what the reader is in.
  function repaired(): void {
    boxes.dispatchEvent(redraw);
    more.dispatchEvent(redraw);
    changed();
  }
  function changed(): void {
    command.replaceChildren(missing(withoutPaired(selection)).length ? h("p", { class: "soft" }, "Choose the columns first.") : beyond(opened.source, choiceOf(selection)));
    said.replaceChildren();
  }
  const button = h("button", { type: "button", class: "primary large", click: () => {
    const lacking = missing(withoutPaired(selection));
    if (lacking.length) said.replaceChildren(h("p", { class: "lacking" }, lacking.join(" ")));
    else asking.audit();
  } }, "Audit");
  changed();
  return [
    h("div", { class: "roles" },
      h("section", { class: "role", "aria-labelledby": "groups-title" }, h("h2", { id: "groups-title" }, "Which groups do you ask about?"),
        h("p", { class: "soft" }, "One column or more, such as gender or race. Each is measured by itself."), boxes),
      h("section", { class: "role", "aria-labelledby": "pairs-title" }, h("h2", { id: "pairs-title" }, "What is true, and what is predicted?"),
        h("p", { class: "soft" }, "Both columns spell their values alike."), pairRows(asking, repaired), more)),
    h("div", { class: "go-row" }, button, said),
    ...(opened.notes.length ? [h("ul", { class: "notes" }, ...opened.notes.map((note) => h("li", {}, sentence(note))))] : []),
    section("columns", opened.whole ? "Columns of the file" : `Columns, by the first ${count(opened.records)} records`, columnTable(opened)),
    h("details", { class: "fold" }, h("summary", {}, h("h2", {}, "What this page does not measure, and the command that does")), command),
  ];
}

/** A column that became truth or prediction is ticked no more. */
function withoutPaired(selection: Selection): Selection {
  return { ...selection, attributes: choiceOf(selection).attributes };
}
