import type { RolloutBatch } from '../rollouts/batch.ts';
import { grpoAdvantages, type TrajectoryAdvantages } from './grpo.ts';
import { contextGroups, grouping, historyGroups, taskGroups, type Grouping, type GroupRows } from './groups.ts';
import { shrunkVariance } from './hgpo.ts';
import { compareInGroups, firstVisits, groupMean, groupStatistics, type GroupComparison } from './statistics.ts';
import type { Similarity } from './similarity.ts';
import type { Settings } from './settings.ts';

/**
 * ProGPO (our reading). No public code was found, and the text we have is a summary. It fixes: steps with exactly the
 * same history are compared; where these are few, a step gets transition credit from state potentials, which come from
 * the rollouts of the batch (no critic), made reliable by borrowing from similar contexts and by inverse-variance fusion
 * across history depths. Every formula in this file is ours.
 */

/** The value estimate of one depth for one context. */
export interface DepthEstimate {
  readonly k: number;
  readonly groups: Grouping;
  /** [contexts] weighted mean μ of the returns */
  readonly mean: Float64Array;
  /** [contexts] v: uncertainty of μ */
  readonly variance: Float64Array;
  /** [contexts] effective number of samples n_e */
  readonly samples: Float64Array;
  /** [contexts] other contexts that lent returns */
  readonly lenders: Int32Array;
}

export interface Potentials {
  /** [K + 1] */
  readonly depths: readonly DepthEstimate[];
  /** [rows] Φ */
  readonly potential: Float64Array;
  /** [rows] C */
  readonly credit: Float64Array;
  /** [tasks] root mean square of the credits */
  readonly creditScale: Float64Array;
}

export interface ProgpoAdvantages extends Potentials {
  /** [rows] */
  readonly advantage: Float64Array;
  readonly peers: Grouping;
  /** A^peer; NaN for a step without a peer */
  readonly peer: GroupComparison;
  /** [rows] share of A^peer: 0 or 1 behind the hard gate */
  readonly peerWeight: Float64Array;
  readonly episode: TrajectoryAdvantages | null;
}

export type ProgpoRows = GroupRows & Pick<RolloutBatch, 'reward' | 'valid' | 'trajectoryTask'>;

type PotentialSettings = Pick<
  Settings,
  'K' | 'gamma' | 'invalidPenalty' | 'theta' | 'simPower' | 'expandBelow' | 'kappa' | 'epsV' | 'fusion'
>;

/**
 *     A = A^peer                        where the row has `minPeers` rows or more with its history (hard gate)
 *     A = β Ĉ                           elsewhere
 *     A = ρ A^peer + (1 − ρ) β Ĉ,       ρ = 1 − 1/|P| (soft gate)
 *
 * plus episodeWeight times GRPO's advantage. Ĉ is C over the task's root mean square (plus ε), or C in `mean_norm`.
 *
 * @param returns [rows] Q
 * @param score [rows] S
 */
export function progpoAdvantages(
  rows: ProgpoRows,
  potentials: Potentials,
  returns: Float64Array,
  score: Float64Array,
  settings: Pick<
    Settings,
    'mode' | 'eps' | 'minPeers' | 'prefix' | 'gate' | 'beta' | 'episodeWeight' | 'crossSteps' | 'leaveOut' | 'visits'
  >,
): ProgpoAdvantages {
  const peers = historyGroups(rows, settings.prefix);
  const { advantage: amongPeers, sd } = compareInGroups(rows, returns, peers, { ...settings, freedom: 0 });
  const episode = settings.episodeWeight === 0 ? null : grpoAdvantages(rows, score, settings);
  const { credit, creditScale } = potentials;
  const advantage = new Float64Array(rows.rowCount);
  const peerWeight = new Float64Array(rows.rowCount);
  for (let i = 0; i < advantage.length; i++) {
    const size = peers.size[peers.group[i]!]!;
    const share = settings.gate === 'soft' ? 1 - 1 / size : size >= settings.minPeers ? 1 : 0;
    const among = Number.isNaN(amongPeers[i]!) ? 0 : amongPeers[i]!;
    const scaled =
      settings.mode === 'mean_norm' ? credit[i]! : credit[i]! / (creditScale[rows.task[i]!]! + settings.eps);
    peerWeight[i] = share;
    advantage[i] = share * among + (1 - share) * settings.beta * scaled;
    if (episode) advantage[i] = advantage[i]! + settings.episodeWeight * episode.advantage[i]!;
  }
  return { ...potentials, advantage, peers, peer: { advantage: amongPeers, sd }, peerWeight, episode };
}

