import {
  AutoModelForCausalLM,
  AutoTokenizer,
  env,
  type PreTrainedModel,
  type PreTrainedTokenizer,
} from '@huggingface/transformers';
import wasmFactory from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.mjs?url';
import wasmBinary from 'onnxruntime-web/ort-wasm-simd-threaded.asyncify.wasm?url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomStream } from '../random/stream.ts';
import { randomWeights } from '../testing/decoders.ts';
import { untrainedPolicy } from '../testing/policy-models.ts';
import { randomInputs } from '../testing/random-play.ts';
import { modelFolderFiles, readModelFolder, type WeightFormat } from './model-folder.ts';
import { DecoderSession } from './onnx/decoder-session.ts';
import { OnnxGenerator } from './onnx/onnx-generator.ts';
import { PromptWriter } from './prompt.ts';

const model = untrainedPolicy('rooms');
const files = modelFolderFiles(model, randomWeights(model.config), '');
const name = 'policies/untrained';
const fetchOfThePage = globalThis.fetch;

/** Serves the folder where Transformers.js looks for a model of this name; everything else goes to the real server. */
beforeAll(() => {
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.localModelPath = '/';
  env.useBrowserCache = false;
  env.backends.onnx.wasm!.wasmPaths = { mjs: wasmFactory, wasm: wasmBinary };
  env.backends.onnx.wasm!.numThreads = 1;
  env.fetch = async (input: RequestInfo | URL, init?: RequestInit) => {
    const address = String(input instanceof Request ? input.url : input);
    const at = address.indexOf(`${name}/`);
    if (at < 0) return fetchOfThePage(input, init);
    const file = files.get(address.slice(at + name.length + 1));
    return file ? new Response(file as Uint8Array<ArrayBuffer>) : new Response(null, { status: 404 });
  };
});

describe.each(['fp32', 'int8', 'q4'] as const)('Transformers.js loads a model folder: %s', (dtype) => {
  let theirs: PreTrainedModel;
  let tokenizer: PreTrainedTokenizer;
  beforeAll(async () => {
    tokenizer = await AutoTokenizer.from_pretrained(name);
    theirs = await AutoModelForCausalLM.from_pretrained(name, { dtype, device: 'wasm' });
  });
  afterAll(() => theirs?.dispose());

  it('and writes the same replies as our own runner, token for token', async () => {
    const format: WeightFormat = dtype === 'fp32' ? 'float32' : dtype;
    const folder = await readModelFolder(async (path) => files.get(path) ?? null, format);
    const generator = new OnnxGenerator(
      await DecoderSession.open(folder.bytes, folder.config),
      folder.config.vocabSize,
    );
    const writer = new PromptWriter(
      folder.tokenizer,
      folder.promptFormat,
      folder.config.contextLength,
      folder.replyTokens,
    );
    const prompts = [...randomInputs('rooms', 'S', 4, 7)].map((input) => writer.write(input).tokens);
    const ours = await generator.generate(
      prompts.map((prompt) => ({ prompt, stream: randomStream(0) })),
      { temperature: 0, maxTokens: folder.replyTokens, endToken: folder.tokenizer.special('<end>') },
    );

    const inputs = tokenizer(
      prompts.map((prompt) => writer.text(prompt)),
      { padding: true },
    );
    expect(
      prompts.map((_, row) => (inputs.input_ids.tolist() as bigint[][])[row]!.slice(-prompts[row]!.length).map(Number)),
    ).toEqual(prompts);
    const output = (await theirs.generate(inputs)) as { tolist(): bigint[][] };
    const columns = inputs.input_ids.dims[1] as number;
    const replies = output.tolist().map((row) => row.slice(columns).map(Number));
    ours.forEach(({ tokens }, row) => expect(replies[row]!.slice(0, tokens.length)).toEqual([...tokens]));
    await generator.close();
  });
});
