// PPO's clipped value loss and its gradient, one invocation a value:
//   loss = Σ_t weight[t] · ½ max( (V − R)², (clamp(V, V_old − clipValue, V_old + clipValue) − R)² )
// Shapes: value [tokens]; targets [tokens] = (V_old, R, weight, mask); gradient [tokens] = ∂loss/∂V;
// terms [·], from termsAt on = (the token's part of the loss, 1 where the clipped error is the larger one).
// Source and twin: valueLoss, src/training/losses/value.ts.

struct Parameters { tokens: u32, termsAt: u32, clipValue: f32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> value: array<f32>;
@group(0) @binding(2) var<storage, read> targets: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> gradient: array<f32>;
@group(0) @binding(4) var<storage, read_write> terms: array<vec2<f32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let token = linearIndex(workgroup, workgroups, local);
  if (token >= parameters.tokens) {
    return;
  }
  let goal = targets[token];
  if (goal.w == 0.0) {
    gradient[token] = 0.0;
    terms[parameters.termsAt + token] = vec2<f32>(0.0);
    return;
  }
  let low = goal.x - parameters.clipValue;
  let high = goal.x + parameters.clipValue;
  let error = value[token] - goal.y;
  let clippedError = clamp(value[token], low, high) - goal.y;
  let unclippedLoss = error * error;
  let clippedLoss = clippedError * clippedError;
  let inside = value[token] >= low && value[token] <= high;
  gradient[token] = select(0.0, goal.z * error, unclippedLoss > clippedLoss || inside);
  terms[parameters.termsAt + token] = vec2<f32>(0.5 * goal.z * max(unclippedLoss, clippedLoss), select(0.0, 1.0, clippedLoss > unclippedLoss));
}
