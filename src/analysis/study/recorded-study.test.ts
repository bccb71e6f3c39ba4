import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { methodNames } from '../../estimators/registry.ts';
import type { SeedMean } from '../bootstrap.ts';
import { readStudy, studyCell, studyDifference, type StudyRun } from './recorded-study.ts';

const run = (success: readonly number[], after: number): StudyRun => ({
  success,
  final: [{ set: 'set', temperature: 1, before: 0.1, after, low: after - 0.2, high: after }],
  trajectories: 10,
  optimizerSteps: 3,
  alarms: [],
});

test('a point of a curve is the mean over its window, the last window included', () => {
  const cell = studyCell(0, 0, [run([0.1, 0.3, 0.6], 0.5)], 2);
  expect(cell.curves).toEqual([[200, 600]]);
  expect(cell.training.mean).toBeCloseTo(333.3, 5);
});

test('differences are paired by seed: what all seeds share leaves no interval', () => {
  const seeds = Array.from({ length: 10 }, (_, seed) => seed / 20);
  const first = seeds.map((level) => run([level + 0.1], level + 0.3));
  const second = seeds.map((level) => run([level], level));
  const { training, final } = studyDifference(0, [0, 1], first, second);
  expect(training).toEqual({ mean: 100, low: 100, high: 100 });
  expect(final).toEqual([{ mean: 300, low: 300, high: 300 }]);
});

const percent = (value: number | null) => (value! / 10).toFixed(1);
// Cells of the tables on the page of results, whatever their padding.
const rows = readFileSync('docs/results.md', 'utf8')
  .split('\n')
  .map((line) =>
    line
      .split('|')
      .map((cell) => cell.trim())
      .slice(1, -1)
      .join(' | '),
  );

describe('the recorded tabular study', () => {
  const study = readStudy(readFileSync('public/studies/tabular.json', 'utf8'));
  const shown = ({ mean, low, high }: SeedMean) => `${percent(mean)} [${percent(low)}, ${percent(high)}]`;

  test('has twenty paired seeds, every method and the same rollouts for all', () => {
    expect(study.seeds.length).toBeGreaterThanOrEqual(20);
    expect(new Set(study.methods.map(({ method }) => method))).toEqual(new Set(methodNames));
    expect(new Set(study.cells.map(({ trajectories }) => trajectories)).size).toBe(1);
    expect(study.settings.map(({ name }) => name)).toEqual(['rooms XS', 'rooms S', 'small shop']);
  });

  test('stands on the page of results number for number', () => {
    for (const [number, { name }] of study.methods.entries()) {
      const cells = study.cells.filter(({ method }) => method === number);
      const figures = cells.flatMap(({ final, training }) => [shown(final[0]!.success), shown(training)]);
      expect(rows).toContain([name, ...figures].join(' | '));
    }
    for (const { methods } of study.differences) {
      const both = study.differences.filter((other) => String(other.methods) === String(methods));
      const figures = both.flatMap(({ final, training }) => [shown(final[0]!), shown(training)]);
      const names = methods.map((method) => study.methods[method]!.name).join(' − ');
      expect(rows).toContain([names, ...figures].join(' | '));
    }
  });
});

describe('the recorded study of a language model', () => {
  const study = readStudy(readFileSync('public/studies/neural.json', 'utf8'));

  test('has three paired seeds of GRPO, GiGPO and HGPO with the same rollouts, and claims no interval', () => {
    expect(study.seeds).toEqual([11, 12, 13]);
    expect(study.methods.map(({ method }) => method)).toEqual(['grpo', 'gigpo', 'hgpo']);
    expect(new Set(study.cells.map(({ trajectories }) => trajectories)).size).toBe(1);
    for (const { training, final } of study.cells) {
      for (const { low, high } of [training, ...final.map(({ success }) => success)]) {
        expect([low, high]).toEqual([null, null]);
      }
    }
  });

  test('stands on the page of results seed by seed', () => {
    const shown = (mean: number, seeds: readonly number[]) => `${percent(mean)} (${seeds.map(percent).join(', ')})`;
    for (const { method, final, training } of study.cells) {
      const figures = final.map(({ success, after }) => shown(success.mean, after));
      expect(rows).toContain([study.methods[method]!.name, ...figures, percent(training.mean)].join(' | '));
    }
    for (const { methods, final, training } of study.differences) {
      const [first, second] = methods.map((method) => study.cells.find((cell) => cell.method === method)!);
      const figures = final.map(({ mean }, i) =>
        shown(
          mean,
          study.seeds.map((_, seed) => first!.final[i]!.after[seed]! - second!.final[i]!.after[seed]!),
        ),
      );
      const names = methods.map((method) => study.methods[method]!.name).join(' − ');
      expect(rows).toContain([names, ...figures, percent(training.mean)].join(' | '));
    }
  });
});
