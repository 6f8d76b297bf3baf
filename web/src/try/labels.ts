/** The rule that turns columns into labels. One column is one variable: every observed value is a label. Several columns are a set of yes/no labels: value 1 counts, and text columns among them give a label for every category. */

import { ADVICE } from "./advice";
import type { Variable } from "./column_checks";
import { canonical, counted, general, inOrder, printable, quotedByPython, repr, rowNumbers } from "./text";
import { Beyond, Refused, type Column, type Value } from "./types";

/** Floats hold every integer up to this one. */
const EXACT = 2 ** 53;
const PLACES_SHOWN = 5;

/** The labels of some columns, and what of them this page does not measure, where there is such. */
export interface Read {
  variables: Variable[];
  beyond: Beyond | null;
}

/** Read the columns of an argument as labels; `like` is the truth that they predict. */
export function labelsOf(columns: Column[], role: string, like: Variable[] | null): Read {
  const soft = like !== null;
  if (columns.length === 1) {
    const zeroOne = like !== null && like.length === 1 && like[0].categories.every((category) => category === "0" || category === "1");
    return one(columns[0], role, soft, zeroOne);
  }
  const read = columns.map((column) => yesNo(column, role, soft));
  return { variables: read.flatMap((part) => part.variables), beyond: read.find((part) => part.beyond)?.beyond ?? null };
}

/** A column as one variable. */
function one(column: Column, role: string, soft: boolean, zeroOne: boolean): Read {
  if (column.type === "list") return multilabel(column, role);
  let beyond: Beyond | null = null;
  if (column.type === "float") {
    const fraction = (column.values as number[]).find((value) => Number.isFinite(value) && !Number.isInteger(value));
    if (fraction !== undefined && zeroOne) {
      refuseNotZeroOne(column, role);
      if (!soft) throw new Refused(fractions(column, role));
      beyond = probabilities(column, role, fraction);
      return { variables: [{ name: column.name, kind: "categorical", categories: ["0", "1"], codes: column.codes }], beyond };
    }
    if (fraction !== undefined) {
      const hint = soft
        ? `If these are P(1), the truth must be a 0/1 variable (recode yes and no as 1 and 0) and scores lie from 0 to 1 (divide percentages by 100); ${ADVICE["class probabilities"]}.`
        : "If these are scores or probabilities, they belong with the predictions; if each value is a " +
          `category, ${ADVICE.categorical}; if they are a measurement, ${ADVICE.bins}; if they are a continuous task of an audit, such as a share, ${ADVICE.continuous}.`;
      throw new Refused(`${role} holds fractions such as ${general(fraction)}, and one column is read as a variable. ${hint}`);
    }
    refuseRounded(column.values as number[], wholeTitle(role, column.name));
  }
  return { variables: [categorical(column)], beyond };
}

/** A column of a set: value 1 is the label; text columns give one for every category. */
function yesNo(column: Column, role: string, soft: boolean): Read {
  if (column.type === "list") return multilabel(column, role);
  if (column.type === "text" || column.type === "date") return { variables: [categorical(column)], beyond: null };
  let beyond: Beyond | null = null;
  if (column.type !== "boolean") {
    refuseNotZeroOne(column, role);
    const fraction = (column.values as (number | bigint)[]).find((value) => typeof value === "number" && !Number.isInteger(value));
    if (fraction !== undefined && !soft) throw new Refused(fractions(column, role));
    if (fraction !== undefined) beyond = probabilities(column, role, Number(fraction));
  }
  const target = new Int32Array(column.values.map((value) => (Number(value) === 1 ? 1 : 0)));
  return { variables: [{ name: column.name, kind: "binary", categories: ["1"], codes: moved(column.codes, target) }], beyond };
}

/** Lists of labels, of which the page knows what they are and which are missing. */
function multilabel(column: Column, role: string): Read {
  const beyond = new Beyond(`${role} column ${quotedByPython(printable(column.name, 60))} holds lists of labels, which this page does not measure: the full audit does`);
  return { variables: [{ name: column.name, kind: "multilabel", categories: inOrder(new Set(column.values.map(canonical))), codes: column.codes }], beyond };
}

function probabilities(column: Column, role: string, fraction: number): Beyond {
  return new Beyond(
    `${role} column ${quotedByPython(printable(column.name, 60))} holds probabilities, such as ${general(fraction)}, and this page measures decisions alone: ` +
      "the full audit measures probabilities. To measure decisions here, give a column of them, such as 0 and 1",
  );
}

