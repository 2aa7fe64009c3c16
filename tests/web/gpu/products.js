// `gram` and `residual`.

import {
  dot,
  near,
  paddedSquare,
  padded,
  gaussianNumbers,
  randomNumbers,
  range,
  sum,
} from './plain.js';

const INSTRUCTIONS = [
  'gaussian',
  'laplacian',
  'matern32',
  'matern52',
  'rationalQuadratic',
  'linear',
  'polynomial',
  'sum',
  'product',
  'scale',
];

// What each kernel is of the differences d and the inner product p.
const squared = (d) => sum(d.map((x) => x * x));
const KERNELS = {
  gaussian: (d, p, a) => Math.exp(-squared(d) * a),
  laplacian: (d, p, a) => Math.exp(-sum(d.map(Math.abs)) * a),
  matern32: (d, p, a) => {
    const s = Math.sqrt(3 * squared(d)) * a;
    return (1 + s) * Math.exp(-s);
  },
  matern52: (d, p, a) => {
    const s = Math.sqrt(5 * squared(d)) * a;
    return (1 + s + (s * s) / 3) * Math.exp(-s);
  },
  rationalQuadratic: (d, p, a, b) => (1 + squared(d) * a) ** -b,
  linear: (d, p) => p,
  polynomial: (d, p, a, b, c) => (a * p + b) ** c,
};

// Programs, and what they stand for.
const one = (name, ...numbers) => [[[name, ...numbers]], (d, p) => KERNELS[name](d, p, ...numbers)];
const PROGRAMS = {
  gaussian: one('gaussian', 1.5),
  laplacian: one('laplacian', 0.75),
  'Matern 3/2': one('matern32', 1.25),
  'Matern 5/2': one('matern52', 1.25),
  'rational quadratic': one('rationalQuadratic', 0.5, 1.5),
  linear: one('linear'),
  polynomial: one('polynomial', 0.5, -0.25, 3),
  'sum, product and scale': [
    [
      ['gaussian', 1.5],
      ['linear'],
      ['scale', 2],
      ['sum'],
      ['laplacian', 0.5],
      ['matern32', 1],
      ['sum'],
      ['product'],
    ],
    (d, p) =>
      (KERNELS.gaussian(d, p, 1.5) + 2 * p) *
      (KERNELS.laplacian(d, p, 0.5) + KERNELS.matern32(d, p, 1)),
  ],
};

export async function gramIsTheKernel(device) {
  const [dim, first, rows, columns] = [3, 2, 11, 70];
  const random = randomNumbers(1);
  const points = (count) =>
    range(count).map(() => range(dim).map(() => Math.fround(2 * random() - 1)));
  const [a, b] = [points(first + rows), points(columns)];
  const pipeline = await device.pipeline('gram', { WG: 64 });
  for (const [name, [program, kernel]] of Object.entries(PROGRAMS)) {
    // Five words, up to a multiple of four, and the program.
    const parameters = new ArrayBuffer(32 + 16 * 32);
    new Uint32Array(parameters).set([first, rows, columns, dim, program.length]);
    program.forEach(([instruction, ...numbers], i) => {
      new Float32Array(parameters, 32 + 16 * i).set([
        INSTRUCTIONS.indexOf(instruction),
        ...numbers,
      ]);
    });
    const out = device.storage(new Float32Array(rows * columns));
    const buffers = [
      device.uniform(new Uint8Array(parameters)),
      ...[a, b].map((x) => device.storage(new Float32Array(x.flat()))),
      out,
    ];
    await device.run(pipeline, [Math.ceil(columns / 64), rows], buffers);
    const expected = a.slice(first).flatMap((x) =>
      b.map((y) =>
        kernel(
          x.map((x, i) => x - y[i]),
          dot(x, y),
        ),
      ),
    );
    near(`gram, ${name}`, await device.floats(out), expected, 2e-5);
  }
}

export async function residualIsTheProduct(device) {
  const [SOURCE, TARGET, SIDE, count] = [1, 3, 8, 19];
  for (const n of [25, 144]) {
    for (const [WG, down] of [
      [8, 1],
      [64, 1],
      [8, 3],
    ]) {
      const gaussian = gaussianNumbers(n);
      const matrix = range(n).map(() => range(n).map(gaussian));
      const vectors = range(count).map(() => range(n).map(gaussian));
      // A section more than is needed, to see that it is left alone.
      const [each, stride] = [padded(n), padded(n) * (count + 1)];
      const cells = new Float32Array(4 * stride).fill(7);
      vectors.forEach((vector, i) => {
        const at = SOURCE * stride + i * each;
        cells.fill(0, at, at + each).set(vector, at);
      });
      const transposed = range(n).map((j) => matrix.map((row) => row[j]));
      const buffer = device.storage(cells);
      const pipeline = await device.pipeline('residual', { WG, SOURCE, TARGET });
      const product = await device.structure('residual', 'Product', { n, count, stride });
      const groups = Math.ceil((Math.ceil(count / SIDE) * Math.ceil(n / SIDE)) / WG);
      await device.run(
        pipeline,
        [Math.ceil(groups / down), down],
        [device.uniform(product), device.storage(paddedSquare(transposed)), buffer],
      );
      const expected = Array.from(cells);
      vectors.forEach((vector, i) => {
        const at = TARGET * stride + i * each;
        const result = [...matrix.map((row) => dot(row, vector)), ...Array(each - n).fill(0)];
        result.forEach((x, j) => (expected[at + j] = x));
      });
      near(
        `residual, n = ${n}, WG = ${WG}, ${down} down`,
        await device.floats(buffer),
        expected,
        1e-4,
      );
    }
  }
}
