/** Generated from the types of the audit's document by make schema; not to be edited by hand. */

/**
 * biasamp audit, schema 1: Everything that an audit found; in a file with a checksum of every field and of every metric's entry.
 */
export interface AuditDocument {
  bins?: BinEntry[];
  checksum?: {
    [k: string]: string;
  };
  compare?: ComparisonDocument;
  data: Data;
  excluded: Excluded[];
  findings: FindingFields[];
  invented?: Invented[];
  label_errors?: LabelErrorEntry[];
  /**
   * @minItems 1
   */
  metrics: [Entry, ...Entry[]];
  not_run: NotRun[];
  provenance?: Provenance;
  rates?: GroupRow[];
  registry?: {
    [k: string]: MetricFacts;
  };
  schema: 1;
  seed: number;
  sweep?: SweepEntry[];
  version: string;
  why?: WhyEntry[];
}
/**
 * How one directional value moves with the bins of a column that was cut.
 *
 * ``column`` is the one that was cut at ``edges``, as an attribute or as the task. ``least`` and ``largest`` are over the
 * value and ``others``.
 */
export interface BinEntry {
  attribute: string;
  column: string;
  direction: "A->T" | "T->A";
  edges: number[];
  largest: number | null;
  least: number | null;
  others: OtherBins[];
  role: "attribute" | "task";
  value: number | null;
}
/**
 * One directional value with other bins: ``how`` they differ, their ``edges``, and the ``value``.
 */
export interface OtherBins {
  edges: number[];
  how: string;
  value: number | null;
}
/**
 * What ``compare`` found.
 */
export interface ComparisonDocument {
  cautions?: ModelCaution[];
  differences: ModelDifference[];
  level: number;
  models: string[];
  noted?: Note[];
  notes: string[];
  pairs?: PairDifference[];
  pairs_note?: string;
  rankings?: Ranking[];
  runs?: {
    [k: string]: number;
  };
  schema: 1;
  version: string;
}
/**
 * What to know before models are chosen: ``code`` is that of an audit's caution, or of how audits differ.
 *
 * ``models`` are those that it concerns; the weightiest come first.
 */
export interface ModelCaution {
  code: string;
  models: string[];
  text: string;
  weight: number;
}
/**
 * One figure of two models, the second less the first.
 *
 * ``first_interval`` and ``second_interval`` are those of both figures, of means over runs where there are several. ``p`` is that of no difference; with more than two models verdicts go by ``adjusted_p``, which counts all of them (Holm). ``more_records`` stands where one run of each decides nothing: how many records in all would decide a difference of this size;
 * null where a thousand times as many would not, or where no direction is known.
 */
export interface ModelDifference {
  adjusted_p?: number | null;
  attribute: string;
  difference: number | null;
  direction: ("A->T" | "T->A") | null;
  first: number;
  first_interval?: (number | null)[];
  high: number | null;
  low: number | null;
  method: string;
  metric: string;
  /**
   * @minItems 2
   * @maxItems 2
   */
  models: [string, string];
  more_records?: number | null;
  p?: number | null;
  paired: boolean;
  runs?: RunsBehind;
  second: number;
  second_interval?: (number | null)[];
  verdict: string;
}
/**
 * What a difference of several runs rests on.
 *
 * ``first`` and ``second`` are the values of the runs. ``by_seeds`` and ``by_records`` are variances of the difference of means, ``freedom``
 * the degrees of freedom at which Student's t reaches as far as the interval (Cochran's). ``more_seeds`` is how many more runs of each model would decide a difference of this size with a chance of 80%, as a
 * range, where null is no number; ``more_records`` how many records in all would, with the same chance. Both are there where it is not decided.
 */
export interface RunsBehind {
  by_records: number | null;
  by_seeds: number | null;
  first: number[];
  freedom: number | null;
  more_records?: number | null;
  more_seeds?: (number | null)[];
  same_seeds: boolean;
  second: number[];
  words: string;
}
/**
 * What to know of all differences, in words, with the kind that code goes by.
 */
export interface Note {
  kind: "not-compared" | "other-columns" | "seeds" | "unpaired";
  text: string;
}
/**
 * The change of one pair in two models, the second less the first: how much more often it is predicted.
 *
 * ``sign`` says which way amplification goes, 0 where an audit does not know it. ``q`` counts all pairs of all models. A ``mirror`` says the same as another row.
 */
