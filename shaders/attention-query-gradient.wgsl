// Attention, backward to the queries, one invocation a (tile of TILE tokens, query head). With
// p[j] = exp(q · k[j,g] · scale − logSumExp):
//   delta = dOut · out,   dScore[j] = p[j] · (dOut · v[j,g] − delta) · scale,   dQuery[t,h] = Σ_{j ≤ t} dScore[j] · k[j,g]
// delta[t,h] is kept for the pass over keys and values (shaders/attention-key-value-gradient.wgsl).
// Shapes, in vec4s: as in shaders/attention.wgsl; dOut like out; dQkv like qkv, of which the queries' part is written.
// Source: docs/derivation.md. Twin: attentionBackwardTwin, src/gpu/kernels/attention.ts.

struct Parameters { sequences: u32, tiles: u32, scale: f32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> qkv: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> sequenceStart: array<u32>;
@group(0) @binding(3) var<storage, read> out: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> logSumExp: array<f32>;
@group(0) @binding(5) var<storage, read> dOut: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> delta: array<f32>;
@group(0) @binding(7) var<storage, read_write> dQkv: array<vec4<f32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(workgroup, workgroups, local);
  let sequence = i / (parameters.tiles * HEADS);
  if (sequence >= parameters.sequences) {
    return;
  }
  let head = i % HEADS;
  let first = sequenceStart[sequence];
  let end = sequenceStart[sequence + 1];
  let begin = first + i / HEADS % parameters.tiles * TILE;
  if (begin >= end) {
    return;
  }
  let keyColumn = (HEADS + head / (HEADS / KV_HEADS)) * CHUNKS;
  let valueColumn = keyColumn + KV_HEADS * CHUNKS;

#unroll t TILE
  // Tokens beyond the end repeat the last one and are not written.
  let token{t} = min(begin + {t}, end - 1);
  let queryAt{t} = token{t} * ROW + head * CHUNKS;
  let outAt{t} = (token{t} * HEADS + head) * CHUNKS;
  let norm{t} = logSumExp[token{t} * HEADS + head];
  var along{t} = 0.0;
#unroll c CHUNKS
  let q{t}_{c} = qkv[queryAt{t} + {c}] * parameters.scale;
  let dOut{t}_{c} = dOut[outAt{t} + {c}];
  along{t} += dot(dOut{t}_{c}, out[outAt{t} + {c}]);
  var dQuery{t}_{c} = vec4<f32>(0.0);
#end
#end
  for (var key = first; key < min(begin + TILE, end); key++) {
    let keyAt = key * ROW + keyColumn;
    let valueAt = key * ROW + valueColumn;
#unroll t TILE
    var score{t} = 0.0;
    var dP{t} = 0.0;
#end
#unroll c CHUNKS
    let k{c} = qkv[keyAt + {c}];
    let v{c} = qkv[valueAt + {c}];
#unroll t TILE
    score{t} += dot(q{t}_{c}, k{c});
    dP{t} += dot(dOut{t}_{c}, v{c});
#end
#end
#unroll t TILE
    // p is at most 1 but for rounding; the bound keeps the exponential of a masked pair finite.
    let p{t} = select(0.0, exp(min(score{t} - norm{t}, 1.0)), key <= token{t});
    let dScore{t} = p{t} * (dP{t} - along{t}) * parameters.scale;
#end
#unroll c CHUNKS
#unroll t TILE
    dQuery{t}_{c} += dScore{t} * k{c};
#end
#end
  }

#unroll t TILE
  if (begin + {t} < end) {
    delta[token{t} * HEADS + head] = along{t};
#unroll c CHUNKS
    dQkv[queryAt{t} + {c}] = dQuery{t}_{c};
#end
  }
#end
}
