// Draws the next token of each row from softmax(logits · inverseTemperature) over the tokens that may come next: all of the
// vocabulary, or the edges that leave the row's node of a prefix tree. LANES invocations share a row (shaders/lanes.wgsl).
//   z[n] = logits[token n] · inverseTemperature,  logProb = z[drawn] − log Σ e^z,  entropy = log Σ e^z − Σ p z
//   drawn = the first n with Σ_{m ≤ n} p[m] > u,  u = (first word of Threefry for (key, step) >> 9) / 2²³; greedy: the first largest z
// Shapes: logits [rows, vocabulary]; place [rows] = (sequence, position); state [sequences] = (key0, key1, node, done), node being
// NO_TREE where every token may come; tree: node n is the words (first word of its edges, number of edges) at 2n, an edge the
// words (token, node); nextToken [rows]; drawn [steps, rowStride] = (token, bits of logProb, bits of entropy, flags): flag 1 a token
// was drawn, flag 2 the sequence is at its end (a leaf of its tree, or the end token).
// Twin: sampleTwin, src/gpu/kernels/sample.ts.

struct Parameters {
  rows: u32,
  vocabulary: u32,
  step: u32,
  drawnAt: u32,
  inverseTemperature: f32,
  greedy: u32,
  endToken: u32,
}

@group(0) @binding(0) var<uniform> parameters: Parameters;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> place: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> state: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read> tree: array<u32>;
@group(0) @binding(5) var<storage, read_write> nextToken: array<u32>;
@group(0) @binding(6) var<storage, read_write> drawn: array<vec4<u32>>;

const NO_TREE = 0xffffffffu;
const LOWEST = -3.0e38;

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
  let sequence = place[min(row, parameters.rows - 1u)].x;
  let before = state[sequence];
  let restricted = before.z != NO_TREE;
  var edges = 0u;
  var count = parameters.vocabulary;
  if (restricted) {
    edges = tree[2u * before.z];
    count = tree[2u * before.z + 1u];
  }
  if (!inside || before.w != 0u) {
    count = 0u;
  }
  // Lane by lane a contiguous part of the candidates, so that the lanes' sums in turn are the cumulative distribution.
  let share = (count + LANES - 1u) / LANES;
  let begin = min(lane * share, count);
  let end = min(begin + share, count);
  let start = row * parameters.vocabulary;

  var largest = LOWEST;
  var best = begin;
  for (var n = begin; n < end; n++) {
    let z = logits[start + candidate(restricted, edges, n)] * parameters.inverseTemperature;
    if (z > largest) {
      largest = z;
      best = n;
    }
  }
  let top = laneMax(largest, local);
  var mass = 0.0;
  var weighted = 0.0;
  for (var n = begin; n < end; n++) {
    let z = logits[start + candidate(restricted, edges, n)] * parameters.inverseTemperature - top;
    let p = exp(z);
    mass += p;
    weighted += p * z;
  }
  let total = laneSum(mass, local);
  let expected = laneSum(weighted, local) / total;
  let earlier = laneSumBefore(mass, local);

  // One lane holds the draw. 23 bits keep the goal below the total in every rounding, and the lanes' parts join without gaps.
  let bits = threefry2x32(before.xy, vec2<u32>(parameters.step, 0u));
  let goal = f32(bits.x >> 9u) * (1.0 / 8388608.0) * total;
  var found = goal >= earlier && goal < earlier + mass;
  var choice = begin;
  var cumulative = earlier;
  for (var n = begin; n < end; n++) {
    let p = exp(logits[start + candidate(restricted, edges, n)] * parameters.inverseTemperature - top);
    // A candidate without weight is never drawn, also where rounding leaves the goal behind the lane's last sum.
    if (p > 0.0) {
      choice = n;
    }
    cumulative += p;
    if (cumulative > goal) {
      break;
    }
  }
  let isLargest = begin < end && largest == top;
  let largestBefore = laneSumBefore(select(0.0, 1.0, isLargest), local);
  if (parameters.greedy != 0u) {
    found = isLargest && largestBefore == 0.0;
    choice = best;
  }
  // Logits that are not numbers leave no lane with the draw: the first one then reports what it sees.
  let findings = laneSum(select(0.0, 1.0, found), local);
  if (!inside || !(found || (findings == 0.0 && lane == 0u))) {
    return;
  }
  if (count == 0u) {
    drawn[parameters.drawnAt + row] = vec4<u32>(0u, 0u, 0u, 2u);
    return;
  }
  let token = candidate(restricted, edges, choice);
  let logProb = logits[start + token] * parameters.inverseTemperature - top - log(total);
  var node = NO_TREE;
  var done = token == parameters.endToken;
  if (restricted) {
    node = tree[edges + 2u * choice + 1u];
    done = tree[2u * node + 1u] == 0u;
  }
  state[sequence] = vec4<u32>(before.xy, node, select(0u, 1u, done));
  nextToken[row] = token;
  drawn[parameters.drawnAt + row] = vec4<u32>(
    token,
    bitcast<u32>(logProb),
    bitcast<u32>(max(log(total) - expected, 0.0)),
    select(1u, 3u, done),
  );
}

fn candidate(restricted: bool, edges: u32, n: u32) -> u32 {
  if (restricted) {
    return tree[edges + 2u * n];
  }
  return n;
}
