// Log-softmax, backward, in place of the logits of a chunk of output-head rows:
//   dlogits[r,v] = inverseTemperature · ( g · (1[v = target] − p[v])  −  h · p[v] · (log p[v] + entropy) ),  0 where v is not allowed,
// with (g, h) = gradient[position] = (∂loss/∂logProb, ∂loss/∂entropy) and p from shaders/log-softmax.wgsl.
// Shapes: as there; gradient [positions, 2].
// Twin: logSoftmaxBackwardTwin, src/gpu/kernels/log-softmax.ts.

struct Parameters { rows: u32, vocabulary: u32, firstRow: u32, inverseTemperature: f32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> logits: array<f32>;
@group(0) @binding(2) var<storage, read> targets: array<u32>;
#if MASKED
@group(0) @binding(3) var<storage, read> allowed: array<u32>;
#end
@group(0) @binding(4) var<storage, read> entropy: array<f32>;
@group(0) @binding(5) var<storage, read> logSumExp: array<f32>;
@group(0) @binding(6) var<storage, read> gradient: array<vec2<f32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(workgroup, workgroups, local);
  let row = i / parameters.vocabulary;
  let token = i % parameters.vocabulary;
  if (row >= parameters.rows) {
    return;
  }
  let position = parameters.firstRow + row;
#if MASKED
  let words = (parameters.vocabulary + 31u) >> 5u;
  if (((allowed[position * words + (token >> 5u)] >> (token & 31u)) & 1u) == 0u) {
    logits[i] = 0.0;
    return;
  }
#end
  let logShare = logits[i] * parameters.inverseTemperature - logSumExp[position];
  let share = exp(clamp(logShare, -80.0, 0.0));
  let g = gradient[position];
  let hit = select(0.0, 1.0, token == targets[position]);
  logits[i] = parameters.inverseTemperature * (g.x * (hit - share) - g.y * share * (logShare + entropy[position]));
}
