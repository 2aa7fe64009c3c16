// Runs all tests. How many failed is left in the page.

import { openDevice } from './device.js';
import { compilesWithoutWarnings, isBuiltWithAllConstants } from './compile.js';
import { gramIsTheKernel, residualIsTheProduct } from './products.js';
import { greedyFindsTheOutliers, greedyHeedsFlags, greedyKeepsToItsRoom } from './search.js';
import { gatherAndReassembleAreInverse, impulsesAreSeenAndClassified } from './pixels.js';
import { chooseTakesTheLeastRisk } from './ladder.js';

const TESTS = [
  compilesWithoutWarnings,
  isBuiltWithAllConstants,
  gramIsTheKernel,
  residualIsTheProduct,
  greedyFindsTheOutliers,
  greedyHeedsFlags,
  greedyKeepsToItsRoom,
  gatherAndReassembleAreInverse,
  impulsesAreSeenAndClassified,
  chooseTakesTheLeastRisk,
];

let failed = 0;
try {
  const device = await openDevice();
  for (const test of TESTS) {
    const start = performance.now();
    try {
      await test(device);
      console.log(`${test.name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED ${test.name}: ${error.stack ?? error}`);
    }
  }
} catch (error) {
  failed += 1;
  console.log(`FAILED: ${error.stack ?? error}`);
}
document.body.dataset.failed = String(failed);
