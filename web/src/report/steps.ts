/** Rates of groups at thresholds, from the counts that a document holds at each of them. */
import type { GroupSteps, Steps } from "../audit";

export interface Estimate {
  value: number;
  low: number;
  high: number;
}

export type RateName = "rate" | "tpr" | "fpr";

/** Wilson's interval of one proportion over an effective number of records; NaN without any. */
export function wilson(value: number, size: number, z: number): Estimate {
  if (!(size > 0) || Number.isNaN(value)) return { value: NaN, low: NaN, high: NaN };
  const zz = (z * z) / size;
  const middle = (value + zz / 2) / (1 + zz);
  const reach = (z / (1 + zz)) * Math.sqrt((value * (1 - value)) / size + (z * z) / (4 * size * size));
  return { value, low: value <= 0 ? 0 : Math.max(0, middle - reach), high: value >= 1 ? 1 : Math.min(1, middle + reach) };
}

/** Positive rate, TPR or FPR of a group at the threshold of a place. */
export function rateAt(group: GroupSteps, of: RateName, place: number, z: number): Estimate {
  const [hits, size, effective] =
    of === "tpr" ? [group.true[place], group.positive, group.effective[0]]
    : of === "fpr" ? [group.false[place], group.negative, group.effective[1]]
    : [group.true[place] + group.false[place], group.positive + group.negative, group.effective[2]];
  return wilson(size > 0 ? hits / size : NaN, effective, z);
}

/** The place of the row that holds at a threshold: the lowest listed threshold at or above it, else the last. */
export function placeAt(steps: Steps, threshold: number): number {
  let [low, high] = [0, steps.threshold.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps.threshold[middle] >= threshold) high = middle;
    else low = middle + 1;
  }
  return low;
}
