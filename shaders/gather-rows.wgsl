// Rows by index:  y[r,i] = x[index[r], i], or 0 where index[r] is NO_ROW
// Forward it picks the response positions out of all tokens. With the inverse index (for each token its place among the
// response positions, or NO_ROW) the same kernel is its own backward pass: dx[t,i] = dy[inverse[t], i] or 0.
// Shapes: index [rows]; x [·, width]; y [rows, width]. Twin: gatherRowsTwin, src/gpu/kernels/gather-rows.ts.

struct Parameters { rows: u32, width: u32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> index: array<u32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;

const NO_ROW = 0xffffffffu;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(workgroup, workgroups, local);
  let row = i / parameters.width;
  if (row >= parameters.rows) {
    return;
  }
  let source = index[row];
  var value = 0.0;
  if (source != NO_ROW) {
    value = x[source * parameters.width + i % parameters.width];
  }
  y[i] = value;
}
