import { describe, expect, it } from "vitest";
import { directionSymbol, factsOf, isSigned, metricName, side } from "../src/report/parts";
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
  it("have directions in symbols", () => {
    expect([directionSymbol("A->T"), directionSymbol(null)]).toEqual(["A→T", ""]);
  });
});
