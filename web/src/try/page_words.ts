/** Messages of the Python package in the words of the page: what Python calls arguments are headings here. What stands in quotes is a column or a value of the reader's. */
const WORDS: [RegExp, string][] = [
  [/^attributes has(?= )/, "groups have"],
  [/(?<!['"\w])task_predictions(?!['"\w])/g, "prediction"],
  [/(?<!['"\w])tasks(?= (?:column|has|holds|and|is|takes))/g, "truth"],
  [/(?<!['"\w])attributes(?= (?:column|has|holds|and|is|takes|both))/g, "groups"],
];

export function inPageWords(message: string): string {
  const said = WORDS.reduce((text, [name, word]) => text.replace(name, word), message);
  // What was an argument begins a sentence now.
  return said === message ? said : said.replace(/^(?:groups|truth|prediction)\b/, (word) => word[0].toUpperCase() + word.slice(1));
}
