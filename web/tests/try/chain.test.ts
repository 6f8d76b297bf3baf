/** From the bytes of a file to the page, as the worker does it, held against Python's report of the same file. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { rolesOf } from "../../src/try/door";
import { auditPage } from "../../src/try/page";
import { readTable } from "../../src/try/read";
import { Beyond, Refused, type Choice } from "../../src/try/types";
import { differences } from "./differences";

interface Case {
  name: string;
  bytes: string;
  choice: Choice;
  page?: unknown;
  refused?: string;
  beyond?: boolean;
}

// tests/report/test_try_chain.py writes the cases and names the folder.
const folder = process.env.BIASAMP_TRY_CHAIN;
const cases: Case[] = folder ? JSON.parse(readFileSync(`${folder}/chain.json`, "utf8")) : [];

/** What the libraries that read Parquet say themselves differs; that a file cannot be read does not. */
function reason(text: string): string {
  return text.replace(/(cannot be read as parquet): (?!its first bytes).*/s, "$1").replace(/holds map<.*> values;/, "holds map values;").replace(/CSV parse error: Row #\d+: /, "CSV parse error: ");
}

describe.skipIf(!cases.length)("files and their pages", () => {
  it.each(cases.map((one): [string, Case] => [one.name, one]))("%s", async (name, one) => {
    const file = new Blob([Uint8Array.from(Buffer.from(one.bytes, "base64"))]);
    const { choice } = one;
    let page: unknown = null;
    let refused: Refused | null = null;
    try {
      const table = await readTable(file, name, [...choice.attributes, ...choice.tasks, ...choice.task_predictions]);
      page = auditPage(rolesOf(table, choice), choice, table);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refused = error;
    }
    if (one.beyond) expect(refused).toBeInstanceOf(Beyond);
    else if (one.refused !== undefined) {
      // Lists are not looked into: what is wrong with them the full audit says.
      if (!(refused instanceof Beyond && /holds lists|list of labels with a missing/.test(one.refused))) expect(reason(refused?.message ?? "measured")).toBe(reason(one.refused));
    } else {
      expect(refused).toBeNull();
      const found: string[] = [];
      differences(JSON.parse(JSON.stringify(page)), one.page, "", false, found);
      expect(found).toEqual([]);
    }
  });
});
