// SwiGLU, backward:  dGate = dy · up · σ · (1 + gate · (1 − σ)),   dUp = dy · gate · σ,   σ = 1 / (1 + exp(−gate))
// Shapes: gateUp, dGateUp [rows, 2 · width], gate before up in each row; dy [rows, width]; vectors as in shaders/swiglu.wgsl.
// Source: derivative of shaders/swiglu.wgsl. Twin: swigluBackwardTwin, src/gpu/kernels/swiglu.ts.

struct Parameters { rows: u32, fours: u32 }

#if VECTOR
alias Lanes = vec4<f32>;
#else
alias Lanes = f32;
#end

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> gateUp: array<Lanes>;
@group(0) @binding(2) var<storage, read> dy: array<Lanes>;
@group(0) @binding(3) var<storage, read_write> dGateUp: array<Lanes>;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(workgroup, workgroups, local);
  let fours = parameters.fours;
  let row = i / fours;
  if (row >= parameters.rows) {
    return;
  }
  let at = i + row * fours;
  let gate = gateUp[at];
  let sigma = 1.0 / (1.0 + exp(clamp(-gate, Lanes(-80.0), Lanes(80.0))));
  dGateUp[at] = dy[i] * gateUp[at + fours] * sigma * (1.0 + gate * (1.0 - sigma));
  dGateUp[at + fours] = dy[i] * gate * sigma;
}
