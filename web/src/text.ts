/** Labels and column names are text from strangers: one harmless line, with what cannot be seen made visible. */

// Control characters, line and paragraph separators, direction marks and other invisible format characters,
// private use, lone surrogates.
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}]/gu;

function escaped(character: string): string {
  const code = character.codePointAt(0)!;
  if (code === 10) return "\\n";
  if (code === 13) return "\\r";
  if (code === 9) return "\\t";
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, "0")}`;
  return `\\U${code.toString(16).padStart(8, "0")}`;
}

/** Text on one line, cut after `limit` characters. */
export function printable(text: string, limit = 60): string {
  let cut = text;
  if (text.length > limit) {
    const characters = Array.from(text.slice(0, 2 * limit + 2));
    if (characters.length > limit) cut = characters.slice(0, limit - 1).join("") + "…";
  }
  return cut.replace(INVISIBLE, escaped);
}

/** Sentences may run long, and keep their letters, but never their control characters. */
export function sentence(text: string): string {
  return printable(text, 4000);
}
