// A weight matrix [rows, width] in f32, read four neighbouring columns at a time. The other formats (weight-int8.wgsl,
// weight-int4.wgsl) declare the same functions, so a kernel is written once and the format is put in front of it.
//   weightBlock(row, block, width)        what a block of 32 columns has in common: zero point and scale (nothing here)
//   fourOfWeight(row, four, width, block) columns 4·four … 4·four+3; those beyond the width are 0 (quantized: what fills the block)
// The quantized formats have two more, so that a word which holds several fours is read once:
//   weightWord(row, four, width)          the word that holds four number `four`
//   fourOfWord(word, which, block)        four number `which` of the FOURS_PER_WORD in a word
// WEIGHT_VECTOR: the width is a multiple of 4, so that rows begin at whole vec4s.

#if WEIGHT_VECTOR
@group(0) @binding(10) var<storage, read> weight: array<vec4<f32>>;
#else
@group(0) @binding(10) var<storage, read> weight: array<f32>;
#end

fn weightBlock(row: u32, block: u32, width: u32) -> vec2<f32> {
  return vec2<f32>(0.0, 1.0);
}

fn fourOfWeight(row: u32, four: u32, width: u32, block: vec2<f32>) -> vec4<f32> {
#if WEIGHT_VECTOR
  return weight[row * (width >> 2u) + four];
#else
  let start = row * width;
  let column = four * 4u;
  var value = vec4<f32>(weight[start + column], 0.0, 0.0, 0.0);
  if (column + 1u < width) { value.y = weight[start + column + 1u]; }
  if (column + 2u < width) { value.z = weight[start + column + 2u]; }
  if (column + 3u < width) { value.w = weight[start + column + 3u]; }
  return value;
#end
}
