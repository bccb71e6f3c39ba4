// Column sums of a matrix, added to what is there, in row order so that a result repeats:
//   sums[i] += Σ_t rows[t,i]
// The second pass of every segmented reduction, and the gradient of a bias (through segments, see src/gpu/kernels/sum-rows.ts).
// Shapes: matrix [rows, width] with `stride` words between rows, `offset` words before the first; sums [segments, width] where
// segment s takes rows s·segmentRows … ; with one segment this is the plain sum.
// Twin: sumRowsTwin, src/gpu/kernels/sum-rows.ts.

struct Parameters { rows: u32, width: u32, stride: u32, offset: u32, segmentRows: u32, segments: u32, add: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> matrix: array<f32>;
@group(0) @binding(2) var<storage, read_write> sums: array<f32>;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(workgroup, workgroups, local);
  if (i >= parameters.segments * parameters.width) {
    return;
  }
  let segment = i / parameters.width;
  let column = i % parameters.width;
  let first = segment * parameters.segmentRows;
  let last = min(first + parameters.segmentRows, parameters.rows);
  var total = 0.0;
  for (var row = first; row < last; row++) {
    total += matrix[parameters.offset + row * parameters.stride + column];
  }
  if (parameters.add != 0u) {
    total += sums[i];
  }
  sums[i] = total;
}
