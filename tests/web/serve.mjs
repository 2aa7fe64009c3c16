// The page of `kgard serve`, with a real picture. KGARD is the program.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { withBrowser } from './browser.mjs';

const KGARD = process.env.KGARD ?? 'kgard';
const NOISY = new URL('../../examples/camera-noisy.png', import.meta.url).pathname;
// Pictures of the page are left here, if it is set.
const SCREENSHOTS = process.env.SCREENSHOTS;

const folder = await mkdtemp(join(tmpdir(), 'kgard-serve-'));
const server = spawn(KGARD, ['serve', '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
try {
  const [url] = await new Promise((line, failed) => {
    createInterface(server.stdout).once('line', (text) => line([text]));
    server.once('exit', (code) => failed(new Error(`kgard serve: exit code ${code}`)));
  });
  await withBrowser((context) => test(context, url));
} finally {
  server.removeAllListeners('exit');
  server.kill();
  await rm(folder, { recursive: true, force: true });
}
console.log('serve: ok');

async function test(context, url) {
  const page = context.pages()[0] ?? (await context.newPage());
  const problems = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'blob:' && origin !== new URL(url).origin) problems.push(request.url());
  });
  await page.setViewportSize({ width: 1100, height: 900 });
  await page.goto(url);
  await screenshot(page, 'serve-empty');

  await drop(page, NOISY, 'image/png');
  await settled(page, 'done');
  await page.waitForFunction(() => document.getElementById('after').complete);

  // What the page offers is what the command writes.
  const file = join(folder, 'clean.png');
  const report = JSON.parse(execFileSync(KGARD, ['denoise', NOISY, '-o', file, '--json']));
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#download')]);
  assert.equal(download.suggestedFilename(), 'camera-noisy-clean.png');
  assert.deepEqual(await readFile(await download.path()), await readFile(file));
  assert.ok((await psnr(page)) < 25, 'the result differs from the picture');
  const count = report.outliers.count.toLocaleString('en');
  assert.ok((await page.textContent('#impulses')).startsWith(count));
  assert.match(await page.textContent('#kind'), /256 × 256, 8-bit grey/);
  for (const id of ['before', 'after', 'outliers']) {
    assert.equal(await page.$eval(`#${id}`, (image) => image.naturalWidth), 256, id);
  }

  // The slider, by mouse and by keyboard.
  const shown = () => page.$eval('#slider', (slider) => slider.style.getPropertyValue('--at'));
  const box = await page.locator('#slider').boundingBox();
  await page.mouse.click(box.x + 0.25 * box.width, box.y + box.height / 2);
  const moved = parseFloat(await shown());
  assert.ok(Math.abs(moved - 25) < 3, `${moved}`);
  await page.keyboard.press('End');
  assert.equal(await shown(), '100%');
  await page.keyboard.press('Home');
  assert.equal(await shown(), '0%');
  await page.mouse.click(box.x + 0.5 * box.width, box.y + box.height / 2);
  await screenshot(page, 'serve-light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await screenshot(page, 'serve-dark');

  // The settings arrive.
  await page.selectOption('[name=method]', 'bm3d');
  await settled(page, 'done');
  assert.equal(await page.textContent('#impulses'), '0 (0 %)');
  await page.fill('[name=noise-sigma]', '7');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.getElementById('noise').textContent === '7');

  // A file that is no picture is refused in words, and the page goes on.
  const text = join(folder, 'text.png');
  await writeFile(text, 'not a picture at all');
  await drop(page, text, 'image/png');
  await settled(page, 'failed');
  assert.match(await page.textContent('#error'), /^text.png: is not a picture that kgard can read/);
  await screenshot(page, 'serve-error');
  problems.splice(0, problems.length, ...problems.filter((problem) => !problem.includes('422')));
  await page.setInputFiles('#file', NOISY);
  await settled(page, 'done');
  assert.ok(await page.isHidden('#error'));
  assert.deepEqual(problems, []);
}

async function drop(page, path, type) {
  const data = (await readFile(path)).toString('base64');
  const name = path.split('/').pop();
  const transfer = await page.evaluateHandle(
    async ([data, name, type]) => {
      const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], name, { type }));
      return transfer;
    },
    [data, name, type],
  );
  await page.dispatchEvent('#drop', 'drop', { dataTransfer: transfer });
}

// The page has finished, and well or badly as it should.
async function settled(page, state) {
  await page.waitForFunction(() => ['done', 'failed'].includes(document.body.dataset.state), null, {
    timeout: 120_000,
  });
  const found = await page.evaluate(() => document.body.dataset.state);
  assert.equal(found, state, await page.textContent('#error'));
}

// Of the clean picture against the noisy one, as the page shows them.
function psnr(page) {
  return page.evaluate(() => {
    const [a, b] = ['before', 'after'].map((id) => {
      const image = document.getElementById(id);
      const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight).getContext('2d');
      canvas.drawImage(image, 0, 0);
      return canvas.getImageData(0, 0, image.naturalWidth, image.naturalHeight).data;
    });
    const squares = a.reduce((sum, value, i) => sum + (i % 4 < 3 ? (value - b[i]) ** 2 : 0), 0);
    return 10 * Math.log10(255 ** 2 / (squares / ((3 * a.length) / 4)));
  });
}

async function screenshot(page, name) {
  if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}
