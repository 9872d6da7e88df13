// Processes over time: from the first page to a process, by mouse and by keys; brush, zoom and tables; heaps beside them.

import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { answered, serve } from '../harness/binary.mjs';
import { accessible, ask, complete, copied, fits, fragment, goTo, launch, leave, lineOf, openPage, quiet, settled, watchOf } from '../harness/browser.mjs';
import { BOTH, BUILD, LEAK, ONE, scratch } from '../harness/fixtures.mjs';

/** @type {Record<string, import('../harness/binary.mjs').Server>} */
const servers = {};
/** @type {import('playwright-core').Browser} */
let browser;

before(async () => {
  [servers.build, servers.both, servers.leak] = await Promise.all([serve([BUILD]), serve([BOTH]), serve([LEAK])]);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await Promise.all(Object.values(servers).map((server) => server.stop()));
});

/** @param {import('playwright-core').Page} page */
function fieldsOf(page) {
  return Object.fromEntries(new URLSearchParams(new URL(page.url()).hash.slice(1)));
}

/** The range of a brush in seconds. @param {import('playwright-core').Page} page */
function brushOf(page) {
  return (fieldsOf(page).t ?? '').split('..').map(parseFloat);
}

test('a recording of processes opens with its lanes, and no view of heaps', async () => {
  const page = await openPage(browser, servers.build);
  await settled(page, 'lanes');
  await complete(page);
  assert.equal(await lineOf(page), 'lanes');
  assert.deepEqual(await page.locator('#head nav.tabs > a').allInnerTexts(), ['Processes', 'Summary', 'Classes', 'Tree', 'List']);
  const told = answered(BUILD, 'lanes --cells 1256');
  assert.ok(await page.locator('.lanes .block').count() >= told.classes.length);
  // The blocks of each colour are as wide as the class ran.
  const legend = await page.locator('.lane-legend li').allInnerTexts();
  assert.deepEqual(legend.map((text) => text.split(/\s/)[0]), told.classes.map((/** @type {any} */ one) => one.class));
  const [area, whole] = await page.evaluate(() => {
    const boxes = (/** @type {string} */ selector) => [...document.querySelectorAll(selector)].map((one) => /** @type {SVGGraphicsElement} */ (one).getBBox());
    const sum = (/** @type {DOMRect[]} */ all) => all.reduce((one, box) => one + box.width * box.height, 0);
    return [sum(boxes('.lanes .block.kind-1:not(.path)')), sum(boxes('.lanes .block:not(.path)'))];
  });
  assert.ok(Math.abs(area / whole - told.classes[0].running_share) < 0.03, `${area / whole}`);
  for (const tab of await page.locator('#head nav.tabs > a').all()) {
    await tab.click();
    await quiet(page);
    assert.equal(await page.locator('main .error').count(), 0, await tab.innerText());
    assert.equal(await tab.getAttribute('aria-current'), 'page');
  }
  await page.keyboard.press('g');
  await page.keyboard.press('p');
  await settled(page, 'lanes');
  await page.locator('#head details.menu summary', { hasText: 'More' }).click();
  const items = await page.locator('#head details.menu[open] .items a').allInnerTexts();
  assert.ok(items.some((item) => item.startsWith('find')) && !items.some((item) => /^(roots|threads|dups|dominators)\b/.test(item)), `${items}`);
  await leave(page);
});

test('an explanation appears with the focus, and goes with it', async () => {
  const page = await openPage(browser, servers.build, { fragment: fragment({ q: 'lanes' }) });
  await settled(page, 'lanes');
  await complete(page);
  const explained = page.locator('.explained').first();
  const shown = () => explained.evaluate((element) => getComputedStyle(element, '::after').content);
  assert.equal(await shown(), 'none');
  await explained.focus();
  assert.match(await shown(), /running is the time in lanes/);
  await page.locator('#line').focus();
  assert.equal(await shown(), 'none');
  await explained.hover();
  assert.match(await shown(), /running is the time in lanes/);
  await leave(page);
});

