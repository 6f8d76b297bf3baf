/** Views that are tables: rank changes, one identity against the rest, differences between runs, formulas. */
import { h } from "../dom";
import { count, figure } from "../numbers";
import { bar, head, reach, scaleLine, scrolling } from "../report/parts";
import { printable } from "../text";
import { tick } from "../numbers";
import { runLetter } from "./canvas";
import type { Columns } from "./columns";
import { GAP, INTERVAL, range, set, TEST } from "./meaning";
import type { Rows } from "./rows";
import { pairOf, type State } from "./state";

const MOST = 30;

function name(names: string[], label: number): HTMLElement {
  return h("th", { scope: "row" }, h("bdi", {}, printable(names[label], 50)));
}

const shown = (x: number) => (Number.isNaN(x) ? null : x === Infinity ? "inf" : x === -Infinity ? "-inf" : x);

/** The labels that two metrics rank most differently. */
export function rankChanges(columns: Columns, names: string[], rows: Rows, state: State, second: (metric: string) => void): HTMLElement {
  const r = state.runs[0];
  const run = columns.runs[r];
  const [a, b] = [run.ranks(state.metric, state.contrast), run.ranks(state.second, state.contrast)];
  const held = [...rows.order].filter((i) => !Number.isNaN(a[i]) && !Number.isNaN(b[i]));
  held.sort((i, j) => Math.abs(b[j] - a[j]) - Math.abs(b[i] - a[i]));
  const top = held.slice(0, MOST);
  const scale = reach(top.map((i) => a[i] - b[i]));
  const choice = h("select", { id: "rank-metric", change: () => second(choice.value) }, ...columns.metrics.map((m) => h("option", { value: m, selected: m === state.second }, columns.symbol(m))));
  const body = h("tbody", {}, ...top.map((i) => h("tr", {}, name(names, i),
    h("td", { class: "number" }, count(a[i])), h("td", { class: "number" }, count(b[i])),
    h("td", { class: "bar-cell" }, bar(a[i] - b[i], null, null, scale)), h("td", { class: "number" }, figure(a[i] - b[i], true, 0)),
    h("td", { class: "number" }, count(run.count[i])))));
  return h("div", { class: "view" },
    h("p", { class: "controls" }, h("label", { for: "rank-metric" }, "Second metric "), choice, ` The labels that change rank most, of ${count(held.length)} ranked labels of ${printable(run.name, 40)}.`),
    scrolling(h("table", {}, head("label", `rank by ${columns.symbol(state.metric)}`, `rank by ${columns.symbol(state.second)}`, h("span", {}, h("span", { class: "unseen" }, "bar"), scaleLine(scale, tick)), "places up", "count"), body), "Rank changes"));
}

/** Every identity against the mean of the others. */
export function oneVsRest(columns: Columns, names: string[], rows: Rows, state: State): HTMLElement {
  const run = columns.runs[state.runs[0]];
  const rest = run.contrasts.map((c, i) => ({ c, i })).filter(({ c }) => c.x2 === null);
  if (!rest.length) return h("div", { class: "view" }, h("p", {}, "With two identities, one against the rest is their gap: see the table. Name three or more identities for this view."));
  const top = [...rows.order.subarray(0, MOST)];
  const gaps = rest.map(({ i }) => run.gaps(state.metric, i));
  const scale = reach(top.flatMap((label) => gaps.map((g) => g[label])));
  const limits = rest.map(({ i }) => {
    const of = run.limitsOf(state.metric, i);
    return new Map(top.map((label) => [label, [...of(label)]]));
  });
  const body = h("tbody", {}, ...top.map((label) => h("tr", {}, name(names, label), ...rest.flatMap((_, k) => [
    h("td", { class: "bar-cell" }, bar(shown(gaps[k][label]) as any, shown(limits[k].get(label)![0]) as any, shown(limits[k].get(label)![1]) as any, scale)),
    h("td", { class: "number" }, figure(shown(gaps[k][label]) as any)),
  ]))));
  const titles = rest.flatMap(({ i }) => [h("span", {}, columns.contrastName(i), scaleLine(scale, tick)), h("span", { class: "unseen" }, `${columns.contrastName(i)}, value`)]);
  return h("div", { class: "view" }, h("p", { class: "soft" }, `${columns.symbol(state.metric)} of each identity minus the mean of the others: the first ${top.length} labels of the table, ${printable(run.name, 40)}.`),
    scrolling(h("table", {}, head("label", ...titles), body), "One against the rest"));
}

/** What intervals of changes rest on. */
function restOn(columns: Columns, metric: string, contrast: number, first: number, second: number): string {
  const held = columns.shared(first, second);
  if (held?.records === "paired" && held.limits[`${metric}.${contrast}`]) return "The runs are of the same records, by their ids: intervals are paired.";
  if (held?.records === "independent") return "The runs share no record, by their ids.";
  return "Intervals hold whatever records the runs share; results that were counted with ids (pairable) are paired.";
}

