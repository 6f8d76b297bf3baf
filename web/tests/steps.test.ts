import { describe, expect, it } from "vitest";
import { placeAt, rateAt, wilson } from "../src/report/steps";
import type { GroupSteps, Steps } from "../src/audit";

const group: GroupSteps = { given: "g", outcome: "o", positive: 20, negative: 30, effective: [20, 30, 50], true: [20, 15, 0], false: [30, 3, 0] };

describe("rates at a threshold", () => {
  it("are shares of the positive, of the negative and of all", () => {
    expect([rateAt(group, "tpr", 1, 1.96).value, rateAt(group, "fpr", 1, 1.96).value, rateAt(group, "rate", 1, 1.96).value]).toEqual([0.75, 0.1, 0.36]);
  });
  it("have Wilson's interval", () => {
    // 15 of 20 at 95%, Newcombe (1998): 0.5313 to 0.8881.
    const { low, high } = wilson(0.75, 20, 1.959963985);
    expect([low.toFixed(4), high.toFixed(4)]).toEqual(["0.5313", "0.8881"]);
    expect([wilson(0, 10, 1.96).low, wilson(1, 10, 1.96).high]).toEqual([0, 1]);
    expect(wilson(NaN, 0, 1.96).value).toBeNaN();
  });
  it("hold from a threshold down to the score below it", () => {
    const steps = { threshold: [0.1, 0.4, 0.9] } as Steps;
    expect([placeAt(steps, 0), placeAt(steps, 0.1), placeAt(steps, 0.11), placeAt(steps, 0.4), placeAt(steps, 2)]).toEqual([0, 0, 1, 1, 2]);
  });
});