/**
 * State potentials and transition credit:
 *
 *     C_i = r_i − c·(1 − v_i) + γ Φ(next) − Φ(i),   Φ = 0 behind the last row
 *
 * Φ fuses the depth estimates that exist for the row, Φ = Σ (μ_k / v_k) / Σ (1 / v_k). Potentials are made of rewards
 * alone; the penalty is charged to the row that earned it, as everywhere. O(rows · K), and O(contexts²) per task and
 * depth where contexts borrow.
 *
 * @param rewardToGo [rows] R, without penalties
 */
export function statePotentials(
  rows: ProgpoRows,
  rewardToGo: Float64Array,
  settings: PotentialSettings,
  similarity: Similarity,
): Potentials {
  const { byStep, rowStart, task } = rows;
  const depths = depthEstimates(rows, rewardToGo, settings, similarity);
  const potential = new Float64Array(rows.rowCount);
  for (let i = 0; i < potential.length; i++) potential[i] = fuse(depths, i, settings.fusion);

  const credit = new Float64Array(rows.rowCount);
  for (let t = 0; t + 1 < rowStart.length; t++) {
    let next = 0;
    for (let j = rowStart[t + 1]! - 1; j >= rowStart[t]!; j--) {
      const row = byStep[j]!;
      const charge = rows.valid[row] === 0 ? settings.invalidPenalty : 0;
      credit[row] = rows.reward[row]! + settings.gamma * next - potential[row]! - charge;
      next = potential[row]!;
    }
  }
  const creditScale = new Float64Array(rows.tasks.size);
  const rowsOfTask = taskGroups(rows).size;
  for (let i = 0; i < credit.length; i++) creditScale[task[i]!] = creditScale[task[i]!]! + credit[i]! ** 2;
  for (let u = 0; u < creditScale.length; u++) creditScale[u] = Math.sqrt(creditScale[u]! / rowsOfTask[u]!);
  return { depths, potential, credit, creditScale };
}

/** Φ of a row. Shifted by the shallowest mean, so that equal means give exactly that mean. */
function fuse(depths: readonly DepthEstimate[], row: number, fusion: Settings['fusion']): number {
  const base = depths[0]!.mean[depths[0]!.groups.group[row]!]!;
  let total = 0;
  let sum = 0;
  let deepest = base;
  for (const { groups, mean, variance } of depths) {
    const context = groups.group[row]!;
    if (context < 0) break;
    const weight = fusion === 'uniform' ? 1 : 1 / variance[context]!;
    total += weight;
    sum += weight * (mean[context]! - base);
    deepest = mean[context]!;
  }
  return fusion === 'deepest' ? deepest : base + sum / total;
}

/**
 * For each depth k and context: the mean of the returns of its rows (weight 1). A context seen in fewer than
 * `expandBelow` trajectories also takes the rows of other contexts of the task whose similarity q, the mean over the
 * k+1 observations, is at least θ, with weight q^simPower. With weights ω, W = Σω, n_e = W² / Σω²:
 *
 *     μ = Σωx / W,   s² = Σω(x−μ)² / W · n_e / (n_e − 1)   (0 when n_e = 1)
 *     v = ((n_e − 1) s² + κ σ²) / (n_e − 1 + κ) / n_e + epsV,   σ² the sample variance of the task's returns
 */
