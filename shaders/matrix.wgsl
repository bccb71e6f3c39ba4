// A matrix operand of a product, read four neighbouring columns at a time; put in front of a kernel once for each operand, with its name
// and binding filled in (src/gpu/matrix-operand.ts). {CONSTANT}_VECTOR says that rows begin at whole vec4s, which is so
// where stride, first column and width are multiples of 4.

#if {CONSTANT}_VECTOR
@group(0) @binding({binding}) var<storage, read> {name}: array<vec4<f32>>;
#else
@group(0) @binding({binding}) var<storage, read> {name}: array<f32>;
#end

// Columns first + 4·four … first + 4·four + 3 of a row; 0 for those at `width` and beyond. `four` must be below ⌈width / 4⌉.
fn fourOf{Name}(row: u32, four: u32, stride: u32, first: u32, width: u32) -> vec4<f32> {
#if {CONSTANT}_VECTOR
  return {name}[(row * stride + first) / 4u + four];
#else
  let start = row * stride + first;
  let column = vec4<u32>(four * 4u) + vec4<u32>(0u, 1u, 2u, 3u);
  let at = vec4<u32>(start) + min(column, vec4<u32>(width - 1u));
  let value = vec4<f32>({name}[at.x], {name}[at.y], {name}[at.z], {name}[at.w]);
  return select(vec4<f32>(0.0), value, column < vec4<u32>(width));
#end
}

