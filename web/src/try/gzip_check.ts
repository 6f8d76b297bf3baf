/** Checksums of gzip, which its decompressor does not look at: a damaged page would be read as other values. */

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let code = byte;
  for (let bit = 0; bit < 8; bit += 1) code = code & 1 ? (code >>> 1) ^ 0xedb88320 : code >>> 1;
  return code;
});

function crc32(bytes: Uint8Array): number {
  let code = 0xffffffff;
  for (let i = 0; i < bytes.length; i += 1) code = TABLE[(code ^ bytes[i]) & 0xff] ^ (code >>> 8);
  return ~code >>> 0;
}

/** What was compressed, if it is what its end says. Where it may have several members, each has an end of its own, and none is looked at. */
export function checkedGzip<T extends Uint8Array | undefined>(packed: Uint8Array, found: T): T {
  if (found === undefined || packed.length < 18) throw new Error("gzip: it has no end");
  if (packed[0] !== 0x1f || packed[1] !== 0x8b || packed[2] !== 8 || packed[3] & 0xe0) throw new Error("gzip: its head is not right");
  for (let at = packed.indexOf(0x1f, 18); at > 0; at = packed.indexOf(0x1f, at + 1)) if (packed[at + 1] === 0x8b && packed[at + 2] === 8) return found;
  const end = new DataView(packed.buffer, packed.byteOffset + packed.length - 8, 8);
  if (end.getUint32(4, true) !== found.length || end.getUint32(0, true) !== crc32(found)) throw new Error("gzip: it is not what its checksum says");
  return found;
}
