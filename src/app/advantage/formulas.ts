import type { AdvantagePart, ComparisonPart, CreditPart } from '../../estimators/explain.ts';
import { number, signed } from '../number.ts';
import { contribution } from './parts.ts';

/** A formula with its numbers put in: as TeX, and as plain text for the moment before TeX is there. */
export interface WrittenFormula {
  readonly tex: string;
  readonly plain: string;
}

const tex = (value: number, write: (value: number) => string = number): string =>
  write(value)
    .replaceAll('\u2212', '-')
    .replace(/^(.*)e(-?\d+)$/, '$1\\cdot 10^{$2}')
    .replaceAll(',', '{,}');

/** Negative numbers stand in brackets behind an operator. */
const operand = (value: number) => (value < 0 ? `(${tex(value)})` : tex(value));

const symbolOf = (part: AdvantagePart): string => {
  switch (part.kind) {
    case 'level':
      return `A_{${part.k ?? 0}}`;
    case 'episode':
      return 'A^{E}';
    case 'peers':
      return 'A^{\\text{peer}}';
    case 'credit':
      return '\\hat C';
    case 'critic':
      return '\\hat A';
  }
};

/** A = Σ weight · part, with the numbers of one step. */
export function sumFormula(parts: readonly AdvantagePart[], advantage: number): WrittenFormula {
  const counting = parts.filter((part) => contribution(part) !== 0);
  if (counting.length === 0) return { tex: 'A = 0', plain: 'A = 0' };
  const symbols = counting.map((part) => (part.weight === 1 ? symbolOf(part) : `w\\,${symbolOf(part)}`)).join(' + ');
  const numbers = counting
    .map((part) =>
      part.weight === 1 ? operand(part.advantage) : `${tex(part.weight)} \\cdot ${operand(part.advantage)}`,
    )
    .join(' + ');
  return {
    tex: `\\begin{aligned} A &= ${symbols} \\\\ &= ${numbers} = ${tex(advantage, signed)} \\end{aligned}`,
    plain: `A = ${counting.map((part) => `${number(part.weight)} · ${signed(part.advantage)}`).join(' + ')} = ${signed(advantage)}`,
  };
}

/** (value − mean) / divisor, with the numbers of one step. */
export function comparisonFormula(part: ComparisonPart, scaled: boolean): WrittenFormula {
  const value = part.kind === 'episode' ? 'S' : 'Q';
  const symbols =
    part.divisor === 1 && !scaled
      ? `${value} - \\bar ${value}`
      : `\\dfrac{${value} - \\bar ${value}}{${scaled ? '\\sigma + \\varepsilon' : '(n-1)/n'}}`;
  const difference = `${tex(part.value)} - ${operand(part.mean)}`;
  const numbers = part.divisor === 1 ? difference : `\\dfrac{${difference}}{${tex(part.divisor)}}`;
  return {
    tex: `${symbolOf(part)} = ${symbols} = ${numbers} = ${tex(part.advantage, signed)}`,
    plain: `(${number(part.value)} − ${number(part.mean)}) / ${number(part.divisor)} = ${signed(part.advantage)}`,
  };
}

/** ProGPO's transition credit, with the numbers of one step. */
export function creditFormula(part: CreditPart): WrittenFormula {
  const charge = part.charge === 0 ? '' : ` - ${tex(part.charge)}`;
  const difference = `${tex(part.reward)}${charge} + ${tex(part.gamma)} \\cdot ${operand(part.nextPotential)} - ${operand(part.potential)}`;
  return {
    tex: `\\hat C = \\dfrac{r + \\gamma\\,\\Phi' - \\Phi}{\\text{rms}} = \\dfrac{${difference}}{${tex(part.divisor)}} = ${tex(part.advantage, signed)}`,
    plain: `(${number(part.reward)} + ${number(part.gamma)} · ${number(part.nextPotential)} − ${number(part.potential)}) / ${number(part.divisor)} = ${signed(part.advantage)}`,
  };
}
