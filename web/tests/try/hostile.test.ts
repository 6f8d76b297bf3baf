/** Files that are large, odd or made to do harm: each is read or refused, in words. */
import { describe, expect, it } from "vitest";

import { rolesOf } from "../../src/try/door";
import { readHead, readTable } from "../../src/try/read";
import { Beyond, Refused } from "../../src/try/types";

const bytes = (text: string): ArrayBuffer => new TextEncoder().encode(text).buffer as ArrayBuffer;
const choice = { attributes: ["g"], tasks: ["t"], task_predictions: ["p"], positive: null, confidence: 0.95, min_group: 30 };

async function refusal(made: Promise<unknown>): Promise<Error> {
  const found = await made.catch((error: unknown) => error);
  expect(found).toBeInstanceOf(Refused);
  return found as Error;
}

describe("hostile files", () => {
  it("refuses a line that does not end", async () => {
    for (const text of ["x".repeat(40 << 20), `g,t,p\n${"x".repeat(40 << 20)}`, `g,t,p\nw,1,1\n"${"x".repeat(40 << 20)}`]) {
      expect((await refusal(readTable(bytes(text), "line.csv"))).message).toMatch(/does not end within 16 MB/);
    }
  }, 30_000);

  it("refuses more bytes than it reads, without reading them", async () => {
    const large = { size: 3e9, arrayBuffer: () => Promise.reject(new Error("read")) } as unknown as Blob;
    const found = await refusal(readTable(large, "large.csv"));
    expect(found).toBeInstanceOf(Beyond);
    expect(found.message).toContain("3,000 MB, and this page reads 500 MB at most");
  });

  it("refuses ten thousand columns, and reads three of them", async () => {
    const names = ["g", "t", "p", ...Array.from({ length: 10_000 }, (_, i) => `c${i}`)];
    const row = (values: string): string => `${values},${"1,".repeat(9_999)}1`;
    const file = bytes([names.join(","), row("w,1,1"), row("m,0,0"), row("w,1,0")].join("\n"));
    expect(await refusal(readHead(file, "wide.csv"))).toBeInstanceOf(Beyond);
    expect((await refusal(readHead(file, "wide.csv"))).message).toContain("10,003 columns");
    expect(rolesOf(await readTable(file, "wide.csv", ["t", "p", "g"]), choice).records).toBe(3);
  });

  it("refuses what is no text and no Parquet", async () => {
    await refusal(readTable(new ArrayBuffer(4096), "nulls.csv"));
    await refusal(readTable(new ArrayBuffer(4096), "nulls.parquet"));
    await refusal(readTable(bytes(`PAR1${"\0".repeat(50)}PAR1`), "short.parquet"));
    const length = new Uint8Array(bytes(`PAR1${"\x15".repeat(50)}\x32\0\0\0PAR1`));
    await refusal(readTable(length.buffer as ArrayBuffer, "footer.parquet"));
  });

  it("names the formats that the full audit reads", async () => {
    expect(await refusal(readTable(bytes("x"), "a.xlsx"))).toBeInstanceOf(Beyond);
    expect(await refusal(readTable(bytes("x"), "a.csv.gz"))).toBeInstanceOf(Beyond);
    expect(await refusal(readTable(bytes("x"), "a.docx"))).not.toBeInstanceOf(Beyond);
    expect((await refusal(readTable(bytes("x"), "a.constructor"))).message).toMatch(/^'a.constructor' is of no format that is read/);
  });

  it("holds marks of direction and line breaks as text in messages", async () => {
    const table = await readTable(bytes("g,t,p\nw,a,a\u202e\nm,b,b\nw,a,b\n"), "marks.csv");
    expect(() => rolesOf(table, choice)).toThrow("\\u202e");
  });
});

describe("choices", () => {
  it("refuses levels and sizes that are none", async () => {
    const table = await readTable(bytes("g,t,p\nw,1,1\nm,0,0\n"), "t.csv");
    expect(() => rolesOf(table, { ...choice, confidence: 1.5 })).toThrow("confidence is 1.5; it must lie strictly between 0 and 1, such as 0.95");
    expect(() => rolesOf(table, { ...choice, min_group: -1 })).toThrow("min_group is -1; a whole number of 0 or more is needed");
    expect(() => rolesOf(table, { ...choice, attributes: [] })).toThrow("attributes must be a column name");
    expect(() => rolesOf(table, { ...choice, task_predictions: [] })).toThrow("neither task_predictions nor attribute_predictions is given");
  });
});

describe("large files", () => {
  const pad = "x".repeat(150);
  const many = 118_000;
  const made = (g: (i: number) => unknown, t: (i: number) => unknown): ArrayBuffer =>
    bytes(`g,t,p,pad\n${Array.from({ length: many }, (_, i) => `${g(i)},${t(i)},${i % 2},${pad}\n`).join("")}`);
  const group = (i: number): string => "wm"[i % 2];

  it("decides on types by the first 16 MB, and by all rows where later ones do not fit", async () => {
    const day = (i: number): string => (i % 2 ? "2020-01-01 12" : "2020-01-02 13");
    const read = async (file: ArrayBuffer) => (await readTable(file, "late.csv", ["g", "t"])).columns.map(({ type, values }) => [type, values]);
    expect(await read(made(group, (i) => (i === many - 1 ? "1.0" : i % 2)))).toEqual([["text", ["w", "m"]], ["float", [0, 1]]]);
    expect(await read(made(group, (i) => (i > many - 9 ? " 1" : i % 2)))).toEqual([["text", ["w", "m"]], ["integer", [0, 1]]]);
    expect(await read(made(group, (i) => (i > many - 9 ? "true" : i % 2)))).toEqual([["text", ["w", "m"]], ["boolean", [false, true]]]);
    expect(await read(made(group, day))).toEqual([["text", ["w", "m"]], ["date", ["2020-01-02T13:00:00", "2020-01-01T12:00:00"]]]);
    // A column of dates is text as written where another column has to be looked at again.
    expect(await read(made((i) => (i > many - 5 ? 1.5 : i % 2), day))).toEqual([["float", [0, 1, 1.5]], ["text", ["2020-01-02 13", "2020-01-01 12"]]]);
  }, 60_000);

  it("reads the first records of a file that is cut within a row", async () => {
    const long = "y".repeat(4_000);
    const file = new Blob([`g,t,p\n${`w,1,"${long}"\nm,0,é\n`.repeat(10_000)}`]);
    const head = await readHead(file, "long.csv");
    expect(head.records).toBeGreaterThan(10_000);
    expect(head.columns.map((column) => column.name)).toEqual(["g", "t", "p"]);
  }, 60_000);
});
