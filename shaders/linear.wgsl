// Linear layer, forward:  y[t,n] = scale · ( Σ_k x[t,k] · W[n,k]  +  Σ_j hidden[t, s(n)·rank + j] · B[n,j] )  +  bias[n]  +  residual[t,n]
// The second sum is the LoRA adapter of this layer (Hu et al., "LoRA", 2021), added in the same pass; hidden = (alpha / rank) · x · Aᵀ
// comes from this kernel too, with A as the weight. A layer may join up to three projections of the same input (query, key, value);
// they are sections of its rows, each with `rank` columns of `hidden` of its own, s(n) being the section of row n.
// Shapes: x [rows, inner] from row firstRow on, W [columns, inner] in the format put in front (weight-*.wgsl), y and residual
// [rows, columns], bias [columns], hidden [rows, sections·rank], B [columns, rank]; rank is a multiple of 4.
// Each invocation keeps a tile of ROWS × COLUMNS sums in registers and reads four elements of every operand at a time. LANES
// neighbouring invocations take neighbouring column tiles: where they are all of a workgroup (SPREAD), the rows of x are the same for all
// of it, which CPU adapters read once; they have no workgroup memory, because barriers are emulated there. TILED is for GPUs: 8 × 8
// invocations bring 32 columns of all their rows and weights into workgroup memory together and multiply from there.
// Twin: linearTwin, src/gpu/kernels/linear.ts.

struct Parameters {
  rows: u32,
  inner: u32,
  columns: u32,
  firstRow: u32,
  scale: f32,
#if LORA
  rank: u32,
  sections: u32,
  section1: u32,
  section2: u32,
#end
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
#if Y_VECTOR
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;
#else
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
#end
#if BIAS
@group(0) @binding(3) var<storage, read> bias: array<f32>;
#end
#if RESIDUAL
#if Y_VECTOR
@group(0) @binding(4) var<storage, read> residual: array<vec4<f32>>;
#else
@group(0) @binding(4) var<storage, read> residual: array<f32>;
#end
#end
#if LORA
@group(0) @binding(5) var<storage, read> hidden: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> loraB: array<vec4<f32>>;
#end

#if TILED
// [8 fours of a block][tile rows or columns][8 invocations that hold them]: neighbours read neighbouring vec4s.
var<workgroup> xTile: array<vec4<f32>, 64 * ROWS>;
var<workgroup> weightTile: array<vec4<f32>, 64 * COLUMNS>;
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
#if LORA
  // Tiles do not cross sections: each section begins with a tile of its own.
  let end0 = select(parameters.columns, parameters.section1, parameters.sections > 1u);
  let end1 = select(parameters.columns, parameters.section2, parameters.sections > 2u);
  let tiles0 = (end0 + COLUMNS - 1u) / COLUMNS;
  let tiles1 = tiles0 + (end1 - end0 + COLUMNS - 1u) / COLUMNS;
  var section = 0u;
  var tileColumn = tile * COLUMNS;
  var columnEnd = end0;
  if (tile >= tiles1) {
    section = 2u;
    tileColumn = end1 + (tile - tiles1) * COLUMNS;
    columnEnd = parameters.columns;
  } else if (tile >= tiles0) {
    section = 1u;
    tileColumn = end0 + (tile - tiles0) * COLUMNS;
    columnEnd = end1;
  }
#else
  let tileColumn = tile * COLUMNS;
  let columnEnd = parameters.columns;
#end
#if !TILED
  if (tileRow >= parameters.rows || tileColumn >= columnEnd) {
    return;
  }
#end
  let inner = parameters.inner;
#unroll i ROWS
  let row{i} = min(tileRow + {i}u, parameters.rows - 1u);
#end
#unroll j COLUMNS
  let column{j} = min(tileColumn + {j}u, columnEnd - 1u);
#end
#unroll i ROWS
#unroll j COLUMNS
  var sum{i}_{j} = 0.0;
#end
#end