function depthEstimates(
  rows: ProgpoRows,
  rewardToGo: Float64Array,
  settings: PotentialSettings,
  similarity: Similarity,
): DepthEstimate[] {
  const hierarchy = contextGroups(rows, {
    K: settings.K,
    shortContext: 'skip',
    contextActions: false,
    similarity: null,
    similarityMeasure: 'trigram-cosine',
  });
  const ofTask = groupStatistics(rewardToGo, taskGroups(rows));
  const taskVariance = Float64Array.from(ofTask.count, (n, u) => (n > 1 ? ofTask.squares[u]! / (n - 1) : 0));
  const positions = new Int32Array(rows.rowCount);
  rows.byStep.forEach((row, j) => (positions[row] = j));
  const observationsAlike = rememberedSimilarity(rows, similarity);

  return hierarchy.map((groups, k) => {
    const { group, groupCount, size } = groups;
    const own = groupStatistics(rewardToGo, grouping(group, groupCount));
    const trajectories = new Int32Array(groupCount);
    firstVisits(rows, group).forEach((isFirst, row) => {
      if (isFirst === 1) trajectories[group[row]!]!++;
    });
    // A row of each context, to read its task and its observations from.
    const sample = new Int32Array(groupCount).fill(-1);
    for (let i = rows.rowCount - 1; i >= 0; i--) if (group[i]! >= 0) sample[group[i]!] = i;
    const contextsOfTask: number[][] = Array.from({ length: rows.tasks.size }, () => []);
    sample.forEach((row, context) => contextsOfTask[rows.task[row]!]!.push(context));

    /** q of two contexts, or −1 where it cannot reach θ. */
    const contextSimilarity = (a: number, b: number): number => {
      let missing = (1 - settings.theta) * (k + 1);
      let sum = 0;
      for (let lag = 0; lag <= k; lag++) {
        const alike = observationsAlike(
          rows.observation[rows.byStep[positions[sample[a]!]! - lag]!]!,
          rows.observation[rows.byStep[positions[sample[b]!]! - lag]!]!,
        );
        sum += alike;
        missing -= 1 - alike;
        if (missing < -1e-9) return -1;
      }
      return sum / (k + 1);
    };

    const mean = new Float64Array(groupCount);
    const variance = new Float64Array(groupCount);
    const samples = new Float64Array(groupCount);
    const lenders = new Int32Array(groupCount);
    for (let c = 0; c < groupCount; c++) {
      const origin = groupMean(own, c);
      const contexts = [c];
      const weights = [1];
      if (trajectories[c]! < settings.expandBelow && settings.theta <= 1) {
        for (const other of contextsOfTask[rows.task[sample[c]!]!]!) {
          const q = other === c ? -1 : contextSimilarity(c, other);
          if (q < settings.theta) continue;
          contexts.push(other);
          weights.push(q ** settings.simPower);
        }
      }
      let total = 0;
      let totalSquares = 0;
      let offset = 0;
      for (const [j, context] of contexts.entries()) {
        const n = size[context]!;
        total += weights[j]! * n;
        totalSquares += weights[j]! ** 2 * n;
        offset += weights[j]! * n * (groupMean(own, context) - origin);
      }
      offset /= total;
      let spread = 0;
      for (const [j, context] of contexts.entries()) {
        const distance = groupMean(own, context) - origin - offset;
        spread += weights[j]! * (own.squares[context]! + size[context]! * distance ** 2);
      }
      const effective = total ** 2 / totalSquares;
      const shrunk = shrunkVariance(
        (spread / total) * effective,
        effective - 1,
        taskVariance[rows.task[sample[c]!]!]!,
        settings.kappa,
      );
      mean[c] = origin + offset;
      variance[c] = shrunk / effective + settings.epsV;
      samples[c] = effective;
      lenders[c] = contexts.length - 1;
    }
    return { k, groups, mean, variance, samples, lenders };
  });
}

/** Similarity of two observations by number; each pair is computed once. */
function rememberedSimilarity(
  rows: Pick<RolloutBatch, 'observations'>,
  similarity: Similarity,
): (a: number, b: number) => number {
  const texts = rows.observations.values;
  const known = new Map<number, number>();
  return (a, b) => {
    if (a === b) return 1;
    const pair = a * texts.length + b;
    let alike = known.get(pair);
    if (alike === undefined) known.set(pair, (alike = similarity(texts[a]!, texts[b]!)));
    return alike;
  };
}
