// Algorithm 1 of the paper on a residual maker H, one workgroup a problem. The
// twin of src/regression/greedy.rs; symbols as there.
//
// Points come in blocks of four. Each thread has the blocks t, t + WG, ... and nobody
// else writes what belongs to them: residual, variance, and their rows of W. What
// threads hand to one another goes through workgroup memory, and every barrier says
// what it separates. Points beyond the last have no residual, and cannot be chosen.

struct Search {
    // How many outliers may be searched for.
    cap: u32,
    // What the rule compares with, where it is the same for all problems.
    threshold: f32,
    // Entries of a section of the cells.
    stride: u32,
    // Not used.
    padding: u32,
}

@group(0) @binding(0) var<uniform> search: Search;
// H of each rung, one after another; symmetric.
@group(0) @binding(1) var<storage, read> makers: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> problems: array<Problem>;
// In: flags, and H y as the residuals. Out: the residuals without the outliers, the
// outliers and their order.
@group(0) @binding(3) var<storage, read_write> cells: array<vec4<f32>>;
// W, column after column, of each problem.
@group(0) @binding(4) var<storage, read_write> columns: array<vec4<f32>>;

override WG: u32 = 64u;
// Points, and columns that W has room for.
override N: u32 = 144u;
override K: u32 = 72u;
// Blocks of points.
override BLOCKS: u32 = (N + 3u) / 4u;
// Which rule ends the search, one of the constants below.
override RULE: u32 = 0u;
// Whether residuals are measured by their own standard deviation.
override STUDENTIZED: bool = true;
// Whether the problems have flags; without, every point can be an outlier.
override FLAGGED: bool = true;
// Entries of the two scratch arrays, which only some rules need.
override BARS: u32 = 1u;
override SCORES: u32 = 1u;

// Rules: the numbers of `Rule` in src/gpu/greedy.rs.
const EXTREME = 0u;
const MAX_RESIDUAL = 1u;
const RESIDUAL_NORM = 2u;
const HISTOGRAM_ONCE = 3u;
const HISTOGRAM_EVERY_STEP = 4u;
const AUTOMATIC = 5u;
const NEVER = 6u;

// Reasons: the numbers of `Reason` in src/gpu/greedy.rs.
const MET = 0u;
const CAP = 1u;
const EXHAUSTED = 2u;
const KNOWN_SINGULAR = 3u;

// What `choice` says besides the index of a point.
const STOP = 0xffffffffu;
// What `state` says besides a variance.
const NOT_ELIGIBLE = -1.0;
const TAKEN_OUT = -2.0;
const EPSILON = 1.1920929e-7;

var<workgroup> residual: array<vec4<f32>, BLOCKS>;
// The variance of the residual for noise of variance one, or one of the above.
var<workgroup> state: array<vec4<f32>, BLOCKS>;
// Row j of W: the new row of L.
var<workgroup> row: array<vec4<f32>, (K + 3u) / 4u>;
// L^-1 (H y)_S as it grows, the diagonal of L, and S.
var<workgroup> lengths: array<f32, K>;
var<workgroup> diagonal: array<f32, K>;
var<workgroup> support: array<u32, K>;
// What each thread brings to a comparison or a sum.
var<workgroup> values: array<f32, WG>;
var<workgroup> places: array<u32, WG>;
// What thread 0 decides.
var<workgroup> choice: u32;
var<workgroup> pivot: f32;
var<workgroup> taken: u32;
var<workgroup> reason: u32;
// Scratch of the rules.
var<workgroup> bars: array<atomic<u32>, BARS>;
var<workgroup> scores: array<f32, SCORES>;
var<workgroup> counter: atomic<u32>;
// What the histogram rule keeps from the first step of the search, and which that
// is: points known to be bad come before.
var<workgroup> kept: f32;
var<workgroup> start: u32;

