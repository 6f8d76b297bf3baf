/** Where the page ends: what it did not measure, and the command that does. */
import { h } from "../dom";
import { commandParts, pythonCall } from "./command";
import { limitList } from "./limits";
import type { Choice } from "./types";

/** A line of code with a button that copies it. */
function copied(line: string, name: string): HTMLElement {
  const code = h("code", { tabindex: "0" }, line);
  const button = h("button", { type: "button", class: "quiet", click: async () => {
    try {
      await navigator.clipboard.writeText(line);
      button.textContent = "Copied";
    } catch {
      getSelection()?.selectAllChildren(code);
      button.textContent = "Selected";
    }
  } }, "Copy");
  return h("div", { class: "command" }, h("pre", { "aria-label": name }, code), button);
}

export function beyond(file: string, choice: Choice): HTMLElement {
  const parts = commandParts(file, choice);
  return h("div", { class: "beyond" },
    h("p", {}, "This page is a first look. With biasamp installed, and in the folder of the file, this has everything:"),
    parts === null
      ? h("div", {}, h("p", { class: "soft" }, "A name is empty, or holds characters that no command line can; in Python:"), copied(pythonCall(file, choice), "The full audit in Python"))
      : copied(parts.join(" "), "The command of the full audit"),
    h("p", {}, "It also measures what this page does not:"),
    limitList());
}