export interface PairDifference {
  attribute: string;
  difference: number | null;
  direction: ("A->T" | "T->A") | null;
  first: number | null;
  given: string;
  high: number | null;
  low: number | null;
  metric: string;
  mirror?: boolean;
  models: string[];
  outcome: string;
  p: number | null;
  paired: boolean;
  q: number | null;
  second: number | null;
  sign: number;
  support: number;
}
/**
 * The models from the least value to the largest.
 *
 * The order is ``stable`` where neighbours differ beyond seeds and records, all pairs of models counted (Holm). ``single_run`` is the share
 * of choices of one run of each model that show the same order; null where each model has one run.
 */
export interface Ranking {
  attribute: string;
  direction: ("A->T" | "T->A") | null;
  metric: string;
  models: string[];
  single_run: number | null;
  stable: boolean;
  values: number[];
  words: string;
}
/**
 * What was audited, and how.
 *
 * ``kinds`` tells crossings from attributes; ``task_labels`` are the task labels that listed pairs name.
 * ``positive`` is the value of each task that rates are of, ``positive_unknown`` the two-valued tasks where it is not
 * known; ``reference`` the group of each attribute that others are held against; ``ignored_groups`` are in no
 * comparison, and ``ignored_unknown`` names that were to be ignored and that no group goes by. ``soft_tasks`` stands where
 * task predictions are probabilities, which count as fractions: rates of groups are then mean scores. ``label_sources`` is where
 * labels come from, as the caller stated it. ``intervals`` stands where those of aggregates are not from resamples. ``withheld_groups`` are in no figure, since counts below ``withheld_below`` are not published.
 * ``repeated`` is after how many rows the whole table repeats, row for row, ``in_succession`` how many times each row stands in
 * succession, and ``repeated_truth`` after how many rows attributes and tasks repeat, with other predictions.
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
  ignored_groups?: string[];
  ignored_unknown?: string[];
  in_succession?: number;
  intervals?: "closed_form";
  kinds?: {
    [k: string]: "attribute" | "crossing";
  };
  label_sources?: {
    [k: string]: string;
  };
  min_group: number;
  missing: "drop" | "error" | "negative";
  missing_values: number;
  positive?: {
    [k: string]: string;
  };
  positive_unknown?: string[];
  records: number;
  reference?: {
    [k: string]: string;
  };
  repeated?: number;
  repeated_truth?: number;
  resamples: number;
  roles: {
    [k: string]: string[];
  };
  soft_tasks?: boolean;
  task_labels?: LabelFields[];
  tasks: Tasks;
  train: boolean;
  weighted: boolean;
  withheld_below?: number;
  withheld_groups?: string[];
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
 *
 * ``lacking`` is the label that those records lack which decide the sign, where that is why.
 */
