// The token reaches its own server only: whatever the page does, another server of this machine sees nothing of it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';

import { serve } from '../harness/binary.mjs';
import { anotherTab, fragment, launch, leave, openPage, quiet, settled } from '../harness/browser.mjs';
import { LEAK } from '../harness/fixtures.mjs';

/** @type {import('playwright-core').Browser} */
let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

/** A server on another port that keeps what it is sent. */
async function listener() {
  /** @type {string[]} */
  const heard = [];
  const server = createServer((request, response) => {
    heard.push(`${request.method} ${request.url}\n${request.rawHeaders.join('\n')}`);
    response.setHeader('Content-Type', 'text/html');
    response.end('<!doctype html><title>other</title><p>another server of this machine');
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', () => resolve(null)); });
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { heard, origin: `http://127.0.0.1:${address.port}`, stop: () => server.close() };
}

test('a reload, a new tab and a download work, and no other server gets the token', async (one) => {
  const [server, other] = [await serve([LEAK, '--no-index']), await listener()];
  one.after(async () => { await server.stop(); other.stop(); });
  const token = /** @type {string} */ (new URL(server.address).searchParams.get('token'));
  const page = await openPage(browser, server, { fragment: fragment({ q: 'top 3' }) });
  await settled(page, 'types');
  assert.ok(!page.url().includes(token), page.url());
  assert.deepEqual(await page.context().cookies(), []);

  await page.reload();
  await settled(page, 'types');

  const tab = await anotherTab(page.context(), server);
  await tab.goto(`${server.origin}/${fragment({ q: 'find 5 size > 1K' })}`);
  await quiet(tab);
  await settled(tab, 'answer');

  const [saved] = await Promise.all([tab.waitForEvent('download'), tab.locator('a.csv').first().click()]);
  assert.match(readFileSync(await saved.path(), 'utf8'), /^[^\n]*object[^\n]*\r\n/);

  // The same browser visits the other server, by a link, a picture and a request of that page.
  const visitor = await page.context().newPage();
  await visitor.goto(other.origin);
  await visitor.evaluate(() => fetch('/again', { credentials: 'include' }).then((answer) => answer.text()));
  await tab.evaluate((url) => { location.href = url; }, `${other.origin}/link`);
  await tab.waitForURL(`${other.origin}/link`);
  assert.ok(other.heard.length >= 3, other.heard.join('\n\n'));
  for (const request of other.heard) assert.ok(!request.includes(token), request);
  await visitor.close();
  await tab.close();
  await leave(page);
});
