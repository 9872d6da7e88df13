// Paths: merged ones with their chains as one row, long ones with both ends; sets that are combined by clicks and by keys.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { answered, serve } from '../harness/binary.mjs';
import { accessible, complete, fits, fragment, goTo, launch, leave, lineOf, openPage, quiet, settled } from '../harness/browser.mjs';
import { BUILD, STOREFRONT } from '../harness/fixtures.mjs';
import { heapSnapshot } from '../harness/v8.mjs';

const folder = mkdtempSync(join(tmpdir(), 'barrow-paths-'));
const LISTS = join(folder, 'lists.heapsnapshot');
/** Nodes that each hold an item; steps of a path of which each has another type, one of which is longer than what is loaded at once. */
const [NODES, STEPS, FAR] = [150, 900, 2500];
/** Steps that a click shows at most. */
const AT_ONCE = 500;

/** @type {import('../harness/binary.mjs').Server} */
let server;
/** @type {import('playwright-core').Browser} */
let browser;
before(async () => {
  writeFileSync(LISTS, listsDump());
  server = await serve([LISTS, STOREFRONT, BUILD, '--no-index']);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
  rmSync(folder, { recursive: true });
});

/** A dump of V8: a list whose nodes each hold an item with a part, and two paths without a repetition. */
function listsDump() {
  const strings = ['', 'Node', 'Item', 'Part', 'next', 'item', 'part', 'list', 'long', 'far'];
  /** @type {import('../harness/v8.mjs').Node[]} */
  const all = [];
  const add = (/** @type {number} */ name) => all.push({ type: name === 0 ? 9 : 3, name, size: 32, to: [] }) - 1;
  const root = add(0);
  let [above, label] = [root, 7];
  for (let at = 0; at < NODES; at += 1) {
    const [node, item, part] = [add(1), add(2), add(3)];
    all[above].to.push([2, label, node]);
    all[node].to.push([2, 5, item]);
    all[item].to.push([2, 6, part]);
    [above, label] = [node, 4];
  }
  for (const [first, steps, name] of [[8, STEPS, 'Step'], [9, FAR, 'Far']]) {
    [above, label] = [root, Number(first)];
    for (let at = 0; at < Number(steps); at += 1) {
      const one = add(strings.push(`${name}${at}`) - 1);
      all[above].to.push([2, label, one]);
      [above, label] = [one, 4];
    }
  }
  return heapSnapshot(all, strings);
}

/** The object of the last step of a path. @param {string} type */
function lastOf(type) {
  return answered(LISTS, `find type = "${type}"`).rows[0].object;
}

const row = '.view:not(.last-good) tbody tr';

test('merged paths fold a list whose nodes hold something, and a flame graph of them leads back', async () => {
  for (const look of [{}, { width: 390, height: 844 }, { dark: true }]) {
    const page = await openPage(browser, server, { ...look, fragment: fragment({ f: 'lists.heapsnapshot', q: 'paths type = "Part"' }) });
    await settled(page, 'answer');
    await quiet(page);
    const told = answered(LISTS, 'paths type = "Part"').rows;
    assert.ok(told.length > 2 * NODES, `${told.length} rows`);
    assert.ok(await page.locator(row).count() < 10, `${await page.locator(row).count()} rows`);
    const chain = page.locator(row, { hasText: `Node × ${NODES}` });
    assert.equal(await chain.locator('[data-column="through"]').innerText(), String(NODES));
    for (const name of ['Item', 'Part']) {
      const merged = page.locator(row, { hasText: name }).first();
      assert.equal(await merged.locator('[data-column="objects"]').innerText(), String(NODES), name);
    }
    assert.equal(await page.locator(row, { hasText: 'Part' }).first().locator('[data-column="members"]').innerText(), String(NODES));
    await accessible(page, 'merged paths');
    await fits(page, 'merged paths');
    await chain.getByRole('button', { name: 'show each' }).press('Enter');
    assert.ok(await page.locator(row).count() >= 200 && await page.getByRole('button', { name: 'show each' }).count() === 0);
    assert.ok(await page.evaluate(() => document.activeElement?.matches('td a') && document.activeElement.textContent === 'Node'), 'the first of them has the focus');
    await page.locator('.view').getByRole('link', { name: 'flame graph' }).click();
    await settled(page, 'flame');
    await complete(page);
    assert.equal(await lineOf(page), 'paths type = "Part"');
    await page.getByRole('link', { name: 'as a table' }).click();
    await settled(page, 'answer');
    assert.equal(await lineOf(page), 'paths type = "Part"');
    await chain.waitFor();
    await leave(page);
  }
});

