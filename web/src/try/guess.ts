/** Guesses of which columns play which role, by names and values: shown to the user, who decides. */

import { canonical } from "./text";
import type { Choice, Column, Table } from "./types";

/** Names of protected attributes, of which those that come first are the more likely ones: in English, and in German, French, Spanish, Portuguese, Italian and Dutch without accents. */
const ATTRIBUTES = [
  /\b(gender|sex|geschlecht|sexe|genre|sexo|genero|sesso|genere|geslacht)\b/,
  /\b(race|ethnicity|ethnic|ethnic group|racial|ethnie|ethnizitat|raza|etnia|raca|razza|etniciteit)\b/,
  /\b(age group|age band|age cat|age category|age range|age bracket|agegroup|altersgruppe|tranche age|tranche d age|grupo de edad|faixa etaria|fascia di eta|leeftijdsgroep)\b/,
  /\b(nationality|origin|citizenship|migration|migrant|immigrant|native|country of birth|birth country|nationalitat|staatsangehorigkeit|herkunft|nationalite|origine|nacionalidad|origen|nacionalidade|origem|nazionalita|nationaliteit|herkomst)\b/,
  /\b(religion|disability|disabled|orientation|marital|marital status|pregnant|veteran|language|dialect|skin|skin tone|protected|sensitive|group|demographic|demographics|identity|gruppe|groupe|grupo|gruppo|groep|behinderung|handicap|discapacidad|deficiencia|disabilita)\b/,
  /\b(caste|tribe|region|minority|age)\b/,
];
/** What a name says that it is a prediction by, before or behind the name of the truth. */
const PREDICTED = /\b(pred|preds|predicted|prediction|predictions|predict|hat|said|guess|output|model|estimate|estimated|decision|decided|classified|scored|vorhersage|vorhergesagt|prognose|modell|entscheidung|prediction|predit|predite|modele|prevision|prediccion|predicho|modelo|predicao|previsto|previsao|predizione|previsione|modello|voorspelling|voorspeld)\b/;
const SCORED = /\b(score|scores|prob|probs|proba|probability|logit|decile|p|wahrscheinlichkeit|probabilite|probabilidad|probabilidade|probabilita|puntaje|kans)\b/;
const TRUTH = /\b(y|true|truth|label|labels|target|actual|outcome|gold|ground truth|groundtruth|class|observed|real|two year recid|recid|wahrheit|tatsachlich|ergebnis|ziel|verite|reel|cible|resultat|verdad|resultado|objetivo|verdade|alvo|verita|risultato|esito|waarheid|uitkomst)\b/;
/** More values than this are no groups that a table shows. */
const MOST_GROUPS = 50;
const MOST_CLASSES = 50;

export interface Guess extends Pick<Choice, "attributes" | "tasks" | "task_predictions"> {
  /** Why each column was taken, in words. */
  reasons: { column: string; text: string }[];
}

/** A name in small words: "isHired_pred2" is "is hired pred 2". */
function wordsOf(name: string): string {
  return name
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** A name without what says that it is the truth or a prediction. */
function stem(words: string): string {
  const bare = (pattern: RegExp): RegExp => new RegExp(pattern.source, "g");
  return words.replace(bare(PREDICTED), " ").replace(bare(SCORED), " ").replace(/\b(true|truth|actual|label|gold)\b/g, " ").replace(/\s+/g, " ").trim();
}

function fewValues(column: Column, most: number): boolean {
  return column.refusal === undefined && column.type !== "list" && column.values.length >= 2 && column.values.length <= most;
}

function isWhole(column: Column): boolean {
  return column.values.every((value) => typeof value !== "number" || Number.isInteger(value));
}

/** Whether the values of a prediction could be those of a truth: none is strange to it, or few are. */
function alike(truth: Column, said: Column): number {
  const known = new Set(truth.values.map(canonical));
  const shared = said.values.filter((value) => known.has(canonical(value))).length;
  return said.values.length ? shared / said.values.length : 0;
}

/** Guess the roles of the columns of a table. What cannot be guessed is left empty. */
export function guess(table: Table): Guess {
  const named = table.columns.map((column) => ({ column, words: wordsOf(column.name) }));
  const reasons: Guess["reasons"] = [];
  const pair = bestPair(named);
  const taken = new Set(pair?.columns);
  const groups = named
    .filter(({ column }) => !taken.has(column) && fewValues(column, MOST_GROUPS) && isWhole(column))
    .map(({ column, words }) => ({ column, rank: ATTRIBUTES.findIndex((pattern) => pattern.test(words)), said: PREDICTED.test(words) || SCORED.test(words) }))
    .filter(({ rank, said }) => rank >= 0 && !said)
    .sort((a, b) => a.rank - b.rank);
  // The likeliest kind of attribute, and the second where it is as plain.
  const attributes = groups.filter(({ rank }) => rank <= Math.max(groups[0]?.rank ?? 0, 2)).slice(0, 3);
  for (const { column } of attributes) reasons.push({ column: column.name, text: `its name is that of a protected attribute, and it has ${column.values.length} values` });
  if (pair) reasons.push(...pair.reasons);
  return {
    attributes: attributes.map(({ column }) => column.name),
    tasks: pair ? [pair.columns[0].name] : [],
    task_predictions: pair ? [pair.columns[1].name] : [],
    reasons,
  };
}

interface Pair {
  columns: [Column, Column];
  reasons: Guess["reasons"];
}

/** The truth and the prediction that fit each other best by name and by values. */
function bestPair(named: { column: Column; words: string }[]): Pair | null {
  let best: { pair: Pair; points: number } | null = null;
  for (const said of named) {
    if (!fewValues(said.column, MOST_CLASSES) || !isWhole(said.column)) continue;
    const predicted = PREDICTED.test(said.words);
    if (!predicted && !SCORED.test(said.words)) continue;
    for (const truth of named) {
      if (truth === said || !fewValues(truth.column, MOST_CLASSES) || !isWhole(truth.column)) continue;
      if (PREDICTED.test(truth.words) || SCORED.test(truth.words)) continue;
      const rank = ATTRIBUTES.findIndex((pattern) => pattern.test(truth.words));
      // Gender and race may be predicted, and are attributes all the same.
      if (rank >= 0 && rank < 2) continue;
      const shared = alike(truth.column, said.column);
      const related = stem(truth.words) !== "" && stem(truth.words) === stem(said.words);
      const labelled = TRUTH.test(truth.words);
      // Names that say so, on both sides, or values that are the same.
      const points = (predicted ? 2 : 0) + (related ? 4 : 0) + (labelled ? 2 : 0) + 3 * shared - (rank >= 0 ? 5 : 0);
      if (shared < 0.5 || (!related && !labelled && shared < 1)) continue;
      if (best === null || points > best.points) {
        const [task, prediction] = [truth.column.name, said.column.name];
        best = {
          points,
          pair: {
            columns: [truth.column, said.column],
            reasons: [
              { column: task, text: labelled ? "its name is that of a truth" : related ? `${prediction} is named after it` : `${prediction} has its values` },
              { column: prediction, text: predicted ? "its name is that of a prediction" : "its name is that of a score, and it has the values of the truth" },
            ],
          },
        };
      }
    }
  }
  return best?.pair ?? null;
}
