/** What is shown as CSV or JSON. Text that a spreadsheet would take for a formula gets an apostrophe. */
import { h } from "../dom";

// A cell that begins so is a formula to a spreadsheet. The full-width and small forms count too, and so does what stands behind
// blanks and characters that nobody sees, which some programs drop.
const FORMULA = /^(?:[\t\r\n]|[\s\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]*[=+\-@＝＋－＠﹦﹢﹣﹫−])/u;

export function safeText(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** One field: numbers to their last digit, nothing for what is undefined, quotes where CSV needs them. */
export function field(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") {
    if (Number.isNaN(value)) return "";
    return Number.isFinite(value) ? String(value) : value > 0 ? "inf" : "-inf";
  }
  if (typeof value === "boolean") return String(value);
  const text = safeText(String(value));
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function csv(columns: string[], rows: unknown[][]): string {
  return [columns, ...rows].map((row) => row.map(field).join(",")).join("\r\n") + "\r\n";
}

/** JSON has no NaN or infinity: null, "inf" and "-inf". */
export function json(columns: string[], rows: unknown[][], about: object): string {
  const plain = (value: unknown) => (typeof value !== "number" || Number.isFinite(value) ? value : Number.isNaN(value) ? null : value > 0 ? "inf" : "-inf");
  return JSON.stringify({ ...about, rows: rows.map((row) => Object.fromEntries(row.map((value, i) => [columns[i], plain(value)]))) }, null, 1);
}

export function save(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
