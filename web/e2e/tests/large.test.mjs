// Large heaps: a tree of a million levels, an object with two million children, millions of rows.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { answered, serve } from '../harness/binary.mjs';
import { ask, fragment, launch, leave, openPage, quiet, settled } from '../harness/browser.mjs';
import { DEEP, WIDE } from '../harness/fixtures.mjs';

/** @type {Record<string, import('../harness/binary.mjs').Server>} */
const servers = {};
/** @type {import('playwright-core').Browser} */
let browser;
before(async () => {
  servers.deep = await serve([DEEP, '--no-index']);
  servers.wide = await serve([WIDE, '--no-index']);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await Promise.all(Object.values(servers).map((server) => server.stop()));
});

const grid = '[role="treegrid"]';
const active = `${grid} [role="row"][aria-selected="true"]`;

/** The row of the tree that has the focus, once it is loaded. @param {import('playwright-core').Page} page */
async function focused(page) {
  await page.waitForFunction(() => document.activeElement?.getAttribute('role') === 'row' && !document.activeElement.hasAttribute('aria-busy'));
  return page.evaluate(() => {
    const row = /** @type {HTMLElement} */ (document.activeElement);
    const at = (/** @type {string} */ name) => Number(row.getAttribute(name));
    return { level: at('aria-level'), index: at('aria-posinset'), of: at('aria-setsize'), row: at('aria-rowindex'), text: row.innerText };
  });
}

/** How many elements show rows. @param {import('playwright-core').Page} page */
function elements(page) {
  return page.locator(`${grid} [role="row"]`).count();
}

test('two million children: scrolled, jumped through, and none is lost', async () => {
  const page = await openPage(browser, servers.wide, { fragment: fragment({ q: 'dominators @0' }) });
  await settled(page, 'tree');
  await page.locator(active).focus();
  const top = await focused(page);
  assert.match(top.text, /Table/);
  assert.equal(await page.locator(grid).getAttribute('aria-rowcount'), '2000002');

  await page.keyboard.press('End');
  const last = await focused(page);
  assert.deepEqual([last.index, last.of, last.row], [2_000_000, 2_000_000, 2_000_002]);
  const told = answered(WIDE, 'dominators @0 1999999..1999999');
  assert.ok(last.text.includes(`@${told.rows.at(-1).object}`), `${last.text} is ${JSON.stringify(told.rows.at(-1))}`);
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction((rows) => document.querySelector('[role="treegrid"]')?.getAttribute('aria-rowcount') === rows, '2000003');
  await page.keyboard.press('ArrowDown');
  assert.match((await focused(page)).text, /Value/);
  await page.keyboard.press('ArrowLeft');
  assert.equal((await focused(page)).index, 2_000_000);
  await page.keyboard.press('PageUp');
  assert.ok((await focused(page)).index < 1_999_999);
  await page.keyboard.press('Home');
  assert.equal((await focused(page)).level, 1);
  assert.ok(await elements(page) <= 100, `${await elements(page)} rows`);

  // The wheel moves by rows, the thumb by the whole.
  const box = await page.locator(`${grid} .vr`).boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + 100, box.y + 100);
  await page.mouse.wheel(0, 240);
  const first = () => page.locator(`${grid} .vr-rows [role="row"]:not([hidden]):not(.vr-away)`).evaluateAll((all) => Math.min(...all.map((one) => Number(one.getAttribute('aria-rowindex')))));
  await page.waitForFunction(() => {
    const rows = [...document.querySelectorAll('[role="treegrid"] .vr-rows [role="row"]:not([hidden]):not(.vr-away)')].map((one) => Number(one.getAttribute('aria-rowindex')));
    return Math.min(...rows) > 5 && Math.min(...rows) < 20;
  });
  await page.locator(`${grid} .vr`).evaluate((element) => { element.scrollTop = element.scrollHeight / 2; });
  await page.waitForFunction(() => {
    const rows = [...document.querySelectorAll('[role="treegrid"] .vr-rows [role="row"]:not([hidden]):not(.vr-away)')];
    return rows.length > 5 && rows.every((one) => !one.hasAttribute('aria-busy')) && Number(rows[0].getAttribute('aria-rowindex')) > 900_000;
  });
  assert.ok(await first() < 1_100_000);
  assert.ok(await elements(page) <= 100);
  await leave(page);
});

test('children by type are few', async () => {
  const page = await openPage(browser, servers.wide, { fragment: fragment({ q: 'dominators @0 by type' }) });
  await settled(page, 'tree');
  await page.locator(grid).getByText('Row', { exact: false }).first().waitFor();
  assert.equal(await page.locator(grid).getAttribute('aria-rowcount'), '3');
  await leave(page);
});

test('the areas of the map add up to the whole', async () => {
  const page = await openPage(browser, servers.wide, { fragment: fragment({ q: 'dominators' }) });
  await settled(page, 'tree');
  await quiet(page);
  await page.locator('.map canvas').focus();
  await page.keyboard.press('t');
  const told = answered(WIDE, 'dominators');
  await page.locator('.map-table', { hasText: 'add up to' }).waitFor();
  const words = await page.locator('.map-table p').first().innerText();
  assert.ok(words.includes(`${told.rows[0].retained_bytes.toLocaleString('en-US')} bytes`), `${words}: ${told.rows[0].retained_bytes}`);
  await leave(page);
});

test('a tree of a million levels is a window of levels', async () => {
  const page = await openPage(browser, servers.deep, { fragment: fragment({ q: 'dominators' }) });
  await settled(page, 'tree');
  await quiet(page);
  // The tree does not open a chain by itself, and says how long it is.
  await page.locator(grid).getByText('chain of 1,000,000 Node').waitFor();
  assert.ok(Number(await page.locator(grid).getAttribute('aria-rowcount')) < 10);
  await page.locator(active).focus();
  await page.keyboard.press('ArrowRight');
  await focused(page);
  let level = 0;
  for (let times = 0; times < 3; times += 1) {
    await page.keyboard.press('Shift+ArrowRight');
    await page.waitForFunction((before) => Number(document.activeElement?.getAttribute('aria-level')) > before, level);
    level = (await focused(page)).level;
  }
  assert.ok(level > 1000, `level ${level}`);
  assert.ok(await elements(page) <= 100);
  await page.keyboard.press('Enter');
  await settled(page, 'object');
  await quiet(page);
  assert.ok(await page.locator('.path-hops li').count() < 200, 'a long path is cut');

  // The very end: a path of a million steps.
  await ask(page, 'info @1000000');
  await page.waitForFunction(() => document.querySelector('[data-section="facts"]')?.textContent?.includes('End'));
  await quiet(page);
  assert.match(await page.locator('[data-section="path"]').innerText(), /more steps|million|1,000,000|999,9/);
  await ask(page, 'dominators @999990');
  await settled(page, 'tree');
  await quiet(page);
  await leave(page);
});

test('tables of millions of rows come in windows', async () => {
  const page = await openPage(browser, servers.wide, { fragment: fragment({ q: 'show @0' }) });
  await settled(page, 'answer');
  const rows = () => page.locator('.view tbody tr').count();
  assert.ok(await rows() > 0 && await rows() <= 1000);
  assert.match(await page.locator('main').innerText(), /2,000,000/);
  await ask(page, 'find all');
  await settled(page, 'answer');
  assert.ok(await rows() > 0 && await rows() <= 1000);
  await leave(page);
});
