/** How labels are called in sentences and tables: none cut until two are the same. */
import type { Data } from "../audit";
import { printable } from "./text";

export const LONGEST = 40;
// Where a name that is cut in the middle keeps its end, this is the share of it that the end has.
const END = 0.4;

function middleCut(name: string, limit: number): string {
  const characters = Array.from(name);
  if (characters.length <= limit) return printable(name, limit);
  const end = Math.floor(END * limit);
  return printable(`${characters.slice(0, limit - 1 - end).join("")}…${characters.slice(-end).join("")}`, limit);
}

/** Names on one line and of about `limit` characters, of which no two are the same. */
export function shortNames(names: string[], limit = LONGEST): Map<string, string> {
  const distinct = [...new Set(names)];
  const out = new Map<string, string>();
  let left = distinct;
  for (const [cut, times] of [[printable, 1], [middleCut, 1], [middleCut, 2], [middleCut, 4]] as const) {
    const made = new Map(left.map((name) => [name, cut(name, times * limit)]));
    const often = new Map<string, number>();
    for (const short of [...made.values(), ...out.values()]) often.set(short, (often.get(short) ?? 0) + 1);
    for (const [name, short] of made) if (often.get(short) === 1) out.set(name, short);
    left = left.filter((name) => !out.has(name));
  }
  left.forEach((name, i) => out.set(name, `${printable(name, limit)} (${i + 1})`));
  return out;
}

function shortened(names: [string, string][]): Record<string, string> {
  const short = shortNames(names.map(([, name]) => name));
  return Object.fromEntries(names.map(([label, name]) => [label, short.get(name)!]));
}

/** What each group of an attribute is called where the attribute is named already. */
export function groupNames(data: Data, attribute: string): Record<string, string> {
  return shortened(data.groups.filter((row) => row.attribute === attribute).map((row) => [row.group, row.category || row.group]));
}

/** What groups and listed task labels are called in a sentence. */
export function labelNames(data: Data): Record<string, string> {
  const tasks = shortened((data.task_labels ?? []).map((row) => [row.label, row.label]));
  const groups = data.attributes.map((attribute) => shortened(data.groups.filter((row) => row.attribute === attribute).map((row) => [row.group, row.group])));
  // Assigned one by one, a label called __proto__ would be none.
  return Object.fromEntries([tasks, ...groups].flatMap((names) => Object.entries(names)));
}
