/** All figures of an audit at a glance: attributes by metrics, each with what is concluded of it. */
import type { AuditDocument } from "../audit";
import type { ReportPage } from "../types";
import { concludedOf } from "./answer";
import { placeOf } from "./evidence";
import { METRICS, shortName } from "./facts";

type Matrix = NonNullable<ReportPage["matrix"]>;

export function matrixOf(document: AuditDocument): Matrix {
  const concluded = concludedOf(document);
  const rows = document.data.attributes.map((attribute) => {
    const cells: Matrix["rows"][number]["cells"] = {};
    document.metrics.forEach((entry, place) => {
      if (entry.attribute !== attribute) return;
      const verdict = METRICS[entry.metric]?.judged ? (concluded.has(placeOf(entry)) ? concluded.get(placeOf(entry))! : 0) : null;
      cells[entry.metric] = { place, verdict };
    });
    const directed = document.metrics.some((entry) => entry.attribute === attribute && entry.direction);
    return { attribute, direction: directed ? "A->T" : null, cells };
  });
  const found = [...new Set(rows.flatMap((row) => Object.keys(row.cells)))];
  const metrics = found.sort((a, b) => METRICS[a].rank - METRICS[b].rank);
  return { metrics, short: Object.fromEntries(metrics.map((name) => [name, shortName(name).replaceAll(" difference", " gap")])), rows };
}
