/**
 * Numbers pairs of 32-bit integers in order of first appearance: a hash table of typed arrays with open addressing
 * (linear probing, at most half full), so that a million pairs cost no object and no string.
 */
export class PairNumbers {
  private mask: number;
  /** Number + 1 of the pair in a slot; 0 = free. */
  private slots: Int32Array;
  private firsts: Int32Array;
  private seconds: Int32Array;
  private used = 0;

  /** @param capacity how many different pairs are expected; the table grows beyond it at the cost of numbering all again */
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
    let slot = hashPair(first, second) & this.mask;
    for (;;) {
      const entry = this.slots[slot]!;
      if (entry === 0) {
        if (this.used >= this.firsts.length) {
          this.grow();
          return this.number(first, second);
        }
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

  private grow(): void {
    const capacity = 2 * Math.max(8, this.used);
    const enlarge = (values: Int32Array) => {
      const larger = new Int32Array(capacity);
      larger.set(values);
      return larger;
    };
    this.firsts = enlarge(this.firsts);
    this.seconds = enlarge(this.seconds);
    const stored = this.slots;
    let length = stored.length;
    while (length < 2 * capacity) length *= 2;
    this.slots = new Int32Array(length);
    this.mask = length - 1;
    for (const entry of stored) {
      if (entry === 0) continue;
      let slot = hashPair(this.firsts[entry - 1]!, this.seconds[entry - 1]!) & this.mask;
      while (this.slots[slot] !== 0) slot = (slot + 1) & this.mask;
      this.slots[slot] = entry;
    }
  }
}

// Two odd multipliers and a final mix (MurmurHash3's): consecutive ids, the usual input, spread over all slots.
function hashPair(first: number, second: number): number {
  let hash = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca77);
  hash = Math.imul(hash ^ (hash >>> 15), 0xc2b2ae3d);
  return hash ^ (hash >>> 13);
}
