/** The order of labels by a number each, without a comparison: digits of 11 bits, the least first. */

const BITS = 11;
const DIGITS = 1 << BITS;
const MASK = DIGITS - 1;
// So few numbers that share their high half are put in order by insertion.
const FEW = 24;

/** Places with the high halves of their numbers, as whole ones that are ordered alike. */
interface Keyed {
  keys: Uint32Array;
  order: Uint32Array;
}

/** The places of values from the least to the largest, or the other way round; what is undefined goes last. Equal ones stay as `from` has them. */
export function orderBy(values: Float64Array, down: boolean, from: Uint32Array): Uint32Array {
  const size = from.length;
  const bits = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length);
  const turned = down ? -1 : 0;
  const [keys, order] = [new Uint32Array(size), new Uint32Array(size)];
  const [first, second, third] = [new Uint32Array(DIGITS), new Uint32Array(DIGITS), new Uint32Array(DIGITS)];
  let [many, last] = [0, size];
  for (let j = 0; j < size; j++) {
    const i = from[j];
    const x = values[i];
    if (x !== x) {
      order[--last] = i;
      continue;
    }
    // Minus zero is zero. Below zero every bit is turned, above it the sign alone.
    const high = x === 0 ? 0 : bits[2 * i + 1] | 0;
    const key = (high ^ ((high >> 31) | 0x80000000) ^ turned) >>> 0;
    keys[many] = key;
    order[many++] = i;
    first[key & MASK]++;
    second[(key >>> BITS) & MASK]++;
    third[key >>> (2 * BITS)]++;
  }
  // Those that are undefined were put there from the end on.
  order.subarray(last).reverse();
  let [held, other]: Keyed[] = [{ keys, order }, { keys: new Uint32Array(size), order: order.slice() }];
  [first, second, third].forEach((tally, digit) => {
    if (spread(held, other, many, tally, digit * BITS)) [held, other] = [other, held];
  });
  byLowHalves(held, many, bits, turned);
  return held.order;
}

/** Put places in the order of one digit, of which there are as many as the tally says. False for a digit that is the same for all. */
function spread({ keys, order }: Keyed, to: Keyed, many: number, tally: Uint32Array, shift: number): boolean {
  if (many === 0 || tally[(keys[0] >>> shift) & MASK] === many) return false;
  const [toKeys, toOrder] = [to.keys, to.order];
  let before = 0;
  for (let digit = 0; digit < DIGITS; digit++) {
    const here = tally[digit];
    tally[digit] = before;
    before += here;
  }
  for (let j = 0; j < many; j++) {
    const key = keys[j];
    const place = tally[(key >>> shift) & MASK]++;
    toKeys[place] = key;
    toOrder[place] = order[j];
  }
  return true;
}

/** Order those whose high halves are equal by the low ones; the equal ones stay. */
function byLowHalves({ keys, order }: Keyed, many: number, bits: Uint32Array, turned: number): void {
  for (let start = 0, end = 1; start < many; start = end++) {
    const key = keys[start];
    const low = bits[2 * order[start]];
    let differ = false;
    for (; end < many && keys[end] === key; end++) if (bits[2 * order[end]] !== low) differ = true;
    if (!differ) continue;
    // A number below zero has every bit turned.
    const mask = turned ^ ((key ^ turned) < 0 ? 0 : -1);
    if (end - start > FEW) order.subarray(start, end).sort((a, b) => ((bits[2 * a] ^ mask) >>> 0) - ((bits[2 * b] ^ mask) >>> 0));
    else insert(order, start, end, bits, mask);
  }
}

function insert(order: Uint32Array, start: number, end: number, bits: Uint32Array, mask: number): void {
  for (let j = start + 1; j < end; j++) {
    const i = order[j];
    const low = (bits[2 * i] ^ mask) >>> 0;
    let to = j;
    for (; to > start && (bits[2 * order[to - 1]] ^ mask) >>> 0 > low; to--) order[to] = order[to - 1];
    order[to] = i;
  }
}

/** Every place in its own order. */
export function inOrder(size: number): Uint32Array {
  const out = new Uint32Array(size);
  for (let i = 0; i < size; i++) out[i] = i;
  return out;
}
