import { describe, expect, it } from "vitest";
import { concluded, directionSymbol, factsOf, isSigned, metricName, own, side, verdictOf } from "../src/report/parts";
import type { ReportPage } from "../src/types";

const facts = { short: "largest pair", signed: false, directed: true, paired: false, pairs_shown: false };
const page = { audit: { registry: { largest_pair: facts, dpa: { ...facts, short: "DPA", signed: true } } } } as unknown as ReportPage;

describe("metrics", () => {
  it("are called and signed as the document's registry says", () => {
    expect(metricName(page, "largest_pair")).toBe("Largest pair");
    expect(metricName(page, "dpa")).toBe("DPA");
    expect([isSigned(page, "largest_pair"), isSigned(page, "dpa")]).toEqual([false, true]);
  });
  it("that the registry does not know are shown by their name, as text", () => {
    expect(metricName(page, "a\u202eb")).toBe("A\\u202eb");
    expect(isSigned(page, "other")).toBe(false);
    expect(factsOf({ audit: {} } as unknown as ReportPage, "dpa")).toBeUndefined();
  });
});

describe("figures", () => {
  it("lie on a side of 0, on both or nowhere", () => {
    expect([side(0.1, 0.2), side(-0.2, -0.1), side(-1, 1), side(null, null)]).toEqual([1, -1, 0, null]);
  });
  it("are concluded of as the sentences say, not as the interval alone would", () => {
    const shown = { metric: "directional", attribute: "race", direction: "A->T", interval: [0.0003, 0.121] };
    const undecided = { kind: "finding", code: "amplification", text: "", weight: 1, figure: { ...shown, verdict: 0 } } as any;
    expect(verdictOf(undecided)).toBe(0);
    expect(verdictOf({ ...undecided, figure: { ...shown, verdict: null } })).toBeNull();
    expect(verdictOf({ ...undecided, figure: shown })).toBe(1);
    expect(concluded({ audit: { findings: [undecided] } } as any, shown as any)).toBe(0);
    expect(concluded({ audit: { findings: [] } } as any, shown as any)).toBe(1);
  });
  it("have directions in symbols", () => {
    expect([directionSymbol("A->T"), directionSymbol(null)]).toEqual(["A→T", ""]);
  });
});

describe("names of strangers", () => {
  it("are looked up among those that were given, not among what every object has", () => {
    const held = JSON.parse('{"__proto__": "the first", "a": "b"}') as Record<string, string>;
    expect(["__proto__", "a", "constructor", "toString", "hasOwnProperty"].map((name) => own(held, name))).toEqual(["the first", "b", undefined, undefined, undefined]);
    expect(own(undefined, "a")).toBeUndefined();
  });
});
