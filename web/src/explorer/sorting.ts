/** The order of labels by a number each, without a comparison: digits of 16 bits, the least first. */

const DIGITS = 65536;

/** Numbers as whole ones that are ordered alike, the low half of each before the high half. */
function keysOf(values: Float64Array, down: boolean): Uint32Array {
  const keys = new Uint32Array(values.slice().buffer);
  const turned = down ? -1 : 0;
  for (let i = 0; i < keys.length; i += 2) {
    const low = keys[i];
    let high = keys[i + 1];
    // Minus zero is zero.
    if (high === 0x80000000 && low === 0) high = 0;
    // Below zero every bit is turned, above it the sign alone.
    const mask = (high | 0) >> 31;
    keys[i] = low ^ mask ^ turned;
    keys[i + 1] = high ^ (mask | 0x80000000) ^ turned;
  }
  return keys;
}

/** The places of values from the least to the largest, or the other way round; what is undefined goes last. Equal ones stay as `from` has them. */
export function orderBy(values: Float64Array, down: boolean, from: Uint32Array): Uint32Array {
  const keys = keysOf(values, down);
  let many = 0;
  let order = new Uint32Array(from.length);
  for (let j = 0; j < from.length; j++) if (values[from[j]] === values[from[j]]) order[many++] = from[j];
  let next = new Uint32Array(from.length);
  const counts = new Uint32Array(DIGITS);
  // The high halves decide almost always.
  for (let shift = 0; shift < 32; shift += 16) {
    counts.fill(0);
    for (let j = 0; j < many; j++) counts[(keys[2 * order[j] + 1] >>> shift) & 0xffff]++;
    let before = 0;
    for (let digit = 0; digit < DIGITS; digit++) {
      const here = counts[digit];
      counts[digit] = before;
      before += here;
    }
    for (let j = 0; j < many; j++) {
      const i = order[j];
      next[counts[(keys[2 * i + 1] >>> shift) & 0xffff]++] = i;
    }
    [order, next] = [next, order];
  }
  byLowHalf(order, keys, many);
  for (let j = 0; j < from.length; j++) if (values[from[j]] !== values[from[j]]) order[many++] = from[j];
  return order;
}

/** Order those whose high halves are equal by the low ones. */
function byLowHalf(order: Uint32Array, keys: Uint32Array, many: number): void {
  for (let start = 0; start < many; ) {
    let [end, differ] = [start + 1, false];
    while (end < many && keys[2 * order[end] + 1] === keys[2 * order[start] + 1]) {
      differ ||= keys[2 * order[end]] !== keys[2 * order[start]];
      end++;
    }
    // The sort is stable: equal ones stay.
    if (differ) order.subarray(start, end).sort((a, b) => keys[2 * a] - keys[2 * b]);
    start = end;
  }
}

/** Every place in its own order. */
export function inOrder(size: number): Uint32Array {
  const out = new Uint32Array(size);
  for (let i = 0; i < size; i++) out[i] = i;
  return out;
}
