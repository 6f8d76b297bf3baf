/** Whether predictions speak of the values of their truth; a predicted value that the truth never has is refused where it is likely a mistake. */

import { ADVICE } from "./advice";
import { isNumeral, respelled, saysUnknown, toldApart } from "./spelling";
import { asFloat, quoted, shown } from "./text";
import { Refused } from "./types";

const YES_NO = ["0", "1"];

export function areYesNo(values: Iterable<string>): boolean {
  return [...values].every((value) => YES_NO.includes(value));
}

function sideBySide(first: string, values: Iterable<string>, second: string, others: Iterable<string>): string {
  return `${first} has ${shown(values)}; ${second} has ${shown(others)}`;
}

/** Refuse a truth that says of some records that it is not known, in a word that is never predicted. */
export function refuseUnknownTruth(known: string[], said: string[], truth: string, predicted: string): void {
  const found = known.find((value) => !said.includes(value) && saysUnknown(value));
  if (found !== undefined && known.length > 2) {
    throw new Refused(
      `${truth} has ${quoted(found)}, which ${predicted} never has: it looks like a truth that is not known ` +
        `(${sideBySide(truth, known, predicted, said)}). ${ADVICE.gap} or leave those records out; where ` +
        `it is a value that could be predicted, ${ADVICE.categories} for the predictions`,
    );
  }
}

/** Refuse predicted values that are likely mistakes; `said` tells how often each value is predicted. */
export function checkSaid(values: string[], said: Map<string, number>, truth: string, predicted: string): void {
  const known = areYesNo(values) ? YES_NO : values;
  const there = new Set(known);
  const strange = [...said.keys()].filter((value) => !there.has(value));
  const apart = sideBySide(truth, known, predicted, said.keys());
  if (known.length === 1) {
    throw new Refused(`${truth} has one value only, ${shown(known)}, and nothing says which others there are (${apart}): ${ADVICE.categories}`);
  }
  if (!strange.length) return;
  const begin = `${predicted} has ${strange.length > 1 ? "values" : "a value"} that ${truth} never has: ${shown(strange)}`;
  if (areProbabilities([...said.keys()])) {
    throw new Refused(`${begin}. They look like probabilities that were read as text (${apart}): convert the column to numbers`);
  }
  const twice = respelled(strange, known, said.keys());
  if (twice !== null) {
    const [one, other] = toldApart(...twice);
    throw new Refused(`${begin}. ${one} looks like another spelling of ${other} (${apart}). Spell the values of both alike before they are compared`);
  }
  if (known.length === 2) {
    throw new Refused(
      `${begin}. A truth of two values is predicted by these alone (${apart}). Are these the columns that were meant? ` +
        `Spell the values alike; where the truth can take more values, ${ADVICE.categories}`,
    );
  }
  if (strange.every(isNumeral) && !known.some(isNumeral)) {
    throw new Refused(`${begin}. They are numbers where the truth has words (${apart}): spell the values of both alike`);
  }
  if (numberedOtherwise(known, [...said.keys()])) {
    const never = known.filter((value) => !said.has(value));
    throw new Refused(
      `${begin}, and it never has ${shown(never)}. Are the values numbered from 0 on one side and from 1 on the other (${apart})? Number both alike`,
    );
  }
  const sum = (counts: Iterable<number>): number => [...counts].reduce((total, count) => total + count, 0);
  if (2 * sum(strange.map((value) => said.get(value) ?? 0)) > sum(said.values())) {
    throw new Refused(
      `${begin}. They are more than half of all predicted records (${apart}). Are these the columns that were meant, and are their values spelled alike?`,
    );
  }
}

/** Whether all values are numbers from 0 to 1, and some are fractions. */
function areProbabilities(said: string[]): boolean {
  const numbers = said.map(asFloat);
  return numbers.every((number) => number !== null && number >= 0 && number <= 1) && !numbers.every((number) => Number.isInteger(number));
}

/** Whether values are whole numbers one after another, and those of the other side the same, one further up or down. */
function numberedOtherwise(known: string[], other: string[]): boolean {
  if (![...known, ...other].every((text) => /^[0-9]+$/.test(text))) return false;
  const mine = known.map(BigInt).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const theirs = new Set(other.map(BigInt));
  const [first, last] = [mine[0], mine[mine.length - 1]];
  if (mine.length < 2 || mine.some((value, i) => value !== first + BigInt(i))) return false;
  const added = [...theirs].filter((value) => !mine.includes(value));
  const up = added.length === 1 && added[0] === last + 1n && !theirs.has(first);
  const down = added.length === 1 && added[0] === first - 1n && !theirs.has(last);
  return up || down;
}
