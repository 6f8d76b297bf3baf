/** The page of an audit in the browser: drop a file, choose columns, read the first screen of the report. */
import { h } from "../dom";
import { count } from "../numbers";
import { freshNames, label, section, sentence } from "../report/parts";
import { showReport } from "../report/report";
import { themeButton } from "../theme";
import { printable } from "../text";
import type { ReportPage } from "../types";
import { beyond } from "./beyond";
import { chooseView } from "./choose";
import { promise, PROMISE } from "./limits";
import type { Doing, Opened } from "./messages";
import { choiceOf, firstSelection, type Selection } from "./selection";
import { Session, Stopped } from "./session";
import { fileButton, startView } from "./start";
import { Beyond, Refused, type Choice } from "./types";
import { inPageWords } from "./page_words";

type Step = "start" | "reading" | "choose" | "counting" | "report";

const TITLE = "Does a model amplify the bias of its data?";
const LEAD = "Give it a table with what is true and what the model predicted. It says what was found for which group, and how sure that is.";

export class TryPage {
  private readonly theme = themeButton();
  private session: Session | null = null;
  private opened: Opened | null = null;
  private selection: Selection | null = null;

  constructor(private readonly root: HTMLElement, private readonly startWorker: () => Worker) {
    window.addEventListener("dragover", (event) => { event.preventDefault(); root.classList.add("dragging"); });
    window.addEventListener("dragleave", (event) => { if (event.relatedTarget === null) root.classList.remove("dragging"); });
    window.addEventListener("drop", (event) => {
      event.preventDefault();
      root.classList.remove("dragging");
      const file = event.dataTransfer?.files[0];
      if (file) void this.open(file);
    });
  }

  /** The view before any file. */
  showStart(refusal: HTMLElement | null = null): void {
    this.session?.stop();
    this.session = this.opened = this.selection = null;
    freshNames();
    this.show("start", TITLE, [LEAD], refusal, ...startView((file) => void this.open(file)));
  }

  private async open(file: File): Promise<void> {
    this.session?.stop();
    const session = (this.session = new Session(file, this.startWorker, (doing) => this.tell(doing)));
    this.show("reading", file.name, [size(file)], this.working("Reading the file", () => this.showStart()), promise());
    try {
      const opened = await session.open();
      if (this.session !== session) return;
      this.opened = opened;
      this.selection = firstSelection(opened.guess);
      this.showChoice();
    } catch (error) {
      if (!(error instanceof Stopped) && this.session === session) this.showStart(refusal(`${printable(file.name, 120)} cannot be read here`, error, "Choose another file, or try the example."));
    }
  }

  private showChoice(refused: HTMLElement | null = null): void {
    const [opened, selection] = [this.opened!, this.selection!];
    freshNames();
    this.show("choose", opened.source, [`${opened.whole ? `${count(opened.records)} records` : `The first ${count(opened.records)} records`}, ${count(opened.columns.length)} columns. ${opened.guess.reasons.length ? "Check what was guessed, then audit." : "Say which columns are what, then audit."}`],
      refused, ...chooseView({ opened, selection, audit: () => void this.audit() }), promise());
  }

  private async audit(): Promise<void> {
    const [session, opened, choice] = [this.session!, this.opened!, choiceOf(this.selection!)];
    this.show("counting", opened.source, [], this.working("Reading the file", () => { session.stop(); this.showChoice(); }), promise());
    try {
      const { page, left } = await session.audit(choice);
      if (this.session === session) this.showResult(page, choice, left);
    } catch (error) {
      if (!(error instanceof Stopped) && this.session === session) this.showChoice(refusal("This choice cannot be measured", error, "Choose other columns below, or mend the file and drop it here again.", beyond(opened.source, choice)));
    }
  }

  private showResult(page: ReportPage, choice: Choice, left: number): void {
    const source = this.opened!.source;
    this.step("report", source);
    this.root.replaceChildren();
    freshNames();
    showReport(page, this.root, this.theme);
    const names = (list: string[]) => list.flatMap((name, i) => [i ? ", " : "", label(name, 40)]);
    const bar = h("nav", { class: "try-bar", "aria-label": "This audit" },
      h("p", {}, `${PROMISE} Groups `, ...names(choice.attributes), "; truth ", ...names(choice.tasks), "; prediction ", ...names(choice.task_predictions),
        left ? h("span", { class: "left-out" }, `. ${count(left)} of ${count(left + page.audit.data.records)} records are left out: they lack a value of a chosen column. If one group has more of them, rates are off.`) : ""),
      h("div", {}, h("button", { type: "button", click: () => this.showChoice() }, "Change the columns"), fileButton("Another file …", (file) => void this.open(file), "")));
    this.root.querySelector("header")!.before(bar);
    this.root.querySelector("main .contents")!.before(section("beyond", "Beyond this page", beyond(source, choice)), promise());
    window.scrollTo(0, 0);
    this.focusTitle();
  }

  private show(step: Step, title: string, lead: string[], ...parts: (HTMLElement | null)[]): void {
    this.step(step, step === "start" ? null : title);
    this.root.replaceChildren(
      h("header", { class: "report-head" },
        h("div", {}, h("p", { class: "kicker" }, "biasamp try"), h("h1", {}, label(title, 120)), h("p", { class: "lead" }, ...lead)),
        h("div", { class: "head-buttons" }, step === "choose" ? fileButton("Another file …", (file) => void this.open(file), "quiet") : null, this.theme)),
      h("main", { id: "main", class: `report try ${step}`, tabindex: "-1" }, ...parts.filter((part) => part !== null)));
    window.scrollTo(0, 0);
    if (step !== "start" || parts[0] !== null) this.focusTitle();
  }

  private step(step: Step, title: string | null): void {
    document.documentElement.setAttribute("data-step", step);
    document.title = title === null ? "biasamp: audit in the browser" : `biasamp: ${printable(title, 120)}`;
  }

  /** Those who listen hear where they are now. */
  private focusTitle(): void {
    const target = this.root.querySelector<HTMLElement>("[role=alert]") ?? this.root.querySelector<HTMLElement>("h1");
    target?.setAttribute("tabindex", "-1");
    target?.focus({ preventScroll: true });
  }

  private working(title: string, stop: () => void): HTMLElement {
    return h("section", { class: "working", "aria-labelledby": "working-title" },
      h("h2", { id: "working-title" }, `${title} …`),
      h("progress", { "aria-labelledby": "working-title" }),
      h("p", {}, h("button", { type: "button", click: stop }, "Cancel")));
  }

  private tell(doing: Doing): void {
    const title = this.root.querySelector("#working-title");
    if (title !== null) title.textContent = doing === "reading" ? "Reading the file …" : "Counting …";
  }
}

/** Why something was refused, and the way out: what the full audit measures has its command. */
function refusal(title: string, error: unknown, wayOut: string, command: HTMLElement | null = null): HTMLElement {
  if (error instanceof Beyond && command !== null) return h("div", { role: "alert", class: "refusal" }, h("h2", {}, "The full audit measures this, and this page does not"), h("p", {}, sentence(inPageWords(error.message))), command);
  const words = error instanceof Refused ? inPageWords(error.message) : `Something unforeseen went wrong: ${(error as Error).message}`;
  return h("div", { role: "alert", class: "refusal" }, h("h2", {}, title), h("p", {}, sentence(words)), h("p", { class: "soft" }, wayOut));
}

function size(file: File): string {
  return file.size < 1e6 ? `${count(Math.ceil(file.size / 1000))} KB` : `${(file.size / 1e6).toFixed(1)} MB`;
}
