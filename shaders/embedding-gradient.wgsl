// Token embedding, gradient in the table:  dE[v,i] += Σ_{t : token[t] = v} dx[t,i]
// Without atomics: the CPU sorts the positions by token, and one invocation adds up all positions of one token for one column,
// in the order of the positions, so a result repeats bit for bit.
// Shapes: dx [rows, width]; order [rows] positions sorted by token; segments [distinct + 1] = (token, where its positions begin
// in order), closed by (0, rows); dE [vocabulary, width].
// Twin: embeddingGradientTwin, src/gpu/kernels/embedding.ts.

struct Parameters { distinct: u32, width: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> dx: array<f32>;
@group(0) @binding(2) var<storage, read> order: array<u32>;
@group(0) @binding(3) var<storage, read> segments: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> dEmbedding: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(workgroup, workgroups, local);
  let width = parameters.width;
  let segment = i / width;
  let column = i % width;
  if (segment >= parameters.distinct) {
    return;
  }
  let end = segments[segment + 1u].y;
  var total = 0.0;
  for (var at = segments[segment].y; at < end; at++) {
    total += dx[order[at] * width + column];
  }
  dEmbedding[segments[segment].x * width + column] += total;
}
