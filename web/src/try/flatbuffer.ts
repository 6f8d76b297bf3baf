/** Tables of a flatbuffer, in which Arrow's writers note their types; what does not lie where it is said to be is an error, as to Arrow's verifier. */

const DEPTH = 64;

export class Flatbuffer {
  private readonly view: DataView;

  constructor(private readonly bytes: Uint8Array) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  root(): FlatTable {
    return this.table(this.offset(0), 0);
  }

  table(at: number, depth: number): FlatTable {
    const vtable = at - this.view.getInt32(at, true);
    if (depth > DEPTH || at % 4 || vtable % 2 || vtable < 0) throw new RangeError("a table is not where it has to be");
    const size = this.view.getUint16(vtable, true);
    const width = this.view.getUint16(vtable + 2, true);
    if (size < 4 || size % 2 || vtable + size > this.bytes.length || at + width > this.bytes.length) throw new RangeError("a table has no end");
    return new FlatTable(this, at, vtable, size, depth);
  }

  offset(at: number): number {
    const target = at + this.view.getUint32(at, true);
    if (at % 4 || target >= this.bytes.length) throw new RangeError("an offset leads nowhere");
    return target;
  }

  number(at: number, width: 1 | 2 | 4): number {
    if (at % width) throw new RangeError("a number is not where it has to be");
    return width === 1 ? this.view.getUint8(at) : width === 2 ? this.view.getInt16(at, true) : this.view.getInt32(at, true);
  }

  uint16(at: number): number {
    return this.view.getUint16(at, true);
  }

  text(at: number): string {
    const length = this.view.getUint32(at, true);
    // Behind each text stands a zero.
    if (at % 4 || at + 4 + length >= this.bytes.length || this.bytes[at + 4 + length]) throw new RangeError("a text has no end");
    return new TextDecoder().decode(this.bytes.subarray(at + 4, at + 4 + length));
  }

  /** Where the tables of a vector stand. */
  places(at: number): number[] {
    const count = this.view.getUint32(at, true);
    if (at % 4 || at + 4 + 4 * count > this.bytes.length) throw new RangeError("a list has no end");
    return Array.from({ length: count }, (_, i) => this.offset(at + 4 + 4 * i));
  }
}

export class FlatTable {
  constructor(
    private readonly held: Flatbuffer,
    private readonly at: number,
    private readonly vtable: number,
    private readonly size: number,
    private readonly depth: number,
  ) {}

  /** Where a field stands, or 0. */
  private slot(field: number): number {
    const place = 4 + 2 * field;
    const offset = place + 2 <= this.size ? this.held.uint16(this.vtable + place) : 0;
    return offset ? this.at + offset : 0;
  }

  has(field: number): boolean {
    return this.slot(field) > 0;
  }

  number(field: number, width: 1 | 2 | 4, usual = 0): number {
    const at = this.slot(field);
    return at ? this.held.number(at, width) : usual;
  }

  text(field: number): string | null {
    const at = this.slot(field);
    return at ? this.held.text(this.held.offset(at)) : null;
  }

  table(field: number): FlatTable | null {
    const at = this.slot(field);
    return at ? this.held.table(this.held.offset(at), this.depth + 1) : null;
  }

  tables(field: number): FlatTable[] {
    const at = this.slot(field);
    return at ? this.held.places(this.held.offset(at)).map((place) => this.held.table(place, this.depth + 1)) : [];
  }
}
