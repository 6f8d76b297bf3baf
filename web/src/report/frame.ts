/** What pages of one result have in common: a heading, the answer, sections, who wrote it. */
import { h } from "../dom";
import { label, section, sentence } from "./parts";

/** Sentences by their titles. */
export function answerList(answer: Record<string, string>): HTMLElement {
  return section("answer", "In short", h("dl", { class: "answer" }, ...Object.entries(answer).flatMap(([title, words]) => [h("dt", {}, title), h("dd", {}, sentence(words))])));
}

/** A list of sentences, where there are any. */
export function listed(title: string, id: string, lines: string[]): HTMLElement | null {
  return lines.length ? section(id, title, h("ul", { class: "findings" }, ...lines.map((line) => h("li", {}, sentence(line))))) : null;
}

export interface Framed {
  /** The command that makes such a page. */
  command: string;
  title: string;
  /** What the link for those who use the keyboard leads to. */
  skip: string;
  lead: (Node | string)[];
  sections: (HTMLElement | null)[];
  version: string;
}

export function frame(root: HTMLElement, theme: HTMLElement, page: Framed): void {
  root.append(
    h("a", { class: "skip", href: "#main" }, page.skip),
    h("header", { class: "report-head" }, h("div", {}, h("p", { class: "kicker" }, `biasamp ${page.command}`), h("h1", {}, label(page.title, 120)), h("p", { class: "lead" }, ...page.lead)), theme),
    h("main", { id: "main", class: "report", tabindex: "-1" }, ...page.sections),
    h("footer", { class: "report-foot" }, h("p", {}, `Written by biasamp ${page.version}. Everything on this page is inside this file.`)),
  );
}
