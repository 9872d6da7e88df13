// A path that grows: its trend, what holds it, and its assertion are about that path, not about its type elsewhere.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { answered, serve, shell } from '../harness/binary.mjs';
import { accessible, clipboard, complete, fits, fragment, goTo, launch, leave, openPage, quiet, settled } from '../harness/browser.mjs';
import { FOLDER, LEAK, ONE, RAKU, STOREFRONT } from '../harness/fixtures.mjs';

/** @type {import('../harness/binary.mjs').Server} */
let server;
/** @type {import('playwright-core').Browser} */
let browser;

before(async () => {
  server = await serve([LEAK, STOREFRONT, RAKU, ONE]);
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

test('the holders of a path are those of the largest object on it', async () => {
  const { rows } = answered(LEAK, 'growth');
  const page = await openPage(browser, server, { fragment: fragment({ f: 'shop.barrow', q: 'growth' }) });
  await settled(page, 'series');
  await quiet(page);
  const links = page.locator('[data-section="growth"] tbody').getByRole('link', { name: 'holders' });
  const lines = await links.evaluateAll((all) => all.map((one) => new URLSearchParams(/** @type {HTMLAnchorElement} */ (one).hash.slice(1)).get('q')));
  const ordered = [...rows.filter((/** @type {any} */ row) => row.slope_bytes >= 0), ...rows.filter((/** @type {any} */ row) => row.slope_bytes < 0)];
  assert.deepEqual(lines, ordered.map(({ example }) => `path 7:@${example}`));
  for (const { steps, example } of rows) {
    const above = answered(LEAK, 'snapshot 7', `idom @${example}`).rows.map((/** @type {any} */ row) => row.type).reverse();
    const found = [...above.filter(Boolean), answered(LEAK, `info 7:@${example}`).type];
    const types = steps.map((/** @type {any} */ step) => step.type).filter(Boolean);
    assert.deepEqual(found.slice(-types.length), types);
  }
  assert.match(await links.first().getAttribute('title') ?? '', /^what holds the largest object on this path: path 7:@/);
  // Another snapshot is selected: the object is still that of the last one.
  await goTo(page, { f: 'shop.barrow', q: 'growth', s: 2 });
  await links.first().click();
  await settled(page, 'answer');
  assert.equal(await page.locator('#line').inputValue(), lines[0]);
  assert.match(await page.locator('.view').first().innerText(), new RegExp(`@${ordered[0].example}\\b`));
  await leave(page);
});

test('what holds a path that has gone is asked in the last snapshot that had it', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ f: 'raku.barrow', q: 'growth' }) });
  await settled(page, 'series');
  await complete(page);
  await page.locator('[data-section="growth"]').getByRole('button', { name: 'holders' }).first().click();
  await settled(page, 'answer');
  assert.match(await page.locator('#line').inputValue(), /^path [01]:@\d+$/);
  await leave(page);
});

test('each path has an assertion of its own', async () => {
  const { rows } = answered(LEAK, 'growth');
  const page = await openPage(browser, server, { fragment: fragment({ f: 'shop.barrow', q: 'growth' }) });
  await leakingRow(page);
  const buttons = page.locator('[data-section="growth"]').getByRole('button', { name: 'copy assert' });
  const lines = await buttons.evaluateAll((all) => all.map((one) => /** @type {HTMLElement} */ (one).title));
  assert.deepEqual(lines.toSorted(), rows.map((/** @type {any} */ { path }) => `barrow assert ${LEAK} 'growth(path "${path}") <= 0'`).toSorted());
  await buttons.first().click();
  await page.locator('#foot .told', { hasText: 'copied' }).waitFor();
  assert.equal(await clipboard(page), lines[0]);
  const { code, out } = shell(lines[0], FOLDER);
  assert.equal(code, 1, out);
  assert.match(out, /it grows/);
  await leave(page);
});

test('what shrinks is not below what grows', async () => {
  const { rows } = answered(LEAK, 'growth');
  const shrinking = rows.filter((/** @type {any} */ row) => row.slope_bytes < 0).length;
  assert.ok(shrinking > 0 && shrinking < rows.length);
  const page = await openPage(browser, server, { fragment: fragment({ f: 'shop.barrow' }) });
  await settled(page, 'series');
  await complete(page);
  const section = page.locator('[data-section="growth"]');
  assert.equal(await section.locator('tbody tr').count(), rows.length - shrinking);
  assert.equal(await section.locator('tbody .down').count(), 0);
  const left = section.locator('.notes li', { hasText: `${shrinking} paths that shrink are left out` });
  await left.getByRole('link', { name: 'growth' }).click();
  await section.getByText('what shrinks').waitFor();
  await quiet(page);
  assert.equal(await section.locator('table').last().locator('tbody tr').count(), shrinking);
  await leave(page);
});