test('a path of many steps keeps both ends, and its middle comes in parts', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ f: 'lists.heapsnapshot', q: `path @${lastOf(`Step${STEPS - 1}`)}` }) });
  await settled(page, 'answer');
  await quiet(page);
  const types = () => page.locator(row).locator('td:nth-child(5)').allInnerTexts();
  const first = await types();
  assert.ok(first.length === 80 && first.includes('Step0') && first.at(-1) === `Step${STEPS - 1}`, first.join());
  const more = page.getByRole('button', { name: /^show [\d,]+ more steps$/ });
  await more.press('Enter');
  assert.equal((await types()).length, 80 + AT_ONCE);
  assert.ok(await page.evaluate(() => document.activeElement?.matches('td a')));
  await more.click();
  assert.deepEqual((await types()).slice(1), Array.from({ length: STEPS }, (_, at) => `Step${at}`));
  // A longer one than an answer holds has its end, too.
  await goTo(page, { f: 'lists.heapsnapshot', q: `path @${lastOf(`Far${FAR - 1}`)}` });
  await page.locator(row, { hasText: `Far${FAR - 1}` }).waitFor();
  assert.match((await page.locator('.hidden-hops').allInnerTexts()).join(), /show 960 more steps.*1,461 more steps/s);
  assert.equal(await page.locator(row, { hasText: `Far${FAR - 1}` }).locator('td').first().innerText(), String(FAR + 1));
  // So it is where an object is shown.
  await goTo(page, { f: 'lists.heapsnapshot', q: `info @${lastOf(`Step${STEPS - 1}`)}` });
  await settled(page, 'object');
  await complete(page);
  const hops = page.locator('[data-section="path"] li');
  assert.equal(await hops.count(), 81);
  await page.locator('[data-section="path"]').getByRole('button', { name: /more steps/ }).click();
  assert.equal(await hops.count(), 81 + AT_ONCE);
  await leave(page);
});

test('a path of types of thousands of steps is shown some hundred at a time', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ f: 'lists.heapsnapshot', q: 'summary' }) });
  await settled(page, 'series');
  const told = await page.evaluate(async () => {
    const { pathNode } = await import(new URL('cell.js', document.baseURI).href);
    const steps = Array.from({ length: 5000 }, (_, at) => `Type${at}`);
    const path = pathNode(steps);
    document.body.append(path);
    const text = path.innerText;
    const counts = [];
    for (let button = path.querySelector('button'); button; button = path.querySelector('button')) {
      button.click();
      counts.push(path.querySelectorAll('.step').length);
    }
    return { text, counts, isWhole: path.textContent === steps.join(' › ') };
  });
  assert.equal(told.text, 'Type0 › Type1 › … 4,994 more steps … › Type4996 › Type4997 › Type4998 › Type4999');
  assert.deepEqual(told.counts, [506, 1006, 1506, 2006, 2506, 3006, 3506, 4006, 4506, 5000]);
  assert.ok(told.isWhole, 'each step is there once, in order');
  await leave(page);
});

const sets = '[data-banner="sets"]';
const LETS = ['$a = type = "Storefront$Session"', '$b = retained > 1000'];

