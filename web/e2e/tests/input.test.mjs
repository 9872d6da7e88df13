// Bad input: a clear sentence, and the last good view stays. Nothing is run, nothing is written.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { barrow, serve } from '../harness/binary.mjs';
import { accessible, ask, clipboard, fragment, launch, leave, openPage, quiet, settled } from '../harness/browser.mjs';
import { LEAK } from '../harness/fixtures.mjs';

/** @type {import('../harness/binary.mjs').Server} */
let server;
/** @type {import('playwright-core').Browser} */
let browser;

before(async () => {
  server = await serve([LEAK]);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const HARM = '/tmp/barrow-e2e-harm';
/** What is typed, the status, and a part of what is said. */
const BAD = /** @type {[string, number, RegExp][]} */ ([
  ['info @99999999', 400, /99999999/],
  ['frobnicate', 400, /frobnicate/],
  // What each object of JavaScript has is no verb.
  ['constructor', 400, /constructor/],
  ['__proto__', 400, /__proto__/],
  ['toString 3', 400, /toString/],
  ['find size >', 400, /file/],
  ['find size > 1K and (type = "x"', 400, /expected|\)/],
  ['diff 1 99', 400, /snapshot/],
  ['top 5 --colour red', 400, /colour/],
  ['path', 400, /object|which/i],
  [`top 5 | sh -c "touch ${HARM}"`, 403, /only in a shell/],
  [`top 5 > ${HARM}`, 403, /only in a shell/],
  [`repack -o ${HARM}`, 403, /only in a shell/],
  [`import /etc/passwd -o ${HARM}`, 403, /only in a shell/],
  ['diff /etc/passwd', 403, /only in a shell/],
  [`find type = "${'x'.repeat(9000)}"`, 414, /long|8/],
]);

test('bad lines say what is wrong and keep the last good view', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ q: 'find 5 size > 1K' }) });
  await settled(page, 'answer');
  const good = await page.locator('.view tbody').innerText();
  for (const [line, status, says] of BAD) {
    await ask(page, line);
    const error = page.locator('main .error').first();
    await error.waitFor();
    await quiet(page);
    assert.match(await error.innerText(), says, line);
    assert.ok((await page.locator('main').innerText()).includes(good.split('\n')[0]), `${line.slice(0, 60)}: the last good view stays`);
    await accessible(page, line.slice(0, 60));
    const answer = await server.get(`/api/ask?f=0&q=${encodeURIComponent(line)}`);
    assert.equal(answer.status, status, line.slice(0, 60));
    await page.goBack();
    await settled(page, 'answer');
    await page.locator('main .error').waitFor({ state: 'detached' });
  }
  assert.ok(!existsSync(HARM));
  await leave(page, [400, 403, 414]);
});

test('an error has the answer before it below the question that it answers', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ q: 'count type = "list"' }) });
  await settled(page, 'answer');
  await ask(page, 'retained type = "Nope');
  await settled(page, 'answer', ['error']);
  const label = page.locator('main .last-good-label');
  assert.equal(await label.innerText(), 'The last answer, of count type = "list"');
  const [error, of, facts] = await Promise.all(['main .error', 'main .last-good-label', 'main .facts'].map((what) => page.locator(what).evaluate((one) => one.getBoundingClientRect().top)));
  assert.ok(error < of && of < facts);
  await accessible(page, 'an error above another answer');
  await label.getByRole('link').click();
  await settled(page, 'answer');
  assert.equal(await label.count(), 0);
  await leave(page, [400]);
});

test('a caret is under the place, as in a shell', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ q: 'find size > 1K and colour = "red"' }) });
  const caret = page.locator('pre.caret');
  await caret.waitFor();
  const { err } = barrow([LEAK, '-e', 'find size > 1K and colour = "red"']);
  const [text, mark] = (await caret.innerText()).split('\n');
  const lines = err.split('\n');
  const at = lines.findIndex((one) => /^\s*\^/.test(one));
  assert.equal(text.slice(mark.indexOf('^')), lines[at - 1].slice(lines[at].indexOf('^')), err);
  await leave(page, [400]);
});

test('what only a shell does can be copied for it', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ q: 'top 5 | head -3' }) });
  await page.locator('main .error button', { hasText: 'copy for a shell' }).click();
  assert.match(await clipboard(page), /^barrow /);
  await leave(page, [403]);
});

test('states of an address that mean nothing', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ q: 'top 5', s: 99 }) });
  await page.locator('main .error').first().waitFor();
  assert.match(await page.locator('#head').innerText(), /no snapshot 99/);
  for (const hash of ['#q=top&s=-1&a=9&b=3', '#q=%00%ff', '#&&&==', '#q=top&w=&let=', `#q=top&w=${'x'.repeat(20_000)}`, '#q=constructor', '#q=__proto__&p=toString']) {
    await page.evaluate((to) => { location.hash = to; }, hash);
    await page.locator('.view[data-state="ready"], .view[data-state="error"], .view[data-state="empty"]').first().waitFor();
    await quiet(page);
  }
  await leave(page, [400, 403, 414]);
});

test('a server that has gone is said to be', async () => {
  const mine = await serve([LEAK]);
  const page = await openPage(browser, mine, { fragment: fragment({ q: 'find 5 size > 1K' }) });
  await settled(page, 'answer');
  await mine.stop();
  await ask(page, 'threads');
  await settled(page, 'answer', ['error']);
  assert.match(await page.locator('main .error').innerText(), /does not answer/);
  await page.context().close();
});

test('without the token there is a sentence on how to get one', async () => {
  const page = await browser.newPage();
  await page.goto(server.origin);
  await page.getByText('needs the token of the address that `barrow serve` printed').waitFor();
  await page.close();
});
