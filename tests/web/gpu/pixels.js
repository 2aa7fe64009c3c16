// `look`, `classify`, `gather` and `reassemble`: what works on pixels.

import { equal, near, padded, randomNumbers, range, sum } from './plain.js';

const BLOCK = 16;
const SQUARE = 24;
const IS_KNOWN = -1;
const [DATA, CALM, FLAGS, SECTIONS] = [0, 1, 2, 8];
const REACH = 3;
const INPUTS = 74;
const [SMALL, LARGE] = [
  [16, 8],
  [128, 32],
];
const SURE = 0.45;
const DETAIL = -0.4;
// Numbers of a network, the last with three that do not matter.
const numbers = ([first, second]) =>
  (INPUTS + 1) * first + (first + 1) * second + second + 4;

// The division into regions of src/image/grid.rs.
function grid(width, height, region, core) {
  return {
    width,
    height,
    region,
    core,
    margin: (region - core) / 2,
    columns: Math.ceil(width / core),
    rows: Math.ceil(height / core),
  };
}

// Where pixel `i` of region `r` is; outside of the image its border.
function pixelOf({ core, margin }, r, i, length) {
  return Math.min(Math.max(r * core + i - margin, 0), length - 1);
}

// The share of each region in its pixels along an axis, blended: `Grid::shares`.
function shares({ region, core, margin }, length) {
  const regions = range(Math.ceil(length / core));
  const ramp = (i) => Math.min((2 * Math.min(i, region - 1 - i) + 1) / (4 * margin), 1);
  const total = Array(length).fill(0);
  const places = regions.map((r) => range(region).map((i) => r * core + i - margin));
  for (const place of places) place.forEach((p, i) => p in total && (total[p] += ramp(i)));
  return places.flatMap((place) => place.map((p, i) => (p in total ? ramp(i) / total[p] : 0)));
}

// The rectangles that regions need and cover: `Cut` in src/gpu/tile.rs.
function tileOf(grid, { rows, columns }) {
  const { width, height, region, core, margin } = grid;
  const covered = ([first, end], length) => [
    Math.max(first * core - margin, 0),
    Math.min(end * core + margin, length),
  ];
  const [left, right] = covered(columns, width);
  const [top, bottom] = covered(rows, height);
  const held = {
    left: Math.max(Math.floor(left / BLOCK) * BLOCK - BLOCK, 0),
    right: Math.min(Math.ceil(right / BLOCK) * BLOCK + BLOCK, width),
    top: Math.max(top - REACH, 0),
    bottom: Math.min(bottom + REACH, height),
  };
  return {
    width,
    height,
    region,
    core,
    margin,
    left: held.left,
    top: held.top,
    held_width: held.right - held.left,
    held_height: held.bottom - held.top,
    first_column: columns[0],
    first_row: rows[0],
    columns: columns[1] - columns[0],
    rows: rows[1] - rows[0],
    out_left: left,
    out_top: top,
    out_width: right - left,
    out_height: bottom - top,
    stride: padded(region * region) * (columns[1] - columns[0]) * (rows[1] - rows[0]),
  };
}

// The pixels of a picture that a tile holds.
function held(picture, tile) {
  return range(tile.held_height).flatMap((y) => {
    const at = (tile.top + y) * tile.width + tile.left;
    return Array.from(picture.slice(at, at + tile.held_width));
  });
}

// Waves and noise, with impulses among them, some of them in clumps of 2 x 3.
function picture(width, height) {
  const random = randomNumbers(width);
  return Float32Array.from(range(width * height), (i) => {
    const [x, y] = [i % width, Math.floor(i / width)];
    const clump = x % 13 < 3 && y % 11 < 2 ? 60 : 0;
    const impulse = random() < 0.1 ? 200 * (random() - 0.5) : clump;
    return 128 + 50 * Math.sin(x / 5) * Math.cos(y / 7) + 10 * random() + impulse;
  });
}

