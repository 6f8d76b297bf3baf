/** What is refused of a column by itself: two spellings of one value, text of missing values, lists in text, ids, dates. */

import { ADVICE } from "./advice";
import { codeOfMissing, isNumeral, saysMissing, spelledTwice, toldApart } from "./spelling";
import { counted, quoted, quotedByPython, shown, strip } from "./text";
import { Refused } from "./types";

export interface Variable {
  name: string;
  kind: "categorical" | "binary" | "multilabel";
  categories: string[];
  /** For each record the place of its category, -1 where it is missing; of a yes/no column 1 or 0, of lists any place. */
  codes: Int32Array;
}

export type Side = "groups" | "outcomes" | "predictions";

/** Fewer groups than this may have a record each; beyond, half as many groups as records are no groups. */
const FEW_GROUPS = 20;
/** Values of what is predicted may be many and rare: beyond so many, half as many as records are no classes. */
const MANY_VALUES = 1000;
/** Beyond so many values, two that differ in case are more likely words than mistakes; and lists are looked for in so many. */
const LOOKED_AT = 1000;
const MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\\.?";
const D = "\\p{Nd}";
/** Days and times of day as tools and people write them; a year or a month alone is a group. */
const DATE = new RegExp(
  `^(?:${D}{4}([-/.])0?[1-9]${D}?\\1(?:0?[1-9]|[12]${D}|3[01])([T ].*)?|[0-3]?${D}([-/.])[0-3]?${D}\\3${D}{4}([T ].*)?|${D}{1,2}/${D}{1,2}/${D}{2}` +
    `|(?:19|20)${D}{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]${D}|3[01])` +
    `|${D}{1,2}[ -]${MONTH},?[ -]${D}{2,4}|${MONTH} ${D}{1,2},? ${D}{4}` +
    `|(?:[01]?${D}|2[0-3]):[0-5]${D}(:${D}{2}(\\.${D}+)?)?( ?[ap]m)?)$`,
  "iu",
);
/** So many records a value are a group; two days may be two groups, before and after. */
const SHARED = 20;
const FEW_DATES = 2;
const BLANK = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const S = `[${BLANK}]`;
/** Long numbers, mail addresses and UUIDs are ids, however often each comes. */
const IDENTIFIER = new RegExp(
  `^(?:-?${D}{9,}|[^@${BLANK}]+@[^@${BLANK}]+\\.[\\p{L}\\p{N}_]+|[0-9a-f]{8}(?:-?[0-9a-f]{4}){3}-?[0-9a-f]{12})$`,
  "iu",
);
const BRACKETS = new RegExp(
  `^${S}*(\\[.*[,'"].*\\]|\\[${S}*[-\\p{Nd}.e]+(${S}+[-\\p{Nd}.e]+)+${S}*\\]|\\{.*[,'"].*\\}|\\(${S}*['"].*['"]${S}*,?${S}*\\))${S}*$`,
  "su",
);
/** A range of numbers, as tools that cut them write it. */
const NUMBER = `[-+]?(?:${D}+\\.?${D}*(?:e[-+]?${D}+)?|inf)`;
const NUMERIC = new RegExp(`^${NUMBER}$`, "iu");
const INTERVAL = new RegExp(`^${S}*[\\[(]${S}*${NUMBER}${S}*,${S}*${NUMBER}${S}*[\\])]${S}*$`, "iu");
/** What stands between labels only; and what stands in plain text too. */
const SEPARATORS = "|;\n\t";
const IN_TEXT = ",/+& ";

/** What a variable is called in messages. */
export function titleOf(role: string, variable: { name: string }): string {
  return variable.name ? `${role} column ${quoted(variable.name, 60)}` : role;
}

/** Refuse what is likely a mistake in the columns of one argument; `known` are the values of the truth that they predict. */
export function checkAlone(variables: Variable[], role: string, side: Side, records: number, known: Set<string>): void {
  for (const variable of variables) {
    if (variable.kind === "binary") continue;
    refuseTextOfMissing(variable, role, known);
    refuseHeader(variable, role, known, side);
    if (variable.kind === "multilabel") {
      refuseSpelledTwice(variable, role, known);
      continue;
    }
    if (side !== "predictions") {
      refuseCodesOfMissing(variable, role);
      refuseIdentifiers(variable, records, role, side === "groups");
    }
    refuseListed(variable, role, side === "groups");
    refuseSpelledTwice(variable, role, known);
  }
}

function refuseTextOfMissing(variable: Variable, role: string, known: Set<string>): void {
  const signs = variable.categories.includes("+") ? ["+", "-"] : [];
  const lists = variable.kind === "multilabel";
  const found = variable.categories.find((text) => saysMissing(text) && !known.has(text) && !signs.includes(text) && !(lists && strip(text)));
  if (found !== undefined && lists) {
    throw new Refused(`${titleOf(role, variable)} holds an empty label. Leave it out of the lists: a record without labels has an empty list`);
  }
  if (found !== undefined) {
    throw new Refused(
      `${titleOf(role, variable)} holds the text ${quoted(found)}, which looks like a missing value. ` +
        `${ADVICE.gap}; where it is a value indeed, ${ADVICE.categories}`,
    );
  }
}

/**
 * Refuse the name of the column as one of its values: files that were put together with the line of names of each. A
 * column whose name is a number has it by its place in a table.
 */
function refuseHeader(variable: Variable, role: string, known: Set<string>, side: Side): void {
  const others = variable.categories.filter((value) => value !== variable.name);
  if (!variable.name || isNumeral(variable.name) || others.length === variable.categories.length) return;
  if (known.has(variable.name)) return;
  if (side === "predictions" || (others.length && others.every(isNumeral))) {
    throw new Refused(
      `${titleOf(role, variable)} holds its own name as a value (it has ${shown(variable.categories)}): a line of ` +
        `names stands among the records, as where files are put together. Leave it out; where it is a value indeed, ${ADVICE.categories}`,
    );
  }
}