export interface Excluded {
  attribute: string;
  direction: ("A->T" | "T->A") | null;
  given: string;
  given_count?: number;
  ignored?: boolean;
  joint_count?: number;
  lacking?: string;
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
 * A label that only predictions have; ``low``, ``high``, ``p`` and ``q`` are of the largest difference of groups.
 */
export interface Invented {
  attribute: string;
  between: string[] | null;
  category: string | null;
  count: number;
  difference: number | null;
  direction: "A->T" | "T->A";
  groups: InventedGroup[];
  high: number | null;
  label: string;
  low: number | null;
  p: number | null;
  q: number | null;
  rate: number | null;
  variable: string;
}
/**
 * How often one group gets an invented label.
 */
export interface InventedGroup {
  count: number;
  group: string;
  rate: number | null;
  records: number;
}
/**
 * What errors of an attribute's labels do to one directional value.
 *
 * ``corrected`` is the value of the true labels if errors are as stated and independent of task and prediction, ``interval`` its bounds,
 * ``worst`` the range if as many errors fall where they hurt most; all null where no errors are stated. ``tips`` is the rate of
 * independent errors at which the conclusion changes and ``tips_if_dependent`` that of errors where they hurt most; null
 * where none up to ``tried`` does, or where nothing is ``concluded`` (0). ``matrix`` has the chance that a true group (column) is recorded as
 * each group (row).
 */
export interface LabelErrorEntry {
  attribute: string;
  concluded: -1 | 0 | 1;
  corrected: number | null;
  direction: "A->T" | "T->A";
  groups: string[];
  interval: (number | null)[];
  matrix: number[][];
  tips: number | null;
  tips_if_dependent: number | null;
  tried: number | null;
  unclear: number;
  value: number | null;
  worst: (number | null)[];
}
/**
 * One metric of one attribute in one direction, with what stands beside it.
 *
 * ``bounds`` are how far a directional value may reach when the ``unknown`` pairs, whose direction the records do not
 * tell, have their worse sign; each is one-sided at the audit's confidence. ``contradicted``: of the pairs whose sign is
 * clear both in these records and in those that lend it, how many are opposite, and of how many.
 * A largest difference of a rate names the two groups it is ``between`` and the ``sizes`` it rests on; ``expected`` is
 * its mean over samples where all groups are equal, ``every_group`` its value with groups that are too small to decide;
 * ``left_out`` are the groups that decide in no outcome, with the most records that their rate is taken over, and those that have too
 * few in some outcomes, with the fewest; of these ``left_out_outcomes`` has in how many.
 * ``label_sets`` is over how many sets of labels Multi averages, where records have several, and ``label_set_support`` the
 * median number of records that carry one.
 * ``decided`` stands where predictions are probabilities: what the value is of the decisions they make, at 0.5 or for
 * the likeliest class; null where the scores of single records are not at hand.
 * Of a continuous task (``mean_difference``) value and pairs are in its units, rates of pairs are means, and ``standardised`` is the value over the
 * ``deviation`` of the true task.
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
  contradicted?: number[];
  crossfit?: number | null;
  /**
   * @minItems 2
   * @maxItems 2
   */
  crossfit_interval?: [number | null, number | null];
  dataset?: number | null;
  dataset_gain?: number | null;
  decided?: number | null;
  deviation?: number | null;
  direction: ("A->T" | "T->A") | null;
  equalize?: string | null;
  evaluation?: string;
  every_group?: number | null;
  expected?: number | null;
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
  label_set_support?: number | null;
  label_sets?: number;
  left_out?: {
    [k: string]: number;
  };
  left_out_outcomes?: {
    [k: string]: number;
  };
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
  sizes?: number[];
  standardised?: number | null;
  standardised_interval?: (number | null)[];
  trials?: number;
  unequalized?: number | null;
  unknown?: number;
  value: number | null;
  variance?: number | null;
}
/**
 * One pair of a given label and an outcome.
 *
 * ``clear`` where its own test tells the sign, ``known`` where it does with all pairs of the entry counted. ``mirror``
 * where the pair of the variable's other value says the same.
 */
