/** The answer of an audit in a few sentences: what was found, for whom, how sure, what next. */
import type { AuditDocument, Entry } from "../audit";
import { changedPairs, keptOf, placeOf, sideOfZero, unknownDirections, verdicts, type Place } from "./evidence";
import { CONSTANTS, FACTS, GAPS, METRICS, shortName } from "./facts";
import { valueWithInterval } from "./findings";
import { fixed, grouped, number, percent, roundedUp, short } from "./format";
import { general, printable } from "./text";
import { LONGEST, labelNames } from "./names";

const NAMED = 3;
const ASK_FOR_SCORES = "Give the model's scores too (task_scores): they tell whether scores or threshold do it.";
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
      const open = `the model amplifies the bias of its data is not decided: ${this.listed(this.undecided)}.`;
      return this.gaps.size ? `${this.apart()}; whether ${open}` : `Whether ${open}`;
    }
    const undecided = this.undecided.map((entry) => this.where(entry));
    const rest = undecided.length ? `; whether it does by ${joined(undecided)} is not decided` : "";
    return `The model ${joined(said)}${rest}.`;
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
      return `${group}: predicted wrongly for ${most} (${other}: ${least}).`;
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
    return `Most changed is ${this.name(pair.outcome)} among ${this.name(pair.given)}: true of ${percent(pair.truth_rate)}, predicted for ${percent(pair.predicted_rate)}.`;
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
    let said = decided.length ? `Beyond chance at ${level} (${counted}): ${joined(decided, 4)}` : `Nothing is beyond chance at ${level} (${counted})`;
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
    return ` ${gone === 1 ? "1 missing value was" : `${grouped(gone)} missing values were`} ${done === "negative" ? "read as not having the label" : "left out of what they concern"}.`;
  }

  private undecidedWords(entry: Entry): string {
    const words = `${this.where(entry)} ${valueWithInterval(entry)}`;
    const [unknown, many] = entry.unknown && entry.pairs?.length ? unknownDirections(entry) : [0, 0];
    if (unknown && sideOfZero(entry.bounds) === 0) return `${words}, the direction of ${grouped(unknown)} of ${grouped(many)} pairs being unknown`;
    return words;
  }

  next(): string {
    const steps = [...new Set(this.steps())].slice(0, 2);
    if (!steps.length) steps.push(NOTHING);
    if (this.entries.some((entry) => this.verdict(entry))) steps.push(ASK_FOR_SCORES);
    return steps.join(" ");
  }

  private steps(): string[] {
    const out: string[] = [];
    const mistake = this.document.findings.find((row) => FACTS.mistakes.includes(row.code));
    if (mistake) out.push(`Check the columns first: ${mistake.text.split(". ")[0].replace(/\.+$/, "")}.`);
    const up = this.entries.find((entry) => this.verdict(entry) > 0);
    if (up) out.push(this.mend(up));
    const uncut = this.document.findings.find((row) => row.code === "numbers" && this.undecided.some((entry) => entry.attribute === row.attribute));
    if (uncut) out.push(`Cut ${printable(String(uncut.attribute), LONGEST)} into a few bins, so that its groups have records enough to compare.`);
    const gap = [...this.gaps.values()][0];
    if (gap) out.push(`Look at the errors of ${(gap.between ?? []).map((group) => this.name(group)).join(" and ")}: amplification says nothing of them.`);
    const open = this.undecided.find((entry) => entry.value !== null);
    if (open) out.push(this.collect(open));
    return out;
  }

  /** What takes an amplification away. */
  private mend(entry: Entry): string {
    const [pair] = changedPairs(entry);
    if (!pair) return `Look at the pairs of ${this.where(entry)} that change.`;
    return `Look at ${this.name(pair.given)}, for whom ${this.name(pair.outcome)} is true of ${percent(pair.truth_rate)} and predicted for ${percent(pair.predicted_rate)}.`;
  }

  private collect(entry: Entry): string {
    const [where, value] = [this.where(entry), entry.value ?? 0];
    const [low, high] = entry.interval;
    const groups = this.document.data.groups.filter((row) => row.attribute === entry.attribute);
    const [unknown, many] = entry.unknown && entry.pairs?.length ? unknownDirections(entry) : [0, 0];
    if (unknown && groups.length) {
      const small = groups.reduce((least, row) => (row.records < least.records ? row : least));
      return `Collect more for ${where}, above all of ${this.name(small.group)} (${grouped(small.records)} records), or give the training labels, which decide the ` +
        `${grouped(unknown)} of ${grouped(many)} directions that are unknown.`;
    }
    if (low === null || high === null) return `Give ${where} more records: there is no interval.`;
    const times = value ? ((value > 0 ? value - low : high - value) / value) ** 2 : CONSTANTS.most_times + 1;
    if (times > 1 && times <= CONSTANTS.most_times) return `Collect more for ${where}: with about ${fixed(times, 1)} times the records ${number(value)} would be decided.`;
    if (times <= 1) {
      return `Take ${number(value)} by ${where} for a hint: its own interval does not cover 0, but with all ${grouped(this.concluded.size)} figures counted that may be chance. ` +
        "Records that were not looked at yet would tell.";
    }
    const left = `Leave ${where} as it is: ${number(value)} is small for what these records can tell`;
    if (Math.abs(value) >= CONSTANTS.as_good_as_0) return `${left}.`;
    const ends = (entry.bounds ?? [low, high]).filter((end): end is number => end !== null);
    const reach = Math.max(...ends.map((end) => Math.abs(end - value))) / (CONSTANTS.as_good_as_0 - Math.abs(value));
    const records = roundedUp(this.document.data.records * Math.max(reach, 1) ** 2);
    return `${left}; about ${grouped(records)} records in all would show it to be within ${general(CONSTANTS.as_good_as_0)} of 0.`;
  }
}

function bounds(entry: Entry): string {
  const [low, high] = entry.interval;
  return low === null || high === null ? number(entry.value) : `[${number(low)}, ${number(high)}]`;
}
