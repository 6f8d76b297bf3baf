/** Real data to try the page with: graduate admissions at Berkeley, autumn 1973, the six largest departments.
 *
 * Bickel, Hammel and O'Connell (1975), Science 187, 398-404. The predictions are those of `biasamp demo`: a logistic
 * regression on department and gender, which admits whoever applied to the departments A and B.
 */

// Department, men admitted, men rejected, women admitted, women rejected.
const COUNTS: [string, number, number, number, number][] = [
  ["A", 512, 313, 89, 19],
  ["B", 353, 207, 17, 8],
  ["C", 120, 205, 202, 391],
  ["D", 138, 279, 131, 244],
  ["E", 53, 138, 94, 299],
  ["F", 22, 351, 24, 317],
];
const PREDICTED = new Set(["A", "B"]);

/** The 4,526 applicants as a CSV file. */
export function exampleFile(): File {
  const lines = ["department,gender,admitted,admitted_pred\n"];
  for (const [department, ...counts] of COUNTS)
    counts.forEach((records, cell) =>
      lines.push(`${department},${cell < 2 ? "man" : "woman"},${cell % 2 === 0 ? 1 : 0},${PREDICTED.has(department) ? 1 : 0}\n`.repeat(records)));
  return new File(lines, "berkeley.csv", { type: "text/csv" });
}
