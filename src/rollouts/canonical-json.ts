/**
 * JSON read as text: where the fields of an object lie, and the canonical form of a value. `JSON.parse` alone would lose
 * what must survive or be noticed: keys given twice, integers beyond 2^53, and the NaN and Infinity that Python writes.
 */

/** One field of a JSON object: its decoded key and where its value's text lies. */
export interface JsonField {
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

/**
 * Whether the text is JSON, where NaN, Infinity and -Infinity, which Python's `json` writes, count as values.
 * @throws SyntaxError when it is not.
 */
export function checkJson(text: string): void {
  try {
    JSON.parse(text);
  } catch (error) {
    if (!/NaN|Infinity/.test(text)) throw error;
    // Strings are matched to be passed over: a word inside one is text.
    JSON.parse(text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|-?Infinity|NaN/g, (part) => (part[0] === '"' ? part : 'null')));
  }
}

/** The fields of an object in order of appearance, duplicates included. `text` must have passed `checkJson`. */
export function jsonFields(text: string): JsonField[] {
  const fields: JsonField[] = [];
  let at = skipSpace(text, skipSpace(text, 0) + 1);
  while (text[at] !== '}') {
    const keyEnd = stringEnd(text, at);
    const rawKey = text.slice(at, keyEnd);
    const key = rawKey.includes('\\') ? (JSON.parse(rawKey) as string) : rawKey.slice(1, -1);
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = valueEnd(text, start);
    fields.push({ key, start, end });
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return fields;
}

function skipSpace(text: string, at: number): number {
  for (;;) {
    const c = text.charCodeAt(at);
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return at;
    at++;
  }
}

/** The position after the closing quote of the string that begins at `start`. */
function stringEnd(text: string, start: number): number {
  let at = start;
  for (;;) {
    at = text.indexOf('"', at + 1);
    let slashes = at;
    while (text.charCodeAt(slashes - 1) === 0x5c) slashes--;
    if ((at - slashes) % 2 === 0) return at + 1;
  }
}

/** The position after the value that begins at `start`. */
function valueEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; ;) {
    switch (text[at]) {
      case '"':
        at = stringEnd(text, at);
        break;
      case '{':
      case '[':
        depth++;
        at++;
        continue;
      case '}':
      case ']':
        depth--;
        at++;
        break;
      case ',':
      case ':':
      case ' ':
      case '\t':
      case '\r':
      case '\n':
        at++;
        continue;
      default:
        while (at < text.length && !/[\s,\]}]/.test(text[at]!)) at++;
    }
    if (depth === 0) return at;
  }
}

/** Deeper values are refused: no observation needs it, and reading them would exhaust the stack. */
export const deepestNesting = 500;

/** A JSON value that is nested deeper than `deepestNesting`. */
export class NestingError extends Error {
  override readonly name = 'NestingError';
}

/**
 * The canonical text of a JSON value: keys sorted by code unit (of a key given twice the last counts), no white space, strings
 * escaped the way JSON.stringify does, and each number in one spelling (`1`, `1.0` and `10e-1` are the same number;
 * integers keep all their digits). Two values are the same exactly when their canonical texts are.
 * @param text must have passed `checkJson`
 * @throws NestingError
 */
export function canonicalJson(text: string): string {
  let at = 0;

  // One pass: each piece of text is looked at once, however deep it lies.
  function value(depth: number): string {
    if (depth > deepestNesting) throw new NestingError(`The value is nested deeper than ${deepestNesting} levels.`);
    at = skipSpace(text, at);
    if (text[at] === '"') return string();
    if (text[at] === '[') {
      const items: string[] = [];
      while (another(']')) items.push(value(depth + 1));
      return `[${items.join(',')}]`;
    }
    if (text[at] === '{') {
      const fields = new Map<string, string>();
      while (another('}')) {
        const key = string();
        at = skipSpace(text, at) + 1; // the colon
        fields.set(key, value(depth + 1));
      }
      const sorted = [...fields].map(([key, of]) => [JSON.parse(key) as string, `${key}:${of}`] as const);
      sorted.sort(([a], [b]) => (a < b ? -1 : 1));
      return `{${sorted.map(([, field]) => field).join(',')}}`;
    }
    const start = at;
    at = valueEnd(text, at);
    const word = text.slice(start, at);
    return /^[tfnN]/.test(word) ? word : canonicalNumber(word);
  }

  /** Moves over a bracket or comma to the next item; false at the closing bracket, which it moves over too. */
  function another(closing: string): boolean {
    at = skipSpace(text, at + (text[at] === '[' || text[at] === '{' ? 1 : 0));
    if (text[at] === ',') at = skipSpace(text, at + 1);
    if (text[at] !== closing) return true;
    at++;
    return false;
  }

  function string(): string {
    const start = at;
    at = stringEnd(text, at);
    return JSON.stringify(JSON.parse(text.slice(start, at)));
  }

  return value(0);
}

/** One spelling for each number: integers exactly, other numbers as the double that they are read as. */
export function canonicalNumber(text: string): string {
  if (/^-?\d+$/.test(text)) return text === '-0' ? '0' : text;
  const value = Number(text);
  if (!Number.isFinite(value)) return text; // Infinity by name, or too large for a double
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}
