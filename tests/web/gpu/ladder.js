// `choose`: the smoother of the least risk, by the formulas of
// src/denoise/smooth/ladder.rs.

import {
  dot,
  equal,
  gaussianNumbers,
  near,
  orthogonal,
  padded,
  paddedSquare,
  range,
  sum,
} from './plain.js';

const [DATA, CALM, COEFFICIENTS, FILTERED, OUTLIERS, ORDER, SECTIONS] = [0, 1, 3, 4, 6, 7, 8];
const RUNGS = 8;

// Smoothers on any basis: `vectors` are its rows, `g` falls from one on.
function ladder(vectors, strengths) {
  const e = vectors.map(sum);
  return strengths.map((strength) => {
    const g = e.map((_, i) => strength / (strength + 1 / (1 + i * i)));
    const ge = g.map((g, i) => g * e[i]);
    const [rho, ones] = [1 / dot(ge, e), dot(ge, ge)];
    return { g, ge, rho, ones, freedom: g.length - (sum(g) - rho * ones) };
  });
}

// The coefficients of the residual on a rung: G c - rho (e^T G c) G e.
function filtered({ g, ge, rho }, c) {
  const shift = rho * dot(ge, c);
  return c.map((c, i) => g[i] * c - shift * ge[i]);
}

// The rung of the least risk, and the standard deviation of what it does not fit.
function choose(rungs, c, noise) {
  let best = { risk: Infinity };
  for (const [rung, { freedom }] of rungs.entries()) {
    const left = filtered(rungs[rung], c);
    const squared = dot(left, left);
    const risk = squared + 2 * noise * noise * freedom;
    if (risk < best.risk) best = { rung, risk, misfit: Math.sqrt(squared / (c.length - freedom)) };
  }
  return best;
}

// As `table` in src/gpu/choose.rs.
function table(vectors, rungs) {
  const filled = (numbers, length) => [...numbers, ...Array(length - numbers.length).fill(0)];
  const header = rungs.flatMap(({ freedom, rho, ones }) => [freedom, rho, ones, 0]);
  const width = padded(vectors.length);
  const rows = [vectors.map(sum), ...rungs.map(({ g }) => g)];
  const entries = filled(rows.flatMap((row) => filled(row, width)), width * (1 + RUNGS));
  return new Float32Array([...filled(header, 4 * RUNGS), ...entries]);
}

export async function chooseTakesTheLeastRisk(device) {
  for (const [n, WG] of [
    [144, 32],
    [144, 8],
    [25, 32],
    [25, 8],
  ]) {
    const gaussian = gaussianNumbers(n + WG);
    const vectors = orthogonal(n, gaussian);
    const rungs = ladder(vectors, [0.001, 0.01, 0.1, 1, 10, 100]);
    const count = 12;
    const settings = { floor_: 0.8, limit: 3, rungs: rungs.length, stride: padded(n) * count };
    // Regions that are smoother and smoother, with suspects.
    const regions = range(count).map((r) => {
      const c = range(n).map((i) => (10 * gaussian()) / (1 + (i * i * r) / 20) + gaussian());
      const calm = range(n).map((j) =>
        dot(
          vectors.map((vector) => vector[j]),
          c,
        ),
      );
      const data = calm.map((x, j) => (j % 17 === r % 17 ? x + 30 : x));
      const outliers = data.map((x, j) => (j % 17 === r % 17 ? 28 : 0));
      const order = range(n).filter((j) => outliers[j] !== 0);
      return { calm, data, outliers, order };
    });
    const analyse = (pixels) => vectors.map((vector) => dot(vector, pixels));
    const start = (sections) => {
      const cells = new Float32Array(SECTIONS * settings.stride).fill(7);
      for (const [section, numbers] of sections) {
        numbers.forEach((numbers, r) =>
          cells.set(numbers, section * settings.stride + r * padded(n)),
        );
      }
      return cells;
    };
    const basis = device.storage(
      paddedSquare(range(n).map((j) => vectors.map((vector) => vector[j]))),
    );
    const steps = device.storage(table(vectors, rungs));

    const run = async (entry, noise, sections) => {
      const cells = device.storage(start(sections));
      const problems = device.storage(
        new Uint32Array(regions.flatMap(({ order }) => [0, 0, order.length, 0])),
      );
      const tile = await device.structure('choose', 'Tile', { ...settings, noise });
      const pipeline = await device.pipeline('choose', { WG, N: n }, entry);
      await device.run(
        pipeline,
        [count],
        [device.uniform(tile), cells, basis, steps, problems],
      );
      const [all, words] = [await device.floats(cells), await device.read(problems)];
      const section = (number) =>
        range(count).flatMap((r) =>
          Array.from(all.subarray(number * settings.stride + r * padded(n)).subarray(0, padded(n))),
        );
      return { section, words: new Uint32Array(words), floats: new Float32Array(words) };
    };
    const filled = (numbers) => numbers.flatMap((c) => [...c, ...Array(padded(n) - n).fill(0)]);
    const what = (entry) => `choose, ${entry}, n = ${n}, WG = ${WG}`;
    const parts = (name) => regions.map((region) => region[name]);
    const coefficients = parts('data').map(analyse);

    const before = await run('before', 1, [
      [DATA, parts('data')],
      [CALM, parts('calm')],
      [COEFFICIENTS, parts('calm').map(analyse)],
    ]);
    const chosen = parts('calm').map((calm) => choose(rungs, analyse(calm), settings.floor_));
    equal(
      what('before'),
      range(count).map((r) => before.words[4 * r]),
      chosen.map(({ rung }) => rung),
    );
    const limits = chosen.map(({ misfit }) => settings.limit * Math.max(settings.floor_, misfit));
    near(
      `${what('before')}, limits`,
      range(count).map((r) => before.floats[4 * r + 1]),
      limits,
      1e-3,
    );
    const updated = before.section(COEFFICIENTS).filter((_, i) => i % padded(n) < n);
    near(`${what('before')}, coefficients`, updated, coefficients.flat(), 1e-3);
    const expected = coefficients.map((c, r) => filtered(rungs[chosen[r].rung], c));
    near(`${what('before')}, filtered`, before.section(FILTERED), filled(expected), 1e-3);

    for (const noise of [1.2, 0]) {
      const after = await run('after', noise, [
        [COEFFICIENTS, coefficients],
        [OUTLIERS, parts('outliers')],
        [ORDER, parts('order')],
      ]);
      const left = regions.map(({ data, outliers }) =>
        analyse(data.map((x, j) => x - outliers[j])),
      );
      const chosen = left.map((c) => choose(rungs, c, noise).rung);
      const found = range(count).map((r) => after.words[4 * r]);
      equal(`${what('after')}, noise ${noise}`, found, chosen);
      const expected = left.map((c, r) =>
        filtered(rungs[chosen[r]], c).map((x) => (noise > 0 ? x : 0)),
      );
      const names = `rungs ${[...new Set(found)].toSorted()}`;
      near(
        `${what('after')}, noise ${noise}, ${names}`,
        after.section(FILTERED),
        filled(expected),
        1e-3,
      );
    }
  }
}
