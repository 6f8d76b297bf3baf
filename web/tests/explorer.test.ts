import { describe, expect, it } from "vitest";
import { csv, field, safeText } from "../src/explorer/download";
import { gapOf, slope, valueOf } from "../src/explorer/formulas";
import { inOrder, orderBy } from "../src/explorer/sorting";
import { pairOf, read, written, type State } from "../src/explorer/state";

const METRICS = ["dp", "pmi", "npmi_y", "npmi_xy", "pmi2", "sdc", "ji", "llr", "tau_b", "t_test"];

describe("formulas", () => {
  // Of 100 images, 40 show a man, 10 a bike, 8 both: P(x,y) is twice P(x)P(y).
  it("follow the paper's definitions", () => {
    const at = (metric: string) => valueOf(metric)(100, 40, 10, 8, false);
    expect(at("dp")).toBeCloseTo(0.2, 12);
    expect(at("pmi")).toBeCloseTo(Math.log(2), 12);
    expect(at("npmi_y")).toBeCloseTo(Math.log(2) / Math.log(10), 12);
    expect(at("npmi_xy")).toBeCloseTo(Math.log(2) / -Math.log(0.08), 12);
    expect(at("pmi2")).toBeCloseTo(Math.log(0.08 ** 2 / 0.04), 12);
    expect(at("sdc")).toBeCloseTo(16 / 50, 12);
    expect(at("ji")).toBeCloseTo(8 / 42, 12);
    expect(at("llr")).toBeCloseTo(Math.log(0.8), 12);
    expect(at("tau_b")).toBeCloseTo((8 * 58 - 32 * 2) / Math.sqrt(40 * 60 * 10 * 90), 12);
    expect(at("t_test")).toBeCloseTo(0.04 / 0.2, 12);
  });
  it("take the limits where labels never meet", () => {
    expect(valueOf("npmi_xy")(100, 40, 10, 0, false)).toBe(-1);
    expect(valueOf("pmi")(100, 40, 10, 0, false)).toBe(-Infinity);
    expect(gapOf("pmi")(100, 40, 50, 10, 8, 0, false)).toBe(Infinity);
    expect(gapOf("pmi")(100, 40, 50, 10, 0, 0, false)).toBeNaN();
  });
  it("have gaps that are differences of values, and slopes that are derivatives", () => {
    for (const metric of METRICS) {
      for (const literal of [false, true]) {
        const a = (xy: number, x: number) => valueOf(metric)(1000, x, 120, xy, literal);
        expect(gapOf(metric)(1000, 300, 200, 120, 50, 20, literal)).toBeCloseTo(a(50, 300) - a(20, 200), 10);
        const [n, x, y, z, step] = [1000, 0.3, 0.12, 0.05, 1e-6];
        const at = (p: number, q: number, r: number) => valueOf(metric)(n, n * p, n * q, n * r, literal);
        const numeric = [at(x + step, y, z) - at(x - step, y, z), at(x, y + step, z) - at(x, y - step, z), at(x, y, z + step) - at(x, y, z - step)].map((d) => d / (2 * step));
        slope(metric, n, x, y, z, literal).forEach((partial, i) => expect(partial / (Math.abs(numeric[i]) + 1)).toBeCloseTo(numeric[i] / (Math.abs(numeric[i]) + 1), 5));
      }
    }
  });
});

describe("sorting", () => {
  // The reference compares.
  const compared = (values: Float64Array, down: boolean, from: Uint32Array) => [...from].sort((a, b) => {
    const [x, y] = [values[a], values[b]];
    if (x !== x || y !== y) return x === x ? -1 : y === y ? 1 : from.indexOf(a) - from.indexOf(b);
    return x === y ? from.indexOf(a) - from.indexOf(b) : (x < y ? -1 : 1) * (down ? -1 : 1);
  });
  it("agrees with comparing, ties and limits included", () => {
    let state = 7;
    const next = () => (state = (1103515245 * state + 12345) % 2147483648) / 2147483648;
    const odd = [0, -0, NaN, Infinity, -Infinity, 5e-324, -5e-324, 1e308, -1e308, 0.5, -0.5];
    for (const size of [0, 1, 2, 17, 300]) {
      const values = Float64Array.from({ length: size }, () => (next() < 0.3 ? odd[Math.floor(next() * odd.length)] : Math.round(40 * next() - 20) / 8));
      const from = orderBy(Float64Array.from({ length: size }, next), false, inOrder(size));
      for (const down of [false, true]) expect([...orderBy(values, down, from)]).toEqual(compared(values, down, from));
    }
  });
});

