// Attention, backward to keys and values, one invocation a (tile of TILE tokens, key-value head): it alone sums over every
// query that saw its keys, so no two invocations add to one place and the order of each sum is fixed. With p and dScore as
// in shaders/attention-query-gradient.wgsl, over the query heads h of the group and the queries t ≥ j of the sequence:
//   dValue[j,g] = Σ_{h,t} p[t] · dOut[t,h],   dKey[j,g] = Σ_{h,t} dScore[t] · q[t,h]
// Shapes, in vec4s: as in shaders/attention-query-gradient.wgsl; of dQkv the keys' and values' parts are written.
// Source: docs/derivation.md. Twin: attentionBackwardTwin, src/gpu/kernels/attention.ts.

struct Parameters { sequences: u32, tiles: u32, scale: f32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> qkv: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> sequenceStart: array<u32>;
@group(0) @binding(3) var<storage, read> logSumExp: array<f32>;
@group(0) @binding(4) var<storage, read> dOut: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> delta: array<f32>;
@group(0) @binding(6) var<storage, read_write> dQkv: array<vec4<f32>>;

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(workgroup, workgroups, local);
  let sequence = i / (parameters.tiles * KV_HEADS);
  if (sequence >= parameters.sequences) {
    return;
  }
  let group = i % KV_HEADS;
  let first = sequenceStart[sequence];
  let end = sequenceStart[sequence + 1];
  let begin = first + i / KV_HEADS % parameters.tiles * TILE;
  if (begin >= end) {
    return;
  }

#unroll t TILE
  // Tokens beyond the end repeat the last one and are not written.
  let token{t} = min(begin + {t}, end - 1);
  let keyAt{t} = token{t} * ROW + (HEADS + group) * CHUNKS;
  let valueAt{t} = keyAt{t} + KV_HEADS * CHUNKS;
#unroll c CHUNKS
  let k{t}_{c} = qkv[keyAt{t} + {c}] * parameters.scale;
  let v{t}_{c} = qkv[valueAt{t} + {c}];
  var dKey{t}_{c} = vec4<f32>(0.0);
  var dValue{t}_{c} = vec4<f32>(0.0);
#end
#end
  for (var head = group * (HEADS / KV_HEADS); head < (group + 1) * (HEADS / KV_HEADS); head++) {
    for (var query = begin; query < end; query++) {
      let queryAt = query * ROW + head * CHUNKS;
      let outAt = (query * HEADS + head) * CHUNKS;
      let norm = logSumExp[query * HEADS + head];
      let along = delta[query * HEADS + head];
#unroll t TILE
      var score{t} = 0.0;
      var dP{t} = 0.0;
#end
#unroll c CHUNKS
      let q{c} = qkv[queryAt + {c}];
      let dOut{c} = dOut[outAt + {c}];
#unroll t TILE
      score{t} += dot(k{t}_{c}, q{c});
      dP{t} += dot(v{t}_{c}, dOut{c});
#end
#end
#unroll t TILE
      let p{t} = select(0.0, exp(min(score{t} - norm, 1.0)), query >= token{t});
      let dScore{t} = p{t} * (dP{t} - along) * parameters.scale;
#end
#unroll c CHUNKS
#unroll t TILE
      dValue{t}_{c} += p{t} * dOut{c};
      dKey{t}_{c} += dScore{t} * q{c};
#end
#end
    }
  }

#unroll t TILE
  if (begin + {t} < end) {
#unroll c CHUNKS
    dQkv[keyAt{t} + {c}] = dKey{t}_{c};
    dQkv[valueAt{t} + {c}] = dValue{t}_{c};
#end
  }
#end
}
