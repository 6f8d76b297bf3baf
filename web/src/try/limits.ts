/** What this page does, and what it leaves to the full audit. */
import { h } from "../dom";

export const PROMISE = "Nothing leaves this computer.";

const LEFT_OUT: [string, string][] = [
  ["Resampled intervals", "intervals here are in closed form; the full audit resamples the records a thousand times"],
  ["What labels give away", "DPA and leakage, which train a model to guess the attribute"],
  ["Other amplification", "Multi and MALS, and T→A with predicted attributes"],
  ["Scores and thresholds", "amplification at every threshold, and why it arises"],
  ["Weights, clusters, strata, training labels", "and several attributes crossed"],
  ["Missing labels", "records that lack a value of any chosen column are refused or left out here; the full audit leaves them out of the pairs concerned alone"],
  ["Other files", "Excel, Arrow, JSON lines, gzipped files and folders, and more records than fit in memory"],
  ["What follows", "policies, comparisons of models, monitoring"],
];

/** The limits as a list. */
export function limitList(): HTMLElement {
  return h("ul", { class: "limits-list" }, ...LEFT_OUT.map(([title, words]) => h("li", {}, h("strong", {}, title), `: ${words}.`)));
}

/** The promise, in a line of its own. */
export function promise(): HTMLElement {
  return h("p", { class: "promise" }, h("strong", {}, PROMISE), " Your file is read and counted inside this browser. This page is not allowed to open any connection, and it works without a network.");
}