function refuseCodesOfMissing(variable: Variable, role: string): void {
  const code = codeOfMissing(variable.categories);
  if (code !== null) {
    throw new Refused(
      `${titleOf(role, variable)} holds ${quoted(code)}, which looks like a code for a missing value (it has ` +
        `${shown(variable.categories)}). ${ADVICE.gap}; where it is a value indeed, ${ADVICE.categories}`,
    );
  }
}

/** Predictions are held against the values known of their truth elsewhere: here they are what the model invents. */
function refuseSpelledTwice(variable: Variable, role: string, known: Set<string>): void {
  if (variable.categories.length > LOOKED_AT) return;
  const twice = spelledTwice(variable.categories.filter((value) => !known.has(value)));
  if (twice !== null) {
    const [one, other] = toldApart(...twice);
    const lists = variable.kind === "multilabel";
    const indeed = lists ? "labels indeed, give one another name" : `values indeed, ${ADVICE.categories}`;
    throw new Refused(
      `${titleOf(role, variable)} holds ${one} and ${other}, which look like two spellings of one ${lists ? "label" : "value"} (it has ` +
        `${shown(variable.categories)}). Spell them alike; where they are two ${indeed}`,
    );
  }
}

function refuseIdentifiers(variable: Variable, records: number, role: string, group: boolean): void {
  const many = variable.categories.length;
  if (many <= FEW_DATES) return;
  const title = titleOf(role, variable);
  // What many records share is a group, such as a census tract or a month.
  const shared = records >= SHARED * many;
  const named = group && many > FEW_GROUPS && !shared && variable.categories.every((category) => IDENTIFIER.test(category));
  const share = group || many > MANY_VALUES ? 0.5 : 0.9;
  if (named || (many > FEW_GROUPS && many > share * records)) {
    const what = group ? "groups" : "something that is predicted";
    const how = variable.categories.every((category) => NUMERIC.test(category)) ? ` (${ADVICE.bins})` : "";
    throw new Refused(
      `${title} holds ${counted(many)} different values in ${counted(records)} records, such as ${shown(variable.categories.slice(0, 3))}: it ` +
        `looks like an identifier or a measurement, not like ${what}. Name another column, or group its values ` +
        `first${how}; where these are its values indeed, ${ADVICE.categories}`,
    );
  }
  const few = many <= FEW_GROUPS && shared;
  if (group && !few && variable.categories.every((category) => DATE.test(category))) {
    throw new Refused(
      `${title} holds ${counted(many)} dates or times, such as ${shown(variable.categories.slice(0, 3))}: they are no groups. Name ` +
        `another column, or group them first, by year or by season; where they are its groups indeed, ${ADVICE.categories}`,
    );
  }
}

function refuseListed(variable: Variable, role: string, group: boolean): void {
  const categories = variable.categories.slice(0, LOOKED_AT);
  let found = categories.find((text) => "[{( ".includes(text.slice(0, 1)) && BRACKETS.test(text) && !INTERVAL.test(text));
  let separator: string | undefined;
  if (found === undefined) {
    separator = [...SEPARATORS, ...IN_TEXT].find((mark) => recombined(categories, mark, group || mark === " "));
    if (separator !== undefined) {
      const mark = separator;
      found = categories.find((text) => withoutEnds(text, mark).includes(mark));
    }
  }
  if (found !== undefined) {
    const how = separator === undefined ? "json.loads or ast.literal_eval" : `str.split(${quotedByPython(separator)})`;
    throw new Refused(
      `${titleOf(role, variable)} holds text that looks like a list of labels, such as ${quoted(found, 60)}, and ` +
        `would be read as one label. Split it into lists first (${how}); where it is one value indeed, ${ADVICE.categorical}`,
    );
  }
}

function withoutEnds(text: string, mark: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && text[start] === mark) start += 1;
  while (end > start && text[end - 1] === mark) end -= 1;
  return text.slice(start, end);
}

/** Whether text is made of parts that come in several combinations: there are no more parts than texts. */
function recombined(categories: string[], separator: string, many: boolean): boolean {
  const between = SEPARATORS.includes(separator);
  let held = categories.map((text) => text.split(separator).map(strip));
  // A list may end with one, and a label that is empty is none.
  if (between) held = held.map((parts) => parts.filter((part) => part !== ""));
  const split = held.filter((parts) => parts.length > 1);
  const parts = new Set(split.flat());
  const alone = new Set(held.filter((one) => one.length === 1).flat());
  if (!split.length || parts.has("") || new Set([...parts, ...alone]).size > categories.length) return false;
  if (between) return !crossed(held);
  const within = [...parts].every((part) => alone.has(part));
  if (separator !== ",") return within && (!many || (split.length > 1 && split.length >= alone.size));
  const times = new Map<string, number>();
  for (const one of [...split.map((text) => new Set(text)), alone]) for (const part of one) times.set(part, (times.get(part) ?? 0) + 1);
  return [...parts].some((part) => alone.has(part)) && [...parts].every((part) => (times.get(part) ?? 0) > 1);
}

/** Whether texts are crossings of two or more variables: as many parts in each, and each part in one place. */
function crossed(texts: string[][]): boolean {
  const width = texts[0].length;
  if (texts.some((text) => text.length !== width) || width === 1) return false;
  const place = new Map<string, number>();
  return texts.every((text) => text.every((part, i) => (place.get(part) ?? i) === i && place.set(part, i)));
}
