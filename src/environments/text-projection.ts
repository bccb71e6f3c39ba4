import type { EnvironmentName } from './environment.ts';

/** How a reply of a language model becomes a command. */
export interface Projection {
  /** What is executed, whatever the format. */
  readonly command: string;
  /** Both action tags and both think tags are there, and no CJK ideograph. */
  readonly formatValid: boolean;
}

/** Length of the tail that is taken for the command where the action tags are missing. */
const TAIL_CHARACTERS: Readonly<Record<EnvironmentName, number>> = { rooms: 30, shop: 20 };

const OPEN = '<action>';
const CLOSE = '</action>';

/**
 * The command in a reply: the text between the first `<action>` and the first `</action>` (in any case), trimmed and in
 * lower case; without those tags, the last characters of the reply in lower case. The rule, odd corners included, is the
 * projection of verl-agent, the reference training code of GiGPO and HGPO.
 */
export function projectReply(reply: string, environment: EnvironmentName): Projection {
  const lower = reply.toLowerCase();
  const open = lower.indexOf(OPEN);
  const close = lower.indexOf(CLOSE);
  if (open < 0 || close < 0) {
    return { command: Array.from(lower).slice(-TAIL_CHARACTERS[environment]).join(''), formatValid: false };
  }
  const hasThought = reply.includes('<think>') && reply.includes('</think>');
  return {
    command: lower.slice(open + OPEN.length, close).trim(),
    formatValid: hasThought && !/[\u4e00-\u9fff]/.test(reply),
  };
}

/**
 * Which steps count as invalid. `format`: replies of the wrong form, as in the reference training code.
 * `format+admissible`: also commands that are not admissible, since small policies rarely break the form.
 */
export const penaliseRules = ['format', 'format+admissible'] as const;
export type PenaliseRule = (typeof penaliseRules)[number];

export function isValidStep(formatValid: boolean, admissible: boolean, rule: PenaliseRule): boolean {
  return formatValid && (admissible || rule === 'format');
}
