// Numbers without a device: random ones, and a little linear algebra.

// Numbers from 0 to 1, always the same for a seed (mulberry32).
export function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

// Gaussian ones (Box and Muller).
export function gaussianNumbers(seed) {
  const random = randomNumbers(seed);
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

export const range = (n) => Array.from({ length: n }, (_, i) => i);
export const sum = (numbers) => numbers.reduce((sum, x) => sum + x, 0);
export const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);
export const padded = (n) => Math.ceil(n / 4) * 4;

// The solutions of A X = B, by elimination with pivots. Rows are arrays.
export function solve(a, b) {
  const rows = a.map((row, i) => Float64Array.from([...row, ...b[i]]));
  const n = rows.length;
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(rows[i][k]) > Math.abs(rows[pivot][k])) pivot = i;
    [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
    for (let i = 0; i < n; i++) {
      const factor = rows[i][k] / rows[k][k];
      if (i === k || factor === 0) continue;
      for (let j = k; j < rows[i].length; j++) rows[i][j] -= factor * rows[k][j];
    }
  }
  return rows.map((row, i) => Array.from(row.subarray(n), (x) => x / row[i]));
}

export const transposed = (rows) => range(rows[0].length).map((j) => rows.map((row) => row[j]));

// A B; rows are arrays.
export function product(a, b) {
  return a.map((row) => {
    const out = new Float64Array(b[0].length);
    for (let k = 0; k < b.length; k++) {
      const [x, other] = [row[k], b[k]];
      if (x !== 0) for (let j = 0; j < out.length; j++) out[j] += x * other[j];
    }
    return Array.from(out);
  });
}

// An orthogonal matrix (Gram and Schmidt, twice).
export function orthogonal(n, gaussian) {
  const rows = [];
  while (rows.length < n) {
    const row = range(n).map(gaussian);
    for (const _ of [1, 2]) {
      for (const other of rows) {
        const along = dot(row, other);
        other.forEach((x, i) => (row[i] -= along * x));
      }
    }
    const length = Math.sqrt(dot(row, row));
    rows.push(row.map((x) => x / length));
  }
  return rows;
}

// The rows of a matrix, each filled up with zeros to a multiple of four, as 32 bits.
export function paddedRows(rows) {
  const width = padded(rows[0].length);
  const all = new Float32Array(rows.length * width);
  rows.forEach((row, i) => all.set(row, i * width));
  return all;
}

// The same with rows of zeros to make it square.
export function paddedSquare(rows) {
  const all = new Float32Array(padded(rows.length) ** 2);
  all.set(paddedRows(rows));
  return all;
}

// Prints a line if all numbers are near; throws otherwise.
export function near(what, found, expected, tolerance) {
  if (found.length !== expected.length) {
    throw new Error(`${what}: ${found.length} numbers instead of ${expected.length}`);
  }
  let worst = 0;
  for (const [i, x] of expected.entries()) {
    const error = Math.abs(found[i] - x);
    if (!(error <= tolerance))
      throw new Error(`${what}: number ${i} is ${found[i]} instead of ${x}`);
    worst = Math.max(worst, error);
  }
  console.log(`${what}: ok, within ${worst.toExponential(1)}`);
}

export function equal(what, found, expected) {
  const [a, b] = [found, expected].map((value) => JSON.stringify(value));
  if (a !== b) throw new Error(`${what}: ${a} instead of ${b}`);
}
