import indexSource from '../../../shaders/index.wgsl?raw';
import threefrySource from '../../../shaders/threefry.wgsl?raw';
import { threefry2x32 } from '../../random/threefry.ts';
import type { Kernel } from '../kernel.ts';
import { linearWorkgroups, WORKGROUP } from '../program.ts';
import { evaluate, kernelTest } from '../selftest.ts';

// shaders/threefry.wgsl is a part of other kernels; this one only shows its words.
const kernel: Kernel = {
  name: 'threefry',
  source: `${indexSource}${threefrySource}
struct Parameters { blocks: u32 }
@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> inputs: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> words: array<vec2<u32>>;
@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(workgroup, workgroups, local);
  if (i < parameters.blocks) {
    words[i] = threefry2x32(inputs[i].xy, inputs[i].zw);
  }
}
`,
};

export const threefryTest = kernelTest('threefry', [{ blocks: 1000 }], ({ blocks }) => ({
  async compare(gpu, random) {
    // [blocks, 4] key and counter; the first ones are the extremes of the authors' known answers.
    const inputs = Uint32Array.from({ length: blocks * 4 }, (_, i) =>
      i < 4 ? 0 : i < 8 ? 0xffffffff : random.nextUint32(),
    );
    const { words } = await evaluate(
      gpu,
      { inputs, words: blocks * 2 },
      (buffers) => ({
        kernel,
        constants: { WORKGROUP },
        bindings: buffers,
        parameters: { blocks },
        workgroups: () => linearWorkgroups(blocks),
      }),
      ['words'],
    );
    const expected = new Uint32Array(blocks * 2);
    for (let i = 0; i < blocks; i++) {
      threefry2x32(
        inputs[i * 4]!,
        inputs[i * 4 + 1]!,
        inputs[i * 4 + 2]!,
        inputs[i * 4 + 3]!,
        expected.subarray(i * 2, i * 2 + 2),
      );
    }
    return [{ name: 'words', actual: new Uint32Array(words.buffer), expected, exact: true }];
  },
}));
