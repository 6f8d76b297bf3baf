/** What the writer of a Parquet file noted of Arrow types that Parquet has none of: zones of time, and durations. */

const TIMESTAMP = 10;
const DURATION = 18;

export interface Noted {
  zone?: string;
  duration?: boolean;
}

/** Of each column of the file, in their order; empty where nothing was noted, or what was cannot be read. */
export function notedTypes(encoded: string | undefined): Noted[] {
  if (!encoded) return [];
  try {
    const bytes = Uint8Array.from(atob(encoded), (one) => one.charCodeAt(0));
    return fieldsOf(new DataView(bytes.buffer));
  } catch {
    return [];
  }
}

/** Where a field of a flatbuffer's table stands, or 0. */
function slot(view: DataView, table: number, field: number): number {
  const vtable = table - view.getInt32(table, true);
  const at = 4 + 2 * field;
  const offset = at < view.getUint16(vtable, true) ? view.getUint16(vtable + at, true) : 0;
  return offset ? table + offset : 0;
}

const follow = (view: DataView, at: number): number => at + view.getUint32(at, true);

function fieldsOf(view: DataView): Noted[] {
  const start = view.getUint32(0, true) === 0xffffffff ? 8 : 4;
  const message = follow(view, start);
  const schema = follow(view, slot(view, message, 2));
  const fields = follow(view, slot(view, schema, 1));
  return Array.from({ length: view.getUint32(fields, true) }, (_, i) => {
    const field = follow(view, fields + 4 + 4 * i);
    const kind = view.getUint8(slot(view, field, 2));
    if (kind === DURATION) return { duration: true };
    if (kind !== TIMESTAMP) return {};
    const zone = slot(view, follow(view, slot(view, field, 3)), 1);
    if (!zone) return {};
    const text = follow(view, zone);
    return { zone: new TextDecoder().decode(new Uint8Array(view.buffer, text + 4, view.getUint32(text, true))) };
  });
}
