/** Names that are near to another one, as Python's difflib finds them. */

/** How alike two texts are, of 1: twice the characters in matching blocks over all characters. */
export function ratio(a: string[], b: string[]): number {
  return a.length + b.length ? (2 * matching(a, b, places(b), 0, a.length, 0, b.length)) / (a.length + b.length) : 1;
}

/** Where each character stands; of long texts those that come often are left out. */
function places(text: string[]): Map<string, number[]> {
  const out = new Map<string, number[]>();
  text.forEach((one, i) => out.set(one, [...(out.get(one) ?? []), i]));
  const often = Math.floor(text.length / 100) + 1;
  if (text.length >= 200) for (const [one, held] of out) if (held.length > often) out.delete(one);
  return out;
}

function matching(a: string[], b: string[], held: Map<string, number[]>, a0: number, a1: number, b0: number, b1: number): number {
  let [bestA, bestB, size] = [a0, b0, 0];
  let lengths = new Map<number, number>();
  for (let i = a0; i < a1; i += 1) {
    const next = new Map<number, number>();
    for (const j of held.get(a[i]) ?? []) {
      if (j < b0 || j >= b1) continue;
      const length = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, length);
      if (length > size) [bestA, bestB, size] = [i - length + 1, j - length + 1, length];
    }
    lengths = next;
  }
  while (bestA > a0 && bestB > b0 && a[bestA - 1] === b[bestB - 1]) [bestA, bestB, size] = [bestA - 1, bestB - 1, size + 1];
  while (bestA + size < a1 && bestB + size < b1 && a[bestA + size] === b[bestB + size]) size += 1;
  if (!size) return 0;
  return size + matching(a, b, held, a0, bestA, b0, bestB) + matching(a, b, held, bestA + size, a1, bestB + size, b1);
}

/** The three nearest of some names, best first. */
export function nearest(word: string, names: string[]): string[] {
  return names
    .map((name): [number, string] => [ratio([...name], [...word]), name])
    .filter(([alike]) => alike >= 0.5)
    .sort(([x, a], [y, b]) => y - x || (a < b ? 1 : -1))
    .slice(0, 3)
    .map(([, name]) => name);
}
