// `greedy` against Algorithm 1 to the letter.

import { searchConstants } from './compile.js';
import {
  equal,
  gaussianNumbers,
  near,
  padded,
  paddedRows,
  product,
  randomNumbers,
  range,
  solve,
  sum,
  transposed,
} from './plain.js';

const LAMBDA = 0.3;
const REASONS = ['met', 'cap', 'exhausted', 'known singular'];
// Sections of the cells.
const IS_KNOWN = -1;
const IS_OUTLIER = -2;
const [DATA, FLAGS, RESIDUALS, OUTLIERS, ORDER, SECTIONS] = [0, 2, 5, 6, 7, 8];
const PENALTIES = ['rkhs', 'l2'];

// The residual of each column of `ys` if the points `out` are taken out, and the
// outliers' values: the whole system, solved afresh.
function fit(kernel, penalty, out, ys) {
  const n = kernel.length;
  const x = kernel.map((row, i) => [...row, 1, ...out.map((s) => Number(s === i))]);
  const zeros = (length) => Array(length).fill(0);
  let [rows, right] = [[], []];
  if (penalty === 'rkhs') {
    // (K + lambda I) a + c + u = y, where a sums to nothing, and is nothing at the
    // outliers.
    rows = x.map((row, i) => row.map((x, j) => x + LAMBDA * (i === j)));
    for (const column of transposed(x).slice(n)) rows.push([...column, ...zeros(1 + out.length)]);
    right = rows.map((_, i) => ys[i] ?? zeros(ys[0].length));
  } else {
    // The normal equations of [K 1 I_S], with a penalty on a and c.
    rows = product(transposed(x), x).map((row, i) =>
      row.map((x, j) => x + LAMBDA * (i === j && i <= n)),
    );
    right = product(transposed(x), ys);
  }
  const solution = solve(rows, right);
  const fitted = product(x, solution);
  const residual = ys.map((y, i) => y.map((y, l) => (out.includes(i) ? 0 : y - fitted[i][l])));
  return { residual, values: solution.slice(n + 1).map(([u]) => u) };
}

const identity = (n) => range(n).map((i) => range(n).map((j) => Number(i === j)));
const largest = (numbers) => numbers.reduce((max, x) => Math.max(max, Math.abs(x)), 0);

// The rules of src/regression/stop.rs.
const METS = {
  EXTREME: ({ scores, limit, doubt }) => largest(scores) <= limit * (1 - doubt),
  MAX_RESIDUAL: ({ residual, threshold }) => largest(residual) <= threshold,
  RESIDUAL_NORM: ({ residual, threshold }) => Math.hypot(...residual) <= threshold,
  HISTOGRAM_ONCE: ({ residual, first, threshold }) =>
    largest(residual) <= Math.min(threshold, gap(first)),
  HISTOGRAM_EVERY_STEP: ({ residual, threshold }) =>
    largest(residual) <= Math.max(threshold, gap(residual)),
  AUTOMATIC: automatic,
  NEVER: () => false,
};

