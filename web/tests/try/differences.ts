/** Where a page that was made here differs from Python's. */

// Ends of intervals, p, q and what is drawn; all other figures are equal to the last bit.
const CLOSE = /(^|_)(low|high)$|^(interval|crossfit_interval|clear_interval|bounds|p|q|sign_p|expected|quantile)$/;
export const RELATIVE = 1e-10;
const TINY = 1e-14;
const NOT_COMPARED = new Set(["fingerprint", "provenance"]);

export function differences(mine: unknown, theirs: unknown, place: string, close: boolean, out: string[]): void {
  if (out.length > 12) return;
  if (typeof mine === "number" && typeof theirs === "number") {
    const same = close ? Math.abs(mine - theirs) <= RELATIVE * Math.max(Math.abs(mine), Math.abs(theirs)) + TINY : mine === theirs;
    if (!same) out.push(`${place}: ${mine} is not ${theirs}`);
  } else if (Array.isArray(mine) && Array.isArray(theirs)) {
    if (mine.length !== theirs.length) out.push(`${place}: ${mine.length} items are not ${theirs.length}`);
    mine.forEach((item, i) => differences(item, theirs[i], `${place}/${i}`, close, out));
  } else if (mine && theirs && typeof mine === "object" && typeof theirs === "object") {
    const [one, two] = [mine as Record<string, unknown>, theirs as Record<string, unknown>];
    for (const key of new Set([...Object.keys(one), ...Object.keys(two)])) {
      if (NOT_COMPARED.has(key)) continue;
      if (!(key in one) || !(key in two)) out.push(`${place}/${key} is only ${key in one ? "here" : "in Python"}: ${JSON.stringify(one[key] ?? two[key])?.slice(0, 200)}`);
      else differences(one[key], two[key], `${place}/${key}`, close || CLOSE.test(key), out);
    }
  } else if (mine !== theirs) out.push(`${place}: ${JSON.stringify(mine)} is not ${JSON.stringify(theirs)}`);
}
