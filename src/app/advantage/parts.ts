import type { Estimate } from '../../estimators/estimate.ts';

/** One term of the sum that makes a step's advantage. */
export interface Part {
  readonly kind: 'trajectory' | 'level' | 'peers' | 'credit';
  /** History depth of a level; 0 for the others. */
  readonly k: number;
  /** Members of what the step is compared with; 0 = no such group. */
  readonly size: number;
  /** NaN where there is nobody to be compared with. */
  readonly advantage: number;
  /** Factor in the sum; 0 = does not count. */
  readonly weight: number;
}

/** The terms behind one advantage: Σ weight · advantage over those that count. */
export function partsOf(estimate: Estimate, task: number, row: number): Part[] {
  const { detail, settings } = estimate;
  const levels = estimate.levels.map(({ k, size, advantage, weight }): Part => ({
    kind: 'level',
    k,
    size: size[row]!,
    advantage: advantage[row]!,
    weight: weight[row]!,
  }));
  const trajectory = (
    { advantage, baseline }: { advantage: Float64Array; baseline: { count: Int32Array } },
    weight: number,
  ): Part => ({ kind: 'trajectory', k: 0, size: baseline.count[task]!, advantage: advantage[row]!, weight });
  switch (detail.kind) {
    case 'trajectory':
      return [trajectory(detail, 1)];
    case 'gigpo':
      return [trajectory(detail.episode, settings.episodeWeight), ...levels];
    case 'hgpo':
      return detail.base ? [trajectory(detail.base, detail.base.weight[row]!), ...levels] : levels;
    case 'progpo': {
      const group = detail.peers.group[row]!;
      const scale = settings.mode === 'mean_norm' ? 1 : detail.creditScale[task]! + settings.eps;
      const share = detail.peerWeight[row]!;
      const parts: Part[] = [
        { kind: 'peers', k: 0, size: detail.peers.size[group]!, advantage: detail.peer.advantage[row]!, weight: share },
        { kind: 'credit', k: 0, size: 0, advantage: detail.credit[row]! / scale, weight: (1 - share) * settings.beta },
      ];
      return detail.episode ? [...parts, trajectory(detail.episode, settings.episodeWeight)] : parts;
    }
    case 'ppo':
      return [];
  }
}

/** What a part adds to the sum. */
export const contribution = ({ advantage, weight }: Part): number => (weight === 0 ? 0 : weight * advantage);

/** The parts that count, each from where the sum stood before it to where it stands after. */
export function runningSum(parts: readonly Part[]): { part: Part; from: number; to: number }[] {
  const segments: { part: Part; from: number; to: number }[] = [];
  for (const part of parts) {
    const from = segments.at(-1)?.to ?? 0;
    if (contribution(part) !== 0) segments.push({ part, from, to: from + contribution(part) });
  }
  return segments;
}