test('columns without a value are left out where there are few snapshots', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ f: 'raku.barrow', q: 'growth' }) });
  await settled(page, 'series');
  await complete(page);
  assert.deepEqual(await page.locator('[data-section="growth"] thead').first().locator('th').allInnerTexts(), ['path', 'first', 'last', 'objects', 'series', 'per snapshot', 'further']);
  await page.locator('[data-section="growth"]').getByRole('link', { name: 'trend' }).first().click();
  await page.locator('[data-section="path"] .chart svg polyline').first().waitFor();
  assert.deepEqual(await page.locator('[data-section="path"] dt').allInnerTexts(), ['per snapshot']);
  await leave(page);
});

test('the first screen has the answer, and on a narrow one each row is whole', async () => {
  /** Whether an element begins on the first screen. @param {import('playwright-core').Page} page @param {string} what @param {number} [nth] */
  const isSeen = async (page, what, nth = 0) => {
    const box = await page.locator(what).nth(nth).boundingBox();
    return box !== null && box.y + Math.min(box.height, 20) <= (page.viewportSize()?.height ?? 0) - 40;
  };
  const wide = await openPage(browser, server, { fragment: fragment({ f: 'shop.barrow' }) });
  await settled(wide, 'series');
  await complete(wide);
  for (const [what, nth] of /** @type {[string, number][]} */ ([['.suspect', 0], ['.suspect', 1], ['[data-section="growth"] tbody tr', 0]])) assert.ok(await isSeen(wide, what, nth), `${what} ${nth}`);
  // Others are shown by a link, and the focus goes to the first of them.
  const cards = wide.locator('.suspect:visible');
  assert.equal(await cards.count(), 2);
  await wide.locator('.more-suspects a').press('Enter');
  await wide.waitForFunction(() => document.querySelectorAll('.suspect:nth-of-type(3) a:focus').length === 1);
  assert.equal(await wide.locator('#line').inputValue(), 'leaks');
  assert.equal(await cards.count(), answered(LEAK, 'leaks').suspects.length);
  await leave(wide);
  for (const [q, what] of [['summary all', '.suspect'], ['leaks', '.suspect'], ['growth', '[data-section="growth"] tbody tr'], ['leaks 0..7', '[data-section="leaking"] tbody tr']]) {
    const page = await openPage(browser, server, { width: 390, height: 844, fragment: fragment({ f: 'storefront.barrow', q }) });
    await settled(page, 'series');
    await complete(page);
    assert.ok(await isSeen(page, what), `${q}: ${what}`);
    const section = page.locator(':is([data-section="growth"], [data-section="leaking"]):visible').first();
    const top = async (/** @type {string} */ cell) => (await section.locator(`tbody tr:first-child td[data-column=${cell}]`).boundingBox())?.y ?? NaN;
    assert.ok(await top('slope_bytes') < await top('shown_path'), 'the change is first');
    assert.ok(await section.locator('.table-scroll').evaluate((one) => one.scrollWidth <= one.clientWidth), 'nothing scrolls sideways');
    await accessible(page, `${q}, narrow`);
    await fits(page, q);
    await leave(page);
  }
  const one = await openPage(browser, server, { fragment: fragment({ f: 'one.barrow', q: 'leaks' }) });
  await settled(one, 'series');
  await complete(one);
  const shown = await one.locator('.section:visible').evaluateAll((all) => all.map((section) => section.getAttribute('data-section')));
  assert.deepEqual(shown, ['leaks', 'snapshots', 'growth']);
  await leave(one);
});

test('suspects come first, with the roots and fields that hold them; growth is there once', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ f: 'storefront.barrow' }) });
  await settled(page, 'series');
  await complete(page);
  const shown = await page.locator('.section:visible').evaluateAll((all) => all.map((one) => one.getAttribute('data-section')));
  assert.deepEqual(shown, ['leaks', 'growth', 'snapshots']);
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

test('the curve of survival has axes', async () => {
  const page = await openPage(browser, server, { width: 390, height: 844, fragment: fragment({ f: 'shop.barrow', q: 'survival all' }) });
  await settled(page, 'answer');
  const { rows } = answered(LEAK, 'survival all');
  const most = Math.max(...rows.map((/** @type {any} */ row) => row.surviving));
  assert.deepEqual(await page.locator('figure svg text').allTextContents(), [`${(100 * most).toFixed(1)} %`, '0.0 %', `${rows.length} snapshots`]);
  await fits(page, 'survival');
  await leave(page);
});
