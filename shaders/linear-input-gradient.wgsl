// Linear layer, gradient in its input:
//   dx[t,k] (+)= scale · Σ_n dy[t, firstColumn + n] · W[n,k]   +   Σ_j dHidden[t,j] · A[j,k]
// The second sum is the LoRA adapter's share, in the same pass; dHidden = (alpha / rank) · dy · B comes from this kernel too, with B as
// the weight. With ADD the result is added to what dx holds.
// Shapes: dy [rows, stride], of which columns firstColumn … firstColumn + columns − 1 are used, from row dyFirstRow on; W [columns, inner] in the
// format put in front (weight-*.wgsl), its rows from firstWeightRow on; dx [rows, dxStride] from row firstRow and column dxFirstColumn
// on; dHidden [rows, hiddenWidth], A [hiddenWidth, inner].
// Each invocation keeps ROWS × (4 · QUADS) sums in registers and reads four elements at a time; see shaders/linear.wgsl.
// Twin: linearBackwardTwin, src/gpu/kernels/linear.ts.

struct Parameters {
  rows: u32,
  inner: u32,
  columns: u32,
  stride: u32,
  firstColumn: u32,
  firstWeightRow: u32,
  firstRow: u32,
  dxStride: u32,
  dxFirstColumn: u32,
  scale: f32,
#if LORA
  hiddenWidth: u32,
#end
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
#if DX_VECTOR
@group(0) @binding(2) var<storage, read_write> dx: array<vec4<f32>>;
#else
@group(0) @binding(2) var<storage, read_write> dx: array<f32>;
#end
#if LORA
@group(0) @binding(3) var<storage, read> dHidden: array<f32>;
#end

#if TILED
// [8 fours of dy][tile rows][8 invocations], [32 rows of W][quads][8 invocations]; see shaders/linear.wgsl.
var<workgroup> dyTile: array<vec4<f32>, 64 * ROWS>;
var<workgroup> weightTile: array<vec4<f32>, 256 * QUADS>;
#end

@compute @workgroup_size(WORKGROUP)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) local: u32) {
#if SPREAD
  let tile = workgroup.x * WORKGROUP + local;
  let tileRow = workgroup.y * ROWS;
#else
  let tile = workgroup.x * LANES + local % LANES;
  let tileRow = (workgroup.y * (WORKGROUP / LANES) + local / LANES) * ROWS;
#end
  let inner = parameters.inner;
  let fours = (inner + 3u) >> 2u;
  let tileFour = tile * QUADS;
#if !TILED
  if (tileRow >= parameters.rows || tileFour >= fours) {
    return;
  }
#end
#unroll i ROWS
  let row{i} = min(tileRow + {i}u, parameters.rows - 1u);
#end
#unroll q QUADS
  let four{q} = min(tileFour + {q}u, fours - 1u);
#end
#unroll i ROWS
#unroll q QUADS
  var sum{i}_{q} = vec4<f32>(0.0);
#end
#end

  let groups = (parameters.columns + 3u) >> 2u;
#if TILED
  let rowLane = local / 8u;
  let columnLane = local % 8u;
  for (var block = 0u; block * 8u < groups; block++) {
    let group = block * 8u + columnLane;
#unroll i ROWS
    {
      let value = fourOfDy(row{i}, min(group, groups - 1u), parameters.stride, parameters.firstColumn, parameters.columns);
      dyTile[(columnLane * ROWS + {i}u) * 8u + rowLane] = select(vec4<f32>(0.0), value, group < groups);
    }
#end
#unroll e 4
    {
      // Rows of W beyond the last meet gradients that are 0; the row read there only has to exist.
      let n = parameters.firstWeightRow + min(block * 32u + {e*8}u + rowLane, parameters.columns - 1u);
#unroll q QUADS
      weightTile[(({e*8}u + rowLane) * QUADS + {q}u) * 8u + columnLane] =
        fourOfWeight(n, four{q}, inner, weightBlock(n, four{q} >> 3u, inner));
#end
    }
#end
    workgroupBarrier();
    for (var k = 0u; k < 8u; k++) {
#unroll i ROWS
      let g{i} = dyTile[(k * ROWS + {i}u) * 8u + rowLane];
#end
#unroll e 4
#unroll q QUADS
      {
        let w = weightTile[((k * 4u + {e}u) * QUADS + {q}u) * 8u + columnLane];
#unroll i ROWS
        sum{i}_{q} += g{i}[{e}] * w;
#end
      }
#end
#end
    }
    workgroupBarrier();
  }
  if (tileRow >= parameters.rows || tileFour >= fours) {
    return;
  }
#else
  for (var group = 0u; group < groups; group++) {
#unroll i ROWS
    let g{i} = fourOfDy(row{i}, group, parameters.stride, parameters.firstColumn, parameters.columns);
#end
#unroll e 4
    {
      // Beyond the last column g is 0; the row read there only has to exist.
      let n = parameters.firstWeightRow + min(group * 4u + {e}u, parameters.columns - 1u);
      // A tile's fours lie in one block, and with SHARED_WORD in one word.
      let block = weightBlock(n, four0 >> 3u, inner);
#if SHARED_WORD
      let word = weightWord(n, four0, inner);
#end
#unroll q QUADS
      {
#if SHARED_WORD
        let w = fourOfWord(word, {q}u, block);
#else
        let w = fourOfWeight(n, four{q}, inner, block);
#end
#unroll i ROWS
        sum{i}_{q} += g{i}[{e}] * w;
#end
      }
#end
    }
#end
  }
#end
#unroll i ROWS
#unroll q QUADS
  sum{i}_{q} *= parameters.scale;
#end
#end

#if LORA
  for (var j = 0u; j < parameters.hiddenWidth; j++) {
#unroll q QUADS
    let a{q} = fourOfLoraA(j, four{q}, inner, 0u, inner);
#end
#unroll i ROWS
    {
      let h = dHidden[row{i} * parameters.hiddenWidth + j];
#unroll q QUADS
      sum{i}_{q} += h * a{q};
#end
    }
#end
  }
#end

#unroll i ROWS
  if (tileRow + {i}u < parameters.rows) {
    let start = (parameters.firstRow + row{i}) * parameters.dxStride + parameters.dxFirstColumn;
#unroll q QUADS
    if (tileFour + {q}u < fours) {
#if DX_VECTOR
#if ADD
      dx[start / 4u + four{q}] += sum{i}_{q};
#else
      dx[start / 4u + four{q}] = sum{i}_{q};
#end
#else
#unroll e 4
      if (four{q} * 4u + {e}u < inner) {
#if ADD
        dx[start + four{q} * 4u + {e}u] += sum{i}_{q}[{e}];
#else
        dx[start + four{q} * 4u + {e}u] = sum{i}_{q}[{e}];
#end
      }
#end
#end
    }
#end
  }
#end
}