test('a drag brushes, and the tables follow', async () => {
  const page = await openPage(browser, servers.build, { fragment: fragment({ q: 'lanes' }) });
  await settled(page, 'lanes');
  await complete(page);
  const box = await page.locator('.lanes').boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width * 0.3, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 30, { steps: 4 });
  await page.mouse.up();
  await complete(page);
  const [from, to] = brushOf(page);
  assert.ok(from > 0.3 && from < 0.5 && to > 0.55 && to < 0.8, fieldsOf(page).t);
  assert.equal(await page.locator('.lanes rect.brush').count(), 1);
  assert.match(await page.locator('.strip').innerText(), /brush 0\.\d+s\.\.0\.\d+s/);
  const told = answered(BUILD, `lanes ${fieldsOf(page).t} --cells 1`);
  const rows = await page.locator('[data-section="classes"] tbody tr').allInnerTexts();
  assert.equal(rows.length, told.classes.length);
  told.classes.forEach((/** @type {any} */ one, /** @type {number} */ at) => {
    assert.ok(rows[at].includes(one.class) && rows[at].includes(String(one.images)), rows[at]);
    assert.match(rows[at], /~[\d.]+ (s|ms|µs)/, 'processor time in a part is an estimate');
  });
  const processes = answered(BUILD, `processes 100 began < ${to}s and not ended <= ${from}s`);
  assert.ok(await page.locator('[data-section="processes"] tbody tr').count() === Math.min(10, processes.rows.length));
  assert.match(await page.locator('[data-section="processes"]').innerText(), /each figure is of the whole process/);

  // Zoom, and back.
  await page.getByRole('link', { name: 'zoom to the brush' }).click();
  await settled(page, 'lanes');
  await complete(page);
  assert.equal(await lineOf(page), `lanes ${from}s..${to}s`);
  assert.equal(fieldsOf(page).t, undefined);
  assert.match(await copied(page, 'shell'), /-e 'lanes 0\.\d+s\.\.0\.\d+s'/);
  await page.getByRole('link', { name: 'the whole time' }).click();
  await settled(page, 'lanes');
  assert.equal(await lineOf(page), 'lanes');
  await page.goBack();
  await settled(page, 'lanes');
  assert.equal(await lineOf(page), `lanes ${from}s..${to}s`);
  await leave(page);
});

test('keys do all of it', async () => {
  const page = await openPage(browser, servers.build, { fragment: fragment({ q: 'lanes' }) });
  await settled(page, 'lanes');
  await complete(page);
  await page.locator('.lanes').focus();
  const told = () => page.locator('.lanes').getAttribute('aria-valuetext');
  const first = await told();
  await page.keyboard.press('ArrowRight');
  assert.notEqual(await told(), first);
  assert.match(await told() ?? '', /lane 0/);
  await page.keyboard.press('ArrowDown');
  assert.match(await told() ?? '', /lane 1/);
  await page.keyboard.press('End');
  await page.keyboard.press('Home');
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('Shift+ArrowRight');
  await complete(page);
  const [from, to] = brushOf(page);
  assert.ok(from < to, fieldsOf(page).t);
  assert.match(await told() ?? '', /; brush /);
  await accessible(page, 'lanes with a brush');
  await page.keyboard.press('Delete');
  assert.equal(fieldsOf(page).t, undefined);
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('z');
  await settled(page, 'lanes');
  await complete(page);
  assert.match(await lineOf(page), /^lanes 0\.\d+s\.\.0\.\d+s$/);

  // A block leads to its process, and that to those before it.
  await page.locator('.lanes').focus();
  await page.keyboard.press('Home');
  for (let at = 0; at < 20 && !/^cc1/.test(await told() ?? ''); at += 1) await page.keyboard.press('ArrowRight');
  const name = await page.locator('.lane-told a').innerText();
  await page.keyboard.press('Enter');
  await settled(page, 'answer');
  assert.equal(await lineOf(page), `info ${name}`);
  const { ancestors } = answered(BUILD, `info ${name}`);
  assert.ok(ancestors.length >= 2);
  await page.getByRole('link', { name: ancestors[0].process, exact: true }).first().click();
  await settled(page, 'answer');
  assert.equal(await lineOf(page), `info ${ancestors[0].process}`);
  await leave(page);
});

