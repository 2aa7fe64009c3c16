// Algorithm 1 of the paper on a residual maker H, one workgroup a problem. The same as
// src/regression/greedy.rs, with its symbols.
//
// Points are a list, divided into blocks of four. Thread t has the blocks t, t + WG, ... and is
// the only one to write their residuals, variances and rows of W. Data shared between threads
// are in workgroup memory, and every barrier says what it separates. Entries beyond the list
// count as removed.

struct Search {
    // How many outliers may be searched for.
    cap: u32,
    // What the rule compares with, where it is the same for all problems.
    threshold: f32,
    // Entries of a section of the cells.
    stride: u32,
    // With the rule EXTREME: least magnitude of an outlier, and the relative distance to the
    // threshold within which a part of an outlier is removed.
    size: f32,
    doubt: f32,
}

@group(0) @binding(0) var<uniform> search: Search;
// H of each rung, one after another; symmetric.
@group(0) @binding(1) var<storage, read> makers: array<f32>;
@group(0) @binding(2) var<storage, read_write> problems: array<Problem>;
// In: flags, and H y as the residuals. Out: the outliers and their order, and the
// residuals without them if the list is of all points.
@group(0) @binding(3) var<storage, read_write> cells: array<f32>;
// W, column after column, of each problem.
@group(0) @binding(4) var<storage, read_write> columns: array<vec4<f32>>;

override WG: u32 = 64u;
// Points, and columns that W has room for.
override N: u32 = 144u;
override K: u32 = 72u;
// Blocks of points.
override BLOCKS: u32 = (N + 3u) / 4u;
// The stopping rule, one of the constants below.
override RULE: u32 = 0u;
// Whether residuals are measured by their own standard deviation.
override STUDENTIZED: bool = true;
// Whether the problems have flags, and only points with one matter; without, every point can be
// an outlier, and all residuals are results.
override FLAGGED: bool = true;
// Entries of the list, which is made of flags, and of what points are worth; and of the
// two scratch arrays, which only some rules need.
override LIST: u32 = 1u;
override WORTHS: u32 = (LIST + 3u) / 4u;
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

// Kinds of points in the list, as they are counted.
const OTHER = 1u;
const KNOWN = 0x10000u;

// Values of `choice` that are no index.
const STOP = 0xffffffffu;
// Values of `state` that are no variance.
const NOT_ELIGIBLE = -1.0;
const TAKEN_OUT = -2.0;
const EPSILON = 1.1920929e-7;

// The points that matter: those known to be bad, then the others. How many are known,
// and how many there are.
var<workgroup> list: array<u32, LIST>;
var<workgroup> sizes: vec2<u32>;
var<workgroup> residual: array<vec4<f32>, BLOCKS>;
// Weight of each point as a candidate.
var<workgroup> worth: array<vec4<f32>, WORTHS>;
// The variance of the residual for noise of variance one, or one of the above.
var<workgroup> state: array<vec4<f32>, BLOCKS>;
// Row j of W: the new row of L.
var<workgroup> row: array<f32, K>;
// L^-1 (H y)_S as it grows, the diagonal of L, and S; and which part of each is taken out.
var<workgroup> lengths: array<f32, K>;
var<workgroup> diagonal: array<f32, K>;
var<workgroup> support: array<u32, K>;
var<workgroup> shares: array<f32, K>;
// Each thread's value for a comparison, a sum or the list.
var<workgroup> values: array<f32, WG>;
var<workgroup> places: array<u32, WG>;
// Decisions of thread 0.
var<workgroup> choice: u32;
var<workgroup> pivot: f32;
var<workgroup> taken: u32;
var<workgroup> reason: u32;
// Scratch of the rules.
var<workgroup> bars: array<atomic<u32>, BARS>;
var<workgroup> scores: array<f32, SCORES>;
var<workgroup> counter: atomic<u32>;
// The threshold of the histogram rule from the first step of the search.
var<workgroup> kept: f32;

// A point and its score.
struct Candidate {
    score: f32,
    place: u32,
}

