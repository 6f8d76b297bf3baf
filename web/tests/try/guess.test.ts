/** Guesses of roles: by names that data sets have, and none where names say nothing. */
import { describe, expect, it } from "vitest";

import { guess } from "../../src/try/guess";
import { readCsv } from "../../src/try/read_csv";

/** A table whose columns have the values that stand behind their names. */
function table(columns: Record<string, (string | number)[]>) {
  const names = Object.keys(columns);
  const rows = Array.from({ length: 60 }, (_, i) => names.map((name) => columns[name][i % columns[name].length]).join(","));
  return readCsv(new TextEncoder().encode([names.join(","), ...rows].join("\n")), "t.csv");
}

const bits = [0, 1, 1];
const said = [0, 1, 1, 0];
const sex = ["w", "m"];
const ids = Array.from({ length: 60 }, (_, i) => i);

const CASES: [string, Record<string, (string | number)[]>, string[], string[], string[]][] = [
  ["a truth and its prediction", { id: ids, gender: sex, hired: bits, hired_pred: said }, ["gender"], ["hired"], ["hired_pred"]],
  ["y and y_pred", { Sex: sex, y: bits, y_pred: said }, ["Sex"], ["y"], ["y_pred"]],
  ["y_true and y_pred", { race: ["a", "b", "c"], y_true: bits, y_pred: said }, ["race"], ["y_true"], ["y_pred"]],
  ["label and prediction", { ethnicity: sex, label: bits, prediction: said }, ["ethnicity"], ["label"], ["prediction"]],
  ["two attributes", { gender: sex, age_group: ["young", "old", "mid"], target: bits, predicted: said }, ["gender", "age_group"], ["target"], ["predicted"]],
  ["names in one word", { applicantGender: sex, isHired: bits, isHiredPredicted: said }, ["applicantGender"], ["isHired"], ["isHiredPredicted"]],
  ["a score that is no decision", { sex, two_year_recid: bits, decile_score: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], decision: said }, ["sex"], ["two_year_recid"], ["decision"]],
  ["probabilities are not guessed", { sex, hired: bits, hired_prob: [0.1, 0.7, 0.9] }, ["sex"], [], []],
  ["names that say nothing", { a: sex, b: bits, c: said }, [], [], []],
  ["German", { Geschlecht: sex, Kreditwürdig: bits, Kreditwürdig_Vorhersage: said }, ["Geschlecht"], ["Kreditwürdig"], ["Kreditwürdig_Vorhersage"]],
  ["French", { sexe: sex, vérité: bits, prédiction: said }, ["sexe"], ["vérité"], ["prédiction"]],
  ["Spanish", { Género: sex, contratado: bits, contratado_predicción: said }, ["Género"], ["contratado"], ["contratado_predicción"]],
  ["an age in years is no group", { age: ids, outcome: bits, model: said }, [], ["outcome"], ["model"]],
  ["a predicted attribute is no attribute", { gender: sex, gender_pred: sex, label: bits, label_pred: said }, ["gender"], ["label"], ["label_pred"]],
];

describe("guesses", () => {
  it.each(CASES)("%s", (_, columns, attributes, tasks, predictions) => {
    const found = guess(table(columns));
    expect({ attributes: found.attributes, tasks: found.tasks, predictions: found.task_predictions }).toEqual({ attributes, tasks, predictions });
    // Every guess is shown with its reason.
    expect(new Set(found.reasons.map((reason) => reason.column))).toEqual(new Set([...attributes, ...tasks, ...predictions]));
  });
});
