/**
 * Numbers pairs of 32-bit integers in order of first appearance: a hash table of typed arrays with open addressing
 * (linear probing, at most half full), so that a million pairs cost no object and no string.
 */
export class PairNumbers {
  private readonly mask: number;
  /** Number + 1 of the pair in a slot; 0 = free. */
  private readonly slots: Int32Array;
  private readonly firsts: Int32Array;
  private readonly seconds: Int32Array;
  private used = 0;

  /** @param capacity the largest number of different pairs between two calls of `clear` */
  constructor(capacity: number) {
    let slots = 16;
    while (slots < 2 * capacity) slots *= 2;
    this.mask = slots - 1;
    this.slots = new Int32Array(slots);
    this.firsts = new Int32Array(capacity);
    this.seconds = new Int32Array(capacity);
  }

  /** How many different pairs have been numbered. */
  get size(): number {
    return this.used;
  }

  /** A number for a pair that is known to appear only once; it is not stored. */
  once(): number {
    return this.used++;
  }

  clear(): void {
    this.slots.fill(0);
    this.used = 0;
  }

  /** The number of a pair, given out on first sight. */
  number(first: number, second: number): number {
    // Two odd multipliers and a final mix (MurmurHash3's): consecutive ids, the usual input, spread over all slots.
    let hash = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca77);
    hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae3d);
    let slot = (hash ^ (hash >>> 13)) & this.mask;
    for (;;) {
      const entry = this.slots[slot]!;
      if (entry === 0) {
        const fresh = this.used++;
        this.slots[slot] = fresh + 1;
        this.firsts[fresh] = first;
        this.seconds[fresh] = second;
        return fresh;
      }
      if (this.firsts[entry - 1] === first && this.seconds[entry - 1] === second) return entry - 1;
      slot = (slot + 1) & this.mask;
    }
  }
}
