/**
 * 64-bit hash of a text as two unsigned 32-bit halves, over its UTF-16 code units: two multiplicative lanes that are
 * mixed into each other at the end (the mixing of cyrb53 by bryc, public domain, kept to its full 64 bits).
 * Written into `out[offset]` (high) and `out[offset + 1]` (low).
 */
export function hashText(text: string, out: Uint32Array, offset = 0): void {
  let a = 0xdeadbeef | 0;
  let b = 0x41c6ce57 | 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 2654435761);
    b = Math.imul(b ^ unit, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  out[offset] = b;
  out[offset + 1] = a;
}

const halves = new Uint32Array(2);

/** The hash of a text as 16 hexadecimal digits. */
export function textKey(text: string): string {
  hashText(text, halves);
  return halves[0]!.toString(16).padStart(8, '0') + halves[1]!.toString(16).padStart(8, '0');
}
