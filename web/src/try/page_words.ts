/** Messages of the Python package in the words of the page: what Python calls arguments are headings here. What stands in quotes is a column or a value of the reader's. */
const WORDS: [RegExp, string][] = [
  [/(?<!['"\w])task_predictions(?!['"\w])/g, "prediction"],
  [/(?<!['"\w])tasks(?= (?:column|has|holds|and|is|takes))/g, "truth"],
  [/(?<!['"\w])attributes(?= (?:column|has|holds|and|is|takes|both))/g, "groups"],
];

export function inPageWords(message: string): string {
  return WORDS.reduce((text, [name, word]) => text.replace(name, word), message);
}
