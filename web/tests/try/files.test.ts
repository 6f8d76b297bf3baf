/** The reading and the door of an audit in the browser against what the Python package says of the same files. */
import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { rolesOf } from "../../src/try/door";
import { readTable } from "../../src/try/read";
import { canonical } from "../../src/try/text";
import { Beyond, Refused, type Column, type Labels, type Table } from "../../src/try/types";

interface ReadColumn {
  refused?: string;
  type?: string;
  missing?: number;
  values?: Record<string, number>;
}

interface Case {
  name: string;
  bytes: string;
  roles: { attributes: string[]; tasks: string[]; task_predictions: string[] };
  columns: { refused: string } | Record<string, ReadColumn>;
  audit: { refused?: string; beyond?: string; records?: number; labels?: Record<string, [string, string, string[]][]>; joint?: Record<string, number> };
  notes: string[];
}

const folder = process.env.BIASAMP_TRY_FILES;
const path = folder ? `${folder}/cases.json` : new URL("./sample.json", import.meta.url);
const cases = JSON.parse(readFileSync(path, "utf8")) as Case[];

async function tried<T>(made: () => T | Promise<T>): Promise<T | Error> {
  try {
    return await made();
  } catch (error) {
    if (error instanceof Refused) return error;
    throw error;
  }
}

/** Files that a library cannot read: the words of the libraries differ, what they say does not. */
function reason(text: string): string {
  if (/ cannot be read as parquet: (?!its first bytes)/.test(text)) return text.replace(/(cannot be read as parquet): .*/s, "$1");
  // Arrow says in which row only where it reads a file in one go.
  return text.replace(/holds map<.*> values;/, "holds map values;").replace(/CSV parse error: Row #\d+: /, "CSV parse error: ");
}

/** What Arrow finds in the values of a damaged file, and the page does not look for (docs/in_the_browser.md). */
const UNCHECKED = /Malformed levels|levels do not match|histogram size|ColumnOrder|DELTA_|values in a block|decompression failed|Unexpected end of stream/;

function summary(column: Column): ReadColumn {
  if (column.refusal !== undefined) return { refused: column.refusal };
  if (column.type === "list") return { type: "list" };
  const values: Record<string, number> = {};
  let missing = 0;
  const often = new Array<number>(column.values.length).fill(0);
  for (const code of column.codes) {
    if (code < 0) missing += 1;
    else often[code] += 1;
  }
  column.values.forEach((value, i) => {
    values[canonical(value)] = (values[canonical(value)] ?? 0) + often[i];
  });
  // A date is text once it is a category.
  return { type: column.type === "date" ? "text" : column.type, missing, values };
}

/** Each record as zeros and ones over all labels. */
function joint(sides: Labels[]): Record<string, number> {
  const out: Record<string, number> = {};
  for (let record = 0; record < sides[0].codes.length; record += 1) {
    const key = sides
      .map(({ kind, categories, codes }) => (kind === "binary" ? String(codes[record]) : categories.map((_, i) => (codes[record] === i ? "1" : "0")).join("")))
      .join("");
    out[key] = (out[key] ?? 0) + 1;
  }
  return out;
}

describe("files", () => {
  it.each(cases.map((one): [string, Case] => [one.name, one]))("%s", async (name, one) => {
    const bytes = Uint8Array.from(Buffer.from(one.bytes, "base64"));
    const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
    const table = await tried(() => readTable(buffer, name));
    if (name.startsWith("damaged-") && UNCHECKED.test(JSON.stringify([one.columns, one.audit]))) return;
    if ("refused" in one.columns && typeof one.columns.refused === "string") {
      expect(table).toBeInstanceOf(Refused);
      expect(reason((table as Error).message)).toBe(reason(one.columns.refused));
    } else if (table instanceof Refused) {
      // Of a file that is damaged somewhere, Python reads the columns that are whole: here none is read.
      const texts = [...Object.values(one.columns as Record<string, ReadColumn>).map((column) => column.refused ?? ""), one.audit.refused ?? ""];
      expect(texts.map(reason)).toContain(reason(table.message));
    } else {
      for (const column of (table as Table).columns) {
        expect({ [column.name]: reasoned(summary(column)) }).toEqual({ [column.name]: reasoned((one.columns as Record<string, ReadColumn>)[column.name]) });
      }
      expect((table as Table).notes).toEqual(one.notes);
    }
    const wanted = [...one.roles.tasks, ...one.roles.task_predictions, ...one.roles.attributes];
    const roles = await tried(async () => rolesOf(await readTable(buffer, name, wanted), { ...one.roles, positive: null, confidence: 0.95, min_group: 30 }));
    if (one.audit.refused !== undefined) {
      expect(roles).toBeInstanceOf(Refused);
      expect(reason((roles as Error).message)).toBe(reason(one.audit.refused));
      return;
    }
    if (one.audit.beyond !== undefined) {
      expect(roles).toBeInstanceOf(Beyond);
      return;
    }
    if (roles instanceof Error) throw roles;
    expect(roles.records).toBe(one.audit.records);
    const said = ({ variable, kind, categories }: Labels): [string, string, string[]] => [variable, kind, kind === "binary" ? [] : categories];
    expect({ attributes: roles.attributes.map(said), tasks: roles.tasks.map(said) }).toEqual({ attributes: one.audit.labels?.attributes, tasks: one.audit.labels?.tasks });
    expect(joint([...roles.attributes, ...roles.tasks, ...roles.predictions])).toEqual(one.audit.joint);
  });
});

function reasoned(column: ReadColumn | undefined): ReadColumn | undefined {
  return column?.refused === undefined ? column : { refused: reason(column.refused) };
}
