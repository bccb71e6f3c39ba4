/**
 * Colours as CSS that follows the theme: a strength from 0 to 1 mixes a meaning's hue into the paper.
 */

const mix = (hue: string, strength: number) =>
  `color-mix(in oklab, var(${hue}) ${Math.round(strength * 100)}%, var(--paper))`;

/** A filled area and the text colour that can be read on it. */
export interface Paint {
  readonly fill: string;
  readonly text: string;
}

const paint = (hue: string, strength: number): Paint => ({
  fill: mix(hue, strength),
  // Measured: below this strength ink, above it paper has the higher contrast, in both themes.
  text: strength > 0.6 ? 'var(--paper)' : 'var(--ink)',
});

const blank: Paint = { fill: 'var(--paper)', text: 'var(--ink)' };

/** Blue above 0, orange below, paper at 0; full strength at ±`full`. */
export function advantagePaint(value: number, full: number): Paint {
  if (!(full > 0) || value === 0) return blank;
  // A small advantage is still an advantage: its colour starts visibly off the paper.
  return paint(value > 0 ? '--above' : '--below', 0.12 + 0.88 * Math.min(1, Math.abs(value) / full));
}

/** From paper to violet over [low, high]. */
export function returnPaint(value: number, low: number, high: number): Paint {
  return high > low ? paint('--return', 0.04 + 0.9 * ((value - low) / (high - low))) : blank;
}

/** The deeper, the darker: level k of K. */
export function depthPaint(level: number, deepest: number): Paint {
  return paint('--depth', deepest === 0 ? 1 : 0.4 + (0.6 * level) / deepest);
}

/** From paper to grey ink: more of a quantity that has no colour of its own. */
export function inkPaint(strength: number): Paint {
  return paint('--ink', 0.03 + 0.45 * Math.max(0, Math.min(1, strength)));
}

/** Numbers on the axes of recharts, which writes its own grey into each of them, where style sheets do not reach. */
export const tickPaint = { fill: 'var(--ink-soft)' };
