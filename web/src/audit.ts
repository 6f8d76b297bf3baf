/** Generated from the types of the audit's document by make schema; not to be edited by hand. */

/**
 * biasamp audit, schema 1: Everything that an audit found.
 */
export interface AuditDocument {
  compare?: ComparisonDocument;
  data: Data;
  excluded: Excluded[];
  findings: FindingFields[];
  /**
   * @minItems 1
   */
  metrics: [Entry, ...Entry[]];
  not_run: NotRun[];
  provenance?: Provenance;
  registry?: {
    [k: string]: MetricFacts;
  };
  schema: 1;
  seed: number;
  sweep?: SweepEntry[];
  version: string;
}
/**
 * What ``compare`` found.
 */
export interface ComparisonDocument {
  differences: ModelDifference[];
  level: number;
  models: string[];
  noted?: Note[];
  notes: string[];
  schema: 1;
  version: string;
}
/**
 * One figure of two models, the second less the first.
 */
export interface ModelDifference {
  attribute: string;
  difference: number | null;
  direction: ("A->T" | "T->A") | null;
  first: number;
  high: number | null;
  low: number | null;
  method: string;
  metric: string;
  /**
   * @minItems 2
   * @maxItems 2
   */
  models: [string, string];
  paired: boolean;
  second: number;
  verdict: string;
}
/**
 * What to know of all differences, in words, with the kind that code goes by.
 */
export interface Note {
  kind: "not-compared" | "other-columns" | "unpaired";
  text: string;
}
/**
 * What was audited, and how.
 *
 * ``kinds`` tells crossings from attributes; ``task_labels`` are the task labels that listed pairs name.
 */
export interface Data {
  /**
   * @minItems 1
   */
  attributes: [string, ...string[]];
  base: boolean;
  confidence: number;
  fingerprint: string;
  groups: Group[];
  kinds?: {
    [k: string]: "attribute" | "crossing";
  };
  min_group: number;
  missing: "drop" | "error" | "negative";
  missing_values: number;
  records: number;
  resamples: number;
  roles: {
    [k: string]: string[];
  };
  task_labels?: LabelFields[];
  tasks: Tasks;
  train: boolean;
  weighted: boolean;
}
/**
 * One group of one attribute; ``small`` where it has fewer records than ``min_group``.
 */
export interface Group {
  attribute: string;
  category?: string | null;
  group: string;
  kind?: "attribute" | "crossing";
  records: number;
  small: boolean;
  variable?: string;
}
/**
 * A label as it is displayed, and the variable and category that it is; no category for a yes/no variable.
 */
export interface LabelFields {
  category: string | null;
  label: string;
  variable: string;
}
/**
 * The tasks together: their title, and how many labels there are.
 */
export interface Tasks {
  labels: number;
  title: string;
}
/**
 * A figure that is undefined, with the reason and the counts it would rest on.
 */
export interface Excluded {
  attribute: string;
  direction: ("A->T" | "T->A") | null;
  given: string;
  given_count?: number;
  joint_count?: number;
  metric: string;
  outcome: string;
  outcome_count?: number;
  rate?: string;
  reason: string;
  support?: number;
}
/**
 * One finding or caution; ``code`` names what it says, the last four fields what it is about.
 */
export interface FindingFields {
  attribute?: string | null;
  code: string;
  direction?: ("A->T" | "T->A") | null;
  figure: {
    [k: string]: any;
  };
  kind: "caution" | "finding";
  label?: string | null;
  metric?: string | null;
  text: string;
  weight: number;
}
/**
 * One metric of one attribute in one direction, with what stands beside it.
 *
 * ``bounds`` are how far a directional value may reach when the ``unknown`` pairs, whose direction the records do not
 * tell, have their worse sign; each is one-sided at the audit's confidence.
 */
export interface Entry {
  accuracy_equalized?: number | null;
  attacker?: string;
  attribute: string;
  base_source?: string | null;
  between?: string[] | null;
  bounds?: (number | null)[];
  caution_kinds?: string[];
  cautions?: string[];
  clear_interval?: (number | null)[];
  clear_value?: number | null;
  confusion_equalized?: number | null;
  crossfit?: number | null;
  /**
   * @minItems 2
   * @maxItems 2
   */
  crossfit_interval?: [number | null, number | null];
  dataset?: number | null;
  dataset_gain?: number | null;
  direction: ("A->T" | "T->A") | null;
  equalize?: string | null;
  evaluation?: string;
  floor?: number | null;
  gain?: number | null;
  groups?: {
    [k: string]: string | number | null;
  }[];
  /**
   * @minItems 2
   * @maxItems 2
   */
  interval: [number | null, number | null];
  interval_method?: string;
  metric: string;
  model?: number | null;
  model_gain?: number | null;
  n: number;
  outcome?: string | null;
  outcomes?: {
    [k: string]: string | number | null;
  }[];
  pairs?: Pair[];
  pairs_in_all?: number;
  quality?: string;
  reason?: string;
  sign_source?: string;
  trials?: number;
  unequalized?: number | null;
  unknown?: number;
  value: number | null;
  variance?: number | null;
}
/**
 * One pair of a given label and an outcome.
 */
export interface Pair {
  amplification: number | null;
  clear?: boolean;
  delta: number | null;
  given: string;
  high: number | null;
  low: number | null;
  outcome: string;
  p?: number | null;
  predicted_rate: number | null;
  q?: number | null;
  sign: -1 | 0 | 1;
  sign_p: number | null;
  support: number;
  truth_rate: number | null;
  wrong_group?: boolean;
}
/**
 * A metric that was not computed, and why.
 */
export interface NotRun {
  attribute: string;
  direction: ("A->T" | "T->A") | null;
  metric: string;
  reason: string;
}
/**
 * All that depends on place, time or call: two audits of the same data may differ here and nowhere else.
 */
export interface Provenance {
  command?: string;
  engine?: string;
  libraries?: {
    [k: string]: string;
  };
  source?: string;
  threads?: number;
  time?: string;
}
/**
 * What the registry says of a metric.
 */
export interface MetricFacts {
  cautions: string;
  described_by: string;
  directed: boolean;
  meaning: string;
  paired: boolean;
  pairs_shown: boolean;
  paper: string;
  /**
   * @minItems 2
   * @maxItems 2
   */
  range: [number | ("-inf" | "inf") | null, number | ("-inf" | "inf") | null];
  short: string;
  signed: boolean;
  title: string;
}
/**
 * Amplification over thresholds; ``curve`` rises in ``threshold`` and has ``amplification`` and ``rate``.
 */
export interface SweepEntry {
  attribute: string;
  base_rate: number | null;
  calibrated: CalibratedThreshold;
  curve: {
    [k: string]: number | "-inf" | "inf" | null;
  }[];
  direction: "A->T" | "T->A";
  integral: number | null;
  labels: LabelThreshold[];
  n?: number;
  outcome: string | null;
  sign_source?: string;
  /**
   * @minItems 2
   * @maxItems 2
   */
  span: [number, number];
  thresholds?: number;
  usual: UsualThreshold;
}
/**
 * What thresholds give at which each label is predicted as often as it occurs.
 */
export interface CalibratedThreshold {
  amplification: number | null;
  rate: number | null;
  threshold: number | ("-inf" | "inf") | null;
}
/**
 * One label's own calibrated threshold.
 */
export interface LabelThreshold {
  base_rate: number | null;
  label: string;
  rate: number | null;
  threshold: number | ("-inf" | "inf") | null;
}
/**
 * What the threshold gives that classifiers use by default.
 */
export interface UsualThreshold {
  amplification: number | null;
  rates?: number[];
  threshold: number;
}
