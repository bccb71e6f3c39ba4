import { type Decision, type Policy, type PolicyInput, PolicyInputError } from '../policy.ts';

/** The commands a policy chooses among: all admissible ones, or those that can bring the goal nearer. */
export const commandSets = ['admissible', 'acting'] as const;
export type CommandSet = (typeof commandSets)[number];

/** @throws PolicyInputError where there is no command to choose. */
export function commandsOf(input: PolicyInput, set: CommandSet): readonly string[] {
  const commands = input[set];
  if (commands.length > 0) return commands;
  throw new PolicyInputError(`There is no ${set} command to choose after ${JSON.stringify(input.observation.text)}.`);
}

/**
 * Spreads probabilities over one of the command sets to probabilities over `input.admissible`; commands outside the set
 * get 0. The sets keep the same order, so one pass does.
 */
export function overAdmissible(input: PolicyInput, set: CommandSet, probabilities: Float64Array): Float64Array {
  if (set === 'admissible') return probabilities;
  const spread = new Float64Array(input.admissible.length);
  let next = 0;
  for (const [i, command] of input.admissible.entries()) {
    if (command === input.acting[next]) spread[i] = probabilities[next++]!;
  }
  return spread;
}

function uniformOver(name: string, set: CommandSet): Policy {
  return {
    name,
    memory: null,
    act: (inputs, streams) =>
      inputs.map((input, i): Decision => {
        const commands = commandsOf(input, set);
        return { command: streams[i]!.pick(commands), formatValid: true, logProb: -Math.log(commands.length) };
      }),
    probabilities: (input) => {
      const count = commandsOf(input, set).length;
      return overAdmissible(input, set, new Float64Array(count).fill(1 / count));
    },
  };
}

/** Any admissible command but `help`, each as likely. */
export const randomPolicy: Policy = uniformOver('random', 'admissible');

/** Any command that can bring the goal nearer, each as likely: the policy of the exact reference values. */
export const uniformPolicy: Policy = uniformOver('uniform', 'acting');
