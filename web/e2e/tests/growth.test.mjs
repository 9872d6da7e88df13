// A path that grows: its trend, what holds it, and its assertion are about that path, not about its type elsewhere.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { answered, serve, shell } from '../harness/binary.mjs';
import { accessible, clipboard, complete, fits, fragment, launch, leave, openPage, quiet, settled } from '../harness/browser.mjs';
import { FOLDER, LEAK, STOREFRONT } from '../harness/fixtures.mjs';

/** @type {import('../harness/binary.mjs').Server} */
let server;
/** @type {import('playwright-core').Browser} */
let browser;

before(async () => {
  server = await serve([LEAK, STOREFRONT]);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Sessions that listeners keep alive; others are in use, and most lists of the heap are elsewhere. */
const PATH = ['dict', '__main__.Shop', '__main__.Prices', 'list', 'method', '__main__.Session', 'list'];

/** @param {import('playwright-core').Page} page */
async function leakingRow(page) {
  await settled(page, 'series');
  await quiet(page);
  return page.locator('[data-section="growth"] tbody tr').first();
}

test('the trend of a path is above the chart and has its numbers', async () => {
  const told = answered(LEAK, 'growth').rows.find((/** @type {any} */ row) => row.path === PATH.join(' › '));
  for (const look of [{}, { width: 390, height: 844 }, { dark: true }]) {
    const page = await openPage(browser, server, { ...look, fragment: fragment({ f: 'shop.barrow', q: 'growth' }) });
    await (await leakingRow(page)).getByRole('link', { name: 'trend' }).click();
    const trend = page.locator('[data-section="path"]');
    await trend.locator('.chart svg polyline').first().waitFor();
    assert.equal(await page.locator('.section:visible').first().getAttribute('data-section'), 'path');
    await trend.getByRole('button', { name: 'table' }).click();
    const numbers = await trend.locator('tbody tr').evaluateAll((all) => all.map((row) => row.lastElementChild?.textContent?.replaceAll(',', '')));
    assert.deepEqual(numbers.map(Number), told.objects);
    await fits(page, 'the trend of a path');
    await page.reload();
    await trend.locator('.chart svg polyline').first().waitFor();
    await trend.getByRole('link', { name: 'close this trend' }).click();
    await trend.waitFor({ state: 'hidden' });
    await leave(page);
  }
});

test('the holders of a path are those of its type if most are on it, else those of its largest object', async () => {
  const { rows } = answered(LEAK, 'growth');
  const page = await openPage(browser, server, { fragment: fragment({ f: 'shop.barrow', q: 'growth' }) });
  const seen = new Set();
  for (const [at, { steps, objects }] of rows.entries()) {
    const { type } = steps.at(-1);
    const isMost = objects.at(-1) > answered(LEAK, `count type = "${type}"`).objects / 2;
    await settled(page, 'series');
    await page.locator('[data-section="growth"] tbody tr').nth(at).getByRole('button', { name: 'holders' }).click();
    await page.waitForFunction(() => /^paths? /.test(/** @type {HTMLInputElement} */ (document.querySelector('#line')).value));
    const line = await page.locator('#line').inputValue();
    if (isMost) assert.equal(line, `paths type = "${type}"`);
    else {
      const [, object] = line.match(/^path 7:@(\d+) 3$/) ?? [];
      const above = answered(LEAK, 'snapshot 7', `idom @${object}`).rows.map((/** @type {any} */ row) => row.type).reverse();
      const found = [...above.filter(Boolean), answered(LEAK, `info 7:@${object}`).type];
      const types = steps.map((/** @type {any} */ step) => step.type).filter(Boolean);
      assert.deepEqual(found.slice(-types.length), types);
    }
    seen.add(isMost);
    await page.goBack();
  }
  assert.equal(seen.size, 2, 'both ways were tried');
  await leave(page);
});

test('the assertion of a path is about what is on no other path', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ f: 'shop.barrow', q: 'growth' }) });
  await (await leakingRow(page)).getByRole('button', { name: 'copy assert' }).click();
  await page.locator('#foot .told', { hasText: 'copied' }).waitFor();
  assert.equal(await clipboard(page), `barrow assert shop.barrow 'growth(type = "__main__.Prices") <= 0'`);
  const { code, out } = shell(await clipboard(page), FOLDER);
  assert.equal(code, 1, out);
  assert.match(out, /it grows/);
  await leave(page);
});

test('suspects come first, with the roots and fields that hold them; growth is there once', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ f: 'storefront.barrow' }) });
  await settled(page, 'series');
  await complete(page);
  const shown = await page.locator('.section:visible').evaluateAll((all) => all.map((one) => one.getAttribute('data-section')));
  assert.deepEqual(shown, ['snapshots', 'leaks', 'growth']);
  const told = answered(STOREFRONT, 'leaks').suspects;
  const cards = page.locator('.suspect');
  assert.equal(await cards.count(), told.length);
  for (const [at, suspect] of told.entries()) {
    const target = suspect.objects === 1 ? suspect.accumulation_object : suspect.object;
    const held = answered(STOREFRONT, `path 7:@${target}`).rows.map((/** @type {any} */ row) => row.label);
    assert.deepEqual(await cards.nth(at).locator('.held .label').allTextContents(), held);
    assert.doesNotMatch(await cards.nth(at).innerText(), /undefined/);
  }
  assert.match(await cards.nth(told.findIndex((/** @type {any} */ one) => one.objects > 1)).innerText(), /right below the roots; the largest is/);
  await accessible(page, 'suspects');
  await page.getByRole('link', { name: 'what of this does not die' }).click();
  await page.locator('[data-section="leaking"][data-state="ready"]').waitFor();
  assert.equal(await page.locator('#line').inputValue(), 'leaks 0..7');
  await leave(page);
});

test('an answer without a view of its own says what it is', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ f: 'storefront.barrow', q: 'strings' }) });
  await settled(page, 'answer');
  const { verbs } = await (await server.get('/api/verbs')).json();
  assert.equal(await page.locator('.view h2').first().innerText(), verbs.find((/** @type {any} */ verb) => verb.name === 'strings').about);
  await accessible(page, 'an answer');
  await leave(page);
});

test('the axis has the labels and times of snapshots', async () => {
  const told = answered(STOREFRONT, 'snapshots').snapshots;
  for (const look of [{}, { width: 390, height: 844 }, { dark: true }]) {
    const page = await openPage(browser, server, { ...look, fragment: fragment({ f: 'storefront.barrow', s: 3 }) });
    await settled(page, 'series');
    await complete(page);
    const texts = await page.locator('[data-section="snapshots"] .chart svg text').allTextContents();
    const [first] = told;
    assert.ok(texts.some((one) => one !== '' && (one === first.label || first.label.startsWith(one.replace('…', '')))), texts.join());
    assert.match(await page.locator('[data-section="snapshots"] .legend .at').innerText(), new RegExp(`^snapshot 3, ${told[3].label}, ${(told[3].time_ns / 1e9).toFixed(2)} s$`));
    await fits(page, 'the axis');
    await leave(page);
  }
});