// All regions at once, and a rectangle of them.
function cuts({ rows, columns }) {
  const whole = { rows: [0, rows], columns: [0, columns] };
  const cut = (first, end) => [Math.floor(first), Math.floor(end)];
  return [whole, { rows: cut(rows / 3, rows / 3 + 1), columns: cut(columns / 2, columns) }];
}

const GRIDS = [grid(61, 43, 12, 8), grid(83, 21, 5, 3), grid(7, 2, 12, 8), grid(1, 1, 5, 3)];
const sizes = ({ width, height, region }) => `${width} x ${height} in regions of ${region}`;

// What is gathered is the picture, and nothing else is put together again.
export async function gatherAndReassembleAreInverse(device) {
  const WG = 64;
  const gather = await device.pipeline('gather', { WG });
  const reassemble = await device.pipeline('reassemble', { WG });
  for (const grid of GRIDS) {
    const pixels = picture(grid.width, grid.height);
    const weights = device.storage(
      new Float32Array([...shares(grid, grid.width), ...shares(grid, grid.height)]),
    );
    const random = randomNumbers(3);
    const worth = pixels.map(() => (random() < 0.5 ? 0 : Math.fround(3 * random())));
    const masks = Array.from(pixels, () => Math.floor(4 * random()));
    // Row by row and half by half: the parts add up to the picture.
    const half = Math.ceil(grid.columns / 2);
    const parts = range(grid.rows).flatMap((row) =>
      [
        [0, half],
        [half, grid.columns],
      ].map((columns) => ({ rows: [row, row + 1], columns })),
    );
    const sums = new Float64Array(pixels.length);
    for (const cut of parts.filter(({ columns: [first, end] }) => first < end)) {
      const tile = { ...tileOf(grid, cut), masked: 1 };
      const uniform = device.uniform(await device.structure('gather', 'Tile', tile));
      const looks = [0, 1].map((which) => held(which ? worth : pixels.map((x) => 255 - x), tile));
      const [n, count] = [grid.region ** 2, tile.rows * tile.columns];
      const cells = device.storage(new Float32Array(SECTIONS * tile.stride));
      await device.run(
        gather,
        [Math.ceil(padded(n) / WG), count],
        [
          uniform,
          device.storage(new Float32Array(held(pixels, tile))),
          device.storage(new Float32Array(looks[0].flatMap((calm, i) => [calm, looks[1][i]]))),
          device.storage(new Uint32Array(held(masks, tile))),
          cells,
        ],
      );
      equal(
        `gather, ${sizes(grid)}`,
        Array.from(await device.floats(cells)),
        gathered(grid, tile, { pixels, worth, masks }),
      );
      const result = device.storage(new Float32Array(2 * tile.out_width * tile.out_height));
      await device.run(
        reassemble,
        [Math.ceil(tile.out_width / WG), tile.out_height],
        [uniform, cells, weights, result],
      );
      const found = await device.floats(result);
      for (const i of range(tile.out_width * tile.out_height)) {
        const [x, y] = [i % tile.out_width, Math.floor(i / tile.out_width)];
        sums[(tile.out_top + y) * grid.width + tile.out_left + x] += found[2 * i];
        equal('no outliers', found[2 * i + 1], 0);
      }
    }
    near(
      `gather and reassemble, ${sizes(grid)}, ${parts.length} parts`,
      sums,
      Array.from(pixels),
      1e-3,
    );
  }
}

