// Linear layer, gradient in its weight, in segments of rows so that a device is filled and the order of the sum stays fixed:
//   partial[first + s · segmentStride + n·inner + k] = Σ_{t in segment s} dy[t, dyFirstColumn + n] · x[t, xFirstColumn + k]
// Segment s holds rows s·segmentRows … (s+1)·segmentRows − 1; shaders/sum-rows.wgsl adds the segments to the gradient.
// Shapes: dy [rows, dyStride], x [rows, xStride] from row xFirstRow on; partial [segments, segmentStride], in which this matrix
// [columns, inner] begins at `first`.
// Each invocation keeps (4 · NQUADS) × (4 · KQUADS) sums in registers; see shaders/linear.wgsl.
// Twin: linearBackwardTwin, src/gpu/kernels/linear.ts.

struct Parameters {
  rows: u32,
  inner: u32,
  columns: u32,
  xStride: u32,
  xFirstColumn: u32,
  xFirstRow: u32,
  dyStride: u32,
  dyFirstColumn: u32,
  segmentRows: u32,
  segmentStride: u32,
  first: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
#if PARTIAL_VECTOR
@group(0) @binding(3) var<storage, read_write> partial: array<vec4<f32>>;
#else
@group(0) @binding(3) var<storage, read_write> partial: array<f32>;
#end

#if TILED
// [32 rows][quads][8 invocations that hold them]; see shaders/linear.wgsl.
var<workgroup> xTile: array<vec4<f32>, 256 * KQUADS>;
var<workgroup> dyTile: array<vec4<f32>, 256 * NQUADS>;
#end

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
  let innerFours = (parameters.inner + 3u) >> 2u;
  let columnFours = (parameters.columns + 3u) >> 2u;
  let innerTiles = (innerFours + KQUADS - 1u) / KQUADS;
  let columnTiles = (columnFours + NQUADS - 1u) / NQUADS;
#if TILED
  let rowLane = local / 8u;
  let columnLane = local % 8u;
  let tileK = (workgroup.x * 8u + columnLane) * KQUADS;
  let tileN = (workgroup.z * 8u + rowLane) * NQUADS;
#else
  let tile = workgroup.x * WORKGROUP + local;
  if (tile >= innerTiles * columnTiles) {
    return;
  }
  let tileK = (tile % innerTiles) * KQUADS;
  let tileN = (tile / innerTiles) * NQUADS;
#end
  let segment = workgroup.y;
  let first = segment * parameters.segmentRows;
  let last = min(first + parameters.segmentRows, parameters.rows);
#unroll q KQUADS
  let k{q} = min(tileK + {q}u, innerFours - 1u);
#end
#unroll p NQUADS
  let n{p} = min(tileN + {p}u, columnFours - 1u);
#end
#unroll p NQUADS
#unroll e 4
#unroll q KQUADS
  var sum{p}_{e}_{q} = vec4<f32>(0.0);
#end
#end
#end
#if TILED
  for (var block = first; block < last; block += 32u) {
#unroll e 4
    {
      let xRow = block + {e*8}u + rowLane;
#unroll q KQUADS
      {
        let value = fourOfX(parameters.xFirstRow + min(xRow, last - 1u), k{q}, parameters.xStride, parameters.xFirstColumn, parameters.inner);
        xTile[(({e*8}u + rowLane) * KQUADS + {q}u) * 8u + columnLane] = select(vec4<f32>(0.0), value, xRow < last);
      }
#end
      let dyRow = block + {e*8}u + columnLane;
#unroll p NQUADS
      {
        let value = fourOfDy(min(dyRow, last - 1u), n{p}, parameters.dyStride, parameters.dyFirstColumn, parameters.columns);
        dyTile[(({e*8}u + columnLane) * NQUADS + {p}u) * 8u + rowLane] = select(vec4<f32>(0.0), value, dyRow < last);
      }
#end
    }
#end
    workgroupBarrier();
    for (var row = 0u; row < 32u; row++) {
#unroll q KQUADS
      let x{q} = xTile[(row * KQUADS + {q}u) * 8u + columnLane];
#end
#unroll p NQUADS
      {
        let g = dyTile[(row * NQUADS + {p}u) * 8u + rowLane];
#unroll e 4
#unroll q KQUADS
        sum{p}_{e}_{q} += g[{e}] * x{q};
#end
#end
      }
#end
    }
    workgroupBarrier();
  }
  if (tileK >= innerFours || tileN >= columnFours) {
    return;
  }
#else
  for (var row = first; row < last; row++) {
#unroll q KQUADS
    let x{q} = fourOfX(parameters.xFirstRow + row, k{q}, parameters.xStride, parameters.xFirstColumn, parameters.inner);
#end
#unroll p NQUADS
    {
      let g = fourOfDy(row, n{p}, parameters.dyStride, parameters.dyFirstColumn, parameters.columns);
#unroll e 4
#unroll q KQUADS
      sum{p}_{e}_{q} += g[{e}] * x{q};
#end
#end
    }
#end
  }
#end
  let base = parameters.first + segment * parameters.segmentStride;
#unroll p NQUADS
#unroll e 4
  {
    let n = n{p} * 4u + {e}u;
    if (n < parameters.columns) {
      let start = base + n * parameters.inner;
#unroll q KQUADS
#if PARTIAL_VECTOR
      partial[(start >> 2u) + k{q}] = sum{p}_{e}_{q};
#else
#unroll f 4
      if (k{q} * 4u + {f}u < parameters.inner) {
        partial[start + k{q} * 4u + {f}u] = sum{p}_{e}_{q}[{f}];
      }
#end
#end
#end
    }
  }
#end
#end
}