/** How gaps differ between two runs that the reader chooses. */
export function runDifferences(columns: Columns, names: string[], rows: Rows, state: State, choose: (pair: [number, number]) => void): HTMLElement {
  const pair = pairOf(state, columns.runs.length);
  if (pair === null) return h("div", { class: "view" }, h("p", {}, "One run has nothing to differ from: open two results together."));
  const [first, second] = pair;
  const change = columns.change(state.metric, state.contrast, first, second);
  const held = [...rows.order].filter((i) => Number.isFinite(change[i]));
  held.sort((i, j) => Math.abs(change[j]) - Math.abs(change[i]));
  const top = held.slice(0, MOST);
  const of = columns.changeLimits(state.metric, state.contrast, first, second);
  const limits = top.map((i) => [...of(i)]);
  const scale = reach(top.flatMap((i, k) => [change[i], ...limits[k]]));
  const gaps = [first, second].map((r) => columns.runs[r].gaps(state.metric, state.contrast));
  const body = h("tbody", {}, ...top.map((i, k) => h("tr", {}, name(names, i),
    h("td", { class: "number" }, figure(shown(gaps[0][i]) as any)), h("td", { class: "number" }, figure(shown(gaps[1][i]) as any)),
    h("td", { class: "bar-cell" }, bar(change[i], shown(limits[k][0]) as any, shown(limits[k][1]) as any, scale)),
    h("td", { class: "number" }, figure(change[i])),
    h("td", { class: "number" }, `[${figure(shown(limits[k][0]) as any)}, ${figure(shown(limits[k][1]) as any)}]`),
    h("td", { class: "number" }, count(columns.runs[first].count[i])), h("td", { class: "number" }, count(columns.runs[second].count[i])))));
  const title = (r: number) => `${runLetter(r)} ${printable(columns.runs[r].name, 24)}`;
  return h("div", { class: "view" },
    h("p", { class: "controls" }, ...pairChoice("differences", columns, pair, choose),
      ` ${columns.symbol(state.metric)} gap, ${columns.contrastName(state.contrast)}: the largest ${top.length} changes of ${count(held.length)}. ${restOn(columns, state.metric, state.contrast, first, second)} association_change in Python has the tests.`),
    scrolling(h("table", {}, head("label", title(first), title(second), h("span", {}, h("span", { class: "unseen" }, "bar"), scaleLine(scale, tick)), "change", "interval", `count ${runLetter(first)}`, `count ${runLetter(second)}`), body), "Differences between runs"));
}

/** Two lists of runs: the second less the first. */
export function pairChoice(id: string, columns: Columns, pair: [number, number], choose: (pair: [number, number]) => void): (HTMLElement | string)[] {
  const box = (place: 0 | 1, title: string) => {
    const chosen = h("select", { id: `${id}-${place}`, "aria-label": title, change: () => {
      const to = Number(chosen.value);
      // The same run twice has no change: the other one takes its place.
      choose(place === 0 ? [to, to === pair[1] ? pair[0] : pair[1]] : [to === pair[0] ? pair[1] : pair[0], to]);
    } }, ...columns.runs.map((run, r) => h("option", { value: r, selected: r === pair[place] }, `${runLetter(r)} ${printable(run.name, 30)}`)));
    return chosen;
  };
  return ["Change: ", box(1, "Change of this run"), " − ", box(0, "Change from this run")];
}

/** The formula of every metric. */
export function formulas(columns: Columns, chosen: string | null): HTMLElement {
  const cards = columns.metrics.map((metric) => {
    const facts = columns.facts[metric];
    const cautions = facts.cautions.length ? ` Note: ${facts.cautions.join("; ")}.` : "";
    return h("article", { class: `formula-card ${metric === chosen ? "chosen" : ""}`, "data-metric": metric, tabindex: metric === chosen ? "-1" : null },
      h("h2", {}, facts.symbol),
      h("p", { class: "formula" }, `A(x,y) = ${set(facts.formula)}`),
      h("p", {}, `${facts.title}. ${facts.words} Range: ${range(facts)}; under independence ${set(facts.independent)}.${cautions}`),
      facts.as_printed !== null && facts.as_printed !== facts.formula ? h("p", { class: "soft" }, `As the paper prints it: ${set(facts.as_printed)}.`) : null);
  });
  const papers = [...new Set(columns.metrics.map((metric) => columns.facts[metric].paper))];
  return h("div", { class: "view" }, h("p", {}, GAP), h("p", {}, INTERVAL), h("p", {}, TEST), h("div", { class: "formula-grid" }, ...cards), ...papers.map((paper) => h("p", { class: "soft" }, `${paper}.`)));
}
