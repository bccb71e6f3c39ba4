// Causal grouped-query attention over ragged sequences, forward, one invocation a (tile of TILE tokens, query head):
//   out[t,h] = Σ_{j ≤ t} p[j] · v[j,g],   p = softmax_j( q[t,h] · k[j,g] · scale ),   g = h / (HEADS / KV_HEADS)
// over the keys j of the same sequence up to t. The softmax is computed on the fly (running maximum), so memory is O(tokens),
// and key by key from the start of the sequence, so a result does not depend on what else is in the batch.
// logSumExp[t,h] = log Σ_j exp(q · k · scale) is kept for the backward pass.
// Shapes, in vec4s: qkv [tokens, (HEADS + 2 KV_HEADS) · CHUNKS] = queries, keys, values of each token, rotary positions
// applied; out [tokens, HEADS · CHUNKS]; logSumExp [tokens, HEADS]; sequenceStart [sequences + 1].
// CACHED: each row is one new token of a sequence whose keys and values, its own included, lie in the cache; TILE is then 1.
// Shapes then, in vec4s: qkv [rows, …] (the queries of it), out [rows, …], place [rows] = (sequence, position), to which `step`
// positions are added; cache [sequences, capacity, 2 KV_HEADS · CHUNKS] = keys, values.
// A tile shares each key and value that it loads: 2.7 (llvmpipe) and 4 (SwiftShader) times as fast with 4 tokens as with 1.
// Source: Dao, "FlashAttention-2", arXiv:2307.08691; Ainslie et al., "GQA", arXiv:2305.13245.
// Twin: attentionTwin, src/gpu/kernels/attention.ts.

#if CACHED
struct Parameters { rows: u32, step: u32, capacity: u32, scale: f32 }
#else
struct Parameters { sequences: u32, tiles: u32, scale: f32 }
#end

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> qkv: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out: array<vec4<f32>>;
#if CACHED
@group(0) @binding(3) var<storage, read> place: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> cache: array<vec4<f32>>;
#else
@group(0) @binding(3) var<storage, read> sequenceStart: array<u32>;
@group(0) @binding(4) var<storage, read_write> logSumExp: array<f32>;
#end

const LOWEST = -3.0e38;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(workgroup, workgroups, local);
  // Neighbours are heads of one tile: their loops are equally long.
  let head = i % HEADS;
#if CACHED
  let row = i / HEADS;
  if (row >= parameters.rows) {
    return;
  }
  let first = place[row].x * parameters.capacity;
  let end = first + place[row].y + parameters.step + 1;
  let keyColumn = head / (HEADS / KV_HEADS) * CHUNKS;
  let token0 = end - 1;
  let row0 = row;
#else
  let sequence = i / (parameters.tiles * HEADS);
  if (sequence >= parameters.sequences) {
    return;
  }
  let first = sequenceStart[sequence];
  let begin = first + i / HEADS % parameters.tiles * TILE;
  let end = min(begin + TILE, sequenceStart[sequence + 1]);
  if (begin >= end) {
    return;
  }
  let keyColumn = (HEADS + head / (HEADS / KV_HEADS)) * CHUNKS;
#unroll t TILE
  // Tokens beyond the end repeat the last one and are not written.
  let token{t} = min(begin + {t}, end - 1);
  let row{t} = token{t};
#end
#end
  let valueColumn = keyColumn + KV_HEADS * CHUNKS;

#unroll t TILE
  var largest{t} = LOWEST;
  var total{t} = 0.0;
#unroll c CHUNKS
  let q{t}_{c} = qkv[row{t} * ROW + head * CHUNKS + {c}] * parameters.scale;
  var o{t}_{c} = vec4<f32>(0.0);
#end
#end
  for (var key = first; key < end; key++) {
    let keyAt = key * KEY_ROW + keyColumn;
    let valueAt = key * KEY_ROW + valueColumn;
#unroll t TILE
    var score{t} = 0.0;
#end
#unroll c CHUNKS
#if CACHED
    let k{c} = cache[keyAt + {c}];
#else
    let k{c} = qkv[keyAt + {c}];
#end
#unroll t TILE
    score{t} += dot(q{t}_{c}, k{c});
#end
#end
#unroll t TILE
    // A key after the token gets no weight; the first key never is, so the maximum is a real score from then on.
    score{t} = select(LOWEST, score{t}, key <= token{t});
    let newLargest{t} = max(largest{t}, score{t});
    let keep{t} = exp(largest{t} - newLargest{t});
    let p{t} = exp(score{t} - newLargest{t});
    largest{t} = newLargest{t};
    total{t} = total{t} * keep{t} + p{t};
#end
#unroll c CHUNKS
#if CACHED
    let v{c} = cache[valueAt + {c}];
#else
    let v{c} = qkv[valueAt + {c}];
#end
#unroll t TILE
    o{t}_{c} = o{t}_{c} * keep{t} + p{t} * v{c};
#end
#end
  }

#unroll t TILE
#if CACHED
  {
#else
  if (begin + {t} < end) {
    logSumExp[row{t} * HEADS + head] = largest{t} + log(total{t});
#end
    let outAt = (row{t} * HEADS + head) * CHUNKS;
#unroll c CHUNKS
    out[outAt + {c}] = o{t}_{c} / total{t};
#end
  }
#end
}
