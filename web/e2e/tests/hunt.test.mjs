// The hunt for a leak, from the first page to an assertion for CI: with a mouse, and with keys alone.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as passed } from 'node:timers/promises';

import { answered, barrow, lastOf, serve, shell } from '../harness/binary.mjs';
import { clipboard, copied, fragment, launch, leave, lineOf, openPage, quiet, settled } from '../harness/browser.mjs';
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

const growth = '[data-section="growth"]';
const suspects = '[data-section="leaks"]';

/** The fields of the address. @param {import('playwright-core').Page} page */
function fields(page) {
  return new URLSearchParams(new URL(page.url()).hash.slice(1));
}

/** Runs the line in the clipboard and returns the answer of its last question. @param {import('playwright-core').Page} page */
async function ranCopied(page) {
  const line = await copied(page, 'shell');
  const { code, out, err } = shell(`${line} --format json`, FOLDER);
  assert.ok(code === 0, `${line}: exit ${code}: ${err}`);
  return { line, answer: lastOf(out) };
}

test('the hunt with a mouse', async () => {
  const page = await openPage(browser, server);
  await settled(page, 'series');
  await quiet(page);
  assert.equal(await lineOf(page), 'summary all');

  // Brush the rise.
  await page.locator('.chart svg').scrollIntoViewIfNeeded();
  const box = await page.locator('.chart svg').boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width * 0.25, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 100);
  await page.mouse.move(box.x + box.width * 0.97, box.y + 100);
  await page.mouse.up();
  await page.waitForFunction(() => new URLSearchParams(location.hash.slice(1)).get('b') === '7');
  const a = Number(fields(page).get('a'));
  assert.ok(a >= 1 && a <= 2, `the brush begins at ${a}`);
  await quiet(page);
  assert.equal(await page.locator(`${growth} a.line`).textContent(), `growth ${a}..7`);

  // What grows, as a shell says it.
  const told = answered(LEAK, `growth ${a}..7`);
  const first = page.locator(`${growth} tbody tr`).first();
  const steps = (await first.locator('td').first().innerText()).split(' › ');
  assert.deepEqual(steps, told.rows[0].path.split(' › '));
  assert.ok(steps.includes('__main__.Session'), steps.join());

  // A step of the path leads to its objects, the largest first.
  await first.getByRole('link', { name: '__main__.Session', exact: true }).click();
  await settled(page, 'answer');
  const found = await ranCopied(page);
  const objects = await page.locator('.view tbody tr a').evaluateAll((all) => all.map((one) => one.textContent).filter((text) => /@\d+$/.test(text ?? '')));
  assert.deepEqual(objects.slice(0, 100).map((text) => Number(text?.match(/@(\d+)$/)?.[1])), found.answer.rows.map((/** @type {any} */ one) => one.object));

  // An object: why it is alive, and what holds it.
  await page.locator('.view tbody tr a').filter({ hasText: /@\d+$/ }).first().click();
  await settled(page, 'object');
  await quiet(page);
  assert.match(await lineOf(page), /^info \d+:@\d+$/);
  assert.match(await page.locator('[data-section="path"]').innerText(), /__main__\.Prices/);
  const holders = page.locator('[data-section="path"] .path-hops a', { hasText: '@' });
  assert.ok(await holders.count() >= 5, 'the path has links');

  // Its tree and map.
  await page.getByRole('link', { name: 'tree from here' }).click();
  await settled(page, 'tree');
  assert.match(await lineOf(page), /^dominators \d+:@\d+$/);
  await quiet(page);
  await page.goBack();
  await settled(page, 'object');
  await quiet(page);

  // The list of listeners piles them up: without it all views tell what is left.
  const session = await lineOf(page);
  await page.locator('[data-section="path"] .path-hops li', { hasText: /\blist\b/ }).first().locator('a').first().click();
  await page.waitForFunction((line) => new URLSearchParams(location.hash.slice(1)).get('q') !== line, session);
  await settled(page, 'object');
  await quiet(page);
  const list = (await lineOf(page)).replace(/^info \d+:/, '');
  await page.getByRole('link', { name: 'without this', exact: true }).click();
  await page.locator('[data-banner="without"]').waitFor();
  for (const [tab, view] of [['Series', 'series'], ['Types', 'types'], ['Tree & map', 'tree']]) {
    await page.locator('nav.tabs').getByRole('link', { name: tab, exact: true }).click();
    await settled(page, view);
    await quiet(page);
    assert.ok((await page.locator('[data-banner="without"]').innerText()).includes(list), `${tab} has the banner`);
  }
  const kept = await ranCopied(page);
  assert.ok(kept.line.includes(`-e 'without ${list}'`) || kept.line.includes(`-e "without ${list}"`), kept.line);
  const all = answered(LEAK, 'snapshot 7', 'dominators');
  assert.ok(kept.answer.rows[0].retained_bytes < all.rows[0].retained_bytes - 1_000_000, 'more than 1 MB is gone');

  // With it again, an assertion for CI: it is false, as the shell says.
  await page.locator('[data-banner="without"]').getByRole('link', { name: 'clear' }).click();
  await page.locator('nav.tabs').getByRole('link', { name: 'Series', exact: true }).click();
  await settled(page, 'series');
  await quiet(page);
  await page.locator(`${suspects} .suspect`).first().getByRole('button', { name: 'copy assert' }).click();
  const one = await clipboard(page);
  assert.ok(one.startsWith(`barrow assert ${LEAK} `), one);
  assert.match(one, / 'no leaks except [0-9a-f]{16} up to [0-9]+[KM]'$/);
  const { code, out } = shell(one, FOLDER);
  assert.equal(code, 1, out);
  await page.locator(suspects).getByRole('button', { name: /copy assert for all/ }).click();
  const permitted = shell(await clipboard(page), FOLDER);
  assert.equal(permitted.code, 0, permitted.out);
  await page.locator(`${growth} tbody tr`, { hasText: '__main__.Session' }).first().getByRole('button', { name: 'copy assert' }).click();
  await page.locator('#foot .told', { hasText: 'growth(' }).waitFor();
  const rise = shell(await clipboard(page), FOLDER);
  assert.equal(rise.code, 1, `${await clipboard(page)}: ${rise.out}`);
  assert.match(rise.out, /it grows/);
  await leave(page, [400]); // Nothing is told of an object that is excluded.
});

