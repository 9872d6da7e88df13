// The address is the question: reload, back, forward, copied links and lines, and two tabs.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { answered, lastOf, serve, shell } from '../harness/binary.mjs';
import { anotherTab, ask, check, copied, fragment, launch, leave, lineOf, openPage, quiet, settled } from '../harness/browser.mjs';
import { FOLDER, LEAK } from '../harness/fixtures.mjs';

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

/** A state with everything in it. */
const WHOLE = { q: 'find 50 $a and type ~ "*s*"', s: 3, w: ['type = "float"', 'kind = type'], let: ['$a = size > 200', '$b = $a and refs > 1'], a: 2, b: 6 };

/** The rows that are shown, as texts. @param {import('playwright-core').Page} page */
async function rows(page) {
  return page.locator('.view:not(.last-good) tbody tr').allInnerTexts();
}

test('reload, back and forward show the same view', async () => {
  const page = await openPage(browser, server, { fragment: fragment(WHOLE) });
  await settled(page, 'answer');
  const shown = await rows(page);
  assert.ok(shown.length > 5);
  await page.reload();
  await settled(page, 'answer');
  assert.deepEqual(await rows(page), shown);

  const lines = ['histogram by type', 'dominators', 'threads', 'growth 1..7'];
  for (const line of lines) {
    await ask(page, line);
    await quiet(page);
  }
  for (const line of [...lines].reverse().slice(1)) {
    await page.goBack();
    await page.waitForFunction((wanted) => new URLSearchParams(location.hash.slice(1)).get('q') === wanted, line);
    await quiet(page);
    assert.equal(await lineOf(page), line);
  }
  await page.goBack();
  await settled(page, 'answer');
  await quiet(page);
  assert.equal(await lineOf(page), WHOLE.q);
  assert.deepEqual(await rows(page), shown);
  await page.goForward();
  await settled(page, 'types');
  assert.equal(await lineOf(page), lines[0]);
  await leave(page);
});

test('a copied link shows the same to another visitor', async () => {
  const page = await openPage(browser, server, { fragment: fragment(WHOLE) });
  await settled(page, 'answer');
  const link = await copied(page, 'link');
  assert.ok(!link.includes('token'), link);
  const other = await openPage(browser, server, { fragment: new URL(link).hash });
  await settled(other, 'answer');
  assert.deepEqual(await rows(other), await rows(page));
  assert.equal(await other.locator('[data-banner="without"]').innerText(), await page.locator('[data-banner="without"]').innerText());
  await leave(other);
  await leave(page);
});

test('a copied line gives the same rows in a shell, and `serve` opens the same view', async () => {
  const page = await openPage(browser, server, { fragment: fragment(WHOLE) });
  await settled(page, 'answer');
  const line = await copied(page, 'shell');
  const { code, out, err } = shell(`${line} --format json`, FOLDER);
  assert.equal(code, 0, err);
  const objects = lastOf(out).rows.map((/** @type {any} */ row) => `@${row.object}`);
  assert.deepEqual((await rows(page)).map((row) => row.match(/@\d+/)?.[0]), objects);

  const served = await copied(page, 'serve');
  assert.ok(served.startsWith(`barrow serve ${LEAK} --at `), served);
  // `shell` waits for the end of a program, and a server has none: its words are those that the shell makes of the line.
  const words = shell(`printf '%s\\0' ${served.replace(/^barrow serve /, '')}`, FOLDER).out.split('\0').slice(0, -1);
  const again = await serve(words, { cwd: FOLDER });
  const other = await openPage(browser, again, { fragment: new URL(again.address).hash });
  await settled(other, 'answer');
  assert.deepEqual(await rows(other), await rows(page));
  assert.equal(await lineOf(other), WHOLE.q);
  await leave(other);
  await again.stop();
  await leave(page);
});

test('`without`, `let` and `snapshot` change the state, and every view says so', async () => {
  const page = await openPage(browser, server);
  await settled(page, 'series');
  await ask(page, 'without type = "float"');
  await page.locator('[data-banner="without"]').waitFor();
  await ask(page, 'let $big = size > 1K');
  await page.locator('[data-banner="sets"]').waitFor();
  await ask(page, 'snapshot 5');
  await page.waitForFunction(() => location.hash.includes('s=5'));
  for (const [line, view] of [['summary all', 'series'], ['histogram by type', 'types'], ['dominators', 'tree'], ['info @100', 'object'], ['find 5 $big', 'answer'], ['help', 'help'], ['info', 'objects']]) {
    await ask(page, line);
    await settled(page, view);
    await quiet(page);
    assert.match(await page.locator('[data-banner="without"]').innerText(), /type = "float"/, line);
    assert.match(await page.locator('[data-banner="sets"]').innerText(), /\$big = size > 1K/, line);
  }
  await ask(page, 'find 5 $big');
  await settled(page, 'answer');
  const told = answered(LEAK, 'without type = "float"', 'snapshot 5', 'let $big = size > 1K', 'find 5 $big');
  assert.deepEqual((await rows(page)).map((row) => row.match(/@(\d+)/)?.[1]), told.rows.map((/** @type {any} */ row) => String(row.object)));
  await ask(page, 'without clear');
  await page.locator('[data-banner="without"]').waitFor({ state: 'detached' });
  await leave(page);
});

test('the keys that tabs tell lead to their views', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ q: 'threads' }) });
  await settled(page, 'answer');
  for (const [tab, view] of [['Series', 'series'], ['Types', 'types'], ['Tree & map', 'tree'], ['Object', 'objects']]) {
    const title = await page.locator('.tabs').getByRole('link', { name: tab, exact: true }).getAttribute('title') ?? '';
    for (const key of title.match(/\((\w) (\w)\)$/)?.slice(1) ?? []) await page.keyboard.press(key);
    await settled(page, view);
  }
  await leave(page);
});

test('what was followed by a key keeps the focus where the view stays', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ q: 'histogram by type' }) });
  await settled(page, 'types');
  await page.getByRole('link', { name: 'count', exact: true }).press('Enter');
  await page.waitForFunction(() => location.hash.includes('count') && document.activeElement?.textContent === 'count');
  const before = page.getByRole('link', { name: 'snapshot before' });
  await before.press('Enter');
  await before.press('Enter');
  await page.waitForFunction(() => location.hash.includes('s=5') && document.activeElement?.ariaLabel === 'snapshot before');
  await leave(page);
});

test('two tabs show two snapshots', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ q: 'top 10', s: 1 }) });
  const other = await anotherTab(page.context(), server);
  await other.goto(`${server.origin}/${fragment({ q: 'top 10', s: 6 })}`);
  for (const [tab, snapshot] of /** @type {[typeof page, number][]} */ ([[page, 1], [other, 6]])) {
    await settled(tab, 'types');
    await quiet(tab);
    const told = answered(LEAK, `snapshot ${snapshot}`, 'top 10');
    const counts = await tab.locator('.view [role="row"]').allInnerTexts();
    for (const row of told.rows) {
      const count = row.objects.toLocaleString('en-US');
      assert.ok(counts.some((text) => text.includes(count)), `snapshot ${snapshot}: ${count} objects of ${row.type} in ${counts}`);
    }
  }
  check(other);
  await leave(page);
});
