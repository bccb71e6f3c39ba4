// A weight matrix [rows, width] in f32, read four neighbouring columns at a time. The other formats (weight-int8.wgsl,
// weight-int4.wgsl) declare the same functions, so a kernel is written once and the format is put in front of it.
//   weightBlock(row, block, width)        what a block of 32 columns has in common: zero point and scale (nothing here)
//   fourOfWeight(row, four, width, block) columns 4·four … 4·four+3; those beyond the width are 0 (quantized: what fills the block)
// The quantized formats have two more, so that a word which holds several fours is read once:
//   weightWord(row, four, width)          the word that holds four number `four`
//   fourOfWord(word, which, block)        four number `which` of the FOURS_PER_WORD in a word
// The binding and fourOfDense come from shaders/matrix.wgsl.

fn weightBlock(row: u32, block: u32, width: u32) -> vec2<f32> {
  return vec2<f32>(0.0, 1.0);
}

fn fourOfWeight(row: u32, four: u32, width: u32, block: vec2<f32>) -> vec4<f32> {
  return fourOfDense(row, four, width, 0u, width);
}