// The extreme value of all threads, the first of equals, and its place: in
// values[0] and places[0] behind the last barrier.
fn reduce_largest(t: u32, value: f32, place: u32) {
    values[t] = value;
    places[t] = place;
    for (var half = WG / 2u; half > 0u; half /= 2u) {
        // Separates what was written a round before, by others, from its use.
        workgroupBarrier();
        if t < half {
            let other = values[t + half];
            let at = places[t + half];
            if other > values[t] || (other == values[t] && at < places[t]) {
                values[t] = other;
                places[t] = at;
            }
        }
    }
    // Separates the last round, thread 0's, from all that read the result.
    workgroupBarrier();
}

// The sum over all threads, in values[0] behind the last barrier.
fn reduce_sum(t: u32, value: f32) {
    values[t] = value;
    for (var half = WG / 2u; half > 0u; half /= 2u) {
        // Separates what was written a round before, by others, from its use.
        workgroupBarrier();
        if t < half {
            values[t] += values[t + half];
        }
    }
    // Separates the last round, thread 0's, from all that read the result.
    workgroupBarrier();
}

fn residual_of(i: u32) -> f32 {
    return residual[i / 4u][i % 4u];
}

// What the points of a block are chosen for: their residuals, or the squares of
// the studentised ones.
fn scores_of(block: u32) -> vec4<f32> {
    let r = residual[block];
    if !STUDENTIZED {
        return abs(r);
    }
    let v = state[block];
    return select(vec4<f32>(), r * r / v, v > vec4<f32>());
}

// The most extreme point of all, in values[0] and places[0].
fn select_point(t: u32) {
    var best = 0.0;
    var place = STOP;
    for (var b = t; b < BLOCKS; b += WG) {
        let s = scores_of(b);
        let most = max(max(s.x, s.y), max(s.z, s.w));
        if most > best {
            best = most;
            // The first of equals.
            let at = select(select(select(3u, 2u, s.z == most), 1u, s.y == most), 0u, s.x == most);
            place = 4u * b + at;
        }
    }
    reduce_largest(t, best, place);
}

// Phi^-1(1 - p) for a small p: formula 26.2.23 of Abramowitz and Stegun.
fn upper_quantile(p: f32) -> f32 {
    let s = sqrt(-2.0 * log(p));
    let above = 2.515517 + s * (0.802853 + s * 0.010328);
    let below = 1.0 + s * (1.432788 + s * (0.189269 + s * 0.001308));
    return s - above / below;
}

// Whether no residual stands out from the others (src/regression/stop/automatic.rs).
// Only thread 0's answer counts.
fn automatic_is_met(t: u32, out: u32) -> bool {
    let left = N - out;
    for (var i = t; i < N; i += WG) {
        let v = state[i / 4u][i % 4u];
        scores[i] = select(0.0, abs(residual_of(i)) / sqrt(v), v > 0.0);
    }
    // The median of those left: the least number that more than `rank` of the scores
    // do not exceed; each thread counts among its own. Those taken out score zero, and
    // come first. Numbers that are not negative are ordered as their bits are.
    let rank = out + left / 2u;
    var low = 0u;
    var high = 0x7f800000u;
    for (var round = 0u; round < 31u; round++) {
        let middle = (low + high) / 2u;
        if t == 0u {
            atomicStore(&counter, 0u);
        }
        // Separates the counter's zero from what is added.
        workgroupBarrier();
        var within = 0u;
        for (var i = t; i < N; i += WG) {
            within += select(0u, 1u, bitcast<u32>(scores[i]) <= middle);
        }
        atomicAdd(&counter, within);
        // Separates all that add from all that read the sum.
        workgroupBarrier();
        if atomicLoad(&counter) > rank {
            high = middle;
        } else {
            low = middle + 1u;
        }
        // Separates all that read the sum from the next round's zero.
        workgroupBarrier();
    }

    let scale = 1.4826022 * bitcast<f32>(high);
    var tail = 0.0;
    var largest = 0.0;
    for (var i = t; i < N; i += WG) {
        tail += select(0.0, 1.0, scores[i] > scale * 2.5);
        largest = max(largest, scores[i]);
    }
    reduce_sum(t, tail);
    let expected = 0.012419 * f32(left);
    let tail_is_usual = values[0] <= expected + 1.3 * sqrt(expected);
    // Separates all that read the sum from the next comparison.
    workgroupBarrier();
    reduce_largest(t, largest, 0u);
    let all_within = values[0] <= scale * upper_quantile(0.05 / f32(left));
    // Separates all that read it from the next use of the memory.
    workgroupBarrier();
    return 2u * left <= N || (all_within && tail_is_usual);
}

