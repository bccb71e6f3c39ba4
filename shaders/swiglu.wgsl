// SwiGLU, forward:  y[t,i] = silu(gate[t,i]) · up[t,i],   silu(g) = g / (1 + exp(−g))
// Shapes: gateUp [rows, 2 · width], gate before up in each row; y [rows, width]; four columns an invocation where width is a multiple of 4
// (VECTOR; `fours` counts vec4s or single columns of a row).
// Source: Shazeer, "GLU Variants Improve Transformer", 2020. Twin: swigluTwin, src/gpu/kernels/swiglu.ts.

struct Parameters { rows: u32, fours: u32 }

#if VECTOR
alias Lanes = vec4<f32>;
#else
alias Lanes = f32;
#end

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> gateUp: array<Lanes>;
@group(0) @binding(2) var<storage, read_write> y: array<Lanes>;

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
  y[i] = gate / (1.0 + exp(clamp(-gate, Lanes(-80.0), Lanes(80.0)))) * gateUp[at + fours];
}
