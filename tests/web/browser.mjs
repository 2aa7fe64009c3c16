// A browser without a screen, and a server of files for pages that need one.

import { createReadStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, normalize, sep } from 'node:path';
import { chromium } from 'playwright-core';

// Where distributions put it; CHROMIUM is another place.
const PROGRAM = process.env.CHROMIUM ?? '/usr/bin/chromium';

// Nothing but the page, and a software GPU.
const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

// For pages that compute with WebGPU.
export const WEBGPU = ['--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader'];

// Calls `test` with a fresh browser, and ends that whatever happens.
export async function withBrowser(test, { more = [], ...options } = {}) {
  const profile = await mkdtemp(join(tmpdir(), 'kgard-browser-'));
  try {
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: PROGRAM,
      args: [...ARGUMENTS, ...more],
      ...options,
    });
    try {
      await test(context);
    } finally {
      await context.close();
    }
  } finally {
    await rm(profile, { recursive: true, force: true });
  }
}

const KINDS = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.json': 'application/json',
  '.png': 'image/png',
  '.wasm': 'application/wasm',
  '.wgsl': 'text/plain',
};

// Calls `test` with the address of a server of the files in `folder`.
export async function withFiles(folder, test) {
  const root = normalize(folder + sep);
  const server = createServer(async (request, response) => {
    const path = normalize(join(root, decodeURIComponent(new URL(request.url, 'http://x').pathname)));
    const isFile = path.startsWith(root) && (await stat(path).catch(() => null))?.isFile();
    if (!isFile) return response.writeHead(404).end();
    response.writeHead(200, { 'Content-Type': KINDS[extname(path)] ?? 'application/octet-stream' });
    createReadStream(path).pipe(response);
  });
  await new Promise((ready) => server.listen(0, '127.0.0.1', ready));
  try {
    await test(`http://127.0.0.1:${server.address().port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