test('the hunt with keys alone', async () => {
  const page = await openPage(browser, server);
  await settled(page, 'series');
  await quiet(page);
  const { keyboard } = page;
  /** Presses the tabulator until the focus is on something that matches. @param {string} selector */
  const tabTo = async (selector) => {
    for (let presses = 0; presses < 250; presses += 1) {
      await keyboard.press('Tab');
      if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)) return;
    }
    throw new Error(`${selector} is not within 250 presses of the tabulator`);
  };

  // The brush by keys: Shift and arrows in the chart.
  await tabTo('.chart');
  await keyboard.press('End');
  for (let step = 0; step < 6; step += 1) await keyboard.press('Shift+ArrowLeft');
  await page.waitForFunction(() => new URLSearchParams(location.hash.slice(1)).get('a') === '1' && location.hash.includes('b=7'));
  await quiet(page);

  // The last step but one of the first path that grows, then the first of its objects.
  await tabTo(`${growth} tbody a`);
  while (!await page.evaluate(() => /** @type {HTMLElement} */ (document.activeElement).title.includes('__main__.Session'))) await keyboard.press('ArrowRight');
  await keyboard.press('Enter');
  await settled(page, 'answer');
  await tabTo('.view tbody a[href*="info"]');
  await keyboard.press('Enter');
  await settled(page, 'object');
  await quiet(page);

  // The tree, its first levels, and back.
  await keyboard.press('g');
  await keyboard.press('d');
  await settled(page, 'tree');
  await quiet(page);
  await tabTo('[role="treegrid"] [role="row"]');
  const active = () => page.evaluate(() => document.activeElement?.getAttribute('aria-level'));
  assert.equal(await active(), '1');
  await keyboard.press('ArrowRight');
  assert.equal(await active(), '2');
  await page.waitForFunction(() => !document.activeElement?.hasAttribute('aria-busy'));
  await keyboard.press('Shift+ArrowRight');
  await page.waitForFunction(() => Number(document.activeElement?.getAttribute('aria-level')) > 2);
  await keyboard.press('Home');
  assert.equal(await active(), '1');

  // Any object by the line, then what excludes it.
  await keyboard.press(':');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'line');
  await keyboard.type('leaks');
  await keyboard.press('Enter');
  await settled(page, 'series');
  await quiet(page);
  await tabTo(`${suspects} .suspect a[href*="info"]`);
  await keyboard.press('Enter');
  await settled(page, 'object');
  await quiet(page);
  await tabTo('a[title^="without @"]');
  await keyboard.press('Enter');
  await page.locator('[data-banner="without"]').waitFor();
  await keyboard.press('g');
  await keyboard.press('s');
  await settled(page, 'series');
  await quiet(page);
  await tabTo(`${suspects} .suspect button`);
  await keyboard.press('Enter');
  await page.waitForFunction(async () => (await navigator.clipboard.readText()).startsWith('barrow assert'));
  assert.equal(shell(await clipboard(page), FOLDER).code, 1);

  // Keys of the whole page.
  await keyboard.press('[');
  await page.waitForFunction(() => location.hash.includes('s=0'));
  // The view of the search is not loaded yet; what is typed at once is not lost.
  await page.route('**/views/search.js', async (route) => { await passed(300); await route.continue(); });
  await keyboard.type('/Session');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'search');
  await settled(page, 'search');
  assert.equal(await page.locator('#search').inputValue(), 'Session');
  await page.waitForFunction(() => document.activeElement?.id === 'search' && location.hash.includes('find=Session'));
  await quiet(page);
  await keyboard.press('Escape');
  await leave(page);
});

test('each step of the hunt is a line that works at the prompt', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ q: 'growth 1..7', a: 1, b: 7 }) });
  for (const line of ['growth 1..7', 'leaks 1..7', 'leaks', 'find 100 type = "__main__.Session" by retained', 'trend type = "__main__.Session"', 'paths type = "__main__.Session"']) {
    await page.evaluate((hash) => { location.hash = hash; }, fragment({ q: line }));
    await page.waitForFunction((wanted) => /** @type {HTMLInputElement} */ (document.getElementById('line')).value === wanted, line);
    await quiet(page);
    assert.equal(await copied(page, 'line'), line);
    const { answer } = await ranCopied(page);
    assert.deepEqual({ ...answer, file: LEAK }, answered(LEAK, line));
  }
  assert.equal(barrow(['assert', LEAK, 'growth(type = "__main__.Session") <= 0']).code, 1);
  await leave(page);
});
