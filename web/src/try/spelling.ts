/** Spellings: when two texts are one value written in two ways. */

import { NULLS } from "./csv_types";
import { ENTITIES, WITHOUT_SEMICOLON } from "./entities";
import { asFloat, quoted, repr, strip, words } from "./text";

/** Words by which tools write true and false. */
const WORDS = new Map([...["true", "yes", "y", "t"].map((word) => [word, "1"]), ...["false", "no", "n", "f"].map((word) => [word, "0"])] as [string, string][]);
/** Missing values of Python and pandas that were made text. */
const TEXT_OF_NONE = new Set(["None", "NaT"]);
/** What people and tools write for nothing, in any case. */
const NOTHING = new Set([
  ...["nan", "null", "na", "n/a", "n.a.", "#n/a", "<na>", "<nan>", "<null>", "<none>", "<missing>"],
  ...["(null)", "(missing)", "#value!", "#ref!", "#div/0!", "#name?"],
  ...["?", "??", "???", "-", "--", "---", ".", "..", "..."],
]);
/** Words for what is not known: a value like others, unless only the truth has it. */
const NOT_KNOWN = new Set([
  ...["unknown", "missing", "undefined", "unlabeled", "unlabelled", "unspecified", "unavailable"],
  ...["notavailable", "notknown", "notrecorded", "notlabeled", "notlabelled", "notapplicable"],
]);
/** Numbers that surveys write for a missing answer, where all others are of one digit. */
const CODES = new Set(["-9", "-99", "-100", "-999", "-9999", "99", "255", "999", "9999"]);
/** A mask of 0 and 255 has no third value; where 255 is that, it marks what is not labelled. */
const MASK = "255";
/** Numbers that are filled in where several words are missing. */
const FILLED_IN = new Set([...CODES, "0", "-1", "9"]);
const PYTHON_BLANK = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const BLANKS = new RegExp(`[${PYTHON_BLANK}_.'"\`’]+|-(?=[\\p{L}\\p{N}_])`, "gu");
const WRAPPED = /^[*[({<"'`~#]+(.*?)[*\])}>"'`~#]+$/u;
const WHOLE = /^([+-]?\p{Nd}+)\.0+$/u;
/** Letters of Cyrillic and Greek that look like Latin ones. */
const DOUBLES = "АВЕЅІЈКМНОРСТУХаеѕіјорсухԁһΑΒΕΖΗΙΚΜΝΟΡΤΥΧονυιαρ";
const LATIN = "ABESIJKMHOPCTYXaesijopcyxdhABEZHIKMNOPTYXovuiap";
const LOOK_ALIKES = new Map([...DOUBLES].map((letter, i) => [letter, LATIN[i]]));
const SHOWN = 5;

// eslint-disable-next-line no-control-regex
const isAscii = (text: string): boolean => /^[\x00-\x7f]*$/.test(text);
const isAlpha = (text: string): boolean => /^\p{L}+$/u.test(text);

/** Text without case, as str.casefold() gives it. */
export function casefold(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  return [...text]
    .map((one) => {
      if (one === "ı") return one;
      if (/[\u13a0-\u13fd\uab70-\uabbf]/.test(one)) return one.toUpperCase();
      return one.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ");
    })
    .join("");
}

/** Whether a character is an accent: whether it is sorted behind or before another one. */
function combines(character: string): boolean {
  return character === "\u0345" || `\u0345${character}`.normalize("NFD") !== `\u0345${character.normalize("NFD")}`;
}

/** The character of a name; AMP, COPY, GT, LT, QUOT and REG are known in capitals too. */
function character(name: string): string {
  return ENTITIES.get(name) ?? ENTITIES.get(name.toLowerCase()) ?? "";
}

/** Text with the names of characters in HTML 4 as these. */
function unescaped(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(#[0-9]+;?|#[xX][0-9a-fA-F]+;?|[^\t\n\f <&#;]{1,32};?)/gu, (whole, name: string) => {
    if (name.startsWith("#")) {
      const digits = name.replace(";", "").slice(1);
      const code = /^[xX]/.test(digits) ? parseInt(digits.slice(1), 16) : parseInt(digits, 10);
      if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000) || code === 0) return "\ufffd";
      return String.fromCodePoint(code);
    }
    const bare = name.replace(";", "");
    if (name.endsWith(";") ? ENTITIES.has(bare) || WITHOUT_SEMICOLON.has(bare) : WITHOUT_SEMICOLON.has(name)) return character(bare);
    for (let length = name.length - 1; length > 1; length -= 1) {
      const start = name.slice(0, length);
      if (WITHOUT_SEMICOLON.has(start)) return character(start) + name.slice(length);
    }
    return whole;
  });
}

/** Text without invisible characters, dashes as hyphens, and letters that look like Latin ones as these. */
function visible(text: string): string {
  if (isAscii(text)) return text;
  const out = [...text]
    .filter((one) => !/[\p{Cf}\ufe00-\ufe0f]/u.test(one))
    .map((one) => (/\p{Pd}/u.test(one) || one === "\u2212" ? "-" : one));
  // A word of another alphabet stays one, unless each of its letters has a double: it is compared with others like it.
  const letters = out.filter((one) => isAlpha(one) && !isAscii(one));
  const latin = out.some((one) => isAlpha(one) && isAscii(one));
  if (latin || letters.every((one) => LOOK_ALIKES.has(one))) return out.map((one) => LOOK_ALIKES.get(one) ?? one).join("");
  return out.join("");
}

/** A spelling that different ways to write one value share. */
export function folded(category: string): string {
  // Digits of any length: a float would not tell long numbers apart.
  if (/^[0-9]+$/.test(category)) return category.replace(/^0+(?=[0-9])/, "");
  let bare = casefold(visible(unescaped(category)).normalize("NFKD"));
  if (!isAscii(bare)) bare = [...bare].filter((one) => !combines(one)).join("");
  const number = asFloat(bare);
  if (number !== null) return Number.isInteger(number) ? BigInt(number).toString() : repr(number);
  const wrapped = WRAPPED.exec(strip(bare));
  const short = (wrapped ? wrapped[1] : bare).replace(BLANKS, "");
  return (WORDS.get(short) ?? short) || bare;
}

/** A number as it is written, or text without case and blanks around it: what tells two decimals of one column apart. */
export function plain(category: string): string {
  const text = words(casefold(visible(unescaped(category)).normalize("NFKC"))).join(" ");
  const whole = WHOLE.exec(text);
  return whole ? whole[1] : text;
}

/** The first of some strange values that is another spelling of a known one, with that one; `beside` stand in the same column. */
export function respelled(strange: string[], known: string[], beside: Iterable<string> = []): [string, string] | null {
  const others = new Set(beside);
  const held = [...new Set([...strange, ...known, ...others])];
  const letters = !held.every((one) => ["0", "1"].includes(WORDS.get(plain(one)) ?? plain(one)));
  const spelled = new Map<string, string[]>();
  for (const category of known) {
    const mine = key(category, letters);
    const there = spelled.get(mine);
    if (there) there.push(category);
    else spelled.set(mine, [category]);
  }
  for (const value of strange) {
    for (const other of spelled.get(key(value, letters)) ?? []) {
      if (value !== other && !(others.has(other) && toldByZeros(value, other))) return [value, other];
    }
  }
  return abbreviated(strange, known, held);
}

/** What spellings of a value share, where single letters are values of their own or, without `letters`, yes and no. */
function key(category: string, letters: boolean): string {
  const short = casefold(strip(visible(category)));
  return letters && [...short].length === 1 && isAlpha(short) ? short : folded(category);
}

/** Whether values are decimals that differ in the zeros at their end, which may be codes: not 1 and 1.0. */
function toldByZeros(one: string, two: string): boolean {
  return isNumeral(one) && isNumeral(two) && (one + two).includes(".") && plain(one) !== plain(two);
}

/** A word and its first letter, one of them strange, where several letters stand for words: M and F beside male and female. */
function abbreviated(strange: string[], known: string[], held: string[]): [string, string] | null {
  const length = (text: string): number => [...text].length;
  const rest = (text: string): string => [...text].slice(1).join("");
  const letters = held.filter((one) => length(one) === 1 && isAlpha(one));
  const long = held.filter((one) => length(one) > 2 && isAlpha(one) && rest(one) === rest(one).toLowerCase());
  const short = new Map<string, string>();
  for (const letter of letters) {
    const found = long.filter((word) => casefold(word).startsWith(casefold(letter)));
    if (found.length === 1) short.set(letter, found[0]);
  }
  if (short.size < 2 || !(short.size === letters.length || new Set(short.values()).size === long.length)) return null;
  for (const [letter, word] of short) {
    if (strange.includes(letter) && known.includes(word)) return [letter, word];
    if (strange.includes(word) && known.includes(letter)) return [word, letter];
  }
  return null;
}

/** Two values of one column that are one value in two spellings. */
export function spelledTwice(categories: string[]): [string, string] | null {
  const twice = respelled(categories, categories, categories);
  if (twice === null || categories.indexOf(twice[0]) < categories.indexOf(twice[1])) return twice;
  return [twice[1], twice[0]];
}

/** Whether text is what tools write for a missing value, or blank. */
export function saysMissing(category: string): boolean {
  const text = strip(visible(unescaped(category)));
  return NULLS.has(category) || TEXT_OF_NONE.has(category) || NOTHING.has(casefold(text)) || text === "";
}

/** The number that stands for a missing value among some of one digit, such as 99 among 0 and 1, or among words. */
export function codeOfMissing(categories: string[]): string | null {
  for (const [codes, like] of [[CODES, isDigit], [FILLED_IN, isWord]] as const) {
    const found = categories.filter((one) => codes.has(one));
    const others = categories.filter((one) => !codes.has(one));
    const least = codes === FILLED_IN || found[0] === MASK ? 2 : 1;
    if (found.length === 1 && others.length >= least && others.every(like)) return found[0];
  }
  return null;
}

function isDigit(category: string): boolean {
  return /^[0-9]$/.test(category);
}

/** Whether text is of words alone: letters, and blanks or signs between them. */
function isWord(category: string): boolean {
  return [...category].length > 2 && /^\p{L}/u.test(category) && !/\p{Nd}/u.test(category);
}

/** Whether text says that a value is not known. */
export function saysUnknown(category: string): boolean {
  return NOT_KNOWN.has(folded(category));
}

/** Whether text is a number. */
export function isNumeral(category: string): boolean {
  return asFloat(category) !== null;
}

/** Two texts in quotes; where they look alike, with the characters that tell them apart. */
export function toldApart(first: string, second: string): [string, string] {
  const alike = visible(first).normalize("NFKC") === visible(second).normalize("NFKC");
  if (!alike || (isAscii(first) && isAscii(second))) return [quoted(first), quoted(second)];
  return [`${quoted(first)} (${codePoints(first)})`, `${quoted(second)} (${codePoints(second)})`];
}

function codePoints(text: string): string {
  const strange = [...new Set(text)].filter((one) => !isAscii(one)).map((one) => `U+${(one.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, "0")}`);
  return strange.length ? `with ${strange.slice(0, SHOWN).join(" ")}` : "ASCII only";
}
