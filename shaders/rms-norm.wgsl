// RMSNorm, forward:  y[t,i] = x[t,i] · r[t] · weight[i],   r[t] = 1 / sqrt( mean_i x[t,i]² + epsilon )
// Shapes: x, y [rows, width]; weight [width]; inverseRms [rows] (kept for the backward pass).
// Source: Zhang & Sennrich, "Root Mean Square Layer Normalization", 2019. Twin: rmsNormTwin, src/gpu/kernels/rms-norm.ts.

struct Parameters { rows: u32, width: u32, epsilon: f32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<storage, read_write> inverseRms: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(workgroup, workgroups, local);
  let row = i / LANES;
  let lane = i % LANES;
  let width = parameters.width;
  let inside = row < parameters.rows;
  let start = row * width;

  var squares = 0.0;
  if (inside) {
    for (var column = lane; column < width; column += LANES) {
      let value = x[start + column];
      squares += value * value;
    }
  }
  let scale = 1.0 / sqrt(laneSum(squares, local) / f32(width) + parameters.epsilon);
  if (inside) {
    for (var column = lane; column < width; column += LANES) {
      y[start + column] = x[start + column] * scale * weight[column];
    }
    if (lane == 0u) {
      inverseRms[row] = scale;
    }
  }
}
