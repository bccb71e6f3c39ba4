// SwiGLU, backward:  dGate = dy · up · σ · (1 + gate · (1 − σ)),   dUp = dy · gate · σ,   σ = 1 / (1 + exp(−gate))
// Shapes: gateUp, dGateUp [rows, 2 · width], gate before up in each row; dy [rows, width].
// Source: derivative of shaders/swiglu.wgsl. Twin: swigluBackwardTwin, src/gpu/kernels/swiglu.ts.

struct Parameters { rows: u32, width: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> gateUp: array<f32>;
@group(0) @binding(2) var<storage, read> dy: array<f32>;
@group(0) @binding(3) var<storage, read_write> dGateUp: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(workgroup, workgroups, local);
  let width = parameters.width;
  let row = i / width;
  if (row >= parameters.rows) {
    return;
  }
  let at = row * 2u * width + i % width;
  let gate = gateUp[at];
  let sigma = 1.0 / (1.0 + exp(clamp(-gate, -80.0, 80.0)));
  dGateUp[at] = dy[i] * gateUp[at + width] * sigma * (1.0 + gate * (1.0 - sigma));
  dGateUp[at + width] = dy[i] * gate * sigma;
}
