/** Labels that only predictions have: their rate in every group, and how far groups are apart. */
import type { Invented } from "../audit";
import type { BagCounts } from "./counts";
import { plain } from "./directional";
import { largestBounds } from "./proportions";
import { fisher, qValues } from "./signs";

const MOST_DIFFERENCES = 100_000;

/** One entry for each invented label of an attribute; `places` are those of the labels among the outcomes. */
export function inventedLabels(attribute: string, bags: BagCounts, places: number[], level: number): Invented[] {
  const { whole } = bags;
  const O = whole.outcome.length;
  const exclusive = whole.given[0].category !== null;
  return places.map((o): Invented => {
    const label = whole.outcome[o];
    const held = whole.given.map((_, g) => whole.held[g * O + o]);
    const total = whole.predicted[o];
    const groups = [...held.keys()].filter((g) => whole.size[g] > 0);
    const rates = held.map((one, g) => one / whole.size[g]);
    const entry: Invented = {
      attribute, direction: "A->T", variable: label.variable, label: label.text, category: label.category, count: total, rate: plain(total / whole.n),
      groups: groups.map((g) => ({ group: whole.given[g].text, count: held[g], records: whole.size[g], rate: plain(rates[g]) })),
      between: null, difference: null, low: null, high: null, p: null, q: null,
    };
    if (groups.length > 1) {
      let [top, bottom] = [groups[0], groups[0]];
      for (const g of groups) {
        if (rates[g] > rates[top]) top = g;
        if (rates[g] < rates[bottom]) bottom = g;
      }
      entry.between = [top, bottom].map((g) => whole.given[g].text);
      entry.difference = rates[top] - rates[bottom];
      const each = groups.map((g) => {
        const p = fisher(held[g], whole.size[g], total - held[g], whole.n - whole.size[g]);
        return Number.isNaN(p) ? 1 : p;
      });
      entry.p = Math.min(1, (exclusive && groups.length === 2 ? 1 : groups.length) * Math.min(...each));
      if (groups.length ** 2 * places.length <= 2 * MOST_DIFFERENCES) {
        const pairs = (groups.length * (groups.length - 1)) / 2;
        const [low, high] = largestBounds(groups.map((g) => rates[g]), groups.map((g) => whole.size[g]), level, pairs);
        [entry.low, entry.high] = [Math.max(0, low), Math.max(0, high)];
      }
    }
    return entry;
  });
}

/** Give the entries q-values over all of them. */
export function withQ(entries: Invented[]): Invented[] {
  const q = qValues(entries.map((entry) => entry.p ?? NaN));
  entries.forEach((entry, i) => (entry.q = plain(q[i])));
  return entries;
}
