import type { Field, FieldName, FieldTable, ValuesOf } from './fields.ts';
import { defaultsOf } from './fields.ts';

/**
 * The one door through which state from outside enters: links, storage, history entries. What is missing takes its
 * default, what lies outside its range moves to the nearest value, what is not of its kind is dropped; every such change
 * is named, so that it can be said.
 */

export interface Change {
  readonly field: FieldName;
  readonly reason: 'out of range' | 'not a value';
  /** What stands there now. */
  readonly taken: string | number;
}

export interface Repaired<Values> {
  readonly values: Values;
  readonly changes: readonly Change[];
}

/** @param given looks up a field's raw value by name; undefined = not given. */
export function repair<Table extends FieldTable>(
  table: Table,
  given: (name: keyof Table & string) => unknown,
): Repaired<ValuesOf<Table>> {
  const values: Record<string, string | number> = { ...defaultsOf(table) };
  const changes: Change[] = [];
  for (const [name, field] of Object.entries(table)) {
    const raw = given(name);
    if (raw === undefined) continue;
    const { value, reason } = repairField(field, raw);
    values[name] = value;
    if (reason) changes.push({ field: name as FieldName, reason, taken: value });
  }
  return { values: values as ValuesOf<Table>, changes };
}

/** Reads the own properties of anything; inherited ones (`__proto__`, `constructor`) do not count. */
export function ownValue(source: unknown): (name: string) => unknown {
  return (name) =>
    typeof source === 'object' && source !== null && Object.hasOwn(source, name)
      ? (source as Record<string, unknown>)[name]
      : undefined;
}

function repairField(field: Field, raw: unknown): { value: string | number; reason?: Change['reason'] } {
  if (field.kind === 'choice') {
    return typeof raw === 'string' && field.options.includes(raw)
      ? { value: raw }
      : { value: field.default, reason: 'not a value' };
  }
  if (field.kind === 'set') {
    const named = typeof raw === 'string' && raw !== '' ? raw.split('.') : [];
    const value = field.options.filter((option) => named.includes(option)).join('.');
    return named.every((name) => field.options.includes(name)) && typeof raw === 'string'
      ? { value }
      : { value, reason: 'not a value' };
  }
  if (field.kind === 'form') {
    return typeof raw === 'string' && field.form.test(raw)
      ? { value: raw }
      : { value: field.default, reason: 'not a value' };
  }
  const parsed = typeof raw === 'number' ? raw : typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : NaN;
  if (Number.isNaN(parsed)) return { value: field.default, reason: 'not a value' };
  const value = onRaster(field, parsed);
  // A hand-written 0.333 moves to the raster silently; only leaving the range is worth a word.
  return parsed < field.min || parsed > field.max ? { value, reason: 'out of range' } : { value };
}

/** The nearest value that a number field can take. */
export function onRaster(
  field: { readonly min: number; readonly max: number; readonly step: number },
  value: number,
): number {
  const clamped = Math.min(field.max, Math.max(field.min, value));
  const stepped = field.min + Math.round((clamped - field.min) / field.step) * field.step;
  // 0.1 + 0.2 would otherwise write itself into links as 0.30000000000000004.
  return Number(Math.min(field.max, stepped).toFixed(6));
}
