/** Sums in the order in which the Python package makes them, so that values are equal to the last bit. */

const BLOCK = 128;

/**
 * The sum of numbers in the order of numpy's pairwise summation: up to 7 one after another; up to 128 in eight sums of every
 * eighth number, which are then added in pairs; more as two halves, the first a multiple of eight long.
 */
export function pairwise(values: ArrayLike<number>, start = 0, count = values.length): number {
  if (count < 8) {
    let sum = 0;
    for (let i = 0; i < count; i++) sum += values[start + i];
    return sum;
  }
  if (count <= BLOCK) {
    const r = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => values[start + i]);
    const whole = count - (count % 8);
    for (let i = 8; i < whole; i += 8) for (let j = 0; j < 8; j++) r[j] += values[start + i + j];
    let sum = r[0] + r[1] + (r[2] + r[3]) + (r[4] + r[5] + (r[6] + r[7]));
    for (let i = whole; i < count; i++) sum += values[start + i];
    return sum;
  }
  let half = Math.floor(count / 2);
  half -= half % 8;
  return pairwise(values, start, half) + pairwise(values, start + half, count - half);
}

/** The mean over the pairs that are counted, in the order of given labels and then outcomes; NaN where none is. */
export function meanOver(values: ArrayLike<number>, counted: ArrayLike<boolean | number>): number {
  const held = new Float64Array(values.length);
  let count = 0;
  for (let i = 0; i < values.length; i++) {
    if (!counted[i]) continue;
    held[i] = values[i];
    count++;
  }
  return pairwise(held) / count;
}

/** The nearest whole number, halves to the even one. */
export function rint(x: number): number {
  const below = Math.floor(x);
  const rest = x - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}

export const clip = (x: number, low: number, high: number): number => (x < low ? low : x > high ? high : x);
