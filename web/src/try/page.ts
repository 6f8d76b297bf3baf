/** The page of an audit in the browser: its document, and what the report shows beside it. */
import type { AuditDocument } from "../audit";
import type { ReportPage } from "../types";
import { answerOf } from "./answer";
import { twoSided } from "./distributions";
import { FACTS, METHODS, METRICS } from "./facts";
import { general } from "./text";
import { matrixOf } from "./matrix";
import { measure } from "./measure";
import { groupNames, labelNames } from "./names";
import type { Choice, Roles } from "./types";

const TOPICS: Record<string, string[]> = FACTS.topics;

/** The places of the cautions that matter most, no two of the same code, and those of all by topic. */
function cautionsOf(document: AuditDocument): NonNullable<ReportPage["cautions"]> {
  const places = [...document.findings.keys()].filter((place) => document.findings[place].kind === "caution");
  const first = new Map<string, number>();
  for (const place of places) if (!first.has(document.findings[place].code)) first.set(document.findings[place].code, place);
  const topicOf = (code: string) => Object.keys(TOPICS).find((topic) => TOPICS[topic].includes(code)) ?? FACTS.other_topic;
  const topics = Object.keys(TOPICS).map((topic) => ({ topic, places: places.filter((place) => topicOf(document.findings[place].code) === topic) }));
  return { first: [...first.values()].slice(0, FACTS.first_cautions), topics: topics.filter((held) => held.places.length) };
}

/** The audit of some labels as the page of a report. */
export function auditPage(roles: Roles, choice: Choice, table: { source: string; records: number }): ReportPage {
  const audit = measure(roles, choice, table);
  const { data } = audit;
  const described = new Set(audit.metrics.map((entry) => METRICS[entry.metric].facts.described_by));
  return {
    kind: "report",
    source: table.source,
    audit,
    wrong_labels: [],
    names: labelNames(data),
    group_names: Object.fromEntries(data.attributes.map((attribute) => [attribute, groupNames(data, attribute)])),
    rate_titles: FACTS.rate_titles,
    rate_notes: [`Intervals: ${general(data.confidence * 100)}%, of one rate each (Wilson), not adjusted for their number.`, FACTS.rates_meaning],
    answer: answerOf(audit),
    matrix: matrixOf(audit),
    cautions: cautionsOf(audit),
    quantile: twoSided(data.confidence),
    methods: Object.keys(METHODS).filter((name) => described.has(name)).map((name) => METHODS[name]),
    association: null,
  };
}
