// A weight matrix [rows, width] in 4-bit blocks of 32 columns, the layout of ONNX Runtime's MatMulNBits with bits = 4:
//   codes [rows, blocks, 16] bytes, the even column in the low half; scales [rows, blocks] f32;
//   zeroPoints [rows, ceil(blocks / 2)] bytes, the even block in the low half (8 where absent)
//   value = (nibble − zero point) · scale,    blocks = ceil(width / 32); the last block is filled up
// Functions: see weight-f32.wgsl. Quantization itself: src/gpu/quantized.ts.

@group(0) @binding(10) var<storage, read> codes: array<u32>;
@group(0) @binding(11) var<storage, read> scales: array<f32>;
#if ZERO_POINTS
@group(0) @binding(12) var<storage, read> zeroPoints: array<u32>;
#end

fn weightBlock(row: u32, block: u32, width: u32) -> vec2<f32> {
  let blocks = (width + 31u) >> 5u;
#if ZERO_POINTS
  let half = row * ((blocks + 1u) & ~1u) + block;
  let zero = f32((zeroPoints[half >> 3u] >> ((half & 7u) * 4u)) & 15u);
#else
  let zero = 8.0;
#end
  return vec2<f32>(zero, scales[row * blocks + block]);
}

const FOURS_PER_WORD = 2u;

fn weightWord(row: u32, four: u32, width: u32) -> u32 {
  return codes[row * ((width + 31u) >> 5u) * 4u + (four >> 1u)];
}

fn fourOfWord(word: u32, which: u32, block: vec2<f32>) -> vec4<f32> {
  let part = word >> (which * 16u);
  let nibbles = vec4<u32>(part, part >> 4u, part >> 8u, part >> 12u) & vec4<u32>(15u);
  return (vec4<f32>(nibbles) - block.x) * block.y;
}

fn fourOfWeight(row: u32, four: u32, width: u32, block: vec2<f32>) -> vec4<f32> {
  return fourOfWord(weightWord(row, four, width), four & 1u, block);
}