// The cells after `gather`.
function gathered(grid, tile, { pixels, worth, masks }) {
  const cells = Array(SECTIONS * tile.stride).fill(0);
  const n = grid.region ** 2;
  for (const r of range(tile.rows * tile.columns)) {
    for (const i of range(n)) {
      const x = pixelOf(grid, tile.first_column + (r % tile.columns), i % grid.region, grid.width);
      const y = pixelOf(
        grid,
        tile.first_row + Math.floor(r / tile.columns),
        Math.floor(i / grid.region),
        grid.height,
      );
      const [at, to] = [y * grid.width + x, r * padded(n) + i];
      const [keep, bad] = [masks[at] & 1, masks[at] & 2];
      const flag = keep ? 0 : worth[at];
      cells[DATA * tile.stride + to] = pixels[at];
      cells[CALM * tile.stride + to] = Math.fround(255 - pixels[at]);
      cells[FLAGS * tile.stride + to] = bad ? IS_KNOWN : flag;
    }
  }
  return cells;
}

// The z of a pixel, and whether it had to be doubtful:
// src/denoise/detect/classifier.rs. `at` gives the pixels around, and `sign` is the side that the pixel
// is off to.
function classified(at, sign, networks, { amplitude, floor_, impulses }) {
  const off = (u, v) => Math.min(Math.max((sign * (at(0, 0) - at(u, v))) / amplitude, -1), 2);
  const reach = range(2 * REACH + 1).map((i) => i - REACH);
  const places = reach.flatMap((v) => reach.map((u) => [u, v]));
  // Those like the pixel are to be on the left, above, and rather beside it.
  const moment = (of) => sum(places.map(([u, v]) => Math.max(1 - off(u, v), 0) ** 2 * of(u, v)));
  const right = moment((u) => u) > 0;
  const below = moment((_, v) => v) > 0;
  const upright = moment((u, v) => v * v - u * u) > 0;
  const sorted = (distance) =>
    places
      .filter(([u, v]) => Math.max(Math.abs(u), Math.abs(v)) === distance)
      .map(([u, v]) => off(u, v))
      .toSorted((a, b) => a - b);
  const turned = places
    .filter(([u, v]) => u || v)
    .map(([u, v]) => (upright ? [v, u] : [u, v]))
    .map(([u, v]) => off(right ? -u : u, below ? -v : v));
  const inputs = [...sorted(1), ...sorted(2), ...turned, floor_ / amplitude, impulses];
  const layer = (network, inputs, units, first) =>
    range(units).map((unit) =>
      sum([...inputs, 1].map((x, i) => x * network[first + i * units + unit])),
    );
  const positive = (units) => units.map((unit) => Math.max(unit, 0));
  const zOf = (network, [first, second]) => {
    const from = (INPUTS + 1) * first;
    const units = positive(layer(network, inputs, first, 0));
    const last = positive(layer(network, units, second, from));
    return layer(network, last, 1, from + (first + 1) * second)[0];
  };
  const ofSmall = zOf(networks, SMALL);
  const isDoubtful = Math.abs(ofSmall) <= SURE;
  const z = isDoubtful ? zOf(networks.subarray(numbers(SMALL)), LARGE) : ofSmall;
  return { z, isDoubtful };
}

// src/denoise/detect/neighbourhood.rs, pixel by pixel.
function look(pixels, { width, height }, known, networks) {
  const { witnesses, suspect, alone_enough, off_enough } = known;
  const reflected = (p, length) => {
    const last = length - 1;
    return Math.abs(p) > last ? Math.max(2 * last - Math.abs(p), 0) : Math.abs(p);
  };
  const at = (x, y) => pixels[reflected(y, height) * width + reflected(x, width)];
  const seen = Array.from(pixels, (here, i) => {
    const [x, y] = [i % width, Math.floor(i / width)];
    const around = [-1, 0, 1].flatMap((v) =>
      [-1, 0, 1].filter((u) => u || v).map((u) => at(x + u, y + v)),
    );
    around.sort((a, b) => a - b);
    const by = Math.max(here - around[7 - witnesses], around[witnesses] - here);
    const [spread, middle] = [around[5] - around[2], (around[3] + around[4]) / 2];
    return { here, by, spread, middle };
  });
  return seen.map(({ here, by, middle }, i) => {
    const [x, row, y] = [i % width, i - (i % width), Math.floor(i / width)];
    const first = x - (x % BLOCK);
    const block = seen.slice(row + first, row + Math.min(first + BLOCK, width));
    const spread = sum(block.map(({ spread }) => spread)) / block.length;
    const calm = by > Math.max(suspect, spread) ? middle : here;
    const isAlone = by > alone_enough && Math.abs(here - middle) > off_enough;
    let worth = Number(isAlone);
    let [isSure, isDoubtful] = [false, false];
    if (worth && known.amplitude > 0) {
      const around = (u, v) => at(x + u, y + v);
      const found = classified(around, here < middle ? -1 : 1, networks, known);
      isDoubtful = found.isDoubtful;
      isSure = !isDoubtful;
      worth = found.z < DETAIL ? 0 : Math.exp(2 * found.z);
    }
    return { calm, worth, isSure, isDoubtful };
  });
}

