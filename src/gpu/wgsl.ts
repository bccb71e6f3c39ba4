/**
 * The few lines of text processing between a file in `shaders/` and the WGSL that is compiled. A line that begins with `#`
 * is a directive:
 *
 *   #if NAME … #else … #end        keeps one of the two parts, by a constant (0 and false are "no"); `#if !NAME` the other way
 *   #unroll i COUNT … #end         repeats the lines COUNT times with `{i}` replaced by 0, 1, … (and `{i*4+1}` by 1, 5, …); COUNT is a
 *                                  number or a constant
 *
 * The constants are also declared at the head of the text (`const NAME = value;`), for use in expressions and array sizes.
 * Unrolling is done here because the software adapters keep an array that is indexed by a loop variable in memory, and the
 * accumulators of a matrix product must stay in registers.
 */
import type { KernelConstants } from './kernel.ts';

/** A shader file that is not well formed. */
export class ShaderTextError extends Error {
  override readonly name = 'ShaderTextError';
}

export function specialize(source: string, constants: KernelConstants): string {
  const head = Object.entries(constants)
    .map(([name, value]) => `const ${name} = ${typeof value === 'boolean' ? String(value) : formatNumber(value)};\n`)
    .join('');
  // Extensions must be enabled before anything is declared.
  const lines = expand(source.split('\n'), constants);
  const enables = [...new Set(lines.filter((line) => line.startsWith('enable ')))].map((line) => `${line}\n`).join('');
  return enables + head + lines.filter((line) => !line.startsWith('enable ')).join('\n');
}

function formatNumber(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return value.toExponential();
}

function expand(lines: readonly string[], constants: KernelConstants): string[] {
  const out: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!.trim();
    if (!line.startsWith('#')) {
      out.push(lines[at]!);
      continue;
    }
    const [directive, ...words] = line.split(/\s+/);
    const { end, middle } = blockEnd(lines, at);
    if (directive === '#if') {
      const negated = words[0]!.startsWith('!');
      const name = negated ? words[0]!.slice(1) : words[0]!;
      if (!(name in constants)) throw new ShaderTextError(`#if ${name}: there is no such constant.`);
      const keepFirst = Boolean(constants[name]) !== negated;
      const first = lines.slice(at + 1, middle ?? end);
      const second = middle === undefined ? [] : lines.slice(middle + 1, end);
      out.push(...expand(keepFirst ? first : second, constants));
    } else if (directive === '#unroll') {
      const [variable, size] = words as [string, string];
      const count = Number(/^\d+$/.test(size) ? size : constants[size]);
      if (!Number.isInteger(count)) throw new ShaderTextError(`#unroll ${variable} ${size}: not a whole number.`);
      const body = lines.slice(at + 1, end);
      for (let i = 0; i < count; i++) {
        out.push(
          ...expand(
            body.map((text) => substitute(text, variable, i)),
            constants,
          ),
        );
      }
    } else {
      throw new ShaderTextError(`Unknown directive ${directive}.`);
    }
    at = end;
  }
  return out;
}

function substitute(text: string, variable: string, value: number): string {
  return text.replaceAll(
    new RegExp(`\\{${variable}(?:\\*(\\d+))?(?:\\+(\\d+))?\\}`, 'g'),
    (_, times?: string, plus?: string) => String(value * Number(times ?? 1) + Number(plus ?? 0)),
  );
}

/** The line of the `#end` that belongs to the directive at `start`, and of its `#else` where it has one. */
function blockEnd(lines: readonly string[], start: number): { end: number; middle: number | undefined } {
  let depth = 0;
  let middle: number | undefined;
  for (let at = start; at < lines.length; at++) {
    const line = lines[at]!.trim();
    if (/^#(if|unroll)\b/.test(line)) depth++;
    else if (line === '#else' && depth === 1) middle = at;
    else if (line === '#end' && --depth === 0) return { end: at, middle };
  }
  throw new ShaderTextError(`${lines[start]!.trim()} has no #end.`);
}
