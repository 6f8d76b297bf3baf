import { describe, expect, it } from "vitest";
import { csv, field, safeText } from "../src/explorer/download";
import { gap, slope, value } from "../src/explorer/formulas";
import { read, written, type State } from "../src/explorer/state";

const METRICS = ["dp", "pmi", "npmi_y", "npmi_xy", "pmi2", "sdc", "ji", "llr", "tau_b", "t_test"];

describe("formulas", () => {
  // Of 100 images, 40 show a man, 10 a bike, 8 both: P(x,y) is twice P(x)P(y).
  it("follow the paper's definitions", () => {
    const at = (metric: string) => value(metric, 100, 40, 10, 8, false);
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
    expect(value("npmi_xy", 100, 40, 10, 0, false)).toBe(-1);
    expect(value("pmi", 100, 40, 10, 0, false)).toBe(-Infinity);
    expect(gap("pmi", 100, 40, 50, 10, 8, 0, false)).toBe(Infinity);
    expect(gap("pmi", 100, 40, 50, 10, 0, 0, false)).toBeNaN();
  });
  it("have gaps that are differences of values, and slopes that are derivatives", () => {
    for (const metric of METRICS) {
      for (const literal of [false, true]) {
        const a = (xy: number, x: number) => value(metric, 1000, x, 120, xy, literal);
        expect(gap(metric, 1000, 300, 200, 120, 50, 20, literal)).toBeCloseTo(a(50, 300) - a(20, 200), 10);
        const [n, x, y, z, step] = [1000, 0.3, 0.12, 0.05, 1e-6];
        const at = (p: number, q: number, r: number) => value(metric, n, n * p, n * q, n * r, literal);
        const numeric = [at(x + step, y, z) - at(x - step, y, z), at(x, y + step, z) - at(x, y - step, z), at(x, y, z + step) - at(x, y, z - step)].map((d) => d / (2 * step));
        slope(metric, n, x, y, z, literal).forEach((partial, i) => expect(partial / (Math.abs(numeric[i]) + 1)).toBeCloseTo(numeric[i] / (Math.abs(numeric[i]) + 1), 5));
      }
    }
  });
});

describe("downloads", () => {
  it("quote fields and disarm formulas", () => {
    expect(field('a "b", c')).toBe('"a ""b"", c"');
    expect(safeText("=cmd|x")).toBe("'=cmd|x");
    expect(safeText(" +1")).toBe("' +1");
    expect(safeText("－1")).toBe("'－1");
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
  };
  const known = { column: (id: string) => /^(gap|count|q)/.test(id), metrics: ["npmi_xy", "dp"], contrasts: 3, runs: 2, labels: 1000 };
  it("is empty at first and comes back whole", () => {
    expect(written(first, first)).toBe("");
    const held: State = {
      ...first, metric: "dp", contrast: 2, runs: [1], sort: { column: "count", down: false, run: 1 }, filters: new Map([["count", { low: 5, high: null }]]),
      shown: ["count"], extra: ["npmi_xy"], search: "a&b=c#~!", any: true, rankedOnly: false, flags: new Set([0, 7, 999]), hidden: new Set([3]), selected: new Set([1, 2]),
      onlyFlagged: true, showHidden: true, view: "scatter", second: "npmi_xy",
    };
    expect(read(`#${written(held, first)}`, first, known)).toEqual(held);
  });
  it("ignores what makes no sense", () => {
    expect(read("#metric=nope&gap=9&runs=5&view=x&flags=!!.zz.zzzzzzzz&filters=bad~1~2", first, known)).toEqual({ ...first });
  });
});
