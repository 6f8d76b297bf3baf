/** Rates as proportions, and the intervals of them and of their differences. */
import { betaQuantile, normalQuantile, twoSided } from "./distributions";
import { chances } from "./keys";
import { clip, pairwise } from "./sums";

/** A rate of every group and outcome: so many of so many. Tables have a row for each group. */
export interface Proportion {
  groups: number;
  outcomes: number;
  hits: Float64Array;
  size: Float64Array;
  value: Float64Array;
}

export function proportion(groups: number, hits: Float64Array, size: Float64Array): Proportion {
  return { groups, outcomes: groups ? hits.length / groups : 0, hits, size, value: hits.map((held, i) => (size[i] > 0 ? held / size[i] : NaN)) };
}

type Limits = [number, number];

/** Wilson's score interval of one proportion; NaN without records. */
export function wilson(value: number, size: number, z: number): Limits {
  const middle = (value + (z * z) / (2 * size)) / (1 + (z * z) / size);
  const reach = (z / (1 + (z * z) / size)) * Math.sqrt((value * (1 - value)) / size + (z * z) / (4 * size * size));
  if (Number.isNaN(value)) return [NaN, NaN];
  return [value <= 0 ? 0 : clip(middle - reach, 0, 1), value >= 1 ? 1 : clip(middle + reach, 0, 1)];
}

/** The exact interval of one proportion; NaN without records. */
export function clopperPearson(value: number, size: number, level: number): Limits {
  if (!(size > 0)) return [NaN, NaN];
  const tail = (1 - level) / 2;
  const hits = clip(value, 0, 1) * size;
  const rest = Math.max(size - hits, 0);
  const low = hits > 0 ? betaQuantile(hits, rest + 1, tail) : 0;
  const high = rest > 0 ? betaQuantile(hits + 1, rest, 1 - (1 - tail), true) : 1;
  return [low, high];
}

/** Limits of a difference from those of two independent rates. */
function apart(value1: number, [low1, high1]: Limits, value2: number, [low2, high2]: Limits): Limits {
  const difference = value1 - value2;
  return [difference - Math.sqrt((value1 - low1) ** 2 + (high2 - value2) ** 2), difference + Math.sqrt((high1 - value1) ** 2 + (value2 - low2) ** 2)];
}

/** The limits of rates at the level that so many differences need: Newcombe's for one, Clopper and Pearson's for more. */
function limitsOf(values: number[], sizes: number[], level: number, compared: number): Limits[] {
  if (compared <= 1) return values.map((value, i) => wilson(value, sizes[i], twoSided(level)));
  const each = 1 - (1 - level) / compared;
  return values.map((value, i) => clopperPearson(value, sizes[i], each));
}

/** The largest lower and the largest upper bound of the sizes of differences between all groups. */
export function largestBounds(values: number[], sizes: number[], level: number, compared: number): Limits {
  const limits = limitsOf(values, sizes, level, compared);
  let [low, high] = [-Infinity, -Infinity];
  for (let a = 0; a < values.length; a++) {
    for (let b = a + 1; b < values.length; b++) {
      const [least, most] = apart(values[a], limits[a], values[b], limits[b]);
      low = Math.max(low, least, -most);
      high = Math.max(high, most, -least);
    }
  }
  return [low, high];
}

/** Which groups and outcomes decide a difference: of all outcomes together, and of each by itself. */
export interface Deciding {
  all: boolean[];
  each: boolean[];
}

export function deciding(made: Proportion, minGroup: number): Deciding {
  const { groups, outcomes, size } = made;
  const several = (mask: boolean[]): boolean[] => {
    const counts = Array.from({ length: outcomes }, (_, o) => Array.from({ length: groups }, (_, g) => mask[g * outcomes + o]).filter(Boolean).length);
    return mask.map((one, i) => one && counts[i % outcomes] >= 2);
  };
  const there = several(Array.from(size, (one) => one > 0));
  const enough = several(there.map((one, i) => one && size[i] >= minGroup));
  const own = Array.from({ length: outcomes }, (_, o) => enough.some((one, i) => one && i % outcomes === o));
  return { all: enough.some(Boolean) ? enough : there, each: there.map((one, i) => (own[i % outcomes] ? enough[i] : one)) };
}

export interface Largest {
  value: number;
  low: number;
  high: number;
  outcome: number;
  higher: number;
  lower: number;
  expected: number;
  compared: number;
  byOutcome: { value: number; low: number; high: number }[];
}

/** The difference of the groups with the highest and the lowest rate, and their numbers. */
function furthest(rates: number[], groups: number[]): [number, number, number] {
  let [top, bottom] = [0, 0];
  rates.forEach((rate, i) => {
    if (rate > rates[top]) top = i;
    if (rate < rates[bottom]) bottom = i;
  });
  if (bottom === top) bottom = (top + 1) % groups.length;
  return [rates[top] - rates[bottom], groups[top], groups[bottom]];
}

