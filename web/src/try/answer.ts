/** The answer of an audit in a few sentences: what was found, for whom, how sure, what next. */
import type { AuditDocument, Entry, Invented, Pair } from "../audit";
import { normalQuantile } from "./distributions";
import { changedPairs, keptOf, placeOf, sideOfZero, unknownDirections, verdicts, type Place } from "./evidence";
import { CONSTANTS, FACTS, GAPS, METRICS, shortName } from "./facts";
import { valueWithInterval } from "./findings";
import { fixed, grouped, number, percent, roundedUp, short } from "./format";
import { general, printable } from "./text";
import { LONGEST, labelNames } from "./names";

const NAMED = 3;
const ASK_FOR_SCORES = "Give the model's scores too (task_scores): they tell whether scores or threshold change the bias.";
const NOTHING = "These figures ask for nothing; repeat the audit when the data or the model change.";

/** Some things one by one, and how many more there are. */
function joined(words: string[], most = NAMED): string {
  const shown = words.slice(0, most);
  if (words.length > most) shown.push(`${words.length - most} more`);
  return shown.length === 1 ? shown[0] : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}

/** What is concluded of every figure: as the findings say, where they speak of it. */
export function concludedOf(document: AuditDocument): Map<Place, number | null> {
  const out = new Map<Place, number | null>(verdicts(document));
  for (const row of document.findings) {
    const figure = row.figure as Record<string, any>;
    if (row.kind === "finding" && "verdict" in figure) out.set(placeOf(figure as Entry), figure.verdict);
  }
  return out;
}

export function answerOf(document: AuditDocument): Record<string, string> {
  const made = new Answering(document);
  const said = { Found: made.found(), "Worst off": made.worstOff(), "How sure": made.sure(), Next: made.next() };
  return Object.fromEntries(Object.entries(said).filter(([, words]) => words));
}

class Answering {
  private readonly concluded: Map<Place, number | null>;
  private readonly kept: Set<Place>;
  private readonly names: Record<string, string>;
  private readonly entries: Entry[];
  private readonly gaps = new Map<string, Entry>();

  constructor(private readonly document: AuditDocument) {
    this.concluded = concludedOf(document);
    this.kept = keptOf(document);
    this.names = labelNames(document.data);
    this.entries = document.metrics.filter((entry) => entry.metric === "directional").sort((a, b) => Math.abs(b.value ?? 0) - Math.abs(a.value ?? 0));
    for (const metric of GAPS) {
      const held = document.metrics.filter((entry) => entry.metric === metric && this.verdict(entry) && entry.between);
      if (held.length) this.gaps.set(metric, held.reduce((best, entry) => ((entry.value ?? 0) > (best.value ?? 0) ? entry : best)));
    }
  }

  private name(label: string): string {
    return (Object.hasOwn(this.names, label) && this.names[label]) || printable(label, LONGEST);
  }

  private verdict(entry: Entry): number {
    return this.concluded.get(placeOf(entry)) ?? 0;
  }

  private asGoodAs0(entry: Entry): boolean {
    return this.kept.has(placeOf(entry)) && !this.verdict(entry);
  }

  private get undecided(): Entry[] {
    return this.entries.filter((entry) => !this.verdict(entry) && !this.asGoodAs0(entry));
  }

  private where(entry: Entry): string {
    return printable(entry.attribute, LONGEST);
  }

  private listed(entries: Entry[]): string {
    return joined(entries.map((entry) => `${this.where(entry)} (${short(entry.value)})`));
  }

  found(): string {
    if (!this.entries.length) return "Directional amplification was not measured.";
    const [up, down] = [1, -1].map((side) => this.entries.filter((entry) => this.verdict(entry) === side));
    const said: string[] = [];
    if (up.length) said.push(`amplifies the bias of its data by ${this.listed(up)}`);
    if (down.length) said.push(`weakens ${said.length ? "it" : "the associations of its data"} by ${this.listed(down)}`);
    const asItWas = this.entries.filter((entry) => this.asGoodAs0(entry));
    if (asItWas.length) {
      const what = up.length ? "it" : said.length ? "them" : "the bias of its data";
      said.push(`keeps ${what} to within ${general(CONSTANTS.as_good_as_0)} on average by ${this.listed(asItWas)}`);
    }
    if (!said.length) {
      const average = this.changed.length ? " on average" : "";
      const open = `the model amplifies the bias of its data${average} is not decided: ${this.listed(this.undecided)}`;
      return `${this.gaps.size ? `${this.apart()}; whether ${open}` : `Whether ${open}`}${this.ofPairs()}.${this.invented()}`;
    }
    const undecided = this.undecided.map((entry) => this.where(entry));
    const rest = undecided.length ? `; whether it does by ${joined(undecided)} is not decided` : "";
    return `The model ${joined(said)}${rest}.${this.invented()}`;
  }

