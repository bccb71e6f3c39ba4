import { threefry2x32 } from './threefry.ts';

const scratch = new Uint32Array(2);

/**
 * A stream of random numbers that belongs to one purpose. Streams are derived from a seed by names and numbers
 * (`randomStream(seed, 'layout', 3)`), so that drawing more for one purpose never shifts another. Pure integer
 * arithmetic: the same numbers in every browser, in Node and in workers.
 */
export class RandomStream {
  private counter = 0;
  private spare = 0;
  private hasSpare = false;

  constructor(
    private readonly key0: number,
    private readonly key1: number,
  ) {}

  /** A stream of its own for a sub-purpose; independent of how many numbers this stream has given. */
  split(...path: readonly (string | number)[]): RandomStream {
    return deriveStream(this.key0, this.key1, path);
  }

  /** The next 32 random bits as an unsigned integer. */
  nextUint32(): number {
    if (this.hasSpare) {
      this.hasSpare = false;
      return this.spare;
    }
    // Bit 30 of the second word keeps draws apart from the counters that `split` uses.
    threefry2x32(this.key0, this.key1, this.counter | 0, (this.counter / 4294967296) | 0, scratch);
    this.counter++;
    this.spare = scratch[1]!;
    this.hasSpare = true;
    return scratch[0]!;
  }

  /** A uniform double in [0, 1) with 53 random bits. */
  nextFloat(): number {
    const high = this.nextUint32() >>> 5;
    const low = this.nextUint32() >>> 6;
    return (high * 67108864 + low) / 9007199254740992;
  }

  /** A uniform integer in [0, bound), without the bias of a plain remainder. `bound` is a whole number in 1 … 2³². */
  below(bound: number): number {
    if (!(Number.isInteger(bound) && bound >= 1 && bound <= 4294967296)) {
      throw new RangeError(`RandomStream.below: the bound must be a whole number from 1 to 2^32, got ${bound}`);
    }
    const limit = 4294967296 - (4294967296 % bound);
    for (;;) {
      const draw = this.nextUint32();
      if (draw < limit) return draw % bound;
    }
  }

  /** One element, each equally likely. `items` must not be empty. */
  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }

  /** An index drawn in proportion to whole-number weights; integers keep the choice exact on every machine. */
  pickWeighted(weights: ArrayLike<number>): number {
    let total = 0;
    for (let i = 0; i < weights.length; i++) total += weights[i]!;
    let left = this.below(total);
    for (let i = 0; i < weights.length; i++) {
      left -= weights[i]!;
      if (left < 0) return i;
    }
    throw new RangeError(
      'RandomStream.pickWeighted: the weights must be whole numbers, not negative, with a positive sum',
    );
  }

  /** Shuffles in place (Fisher and Yates). */
  shuffle<T>(items: T[]): void {
    for (let i = items.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      const kept = items[i]!;
      items[i] = items[j]!;
      items[j] = kept;
    }
  }

  /** A normal deviate with mean 0 and standard deviation 1 (Box and Muller; one of the pair is thrown away). */
  nextNormal(): number {
    const radius = Math.sqrt(-2 * Math.log(1 - this.nextFloat()));
    return radius * Math.cos(2 * Math.PI * this.nextFloat());
  }

  /** The whole state as plain numbers, for checkpoints. */
  save(): RandomStreamState {
    return { key0: this.key0, key1: this.key1, counter: this.counter, spare: this.hasSpare ? this.spare : null };
  }

  static load(state: RandomStreamState): RandomStream {
    const stream = new RandomStream(state.key0, state.key1);
    stream.counter = state.counter;
    stream.hasSpare = state.spare !== null;
    stream.spare = state.spare ?? 0;
    return stream;
  }
}

export interface RandomStreamState {
  readonly key0: number;
  readonly key1: number;
  /** Number of blocks drawn. */
  readonly counter: number;
  /** The second word of the last block when it has not been given out yet. */
  readonly spare: number | null;
}

// Each part of a path is hashed into a key by running the generator itself: strings by code unit behind their length,
// so that ('ab', 'c') and ('a', 'bc') differ, numbers as the two halves of their 64-bit float.
const numberBits = new DataView(new ArrayBuffer(8));
const SPLIT_MARK = 0x40000000;

function deriveStream(key0: number, key1: number, path: readonly (string | number)[]): RandomStream {
  let k0 = key0 | 0;
  let k1 = key1 | 0;
  const absorb = (word0: number, word1: number) => {
    threefry2x32(k0, k1, word0, word1 ^ SPLIT_MARK, scratch);
    k0 = scratch[0]! | 0;
    k1 = scratch[1]! | 0;
  };
  for (const part of path) {
    if (typeof part === 'number') {
      numberBits.setFloat64(0, part);
      absorb(numberBits.getInt32(0), 1);
      absorb(numberBits.getInt32(4), 2);
    } else {
      absorb(part.length, 3);
      for (let i = 0; i < part.length; i++) absorb(part.charCodeAt(i), 4);
    }
  }
  return new RandomStream(k0, k1);
}

/** The stream for a purpose under a seed: `randomStream(7, 'layout', 'kitchen', 3)`. Any number is a seed. */
export function randomStream(seed: number, ...path: readonly (string | number)[]): RandomStream {
  return deriveStream(0x243f6a88, 0x85a308d3, [seed, ...path]);
}
