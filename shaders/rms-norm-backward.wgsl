// RMSNorm, backward to the input, added (ADD) to what the residual stream already carries:
//   dx[t,i] (+)= r[t] · weight[i] · dy[t,i]  −  x[t,i] · r[t]³ / width · Σ_j weight[j] · dy[t,j] · x[t,j]
// Shapes: x, dy, dx [rows, width]; weight [width]; inverseRms r [rows].
// Source: derivative of shaders/rms-norm.wgsl. Twin: rmsNormBackwardTwin, src/gpu/kernels/rms-norm.ts.

struct Parameters { rows: u32, width: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read> inverseRms: array<f32>;
@group(0) @binding(4) var<storage, read> dy: array<f32>;
@group(0) @binding(5) var<storage, read_write> dx: array<f32>;

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

  var projection = 0.0;
  if (inside) {
    for (var column = lane; column < width; column += LANES) {
      projection += weight[column] * dy[start + column] * x[start + column];
    }
  }
  projection = laneSum(projection, local);
  if (inside) {
    let scale = inverseRms[row];
    let along = scale * scale * scale / f32(width) * projection;
    for (var column = lane; column < width; column += LANES) {
      let value = scale * weight[column] * dy[start + column] - along * x[start + column];
#if ADD
      dx[start + column] += value;
#else
      dx[start + column] = value;
#end
    }
  }
}