// The extreme value of the first `threads`, the first of equals, and its place: in
// values[0] and places[0] behind the last barrier. They are a power of two; others have
// nothing to say.
fn reduce_largest(t: u32, threads: u32, mine: Candidate) {
    var best = mine;
    values[t] = best.score;
    places[t] = best.place;
    for (var half = threads / 2u; half > 0u; half /= 2u) {
        // Separates what was written a round before, by others, from its use.
        workgroupBarrier();
        if t < half {
            let other = Candidate(values[t + half], places[t + half]);
            let first = other.score == best.score && other.place < best.place;
            if other.score > best.score || first {
                best = other;
                values[t] = best.score;
                places[t] = best.place;
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

// The more extreme of a candidate and a block of points with residuals r and variances
// v: by their residuals, or by the squares of the studentised ones, which count less
// where a point is off by little, and more where it is worth more. `squared` is of the
// least size in units of the limit.
fn more_extreme(
    best: Candidate,
    block: u32,
    r: vec4<f32>,
    v: vec4<f32>,
    squared: f32,
) -> Candidate {
    var s = abs(r);
    if STUDENTIZED {
        let weight = max(squared * v, vec4(1.0));
        s = select(vec4<f32>(), r * r / (v * weight), v > vec4<f32>());
        if FLAGGED {
            s *= worth[block];
        }
    }
    let most = max(max(s.x, s.y), max(s.z, s.w));
    if !(most > best.score) {
        return best;
    }
    // The first of equals.
    let at = select(select(select(3u, 2u, s.z == most), 1u, s.y == most), 0u, s.x == most);
    return Candidate(most, 4u * block + at);
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
fn automatic_is_met(t: u32, problem: u32, out: u32) -> bool {
    let left = N - out;
    // What rounding and the penalty leave of data without noise. What is out has a
    // residual of zero.
    var penalty = 0.0;
    var size = 0.0;
    for (var i = t; i < N; i += WG) {
        let r = residual_of(i);
        let y = cells[cell(DATA, problem, i)];
        penalty += r / f32(N) * (y - r);
        size = max(size, select(0.0, abs(y), r != 0.0));
    }
    reduce_sum(t, penalty);
    let by_penalty = sqrt(max(values[0], 0.0));
    // Separates all that read the sum from the next comparison.
    workgroupBarrier();
    reduce_largest(t, WG, Candidate(size, 0u));
    let by_rounding = EPSILON * sqrt(f32(N)) * values[0];
    // Separates all that read it from the next use of the memory.
    workgroupBarrier();
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

    let scale = max(1.4826022 * bitcast<f32>(high), max(by_penalty, by_rounding));
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
    reduce_largest(t, WG, Candidate(largest, 0u));
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
    reduce_largest(t, WG, Candidate(high, 0u));
    let most = values[0];
    // Separates all that read the largest from the next comparison.
    workgroupBarrier();
    reduce_largest(t, WG, Candidate(-low, 0u));
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
fn rule_is_met(t: u32, problem: u32, out: u32, begin: u32, extreme: f32, limit: f32) -> bool {
    switch RULE {
        case EXTREME: {
            return sqrt(extreme) / limit - 1.0 <= -search.doubt;
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
                reduce_largest(t, WG, Candidate(mine, 0u));
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
            reduce_largest(t, WG, Candidate(mine, 0u));
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
            return automatic_is_met(t, problem, out);
        }
        default: {
            return false;
        }
    }
}

// The part of an outlier that is removed, by its relative distance to the threshold.
fn share_of(beyond: f32) -> f32 {
    if beyond >= search.doubt {
        return 1.0;
    }
    return 0.5 + 0.5 * beyond / search.doubt;
}

// Where a point of a problem is in a section of the cells.
fn cell(section: u32, problem: u32, point: u32) -> u32 {
    return section * search.stride + problem * 4u * BLOCKS + point;
}

fn flag_of(problem: u32, point: u32) -> f32 {
    return cells[cell(FLAGS, problem, point)];
}

// Weights of points; those known to be bad are not chosen.
fn worth_of(problem: u32, points: vec4<u32>) -> vec4<f32> {
    let flags = vec4(
        flag_of(problem, points.x),
        flag_of(problem, points.y),
        flag_of(problem, points.z),
        flag_of(problem, points.w),
    );
    return max(flags, vec4<f32>());
}

fn residuals_at(problem: u32, points: vec4<u32>) -> vec4<f32> {
    let at = vec4(cell(RESIDUALS, problem, 0u)) + points;
    return vec4(cells[at.x], cells[at.y], cells[at.z], cells[at.w]);
}

fn entries_of_h(at: vec4<u32>) -> vec4<f32> {
    return vec4(makers[at.x], makers[at.y], makers[at.z], makers[at.w]);
}

fn point_at(place: u32) -> u32 {
    if FLAGGED {
        return list[place];
    }
    return place;
}

// The points of a block; beyond the list its last one.
fn points_of(block: u32, count: u32) -> vec4<u32> {
    let at = min(vec4(4u * block) + vec4(0u, 1u, 2u, 3u), vec4(count - 1u));
    return vec4(point_at(at.x), point_at(at.y), point_at(at.z), point_at(at.w));
}

// What counts as a point known to be bad, as another that matters, or as nothing.
fn kind_of(flag: f32) -> u32 {
    return select(select(0u, OTHER, flag > 0.0), KNOWN, flag == IS_KNOWN);
}

// Makes the list, and gives its sizes.
fn make_list(t: u32, problem: u32) -> vec2<u32> {
    if !FLAGGED {
        return vec2(0u, N);
    }
    // Each thread looks at a part of the points, in their order. It counts both kinds
    // in one number: there are fewer points than 2^16.
    let share = (N + WG - 1u) / WG;
    let end = min((t + 1u) * share, N);
    var mine = 0u;
    for (var i = t * share; i < end; i++) {
        mine += kind_of(flag_of(problem, i));
    }
    places[t] = mine;

    // Separates what each thread has counted from all that add it up.
    workgroupBarrier();

    var all = 0u;
    var before = 0u;
    for (var l = 0u; l < WG; l++) {
        before = select(before, all, l == t);
        all += places[l];
    }
    let known = all / KNOWN;
    var next_known = before / KNOWN;
    var next_other = known + before % KNOWN;
    for (var i = t * share; i < end; i++) {
        let kind = kind_of(flag_of(problem, i));
        if kind == KNOWN {
            list[next_known] = i;
            next_known += 1u;
        } else if kind == OTHER {
            list[next_other] = i;
            next_other += 1u;
        }
    }
    if t == 0u {
        sizes = vec2(known, known + all % KNOWN);
    }
    // Separates the parts of the list and thread 0's sizes from all that read them, and
    // what was counted from the next use of its memory.
    return workgroupUniformLoad(&sizes);
}

// What a new point brings: H e_j - W d for a block of points, and H_jj - d^T d, with
// d = row j of W.
struct Extension {
    column: vec4<f32>,
    squared: f32,
}

fn extension(h: vec4<f32>, h_jj: f32, w: u32, k: u32, block: u32) -> Extension {
    var added = Extension(h, h_jj);
    var at = w + block;
    var m = 0u;
    // Four columns at a time: a loop costs more than what is in it.
    for (; m + 4u <= k; m += 4u) {
        let d = vec4(row[m], row[m + 1u], row[m + 2u], row[m + 3u]);
        added.column -= d.x * columns[at] + d.y * columns[at + BLOCKS]
            + d.z * columns[at + 2u * BLOCKS] + d.w * columns[at + 3u * BLOCKS];
        added.squared -= dot(d, d);
        at += 4u * BLOCKS;
    }
    for (; m < k; m++) {
        added.column -= row[m] * columns[at];
        added.squared -= row[m] * row[m];
        at += BLOCKS;
    }
    return added;
}

@compute @workgroup_size(WG)
fn greedy(
    @builtin(local_invocation_index) t: u32,
    @builtin(workgroup_id) group: vec3<u32>,
) {
    let problem = group.x;
    // Rows of H are filled up to blocks.
    let maker = problems[problem].rung * N * 4u * BLOCKS;
    let limit = problems[problem].limit;
    // No limit is zero where there is a size.
    let per_unit = search.size / max(limit, EPSILON);
    let w = problem * K * BLOCKS;
    for (var i = t; i < 4u * BLOCKS; i += WG) {
        cells[cell(OUTLIERS, problem, i)] = 0.0;
    }
    let listed = make_list(t, problem);
    let begin = min(listed.x, K);
    let count = listed.y;
    let blocks = (count + 3u) / 4u;
    // Threads that have a block, as a power of two.
    let threads = min(1u << (32u - countLeadingZeros(max(blocks, 1u) - 1u)), WG);
    var mine = Candidate(0.0, STOP);
    for (var b = t; b < blocks; b += WG) {
        let points = points_of(b, count);
        let inside = vec4(4u * b) + vec4(0u, 1u, 2u, 3u) < vec4(count);
        let r = select(vec4<f32>(), residuals_at(problem, points), inside);
        let diagonal_of_h = entries_of_h(vec4(maker) + points * (4u * BLOCKS + 1u));
        var can_be = diagonal_of_h;
        if FLAGGED {
            let own = worth_of(problem, points);
            worth[b] = own;
            can_be = select(vec4(NOT_ELIGIBLE), diagonal_of_h, own > vec4<f32>());
        }
        let v = select(vec4(TAKEN_OUT), can_be, inside);
        mine = more_extreme(mine, b, r, v, per_unit * per_unit);
        residual[b] = r;
        state[b] = v;
    }
    if t == 0u {
        taken = 0u;
        reason = MET;
    }

    for (var k = 0u; k <= K; k++) {
        // Its barriers also separate what each thread has set up or changed from all
        // that the rules compare.
        reduce_largest(t, threads, mine);
        let extreme = values[0];
        let place = places[0];
        let met = rule_is_met(t, problem, k, begin, extreme, limit);
        if t == 0u {
            choice = STOP;
            if reason != MET {
                // The last point could not be taken out.
            } else if k < begin {
                choice = k;
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
                shares[k] = 1.0;
                if RULE == EXTREME && k >= begin {
                    shares[k] = share_of(sqrt(extreme) / limit - 1.0);
                }
                pivot = residual_of(choice);
            }
        }
        // Separates thread 0's decision from all that act on it, and this
        // comparison's memory from the next one's.
        let at = workgroupUniformLoad(&choice);
        if at == STOP {
            break;
        }

        for (var m = t; m < k; m += WG) {
            row[m] = columns[w + m * BLOCKS + at / 4u][at % 4u];
        }
        // Separates the row that threads have brought together from all that read
        // it.
        workgroupBarrier();

        // L <- [L 0; d^T b]: the paper's rank-one extension. All threads find the
        // same b; there is none if the point depends on those that are out.
        let j = point_at(at);
        let column = maker + j * 4u * BLOCKS;
        let h_jj = makers[column + j];
        var b = 0.0;
        var length = 0.0;
        mine = Candidate(0.0, STOP);
        for (var block = t; block < blocks; block += WG) {
            let h = entries_of_h(vec4(column) + points_of(block, count));
            let added = extension(h, h_jj, w, k, block);
            if !(added.squared > abs(h_jj) * EPSILON * f32(k + 1u)) {
                break;
            }
            b = sqrt(added.squared);
            length = pivot / b;
            let before = state[block];
            // What is out already has no residual, now and later.
            let entries = select(added.column / b, vec4<f32>(), before == vec4(TAKEN_OUT));
            columns[w + k * BLOCKS + block] = entries;
            let left = max(before - entries * entries, EPSILON * before);
            let is_j = vec4(4u * block) + vec4(0u, 1u, 2u, 3u) == vec4(at);
            let r = select(residual[block] - length * entries, vec4<f32>(), is_j);
            let rest = select(before, left, before > vec4<f32>());
            let v = select(rest, vec4(TAKEN_OUT), is_j);
            mine = more_extreme(mine, block, r, v, per_unit * per_unit);
            residual[block] = r;
            state[block] = v;
        }
        // Thread 0 has the first block.
        if t == 0u {
            if b > 0.0 {
                lengths[k] = length;
                diagonal[k] = b;
                support[k] = at;
                taken = k + 1u;
            } else {
                reason = select(EXHAUSTED, KNOWN_SINGULAR, k < begin);
            }
        }

        // Separates the new column of W from the next step, in which all threads read
        // it, and the outliers' zeros from thread 0, which writes values there. The
        // barriers of the comparison do the same for workgroup memory: residuals, and
        // the pivot, which thread 0 writes anew.
        storageBarrier();
    }

    // L^T u = L^-1 (H y)_S, where row a of L is row S_a of W.
    let found = workgroupUniformLoad(&taken);
    for (var a = found; a > 0u; a--) {
        let s = support[a - 1u];
        let u = lengths[a - 1u] / diagonal[a - 1u];
        for (var b = t; b < a - 1u; b += WG) {
            lengths[b] -= columns[w + b * BLOCKS + s / 4u][s % 4u] * u;
        }
        if t == 0u {
            let point = point_at(s);
            let share = shares[a - 1u];
            cells[cell(OUTLIERS, problem, point)] = share * u;
            if share > 0.5 {
                cells[cell(FLAGS, problem, point)] = IS_OUTLIER;
            }
            cells[cell(ORDER, problem, a - 1u)] = f32(point);
        }
        // Separates the lengths that threads have changed from the next, which
        // all of them read.
        workgroupBarrier();
    }
    if !FLAGGED {
        for (var i = t; i < N; i += WG) {
            cells[cell(RESIDUALS, problem, point_at(i))] = residual_of(i);
        }
    }
    if t == 0u {
        problems[problem].count = found;
        problems[problem].reason = reason;
    }
}
