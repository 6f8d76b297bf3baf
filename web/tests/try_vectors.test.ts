/** The audit in the browser held against the documents that the Python package makes of the same labels. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { betaQuantile, erfc, normal, normalQuantile, studentQuantile } from "../src/try/distributions";
import { auditPage } from "../src/try/page";
import { compareProducts, fairCoins, fisher } from "../src/try/signs";
import type { Choice, Labels, Roles } from "../src/try/types";
import { differences, RELATIVE } from "./try/differences";

interface Vectors {
  numbers: Record<string, any[][]> & { signs: number[] };
  cases: { name: string; roles: any; choice: Choice; page: Record<string, any> }[];
}

// A folder that tests/try_vectors.py wrote; without one the committed sample.
const folder = process.env.TRY_VECTORS;
const files = folder ? readdirSync(folder).filter((name) => name.endsWith(".json")).map((name) => join(folder, name)) : [join(__dirname, "try_vectors.json")];

const labels = (held: any): Labels => ({ ...held, codes: Int32Array.from(held.codes) });

for (const file of files) {
  const held: Vectors = JSON.parse(readFileSync(file, "utf-8"));
  describe(`vectors of ${held.cases.length} tables`, () => {
    for (const { name, roles, choice, page } of held.cases) {
      it(name, () => {
        const read: Roles = { ...roles, attributes: roles.attributes.map(labels), tasks: roles.tasks.map(labels), predictions: roles.predictions.map(labels) };
        const made = auditPage(read, choice, { source: page.source, records: roles.records });
        const found: string[] = [];
        differences(JSON.parse(JSON.stringify(made)), page, "", false, found);
        expect(found).toEqual([]);
      });
    }
  });
  if (!held.numbers) continue;
  describe("single figures", () => {
    const near = (mine: number, theirs: number, relative = RELATIVE) => expect(Math.abs(mine - theirs)).toBeLessThanOrEqual(relative * Math.abs(theirs));
    it("signs of products beyond 2^53", () => {
      expect(held.numbers.products.map(([a, b, c, d]) => compareProducts(Number(a), Number(b), Number(c), Number(d)))).toEqual(held.numbers.signs);
    });
    it("Fisher's test", () => held.numbers.fisher.forEach(([a, n1, b, n2, p]) => near(fisher(a, n1, b, n2), p)));
    it("fair coins", () => held.numbers.coins.forEach(([heads, tails, p]) => near(fairCoins(heads, tails), p)));
    it("quantiles of the beta distribution", () => held.numbers.beta.forEach(([a, b, p, x]) => near(betaQuantile(a, b, p), x)));
    // Ends of intervals near 0 are differences of much larger numbers: what is multiplied by the error is held closer.
    it("quantiles of Student's distribution", () => held.numbers.student.forEach(([freedom, p, t]) => near(studentQuantile(freedom, p), t, 1e-13)));
    it("the normal distribution", () => held.numbers.normal.forEach(([p, z, below, tail]) => {
      near(normalQuantile(p), z);
      near(normal(-3 * p), below);
      near(erfc(10 * p), tail);
    }));
  });
}
