import { expect, test } from 'vitest';
import { adaptKlCoefficient } from './kl-controller.ts';

test('the coefficient rests at the target, rises above it, falls below it, and never moves by more than 20 % a horizon', () => {
  const settings = { target: 0.1, horizon: 1000 };
  expect(adaptKlCoefficient(0.01, 0.1, 1000, settings)).toBe(0.01);
  expect(adaptKlCoefficient(0.01, 0.11, 1000, settings)).toBeCloseTo(0.011, 12);
  expect(adaptKlCoefficient(0.01, 99, 1000, settings)).toBeCloseTo(0.012, 12);
  expect(adaptKlCoefficient(0.01, 0, 500, settings)).toBeCloseTo(0.009, 12);
});
