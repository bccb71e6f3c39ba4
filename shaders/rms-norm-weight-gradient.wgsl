// RMSNorm, gradient of the weight, in two passes of fixed order: this one sums a segment of rows for each column,
//   partial[s,i] = Σ_{t in segment s} dy[t,i] · x[t,i] · inverseRms[t]
// and shaders/sum-rows.wgsl adds the segments. Segment s holds rows s·segmentRows … (s+1)·segmentRows − 1.
// Shapes: x, dy [rows, width]; inverseRms [rows]; partial [segments, width].
// Twin: rmsNormBackwardTwin, src/gpu/kernels/rms-norm.ts.

struct Parameters { rows: u32, width: u32, segmentRows: u32, segments: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> inverseRms: array<f32>;
@group(0) @binding(3) var<storage, read> dy: array<f32>;
@group(0) @binding(4) var<storage, read_write> partial: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(workgroup, workgroups, local);
  let width = parameters.width;
  if (i >= parameters.segments * width) {
    return;
  }
  let segment = i / width;
  let column = i % width;
  let first = segment * parameters.segmentRows;
  let last = min(first + parameters.segmentRows, parameters.rows);
  var total = 0.0;
  for (var row = first; row < last; row++) {
    total += dy[row * width + column] * x[row * width + column] * inverseRms[row];
  }
  partial[i] = total;
}