  let fours = (inner + 3u) >> 2u;
#if TILED
  let rowLane = local / 8u;
  let columnLane = local % 8u;
  for (var block = 0u; block * 8u < fours; block++) {
    let xFour = block * 8u + columnLane;
    let weightFour = block * 8u + rowLane;
#unroll i ROWS
    {
      let value = fourOfX(parameters.firstRow + row{i}, min(xFour, fours - 1u), inner, 0u, inner);
      xTile[(columnLane * ROWS + {i}u) * 8u + rowLane] = select(vec4<f32>(0.0), value, xFour < fours);
    }
#end
#unroll j COLUMNS
    {
      let value = fourOfWeight(column{j}, min(weightFour, fours - 1u), inner, weightBlock(column{j}, block, inner));
      weightTile[(rowLane * COLUMNS + {j}u) * 8u + columnLane] = select(vec4<f32>(0.0), value, weightFour < fours);
    }
#end
    workgroupBarrier();
    for (var k = 0u; k < 8u; k++) {
#unroll i ROWS
      let x{i} = xTile[(k * ROWS + {i}u) * 8u + rowLane];
#end
#unroll j COLUMNS
      {
        let w = weightTile[(k * COLUMNS + {j}u) * 8u + columnLane];
#unroll i ROWS
        sum{i}_{j} += dot(x{i}, w);
#end
      }
#end
    }
    workgroupBarrier();
  }
  if (tileRow >= parameters.rows || tileColumn >= columnEnd) {
    return;
  }
#else
#if QUANTIZED
  for (var block = 0u; block * 8u < fours; block++) {
#unroll j COLUMNS
    let block{j} = weightBlock(column{j}, block, inner);
#end
    let end = min(block * 8u + 8u, fours);
    for (var k = block * 8u; k < end; k += FOURS_PER_WORD) {
#unroll j COLUMNS
      let word{j} = weightWord(column{j}, k, inner);
#end
      for (var which = 0u; which < min(FOURS_PER_WORD, end - k); which++) {
#unroll i ROWS
        let x{i} = fourOfX(parameters.firstRow + row{i}, k + which, inner, 0u, inner);
#end
#unroll j COLUMNS
        {
          let w = fourOfWord(word{j}, which, block{j});
#unroll i ROWS
          sum{i}_{j} += dot(x{i}, w);
#end
        }
#end
      }
    }
  }
#else
  for (var k = 0u; k < fours; k++) {
#unroll i ROWS
    let x{i} = fourOfX(parameters.firstRow + row{i}, k, inner, 0u, inner);
#end
#unroll j COLUMNS
    {
      let w = fourOfWeight(column{j}, k, inner, vec2<f32>(0.0, 1.0));
#unroll i ROWS
      sum{i}_{j} += dot(x{i}, w);
#end
    }
#end
  }
#end
#end

#if LORA
  let ranks = parameters.rank >> 2u;
  let hiddenWidth = ranks * parameters.sections;
  for (var k = 0u; k < ranks; k++) {
#unroll i ROWS
    let h{i} = hidden[row{i} * hiddenWidth + section * ranks + k];
#end
#unroll j COLUMNS
    {
      let b = loraB[column{j} * ranks + k];
#unroll i ROWS
      sum{i}_{j} += dot(h{i}, b);
#end
    }
#end
  }
#end

  // Rows and columns beyond the last were clamped to it, so their sums are the last one's and storing them again changes nothing.
#if Y_VECTOR
#unroll q QUADS
  let quad{q} = min((tileColumn >> 2u) + {q}u, (columnEnd >> 2u) - 1u);
#if BIAS
  let bias{q} = vec4<f32>(bias[quad{q} * 4u], bias[quad{q} * 4u + 1u], bias[quad{q} * 4u + 2u], bias[quad{q} * 4u + 3u]);
#end
#end
#unroll i ROWS
  {
    let start = row{i} * (parameters.columns >> 2u);
#unroll q QUADS
    if ((tileColumn >> 2u) + {q}u == quad{q}) {
      var value = vec4<f32>(sum{i}_{q*4}, sum{i}_{q*4+1}, sum{i}_{q*4+2}, sum{i}_{q*4+3}) * parameters.scale;
#if BIAS
      value += bias{q};
#end
#if RESIDUAL
      value += residual[start + quad{q}];
#end
      y[start + quad{q}] = value;
    }
#end
  }
#end
#else
#unroll i ROWS
  {
    let start = row{i} * parameters.columns;
#unroll j COLUMNS
    {
      var value = sum{i}_{j} * parameters.scale;
#if BIAS
      value += bias[column{j}];
#end
#if RESIDUAL
      value += residual[start + column{j}];
#end
      y[start + column{j}] = value;
    }
#end
  }
#end
#end
}