describe("downloads", () => {
  it("quote fields and disarm formulas", () => {
    expect(field('a "b", c')).toBe('"a ""b"", c"');
    expect(safeText("=cmd|x")).toBe("'=cmd|x");
    expect(safeText(" +1")).toBe("' +1");
    expect(safeText("－1")).toBe("'－1");
    for (const before of ["\u200b", "\u202e", "\0", "\ufeff", "\u00ad", "\u2028", "\u3164", "\ufe0f", "\u{e0041}", " \u200b\u00a0"]) expect(safeText(`${before}=1+1`)).toBe(`'${before}=1+1`);
    for (const harmless of ["bike", "a=b", "2026-01", "€ 5", "🏳️‍🌈=no", "ключ"]) expect(safeText(harmless)).toBe(harmless);
    expect(field(-0.5)).toBe("-0.5");
    expect(field(NaN)).toBe("");
    expect(field(-Infinity)).toBe("-inf");
    expect(csv(["a"], [["x\ny"]])).toBe('a\r\n"x\ny"\r\n');
  });
});

describe("state", () => {
  const first: State = {
    metric: "npmi_xy", contrast: 0, runs: [0, 1], sort: { column: "gap.npmi_xy.0", down: true, run: 0 }, filters: new Map(), shown: ["gap.npmi_xy.0", "count", "q.0"],
    extra: [], search: "", any: false, rankedOnly: true, flags: new Set(), hidden: new Set(), selected: new Set(), onlyFlagged: false, showHidden: false, view: "parallel", second: "dp",
    pair: null, off: [], onlySelected: false, axes: null, split: 42,
  };
  const known = { column: (id: string) => /^(gap|count|q)/.test(id), metrics: ["npmi_xy", "dp"], contrasts: 3, runs: 2, labels: 1000 };
  it("is empty at first and comes back whole", () => {
    expect(written(first, first)).toBe("");
    const held: State = {
      ...first, metric: "dp", contrast: 2, runs: [1], sort: { column: "count", down: false, run: 1 }, filters: new Map([["count", { low: 5, high: null }]]),
      shown: ["count"], extra: ["npmi_xy"], search: "a&b=c#~!", any: true, rankedOnly: false, flags: new Set([0, 7, 999]), hidden: new Set([3]), selected: new Set([1, 2]),
      onlyFlagged: true, showHidden: true, view: "scatter", second: "npmi_xy", pair: [1, 0], off: ["rank", "joint"], onlySelected: true, axes: "runs", split: 60,
    };
    expect(read(`#${written(held, first)}`, first, known)).toEqual(held);
  });
  it("takes changes from the first two runs shown until others are chosen", () => {
    expect(pairOf({ ...first, runs: [2, 3] }, 6)).toEqual([2, 3]);
    expect(pairOf({ ...first, runs: [2] }, 6)).toEqual([2, 0]);
    expect(pairOf({ ...first, runs: [0] }, 2)).toEqual([0, 1]);
    expect(pairOf({ ...first, pair: [4, 1] }, 6)).toEqual([4, 1]);
    expect(pairOf(first, 1)).toBeNull();
  });
  it("ignores what makes no sense", () => {
    expect(read("#metric=nope&gap=9&runs=5&view=x&flags=!!.zz.zzzzzzzz&filters=bad~1~2&pair=0.9&off=x.y&axes=z&split=500", first, known)).toEqual({ ...first });
  });
});
