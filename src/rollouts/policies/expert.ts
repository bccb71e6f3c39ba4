import type { Expert, ExpertKind } from '../../environments/environment.ts';
import { type EpisodeSoFar, type Policy, PolicyInputError } from '../policy.ts';

interface Follower {
  readonly expert: Expert;
  /** Observations that the expert has taken in. */
  seen: number;
}

/**
 * The environment's own expert behind the Policy interface. It follows each episode from where it first meets it, also
 * when other commands than its own are carried out, and always takes the expert's next command.
 */
export function expertPolicy(kind: ExpertKind): Policy {
  const followers = new WeakMap<readonly unknown[], Follower>();
  const follow = ({ environment, observations, actions }: EpisodeSoFar): Expert => {
    let follower = followers.get(observations);
    if (follower === undefined) {
      follower = { expert: environment.expert(kind), seen: 0 };
      followers.set(observations, follower);
    }
    const { expert } = follower;
    for (; follower.seen < observations.length; follower.seen++) {
      const command = follower.seen === 0 ? null : actions[follower.seen - 1]!;
      expert.observe(command, observations[follower.seen]!);
    }
    return expert;
  };
  return {
    name: kind === 'oracle' ? 'oracle' : 'expert',
    memory: null,
    act: (inputs) =>
      inputs.map(({ episode }) => {
        if (episode === undefined) {
          throw new PolicyInputError(`The ${kind} expert follows whole episodes; an input without one is not enough.`);
        }
        return { command: follow(episode).next(), formatValid: true, logProb: 0 };
      }),
  };
}
