// First pass of the global gradient norm:  partial[s] = Σ_{i ≡ s mod SEGMENTS} gradient[i]²
// A fixed number of invocations, each adding in index order, so the norm repeats bit for bit.
// Shapes: gradient [count]; partial [SEGMENTS]. Twin: optimizerStepTwin, src/gpu/kernels/adamw.ts.

struct Parameters { count: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> gradient: array<f32>;
@group(0) @binding(2) var<storage, read_write> partial: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  var total = 0.0;
  for (var i = id.x; i < parameters.count; i += SEGMENTS) {
    total += gradient[i] * gradient[i];
  }
  partial[id.x] = total;
}
