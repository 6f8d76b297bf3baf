import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { answering, type Parts } from "../src/try/answering";
import { commandParts, listed, pythonCall, shellWord } from "../src/try/command";
import type { Told } from "../src/try/messages";
import { choiceOf, evident, firstSelection, missing, positives } from "../src/try/selection";
import { Session, Stopped } from "../src/try/session";
import { Beyond, Refused, type Choice, type Table } from "../src/try/types";

const choice: Choice = { attributes: ["gender"], tasks: ["hired"], task_predictions: ["said"], positive: null, confidence: 0.95, min_group: 30 };

/** The words that bash makes of a line. */
function words(line: string): string[] {
  const held = execFileSync("bash", ["--norc", "-c", `printf '%s\\0' ${line}`], { env: { ...process.env, LC_ALL: "C.UTF-8" } }).toString("utf8");
  return held.split("\0").slice(0, -1);
}

const HOSTILE = [
  "plain", "two words", "", "it's", '"quoted", and, commas', "$(rm -rf /)", "`id`", "a;b", "a&&b", "a|b", ">x", "*", "~", "~root", "!!", "#x", "\\", "\\n", "$HOME", "%PATH%",
  "=cmd|'/c calc'!A1", "-x", "--tasks", "line\nbreak", "tab\tx", "bell\x07'\\", "\u202egnp.exe", "\ufeffx", "女", "é→", "😀", "a=b", "{a,b}", "[x]", "(y)", "\u{f0000}", "@x", "x,y",
];

describe("the command", () => {
  it("is plain where names are", () => {
    expect(commandParts("data.csv", choice)!.join(" ")).toBe("biasamp audit data.csv --attributes gender --tasks hired --task-predictions said --html report.html");
  });
  it("has what differs from the usual", () => {
    const parts = commandParts("two words.csv", { ...choice, attributes: ["race", "age group"], positive: "-1", confidence: 0.9, min_group: 5 })!;
    expect(parts).toEqual(['biasamp audit "two words.csv"', '--attributes "race,age group"', "--tasks hired", "--task-predictions said", "--positive=-1", "--confidence 0.9", "--min-group 5", "--html report.html"]);
  });
  it("gives a shell the words that are meant, whatever they hold", () => {
    for (const name of HOSTILE) expect(words(shellWord(name))).toEqual([name]);
    expect(words(HOSTILE.map(shellWord).join(" "))).toEqual(HOSTILE);
  });
  it("shows nothing that cannot be seen", () => {
    for (const name of HOSTILE) expect(shellWord(name)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}]/u);
  });
  it("ties a value to its option where it looks like one, and leads to a file that does", () => {
    expect(words(commandParts("-x.csv", { ...choice, tasks: ["--tasks"] })!.join(" "))).toEqual(
      ["biasamp", "audit", "./-x.csv", "--attributes", "gender", "--tasks=--tasks", "--task-predictions", "said", "--html", "report.html"]);
  });
  it("pairs predictions by name where one could be taken for a pair", () => {
    const held = words(commandParts("x.csv", { ...choice, tasks: ["a", "b"], task_predictions: ["b=1", "p"] })!.join(" "));
    expect(held[held.indexOf("--task-predictions") + 1]).toBe("a=b=1,b=p");
  });
  it("is a call of Python where no command line can hold a name", () => {
    expect(commandParts("x.csv", { ...choice, tasks: ["a\0b"] })).toBeNull();
    expect(commandParts("x.csv", { ...choice, tasks: ["\ud800"] })).toBeNull();
    // The command takes no column without a name, and Python does.
    for (const role of ["attributes", "tasks", "task_predictions"] as const) expect(commandParts("x.csv", { ...choice, [role]: [""] })).toBeNull();
    expect(pythonCall("x.csv", { ...choice, tasks: [""] })).toContain('tasks="", task_predictions="said"');
    expect(pythonCall("x.csv", { ...choice, tasks: ['a\0"\\'], positive: "1" })).toBe(
      'biasamp.audit("x.csv", attributes=["gender"], tasks="a\\u0000\\"\\\\", task_predictions="said", positive="1")');
  });
  it("lists names as CSV does", () => {
    expect(listed(["a", "b c"])).toBe("a,b c");
    expect(listed(["a,b", 'c"'])).toBe('"a,b","c"""');
    expect(listed([" a"])).toBe('" a"');
  });
});

