import type { EnvironmentName } from '../environments/environment.ts';
import type { ModelDescription } from '../policy/model-folder.ts';
import { defaultPromptFormat } from '../policy/prompt.ts';
import { Tokenizer } from '../policy/tokenizer.ts';
import { shippedSize } from './decoders.ts';

/** A policy of the shipped size for an environment; its weights are drawn (`randomWeights`). */
export function untrainedPolicy(environment: EnvironmentName): ModelDescription {
  const tokenizer = Tokenizer.for(environment);
  return {
    config: { ...shippedSize, vocabSize: tokenizer.size, contextLength: 256 },
    tokenizer,
    environments: [environment],
    promptFormat: defaultPromptFormat,
    replyTokens: 32,
  };
}
