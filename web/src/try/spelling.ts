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
const CODES = new Set(["-9", "-99", "-999", "-9999", "99", "999", "9999"]);
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
  let bare = casefold(visible(unescaped(category)).normalize("NFKD"));
  if (!isAscii(bare)) bare = [...bare].filter((one) => !combines(one)).join("");
  const number = asFloat(bare);
  if (number !== null) return Number.isInteger(number) ? BigInt(number).toString() : repr(number);
  const wrapped = WRAPPED.exec(strip(bare));
  const short = (wrapped ? wrapped[1] : bare).replace(BLANKS, "");
  return (WORDS.get(short) ?? short) || bare;
}

/** A spelling that one value shares with itself written carelessly, within one column. */
export function plain(category: string): string {
  const text = words(casefold(visible(unescaped(category)).normalize("NFKC"))).join(" ");
  const whole = WHOLE.exec(text);
  return whole ? whole[1] : text;
}

/** The first of some strange values that is another spelling of a known one, with that one. */
export function respelled(strange: string[], known: string[], beside: Iterable<string> = []): [string, string] | null {
  const others = new Set(beside);
  const all = [...strange, ...known, ...others];
  const yesNo = all.every((one) => ["0", "1"].includes(WORDS.get(plain(one)) ?? plain(one)));
  const key = (category: string): string => {
    const short = casefold(strip(visible(category)));
    return [...short].length === 1 && isAlpha(short) && !yesNo ? short : folded(category);
  };
  const spelled = new Map([...known].reverse().map((category) => [key(category), category]));
  for (const value of strange) {
    const held = spelled.get(key(value));
    if (held !== undefined && !(others.has(held) && toldByDigits(value, held))) return [value, held];
  }
  return null;
}

/** Whether values differ in digits or accents alone, which may tell two values apart. */
function toldByDigits(one: string, two: string): boolean {
  if (isNumeral(one) && isNumeral(two)) return (one + two).includes(".") && plain(one) !== plain(two);
  const accents = [...(one + two).normalize("NFD")].some(combines);
  return accents && plain(one).normalize("NFC") !== plain(two).normalize("NFC");
}

/** Two values of one column that are one value in two spellings. */
export function spelledTwice(categories: string[]): [string, string] | null {
  const plainly = categories.map(plain);
  const said = plainly.map((text) => WORDS.get(text) ?? text);
  // Only where all values say yes or no is a second word for yes the same value.
  const keys = said.every((word) => word === "0" || word === "1") ? said : plainly;
  const first = new Map<string, string>();
  for (const [i, category] of categories.entries()) {
    const held = first.get(keys[i]);
    if (held !== undefined) return [held, category];
    first.set(keys[i], category);
  }
  return abbreviated(categories);
}

/** A word and its first letter, where a column has both for several words: M and F beside male and female. */
function abbreviated(categories: string[]): [string, string] | null {
  const length = (text: string): number => [...text].length;
  const letters = categories.filter((one) => length(one) === 1 && isAlpha(one));
  const long = categories.filter((one) => length(one) > 2 && isAlpha(one) && [...one].slice(1).join("") === [...one].slice(1).join("").toLowerCase());
  const short = letters.map((letter) => long.filter((word) => casefold(word).startsWith(casefold(letter))));
  if (letters.length < 2 || short.some((held) => held.length !== 1)) return null;
  return [letters[0], short[0][0]];
}

/** Whether text is what tools write for a missing value, or blank. */
export function saysMissing(category: string): boolean {
  const text = strip(visible(unescaped(category)));
  return NULLS.has(category) || TEXT_OF_NONE.has(category) || NOTHING.has(casefold(text)) || text === "";
}

/** The number that stands for a missing value among some of one digit, such as 99 among 0 and 1. */
export function codeOfMissing(categories: string[]): string | null {
  const found = categories.filter((one) => CODES.has(one));
  const others = categories.filter((one) => !CODES.has(one));
  return found.length === 1 && others.length > 0 && others.every((one) => /^[0-9]$/.test(one)) ? found[0] : null;
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
