import type { DecoderConfig, DenseTensor, ModelWeights } from '../gpu/decoder.ts';
import { BLOCK, blocksPerRow, type QuantizedMatrix } from '../gpu/quantized.ts';
import { firstNotFinite, UnfitWeightsError, weightSpecs, weightsThatDoNotFit, type Weights } from './weights.ts';

export function zeroPointBytesPerRow(columns: number, bits: QuantizedMatrix['bits']): number {
  return Math.ceil((blocksPerRow(columns) * bits) / 8);
}

export interface QuantizeOptions {
  readonly bits: QuantizedMatrix['bits'];
  /** Give each block a zero point of its own. At 4 bits this costs half a byte a block and cuts the squared error. */
  readonly zeroPoints: boolean;
}

// Fractions of a block's range that the grid may span: cutting the extremes off makes the steps finer for the rest.
const SHRINK = [1, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7];

/**
 * Quantizes a matrix so that each block's squared error is small. For each grid tried (shrunken ranges, either sign of
 * the scale, with or without zero point) values are rounded, then the scale is set to its least-squares optimum for
 * these codes, s = Σ x·q / Σ q² with q = code − zero point, and the grid with the least Σ (x − s·q)² wins. The plain
 * grid (scale = value of largest magnitude / −2^(bits − 1)) is among those tried, so the result is never worse than it.
 *
 * @param values [rows, columns]
 * @throws UnfitWeightsError when a value is NaN or infinite.
 */
export function quantize(
  values: Float32Array,
  rows: number,
  columns: number,
  { bits, zeroPoints }: QuantizeOptions,
): QuantizedMatrix {
  if (values.length !== rows * columns) {
    throw new RangeError(`quantize: ${values.length} values do not make a matrix of ${rows} × ${columns}`);
  }
  const bad = firstNotFinite(values);
  if (bad >= 0) throw new UnfitWeightsError(`Element ${bad} of the weight is ${values[bad]} and cannot be quantized.`);

  const blocks = blocksPerRow(columns);
  const codes = new Uint8Array(rows * blocks * 4 * bits);
  const scales = new Float32Array(rows * blocks);
  const zeroPointBytes = zeroPointBytesPerRow(columns, bits);
  const packedZeroPoints = zeroPoints ? new Uint8Array(rows * zeroPointBytes) : null;
  const search = new BlockSearch(bits);
  for (let row = 0; row < rows; row++) {
    for (let block = 0; block < blocks; block++) {
      const from = row * columns + block * BLOCK;
      search.run(values, from, Math.min(from + BLOCK, (row + 1) * columns), zeroPoints);
      const at = row * blocks + block;
      scales[at] = search.scale;
      for (let i = 0; i < BLOCK; i++) writeCode(codes, at * 4 * bits, i, bits, search.codes[i]!);
      if (packedZeroPoints) writeCode(packedZeroPoints, row * zeroPointBytes, block, bits, search.zeroPoint);
    }
  }
  return { bits, rows, columns, codes, scales, zeroPoints: packedZeroPoints };
}

/**
 * Quantizes every matrix, the embedding included; norms and biases stay floats.
 * @throws UnfitWeightsError when a weight is missing, misshapen, NaN or infinite, naming it.
 */
export function quantizeWeights(config: DecoderConfig, weights: Weights, options: QuantizeOptions): ModelWeights {
  const misfit = weightsThatDoNotFit(config, weights);
  if (misfit) throw new UnfitWeightsError(`These weights cannot be quantized: ${misfit}.`);
  const stored = new Map<string, DenseTensor | QuantizedMatrix>();
  for (const { name, shape, role } of weightSpecs(config)) {
    const tensor = weights.get(name)!;
    const isMatrix = role === 'linear' || role === 'embedding';
    stored.set(name, isMatrix ? quantize(tensor.data, shape[0]!, shape[1]!, options) : tensor);
  }
  return stored;
}

export function isQuantized(weight: DenseTensor | QuantizedMatrix): weight is QuantizedMatrix {
  return 'codes' in weight;
}

function writeCode(bytes: Uint8Array, start: number, index: number, bits: QuantizedMatrix['bits'], code: number): void {
  if (bits === 8) bytes[start + index] = code;
  else bytes[start + (index >> 1)]! |= code << (4 * (index & 1));
}

/** The search over grids for one block; keeps its buffers from block to block. */
class BlockSearch {
  readonly codes = new Uint8Array(BLOCK);
  scale = 0;
  zeroPoint: number;

  private readonly most: number;
  private readonly middle: number;
  private readonly trial = new Uint8Array(BLOCK);
  private values: Float32Array = new Float32Array(0);
  private from = 0;
  private to = 0;
  private least = Infinity;

  constructor(bits: QuantizedMatrix['bits']) {
    this.most = 2 ** bits - 1;
    this.middle = 2 ** (bits - 1);
    this.zeroPoint = this.middle;
  }

  /** Leaves the best codes, scale and zero point for values[from … to − 1] in the fields of those names. */
  run(values: Float32Array, from: number, to: number, zeroPoints: boolean): void {
    this.values = values;
    this.from = from;
    this.to = to;
    let low = 0;
    let high = 0;
    for (let i = from; i < to; i++) {
      low = Math.min(low, values[i]!);
      high = Math.max(high, values[i]!);
    }
    // All zero, the answer where no grid is representable (values below the smallest float).
    this.codes.fill(this.middle);
    this.scale = 0;
    this.zeroPoint = this.middle;
    this.least = this.squaredError(this.codes, 0, this.middle);
    if (low === 0 && high === 0) return;

    const extreme = -low > high ? low : high;
    this.tryGrid(extreme / -this.middle, this.middle, false);
    for (const shrink of SHRINK) {
      this.tryGrid((shrink * extreme) / -this.middle, this.middle, true);
      this.tryGrid((shrink * extreme) / (this.middle - 1), this.middle, true);
      if (!zeroPoints) continue;
      const step = (shrink * (high - low)) / this.most;
      this.tryGrid(step, Math.min(this.most, Math.round((-shrink * low) / step)), true);
    }
  }

  /** Rounds to a grid, refits the scale (twice: a new scale moves some values to other codes), keeps the best. */
  private tryGrid(scale: number, zeroPoint: number, refit: boolean): void {
    for (let round = 0; round < (refit ? 2 : 1); round++) {
      if (!Number.isFinite(1 / scale)) return;
      let dot = 0;
      let norm = 0;
      this.trial.fill(zeroPoint);
      for (let i = this.from; i < this.to; i++) {
        const code = Math.max(0, Math.min(this.most, Math.round(this.values[i]! / scale) + zeroPoint));
        this.trial[i - this.from] = code;
        const q = code - zeroPoint;
        dot += this.values[i]! * q;
        norm += q * q;
      }
      const stored = Math.fround(refit && norm > 0 ? dot / norm : scale);
      const error = this.squaredError(this.trial, stored, zeroPoint);
      if (error < this.least) {
        this.least = error;
        this.codes.set(this.trial);
        this.scale = stored;
        this.zeroPoint = zeroPoint;
      }
      scale = stored;
    }
  }

  private squaredError(codes: Uint8Array, scale: number, zeroPoint: number): number {
    let sum = 0;
    for (let i = this.from; i < this.to; i++) {
      const miss = this.values[i]! - Math.fround(scale * (codes[i - this.from]! - zeroPoint));
      sum += miss * miss;
    }
    return sum;
  }
}
