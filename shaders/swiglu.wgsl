// SwiGLU, forward:  y[t,i] = silu(gate[t,i]) · up[t,i],   silu(g) = g / (1 + exp(−g))
// Shapes: gateUp [rows, 2 · width], gate before up in each row; y [rows, width].
// Source: Shazeer, "GLU Variants Improve Transformer", 2020. Twin: swigluTwin, src/gpu/kernels/swiglu.ts.

struct Parameters { rows: u32, width: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> gateUp: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;

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
  y[i] = gate / (1.0 + exp(clamp(-gate, -80.0, 80.0))) * gateUp[at + width];
}
