// Files: those that cannot be read, dumps that are imported, recordings that grow, are replaced, damaged or cut.

import assert from 'node:assert/strict';
import { copyFileSync, cpSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { answered, barrow, lastOf, serve, shell } from '../harness/binary.mjs';
import { accessible, ask, clipboard, complete, copied, fragment, goTo, launch, leave, lineOf, openPage, quiet, settled } from '../harness/browser.mjs';
import { BAD, CUT, DAMAGED, DUMP, DUMPS, EMPTY, FOLDER, LEAK, NOTHING, ONE, RAKU, growing, scratch } from '../harness/fixtures.mjs';

/** @type {import('playwright-core').Browser} */
let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

/** @param {string[]} words @param {{after: (end: () => Promise<void>) => void}} one */
async function served(words, one) {
  const server = await serve(words);
  one.after(() => server.stop());
  return server;
}

test('what cannot be read ends before it is served, with a sentence', () => {
  for (const name of [...Object.keys(BAD).filter((one) => /barrow$/.test(one)), 'nowhere.barrow']) {
    const { code, out, err } = barrow(['serve', join(FOLDER, 'bad', name)]);
    assert.equal(code, 3, `${name}: ${out}${err}`);
    assert.equal(out, '', name);
    assert.ok(err.includes(name) && err.length > 40, `${name}: ${err}`);
  }
});

test('a folder with bad files says what is wrong with each', async (one) => {
  const folder = scratch(one);
  for (const name of Object.keys(BAD)) copyFileSync(join(FOLDER, 'bad', name), join(folder, name));
  copyFileSync(ONE, join(folder, 'one.barrow'));
  const server = await served([folder], one);
  const page = await openPage(browser, server);
  await settled(page, 'files');
  const { files } = await (await server.get('/api/files')).json();
  assert.ok(files.some((/** @type {any} */ file) => file.state === 'unreadable'), 'some cannot be read');
  for (const file of files) {
    const row = page.locator('.view tbody tr', { hasText: file.name });
    assert.equal(await row.count(), 1, file.name);
    if (file.problem) assert.ok((await row.innerText()).includes(file.problem.slice(0, 40)), file.name);
  }
  await page.getByRole('link', { name: 'one.barrow' }).click();
  await settled(page, 'series');
  await quiet(page);

  // A dump that is none.
  await goTo(page, {});
  await settled(page, 'files');
  const dump = page.locator('.view tbody tr[data-file-state="dump"]').first();
  if (await dump.count() > 0) {
    const name = await dump.locator('a').innerText();
    await dump.getByRole('button', { name: 'import' }).click();
    await page.locator('.view tbody tr', { hasText: name }).locator('.error, .warning').first().waitFor();
  }
  await leave(page, [400, 409]);
});

test('a dump of a folder is imported on a click; the folder stays as it is', async (one) => {
  const folder = scratch(one);
  copyFileSync(DUMP, join(folder, 'app.hprof.zst'));
  copyFileSync(ONE, join(folder, 'one.barrow'));
  process.env.XDG_CACHE_HOME = join(scratch(one), 'cache');
  const server = await served([folder], one);
  const page = await openPage(browser, server);
  await settled(page, 'files');
  await page.getByRole('button', { name: 'import' }).press('Enter');
  await page.locator('.view tbody tr[data-file-state="ready"]', { hasText: 'app.hprof.zst' }).waitFor();
  // The focus is at the file that was imported.
  await page.locator('a:focus', { hasText: 'app.hprof.zst' }).press('Enter');
  await settled(page, 'series');
  await quiet(page);
  await ask(page, 'top 3');
  await settled(page, 'types');
  assert.match(await page.locator('.view').innerText(), /java\.lang|byte\[\]/);
  assert.deepEqual(readdirSync(folder).filter((name) => !name.endsWith('.index')).sort(), ['app.hprof.zst', 'one.barrow']);
  await leave(page);
});

test('dumps of a folder become a series by a click, in the order of their numbers', async (one) => {
  const folder = scratch(one);
  mkdirSync(join(folder, 'run'));
  // The names as a shell orders them are another order.
  const names = { 'shop-1.pyheap': 'shop-2', 'shop-4.pyheap': 'shop-9', 'shop-8.pyheap': 'shop-10' };
  for (const [from, to] of Object.entries(names)) copyFileSync(join(DUMPS, from), join(folder, 'run', `${to}.pyheap`));
  process.env.XDG_CACHE_HOME = join(scratch(one), 'cache');
  const server = await served([folder], one);
  const page = await openPage(browser, server);
  await settled(page, 'files');
  await accessible(page, 'files with a series');
  const row = page.locator('.view tbody tr', { hasText: 'run/shop-*.pyheap' });
  assert.match(await row.innerText(), /3 dumps/);
  await row.getByRole('button', { name: 'open as a series' }).click();
  await settled(page, 'series');
  await complete(page);
  await page.locator('#head', { hasText: '3 snapshots' }).waitFor();
  // What the command line makes of them, in the order of the run.
  const imported = join(scratch(one), 'series.barrow');
  barrow(['import', ...Object.keys(names).map((name) => join(DUMPS, name)), '-o', imported]);
  const told = answered(imported, 'snapshots').snapshots;
  const { answer } = JSON.parse((await (await server.get(`/api/ask?f=3&q=snapshots`)).text()).trim().split('\n').at(-1) ?? '');
  const table = answer.tables.at(-1);
  const column = (/** @type {string} */ key) => table.rows.map((/** @type {any[]} */ cells) => cells[table.columns.findIndex((/** @type {any} */ one) => one.key === key)].value);
  assert.equal(told.length, 3);
  for (const key of ['objects', 'snapshot']) assert.deepEqual(column(key), told.map((/** @type {any} */ row) => row[key]), key);
  assert.deepEqual(readdirSync(join(folder, 'run')).sort(), ['shop-10.pyheap', 'shop-2.pyheap', 'shop-9.pyheap']);
  // What is copied runs in a shell, which lists the dumps.
  const series = join(scratch(one), 'copied');
  cpSync(folder, series, { recursive: true });
  await ask(page, 'growth');
  await complete(page);
  assert.match(await page.locator('[data-section="growth"]').getByRole('button', { name: 'copy assert' }).first().getAttribute('title') ?? '', /^barrow import \S+\/run\/shop/);
  await page.locator('.suspect').getByRole('button', { name: 'copy assert' }).first().click();
  const assertion = await clipboard(page);
  const opened = `barrow import ${folder}/run/shop-*.pyheap -o shop.barrow`;
  assert.ok(assertion.startsWith(`${opened} && barrow assert shop.barrow 'no leaks except`), assertion);
  const judged = shell(assertion, series);
  assert.equal(judged.code, 1, judged.err);
  assert.equal(answered(join(series, 'shop.barrow'), 'snapshots').snapshots.length, 3);
  const lines = [await copied(page, 'shell'), await copied(page, 'serve')];
  assert.deepEqual(lines, ['barrow', 'barrow serve'].map((verb, at) => `${opened} && ${verb} shop.barrow ${['-e', '--at'][at]} growth`));
  rmSync(join(series, 'shop.barrow'));
  const ran = shell(`${lines[0]} --format json`, series);
  assert.deepEqual(lastOf(ran.out).snapshots, [0, 1, 2], ran.err);
  // It is there again with its address, without an import.
  await page.reload();
  await settled(page, 'series');
  await complete(page);

  // A dump that is added later is one of it once it is opened again.
  copyFileSync(join(DUMPS, 'shop-3.pyheap'), join(folder, 'run', 'shop-3.pyheap'));
  await page.locator('[data-banner="replaced"]', { hasText: 'series' }).getByRole('button').click();
  await settled(page, 'files');
  await page.locator('.view tbody tr', { hasText: '4 dumps' }).getByRole('button', { name: 'open as a series' }).click();
  await page.locator('#head', { hasText: '4 snapshots' }).waitFor();
  await leave(page, [409]);
});

test('while a series is imported its totals are there, its progress does not pass the end, and it stops', async (one) => {
  const folder = scratch(one);
  for (let at = 1; at <= 48; at += 1) copyFileSync(join(DUMPS, `shop-${(at % 8) + 1}.pyheap`), join(folder, `shop-${at}.pyheap`));
  process.env.XDG_CACHE_HOME = join(scratch(one), 'cache');
  const server = await served([folder], one);
  const page = await openPage(browser, server);
  await settled(page, 'files');
  const row = page.locator('.view tbody tr', { hasText: 'shop-*.pyheap' });
  await page.evaluate(() => {
    /** @type {any} */ (window).told = [];
    new MutationObserver(() => {
      const text = document.querySelector('.view .progress .phase')?.textContent;
      if (text) /** @type {any} */ (window).told.push(text);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await row.getByRole('button', { name: 'open as a series' }).click();
  const early = page.locator('[data-section="early"]').first();
  await early.waitFor();
  assert.equal(await early.locator('tbody tr').count(), 48);
  await row.getByRole('button', { name: 'stop' }).click();
  await row.locator('.cancelled').waitFor();
  await page.locator('[data-section="early"]').first().waitFor({ state: 'detached' });
  await row.getByRole('button', { name: 'open as a series' }).waitFor();
  const told = await page.evaluate(() => /** @type {string[]} */ (/** @type {any} */ (window).told));
  const numbers = told.flatMap((text) => [...text.matchAll(/([\d.,]+) ?([GMk]?) of ([\d.,]+) ?([GMk]?) \w/g)]);
  assert.ok(told.some((text) => /^\d+ of 48: /.test(text)), told.slice(0, 5).join(' | '));
  const value = (/** @type {string} */ number, /** @type {string} */ unit) => Number(number.replaceAll(',', '')) * ({ G: 1e9, M: 1e6, k: 1e3 }[unit] ?? 1);
  for (const [text, done, unit, total, ofUnit] of numbers) assert.ok(value(done, unit) <= value(total, ofUnit), text);
  await leave(page, [409]);
});

test('a line that is asked during an import is answered after it', async (one) => {
  const folder = scratch(one);
  for (let at = 1; at <= 24; at += 1) copyFileSync(join(DUMPS, `shop-${(at % 8) + 1}.pyheap`), join(folder, `shop-${at}.pyheap`));
  process.env.XDG_CACHE_HOME = join(scratch(one), 'cache');
  const server = await served([folder], one);
  const page = await openPage(browser, server);
  await settled(page, 'files');
  await ask(page, 'top 4');
  const waiting = page.locator('[data-banner="waiting"]');
  assert.equal(await waiting.innerText(), 'top 4 is answered once you choose a file.');
  await accessible(page, 'a line that waits');
  await page.locator('.view tbody tr', { hasText: 'shop-*.pyheap' }).getByRole('button', { name: 'open as a series' }).click();
  await waiting.filter({ hasText: 'top 4 is answered when the import ends.' }).waitFor();
  await ask(page, 'top 5');
  await waiting.filter({ hasText: 'top 5 is answered when the import ends.' }).waitFor();
  await settled(page, 'types');
  await complete(page);
  assert.equal(await lineOf(page), 'top 5');
  await page.locator('#head', { hasText: '24 snapshots' }).waitFor();
  assert.equal(await page.locator('.view [role=grid]').getAttribute('aria-rowcount'), '6');
  await leave(page, [409]);
});

test('a dump that the command line names is imported at once', async (one) => {
  const folder = scratch(one);
  process.env.XDG_CACHE_HOME = join(folder, 'cache');
  const server = await served([DUMP], one);
  const page = await openPage(browser, server);
  await settled(page, 'series');
  await quiet(page);
  assert.match(await page.locator('#foot').innerText(), /HPROF|recording|MiB|KiB/);
  await leave(page);
});

test('heaps of a folder are compared by a choice', async (one) => {
  const folder = scratch(one);
  copyFileSync(LEAK, join(folder, 'before.barrow'));
  copyFileSync(ONE, join(folder, 'with blank.barrow'));
  const server = await served([folder], one);
  const page = await openPage(browser, server, { fragment: fragment({ f: 'before.barrow', q: 'histogram by type' }) });
  await settled(page, 'types');
  await page.getByLabel('compare with').selectOption({ label: 'with blank.barrow' });
  await settled(page, 'types');
  await quiet(page);
  const last = barrow([LEAK, '-e', 'snapshots', '--format', 'json']).out.match(/"snapshot":(\d+)/g)?.length ?? 0;
  assert.equal(await lineOf(page), `diff "with blank.barrow" ${last - 1}`);
  assert.equal(await page.getByLabel('compare with').inputValue(), '"with blank.barrow"');
  // Its objects are those that the other file has.
  const { objects } = answered(ONE, 'count all');
  await page.locator('.view tr', { hasText: 'with blank.barrow' }).filter({ hasText: objects.toLocaleString('en-US') }).first().waitFor();
  await page.getByRole('group', { name: 'order' }).getByRole('link', { name: 'count' }).click();
  await settled(page, 'types');
  assert.equal(await lineOf(page), `diff "with blank.barrow" ${last - 1} by count`);
  await page.getByLabel('compare with').selectOption('');
  await settled(page, 'types');
  assert.equal(await lineOf(page), 'histogram by type');
  await leave(page);
});

test('a growing file is followed', async (one) => {
  const file = join(scratch(one), 'live.barrow');
  const program = growing(file);
  one.after(() => program.end());
  await program.commit();
  await program.commit();
  const server = await served([file], one);
  const page = await openPage(browser, server);
  await settled(page, 'series');
  await quiet(page);
  await page.locator('#head', { hasText: '2 snapshots' }).waitFor();
  for (let count = 3; count <= 6; count += 1) {
    assert.equal(await program.commit(), count);
    await page.locator('#head', { hasText: `${count} snapshots` }).waitFor();
  }
  // The last snapshot is followed; a selected one stays.
  await ask(page, 'count type = "Item"');
  await settled(page, 'answer');
  await page.locator('.view .facts', { hasText: '6' }).waitFor();
  await program.commit();
  await page.locator('.view .facts', { hasText: '7' }).waitFor();
  await ask(page, 'snapshot 2');
  await page.locator('.view .facts', { hasText: '3' }).waitFor();
  await program.commit();
  await page.locator('#head', { hasText: '8 snapshots' }).waitFor();
  await quiet(page);
  assert.match(await page.locator('.view .facts').innerText(), /objects\s*3\b/);
  await program.end();
  await page.locator('#head .live').waitFor({ state: 'detached' });
  await leave(page);
});

test('a replaced file is a banner, and can be opened again', async (one) => {
  const folder = scratch(one);
  const file = join(folder, 'app.barrow');
  copyFileSync(LEAK, file);
  const server = await served([file], one);
  const page = await openPage(browser, server, { fragment: fragment({ q: 'summary all' }) });
  await settled(page, 'series');
  await complete(page);
  copyFileSync(RAKU, join(folder, 'other'));
  renameSync(join(folder, 'other'), file);
  const banner = page.locator('[data-banner="replaced"]');
  await banner.waitFor();
  await banner.getByRole('button').click();
  await banner.waitFor({ state: 'detached' });
  await page.locator('#head', { hasText: '3 snapshots' }).waitFor();
  await settled(page, 'series');
  await quiet(page);
  assert.match(await page.locator('[data-section="snapshots"]').innerText(), /540,607|540\.6|objects/);
  await leave(page);
});

test('a cut recording says what was lost, on every view', async (one) => {
  const server = await served([CUT], one);
  const page = await openPage(browser, server);
  for (const [line, view] of [['summary all', 'series'], ['top 5', 'types'], ['dominators', 'tree'], ['info @5', 'object'], ['find 5 all', 'answer']]) {
    await goTo(page, { q: line });
    await settled(page, view);
    await quiet(page);
    assert.match(await page.locator('[data-banner="lost"]').first().innerText(), /complete snapshots are kept/, line);
  }
  await leave(page);
});

test('a damaged recording answers what it can, and says what it cannot', async (one) => {
  const server = await served([DAMAGED, '--no-index'], one);
  const page = await openPage(browser, server, { fragment: fragment({ q: 'top 5' }) });
  await settled(page, 'types');
  await quiet(page);
  await ask(page, 'dominators');
  await settled(page, 'tree', ['error']);
  assert.match(await page.locator('main .error').first().innerText(), /checksum/);
  await ask(page, 'snapshot 3');
  await settled(page, 'tree', ['ready']);
  await leave(page, [400, 404, 500]);
});

test('recordings with nothing in them say so', async (one) => {
  for (const [file, says] of /** @type {[string, RegExp][]} */ ([[NOTHING, /no (whole )?snapshot|snapshots\s+0/i], [EMPTY, /no object|nothing|0/i], [ONE, /one snapshot|1 snapshot/i]])) {
    const server = await served([file], one);
    const page = await openPage(browser, server);
    await page.locator('.view:not([data-state="loading"])').first().waitFor();
    await quiet(page);
    assert.match(await page.locator('body').innerText(), says, file);
    for (const line of ['histogram by type', 'dominators', 'growth', 'leaks', 'info @0', 'threads']) {
      await goTo(page, { q: line });
      await page.locator('.view:not([data-state="loading"])').first().waitFor();
      await quiet(page);
      assert.ok((await page.locator('main').innerText()).trim().length > 15, `${file}: ${line}`);
    }
    await leave(page, [400, 404]);
  }
});
