// Rotary positions, in place on the queries and keys of each row, one invocation a (row, pair of coordinates):
//   (x[i], x[i + HALF]) ← (x[i] cos − x[i + HALF] sin, x[i + HALF] cos + x[i] sin),   angle = position · base^(−i / HALF)
// With direction −1 it is the inverse rotation, which is also the backward pass (a rotation's transpose is its inverse).
// Angles come from the CPU: `sin` of large arguments is off by 2e-4 on some adapters.
// With CACHE the turned keys, and the values as they are, also go to the row's place in the cache.
// Shapes: qkv [rows, (HEADS + 2 KV_HEADS) · 2 HALF]; table [positions, HALF] = (cos, sin); place [rows] = (sequence, position), to
// which `step` positions are added; cache [sequences, capacity, 2 KV_HEADS · 2 HALF] = keys, values.
// Source: Su et al., "RoFormer", arXiv:2104.09864, pairs as in Qwen2. Twin: rotaryTwin, src/gpu/kernels/rotary.ts.

struct Parameters {
  rows: u32,
  direction: f32,
#if CACHE
  step: u32,
  capacity: u32,
#end
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read_write> qkv: array<f32>;
@group(0) @binding(2) var<storage, read> table: array<vec2<f32>>;
@group(0) @binding(3) var<storage, read> place: array<vec2<u32>>;
#if CACHE
@group(0) @binding(4) var<storage, read_write> cache: array<f32>;
#end

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(workgroup, workgroups, local);
  let row = i / HALF;
  if (row >= parameters.rows) {
    return;
  }
  let pair = i % HALF;
#if CACHE
  let position = place[row].y + parameters.step;
  let cacheAt = (place[row].x * parameters.capacity + position) * (2 * KV_HEADS * 2 * HALF) + pair;
#else
  let position = place[row].y;
#end
  let cosine = table[position * HALF + pair].x;
  let sine = table[position * HALF + pair].y * parameters.direction;
  let start = row * (HEADS + 2 * KV_HEADS) * (2 * HALF) + pair;
  for (var head = 0u; head < HEADS + KV_HEADS; head++) {
    let at = start + head * (2 * HALF);
    let low = qkv[at];
    let high = qkv[at + HALF];
    let turnedLow = low * cosine - high * sine;
    let turnedHigh = high * cosine + low * sine;
    qkv[at] = turnedLow;
    qkv[at + HALF] = turnedHigh;
#if CACHE
    if (head >= HEADS) {
      cache[cacheAt + (head - HEADS) * (2 * HALF)] = turnedLow;
      cache[cacheAt + (head - HEADS) * (2 * HALF) + HALF] = turnedHigh;
    }
#end
  }
#if CACHE
  for (var head = u32(KV_HEADS); head < 2 * KV_HEADS; head++) {
    let at = start + (HEADS + head) * (2 * HALF);
    cache[cacheAt + head * (2 * HALF)] = qkv[at];
    cache[cacheAt + head * (2 * HALF) + HALF] = qkv[at + HALF];
  }
#end
}