export interface Pair {
  amplification: number | null;
  clear?: boolean;
  delta: number | null;
  given: string;
  high: number | null;
  known?: boolean;
  low: number | null;
  mirror?: boolean;
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
 *
 * ``command`` is the command line, or ``call`` the call in Python, that made the audit; ``settings`` are what ``verify`` needs to make it again.
 */
export interface Provenance {
  call?: string;
  command?: string;
  engine?: string;
  libraries?: {
    [k: string]: string;
  };
  settings?: {};
  source?: string;
  threads?: number;
  time?: string;
}
/**
 * The rates of one group for one outcome; ``ignored`` groups are in no comparison.
 */
export interface GroupRow {
  accuracy: Rate;
  attribute: string;
  false_positive_rate: Rate;
  group: string;
  ignored: boolean;
  outcome: string;
  precision: Rate;
  records: number;
  reference: boolean;
  selection_rate: Rate;
  share: number;
  true_positive_rate: Rate;
}
/**
 * A rate of a group over ``size`` records, with Wilson's interval; difference and ratio are to a reference group.
 */
export interface Rate {
  difference?: number | null;
  difference_high?: number | null;
  difference_low?: number | null;
  high: number | null;
  low: number | null;
  ratio?: number | null;
  ratio_high?: number | null;
  ratio_low?: number | null;
  size: number;
  value: number | null;
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
 *
 * ``grid`` stands where figures come from counts, at so many fixed thresholds from 0 to 1 instead of at every score.
 * ``marks`` are the thresholds that the decisions were made at (``used``, where one threshold makes them), that keeps the
 * base rate (``base_rate``) and where amplification is nearest to 0 (``zero``).
 */
export interface SweepEntry {
  attribute: string;
  base_rate: number | null;
  calibrated: CalibratedThreshold;
  curve: {
    [k: string]: number | "-inf" | "inf" | null;
  }[];
  direction: "A->T" | "T->A";
  grid?: number;
  integral: number | null;
  labels: LabelThreshold[];
  marks?: {
    [k: string]: ThresholdMark;
  };
  n?: number;
  outcome: string | null;
  sign_source?: string;
  /**
   * @minItems 2
   * @maxItems 2
   */
  span: [number, number];
  steps?: Steps;
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
 * The curve at a marked threshold, with the interval of amplification there.
 */
export interface ThresholdMark {
  amplification: number | null;
  high: number | null;
  low: number | null;
  rate: number | null;
  threshold: number | ("-inf" | "inf") | null;
}
/**
 * Figures at some thresholds, a column each; a figure holds from its threshold down to the score below it.
 *
 * ``low`` and ``high`` are the interval of amplification, null where it was not computed. ``groups_in_all`` is how many
 * pairs of group and outcome there are.
 */
export interface Steps {
  amplification: (number | null)[];
  groups: GroupSteps[];
  groups_in_all: number;
  high: (number | null)[];
  low: (number | null)[];
  rate: (number | null)[];
  threshold: number[];
}
/**
 * Of one group and outcome, the positive and negative records, and those of them at or above each threshold.
 *
 * ``effective`` are the effective numbers of positive records, of negative ones and of both.
 */
export interface GroupSteps {
  effective: number[];
  false: number[];
  given: string;
  negative: number;
  outcome: string;
  positive: number;
  true: number[];
}
/**
 * What the threshold gives that classifiers use by default; ``rate_p`` tests each rate against its base rate.
 */
export interface UsualThreshold {
  amplification: number | null;
  rate_p?: number[];
  rates?: number[];
  threshold: number;
}
/**
 * The parts of a directional value: ``value``, with scores also ``score`` and ``threshold``, with strata ``inside``.
 *
 * ``unknown`` pairs have a direction that the records do not tell. ``rule`` says how decisions were made. ``pairs`` stand
 * where there are scores: those that change most, of ``pairs_in_all``.
 */
export interface WhyEntry {
  attribute: string;
  cautions: WhyCaution[];
  direction: "A->T" | "T->A";
  pairs?: WhyPair[];
  pairs_in_all?: number;
  parts: {
    [k: string]: WhyPart;
  };
  reliability?: Reliability[];
  rule: string;
  scored: boolean;
  sign_source: string;
  strata?: StratumRow[];
  strata_column?: string;
  unknown: number;
}
/**
 * A caution of the parts, with its kind.
 */
export interface WhyCaution {
  kind: string;
  text: string;
}
/**
 * The parts of one pair: ``amplification`` is ``score`` plus ``threshold``, each with its own interval.
 */
export interface WhyPair {
  amplification: number | null;
  given: string;
  high: number | null;
  known: boolean;
  low: number | null;
  mirror?: boolean;
  outcome: string;
  predicted_rate: number | null;
  score: number | null;
  score_high: number | null;
  score_low: number | null;
  score_rate: number | null;
  sign: -1 | 0 | 1;
  support: number;
  threshold: number | null;
  threshold_high: number | null;
  threshold_low: number | null;
  truth_rate: number | null;
}
/**
 * A part of a directional value with its interval; ``verdict`` is what it may be called.
 */
export interface WhyPart {
  interval: (number | null)[];
  value: number | null;
  verdict: ("amplifies" | "no verdict" | "not told from 0" | "reduces") | null;
}
/**
 * Whether the scores of an outcome come true in a group: ``error`` is over ten bins, ``expected`` by chance.
 */
export interface Reliability {
  error: number | null;
  expected: number | null;
  given: string;
  n: number;
  outcome: string;
  p: number | null;
  q: number | null;
  rate: number | null;
  score: number | null;
}
/**
 * The value inside a stratum, by the signs there and by those of the whole.
 *
 * ``unclear`` of its ``pairs`` have a direction that its records do not tell: ``p`` and ``q`` count these with the worse of
 * their signs, ``low`` and ``high`` hold the signs fixed. ``reversed`` have a direction, beyond chance, that is not that of
 * the whole. ``score`` and ``threshold`` are null where there are no scores.
 */
export interface StratumRow {
  by_sign_of_whole: number | null;
  high: number | null;
  low: number | null;
  n: number;
  p: number | null;
  pairs: number;
  q: number | null;
  reversed: number;
  score: number | null;
  share: number;
  smallest_group: number;
  stratum: string;
  threshold: number | null;
  unclear: number;
  value: number | null;
}
