// Token embedding, forward:  x[t,i] = E[token[t], i]
// Shapes: tokens [rows]; E [vocabulary, width] in the format put in front (weight-*.wgsl); x [rows, width].
// One invocation takes four columns. Twin: embeddingTwin, src/gpu/kernels/embedding.ts.

struct Parameters { rows: u32, width: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> tokens: array<u32>;
@group(0) @binding(2) var<storage, read_write> x: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(workgroup, workgroups, local);
  let width = parameters.width;
  let fours = (width + 3u) >> 2u;
  let row = i / fours;
  let four = i % fours;
  if (row >= parameters.rows) {
    return;
  }
  let token = tokens[row];
  let value = fourOfWeight(token, four, width, weightBlock(token, four >> 3u, width));
  for (var e = 0u; e < 4u; e++) {
    let column = four * 4u + e;
    if (column < width) {
      x[row * width + column] = value[e];
    }
  }
}