  /** Labels that only the model has and that groups get at different rates, the largest difference first. */
  private get inventions(): Invented[] {
    const clear = (this.document.invented ?? []).filter((row) => row.between && row.q !== null && row.q < CONSTANTS.clear_difference);
    return clear.sort((a, b) => (b.difference ?? 0) - (a.difference ?? 0));
  }

  private invented(): string {
    const [first, ...others] = this.inventions;
    if (!first) return "";
    const [high, low] = first.between!.map((group) => this.name(group));
    const more = others.length ? `, and so on for ${grouped(others.length)} more` : "";
    return ` It gives ${printable(first.label, LONGEST)}, which the truth never has, to ${high} more often than to ${low}${more}.`;
  }

  /** What is not beyond chance where no figure is: single pairs, and labels that only the model has, may be. */
  private nothing(): string {
    if (this.inventions.length) return "Of labels that the truth has, no average and no difference";
    return this.entries.some((entry) => changedPairs(entry).length) ? "No average and no difference" : "Nothing";
  }

  /** The pairs that change for certain in directional values of which nothing is concluded. */
  private get changed(): Pair[] {
    return this.undecided.flatMap((entry) => changedPairs(entry)).sort((a, b) => Math.abs(b.delta ?? 0) - Math.abs(a.delta ?? 0));
  }

  /** What is sure of single pairs where the average is not. */
  private ofPairs(): string {
    const [first] = this.changed;
    if (!first) return "";
    const many = this.changed.length;
    return `; ${grouped(many)} pair${many > 1 ? "s" : ""} of a group and an outcome change${many > 1 ? "" : "s"} beyond chance, ${many > 1 ? "most of all " : ""}` +
      `${this.name(first.outcome)} among ${this.name(first.given)} (${percent(first.truth_rate)} becomes ${percent(first.predicted_rate)})`;
  }

  /** That groups differ, where that is decided: of which attributes, and in what. */
  private apart(): string {
    const attributes = new Set([...this.gaps.values()].map((entry) => this.where(entry)));
    return `Groups of ${joined([...attributes])} differ in ${joined([...this.gaps.keys()].map((metric) => METRICS[metric].gap))}`;
  }

  /** Who bears the errors: whether an outcome is a burden or a benefit is for the reader to know. */
  worstOff(): string {
    const [burden, benefit] = [this.gaps.get("fpr_difference"), this.gaps.get("tpr_difference")];
    const said: string[] = [];
    if (burden) {
      const [group, most, other, least] = this.ends(burden, "false_positive_rate", false);
      said.push(`${group}, if ${this.outcome(burden)} is a burden: wrongly predicted for ${most} of those without it (${other}: ${least}).`);
    }
    if (benefit) {
      const [group, most, other, least] = this.ends(benefit, "true_positive_rate", true);
      const what = burden && burden.outcome === benefit.outcome ? "it" : this.outcome(benefit);
      said.push(`${group}, if ${what} is a benefit: missed for ${most} of those with it (${other}: ${least}).`);
    }
    if (said.length) return said.join(" ");
    const wrong = this.gaps.get("accuracy_difference");
    if (wrong) {
      const [group, most, other, least] = this.ends(wrong, "accuracy", true);
      const what = (wrong.outcomes ?? []).length > 1 ? `${this.outcome(wrong)} is predicted` : "predicted";
      return `${group}: ${what} wrongly for ${most} (${other}: ${least}).`;
    }
    if (this.document.metrics.some((entry) => entry.between)) return "No difference in error rates between groups is beyond chance.";
    return this.mostChanged();
  }

  private outcome(entry: Entry): string {
    return this.name(entry.outcome || "the outcome");
  }

  /** The group with the most errors, its share, the one with the fewest, and its share. */
  private ends(entry: Entry, rate: "false_positive_rate" | "true_positive_rate" | "accuracy", turned: boolean): [string, string, string, string] {
    const held = new Map<string, number | null>();
    for (const row of this.document.rates ?? []) if (row.attribute === entry.attribute && row.outcome === entry.outcome) held.set(row.group, row[rate].value);
    const shares = (entry.between ?? []).map((name) => {
      const value = held.get(name) ?? null;
      return { name, share: value === null ? null : turned ? 1 - value : value };
    });
    shares.sort((a, b) => (b.share ?? 0) - (a.share ?? 0));
    const [worst, best] = shares;
    return [this.name(worst.name), percent(worst.share), this.name(best.name), percent(best.share)];
  }

