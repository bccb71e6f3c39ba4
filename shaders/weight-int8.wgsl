// A weight matrix [rows, width] in 8-bit blocks of 32 columns, the layout of ONNX Runtime's MatMulNBits with bits = 8:
//   codes [rows, blocks, 32] bytes, scales [rows, blocks] f32, zeroPoints [rows, blocks] bytes (128 where absent)
//   value = (byte − zero point) · scale,    blocks = ceil(width / 32); the last block is filled up
// Functions: see weight-f32.wgsl. Quantization itself: src/gpu/quantized.ts.

@group(0) @binding(10) var<storage, read> codes: array<u32>;
@group(0) @binding(11) var<storage, read> scales: array<f32>;
#if ZERO_POINTS
@group(0) @binding(12) var<storage, read> zeroPoints: array<u32>;
#end

fn weightBlock(row: u32, block: u32, width: u32) -> vec2<f32> {
  let index = row * ((width + 31u) >> 5u) + block;
#if ZERO_POINTS
  let zero = f32((zeroPoints[index >> 2u] >> ((index & 3u) * 8u)) & 255u);
#else
  let zero = 128.0;
#end
  return vec2<f32>(zero, scales[index]);
}

const FOURS_PER_WORD = 1u;

fn weightWord(row: u32, four: u32, width: u32) -> u32 {
  return codes[row * ((width + 31u) >> 5u) * 8u + four];
}

fn fourOfWord(word: u32, which: u32, block: vec2<f32>) -> vec4<f32> {
  let bytes = vec4<u32>(word, word >> 8u, word >> 16u, word >> 24u) & vec4<u32>(255u);
  return (vec4<f32>(bytes) - block.x) * block.y;
}

fn fourOfWeight(row: u32, four: u32, width: u32, block: vec2<f32>) -> vec4<f32> {
  return fourOfWord(weightWord(row, four, width), 0u, block);
}