const NUMBERS = new Set(["integer", "float", "boolean"]);

/** Every observed value as a category: numbers by value, all else in the usual order. */
function categorical(column: Column): Variable {
  const spelled = column.values.map(canonical);
  const byValue = (a: Value, b: Value): number => (a < b ? -1 : a > b ? 1 : 0);
  const categories = NUMBERS.has(column.type) ? [...column.values].sort(byValue).map(canonical) : inOrder(new Set(spelled));
  const place = new Map(categories.map((category, i) => [category, i]));
  const target = new Int32Array(spelled.map((text) => place.get(text) as number));
  return { name: column.name, kind: "categorical", categories, codes: moved(column.codes, target) };
}

/** The categories of two variables in one order: the usual one, or that of the first which has one of its own, with the others behind. */
export function joined(first: string[], second: string[]): string[] {
  const usual = inOrder(new Set([...first, ...second]));
  const own = [first, second].find((categories) => inOrder(categories).some((category, i) => category !== categories[i])) ?? [];
  const held = new Set(own);
  return [...own, ...usual.filter((category) => !held.has(category))];
}

/** Codes in another order; -1 stays -1. */
export function moved(codes: Int32Array, target: Int32Array): Int32Array {
  if (target.every((place, i) => place === i)) return codes;
  const out = new Int32Array(codes.length);
  for (let i = 0; i < codes.length; i += 1) out[i] = codes[i] < 0 ? -1 : target[codes[i]];
  return out;
}

/** An argument and its column, by its whole name where it has one. */
export function wholeTitle(role: string, name: string): string {
  return name ? `${role} column ${quotedByPython(name)}` : role;
}

/** What follows the name of an argument where the column has a name of its own. */
function columnTitle(name: string): string {
  return name ? ` column '${printable(name, 60)}'` : "";
}

/** The first value of a column that is chosen by a rule, and its record. */
function firstOf(column: Column, chosen: (value: number | bigint) => boolean): [number | bigint, number] | null {
  const place = (column.values as (number | bigint)[]).findIndex(chosen);
  return place < 0 ? null : [column.values[place] as number | bigint, column.codes.indexOf(place)];
}

function refuseNotZeroOne(column: Column, role: string): void {
  const found = firstOf(column, (value) => !(value >= 0 && value <= 1));
  if (found !== null) {
    const [value, record] = found;
    const written = column.type === "float" ? repr(Number(value)) : value.toString();
    throw new Refused(
      `${role}${columnTitle(column.name)} holds ${written} (${rowNumbers([record])}); a yes/no column takes ` +
        `0/1, or probabilities in [0, 1] for predictions. If every value is a category of its own, ${ADVICE.wrap}`,
    );
  }
}

function fractions(column: Column, role: string): string {
  const [value, record] = firstOf(column, (one) => !Number.isInteger(Number(one))) as [number, number];
  return (
    `${role}${columnTitle(column.name)} holds fractions such as ${general(value)} (${rowNumbers([record])}), but ` +
    `${role} takes 0/1 only. Probabilities belong with the predictions: are truth and predictions swapped?`
  );
}

/** Refuse whole numbers in floats that cannot tell them from their neighbours. */
function refuseRounded(values: number[], what: string): void {
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (largest >= EXACT && Number.isFinite(largest)) {
    throw new Refused(
      `${what} holds ${BigInt(largest)} as a floating number, which does not tell it from its neighbours: ids of more ` +
        "than 2**53 were rounded before they came here, as pandas does to whole numbers with missing values. Read " +
        "them as text or as whole numbers (dtype 'Int64')",
    );
  }
}

/** Raise when a label is missing, saying how many and where. */
export function refuseMissing(variables: Variable[], missing: (Uint8Array | null)[], role: string): void {
  const gone = missing.filter((one): one is Uint8Array => one !== null);
  if (!gone.length) return;
  const records: number[] = [];
  let count = 0;
  for (let record = 0; record < gone[0].length; record += 1) {
    if (gone.some((one) => one[record])) {
      count += 1;
      if (records.length < PLACES_SHOWN) records.push(record);
    }
  }
  const named = variables.filter((variable, i) => missing[i] !== null && variable.name).map((variable) => printable(variable.name, 40));
  const what = named.length ? ` in ${named.slice(0, PLACES_SHOWN).join(", ")}` : "";
  throw new Refused(`${role} has ${counted(count)} record${count === 1 ? "" : "s"} with missing labels${what} (${rowNumbers(records, count)}). ${ADVICE["missing labels"]}`);
}