test('a click opens a block', async () => {
  const page = await openPage(browser, servers.build, { fragment: fragment({ q: 'lanes' }) });
  await settled(page, 'lanes');
  await complete(page);
  const block = page.locator('.lanes .block.kind-2').last();
  const box = await block.boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const words = await page.locator('.lane-told').innerText();
  assert.match(words, /^ld\b.*linker, .* to .*, ran .*lane 0/);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await settled(page, 'answer');
  assert.match(await lineOf(page), /^info \d+:0$/);
  assert.match(await page.locator('main').innerText(), /linker/);
  await leave(page);
});

test('the critical path is marked, and listed', async () => {
  const page = await openPage(browser, servers.build, { fragment: fragment({ q: 'lanes' }) });
  await settled(page, 'lanes');
  await complete(page);
  const chain = answered(BUILD, 'critical');
  // Its line is as long as it takes, and so are the marks in the lanes.
  const [path, marks, all] = await page.evaluate(() => {
    const sum = (/** @type {string} */ selector) => [...document.querySelectorAll(selector)].reduce((one, element) => one + /** @type {SVGGraphicsElement} */ (element).getBBox().width, 0);
    return [sum('.lanes .path'), sum('.lanes .critical'), /** @type {SVGGraphicsElement} */ (document.querySelector('.lanes svg')).getBBox().width - 82];
  });
  const told = answered(BUILD, 'lanes');
  const share = chain.wall_ns / (told.to_ns - told.from_ns);
  assert.ok(Math.abs(path / all - share) < 0.05 && Math.abs(marks / all - share) < 0.1, `${path} ${marks} of ${all}, ${share}`);
  const rows = await page.locator('[data-section="critical"] table').nth(1).locator('tbody tr').allInnerTexts();
  const least = chain.rows.filter((/** @type {any} */ row) => row.wall_ns >= chain.wall_ns / 100);
  assert.equal(rows.length, least.length);
  least.forEach((/** @type {any} */ row, /** @type {number} */ at) => assert.ok(rows[at].startsWith(row.process), rows[at]));
  await page.locator('.lanes').focus();
  await page.keyboard.press('ArrowUp');
  assert.match(await page.locator('.lanes').getAttribute('aria-valuetext') ?? '', /the critical path/);
  await leave(page);
});

test('a slider predicts other numbers of slots', async () => {
  const page = await openPage(browser, servers.build, { fragment: fragment({ q: 'lanes' }) });
  await settled(page, 'lanes');
  await complete(page);
  const section = page.locator('[data-section="what-if"]');
  const slider = page.locator('#slots');
  const told = answered(BUILD, 'what-if');
  assert.equal(await slider.inputValue(), String(told.recorded_slots));
  for (const slots of [1, 2, 8]) {
    await slider.fill(String(slots));
    await page.waitForFunction((j) => new URLSearchParams(location.hash.slice(1)).get('j') === j, String(slots));
    await complete(page);
    const { wall_ns: wall, recorded_wall_ns: recorded } = answered(BUILD, `what-if -j ${slots}`);
    const words = await section.innerText();
    const seconds = (/** @type {number} */ ns) => `${(ns / 1e9).toFixed(2)} s`;
    assert.match(words, new RegExp(`predicted, -j ${slots}\\s+~${seconds(wall)}\\s+~`), words);
    assert.match(words, new RegExp(`recorded, -j ${told.recorded_slots}\\s+${seconds(recorded)}`), words);
    assert.ok(await page.locator('.lanes .block').count() > 0);
  }
  await slider.focus();
  await page.keyboard.press('ArrowLeft');
  await page.waitForFunction(() => new URLSearchParams(location.hash.slice(1)).get('j') === '7');
  await page.goto(page.url());
  await settled(page, 'lanes');
  await complete(page);
  assert.match(await section.innerText(), /predicted, -j 7/);
  await accessible(page, 'the slider');
  await leave(page);
});

