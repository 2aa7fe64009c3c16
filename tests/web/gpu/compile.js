// The compiler of the browser has nothing to say about any shader.

export const RULES = {
  EXTREME: 0,
  MAX_RESIDUAL: 1,
  RESIDUAL_NORM: 2,
  HISTOGRAM_ONCE: 3,
  HISTOGRAM_EVERY_STEP: 4,
  AUTOMATIC: 5,
  NEVER: 6,
};
const SHADERS = [
  'choose',
  'gather',
  'gram',
  'greedy',
  'classify',
  'classify:storage',
  'look',
  'reassemble',
  'residual',
];

// The constants of `greedy`, as `Shape::constants` in src/gpu/greedy.rs.
export function searchConstants({ WG, N, K, rule, studentized, flagged }) {
  return {
    WG,
    N,
    K,
    RULE: RULES[rule],
    STUDENTIZED: Number(studentized),
    FLAGGED: Number(flagged),
    LIST: flagged ? N : 1,
    BARS: rule.startsWith('HISTOGRAM') ? Math.floor(N / 10) + 1 : 1,
    SCORES: rule === 'AUTOMATIC' ? N : 1,
  };
}

export async function compilesWithoutWarnings(device) {
  for (const name of SHADERS) {
    const { messages } = await (await device.module(name)).getCompilationInfo();
    const lines = messages.map(
      ({ type, lineNum, message }) => `${type} in line ${lineNum}: ${message}`,
    );
    if (lines.length) throw new Error(`${name}: ${lines.join('\n')}`);
    console.log(`${name}: compiles`);
  }
}

export async function isBuiltWithAllConstants(device) {
  let built = 0;
  const build = async (name, constants, entry) => {
    await device.pipeline(name, constants, entry);
    built += 1;
  };
  for (const [WG, N] of [
    [8, 144],
    [64, 25],
  ]) {
    await build('look', { WG: Math.max(WG, 16) });
    for (const name of ['classify', 'classify:storage']) {
      await build(name, { WG: Math.min(Math.max(WG, 16), 32), SURE: 0.45, DETAIL: -0.4 });
    }
    for (const name of ['gather', 'gram', 'reassemble']) await build(name, { WG });
    await build('residual', { WG, SOURCE: 1, TARGET: 3 });
    for (const entry of ['before', 'after']) {
      await build('choose', { WG: Math.min(WG, 32), N }, entry);
    }
    const K = Math.floor(N / 2);
    for (const rule of Object.keys(RULES)) {
      for (const [studentized, flagged] of [
        [false, false],
        [true, false],
        [true, true],
      ]) {
        await build('greedy', searchConstants({ WG, N, K, rule, studentized, flagged }));
      }
    }
  }
  console.log(`${built} pipelines: built`);
}
