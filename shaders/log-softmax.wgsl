// Log-softmax of a chunk of output-head rows, reduced to what training needs:
//   z[v] = logits[r,v] · inverseTemperature over the allowed v,   logSumExp = log Σ_v exp(z[v]),
//   logProb = z[target] − logSumExp,   entropy = − Σ_v p[v] · log p[v],   p = exp(z − logSumExp)
// The same mask of allowed tokens limits decoding, so the loss sees the distribution that was sampled from.
// Shapes: logits [rows, vocabulary], row r being response position firstRow + r; targets, logProb, entropy, logSumExp
// [positions]; allowed [positions, ceil(vocabulary / 32)] words, bit v % 32 of word v / 32.
// Twin: logSoftmaxTwin, src/gpu/kernels/log-softmax.ts.

struct Parameters { rows: u32, vocabulary: u32, firstRow: u32, inverseTemperature: f32 }

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> targets: array<u32>;
#if MASKED
@group(0) @binding(3) var<storage, read> allowed: array<u32>;
#end
@group(0) @binding(4) var<storage, read_write> logProb: array<f32>;
@group(0) @binding(5) var<storage, read_write> entropy: array<f32>;
@group(0) @binding(6) var<storage, read_write> logSumExp: array<f32>;

fn isAllowed(position: u32, token: u32) -> bool {
#if MASKED
  let words = (parameters.vocabulary + 31u) >> 5u;
  return ((allowed[position * words + (token >> 5u)] >> (token & 31u)) & 1u) != 0u;
#else
  return true;
#end
}

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let i = linearIndex(workgroup, workgroups, local);
  let row = i / LANES;
  let lane = i % LANES;
  let inside = row < parameters.rows;
  let start = row * parameters.vocabulary;
  let position = parameters.firstRow + row;

  var largest = -3.0e38;
  if (inside) {
    for (var token = lane; token < parameters.vocabulary; token += LANES) {
      if (isAllowed(position, token)) {
        largest = max(largest, logits[start + token] * parameters.inverseTemperature);
      }
    }
  }
  largest = laneMax(largest, local);

  var total = 0.0;
  var weighted = 0.0;
  if (inside) {
    for (var token = lane; token < parameters.vocabulary; token += LANES) {
      if (isAllowed(position, token)) {
        let shifted = logits[start + token] * parameters.inverseTemperature - largest;
        let share = exp(max(shifted, -80.0));
        total += share;
        weighted += share * shifted;
      }
    }
  }
  total = laneSum(total, local);
  weighted = laneSum(weighted, local);

  if (inside && lane == 0u) {
    let logTotal = log(total);
    logSumExp[position] = largest + logTotal;
    logProb[position] = logits[start + targets[position]] * parameters.inverseTemperature - largest - logTotal;
    entropy[position] = logTotal - weighted / total;
  }
}
