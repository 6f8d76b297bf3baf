/**
 * Thrift's compact protocol, in which Parquet keeps its footer and the headers of its pages, followed as the Python package does.
 *
 * hyparquet reads the same bytes, and takes a list of two thousand million items at its word: what is damaged ends here.
 */

export const [BOOL, I32, I64, BINARY, LIST, STRUCT] = [1, 5, 6, 8, 9, 12];
const DEPTH = 16;

/** The bytes end before what they hold does. */
export class Ended extends Error {}

export type Numbers = Map<number, number>;

export interface Struct {
  numbers: Numbers;
  /** The numbers of the structs in it. */
  structs: Map<number, Numbers>;
  end: number;
}

function byteAt(raw: Uint8Array, at: number): number {
  if (at >= raw.length) throw new Ended("it has no end");
  return raw[at];
}

/** A number in groups of seven bits, the lowest first, and where it ends. */
function numberAt(raw: Uint8Array, at: number): [bigint, number] {
  let number = 0n;
  for (let shift = 0n; shift <= 63n; shift += 7n) {
    const byte = byteAt(raw, at);
    at += 1;
    number |= BigInt(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return [number, at];
  }
  throw new Error("it has a number without end");
}

/** A number of so many bits whose lowest one is its sign. */
function wholeNumber(raw: Uint8Array, at: number, bits: number): [number, number] {
  const [number, end] = numberAt(raw, at);
  const cut = BigInt.asUintN(bits, number);
  return [Number((cut >> 1n) ^ -(cut & 1n)), end];
}

/** The numbers of 32 bits of a struct and those of the structs in it, the last of each field, and where it ends. */
export function structAt(raw: Uint8Array, at: number, depth = 0): Struct {
  if (depth > DEPTH) throw new Error("it is nested too deeply");
  const numbers: Numbers = new Map();
  const structs = new Map<number, Numbers>();
  let field = 0;
  for (let head = byteAt(raw, at); head; head = byteAt(raw, at)) {
    at += 1;
    const kind = head & 15;
    if (head >> 4) field += head >> 4;
    else [field, at] = wholeNumber(raw, at, 16);
    if (kind === I32) {
      const [number, end] = wholeNumber(raw, at, 32);
      numbers.set(field, number);
      at = end;
    } else if (kind === STRUCT) {
      const inner = structAt(raw, at, depth + 1);
      structs.set(field, inner.numbers);
      at = inner.end;
    } else if (kind > 2) at = after(raw, at, kind, depth + 1);
  }
  return { numbers, structs, end: at + 1 };
}

/** Where a value ends that is passed over. */
function after(raw: Uint8Array, at: number, kind: number, depth: number): number {
  if (depth > DEPTH) throw new Error("it is nested too deeply");
  let end: number;
  if (kind <= 3) end = at + 1;
  else if (kind <= 6) [, end] = numberAt(raw, at);
  else if (kind === 7) end = at + 8;
  else if (kind === 8) {
    const [length, start] = numberAt(raw, at);
    end = start + Number(length);
  } else if (kind <= 10) {
    const head = byteAt(raw, at);
    let [count, start] = [BigInt(head >> 4), at + 1];
    if (count === 15n) [count, start] = numberAt(raw, start);
    end = afterAll(raw, start, [head & 15], count, depth);
  } else if (kind === 11) {
    const [count, start] = numberAt(raw, at);
    end = count ? afterAll(raw, start + 1, [byteAt(raw, start) >> 4, raw[start] & 15], count, depth) : start;
  } else if (kind === STRUCT) end = structAt(raw, at, depth).end;
  else throw new Error("it has a field of no known kind");
  if (end > raw.length) throw new Ended("it has no end");
  return end;
}

function afterAll(raw: Uint8Array, at: number, kinds: number[], count: bigint, depth: number): number {
  // Each has a byte at least.
  if (count > BigInt(raw.length)) throw new Ended("it has no end");
  for (let i = 0; i < Number(count); i += 1) for (const kind of kinds) at = after(raw, at, kind, depth + 1);
  return at;
}

/** What a struct must have: the kind of each field, and of others what they must have where they are there; of a struct its shape, of a list that of each of its structs, or of its texts. */
export interface Shape {
  needed: Record<number, number>;
  inner?: Record<number, Shape | "text">;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Follow a struct of a shape, and collect its texts; where it ends. A field of another kind than its own is passed over, and so is missing. */
export function checked(raw: Uint8Array, at: number, shape: Shape, texts: string[], depth = 0): number {
  if (depth > DEPTH) throw new Error("it is nested too deeply");
  const found = new Set<number>();
  let field = 0;
  for (let head = byteAt(raw, at); head; head = byteAt(raw, at)) {
    at += 1;
    const kind = head & 15;
    if (head >> 4) field += head >> 4;
    else [field, at] = wholeNumber(raw, at, 16);
    // True and false are kinds of their own.
    if (shape.needed[field] === (kind === 2 ? BOOL : kind)) found.add(field);
    const inner = shape.inner?.[field];
    if (kind === STRUCT && typeof inner === "object") at = checked(raw, at, inner, texts, depth + 1);
    else if (kind === LIST && typeof inner === "object") at = checkedAll(raw, at, inner, texts, depth + 1);
    else if (kind > 2) {
      const start = at;
      at = after(raw, at, kind, depth + 1);
      if (kind === BINARY && inner === "text") texts.push(utf8.decode(raw.subarray(numberAt(raw, start)[1], at)));
    }
  }
  if (Object.keys(shape.needed).some((needed) => !found.has(Number(needed)))) throw new Error("it lacks what every such file has");
  return at + 1;
}

function checkedAll(raw: Uint8Array, at: number, shape: Shape, texts: string[], depth: number): number {
  const head = byteAt(raw, at);
  let [count, next] = [BigInt(head >> 4), at + 1];
  if (count === 15n) [count, next] = numberAt(raw, next);
  if (count > BigInt(raw.length)) throw new Ended("it has no end");
  if ((head & 15) !== STRUCT && count) throw new Error("it has a list of something else than row groups or columns");
  for (let i = 0; i < Number(count); i += 1) next = checked(raw, next, shape, texts, depth);
  return next;
}
