/** Records with gaps are left out as if the file did not have them; and refusals in the words of the page. */
import { describe, expect, it } from "vitest";

import { rolesOf } from "../../src/try/door";
import { withoutGaps } from "../../src/try/gaps";
import { auditPage } from "../../src/try/page";
import { inPageWords } from "../../src/try/page_words";
import { readCsv } from "../../src/try/read_csv";
import type { Choice } from "../../src/try/types";

const choice: Choice = { attributes: ["sex"], tasks: ["repaid"], task_predictions: ["said"], positive: null, confidence: 0.95, min_group: 30, leave_out: true };
const csv = (rows: string[][]) => readCsv(new TextEncoder().encode(["sex,repaid,said,note", ...rows.map((row) => row.join(","))].join("\n")), "t.csv");
const rows = Array.from({ length: 400 }, (_, i) => [i % 3 ? "m" : "f", i % 7 < 3 ? "yes" : "no", i % 5 < 2 ? "yes" : "no", ""]);
// One value is in no other record than one that has a gap.
const holes = rows.map((row, i) => (i % 40 === 7 ? ["", row[1], row[2], ""] : i % 40 === 9 ? [row[0], row[1], i % 80 === 9 ? "NA" : "", ""] : i === 20 ? ["x", "", "no", ""] : row));

describe("records with gaps", () => {
  it("are left out as if the file did not have them", () => {
    const { table, left } = withoutGaps(csv(holes), choice);
    const whole = csv(holes.filter((row) => row.slice(0, 3).every((value) => value !== "" && value !== "NA")));
    expect(left).toBe(21);
    expect(table.records).toBe(379);
    expect(auditPage(rolesOf(table, choice), choice, table)).toEqual(auditPage(rolesOf(whole, choice), choice, whole));
  });
  it("are refused otherwise, with the way out of the page", () => {
    expect(() => rolesOf(csv(holes), choice)).toThrow(/tasks has 1 record with missing labels in repaid \(row 21, counted from 1 without the header\)\. Tick 'Leave out records with missing values'/);
  });
  it("change nothing where there are none, and leave a column without values to be refused by name", () => {
    const whole = csv(rows);
    expect(withoutGaps(whole, choice)).toEqual({ table: whole, left: 0 });
    const blank = csv(rows.map((row) => [row[0], "", row[2], ""]));
    expect(() => rolesOf(withoutGaps(blank, choice).table, choice)).toThrow("tasks column 'repaid' holds no label: every value is missing");
  });
  it("are all there is", () => {
    expect(() => withoutGaps(csv([["f", "", "no", ""], ["", "yes", "no", ""]]), choice)).toThrow("none is left");
  });
});

it("speaks of truth, prediction and groups, and leaves names alone", () => {
  expect(inPageWords("tasks column 'tasks' and task_predictions column 'task_predictions' differ")).toBe("Truth column 'tasks' and prediction column 'task_predictions' differ");
  expect(inPageWords("attributes has 2 records with missing labels")).toBe("Groups have 2 records with missing labels");
});
