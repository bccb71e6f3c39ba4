// Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): two random words for a
// key and a counter. The same bits as its twin, src/random/threefry.ts.

fn threefry2x32(key: vec2<u32>, counter: vec2<u32>) -> vec2<u32> {
  // Key parity of the authors.
  let key2 = 0x1bd11bdau ^ key.x ^ key.y;
  var x = counter + key;
  for (var group = 0u; group < 5u; group++) {
    let rotations = select(vec4<u32>(17u, 29u, 16u, 24u), vec4<u32>(13u, 15u, 26u, 6u), group % 2u == 0u);
    x.x += x.y;
    x.y = ((x.y << rotations.x) | (x.y >> (32u - rotations.x))) ^ x.x;
    x.x += x.y;
    x.y = ((x.y << rotations.y) | (x.y >> (32u - rotations.y))) ^ x.x;
    x.x += x.y;
    x.y = ((x.y << rotations.z) | (x.y >> (32u - rotations.z))) ^ x.x;
    x.x += x.y;
    x.y = ((x.y << rotations.w) | (x.y >> (32u - rotations.w))) ^ x.x;
    // Key injection: (key1, key2), (key2, key0), (key0, key1), … in turn, plus the number of the injection.
    let phase = group % 3u;
    x.x += select(select(key.x, key2, phase == 1u), key.y, phase == 0u);
    x.y += select(select(key.y, key.x, phase == 1u), key2, phase == 0u) + group + 1u;
  }
  return x;
}
