/** The documents that pages show, as the Python side writes them. */
import type { AuditDocument, SweepEntry } from "./audit";
import type { Num } from "./numbers";

export interface Method {
  name: string;
  title: string;
  question: string;
  formula: string;
  low: Num;
  high: Num;
  sign: string;
  paper: string;
  needs: string[];
  limits: string;
  family: string;
  unbiased_when: string;
}

export interface TopList {
  metric: string;
  toward: string;
  identities: string[];
  n: number;
  rows: Record<string, any>[];
}

export interface ReportPage {
  kind: "report";
  source: string;
  audit: AuditDocument;
  /** What groups and tasks are called, by their labels; and groups where their attribute is named already. */
  names?: Record<string, string>;
  /** What wrong labels of attributes would do to directional values, a sentence or two each. */
  wrong_labels?: string[];
  group_names?: Record<string, Record<string, string>>;
  /** The headings of the rates of groups, and what they and their intervals are. */
  rate_titles?: Record<string, string>;
  rate_notes?: string[];
  /** The normal quantile of the confidence level, for rates at a threshold that the reader chooses. */
  quantile?: number;
  /** What the page is about, where it is not all of the audit. */
  view?: "why";
  /** The answer in three sentences, by their titles. */
  answer?: Record<string, string>;
  /** Attributes and directions by metrics; a cell names the place of its entry and what is concluded of it. */
  matrix?: { metrics: string[]; short: Record<string, string>; rows: { attribute: string; direction: string | null; cells: Record<string, { place: number; verdict: number | null }> }[] };
  /** The places of cautions among the findings: the two that matter most, and all by topic. */
  cautions?: { first: number[]; topics: { topic: string; places: number[] }[] };
  methods: Method[];
  association: TopList[] | null;
}

/** The figures of a sweep by itself. */
export interface SweptFigures extends Pick<SweepEntry, "attribute" | "outcome" | "integral" | "base_rate" | "sign_source" | "n" | "thresholds" | "marks" | "steps"> {
  interval: [Num, Num];
  agnostic: { metric: string; outcome: string; value: number | null; share: number | null }[];
}

export interface SweepPage {
  kind: "sweep";
  source: string;
  version: string;
  confidence: number;
  quantile: number;
  sweep: SweptFigures;
}

/** One rule held against one figure. */
export interface VerdictCheck {
  rule: string;
  outcome: string;
  about: string;
  reason: string;
  limit: string;
  on: string;
  value: number | null;
  low: number | null;
  high: number | null;
  finding: string;
}

export interface VerdictPage {
  kind: "verdict";
  source: string;
  version: string;
  tally: string;
  cautions: string[];
  verdict: { outcome: string; policy: string; data: string; checks: VerdictCheck[]; notes: string[] };
}

/** One figure of two models, as the page of a comparison has it. */
export interface ComparedFigure {
  attribute: string;
  metric: string;
  direction: string | null;
  models: [string, string];
  first: Num;
  second: Num;
  difference: Num;
  low: Num;
  high: Num;
  paired: boolean;
  verdict: string;
  /** +1 or -1 where the second model's figure is larger or smaller, 0 where that is not known. */
  decided: number;
}

export interface ChangedPair {
  metric: string;
  direction: string | null;
  models: [string, string];
  given: string;
  outcome: string;
  sign: number;
  difference: Num;
  low: Num;
  high: Num;
  q: Num;
  support: number;
}

export interface ComparisonPage {
  kind: "comparison";
  source: string;
  version: string;
  answer: Record<string, string>;
  comparison: { models: string[]; level: number; differences: ComparedFigure[]; pairs: ChangedPair[]; orders: string[]; runs: string[]; cautions: string[]; notes: string[] };
  /** What the labels of pairs are called. */
  names: Record<string, string>;
  pair_words: string;
  metrics: Record<string, { short: string; signed: boolean }>;
}

export interface TrajectoryPoint {
  step: string;
  at: number;
  value: Num;
  low: Num;
  high: Num;
  change_first: Num;
  change_first_low: Num;
  change_first_high: Num;
  change_before: Num;
  change_before_low: Num;
  change_before_high: Num;
  control_low: Num;
  control_high: Num;
  left: boolean;
}

export interface TrajectoryFigure {
  title: string;
  signed: boolean;
  words: string;
  points: TrajectoryPoint[];
  trend: { slope: Num; low: Num; high: Num; p: Num; paired: boolean; verdict: string; first_left: string };
}

export interface TrajectoryPage {
  kind: "trajectory";
  source: string;
  version: string;
  answer: Record<string, string>;
  /** What steps are called. */
  names: Record<string, string>;
  trajectory: { level: number; unit: string; steps: { name: string; at: number }[]; figures: TrajectoryFigure[]; notes: string[] };
}
