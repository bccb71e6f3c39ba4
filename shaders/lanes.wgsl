// Sums over the LANES neighbouring invocations that share one row, in lane order, so that a result repeats. With LANES = 1
// there is nothing to share and no barrier (barriers are slow on CPU adapters). Every invocation of the workgroup must call
// these, also those beyond the last row. Needs the constants WORKGROUP, LANES and COOPERATIVE (src/gpu/variants.ts).

#if COOPERATIVE
var<workgroup> laneValues: array<f32, WORKGROUP>;
#end

fn laneSum(value: f32, local: u32) -> f32 {
#if COOPERATIVE
  laneValues[local] = value;
  workgroupBarrier();
  let first = local - local % LANES;
  var total = 0.0;
  for (var lane = 0u; lane < LANES; lane++) {
    total += laneValues[first + lane];
  }
  workgroupBarrier();
  return total;
#else
  return value;
#end
}

fn laneMax(value: f32, local: u32) -> f32 {
#if COOPERATIVE
  laneValues[local] = value;
  workgroupBarrier();
  let first = local - local % LANES;
  var largest = laneValues[first];
  for (var lane = 1u; lane < LANES; lane++) {
    largest = max(largest, laneValues[first + lane]);
  }
  workgroupBarrier();
  return largest;
#else
  return value;
#end
}

// The sum over the lanes before this one.
fn laneSumBefore(value: f32, local: u32) -> f32 {
#if COOPERATIVE
  laneValues[local] = value;
  workgroupBarrier();
  var total = 0.0;
  for (var lane = local - local % LANES; lane < local; lane++) {
    total += laneValues[lane];
  }
  workgroupBarrier();
  return total;
#else
  return 0.0;
#end
}