  private mostChanged(): string {
    const pairs = this.entries.flatMap((entry) => changedPairs(entry));
    if (!pairs.length) return this.entries.length ? "No pair of a group and an outcome changes beyond chance." : "";
    const pair = pairs.reduce((best, one) => (Math.abs(one.delta ?? 0) > Math.abs(best.delta ?? 0) ? one : best));
    return `Most changed is ${this.pair(pair)}`;
  }

  private pair(pair: Pair): string {
    return `${this.name(pair.outcome)} among ${this.name(pair.given)}: true of ${percent(pair.truth_rate)}, predicted for ${percent(pair.predicted_rate)}.`;
  }

  sure(): string {
    const level = `${general(this.document.data.confidence * 100)}%`;
    const decided = this.entries.filter((entry) => this.verdict(entry)).map((entry) => `${this.where(entry)} ${bounds(entry)}`);
    for (const [metric, entry] of this.gaps) decided.push(`${shortName(metric)} by ${this.where(entry)} ${valueWithInterval(entry)}`);
    const named = new Set<Entry>([...this.entries, ...this.gaps.values()]);
    for (const entry of this.document.metrics) if (!named.has(entry) && this.verdict(entry)) decided.push(`${shortName(entry.metric)} by ${this.where(entry)} ${valueWithInterval(entry)}`);
    const asItWas = this.entries.filter((entry) => this.asGoodAs0(entry)).map((entry) => `${this.where(entry)} ${valueWithInterval(entry)}`);
    const undecided = this.undecided.map((entry) => this.undecidedWords(entry));
    const judged = this.concluded.size;
    const counted = judged > 1 ? `corrected for ${judged} figures` : "one figure";
    let said = decided.length ? `Beyond chance at ${level} (${counted}): ${joined(decided, 4)}` : `${this.nothing()} is beyond chance at ${level} (${counted})`;
    if (asItWas.length) said += `; within ${general(CONSTANTS.as_good_as_0)} of 0: ${joined(asItWas)}`;
    return said + (undecided.length ? `; not decided: ${joined(undecided)}.` : ".") + this.few() + this.missing();
  }

  /** How many groups are too small to tell much. */
  private few(): string {
    const { groups, min_group: least } = this.document.data;
    const small = groups.filter((row) => row.small).length;
    return small ? ` ${grouped(small)} of ${grouped(groups.length)} groups ${small === 1 ? "has" : "have"} fewer than ${least} records.` : "";
  }

  /** What was done about missing labels. */
  private missing(): string {
    const { missing_values: gone, missing: done } = this.document.data;
    if (!gone || done === "error") return "";
    const leftOut = `left out of what ${gone === 1 ? "it concerns" : "they concern"}`;
    return ` ${gone === 1 ? "1 missing value was" : `${grouped(gone)} missing values were`} ${done === "negative" ? "read as not having the label" : leftOut}.`;
  }

  private undecidedWords(entry: Entry): string {
    const words = `${this.where(entry)} ${valueWithInterval(entry)}`;
    const [unknown, many] = entry.unknown && entry.pairs?.length ? unknownDirections(entry) : [0, 0];
    if (unknown && sideOfZero(entry.bounds) === 0) return `${words}, the direction of ${grouped(unknown)} of ${grouped(many)} pairs being unknown`;
    return words;
  }

  next(): string {
    const steps = [...new Set(this.steps())].slice(0, 2);
    if (this.entries.some((entry) => this.verdict(entry))) steps.push(ASK_FOR_SCORES);
    if (!steps.length) steps.push(NOTHING);
    return steps.join(" ");
  }

  private steps(): string[] {
    const out: string[] = [];
    const mistake = this.document.findings.find((row) => FACTS.mistakes.includes(row.code));
    if (mistake) out.push(`Check the columns first: ${firstSentence(mistake.text)}`);
    const up = this.entries.find((entry) => this.verdict(entry) > 0);
    if (up) out.push(this.mend(up));
    const [invention] = this.inventions;
    if (invention) {
      const [high, low] = invention.between!.map((group) => this.name(group));
      out.push(`See why the model gives ${printable(invention.label, LONGEST)}, which the truth never has, to ${high} more often than to ${low}.`);
    }
    const uncut = this.document.findings.find((row) => row.code === "numbers" && this.undecided.some((entry) => entry.attribute === row.attribute));
    if (uncut) out.push(`Cut ${printable(String(uncut.attribute), LONGEST)} into a few bins, so that its groups have records enough to compare.`);
    const hidden = this.hidden();
    if (hidden) out.push(hidden);
    const gap = [...this.gaps.values()][0];
    if (gap) out.push(`Look at the errors of ${(gap.between ?? []).map((group) => this.name(group)).join(" and ")}: amplification says nothing of them.`);
    const open = this.undecided.find((entry) => entry.value !== null);
    if (open) out.push(this.collect(open));
    return out;
  }