test('a heap and processes are shown side by side, and names are texts', async () => {
  const page = await openPage(browser, servers.both);
  await settled(page, 'series', ['ready', 'empty']);
  assert.deepEqual(await page.locator('#head nav.tabs > a').allInnerTexts(), ['Processes', 'Series', 'Types', 'Tree & map', 'Flame graph', 'Object']);
  await page.locator('#head nav.tabs > a').first().click();
  await settled(page, 'lanes');
  await complete(page);
  await page.locator('.lanes').focus();
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'End', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowDown']) {
    await page.keyboard.press(key);
    assert.equal(await page.locator('main img, main script, main svg[onload]').count(), 0);
  }
  const raw = await page.evaluate(() => [...document.body.innerText.matchAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u202a-\u202e\u2066-\u2069]/g)].length);
  assert.equal(raw, 0);
  await accessible(page, 'hostile processes');
  await fits(page, 'hostile processes');
  await page.keyboard.press('Enter');
  await settled(page, 'answer');
  assert.match(await lineOf(page), /^info "/);
  assert.equal(await page.locator('main .error').count(), 0);
  const name = await page.locator('tbody a.object').first().innerText();
  await page.locator('tbody a.object').first().click();
  await settled(page, 'answer');
  assert.ok((await page.locator('main').innerText()).includes(name));
  await goTo(page, { q: 'find 5 cpu > 0' });
  await settled(page, 'answer');
  await goTo(page, { q: 'histogram' });
  await settled(page, 'types');
  await leave(page);
});

test('a process that recorded its heap leads to it', async (one) => {
  const mine = await serve([BOTH, ONE]);
  one.after(() => mine.stop());
  const page = await openPage(browser, mine, { fragment: fragment({ f: 'both.barrow', q: 'find 1 arguments ~ "make*"' }) });
  await settled(page, 'answer');
  await page.locator('tbody a.object').first().click();
  await settled(page, 'answer');
  await page.getByRole('link', { name: 'one.barrow', exact: true }).last().click();
  await settled(page, 'series', ['ready', 'empty']);
  assert.equal(fieldsOf(page).f, 'one.barrow');
  await leave(page);
});

test('a recording that ends opens with its lanes', async (one) => {
  const file = join(scratch(one), 'now.barrow');
  const whole = readFileSync(BUILD);
  writeFileSync(file, whole.subarray(0, whole.length - 1000));
  const mine = await serve([file]);
  one.after(() => mine.stop());
  const page = await openPage(browser, mine);
  await page.locator('main .error', { hasText: 'when their recording has ended' }).first().waitFor();
  appendFileSync(file, whole.subarray(whole.length - 1000));
  await settled(page, 'lanes');
  assert.equal(await lineOf(page), 'lanes');
  await complete(page);
  await leave(page, [422]);
});

test('a table that shows depths is sorted, unless its rows are a tree', async () => {
  const page = await openPage(browser, servers.build, { fragment: fragment({ q: 'list processes of depth' }) });
  await settled(page, 'answer');
  const cells = async () => (await page.locator('.view tbody tr td:last-child').allInnerTexts()).map(Number);
  await page.getByRole('button', { name: 'depth', exact: true }).click();
  const sorted = await cells();
  assert.deepEqual(sorted, sorted.toSorted((one, other) => other - one));
  assert.ok(new Set(sorted).size > 1, `${sorted}`);
  await leave(page);
});

test('a recording of a heap says that it holds no processes', async () => {
  const page = await openPage(browser, servers.leak, { fragment: fragment({ q: 'summary all' }) });
  await settled(page, 'series');
  assert.ok(!(await page.locator('#head nav.tabs > a').allInnerTexts()).includes('Processes'));
  await ask(page, 'lanes');
  await settled(page, 'lanes', ['error']);
  assert.match(await page.locator('.view[data-view="lanes"] .error').innerText(), /holds no processes/);
  assert.equal(await page.locator('.view[data-view="lanes"] .section:visible').count(), 1);
  await leave(page, [400]);
});

test('bad ranges are sentences, and the last lanes stay', async () => {
  const page = await openPage(browser, servers.build, { fragment: fragment({ q: 'lanes', t: 'x..y' }) });
  await settled(page, 'lanes');
  await complete(page);
  for (const line of ['lanes 5s..1s', 'lanes 1..2', 'lanes nothing', 'lanes 1s..2s 3s..4s']) {
    await ask(page, line);
    await settled(page, 'lanes', ['error']);
    await complete(page);
    assert.ok(await page.locator('.lanes .block').count() > 0, line);
  }
  await ask(page, 'lanes 99s..100s');
  await settled(page, 'lanes', ['empty']);
  await ask(page, 'lanes');
  await settled(page, 'lanes');
  assert.ok(watchOf(page).requests.length > 0);
  await leave(page, [400]);
});
