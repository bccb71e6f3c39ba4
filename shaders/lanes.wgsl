// Sums over the LANES neighbouring invocations that share one row, in a fixed order, so that a result repeats. With LANES = 1
// there is nothing to share and no barrier (barriers are slow on CPU adapters). Every invocation of the workgroup must call
// these, also those beyond the last row. With SUBGROUPS the lanes exchange values within a subgroup, which holds at least LANES
// of them, instead of through workgroup memory. Constants: laneConstants, src/gpu/variants.ts.

#if SUBGROUPS
enable subgroups;

fn laneSum(value: f32, local: u32) -> f32 {
  var total = value;
  for (var step = 1u; step < LANES; step *= 2u) {
    total += subgroupShuffleXor(total, step);
  }
  return total;
}

fn laneMax(value: f32, local: u32) -> f32 {
  var largest = value;
  for (var step = 1u; step < LANES; step *= 2u) {
    largest = max(largest, subgroupShuffleXor(largest, step));
  }
  return largest;
}

// The sum over the lanes before this one.
fn laneSumBefore(value: f32, local: u32) -> f32 {
  let lane = local % LANES;
  var upToHere = value;
  for (var step = 1u; step < LANES; step *= 2u) {
    let earlier = subgroupShuffleUp(upToHere, step);
    upToHere += select(0.0, earlier, lane >= step);
  }
  let before = subgroupShuffleUp(upToHere, 1u);
  return select(0.0, before, lane > 0u);
}
#else
#if COOPERATIVE
var<workgroup> laneValues: array<f32, WORKGROUP>;

fn laneSum(value: f32, local: u32) -> f32 {
  laneValues[local] = value;
  workgroupBarrier();
  let first = local - local % LANES;
  var total = 0.0;
  for (var lane = 0u; lane < LANES; lane++) {
    total += laneValues[first + lane];
  }
  workgroupBarrier();
  return total;
}

fn laneMax(value: f32, local: u32) -> f32 {
  laneValues[local] = value;
  workgroupBarrier();
  let first = local - local % LANES;
  var largest = laneValues[first];
  for (var lane = 1u; lane < LANES; lane++) {
    largest = max(largest, laneValues[first + lane]);
  }
  workgroupBarrier();
  return largest;
}

// The sum over the lanes before this one.
fn laneSumBefore(value: f32, local: u32) -> f32 {
  laneValues[local] = value;
  workgroupBarrier();
  var total = 0.0;
  for (var lane = local - local % LANES; lane < local; lane++) {
    total += laneValues[lane];
  }
  workgroupBarrier();
  return total;
}
#else
fn laneSum(value: f32, local: u32) -> f32 {
  return value;
}

fn laneMax(value: f32, local: u32) -> f32 {
  return value;
}

// The sum over the lanes before this one.
fn laneSumBefore(value: f32, local: u32) -> f32 {
  return 0.0;
}
#end
#end
