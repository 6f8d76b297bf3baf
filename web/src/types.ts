/** The documents that pages show, as the Python side writes them. */
import type { Num } from "./numbers";

export interface Pair {
  given: string;
  outcome: string;
  sign: number;
  sign_p: Num;
  truth_rate: Num;
  predicted_rate: Num;
  delta: Num;
  amplification: Num;
  low: Num;
  high: Num;
  support: number;
  clear?: boolean;
  wrong_group?: boolean;
}

export interface Entry {
  attribute: string;
  metric: string;
  direction: "A->T" | "T->A" | null;
  value: Num;
  interval: [Num, Num];
  n: number;
  interval_method?: string;
  crossfit?: Num;
  crossfit_interval?: [Num, Num];
  clear_value?: Num;
  variance?: Num;
  floor?: Num;
  gain?: Num;
  outcome?: string | null;
  dataset?: Num;
  model?: Num;
  dataset_gain?: Num;
  model_gain?: Num;
  unequalized?: Num;
  accuracy_equalized?: Num;
  confusion_equalized?: Num;
  attacker?: string;
  reason?: string;
  quality?: string;
  equalize?: string | null;
  evaluation?: string;
  trials?: number;
  sign_source?: string;
  base_source?: string | null;
  pairs?: Pair[];
  cautions?: string[];
}

export interface Finding {
  kind: "finding" | "caution";
  code: string;
  text: string;
  weight: number;
  figure: Record<string, any>;
}

/** One label's thresholds: `curve` rises in threshold; `calibrated` is the point whose rate is the base rate. */
export interface Sweep {
  attribute?: string;
  outcome?: string | null;
  direction?: string;
  integral: Num;
  interval?: [Num, Num];
  span: [number, number];
  base_rate: Num;
  sign_source?: string;
  curve: Record<string, Num>[];
  calibrated?: Record<string, Num>;
  /** The threshold that classifiers use unless told otherwise. */
  usual?: { threshold: Num; amplification: Num };
  /** Each label's own calibrated threshold. */
  labels?: { label: string; threshold: Num; rate: Num; base_rate: Num }[];
}

/** One figure of two models, the second minus the first. */
export interface Difference {
  attribute?: string;
  metric: string;
  direction?: string | null;
  models?: [string, string];
  values?: [Num, Num];
  first?: Num;
  second?: Num;
  difference?: Num;
  value?: Num;
  low?: Num;
  high?: Num;
  interval?: [Num, Num];
  paired?: boolean;
  verdict?: string;
  method?: string;
}

export interface Audit {
  schema: number;
  version: string;
  seed: number;
  data: Record<string, any>;
  metrics: Entry[];
  findings: Finding[];
  excluded: Record<string, any>[];
  not_run: { attribute: string; metric: string; direction: string | null; reason: string }[];
  sweep?: Sweep | Sweep[];
  compare?: { models?: string[]; level?: number; differences: Difference[]; notes?: string[] };
}

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
  audit: Audit;
  methods: Method[];
  association: TopList[] | null;
}
