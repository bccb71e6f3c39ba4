import { EstimatorWorkspace, estimate, type LevelEstimate } from '../estimators/estimate.ts';
import { resolveSettings, type Settings } from '../estimators/settings.ts';
import type { RolloutBatch } from '../rollouts/batch.ts';

/**
 * What the groups of a hierarchy look like and how much of a batch they can use. The Oracle group of a row is its
 * deepest one, G_K; an Oracle row has company there (HGPO, arXiv:2602.22817, section 3 and its ablations).
 */

/** Groups of one size. */
export interface GroupSizeBin {
  readonly size: number;
  /** Rows in groups of this size. */
  readonly rows: number;
  /** Groups of this size. */
  readonly groups: number;
}

export interface LevelDiagnostics {
  readonly k: number;
  /** Rows of the batch. */
  readonly rows: number;
  /** Rows that have this level. */
  readonly present: number;
  readonly groups: number;
  /** By size, ascending; only sizes that occur. */
  readonly histogram: readonly GroupSizeBin[];
  /** Share of all rows with |G_k| ≥ 2. */
  readonly utilisation: number;
  /** Share of all rows without a nonzero advantage at this level: absent, alone, or equal to the group mean. */
  readonly withoutSignal: number;
}

/** Sizes, utilisation and silent rows of each level. O(rows · levels). */
export function levelDiagnostics(
  levels: readonly Pick<LevelEstimate, 'k' | 'size' | 'advantage' | 'groups'>[],
): LevelDiagnostics[] {
  return levels.map(({ k, size, advantage, groups }) => {
    const bySize = new Map<number, number>();
    for (const count of groups.size) bySize.set(count, (bySize.get(count) ?? 0) + 1);
    const histogram = [...bySize]
      .sort(([a], [b]) => a - b)
      .map(([members, count]) => ({ size: members, rows: members * count, groups: count }));
    let present = 0;
    let accompanied = 0;
    for (const count of size) {
      if (count > 0) present++;
      if (count > 1) accompanied++;
    }
    return {
      k,
      rows: size.length,
      present,
      groups: groups.groupCount,
      histogram,
      utilisation: share(accompanied, size.length),
      withoutSignal: shareWithoutSignal(advantage),
    };
  });
}

/** Share of values that are 0 or absent (NaN). */
export function shareWithoutSignal(advantage: Float64Array): number {
  let silent = 0;
  for (const a of advantage) if (!(a > 0 || a < 0)) silent++;
  return share(silent, advantage.length);
}

export interface OracleBias {
  /** Rows with company in their deepest group. */
  readonly oracleRows: number;
  /** Mean over Oracle rows of |A − a_K|. */
  readonly meanAbsolute: number;
  /** Mean over Oracle rows of A − a_K. */
  readonly meanSigned: number;
}

/**
 * How far advantages lie from those of the Oracle groups, the paper's notion of bias. NaN without Oracle rows.
 *
 * @param advantage [rows] of any estimator; an absent value (NaN) counts as 0
 * @param deepest level K, with the same mode
 */
export function biasAgainstOracle(advantage: Float64Array, deepest: Pick<LevelEstimate, 'advantage'>): OracleBias {
  let oracleRows = 0;
  let absolute = 0;
  let signed = 0;
  for (let i = 0; i < advantage.length; i++) {
    const oracle = deepest.advantage[i]!;
    if (Number.isNaN(oracle)) continue;
    const difference = (Number.isNaN(advantage[i]!) ? 0 : advantage[i]!) - oracle;
    oracleRows++;
    absolute += Math.abs(difference);
    signed += difference;
  }
  return { oracleRows, meanAbsolute: absolute / oracleRows, meanSigned: signed / oracleRows };
}

/** An advantage whose bias against the Oracle groups is shown. */
export type BiasSource =
  { readonly of: 'trajectory' } | { readonly of: 'level'; readonly k: number } | { readonly of: 'hgpo' };

/**
 * The paper's comparison: bias against the Oracle groups of whole trajectories compared once each (GRPO), of each level
 * alone (level 0 is the step level), and of HGPO. All in the mode and with the hierarchy of `settings`.
 *
 * @param settings of the method `hgpo`
 */
export function biasesAgainstOracle(
  batch: RolloutBatch,
  settings: Settings,
  workspace: EstimatorWorkspace = new EstimatorWorkspace(batch),
): (BiasSource & OracleBias)[] {
  const { advantage, levels } = estimate(batch, settings, workspace);
  const { mode, gamma, invalidPenalty, eps } = settings;
  const trajectories = resolveSettings({
    method: 'grpo',
    options: { mode, gamma, invalidPenalty, eps, crossSteps: false },
  });
  const deepest = levels[levels.length - 1]!;
  return [
    { of: 'trajectory', ...biasAgainstOracle(estimate(batch, trajectories, workspace).advantage, deepest) },
    ...levels.map((level) => ({
      of: 'level' as const,
      k: level.k,
      ...biasAgainstOracle(level.advantage, deepest),
    })),
    { of: 'hgpo', ...biasAgainstOracle(advantage, deepest) },
  ];
}

function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}
