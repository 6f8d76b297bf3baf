/** The first view: a place to drop a file on, an example, and what the page is for. */
import { h } from "../dom";
import { head } from "../report/parts";
import { exampleFile } from "./example";
import { limitList, promise } from "./limits";

/** A button that opens the system's dialog for files. */
export function fileButton(words: string, open: (file: File) => void, kind: string): HTMLElement {
  const input = h("input", { type: "file", class: "unseen", tabindex: "-1", "aria-hidden": "true", accept: ".csv,.tsv,.parquet,.pq", change: () => {
    const file = input.files?.[0];
    input.value = "";
    if (file) open(file);
  } });
  return h("span", {}, input, h("button", { type: "button", class: kind, click: () => input.click() }, words));
}

/** The sketch of a table that can be measured. */
function sketch(): HTMLElement {
  const rows = [["woman", "1", "1"], ["man", "0", "1"], ["woman", "1", "0"], ["man", "0", "0"]];
  return h("figure", { class: "sketch" },
    h("figcaption", {}, "What the file needs: a row for each record, and three kinds of columns. Their names are up to you."),
    h("table", {}, head("gender", "hired", "model_says"),
      h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell))),),
        h("tr", { class: "meaning" }, h("td", {}, "groups"), h("td", {}, "the truth"), h("td", {}, "the prediction")))));
}

export function startView(open: (file: File) => void): HTMLElement[] {
  return [
    h("section", { class: "drop", "aria-labelledby": "drop-title" },
      h("h2", { id: "drop-title" }, "Drop a CSV or Parquet file here"),
      h("p", { class: "choices" }, fileButton("Choose a file …", open, "primary"), h("span", { class: "soft" }, "or"),
        h("button", { type: "button", class: "example", click: () => open(exampleFile()) }, "Try an example: Berkeley admissions, 1973"))),
    promise(),
    sketch(),
    h("details", { class: "fold" }, h("summary", {}, h("h2", {}, "What this page does not measure")), limitList()),
  ];
}