// The left end of the gap in the histogram of the residuals
// (src/regression/stop/histogram.rs). Only thread 0's answer counts.
fn histogram_gap(t: u32) -> f32 {
    // Separates all that read the last comparison from this one.
    workgroupBarrier();
    var low = abs(residual_of(min(t, N - 1u)));
    var high = low;
    for (var i = t; i < N; i += WG) {
        low = min(low, abs(residual_of(i)));
        high = max(high, abs(residual_of(i)));
    }
    reduce_largest(t, high, 0u);
    let most = values[0];
    // Separates all that read the largest from the next comparison.
    workgroupBarrier();
    reduce_largest(t, -low, 0u);
    let least = -values[0];
    for (var i = t; i < BARS; i += WG) {
        atomicStore(&bars[i], 0u);
    }
    // Separates the bars that threads cleared from the points that are counted,
    // and all that read the smallest from the next use of its memory.
    workgroupBarrier();
    let width = (most - least) / f32(BARS);
    for (var i = t; i < N; i += WG) {
        let bar = select(0u, u32((abs(residual_of(i)) - least) / width), width > 0.0);
        atomicAdd(&bars[min(bar, BARS - 1u)], 1u);
    }
    // Separates the counting from thread 0, which reads the bars.
    workgroupBarrier();
    if t != 0u || !(most > least) {
        return most;
    }

    var lowest = N;
    var first = 0u;
    for (var b = 0u; b < BARS; b++) {
        let height = atomicLoad(&bars[b]);
        if height < lowest {
            lowest = height;
            first = b;
        }
    }
    let e1 = least + width * f32(first);
    let mean = f32(N) / f32(BARS);
    var squares = 0.0;
    for (var b = 0u; b < BARS; b++) {
        let d = f32(atomicLoad(&bars[b])) - mean;
        squares += d * d;
    }
    let deviation = sqrt(squares / f32(max(BARS, 2u) - 1u));
    if deviation <= 0.9 * mean {
        return e1;
    }
    for (var b = 1u; b < BARS; b++) {
        let before = atomicLoad(&bars[b - 1u]);
        if atomicLoad(&bars[b]) > before && before <= lowest + 5u {
            return min(e1, least + width * f32(b));
        }
    }
    return e1;
}

// Whether the search is over. `extreme` is what the next point would be chosen for,
// `begin` how many points are out when it begins. Only thread 0's answer counts; all
// threads take part.
fn rule_is_met(t: u32, out: u32, begin: u32, extreme: f32, limit: f32) -> bool {
    switch RULE {
        case EXTREME: {
            return sqrt(extreme) <= limit;
        }
        case MAX_RESIDUAL, HISTOGRAM_ONCE, HISTOGRAM_EVERY_STEP: {
            var most = extreme;
            if STUDENTIZED {
                var mine = 0.0;
                for (var i = t; i < N; i += WG) {
                    mine = max(mine, abs(residual_of(i)));
                }
                // Separates all that read the last comparison from this one.
                workgroupBarrier();
                reduce_largest(t, mine, 0u);
                most = values[0];
                // Separates all that read it from the next use of the memory.
                workgroupBarrier();
            }
            var threshold = search.threshold;
            if RULE == HISTOGRAM_EVERY_STEP {
                threshold = max(threshold, histogram_gap(t));
            }
            if RULE == HISTOGRAM_ONCE {
                if out == begin {
                    let gap = histogram_gap(t);
                    if t == 0u {
                        kept = min(threshold, gap);
                    }
                }
                // Thread 0 alone writes it, and alone reads it.
                threshold = select(0.0, kept, t == 0u);
            }
            return most <= threshold;
        }
        case RESIDUAL_NORM: {
            // In units of the largest, so that no square overflows.
            var mine = 0.0;
            for (var i = t; i < N; i += WG) {
                mine = max(mine, abs(residual_of(i)));
            }
            // Separates all that read the last comparison from this one.
            workgroupBarrier();
            reduce_largest(t, mine, 0u);
            let most = values[0];
            // Separates all that read the largest from the sum.
            workgroupBarrier();
            var sum = 0.0;
            if most > 0.0 {
                for (var i = t; i < N; i += WG) {
                    let r = residual_of(i) / most;
                    sum += r * r;
                }
            }
            reduce_sum(t, sum);
            let norm = most * sqrt(values[0]);
            // Separates all that read the sum from the next use of its memory.
            workgroupBarrier();
            return norm <= search.threshold;
        }
        case AUTOMATIC: {
            // Separates all that read the last comparison from the next.
            workgroupBarrier();
            return automatic_is_met(t, out);
        }
        default: {
            return false;
        }
    }
}

