/** What is shown, as rows for a file: a row a label and run, in the table's order. */
import type { Columns } from "./columns";
import type { ExplorerPage } from "./explorer";
import type { Rows } from "./rows";
import { pairOf, type State } from "./state";

export function shownRows(page: ExplorerPage, columns: Columns, held: Rows, state: State): { names: string[]; rows: unknown[][] } {
  const identities = columns.runs[0].document.identities.map((x) => x.identity);
  const metrics = [state.metric, ...state.extra.filter((metric) => metric !== state.metric)];
  const contrast = columns.runs[0].contrasts[state.contrast];
  const names = [
    "label", "name", "run", "count", ...identities.map((x) => `count[${x}]`),
    ...metrics.flatMap((m) => identities.map((x) => `${m}[${x}]`)),
    ...(contrast ? ["x1", "x2", ...metrics.flatMap((m) => [`${m}_gap`, `${m}_low`, `${m}_high`, `${m}_rank`]), "p", "q", "why_not"] : []),
    // The change of two runs is said in each row of its label.
    ...(contrast && columns.runs.length > 1 ? ["change_from", "change_to", `${state.metric}_change`, `${state.metric}_change_low`, `${state.metric}_change_high`] : []),
    "flagged", "selected",
  ];
  const rows: unknown[][] = [];
  const limits = new Map(contrast ? metrics.flatMap((m) => state.runs.map((r) => [`${m} ${r}`, columns.runs[r].limitsOf(m, state.contrast)] as const)) : []);
  const pair = contrast && columns.runs.length > 1 ? pairOf(state, columns.runs.length) : null;
  const change = pair ? columns.change(state.metric, state.contrast, ...pair) : null;
  const changeLimits = pair ? columns.changeLimits(state.metric, state.contrast, ...pair) : null;
  for (const i of held.order) {
    for (const r of state.runs) {
      const run = columns.runs[r];
      if (Number.isNaN(run.count[i])) continue;
      const row: unknown[] = [page.labels[i], page.names[i], run.name, run.count[i], ...run.joint.map((joint) => joint[i])];
      for (const m of metrics) row.push(...identities.map((_, k) => run.values(m, k)[i]));
      if (contrast) {
        row.push(identities[contrast.x1], contrast.x2 === null ? "rest" : identities[contrast.x2]);
        for (const m of metrics) {
          const [low, high] = limits.get(`${m} ${r}`)!(i);
          row.push(run.gaps(m, state.contrast)[i], low, high, run.ranks(m, state.contrast)[i]);
        }
        row.push(run.chances("p", state.contrast)[i], run.chances("q", state.contrast)[i], run.whyNot(state.contrast, i) || null);
      }
      if (pair) row.push(columns.runs[pair[0]].name, columns.runs[pair[1]].name, change![i], ...changeLimits!(i));
      row.push(state.flags.has(i), state.selected.has(i));
      rows.push(row);
    }
  }
  return { names, rows };
}