describe("what was chosen", () => {
  const guess = { attributes: ["g"], tasks: ["t"], task_predictions: ["p"], reasons: [] };
  const { reasons: _, ...names } = guess;
  it("begins with the guesses", () => {
    expect(choiceOf(firstSelection(guess))).toEqual({ ...names, leave_out: false, positive: null, confidence: 0.95, min_group: 30 });
    expect(missing(firstSelection(guess))).toEqual([]);
  });
  it("is asked for where nothing was guessed", () => {
    expect(missing(firstSelection({ attributes: [], tasks: [], task_predictions: [], reasons: [] }))).toEqual(
      ["Choose at least one column of groups.", "Choose the column with the truth.", "Choose the column with the prediction."]);
  });
  it("names the pair that lacks a column", () => {
    const selection = { ...firstSelection(guess), pairs: [{ task: "t", prediction: "p" }, { task: "u", prediction: "" }] };
    expect(missing(selection)).toEqual(["Choose the column with the prediction of pair 2."]);
  });
  it("has no column twice, and a positive value of one task alone", () => {
    const selection = { ...firstSelection(guess), attributes: ["g", "t"], positive: "1" };
    expect(choiceOf(selection).attributes).toEqual(["g"]);
    selection.pairs.push({ task: "u", prediction: "q" });
    expect(choiceOf(selection).positive).toBeNull();
  });
  it("has the value that is plainly positive, where there is one", () => {
    expect([["1", "0"], ["No", "Yes"], ["denied", "granted"], ["0", "1", "2"], []].map(evident)).toEqual(["1", "Yes", null, null, null]);
  });
  it("offers the values of the task where the page has them all", () => {
    const column = { name: "t", type: "text" as const, values: ["no", "yes"], distinct: 2, missing: 0 };
    const opened = { source: "", records: 4, whole: true, columns: [column], notes: [], guess };
    expect(positives(firstSelection(guess), opened)).toEqual(["no", "yes"]);
    expect(positives(firstSelection(guess), { ...opened, columns: [{ ...column, distinct: 99 }] })).toEqual([]);
  });
});

const table: Table = { source: "x.csv", records: 3, notes: ["tabs"], columns: [{ name: "g", type: "integer", values: [1, 2n], codes: Int32Array.of(0, -1, 1) }] };
const parts: Parts = { head: async () => ({ table, whole: false }), read: async (_, columns) => (reads.push(columns), table), guess: () => ({ attributes: ["g"], tasks: [], task_predictions: [], reasons: [] }), name: String, audit: () => ({ page: { kind: "report" } as any, left: 0 }) };

const reads: string[][] = [];

async function asked(held: Parts, ...questions: any[]): Promise<Told[]> {
  const told: Told[] = [];
  const answer = answering(held, (one) => told.push(one));
  for (const question of questions) await answer(question);
  return told;
}

describe("the worker", () => {
  it("tells what is shown of the columns, and reads those that are chosen once", async () => {
    const file = new File(["x"], "x.csv");
    reads.length = 0;
    const told = await asked(parts, { open: file }, { audit: choice, file }, { audit: { ...choice, confidence: 0.9 }, file }, { audit: { ...choice, attributes: ["race"] }, file });
    expect(reads).toEqual([["gender", "hired", "said"], ["race", "hired", "said"]]);
    expect(told.filter((one) => !("doing" in one))).toEqual([
      { opened: { source: "x.csv", records: 3, whole: false, notes: ["tabs"], columns: [{ name: "g", type: "integer", values: ["1", "2"], distinct: 2, missing: 1, refusal: undefined }], guess: { attributes: ["g"], tasks: [], task_predictions: [], reasons: [] } } },
      ...Array(3).fill({ page: { kind: "report" }, left: 0 })]);
    expect(told.flatMap((one) => ("doing" in one ? [one.doing] : []))).toEqual(["reading", "counting", "counting", "reading", "counting"]);
  });
  it("tells refusals from what was not foreseen", async () => {
    const thrown = async (error: Error) => (await asked({ ...parts, audit: () => { throw error; } }, { audit: choice, file: new File([], "x") })).at(-1);
    expect(await thrown(new Refused("why"))).toEqual({ refused: "why", beyond: false });
    expect(await thrown(new Beyond("why"))).toEqual({ refused: "why", beyond: true });
    expect(await thrown(new RangeError("odd"))).toEqual({ failed: "odd" });
  });
});

/** A worker that runs here; it answers nothing while it is held. */
class Near {
  static made = 0;
  onmessage: ((event: any) => void) | null = null;
  onerror: ((event: any) => void) | null = null;
  held = false;
  ended = false;
  private readonly answer = answering(parts, (told) => { if (!this.ended && !this.held) this.onmessage?.({ data: told }); });
  constructor() { Near.made++; }
  postMessage(question: any): void { void this.answer(question); }
  terminate(): void { this.ended = true; }
}

describe("a session", () => {
  it("opens, measures, stops at once and begins again", async () => {
    Near.made = 0;
    const workers: Near[] = [];
    const session = new Session(new File(["x"], "x.csv"), () => (workers.push(new Near()), workers.at(-1) as any), () => {});
    expect((await session.open()).records).toBe(3);
    workers[0].held = true;
    const waiting = session.audit(choice);
    session.stop();
    await expect(waiting).rejects.toBeInstanceOf(Stopped);
    expect(workers[0].ended).toBe(true);
    expect(await session.audit(choice)).toMatchObject({ page: { kind: "report" }, left: 0 });
    expect(Near.made).toBe(2);
  });
  it("says when the worker itself broke", async () => {
    const worker = new Near();
    worker.held = true;
    const session = new Session(new File(["x"], "x.csv"), () => worker as any, () => {});
    const waiting = session.open();
    worker.onerror!({ message: "out of memory" });
    await expect(waiting).rejects.toThrow("out of memory");
  });
});