// Where a block of a problem is in a section of the cells.
fn cell(section: u32, problem: u32, block: u32) -> u32 {
    return section * (search.stride / 4u) + problem * BLOCKS + block;
}

fn is_known(problem: u32, i: u32) -> bool {
    return cells[cell(FLAGS, problem, i / 4u)][i % 4u] >= 2.0;
}

// The next point known to be bad, from `start` on.
fn next_known(problem: u32, start: u32) -> u32 {
    for (var i = start; i < N; i++) {
        if is_known(problem, i) {
            return i;
        }
    }
    return STOP;
}

// H e_j - W d for a block of points, with d = row j of W.
fn column_block(maker: u32, j: u32, w: u32, k: u32, block: u32) -> vec4<f32> {
    var sum = makers[maker + j * BLOCKS + block];
    var at = w + block;
    var m = 0u;
    // Four columns at a time: a loop costs more than what is in it.
    for (; m + 4u <= k; m += 4u) {
        let d = row[m / 4u];
        sum -= d.x * columns[at] + d.y * columns[at + BLOCKS]
            + d.z * columns[at + 2u * BLOCKS] + d.w * columns[at + 3u * BLOCKS];
        at += 4u * BLOCKS;
    }
    for (; m < k; m++) {
        sum -= row[m / 4u][m % 4u] * columns[at];
        at += BLOCKS;
    }
    return sum;
}

