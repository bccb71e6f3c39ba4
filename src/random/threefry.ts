/**
 * The one random generator of the project: Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as
 * easy as 1, 2, 3", SC 2011). It is counter-based (the n-th draw is a pure function of key and n, so a draw never
 * depends on who drew before) and uses only 32-bit additions, rotations and exclusive ors, so the same bits come out
 * of TypeScript and of WGSL.
 */

const KEY_PARITY = 0x1bd11bda;

function rotateLeft(x: number, bits: number): number {
  return (x << bits) | (x >>> (32 - bits));
}

/**
 * One block of the generator: two 32-bit words for (key, counter), written to `out` as unsigned integers.
 * `out` is reused by callers in loops; it must hold at least two elements.
 */
export function threefry2x32(key0: number, key1: number, counter0: number, counter1: number, out: Uint32Array): void {
  const key2 = KEY_PARITY ^ key0 ^ key1;
  let x0 = (counter0 + key0) | 0;
  let x1 = (counter1 + key1) | 0;
  for (let group = 0; group < 5; group++) {
    if (group % 2 === 0) {
      x0 = (x0 + x1) | 0;
      x1 = rotateLeft(x1, 13) ^ x0;
      x0 = (x0 + x1) | 0;
      x1 = rotateLeft(x1, 15) ^ x0;
      x0 = (x0 + x1) | 0;
      x1 = rotateLeft(x1, 26) ^ x0;
      x0 = (x0 + x1) | 0;
      x1 = rotateLeft(x1, 6) ^ x0;
    } else {
      x0 = (x0 + x1) | 0;
      x1 = rotateLeft(x1, 17) ^ x0;
      x0 = (x0 + x1) | 0;
      x1 = rotateLeft(x1, 29) ^ x0;
      x0 = (x0 + x1) | 0;
      x1 = rotateLeft(x1, 16) ^ x0;
      x0 = (x0 + x1) | 0;
      x1 = rotateLeft(x1, 24) ^ x0;
    }
    // Key injection: the words (key1, key2), (key2, key0), (key0, key1), … in turn, plus the number of the injection.
    const phase = group % 3;
    x0 = (x0 + (phase === 0 ? key1 : phase === 1 ? key2 : key0)) | 0;
    x1 = (x1 + (phase === 0 ? key2 : phase === 1 ? key0 : key1) + group + 1) | 0;
  }
  out[0] = x0;
  out[1] = x1;
}
