/**
 * AdamW in float64 (Loshchilov and Hutter, arXiv:1711.05101) for parameters that live on the CPU and may grow in number
 * while training goes on, as a table's do:
 *
 *   m ← β₁ m + (1 − β₁) g      v ← β₂ v + (1 − β₂) g²
 *   θ ← θ − η ( (m / (1 − β₁ᵗ)) / (√(v / (1 − β₂ᵗ)) + ε) + λ θ )
 */
export interface AdamWSettings {
  /** η */
  readonly learningRate: number;
  /** λ */
  readonly weightDecay: number;
}

const BETA1 = 0.9;
const BETA2 = 0.999;
const EPSILON = 1e-8;

export interface AdamWState {
  readonly step: number;
  readonly first: Float64Array;
  readonly second: Float64Array;
}

export class AdamW {
  private step = 0;
  private first = new Float64Array(0);
  private second = new Float64Array(0);

  /** One step on the first `gradient.length` parameters, in place; parameters seen for the first time begin with m = v = 0. */
  update(parameters: Float64Array, gradient: Float64Array, { learningRate, weightDecay }: AdamWSettings): void {
    this.grow(gradient.length);
    this.step++;
    const firstScale = 1 - BETA1 ** this.step;
    const secondScale = 1 - BETA2 ** this.step;
    for (let i = 0; i < gradient.length; i++) {
      const g = gradient[i]!;
      const m = (this.first[i] = BETA1 * this.first[i]! + (1 - BETA1) * g);
      const v = (this.second[i] = BETA2 * this.second[i]! + (1 - BETA2) * g * g);
      const direction = m / firstScale / (Math.sqrt(v / secondScale) + EPSILON);
      parameters[i]! -= learningRate * (direction + weightDecay * parameters[i]!);
    }
  }

  private grow(count: number): void {
    if (count <= this.first.length) return;
    const room = Math.max(count, 2 * this.first.length);
    const first = new Float64Array(room);
    const second = new Float64Array(room);
    first.set(this.first);
    second.set(this.second);
    this.first = first;
    this.second = second;
  }

  save(): AdamWState {
    return { step: this.step, first: this.first.slice(), second: this.second.slice() };
  }

  load(state: AdamWState): void {
    this.step = state.step;
    this.first = state.first.slice();
    this.second = state.second.slice();
  }
}

/** √Σ g²: the norm that gradients are clipped at. */
export function gradientNorm(...gradients: readonly Float64Array[]): number {
  let sum = 0;
  for (const gradient of gradients) for (const g of gradient) sum += g * g;
  return Math.sqrt(sum);
}