@compute @workgroup_size(WG)
fn greedy(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) group: vec3<u32>,
) {
    let problem = group.x;
    let maker = problems[problem].rung * N * BLOCKS;
    let limit = problems[problem].limit;
    let w = problem * K * BLOCKS;
    for (var b = t; b < BLOCKS; b += WG) {
        let points = vec4(4u * b) + vec4(0u, 1u, 2u, 3u);
        residual[b] = select(vec4<f32>(), cells[cell(RESIDUALS, problem, b)], points < vec4(N));
        cells[cell(OUTLIERS, problem, b)] = vec4<f32>();
        var eligible = points < vec4(N);
        if FLAGGED {
            let flags = vec4<u32>(cells[cell(FLAGS, problem, b)]);
            eligible = eligible & ((flags & vec4(1u)) != vec4<u32>());
        }
        let at = min(points, vec4(N - 1u)) * BLOCKS + maker + b;
        let diagonal_of_h = vec4(
            makers[at.x].x,
            makers[at.y].y,
            makers[at.z].z,
            makers[at.w].w,
        );
        state[b] = select(vec4(NOT_ELIGIBLE), diagonal_of_h, eligible);
    }
    // Thread 0's own.
    var known = STOP;
    if t == 0u {
        taken = 0u;
        reason = MET;
        start = 0u;
        if FLAGGED {
            known = next_known(problem, 0u);
            if RULE == HISTOGRAM_ONCE {
                for (var i = known; i != STOP && start < K; i = next_known(problem, i + 1u)) {
                    start += 1u;
                }
            }
        }
    }

    // Separates what each thread has set up from all that compare, and thread 0's
    // count from all that take it.
    let begin = workgroupUniformLoad(&start);

    for (var k = 0u; k <= K; k++) {
        select_point(t);
        let extreme = values[0];
        let place = places[0];
        let met = rule_is_met(t, k, begin, extreme, limit);
        if t == 0u {
            choice = STOP;
            if reason != MET {
                // The last point could not be taken out.
            } else if known != STOP && k < K {
                choice = known;
                known = next_known(problem, known + 1u);
            } else if met {
                reason = MET;
            } else if k >= min(search.cap, K) {
                reason = CAP;
            } else if !(extreme > 0.0) {
                reason = EXHAUSTED;
            } else {
                choice = place;
            }
            if choice != STOP {
                pivot = residual_of(choice);
            }
        }
        // Separates thread 0's decision from all that act on it, and this
        // comparison's memory from the next one's.
        let j = workgroupUniformLoad(&choice);
        if j == STOP {
            break;
        }

        for (var m = t; m < k; m += WG) {
            row[m / 4u][m % 4u] = columns[w + m * BLOCKS + j / 4u][j % 4u];
        }
        // Separates the row that threads have brought together from all that read
        // it.
        workgroupBarrier();

        // L <- [L 0; d^T b]: the paper's rank-one extension. All threads find the
        // same b.
        let whole = makers[maker + j * BLOCKS + j / 4u][j % 4u];
        var squared = whole;
        var m = 0u;
        for (; m + 4u <= k; m += 4u) {
            squared -= dot(row[m / 4u], row[m / 4u]);
        }
        for (; m < k; m++) {
            let d = row[m / 4u][m % 4u];
            squared -= d * d;
        }
        if squared > abs(whole) * EPSILON * f32(k + 1u) {
            let b = sqrt(squared);
            let length = pivot / b;
            for (var block = t; block < BLOCKS; block += WG) {
                let v = state[block];
                // What is out already has no residual, now and later.
                let entries = select(
                    column_block(maker, j, w, k, block) / b,
                    vec4<f32>(),
                    v == vec4(TAKEN_OUT),
                );
                columns[w + k * BLOCKS + block] = entries;
                let left = max(v - entries * entries, EPSILON * v);
                let is_j = vec4(4u * block) + vec4(0u, 1u, 2u, 3u) == vec4(j);
                residual[block] = select(residual[block] - length * entries, vec4<f32>(), is_j);
                state[block] = select(select(v, left, v > vec4<f32>()), vec4(TAKEN_OUT), is_j);
            }
            if t == 0u {
                lengths[k] = length;
                diagonal[k] = b;
                support[k] = j;
                taken = k + 1u;
            }
        } else if t == 0u {
            reason = EXHAUSTED;
            if FLAGGED {
                reason = select(EXHAUSTED, KNOWN_SINGULAR, is_known(problem, j));
            }
        }

        // Separates the new column of W, in storage, and the pivot from the next
        // step, in which all threads read and thread 0 writes them.
        storageBarrier();
        workgroupBarrier();
    }

    // L^T u = L^-1 (H y)_S, where row a of L is row S_a of W.
    let count = workgroupUniformLoad(&taken);
    for (var a = count; a > 0u; a--) {
        let s = support[a - 1u];
        let u = lengths[a - 1u] / diagonal[a - 1u];
        for (var b = t; b < a - 1u; b += WG) {
            lengths[b] -= columns[w + b * BLOCKS + s / 4u][s % 4u] * u;
        }
        if t == 0u {
            cells[cell(OUTLIERS, problem, s / 4u)][s % 4u] = u;
            cells[cell(ORDER, problem, (a - 1u) / 4u)][(a - 1u) % 4u] = f32(s);
        }
        // Separates the lengths that threads have changed from the next, which
        // all of them read.
        workgroupBarrier();
    }
    for (var b = t; b < BLOCKS; b += WG) {
        cells[cell(RESIDUALS, problem, b)] = residual[b];
    }
    if t == 0u {
        problems[problem].count = count;
        problems[problem].reason = reason;
    }
}
