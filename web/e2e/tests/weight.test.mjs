// The whole page is light, comes from one place, and is there at once.

import assert from 'node:assert/strict';
import { get } from 'node:http';
import { after, before, test } from 'node:test';

import { serve } from '../harness/binary.mjs';
import { fragment, goTo, launch, leave, openPage, quiet, settled, watchOf } from '../harness/browser.mjs';
import { BUILD, LEAK, TRIAL } from '../harness/fixtures.mjs';

/** The bars: bytes after gzip, and requests. */
const MOST_BYTES = 150_000;
const MOST_REQUESTS = 25;

/** @type {import('../harness/binary.mjs').Server} */
let server;
/** @type {import('../harness/binary.mjs').Server} */
let build;
/** @type {import('../harness/binary.mjs').Server} */
let trial;
/** @type {import('playwright-core').Browser} */
let browser;
before(async () => {
  [server, build, trial] = await Promise.all([serve([LEAK]), serve([BUILD]), serve([TRIAL])]);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await Promise.all([server, build, trial].map((one) => one?.stop()));
});

/** The bytes of a file as they are sent to a browser. @param {string} path @returns {Promise<{status?: number, encoding?: string, bytes: number}>} */
function sent(path) {
  const headers = { 'Accept-Encoding': 'gzip', Authorization: `Bearer ${new URL(server.address).searchParams.get('token')}` };
  return new Promise((resolve, reject) => {
    get(`${server.origin}${path}`, { headers }, (answer) => {
      let bytes = 0;
      answer.on('data', (part) => { bytes += part.length; });
      answer.on('end', () => resolve({ status: answer.statusCode, encoding: answer.headers['content-encoding'], bytes }));
    }).on('error', reject);
  });
}

test('all files of the page are at most 150 KB compressed', async () => {
  const page = await openPage(browser, server);
  for (const [q, view] of [['summary all', 'series'], ['histogram by type', 'types'], ['dominators', 'tree'], ['info @5', 'object'], ['info', 'objects'], ['threads', 'answer'], ['help', 'help']]) {
    await goTo(page, { q });
    await settled(page, view);
    await quiet(page);
  }
  await goTo(page, { q: 'threads', p: 'search' });
  await settled(page, 'search', ['ready', 'empty']);
  await goTo(page, { p: 'files' });
  await settled(page, 'files');
  const other = await openPage(browser, build, { fragment: fragment({ q: 'lanes' }) });
  await settled(other, 'lanes');
  await quiet(other);
  const trials = await openPage(browser, trial);
  for (const [q, view] of [['trials', 'trials'], ['histogram wall scan', 'metric'], ['compare', 'compare'], ['runs', 'runs']]) {
    await goTo(trials, { q });
    await settled(trials, view);
    await quiet(trials);
  }
  const files = [...new Set([page, other, trials].flatMap((one) => watchOf(one).requests).map((url) => new URL(url)).filter((url) => url.protocol === 'http:' && !url.pathname.startsWith('/api/')).map((url) => url.pathname))];
  assert.ok(files.length > 20, `${files}`);
  let all = 0;
  for (const file of files) {
    const { status, encoding, bytes } = await sent(file);
    assert.deepEqual([status, encoding], [200, 'gzip'], file);
    all += bytes;
  }
  console.log(`# the page: ${files.length} files, ${all} bytes compressed`);
  assert.ok(all > 10_000 && all <= MOST_BYTES, `${all} bytes`);
  await leave(trials);
  await leave(other);
  await leave(page);
});

test('the files of the first view take at most 25 requests, none to another machine', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ q: 'summary all' }) });
  await settled(page, 'series');
  const requests = watchOf(page).requests.map((url) => new URL(url)).filter((url) => url.protocol === 'http:' && !url.pathname.startsWith('/api/'));
  console.log(`# the first view: ${requests.length} requests`);
  assert.ok(requests.length <= MOST_REQUESTS, `${requests.length} requests: ${requests.map((url) => url.pathname)}`);
  await leave(page);
});

test('what a browser is told about the page keeps other pages out', async () => {
  for (const path of ['/', '/main.js', '/api/files']) {
    const { headers } = await server.get(path);
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'.*frame-ancestors 'none'/, path);
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
    assert.equal(headers.get('referrer-policy'), 'no-referrer', path);
    assert.equal(headers.get('access-control-allow-origin'), null, path);
  }
});