/** The largest difference between two groups over all outcomes; null where no outcome has two groups. */
export function largestDifference(made: Proportion, decides: Deciding, level: number): Largest | null {
  const { outcomes } = made;
  const inOutcome = (mask: boolean[], o: number) => [...Array(made.groups).keys()].filter((g) => mask[g * outcomes + o]);
  const counts = Array.from({ length: outcomes }, (_, o) => inOutcome(decides.all, o).length);
  const compared = counts.reduce((sum, one) => sum + (one * (one - 1)) / 2, 0);
  if (!compared) return null;
  const bounds = (groups: number[], o: number, many: number): Limits => {
    const at = groups.map((g) => g * outcomes + o);
    const [low, high] = largestBounds(at.map((i) => made.value[i]), at.map((i) => made.size[i]), level, many);
    return [clip(low, 0, 1), clip(high, 0, 1)];
  };
  const far = (groups: number[], o: number) => furthest(groups.map((g) => made.value[g * outcomes + o]), groups);
  let [low, high] = [0, 0];
  let best = { value: -1, outcome: 0, higher: 0, lower: 0 };
  for (let o = 0; o < outcomes; o++) {
    if (!counts[o]) continue;
    const groups = inOutcome(decides.all, o);
    const [least, most] = bounds(groups, o, compared);
    [low, high] = [Math.max(low, least), Math.max(high, most)];
    const [value, higher, lower] = far(groups, o);
    if (value > best.value) best = { value, outcome: o, higher, lower };
  }
  const byOutcome = counts.map((_, o) => {
    const groups = inOutcome(decides.each, o);
    if (!groups.length) return { value: NaN, low: NaN, high: NaN };
    const [least, most] = bounds(groups, o, (groups.length * (groups.length - 1)) / 2);
    return { value: far(groups, o)[0], low: least, high: most };
  });
  return { ...best, low, high, expected: expected(made, decides.all), compared, byOutcome };
}

// Draws of the largest difference under equality, and normal numbers that are drawn in all.
const DRAWS = 1000;
const MOST_DRAWN = 1 << 22;

/** The mean of the largest difference in samples of these sizes whose groups are equal, by draws that depend on their number alone. */
function expected(made: Proportion, decides: boolean[]): number {
  const { groups, outcomes } = made;
  const there = (g: number, o: number) => decides[g * outcomes + o];
  const columns = [...Array(outcomes).keys()].filter((o) => [...Array(groups).keys()].filter((g) => there(g, o)).length >= 2);
  const width = columns.length;
  const common = columns.map((o) => {
    let [hits, size] = [0, 0];
    for (let g = 0; g < groups; g++) {
      if (!there(g, o)) continue;
      hits += made.size[g * outcomes + o] * made.value[g * outcomes + o];
      size += made.size[g * outcomes + o];
    }
    return hits / size;
  });
  const cells = groups * width;
  const error = new Float64Array(cells);
  const counted = new Uint8Array(cells);
  for (let g = 0; g < groups; g++) {
    columns.forEach((o, c) => {
      if (!there(g, o)) return;
      counted[g * width + c] = 1;
      error[g * width + c] = Math.sqrt(Math.max((common[c] * (1 - common[c])) / made.size[g * outcomes + o], 0));
    });
  }
  const draws = Math.max(1, Math.min(DRAWS, Math.floor(MOST_DRAWN / cells)));
  const chance = chances(draws * cells);
  const apart = new Float64Array(draws);
  for (let draw = 0; draw < draws; draw++) {
    let most = -Infinity;
    for (let c = 0; c < width; c++) {
      let [top, bottom] = [-Infinity, Infinity];
      for (let g = 0; g < groups; g++) {
        const at = g * width + c;
        if (!counted[at]) continue;
        const moved = clip(common[c] + normalQuantile(chance[draw * cells + at]) * error[at], 0, 1);
        if (moved > top) top = moved;
        if (moved < bottom) bottom = moved;
      }
      most = Math.max(most, top - bottom);
    }
    apart[draw] = most;
  }
  return pairwise(apart) / draws;
}

/** The largest difference between two groups of every outcome; NaN where fewer than two have a rate. */
export function betweenGroups(made: Proportion): Float64Array {
  return Float64Array.from({ length: made.outcomes }, (_, o) => {
    const rates = Array.from({ length: made.groups }, (_, g) => made.value[g * made.outcomes + o]).filter((rate) => !Number.isNaN(rate));
    return rates.length >= 2 ? Math.max(...rates) - Math.min(...rates) : NaN;
  });
}

/** The unweighted mean over the groups that have a rate, of every outcome; groups are added one after another. */
export function overGroups(values: Float64Array, groups: number): Float64Array {
  const outcomes = values.length / groups;
  return Float64Array.from({ length: outcomes }, (_, o) => {
    const column = Float64Array.from({ length: groups }, (_, g) => values[g * outcomes + o]);
    const count = column.filter((one) => !Number.isNaN(one)).length;
    const held = column.map((one) => (Number.isNaN(one) ? 0 : one));
    // A table of one column is one row of numbers to numpy, which it adds pairwise.
    return (outcomes === 1 ? pairwise(held) : held.reduce((sum, one) => sum + one, 0)) / count;
  });
}
