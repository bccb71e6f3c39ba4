import { expect, test } from 'vitest';
import { ShaderTextError, specialize } from './wgsl.ts';

test('constants are declared at the head', () => {
  expect(specialize('fn f() {}', { ROWS: 8, SCALE: 1.5, ADD: true })).toBe(
    'const ROWS = 8;\nconst SCALE = 1.5e+0;\nconst ADD = true;\nfn f() {}',
  );
});

test('a condition keeps one of its parts, nested ones included', () => {
  const source = ['#if A', 'one', '#if !B', 'two', '#else', 'three', '#end', '#else', 'four', '#end', 'five'].join(
    '\n',
  );
  const body = (constants: Record<string, boolean>) => specialize(source, constants).split('\n').slice(2);
  expect(body({ A: true, B: false })).toEqual(['one', 'two', 'five']);
  expect(body({ A: true, B: true })).toEqual(['one', 'three', 'five']);
  expect(body({ A: false, B: true })).toEqual(['four', 'five']);
});

test('unrolling replaces the variable, also in an inner loop', () => {
  const source = ['#unroll i 2', '#unroll j N', 'let s{i}{j} = {i} + {j};', '#end', '#end'].join('\n');
  expect(specialize(source, { N: 2 }).split('\n').slice(1)).toEqual([
    'let s00 = 0 + 0;',
    'let s01 = 0 + 1;',
    'let s10 = 1 + 0;',
    'let s11 = 1 + 1;',
  ]);
});

test('an unrolled index may be scaled and shifted', () => {
  expect(specialize('#unroll q 2\nx{q*4+1} y{q+2} z{q*3}\n#end', {})).toBe('x1 y2 z0\nx5 y3 z3');
});

test('extensions are enabled before anything is declared', () => {
  expect(specialize('fn f() {}\nenable subgroups;', { N: 1 })).toBe('enable subgroups;\nconst N = 1;\nfn f() {}');
});

test('a text that is not well formed is refused', () => {
  expect(() => specialize('#if A\nx', { A: true })).toThrow(ShaderTextError);
  expect(() => specialize('#if A\nx\n#end', {})).toThrow(ShaderTextError);
  expect(() => specialize('#unroll i N\nx\n#end', {})).toThrow(ShaderTextError);
  expect(() => specialize('#include x', {})).toThrow(ShaderTextError);
});
