/** A linear layer of the decoder as launches: its forward pass and its backward pass, with or without its LoRA adapter. */
import type { Binding } from './buffer.ts';
import {
  linear,
  linearInputGradient,
  linearWeightGradient,
  WEIGHT_GRADIENT_SEGMENTS,
  type LoraOperand,
} from './kernels/linear.ts';
import { REDUCTION_SEGMENTS, sumRows, sumSegments } from './kernels/sum-rows.ts';
import type { Count, Dispatch } from './program.ts';
import type { WeightOperand } from './quantized.ts';
import type { KernelVariants } from './variants.ts';

export interface LinearLayer {
  readonly inner: number;
  readonly columns: number;
  /** Where each joined projection begins among the columns. */
  readonly sections: readonly number[];
  /** [columns, inner] */
  readonly weight: WeightOperand;
  /** Present where the weight is trained. */
  readonly weightGradient: Binding | undefined;
  /** [columns] */
  readonly bias: Binding | undefined;
  readonly biasGradient: Binding | undefined;
  readonly adapter: LoraAdapter | undefined;
}

export interface LoraAdapter {
  /** [sections · rank, inner] */
  readonly loraA: Binding;
  /** [columns, rank] */
  readonly loraB: Binding;
  readonly loraAGradient: Binding;
  readonly loraBGradient: Binding;
  readonly rank: number;
  /** alpha / rank */
  readonly scale: number;
}

/** Columns of the adapter's hidden activations: `rank` for each section. */
export function hiddenWidth(layer: LinearLayer): number {
  return layer.adapter ? layer.sections.length * layer.adapter.rank : 0;
}

/** y = x · Wᵀ + bias + adapter + residual. */
export function linearForward(
  variants: KernelVariants,
  layer: LinearLayer,
  operands: {
    /** [rows, inner] */
    readonly x: Binding;
    /** [rows, columns] */
    readonly y: Binding;
    readonly rows: Count;
    /** [rows, columns] */
    readonly residual?: Binding | undefined;
    /** [rows, hiddenWidth] written; absent: without the adapter */
    readonly hidden?: Binding | undefined;
  },
): Dispatch[] {
  const { x, y, rows, residual, hidden } = operands;
  const { inner, columns, sections, weight, bias, adapter } = layer;
  const plan: Dispatch[] = [];
  let lora: LoraOperand | undefined;
  if (adapter && hidden) {
    const { loraA, loraB, rank, scale } = adapter;
    const down: WeightOperand = { format: 'f32', values: loraA };
    plan.push(linear(variants, { x, weight: down, y: hidden, rows, inner, columns: hiddenWidth(layer), scale }));
    lora = { hidden, loraB, rank, sections };
  }
  plan.push(linear(variants, { x, weight, y, rows, inner, columns, bias, residual, lora }));
  return plan;
}

/** Words of scratch that the weight gradients of a layer need. */
export function linearScratch(layer: LinearLayer): number {
  const { inner, columns, adapter } = layer;
  const sizes = [REDUCTION_SEGMENTS * columns];
  if (layer.weightGradient) sizes.push(WEIGHT_GRADIENT_SEGMENTS * inner * columns);
  if (adapter) sizes.push(WEIGHT_GRADIENT_SEGMENTS * Math.max(hiddenWidth(layer) * inner, adapter.rank * columns));
  return Math.max(...sizes);
}

/** Adds the gradients in weights, bias and adapter where they are trained, and gives the gradient in the input. */
export function linearBackward(
  variants: KernelVariants,
  layer: LinearLayer,
  operands: {
    /** [rows, inner] the input of the forward pass */
    readonly x: Binding;
    /** [rows, columns] */
    readonly dy: Binding;
    /** [rows, inner] written; absent where nothing below is trained */
    readonly dx?: Binding | undefined;
    readonly rows: Count;
    /** [rows, hiddenWidth] from the forward pass */
    readonly hidden?: Binding | undefined;
    /** [rows, hiddenWidth] scratch */
    readonly dHidden: Binding;
    /** scratch of `linearScratch` words */
    readonly partial: Binding;
  },
): Dispatch[] {
  const { x, dy, dx, rows, hidden, dHidden, partial } = operands;
  const { inner, columns, sections, weight, weightGradient, biasGradient, adapter } = layer;
  const plan: Dispatch[] = [];
  const segments = WEIGHT_GRADIENT_SEGMENTS;
  if (weightGradient) {
    plan.push(
      linearWeightGradient(variants, { dy, x, partial, rows, inner, columns }),
      sumSegments({ partial, sums: weightGradient, width: inner * columns, segments }),
    );
  }
  if (biasGradient) plan.push(...sumRows({ matrix: dy, partial, sums: biasGradient, rows, width: columns }));
  const width = hiddenWidth(layer);
  if (adapter && hidden) {
    const { loraA, loraB, loraAGradient, loraBGradient, rank, scale } = adapter;
    sections.forEach((start, s) => {
      const section = { rows, firstColumn: start, columns: (sections[s + 1] ?? columns) - start };
      plan.push(
        linearInputGradient(variants, {
          ...section,
          dy,
          stride: columns,
          weight: { format: 'f32', values: loraB },
          firstWeightRow: start,
          dx: dHidden,
          inner: rank,
          dxStride: width,
          dxFirstColumn: s * rank,
          scale,
        }),
        linearWeightGradient(variants, {
          dy,
          x: hidden,
          partial,
          rows,
          inner: rank,
          columns: section.columns,
          xStride: width,
          xFirstColumn: s * rank,
          dyStride: columns,
          dyFirstColumn: start,
          segmentStride: columns * rank,
          first: start * rank,
        }),
      );
    });
    plan.push(
      sumSegments({ partial, sums: loraBGradient, width: columns * rank, segments }),
      linearWeightGradient(variants, { dy: dHidden, x, partial, rows, inner, columns: width }),
      sumSegments({ partial, sums: loraAGradient, width: width * inner, segments }),
    );
    if (dx) {
      const lora = { dHidden, loraA, hiddenWidth: width };
      plan.push(linearInputGradient(variants, { dy, weight, dx, rows, inner, columns, lora }));
    }
  } else if (dx) {
    plan.push(linearInputGradient(variants, { dy, weight, dx, rows, inner, columns }));
  }
  return plan;
}
