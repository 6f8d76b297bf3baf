/** Facts of metrics, words, patterns and constants, as the Python package has them: `make schema` writes them. */
import type { MetricFacts } from "../audit";
import type { Method } from "../types";
import held from "./facts.json";

interface AuditedMetric {
  facts: MetricFacts;
  judged: boolean;
  gap: string;
  rank: number;
}

export const FACTS = held;
export const METRICS = held.metrics as unknown as Record<string, AuditedMetric>;
export const METHODS = held.methods as unknown as Record<string, Method>;
export const URGENCY: Record<string, number> = held.urgency;
export const WEIGHTS = held.weights;
export const CONSTANTS = held.constants;

/** The metrics that are largest differences between groups, in the order of the registry. */
export const GAPS = Object.keys(METRICS).filter((name) => METRICS[name].gap);

export const isSigned = (metric: string): boolean => METRICS[metric]?.facts.signed ?? false;
export const shortName = (metric: string): string => METRICS[metric]?.facts.short || metric;
