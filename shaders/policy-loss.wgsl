// The policy objective and its gradients, one invocation a row (the response tokens of one decision):
//   loss = Σ_t weight[t] · ( clipped(ρ[t], A[t])  −  entropyCoefficient · H[t]  +  klCoefficient · kl(d[t]) )
//   x = logProb − oldLogProb,  ρ = exp(x) per token, or exp(min(10, mean of x)) per row (SEQUENCE_RATIO: GSPO),
//   clipped = max(−A ρ, −A clamp(ρ, 1 − clipLow, 1 + clipHigh)), for A < 0 at most −A dualClip (0: no dual clip),
//   d = logProb − refLogProb; KL_VALUE and KL_GRADIENT name the form: 1 d, 2 |d|, 3 d²/2, 4 e^(−d) + d − 1 up to 10.
// Shapes: rowStart [rows + 1]; targets [tokens] = (oldLogProb, advantage, weight, mask); logProb, entropy, refLogProb
// [tokens]; gradient [tokens] = (∂loss/∂logProb, ∂loss/∂entropy); rowSums [·, 12] from row sumsAt on, read by policyFigures.
// Masked tokens are skipped, never multiplied by 0: a NaN behind the mask stays there.
// Source: src/training/losses/{clip,ppo,gspo,kl,total}.ts, where the papers are named. Twin: totalLoss, src/training/losses/total.ts.

struct Parameters {
  rows: u32,
  sumsAt: u32,
  clipLow: f32,
  clipHigh: f32,
  dualClip: f32,
  logRatioClamp: f32,
  entropyCoefficient: f32,
#if REFERENCE
  klCoefficient: f32,
#end
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> rowStart: array<u32>;
@group(0) @binding(2) var<storage, read> targets: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> logProb: array<f32>;
@group(0) @binding(4) var<storage, read> entropy: array<f32>;
#if REFERENCE
@group(0) @binding(5) var<storage, read> refLogProb: array<f32>;
#end
@group(0) @binding(6) var<storage, read_write> gradient: array<vec2<f32>>;
@group(0) @binding(7) var<storage, read_write> rowSums: array<f32>;

// exp overflows at 88.7.
const EXPONENT_LIMIT = 80.0;

#if REFERENCE
// e^t − 1 − t without cancellation where t is small.
fn excessExponential(t: f32) -> f32 {
  if (abs(t) < 0.1) {
    return t * t * (0.5 + t * (1.0 / 6.0 + t * (1.0 / 24.0 + t * (1.0 / 120.0 + t / 720.0))));
  }
  return exp(clamp(t, -20.0, 20.0)) - 1.0 - clamp(t, -20.0, 20.0);
}

fn klValue(d: f32) -> f32 {
  if (KL_VALUE == 1) { return d; }
  if (KL_VALUE == 2) { return abs(d); }
  if (KL_VALUE == 3) { return 0.5 * d * d; }
  return min(excessExponential(-d), 10.0);
}

fn klGradient(d: f32) -> f32 {
  if (KL_GRADIENT == 1) { return 1.0; }
  if (KL_GRADIENT == 2) { return sign(d); }
  if (KL_GRADIENT == 3) { return d; }
  let excess = excessExponential(-d);
  return select(d - excess, 0.0, excess > 10.0);
}
#end

@compute @workgroup_size(WORKGROUP)
fn main(
  @builtin(workgroup_id) workgroup: vec3<u32>,
  @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) local: u32,
) {
  let row = linearIndex(workgroup, workgroups, local);
  if (row >= parameters.rows) {
    return;
  }
  let begin = rowStart[row];
  let end = rowStart[row + 1u];

  var count = 0.0;
  var meanLogRatio = 0.0;
#if SEQUENCE_RATIO
  for (var token = begin; token < end; token++) {
    if (targets[token].w != 0.0) {
      count += 1.0;
      meanLogRatio += logProb[token] - targets[token].x;
    }
  }
  meanLogRatio /= max(count, 1.0);
  count = 0.0;
#end

  var policyLoss = 0.0;
  var entropySum = 0.0;
  var klSum = 0.0;
  var clippedCount = 0.0;
  var clippedLowerCount = 0.0;
  var reverseLogRatio = 0.0;
  var excess = 0.0;
  var excessSquared = 0.0;
  var ratioMin = 3.0e38;
  var ratioMax = -3.0e38;
  for (var token = begin; token < end; token++) {
    let goal = targets[token];
    if (goal.w == 0.0) {
      gradient[token] = vec2<f32>(0.0);
      continue;
    }
    let advantage = goal.y;
    let weight = goal.z;
    let difference = logProb[token] - goal.x;
#if SEQUENCE_RATIO
    let logRatio = min(meanLogRatio, 10.0);
    let clampActs = meanLogRatio > 10.0;
    let reported = difference;
#else
    let logRatio = clamp(difference, -parameters.logRatioClamp, parameters.logRatioClamp);
    let clampActs = abs(difference) > parameters.logRatioClamp;
    let reported = logRatio;
#end
    let ratio = exp(clamp(logRatio, -EXPONENT_LIMIT, EXPONENT_LIMIT));
    let low = 1.0 - parameters.clipLow;
    let high = 1.0 + parameters.clipHigh;
    let unclippedLoss = -advantage * ratio;
    let clippedLoss = -advantage * clamp(ratio, low, high);
    let largerLoss = max(unclippedLoss, clippedLoss);
    let bound = -advantage * parameters.dualClip;
    let clippedLower = parameters.dualClip > 0.0 && advantage < 0.0 && largerLoss > bound;
    let inside = ratio >= low && ratio <= high;
    let flows = !clampActs && !clippedLower && (unclippedLoss > clippedLoss || inside);
    var slope = select(0.0, -advantage * ratio, flows);
    policyLoss += weight * select(largerLoss, bound, clippedLower);
    entropySum += weight * entropy[token];
#if REFERENCE
    let d = logProb[token] - refLogProb[token];
    klSum += weight * klValue(d);
    slope += parameters.klCoefficient * klGradient(d);
#end
    gradient[token] = vec2<f32>(weight * slope, -parameters.entropyCoefficient * weight);

    count += 1.0;
    clippedCount += select(0.0, 1.0, clippedLoss > unclippedLoss);
    clippedLowerCount += select(0.0, 1.0, clippedLower);
    reverseLogRatio -= reported;
    excess += ratio - 1.0;
    excessSquared += (ratio - 1.0) * (ratio - 1.0);
    ratioMin = min(ratioMin, ratio);
    ratioMax = max(ratioMax, ratio);
  }

  let at = (parameters.sumsAt + row) * 12u;
  rowSums[at] = policyLoss;
  rowSums[at + 1u] = entropySum;
  rowSums[at + 2u] = klSum;
  rowSums[at + 3u] = count;
  rowSums[at + 4u] = clippedCount;
  rowSums[at + 5u] = clippedLowerCount;
  rowSums[at + 6u] = reverseLogRatio;
  rowSums[at + 7u] = excess;
  rowSums[at + 8u] = excessSquared;
  rowSums[at + 9u] = ratioMin;
  rowSums[at + 10u] = ratioMax;
  rowSums[at + 11u] = 0.0;
}
