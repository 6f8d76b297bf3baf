/** What an association metric is, as its record in the Python package says, and what holds for all of them. */
import { float, type Num } from "../numbers";

export interface Facts {
  name: string;
  symbol: string;
  title: string;
  /** In the form that the document uses: as defined, or as printed. */
  formula: string;
  /** As the paper prints it, where that differs from the definition. */
  as_printed: string | null;
  low: Num;
  high: Num;
  /** The value under independence, and whether the gap is 0 there. */
  independent: string;
  zero_null: boolean;
  words: string;
  cautions: string[];
  paper: string;
  /** Whether gaps grow with C(x1,y)/C(x2,y) alone: labels are then ranked by it. */
  ratio: boolean;
  /** 1 where a positive gap leans to x1, -1 where it leans to x2. */
  leans: number;
  /** Whether formulas.ts computes it; else its figures are in the document. */
  page_formula: boolean;
}

/** A formula as print sets it. */
export function set(formula: string): string {
  return formula.replaceAll("-", "−");
}

/** The limits of the metric as text. */
export function range(facts: Facts): string {
  return set([facts.low, facts.high].map((limit) => String(float(limit)).replace("Infinity", "∞")).join(" to "));
}

export const GAP = "G(y|x1,x2) = A(x1,y) − A(x2,y): a positive gap leans to x1. Against the rest, the second term is the mean over the other identities.";
export const INTERVAL = "Intervals of gaps are 95% by the delta method, right also where identities overlap. Where a label never meets an identity, half a record stands for it.";
export const TEST = "p is of P(y|x1) = P(y|x2), one test a label and pair of identities for all metrics; q is the share of false alarms expected among labels with a q as small.";