test('two sets make a third one by clicks and by keys, in every look', async () => {
  for (const look of [{}, { width: 390, height: 844 }, { dark: true }]) {
    const page = await openPage(browser, server, { ...look, fragment: fragment({ f: 'storefront.barrow', q: 'find 5 size > 1K', let: LETS }) });
    await settled(page, 'answer');
    for (const [name, word] of [['$c', 'and'], ['$d', 'or'], ['$e', 'and not']]) {
      const summary = page.locator(sets).locator('summary', { hasText: /^\$a$/ });
      const item = page.locator(`${sets} .items a`, { hasText: `${name} = $a ${word} $b` });
      await quiet(page);
      if (word === 'and') {
        await summary.click();
        await accessible(page, 'the menu of a set');
        await fits(page, 'the menu of a set');
        // Columns and keys are chosen afterwards.
        const lines = (await page.locator(`${sets} .items a code`).allTextContents()).filter((line) => !/\$c|^(list|group) /.test(line));
        assert.ok(lines.some((line) => line.startsWith('inrefs $')) && lines.some((line) => line.startsWith('paths $')));
        assert.deepEqual(lines.flatMap((line) => answered(STOREFRONT, ...LETS.map((set) => `let ${set}`), line).error ?? []), []);
        await item.click();
      } else {
        await summary.press('Enter');
        await item.press('Enter');
      }
      await page.waitForFunction((line) => /** @type {HTMLInputElement} */ (document.getElementById('line')).value === line, `find 100 ${name} by retained`);
      await quiet(page);
      const found = await page.locator('.view:not(.last-good) tbody td.object a').allTextContents();
      const { rows } = answered(STOREFRONT, ...LETS.map((set) => `let ${set}`), `find 100 $a ${word} $b by retained`);
      assert.ok(rows.length > 0, word);
      assert.deepEqual(found.map((text) => Number(text.slice(1))), rows.map((/** @type {any} */ one) => one.object));
      assert.equal(await page.locator(`${sets} details[open]`).count(), 0);
    }
    await page.keyboard.press('Escape');
    await leave(page);
  }
});

test('a set that goes leaves what was made of it, and the question stays one about sets', async () => {
  const made = [...LETS, '$c = $a and not $b', '$d = objects size > 1K', '$e = $d or $c'];
  const page = await openPage(browser, server, { fragment: fragment({ f: 'storefront.barrow', q: 'count $c', let: made }) });
  await settled(page, 'answer');
  const count = () => page.locator('.view:not(.last-good) .facts').innerText();
  const before = await count();
  await page.getByRole('link', { name: `remove: ${LETS[0]}` }).click();
  const lets = () => new URLSearchParams(new URL(page.url()).hash.slice(1)).getAll('let');
  assert.deepEqual(lets(), [LETS[1], '$c = (type = "Storefront$Session") and not $b', ...made.slice(3)]);
  await quiet(page);
  assert.equal(await count(), before);
  // What begins with a kind is no part of an expression.
  await page.getByRole('link', { name: 'remove: $d' }).click();
  assert.deepEqual(lets(), [LETS[1], '$c = (type = "Storefront$Session") and not $b']);
  await page.locator(sets).locator('summary', { hasText: '$c' }).click();
  await page.locator(`${sets} .items a`, { hasText: '$c or $b' }).click();
  await page.waitForFunction(() => /q=count\+%24a/.test(location.hash));
  // Sets of processes are combined, too.
  await goTo(page, { f: 'build.barrow', q: 'find cpu > 0', let: ['$a = cpu > 0.1s', '$b = class = "compiler"'] });
  await quiet(page);
  await page.locator(sets).locator('summary').first().click();
  await page.locator(`${sets} .items a`, { hasText: '$a and not $b' }).click();
  await page.waitForFunction(() => /** @type {HTMLInputElement} */ (document.getElementById('line')).value === 'find $c');
  await quiet(page);
  assert.equal(await page.locator('main .error').count(), 0);
  await leave(page);
});
