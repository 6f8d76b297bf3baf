/** Positions on an axis, straight or by powers of ten, with ticks that fit. */
import { ticks } from "d3-array";
import { tick } from "../numbers";
import type { Column } from "./columns";

export interface Scale {
  to(value: number): number;
  from(position: number): number;
  ticks(many: number): number[];
}

/** From a column's real range to 0..1; counts by powers of ten, 0 at the foot. */
export function scaleOf(column: Column, [low, high]: [number, number]): Scale {
  if (!column.log) {
    return {
      to: (x) => (x - low) / (high - low),
      from: (t) => low + t * (high - low),
      ticks: (many) => ticks(low, high, many),
    };
  }
  const [a, b] = [Math.log1p(Math.max(0, low)), Math.log1p(high)];
  return {
    to: (x) => (Math.log1p(Math.max(0, x)) - a) / (b - a || 1),
    from: (t) => Math.expm1(a + t * (b - a)),
    ticks: () => {
      const out = low <= 0 ? [0] : [];
      for (let power = 1; power <= high; power *= 10) if (power >= low) out.push(power);
      return out;
    },
  };
}

export function tickText(column: Column, value: number): string {
  if (!column.log || value < 1000) return tick(value);
  return value >= 1e6 ? `${tick(value / 1e6)}M` : `${tick(value / 1e3)}k`;
}
