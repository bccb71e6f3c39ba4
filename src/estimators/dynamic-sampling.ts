import type { RolloutBatch } from '../rollouts/batch.ts';
import { episodeRewards } from './returns.ts';
import type { Settings } from './settings.ts';

/**
 * Dynamic sampling (DAPO, arXiv:2503.14476): tasks whose trajectories all earned the same teach nothing and are replaced
 * by others. Decided on raw episode rewards: with penalties in it a group that failed throughout would survive and train
 * on noise.
 */
export type SamplingRule = Exclude<Settings['dynamicSampling'], 'off'>;

/** Dynamic sampling ran out of tries under a rule that does not go on without full groups. */
export class DynamicSamplingError extends Error {
  override readonly name = 'DynamicSamplingError';
}

/**
 * Whether a task group teaches anything.
 *
 * - `tolerant` (ours): max − min > 1e-6 · max(1, max|r|);
 * - `agent` (verl-agent): some float32 reward differs from the first; a lone trajectory never does;
 * - `dapo` (verl's recipe): the population standard deviation is above 0, or the group has one member.
 *
 * @param rewards episode rewards of the trajectories of one task, without penalties
 */
export function teaches(rewards: ArrayLike<number>, rule: SamplingRule): boolean {
  if (rewards.length === 0) return false;
  switch (rule) {
    case 'tolerant': {
      let low = rewards[0]!;
      let high = low;
      for (let i = 1; i < rewards.length; i++) {
        low = Math.min(low, rewards[i]!);
        high = Math.max(high, rewards[i]!);
      }
      return high - low > 1e-6 * Math.max(1, Math.abs(low), Math.abs(high));
    }
    case 'dapo':
      // The standard deviation is above 0 just when two float32 values differ.
      return rewards.length === 1 || differs(rewards);
    case 'agent':
      return differs(rewards);
  }
}

function differs(rewards: ArrayLike<number>): boolean {
  for (let i = 1; i < rewards.length; i++) if (Math.fround(rewards[i]!) !== Math.fround(rewards[0]!)) return true;
  return false;
}

/** [tasks] 1 = the task's trajectories teach something */
export function teachingTasks(
  batch: Pick<
    RolloutBatch,
    'rowCount' | 'tasks' | 'trajectory' | 'reward' | 'valid' | 'byStep' | 'rowStart' | 'trajectoryTask'
  >,
  rule: SamplingRule,
): Uint8Array {
  const rewards: number[][] = Array.from({ length: batch.tasks.size }, () => []);
  episodeRewards(batch).forEach((reward, t) => rewards[batch.trajectoryTask[t]!]!.push(reward));
  return Uint8Array.from(rewards, (ofTask) => (teaches(ofTask, rule) ? 1 : 0));
}

/** A task group as dynamic sampling sees it. */
export interface SampledGroup<G> {
  readonly group: G;
  /** One for each trajectory, without penalties. */
  readonly episodeRewards: ArrayLike<number>;
}

/** `tolerant` never loops for ever, even where the options set no limit. */
const TOLERANT_LIMIT = 100;

/**
 * Fills a batch over several rollouts. Offer the groups of each rollout while `wantsMore`, then take `finish`.
 *
 * - `agent`: until G·n trajectories are kept; the last try is taken whole; a surplus stays in the batch.
 * - `dapo`: until G groups are kept; a surplus is cut; running out of tries is an error.
 * - `tolerant`: until G groups are kept; a surplus is cut; when tries run out the batch is what there is, and says so.
 */
export class DynamicSampler<G> {
  private readonly kept: G[] = [];
  private trajectories = 0;
  private tries = 0;
  private dropped = 0;
  private readonly limit: number;

  /** @param settings `maxGenerationBatches` 0 sets no limit (100 tries for `tolerant`) */
  constructor(
    private readonly rule: SamplingRule,
    private readonly settings: Pick<Settings, 'groups' | 'groupSize' | 'maxGenerationBatches'>,
  ) {
    const { maxGenerationBatches } = settings;
    this.limit = maxGenerationBatches > 0 ? maxGenerationBatches : rule === 'tolerant' ? TOLERANT_LIMIT : Infinity;
  }

  private get full(): boolean {
    const { groups, groupSize } = this.settings;
    return this.rule === 'agent' ? this.trajectories >= groups * groupSize : this.kept.length >= groups;
  }

  get wantsMore(): boolean {
    return !this.full && this.tries < this.limit;
  }

  /** Adds the groups of one rollout that teach something. */
  offer(groups: readonly SampledGroup<G>[]): void {
    if (!this.wantsMore) throw new RangeError('The batch is complete or the tries are used up; call finish.');
    this.tries++;
    const lastTry = this.rule === 'agent' && this.tries === this.limit;
    for (const { group, episodeRewards: rewards } of groups) {
      if (lastTry || teaches(rewards, this.rule)) {
        this.kept.push(group);
        this.trajectories += rewards.length;
      } else this.dropped++;
    }
  }

  /**
   * The groups to train on, and what happened.
   * @throws DynamicSamplingError under the rule `dapo` when there are too few
   */
  finish(): {
    readonly groups: readonly G[];
    readonly tries: number;
    readonly dropped: number;
    readonly notices: string[];
  } {
    const { groups } = this.settings;
    const enough = this.full;
    if (!enough && this.rule === 'dapo') {
      throw new DynamicSamplingError(
        `After ${this.tries} rollouts only ${this.kept.length} of ${groups} task groups have differing rewards; raise maxGenerationBatches or choose other tasks.`,
      );
    }
    return {
      groups: this.rule === 'agent' ? this.kept : this.kept.slice(0, groups),
      tries: this.tries,
      dropped: this.dropped,
      notices: enough
        ? []
        : [
            `Dynamic sampling found ${this.kept.length} of ${groups} task groups with differing rewards in ${this.tries} rollouts; the batch is that much smaller.`,
          ],
    };
  }
}