  /** What takes an amplification away. */
  private mend(entry: Entry): string {
    const [pair] = amplified(changedPairs(entry));
    return pair ? `Look at ${this.pair(pair)}` : `Look at the pairs of ${this.where(entry)} that change.`;
  }

  /** The pair that changes most where the average is as good as 0, or is amplified most where it is weakened. */
  private hidden(): string | null {
    for (const entry of this.entries) {
      const weakened = this.verdict(entry) < 0;
      const [pair] = weakened ? amplified(changedPairs(entry)) : changedPairs(entry);
      if (pair && (weakened || this.asGoodAs0(entry))) return `Look at ${this.pair(pair)} The average by ${this.where(entry)} hides it.`;
    }
    return null;
  }

  private collect(entry: Entry): string {
    const [where, value] = [this.where(entry), entry.value ?? 0];
    const [low, high] = entry.interval;
    const groups = this.document.data.groups.filter((row) => row.attribute === entry.attribute);
    const [unknown, many] = entry.unknown && entry.pairs?.length ? unknownDirections(entry) : [0, 0];
    if (unknown && groups.length) {
      const small = groups.reduce((least, row) => (row.records < least.records ? row : least));
      return `Collect more for ${where}, above all of ${this.name(small.group)} (${grouped(small.records)} record${small.records === 1 ? "" : "s"}), or give the training labels, which decide the ` +
        `${grouped(unknown)} of ${grouped(many)} directions that are unknown.`;
    }
    if (low === null || high === null) return `Give ${where} more records: there is no interval.`;
    const level = this.document.data.confidence;
    const own = value ? (value > 0 ? value - low : high - value) / Math.abs(value) : CONSTANTS.most_times;
    // All figures are counted (Holm), and the estimate moves too: one that just decides would in half of the samples.
    const needed = twoSided(1 - (1 - level) / Math.max(this.concluded.size, 1));
    const times = ((own * (needed + CONSTANTS.moves_one_side)) / twoSided(level)) ** 2;
    if (own > 1 && times <= CONSTANTS.most_times) {
      return `Collect more for ${where}: about ${fixed(times, 1)} times the records would decide ${number(value)} with a chance of 80%, if it stays as it is.`;
    }
    if (own <= 1) {
      return `Take ${number(value)} by ${where} for a hint: its own interval does not cover 0, but with all ${grouped(this.concluded.size)} figures counted that may be chance. ` +
        "Records that were not looked at yet would tell.";
    }
    const left = `Leave ${where} as it is: ${number(value)} is small for what these records can tell`;
    // At a level of one half a one-sided bound is the value itself, which tells nothing of more records.
    if (Math.abs(value) >= CONSTANTS.as_good_as_0 || level <= 0.5) return `${left}.`;
    const ends = (entry.bounds ?? [low, high]).filter((end): end is number => end !== null);
    const wide = Math.max(...ends.map((end) => Math.abs(end - value)));
    const values = this.entries.filter((one) => one.bounds).length || 1;
    // The bounds count all such values, and the estimate may move to either side.
    const counted = twoSided(1 - (2 * (1 - level)) / values) + CONSTANTS.moves_either_side;
    const reach = (wide * counted) / twoSided(2 * level - 1) / (CONSTANTS.as_good_as_0 - Math.abs(value));
    const records = roundedUp(this.document.data.records * Math.max(reach, 1) ** 2);
    return `${left}; about ${grouped(records)} records in all would show it to be within ${general(CONSTANTS.as_good_as_0)} of 0 with a chance of 80%, if it stays as it is.`;
  }
}

/** Of some pairs those whose direction is known and amplified, the largest first. */
function amplified(pairs: Pair[]): Pair[] {
  const up = pairs.filter((pair) => pair.known && pair.sign && (pair.amplification ?? 0) > 0);
  return up.sort((a, b) => (b.amplification ?? 0) - (a.amplification ?? 0));
}

/** The quantile of the standard normal that leaves what a level leaves in both tails together. */
function twoSided(level: number): number {
  return normalQuantile(0.5 + level / 2);
}

function bounds(entry: Entry): string {
  const [low, high] = entry.interval;
  return low === null || high === null ? number(entry.value) : `[${number(low)}, ${number(high)}]`;
}

/** The first sentence of a text, with its full stop or question mark. */
function firstSentence(text: string): string {
  const first = text.split(/(?<=[.?]) /)[0].replace(/\.+$/, "");
  return first.endsWith("?") ? first : `${first}.`;
}
