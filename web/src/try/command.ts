/** The command line of the full audit. Names come from strangers: each is one word, whatever it holds. */
import type { Choice } from "./types";

// What no shell reads as anything but itself.
const PLAIN = /^[\p{L}\p{N}_+:./-][\p{L}\p{N}_+=:./-]*$/u;
// What means nothing between double quotes in a POSIX shell, in PowerShell and in cmd.exe.
const QUIET = /^[\p{L}\p{N}\p{M}_@+=:,./ ()[\]{}#&;<>|?*~-]*$/u;
// What cannot be seen, or changes the order of what can: written as escapes, so that what is copied is what is shown.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}]/u;
// What no word of a command line can hold.
const IMPOSSIBLE = /[\0\p{Cs}]/u;

/** Text as one word of a shell. */
export function shellWord(text: string): string {
  if (UNSEEN.test(text)) {
    const inner = Array.from(text, (character) => {
      if (character === "\\" || character === "'") return `\\${character}`;
      if (!UNSEEN.test(character)) return character;
      const code = character.codePointAt(0)!;
      return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
    });
    return `$'${inner.join("")}'`;
  }
  if (PLAIN.test(text)) return text;
  if (QUIET.test(text)) return `"${text}"`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Names as one value of an option: separated by commas, quoted as in CSV where they have to be. */
export function listed(names: string[]): string {
  const quoted = names.some((name) => /[",\r\n]/.test(name) || name.trim() !== name || name === "");
  return names.map((name) => (quoted ? `"${name.replaceAll('"', '""')}"` : name)).join(",");
}

/** Predictions by place; as pairs where a name could be taken for one. */
function predictions(choice: Choice): string {
  const asPairs = choice.task_predictions.some((name) => choice.tasks.some((task) => name.startsWith(`${task}=`)));
  return listed(asPairs ? choice.tasks.map((task, i) => `${task}=${choice.task_predictions[i]}`) : choice.task_predictions);
}

/** An option with its value; a value that begins as an option does is tied to it. */
function option(name: string, value: string): string {
  return value.startsWith("-") ? shellWord(`${name}=${value}`) : `${name} ${shellWord(value)}`;
}

/** The parts of the command, each with its value; null where a name is empty, or holds what no command line can. */
export function commandParts(file: string, choice: Choice): string[] | null {
  const names = [...choice.attributes, ...choice.tasks, ...choice.task_predictions];
  if (names.includes("") || [file, ...names, choice.positive ?? ""].some((text) => IMPOSSIBLE.test(text))) return null;
  const parts = [
    `biasamp audit ${shellWord(file.startsWith("-") || file.startsWith("~") ? `./${file}` : file)}`,
    option("--attributes", listed(choice.attributes)),
    option("--tasks", listed(choice.tasks)),
    option("--task-predictions", predictions(choice)),
  ];
  if (choice.positive !== null) parts.push(option("--positive", listed([choice.positive])));
  if (choice.confidence !== 0.95) parts.push(`--confidence ${choice.confidence}`);
  if (choice.min_group !== 30) parts.push(`--min-group ${choice.min_group}`);
  if (choice.leave_out) parts.push("--missing drop");
  return [...parts, "--html report.html"];
}

/** A text as Python writes it. */
function literal(text: string): string {
  const inner = Array.from(text, (character) => {
    if (character === "\\" || character === '"') return `\\${character}`;
    if (!UNSEEN.test(character) && !IMPOSSIBLE.test(character)) return character;
    const code = character.codePointAt(0)!;
    return code < 0x10000 ? `\\u${code.toString(16).padStart(4, "0")}` : `\\U${code.toString(16).padStart(8, "0")}`;
  });
  return `"${inner.join("")}"`;
}

/** The same audit in Python, which takes names of any kind. */
export function pythonCall(file: string, choice: Choice): string {
  const list = (names: string[]) => `[${names.map(literal).join(", ")}]`;
  const tasks = choice.tasks.length === 1 ? [literal(choice.tasks[0]), literal(choice.task_predictions[0])] : [list(choice.tasks), list(choice.task_predictions)];
  const more = [
    ...(choice.positive === null ? [] : [`positive=${literal(choice.positive)}`]),
    ...(choice.confidence === 0.95 ? [] : [`confidence=${choice.confidence}`]),
    ...(choice.min_group === 30 ? [] : [`min_group=${choice.min_group}`]),
    ...(choice.leave_out ? ['missing="drop"'] : []),
  ];
  return `biasamp.audit(${[literal(file), `attributes=${list(choice.attributes)}`, `tasks=${tasks[0]}`, `task_predictions=${tasks[1]}`, ...more].join(", ")})`;
}