function automatic({ residual, variances, out }) {
  const [n, left] = [residual.length, residual.length - out.length];
  if (2 * left <= n) return true;
  const scores = residual.map((r, i) =>
    out.includes(i) ? 0 : Math.abs(r) / Math.sqrt(variances[i]),
  );
  const median = scores.toSorted((a, b) => a - b)[out.length + Math.floor(left / 2)];
  const scale = 1.482602218505602 * median;
  const t = Math.sqrt(-2 * Math.log(0.05 / left));
  const extreme =
    t -
    (2.515517 + t * (0.802853 + t * 0.010328)) /
      (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  const expected = 0.012419 * left;
  const tail = scores.filter((z) => z > 2.5 * scale).length;
  return largest(scores) <= scale * extreme && tail <= expected + 1.3 * Math.sqrt(expected);
}

function gap(residual) {
  const sizes = residual.map(Math.abs);
  const [low, high] = [Math.min(...sizes), Math.max(...sizes)];
  if (!(high > low)) return high;
  const bars = Math.floor(sizes.length / 10) + 1;
  const width = (high - low) / bars;
  const heights = Array(bars).fill(0);
  for (const size of sizes) heights[Math.min(Math.floor((size - low) / width), bars - 1)] += 1;
  const lowest = Math.min(...heights);
  const e1 = low + width * heights.indexOf(lowest);
  const mean = sizes.length / bars;
  const deviation = Math.sqrt(sum(heights.map((h) => (h - mean) ** 2)) / (Math.max(bars, 2) - 1));
  if (deviation <= 0.9 * mean) return e1;
  const rise = heights.findIndex(
    (h, b) => b > 0 && h > heights[b - 1] && heights[b - 1] <= lowest + 5,
  );
  return rise < 0 ? e1 : Math.min(e1, low + width * rise);
}

// Algorithm 1. `worth` is what points are worth as candidates for outliers, nothing if they
// can be none; `known` are those that are outliers.
function search(
  kernel,
  penalty,
  y,
  { rule, studentized, limit, size, doubt, threshold, cap, room, worth, known },
) {
  const n = y.length;
  const out = [];
  // Which part of each is taken out.
  const parts = [];
  let first;
  for (;;) {
    // The residuals of y and, for their variances, of each point alone.
    const columns = identity(studentized ? n : 0);
    const fitted = fit(
      kernel,
      penalty,
      out,
      y.map((y, i) => [y, ...(columns[i] ?? [])]),
    );
    const residual = fitted.residual.map(([r]) => r);
    const variances = fitted.residual.map((row, i) => row[i + 1]);
    const scores = residual.map((r, i) => {
      if (out.includes(i)) return 0;
      if (!studentized) return Math.abs(r);
      // What a point is off by, which has to be the size at the limit.
      const bySize = size > 0 ? (Math.abs(r) / variances[i] / size) * limit : Infinity;
      const score = Math.min(Math.abs(r) / Math.sqrt(variances[i]), bySize);
      return worth[i] > 0 ? score * Math.sqrt(worth[i]) : 0;
    });
    const values = fitted.values.map((u, k) => parts[k] * u);
    const result = (reason) => ({ order: out, parts, values, residual, reason });
    if (out.length < known.length && out.length < room) {
      out.push(known[out.length]);
      parts.push(1);
      continue;
    }
    // The histogram is that of the first residual that the rule sees.
    if (out.length === Math.min(known.length, room)) first = residual;
    if (METS[rule]({ residual, variances, scores, first, limit, doubt, threshold, out }))
      return result('met');
    if (out.length >= Math.min(cap, room)) return result('cap');
    const most = largest(scores);
    if (!(most > 0)) return result('exhausted');
    out.push(scores.indexOf(most));
    const beyond = most / limit - 1;
    parts.push(doubt > 0 ? Math.min(0.5 + (0.5 * beyond) / doubt, 1) : 1);
  }
}

// Points on a plane, a smooth function of them, noise, and some that are far off.
function problems(n, count, outliers) {
  const [random, gaussian] = [randomNumbers(n), gaussianNumbers(n + 1)];
  const points = range(n).map(() => [random(), random()]);
  const kernel = points.map((x) =>
    points.map((y) => Math.exp(-((x[0] - y[0]) ** 2 + (x[1] - y[1]) ** 2) / 0.09)),
  );
  const ys = range(count).map(() => {
    const y = points.map(([u, v]) => 20 * Math.sin(3 * u + random()) + 10 * v + gaussian());
    for (let k = 0; k < outliers; k++)
      y[Math.floor(n * random())] += (random() < 0.5 ? -1 : 1) * (15 + 25 * random());
    return y;
  });
  return { kernel, ys };
}

// Runs the device and the algorithm on all problems, and compares.
async function compare(
  device,
  what,
  { n, WG, K = Math.floor(n / 2), count = 20, outliers = 6, ...options },
) {
  const { kernel, ys } = problems(n, count, outliers);
  const { rule, studentized, flags } = options;
  const whole = !flags;
  const settings = { limit: 4, size: 0, doubt: 0, threshold: 4, cap: n, room: K, ...options };
  const makers = PENALTIES.map((penalty) => fit(kernel, penalty, [], identity(n)).residual);
  const penalty = (i) => PENALTIES[i % PENALTIES.length];

  const [each, stride] = [padded(n), padded(n) * count];
  // What was there before does not matter, except for what is read.
  const cells = new Float32Array(SECTIONS * stride).fill(7);
  ys.forEach((y, i) => {
    const residual = fit(
      kernel,
      penalty(i),
      [],
      y.map((y) => [y]),
    ).residual.map(([r]) => r);
    cells.set(residual, RESIDUALS * stride + i * each);
    cells.set(y, DATA * stride + i * each);
    if (flags) cells.set(flags[i], FLAGS * stride + i * each);
  });
  const list = await Promise.all(
    ys.map((_, i) =>
      device.structure('greedy', 'Problem', { rung: i % PENALTIES.length, limit: settings.limit }),
    ),
  );
  const problemsBuffer = device.storage(new Uint32Array(list.flatMap((problem) => [...problem])));
  const { cap, threshold, size, doubt } = settings;
  const uniform = { cap, threshold, stride, size, doubt };
  const parameters = await device.structure('greedy', 'Search', uniform);
  const buffer = device.storage(cells);
  const flagged = Boolean(flags);
  const constants = searchConstants({ WG, N: n, K, rule, studentized, flagged });
  await device.run(
    await device.pipeline('greedy', constants),
    [count],
    [
      device.uniform(parameters),
      device.storage(new Float32Array(makers.flatMap((maker) => [...paddedRows(maker)]))),
      problemsBuffer,
      buffer,
      device.storage(new Float32Array(count * K * each).fill(7)),
    ],
  );
  const found = await device.floats(buffer);
  const ends = new Uint32Array(await device.read(problemsBuffer));

  const [ours, theirs] = [[], []];
  let [taken, doubtful] = [0, 0];
  const reasons = new Set();
  ys.forEach((y, i) => {
    const section = (number) =>
      Array.from(found.subarray(number * stride + i * each).subarray(0, each));
    const flag = flags?.[i] ?? y.map(() => 1);
    const expected = search(kernel, penalty(i), y, {
      ...settings,
      worth: flag,
      known: range(n).filter((j) => flag[j] === IS_KNOWN),
    });
    const [, , end, reason] = ends.subarray(4 * i, 4 * i + 4);
    const at = `${what}, problem ${i}`;
    equal(`${at}, support`, section(ORDER).slice(0, end), expected.order);
    equal(`${at}, reason`, REASONS[reason], expected.reason);
    const values = Array(each).fill(0);
    expected.order.forEach((s, k) => {
      values[s] = expected.values[k];
      const isDoubtful = expected.parts[k] <= 0.5;
      equal(`${at}, ${s} is an outlier`, section(FLAGS)[s] === IS_OUTLIER, !isDoubtful);
      doubtful += Number(isDoubtful);
    });
    ours.push(...values);
    theirs.push(...section(OUTLIERS));
    if (whole) {
      ours.push(...expected.residual);
      theirs.push(...section(RESIDUALS).slice(0, n));
    }
    taken += end;
    reasons.add(expected.reason);
  });
  near(
    `greedy, ${what}, n = ${n}, WG = ${WG}: ${taken} outliers, ${[...reasons]}`,
    theirs,
    ours,
    1e-3,
  );
  return doubtful;
}

export async function greedyFindsTheOutliers(device) {
  for (const [n, WG, count] of [
    [60, 64, 20],
    [57, 8, 8],
  ]) {
    for (const rule of Object.keys(METS)) {
      for (const studentized of rule === 'EXTREME' || rule === 'AUTOMATIC'
        ? [true]
        : [false, true]) {
        const threshold = rule === 'RESIDUAL_NORM' ? 10 : rule === 'HISTOGRAM_ONCE' ? 30 : 4;
        const cap = rule === 'NEVER' ? 5 : n;
        const what = `${rule}${studentized ? ', studentised' : ''}`;
        await compare(device, what, { n, WG, count, rule, studentized, threshold, cap });
      }
    }
  }
  // More threads than points, and no outlier at all.
  await compare(device, 'EXTREME', {
    n: 21,
    WG: 256,
    count: 6,
    outliers: 2,
    rule: 'EXTREME',
    studentized: true,
  });
  await compare(device, 'MAX_RESIDUAL, none', {
    n: 21,
    WG: 8,
    count: 6,
    rule: 'MAX_RESIDUAL',
    studentized: false,
    threshold: 1e4,
  });
}

// Some points cannot be outliers, some are known to be, some are worth more than others.
export async function greedyHeedsFlags(device) {
  const [n, count] = [57, 10];
  const random = randomNumbers(5);
  const flags = range(count).map(() =>
    range(n).map(() => {
      const worth = random() < 0.3 ? 0 : Math.fround(0.6 + 2 * random());
      return random() < 0.05 ? IS_KNOWN : worth;
    }),
  );
  for (const WG of [64, 8]) {
    const options = { n, WG, count, rule: 'EXTREME', studentized: true, flags };
    await compare(device, 'EXTREME, only what has a flag', options);
  }
  // No point has one.
  await compare(device, 'EXTREME, of some size', {
    n: 60,
    WG: 64,
    rule: 'EXTREME',
    studentized: true,
    size: 22,
  });
  const doubtful = await compare(device, 'EXTREME, in doubt', {
    n,
    WG: 64,
    count,
    rule: 'EXTREME',
    studentized: true,
    limit: 8,
    doubt: 0.4,
    flags,
  });
  if (doubtful < 5) throw new Error(`only ${doubtful} doubtful points`);
  await compare(device, 'EXTREME, no flag', {
    n,
    WG: 8,
    count: 2,
    rule: 'EXTREME',
    studentized: true,
    flags: [range(n), range(n)].map((points) => points.map(() => 0)),
  });
}

// The room for outliers ends before they do, or before the points known to be bad.
export async function greedyKeepsToItsRoom(device) {
  for (const K of [1, 3]) {
    await compare(device, `room for ${K}`, {
      n: 57,
      WG: 64,
      K,
      count: 8,
      rule: 'EXTREME',
      studentized: true,
    });
    await compare(device, `room for ${K} of 5 known`, {
      n: 57,
      WG: 8,
      K,
      count: 4,
      rule: 'EXTREME',
      studentized: true,
      flags: range(4).map((i) => range(57).map((j) => (j % 12 === i ? IS_KNOWN : 1))),
    });
  }
}
