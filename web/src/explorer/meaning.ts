/** What each association metric is, for the formula view. */

export interface Meaning {
  formula: string;
  /** As the paper prints it, where that differs. */
  printed?: string;
  range: string;
  says: string;
}

export const MEANING: Record<string, Meaning> = {
  dp: { formula: "P(y|x)", range: "0 to 1", says: "The share of records of the identity that carry the label: the gap is the difference of demographic parity. Common labels dominate it." },
  pmi: { formula: "ln P(x,y) / (P(x) P(y))", range: "−∞ upwards", says: "How many times more often they meet than by chance, as a logarithm. Rare labels dominate it." },
  npmi_y: { formula: "PMI / −ln P(y)", printed: "PMI / ln P(y), the sign flipped", range: "−∞ to ln P(x) / ln P(y)", says: "PMI as a share of the information in the label." },
  npmi_xy: { formula: "PMI / −ln P(x,y)", printed: "PMI / ln P(x,y), the sign flipped", range: "−1 to 1", says: "PMI as a share of the information in meeting: 1 where they only occur together, 0 under independence, −1 where they never meet." },
  pmi2: { formula: "ln P(x,y)² / (P(x) P(y))", range: "−∞ to 0", says: "PMI that favours common labels. Its gap is not 0 under independence when identities differ in size." },
  sdc: { formula: "2 P(x,y) / (P(x) + P(y))", printed: "without the 2", range: "0 to 1", says: "Sørensen–Dice: the overlap of two sets. Its gap is not 0 under independence when identities differ in size." },
  ji: { formula: "P(x,y) / (P(x) + P(y) − P(x,y))", range: "0 to 1", says: "Jaccard: the shared part of two sets. Its gap is not 0 under independence when identities differ in size." },
  llr: { formula: "ln P(x|y)", range: "−∞ to 0", says: "Among records with the label, the share of the identity, as a logarithm; no likelihood-ratio statistic. Its gap is not 0 under independence when identities differ in size." },
  tau_b: { formula: "(ad − bc) / √((a+b)(c+d)(a+c)(b+d)) of the two-by-two table", printed: "equation 23, which counts tied pairs as concordant", range: "−1 to 1", says: "Kendall's τ_b of two yes/no variables, which is φ." },
  t_test: { formula: "(P(x,y) − P(x) P(y)) / √(P(x) P(y))", range: "−1 to 1", says: "The excess over chance in units of its size; no test." },
};

export const GAP = "G(y|x1,x2) = A(x1,y) − A(x2,y): a positive gap leans to x1. Against the rest, the second term is the mean over the other identities.";
export const INTERVAL = "Intervals of gaps are 95% by the delta method, right also where identities overlap. Where a label never meets an identity, half a record stands for it.";
export const TEST = "p is of P(y|x1) = P(y|x2), one test a label and pair of identities for all metrics; q is the share of false alarms expected among labels with a q as small.";
export const PAPER = "Aka, Burke, Bäuerle, Greer & Mitchell (2021), Measuring Model Biases in the Absence of Ground Truth, AIES.";
