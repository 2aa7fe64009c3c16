// The shaders in a browser: another compiler than the host's, which also checks that
// barriers are in uniform control flow, and another device. What they compute is
// compared with plain JavaScript. The tests themselves are in the folder `gpu`.

import { WEBGPU, withBrowser, withFiles } from './browser.mjs';

const ROOT = new URL('../..', import.meta.url).pathname;

let failed = 0;
const inBrowser = (url) =>
  withBrowser(async (context) => void (failed = await test(context, url)), { more: WEBGPU });
await withFiles(ROOT, inBrowser);
console.log(failed ? `gpu: ${failed} failed` : 'gpu: ok');
process.exitCode = failed ? 1 : 0;

// How many tests have failed.
async function test(context, url) {
  const page = context.pages()[0] ?? (await context.newPage());
  page.on('console', (message) => console.log(message.text()));
  page.on('pageerror', (error) => console.log(error.stack));
  await page.goto(`${url}/tests/web/gpu/index.html`);
  await page.waitForFunction(() => document.body.dataset.failed, null, { timeout: 500_000 });
  return page.evaluate(() => Number(document.body.dataset.failed));
}
