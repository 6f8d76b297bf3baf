/** A record's bag: 64-bit hashes of its row, as two halves of 32 bits each. */

const GOLDEN = [0x9e3779b9, 0x7f4a7c15] as const;
const FIRST = [0xbf58476d, 0x1ce4e5b9] as const;
const SECOND = [0x94d049bb, 0x133111eb] as const;
const BAG = [0x2545f491, 0x4f6cdd1d] as const;
const HALF = [0x5851f42d, 0x4c957f2d] as const;

// The upper and the lower half of the last hash.
let high = 0;
let low = 0;

function times(b: readonly [number, number]): void {
  const [a1, a0] = [low >>> 16, low & 0xffff];
  const [b1, b0] = [b[1] >>> 16, b[1] & 0xffff];
  const first = a0 * b0;
  const second = a1 * b0 + (first >>> 16);
  const third = a0 * b1 + (second & 0xffff);
  const carried = a1 * b1 + Math.floor(second / 0x10000) + Math.floor(third / 0x10000);
  high = (carried + Math.imul(low, b[0]) + Math.imul(high, b[1])) >>> 0;
  low = (((third & 0xffff) << 16) | (first & 0xffff)) >>> 0;
}

function shiftXor(bits: number): void {
  const l = ((low >>> bits) | (high << (32 - bits))) >>> 0;
  const h = high >>> bits;
  high = (high ^ h) >>> 0;
  low = (low ^ l) >>> 0;
}

/** Spread the 64 bits that `high` and `low` hold over all 64 bits (the finalizer of SplitMix64). */
function mix(h: number, l: number): void {
  const sum = l + GOLDEN[1];
  low = sum >>> 0;
  high = (h + GOLDEN[0] + (sum > 0xffffffff ? 1 : 0)) >>> 0;
  shiftXor(30);
  times(FIRST);
  shiftXor(27);
  times(SECOND);
  shiftXor(31);
}

const MOST_BAGS = 4096;
const FEWEST_BAGS = 256;
const MOST_CELLS = 1 << 22;

/** How many bags the counts of so many pairs are kept for; 0 where they are too many. */
export function bagsFor(pairs: number): number {
  let bags = MOST_BAGS;
  while (bags * pairs > MOST_CELLS) bags /= 2;
  return bags >= FEWEST_BAGS ? bags : 0;
}

/** The bag of every record, by its row. */
export function bagsOf(records: number, bags: number): Uint16Array {
  mix(0, 0);
  mix((high ^ HALF[0]) >>> 0, (low ^ HALF[1]) >>> 0);
  const stream = [high, low] as const;
  const out = new Uint16Array(records);
  const shift = 32 - Math.log2(bags) + 1;
  for (let row = 0; row < records; row++) {
    mix(0, row);
    const [h, l] = [high, low];
    mix((h ^ stream[0]) >>> 0, (l ^ stream[1]) >>> 0);
    const half = high >>> 31 ? bags / 2 : 0;
    mix((h ^ BAG[0]) >>> 0, (l ^ BAG[1]) >>> 0);
    out[row] = half + (high >>> shift);
  }
  return out;
}

/** The chances of numbered draws, each strictly between 0 and 1. */
export function chances(count: number): Float64Array {
  const out = new Float64Array(count);
  for (let row = 0; row < count; row++) {
    mix(0, row);
    // The upper 53 bits.
    const bits = high * 0x200000 + (low >>> 11);
    out[row] = (bits + 0.5) / 2 ** 53;
  }
  return out;
}
