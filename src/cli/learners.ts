import { createHash } from 'node:crypto';
import type { EnvironmentName } from '../environments/environment.ts';
import { textKey } from '../environments/text-key.ts';
import { requireSameVariants, type KernelVariants } from '../gpu/variants.ts';
import { modelFolderFiles } from '../policy/model-folder.ts';
import { TabularPolicy } from '../rollouts/policies/tabular.ts';
import type { Learner } from '../training/learner.ts';
import { NeuralLearner, variantsOfState } from '../training/neural-learner.ts';
import {
  tuningDefaults,
  tuningModes,
  type PolicyKind,
  type RunSettings,
  type TuningMode,
} from '../training/run-settings.ts';
import { TabularLearner } from '../training/tabular-learner.ts';
import type { RunState } from '../training/trainer.ts';
import type { Terminal } from './command.ts';
import { UsageError } from './errors.ts';
import {
  modelFolderPath,
  oneOf,
  openTrainingDevice,
  pinnedVariants,
  readFittingModel,
  variantsSentence,
} from './neural-policy.ts';
import { openTable, tableFile } from './policies.ts';

/** Which policy is to be trained, and how. */
export interface LearnerRequest {
  readonly policy: string;
  readonly method: string;
  readonly tuning?: string | undefined;
  readonly head?: string | undefined;
  readonly memory?: number | undefined;
  readonly seed: number;
  /** `--variants`: how kernels are to be compiled. */
  readonly variants?: string;
}

/** A policy that can be trained: what settings depend on is known before a device is opened for it. */
export interface LearnerSource {
  readonly kind: PolicyKind;
  readonly memory: number;
  /** Tells the weights that training begins with from all others, whatever the policy is called. */
  readonly weightsKey: string;
  /** Settings that fit the learner where nobody says otherwise. */
  readonly usual: Readonly<Record<string, unknown>>;
  /**
   * @param earlier the checkpoint that the run goes on from: kernels keep the variants that it records
   * @throws UnsoundAdapterError, GpuUnavailableError, KernelVariantError for a neural policy
   */
  open(earlier?: RunState | null): Promise<OpenedLearner>;
}

export interface OpenedLearner {
  readonly learner: Learner;
  /** Of a neural policy's kernels. */
  readonly variants?: KernelVariants;
  /** The files of the policy as it is now, by path within the run's folder. */
  files(run: RunSettings): Promise<ReadonlyMap<string, string | Uint8Array>>;
  close(): Promise<void>;
}

export const trainablePolicies =
  'tabular (from its random start), tabular:FILE, the folder of a neural policy, or a shipped one such as tabular-rooms-20';

/** @throws UsageError for an unknown name; as `openTable` and `readFittingModel`. */
export async function findLearner(
  request: LearnerRequest,
  environment: EnvironmentName,
  terminal: Pick<Terminal, 'say'>,
): Promise<LearnerSource> {
  if (request.policy === 'tabular') {
    const memory = request.memory ?? 1;
    return tabularLearner(new TabularPolicy({ environment, memory }), memory);
  }
  const file = tableFile(request.policy);
  if (file !== null) {
    const { policy, memory } = await openTable(file, { environment, memory: request.memory, temperature: 1 });
    return tabularLearner(policy, memory);
  }
  const folder = modelFolderPath(request.policy);
  if (folder !== null) return neuralLearner(folder, request, environment, terminal);
  throw new UsageError(
    `There is no policy ${JSON.stringify(request.policy)} to train; known are tabular, tabular:FILE, model folders and the shipped policies.`,
  );
}

function tabularLearner(policy: TabularPolicy, memory: number): LearnerSource {
  const learner = new TabularLearner(policy);
  const files = () => Promise.resolve(new Map([['policy.json', JSON.stringify(learner.toJson())]]));
  const opened = { learner, files, close: () => Promise.resolve() };
  const weightsKey = textKey(JSON.stringify(learner.toJson()));
  return { kind: 'tabular', memory, weightsKey, usual: {}, open: () => Promise.resolve(opened) };
}

/** How a policy that is being trained may give its commands: the scores of `choose` cannot be trained. */
export const trainableHeads = ['generate-admissible', 'generate'] as const;

/** The README of a policy that a run trained. */
export function trainedCard(method: string, begunWith: string, tuning: TuningMode, seed: number): string {
  return `# A policy trained by ${method}\n\nFrom ${begunWith}, ${tuning} tuning, seed ${seed}; settings and success are in summary.json of the run.\n`;
}

async function neuralLearner(
  folder: string,
  request: LearnerRequest,
  environment: EnvironmentName,
  terminal: Pick<Terminal, 'say'>,
): Promise<LearnerSource> {
  const { policy, method, tuning: tuningName, head: headName, memory, seed } = request;
  const tuning = oneOf('--tuning', tuningName ?? tuningModes[0], tuningModes);
  const head = oneOf('--head', headName ?? 'generate-admissible', trainableHeads);
  // Adapters lie over the weights that are shipped; what is trained whole begins with the exact ones.
  const model = await readFittingModel(folder, tuning === 'lora' ? 'q4' : 'float32', { environment, memory });
  const pinned = pinnedVariants(request);
  const open = async (earlier?: RunState | null): Promise<OpenedLearner> => {
    let variants = pinned;
    if (earlier) {
      const recorded = variantsOfState(earlier.learner);
      requireSameVariants('The checkpoint', recorded, variants);
      variants = recorded;
    }
    const gpu = await openTrainingDevice(terminal);
    const learner = await NeuralLearner.create(gpu, model, {
      tuning,
      head,
      variants,
      valueHead: method === 'ppo',
      seed,
    });
    terminal.say(variantsSentence(learner.variants, variants));
    return {
      learner,
      variants: learner.variants,
      files: async ({ settings, seed }) => {
        const card = trainedCard(settings.method, policy, tuning, seed);
        const files = modelFolderFiles(model, await learner.weights(), card);
        return new Map([...files].map(([path, bytes]) => [`policy/${path}`, bytes]));
      },
      close: async () => {
        await learner.close();
        gpu.destroy();
      },
    };
  };
  return {
    kind: 'neural',
    memory: model.promptFormat.historyLength,
    weightsKey: createHash('sha256').update(model.bytes).digest('hex').slice(0, 16),
    usual: tuningDefaults[tuning],
    open,
  };
}
