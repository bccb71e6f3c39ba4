import { contextText } from '../../rollouts/policy.ts';
import type { PlacedSample } from './recorder.ts';
import type { LabTask } from './task.ts';

/**
 * The policy gradient of a softmax table with a logit θ[x, a] for each input and command (temperature 1), the tasks held
 * fixed:
 *
 *     g* = mean over tasks of E[ Σ_t ∇log π(a_t | x_t) A*_t ],     ∂ log π(a | x) / ∂θ[x, b] = 1[a = b] − π(b | x)
 *
 * over undiscounted visits, which is what the loss averages. The gradient of the discounted objective is the same sum
 * with γ^t in it. Tasks share the logits of inputs that they share.
 */
export class TableGradient {
  readonly parameterCount: number;
  /** [tasks][input edges] → parameters */
  private readonly parameterOf: readonly Int32Array[];

  constructor(readonly tasks: readonly LabTask[]) {
    const numbers = new Map<string, number>();
    this.parameterOf = tasks.map(({ model, values }) => {
      const parameters: number[] = [];
      const seen = new Uint8Array(values.inputCount);
      for (let node = 0; node < model.nodeCount; node++) {
        const input = values.inputOf[node]!;
        if (input < 0 || seen[input] === 1) continue;
        seen[input] = 1;
        // Inputs are equal as tables see them: context and command, whatever else is admissible.
        const context = contextText(values.inputAt(node, values.horizon));
        const edge = model.stateEdgeStart[model.nodeState[node]!]!;
        for (let i = 0; i < values.commandCount(node); i++) {
          const key = `${context}\n${model.commands[model.stateEdgeCommand[edge + i]!]!}`;
          let number = numbers.get(key);
          if (number === undefined) numbers.set(key, (number = numbers.size));
          parameters[values.inputEdge(input, i)] = number;
        }
      }
      return Int32Array.from(parameters);
    });
    this.parameterCount = numbers.size;
  }

  /** The parameter of the i-th command at a node. */
  parameter(task: number, node: number, i: number): number {
    const { values } = this.tasks[task]!;
    return this.parameterOf[task]![values.inputEdge(values.inputOf[node]!, i)]!;
  }

  /** Adds weight · ∇log π(a | x) for the i-th command of a node. */
  add(into: Float64Array, task: number, node: number, h: number, choice: number, weight: number): void {
    const { values } = this.tasks[task]!;
    const first = values.inputEdge(values.inputOf[node]!, 0);
    const parameters = this.parameterOf[task]!;
    const count = values.commandCount(node);
    for (let i = 0; i < count; i++) into[parameters[first + i]!]! -= weight * values.probability(node, h, i);
    into[parameters[first + choice]!]! += weight;
  }

  /** [parameters] g*; with `discounted`, visits count γ^t: the gradient of the discounted objective. */
  truth(discounted = false): Float64Array {
    const gradient = new Float64Array(this.parameterCount);
    for (const [t, task] of this.tasks.entries()) {
      const { values } = task;
      task.eachVisit((node, h, d) => {
        const visits = d * (discounted ? values.gamma ** (values.horizon - h) : 1);
        for (let i = 0; i < values.commandCount(node); i++) {
          const weight = visits * values.probability(node, h, i) * task.stateTruth(node, h, i);
          if (weight !== 0) this.add(gradient, t, node, h, i, weight / this.tasks.length);
        }
      });
    }
    return gradient;
  }

  /** How the gradients that an estimator's advantages give lie to g*, over the batches of a sample of whole batches. */
  compare(sample: PlacedSample, estimates: Float64Array, trajectories: number, truth: Float64Array): GradientMeasures {
    const { places, rowKey, rowBatch, batchCount, rowCount } = sample;
    const sum = new Float64Array(this.parameterCount);
    const one = new Float64Array(this.parameterCount);
    const truthNorm = Math.sqrt(dot(truth, truth));
    const cosines: number[] = [];
    const along: number[] = [];
    let squares = 0;
    let row = 0;
    for (let batch = 0; batch < batchCount; batch++) {
      one.fill(0);
      for (; row < rowCount && rowBatch[row] === batch; row++) {
        const estimate = estimates[row]!;
        if (!(estimate > 0 || estimate < 0)) continue;
        const key = rowKey[row]!;
        const weight = estimate / (this.tasks.length * trajectories);
        this.add(one, places.task[key]!, places.node[key]!, places.h[key]!, places.choice[key]!, weight);
      }
      const square = dot(one, one);
      const product = dot(one, truth);
      squares += square;
      along.push(product);
      cosines.push(square > 0 ? product / Math.sqrt(square) / truthNorm : 0);
      for (let p = 0; p < sum.length; p++) sum[p]! += one[p]!;
    }
    // |E ĝ|² from products of different batches: the noise of one batch has no part in it.
    const meanSquare = (dot(sum, sum) - squares) / (batchCount * (batchCount - 1));
    const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;
    const meanNorm = Math.sqrt(Math.max(0, meanSquare));
    return {
      cosineOfMean: Math.min(1, Math.max(-1, mean(along) / (meanNorm * truthNorm))),
      meanCosine: mean(cosines),
      normRatio: meanNorm / truthNorm,
    };
  }
}

export interface GradientMeasures {
  /** cos(E ĝ, g*) */
  readonly cosineOfMean: number;
  /** E cos(ĝ, g*) */
  readonly meanCosine: number;
  /** |E ĝ| / |g*| */
  readonly normRatio: number;
}

/** cos of two vectors. */
export function cosine(a: Float64Array, b: Float64Array): number {
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!;
  return sum;
}