export async function impulsesAreSeenAndClassified(device) {
  let [sure, refused] = [0, 0];
  const doubtful = new Set();
  // Any networks will do of which the small one is sometimes sure.
  const random = randomNumbers(21);
  const networks = Float32Array.from(
    range(numbers(SMALL) + numbers(LARGE)),
    () => 0.48 * (random() - 0.5),
  );
  for (const [WG, kind] of [
    [16, 'classify'],
    [32, 'classify:storage'],
  ]) {
    const seeing = await device.pipeline('look', { WG: 2 * WG });
    const classifying = await device.pipeline(kind, { WG, SURE, DETAIL });
    const learned = device[kind === 'classify' ? 'uniform' : 'storage'](networks);
    for (const grid of GRIDS) {
      const pixels = picture(grid.width, grid.height);
      for (const [witnesses, cut] of cuts(grid).map((cut, i) => [1 + 2 * i, cut])) {
        const known = {
          witnesses,
          suspect: 12,
          alone_enough: 10,
          off_enough: 15,
          impulses: 0.1,
          amplitude: witnesses === 1 ? 0 : 45,
          floor_: 5,
        };
        const tile = { ...tileOf(grid, cut), ...known };
        const looks = device.storage(new Float32Array(2 * tile.held_width * tile.held_height));
        const buffers = [
          device.uniform(await device.structure('look', 'Tile', tile)),
          device.storage(new Float32Array(held(pixels, tile))),
          looks,
        ];
        const [width, height] = [tile.held_width, tile.held_height];
        await device.run(seeing, [Math.ceil(width / (2 * WG)), height], buffers);
        await device.run(
          classifying,
          [Math.ceil(width / SQUARE), Math.ceil(height / SQUARE)],
          [...buffers, learned],
        );
        const found = await device.floats(looks);
        const whole = look(pixels, grid, known, networks);
        // What regions cover; blocks around it do not have all their neighbours.
        const [ours, theirs] = [[], []];
        for (const y of range(tile.out_height)) {
          for (const x of range(tile.out_width)) {
            const [u, v] = [tile.out_left + x, tile.out_top + y];
            const { calm, worth, isSure, isDoubtful } = whole[v * grid.width + u];
            ours.push(calm, worth);
            if (isDoubtful) doubtful.add(worth);
            sure += Number(isSure);
            refused += Number((isSure || isDoubtful) && worth === 0);
            const at = 2 * ((v - tile.top) * tile.held_width + u - tile.left);
            theirs.push(found[at], found[at + 1]);
          }
        }
        near(`look and ${kind}, ${sizes(grid)}, WG = ${WG}, ${witnesses} witnesses`, theirs, ours, 1e-3);
      }
    }
  }
  if (sure < 10) throw new Error(`only ${sure} pixels of which the small network is sure`);
  if (refused < 10) throw new Error(`only ${refused} are no candidates`);
  if (doubtful.size < 20) throw new Error(`only ${doubtful.size} pixels for the large network`);
}
