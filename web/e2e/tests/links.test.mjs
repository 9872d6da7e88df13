// Cells are links, and links have a menu of what else can be asked: by the other button and by keys.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, test } from 'node:test';

import { ROOT, answered, barrow, serve, shell } from '../harness/binary.mjs';
import { accessible, clipboard, complete, fits, fragment, goTo, launch, leave, lineOf, openPage, quiet, settled } from '../harness/browser.mjs';
import { BUILD, FOLDER, HOSTILE, INVOICES, JVM, STOREFRONT, THREADS } from '../harness/fixtures.mjs';

/** @type {import('../harness/binary.mjs').Server} */
let server;
/** @type {import('playwright-core').Browser} */
let browser;

before(async () => {
  server = await serve([STOREFRONT, THREADS, INVOICES, JVM, BUILD, '--no-index']);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const SESSIONS = 'find 20 type = "Storefront$Session" by retained';
const menu = '.link-menu';

test('cells lead to what they are about, and every line of their menus works', async () => {
  const page = await openPage(browser, server);
  /** @type {[string, string, string, RegExp][]} a file, a question, the text of a cell, its line */
  const cells = [
    [STOREFRONT, SESSIONS, 'Storefront$Session', /^find type = "Storefront\$Session" and kind = "instance" by retained$/],
    [STOREFRONT, 'strings', '', /^find text = ".*" by retained$/],
    [THREADS, 'threads', 'job 14', /^stack 14$/],
    [THREADS, 'stack main', '@0', /^info 2:@0$/],
    [JVM, 'stack first', 'Shapes.park', /^stack 7 --frame "Shapes\.park\(Shapes\.java:35\)"$/],
    [STOREFRONT, 'diff 0 7 by path', 'Storefront$Session', /^find 100 type = "Storefront\$Session.*" by retained$/],
    [INVOICES, 'sites', 'Random.randrange', /^site \d+$/],
    [JVM, 'roots', 'JNI global', /^roots "JNI global"$/],
    [BUILD, 'processes 3', 'compiler', /^find class = "compiler"$/],
    [BUILD, 'processes 3', 'src/part0/file6.c', /^find class\.unit = "src\/part0\/file6\.c"$/],
    [BUILD, 'processes 3', '--start-group', /^find arguments = "ld -o program .*"$/],
    [BUILD, 'critical', 'make -j4', /^find arguments = "make -j4"$/],
    [BUILD, 'tree', '1057:0', /^info 1057:0$/],
    [BUILD, 'timeline', '1001:0', /^info 1001:0$/],
    [STOREFRONT, 'paths type = "Storefront$Session"', 'class Storefront', /^find name = "Storefront" and kind = "class" by retained$/],
    [STOREFRONT, 'paths type = "Storefront$Session"', 'Storefront$Session', /^find type = "Storefront\$Session" and kind = "instance" by retained$/],
    [STOREFRONT, 'common type = "Storefront$Session"', 'Storefront$Session', /^find type = "Storefront\$Session" by retained$/],
    [STOREFRONT, 'common type = "Storefront$Session"', 'CLOSED', /^find \.state = "CLOSED" by retained$/],
    [STOREFRONT, 'common type = "Storefront$Session"', 'java.lang.Object[]', /^find type = "java\.lang\.Object\[\]" by retained$/],
    [STOREFRONT, 'idom @100', 'roots: sticky class', /^roots "sticky class"$/],
    [JVM, 'entries @8113', 'java.lang.constant', /^info @\d+$/],
    [JVM, 'loaders', 'java.net.URLClassLoader', /^find type = "java\.net\.URLClassLoader" by retained$/],
    [JVM, 'loaders', 'file:/srv/shapes/classes/./', /^info @11353$/],
    [JVM, 'loaders', "<the JVM's own>", /^find not loader ~ "\*" by retained$/],
    [JVM, 'idom @959', 'all roots', /^dominators$/],
    [JVM, 'common type = "java.lang.Thread"', 'all roots', /^dominators$/],
  ];
  /** @type {Record<string, string>} */
  const views = { diff: 'types', sites: 'types' };
  for (const [file, q, cell, line] of cells) {
    await goTo(page, { f: file.split('/').at(-1) ?? '', q });
    await settled(page, views[q.split(' ')[0]] ?? 'answer');
    await quiet(page);
    const links = page.locator('.view:not(.last-good) :is(tbody td, [role=gridcell]) a');
    const link = (cell ? links.filter({ hasText: cell }) : links).first();
    const asked = new URLSearchParams(new URL(await link.evaluate((one) => /** @type {HTMLAnchorElement} */ (one).href)).hash.slice(1)).get('q') ?? '';
    assert.match(asked, line);
    await link.click({ button: 'right' });
    const lines = await page.locator(`${menu} a`).evaluateAll((all) => all.map((one) => new URLSearchParams(/** @type {HTMLAnchorElement} */ (one).hash.slice(1))).map((fields) => [...fields.getAll('let').map((set) => `let ${set}`), fields.get('q') ?? '']));
    assert.ok(lines.length > 0, q);
    // The view of lists and groups chooses the columns, and the prompt does not.
    const typed = lines.map((line) => line.map((word) => word.replace(/^list .*/, '$& of size').replace(/^group .*/, '$& by kind')));
    for (const one of typed) assert.equal(barrow([file, ...one.flatMap((word) => ['-e', word])]).code, 0, `${file}: ${one}`);
    // On a busy machine a browser without a window may never say that its clipboard has a text.
    for (let times = 1; ; times += 1) {
      await page.locator(menu).getByRole('menuitem', { name: 'copy for a shell' }).click();
      const isCopied = page.locator('#foot .told', { hasText: 'copied' }).waitFor({ timeout: 5000 }).then(() => true, () => false);
      if (await isCopied) break;
      assert.ok(times < 4, `${q}: not copied`);
      await link.click({ button: 'right' });
    }
    const { code, err } = shell(await clipboard(page), `${ROOT}testdata${file === STOREFRONT ? '/leaks' : ''}`);
    assert.equal(code, 0, `${await clipboard(page)}: ${err}`);
  }
  await leave(page);
});

test('what dominates an object is a link: an object, and of roots all that dominate', async () => {
  const page = await openPage(browser, server);
  for (const [object, text, line] of [[959, 'several groups of roots', 'idom @959'], [962, '@959', 'info 0:@959'], [20, 'roots: sticky class', 'idom @20']]) {
    assert.match(answered(JVM, `info @${object}`).dominated_by, new RegExp(`^${text}`));
    await goTo(page, { f: 'jvm.barrow', q: `info @${object}` });
    await settled(page, 'object');
    await page.locator('.view:not(.last-good) dl.facts a', { hasText: String(text) }).click();
    await page.waitForFunction((q) => new URLSearchParams(location.hash.slice(1)).get('q') === q, line);
  }
  await leave(page);
});

test('what is left out is a link, and the focus stays where further rows begin', async () => {
  const page = await openPage(browser, server);
  const { rows: types } = answered(STOREFRONT, 'top 5000');
  /** @type {[string, RegExp, string, string?][]} a question, its note, where that leads, another file */
  const notes = [
    ['find 5 type = "Storefront$Session" by retained', /that match/, 'find type = "Storefront$Session" by retained'],
    ['top 5', /more rows/, `top ${types.length}`],
    ['top by count', /more rows/, `top ${types.length} by count`],
    ['info @8113', /entries @8113/, 'entries 0:@8113', 'jvm.barrow'],
  ];
  for (const [q, note, line, f = 'storefront.barrow'] of notes) {
    await goTo(page, { f, q });
    await page.waitForFunction((asked) => /** @type {HTMLInputElement} */ (document.getElementById('line')).value === asked, q);
    await quiet(page);
    await page.locator('.view:not(.last-good) .notes a').filter({ hasText: note }).click();
    await page.waitForFunction((asked) => /** @type {HTMLInputElement} */ (document.getElementById('line')).value === asked, line);
    await quiet(page);
    assert.equal(await page.locator('main .error').count(), 0, line);
    assert.equal(await page.locator('.view:not(.last-good) .notes a').filter({ hasText: note }).count(), 0, line);
  }
  // A button that shows the last rows is gone afterwards.
  await goTo(page, { f: 'storefront.barrow', q: 'find 300 all' });
  await page.locator('.more-rows').press('Enter');
  assert.ok(await page.locator('.view:not(.last-good) tbody tr').nth(200).locator('a').first().evaluate((one) => one === document.activeElement));
  // So is one that shows the steps of a path.
  await goTo(page, { f: 'storefront.barrow', q: 'growth' });
  await settled(page, 'series');
  await quiet(page);
  await page.getByRole('button', { name: /more steps/ }).first().press('Enter');
  assert.ok(await page.evaluate(() => document.activeElement?.matches('.path .step *')));
  // Windows of rows: the last one has no button for the next.
  await goTo(page, { f: 'storefront.barrow', q: 'find all', from: 23000 });
  await settled(page, 'answer');
  await quiet(page);
  await page.getByRole('button', { name: 'further rows' }).press('Enter');
  await page.waitForFunction(() => location.hash.includes('from=24000'));
  await quiet(page);
  assert.ok(await page.evaluate(() => document.activeElement?.matches('.section-body')));
  await leave(page);
});

test('from a thread to its stack, and from a frame to what it holds', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ f: 'jvm.barrow', q: 'threads' }) });
  await settled(page, 'answer');
  await page.locator('.view tbody a', { hasText: /^first$/ }).click();
  await page.waitForFunction(() => /q=stack\+7/.test(location.hash));
  await quiet(page);
  const frame = 'Shapes.lambda$main$1(Shapes.java:49)';
  await page.locator('.view:not(.last-good) tbody a', { hasText: frame }).first().click();
  await page.waitForFunction(() => /frame/.test(location.hash));
  await quiet(page);
  const whole = answered(JVM, 'stack first');
  const objects = whole.held.filter((/** @type {any} */ row) => row.frame === frame).map((/** @type {any} */ row) => `@${row.object}`);
  assert.ok(objects.length > 0 && objects.length < whole.held.length);
  assert.deepEqual(await page.locator('.view:not(.last-good) td.object a').allTextContents(), objects);
  assert.equal(await page.locator('.view:not(.last-good) table.rows').first().locator('tbody tr').count(), 1);
  await leave(page);
});

test('a menu by keys, in every look', async () => {
  for (const look of [{}, { width: 390, height: 844 }, { dark: true }]) {
    const page = await openPage(browser, server, { ...look, fragment: fragment({ f: 'storefront.barrow', q: SESSIONS }) });
    await settled(page, 'answer');
    await quiet(page);
    const link = page.locator('tbody td a').first();
    await link.focus();
    await page.keyboard.press('Shift+F10');
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    assert.match(await focused() ?? '', /^objectinfo/);
    await accessible(page, 'a menu');
    await fits(page, 'a menu');
    await page.keyboard.press('ArrowUp');
    assert.match(await focused() ?? '', /^copy for a shell/);
    await page.keyboard.press('Escape');
    assert.equal(await page.locator(menu).count(), 0);
    assert.ok(await link.evaluate((one) => one === document.activeElement), 'the link has the focus again');
    await page.keyboard.press('ContextMenu');
    for (let step = 0; step < 3; step += 1) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => /q=path/.test(location.hash));
    await settled(page, 'answer');
    assert.equal(await page.locator(menu).count(), 0);
    await leave(page);
  }
});

test('cells of the map and of the flame graph have the menu of what they stand for', async () => {
  const page = await openPage(browser, server);
  for (const [q, view, section] of [['dominators', 'tree', 'map'], ['flame', 'flame', 'flame']]) {
    await goTo(page, { f: 'storefront.barrow', q });
    await settled(page, view);
    await complete(page);
    const canvas = page.locator(`[data-section="${section}"] canvas`);
    const { height } = /** @type {{height: number}} */ (await canvas.boundingBox());
    const address = page.url();
    await canvas.click({ button: 'right', position: { x: 60, y: Math.min(60, height / 2) } });
    const object = await page.locator('.chosen-place a[href*="info"]').first().getAttribute('href');
    const line = () => page.locator(`${menu} a`).first().getAttribute('href');
    assert.ok(object && await line() === object, `${q}: ${await line()} and ${object}`);
    assert.equal(page.url(), address, 'nothing was zoomed');
    await fits(page, `the menu of ${q}`);
    await page.keyboard.press('Escape');
    await canvas.focus();
    await page.keyboard.press('Shift+F10');
    assert.equal(await line(), object);
    await page.locator(menu).getByRole('menuitem', { name: /^path from a root/ }).click();
    await settled(page, 'answer');
    assert.match(await lineOf(page), /^path (7:)?@\d+$/);
  }
  await leave(page);
});

test('objects of a menu are added to a set', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ f: 'storefront.barrow', q: SESSIONS }) });
  await settled(page, 'answer');
  const add = async (/** @type {number} */ row, /** @type {string} */ item) => {
    await quiet(page);
    await page.locator('.view:not(.last-good) tbody tr').nth(row).locator('a').first().click({ button: 'right' });
    await page.locator(menu).getByRole('menuitem', { name: item }).click();
    await page.locator(menu).waitFor({ state: 'detached' });
  };
  await add(0, 'new set');
  await page.locator('[data-banner="sets"]').waitFor();
  assert.equal(await lineOf(page), SESSIONS);
  await add(1, 'add to $a');
  await page.waitForFunction(() => location.hash.includes('or'));
  const told = answered(STOREFRONT, SESSIONS).rows.slice(0, 2).map((/** @type {any} */ row) => row.object);
  await goTo(page, { f: 'storefront.barrow', s: 7, let: new URLSearchParams(new URL(page.url()).hash.slice(1)).getAll('let'), q: 'find $a' });
  await page.locator('.view:not(.last-good) tbody tr').nth(1).waitFor();
  await quiet(page);
  const found = await page.locator('.view:not(.last-good) tbody td.object a').allTextContents();
  assert.deepEqual(found.map((text) => Number(text.slice(1))).sort(), told.sort());
  await leave(page);
});

test('an object is added to a set that begins with a kind', async () => {
  const set = '$a = primitive array size > 1K';
  const page = await openPage(browser, server, { fragment: fragment({ f: 'storefront.barrow', q: SESSIONS, let: set }) });
  await settled(page, 'answer');
  await quiet(page);
  await page.locator('.view:not(.last-good) tbody tr').first().locator('a').first().click({ button: 'right' });
  await page.locator(menu).getByRole('menuitem', { name: 'add to $a' }).click();
  await page.waitForFunction(() => location.hash.includes('or'));
  const lets = new URLSearchParams(new URL(page.url()).hash.slice(1)).getAll('let');
  const before = answered(STOREFRONT, `let ${set}`, 'count $a').objects;
  const [first] = answered(STOREFRONT, SESSIONS).rows;
  assert.deepEqual(lets, ['$b = primitive array size > 1K', `$a = $b or @${first.object}`]);
  await goTo(page, { f: 'storefront.barrow', s: 7, let: lets, q: 'find $a by retained' });
  await page.locator('.view:not(.last-good) tbody td.object a', { hasText: `@${first.object}` }).waitFor();
  await quiet(page);
  assert.equal(await page.locator('.view:not(.last-good) tbody tr').count(), before + 1);
  await leave(page);
});

test('hostile names stay texts in cells and menus, and their lines run nothing', async () => {
  const hostile = await serve([HOSTILE]);
  const page = await openPage(browser, hostile, { fragment: fragment({ q: 'find all' }) });
  await settled(page, 'answer');
  await quiet(page);
  const links = page.locator('.view tbody td:nth-child(3) a');
  const first = await links.evaluateAll((all) => [...new Map(all.map((one, at) => [/** @type {HTMLAnchorElement} */ (one).hash, at])).values()]);
  assert.ok(first.length >= 3, `${first.length} types`);
  for (const at of first) {
    await links.nth(at).click({ button: 'right' });
    assert.equal(await page.locator(`${menu} :is(img, script)`).count(), 0);
    await fits(page, 'a hostile menu');
    const [line] = await page.locator(`${menu} a`).evaluateAll((all) => all.map((one) => new URLSearchParams(/** @type {HTMLAnchorElement} */ (one).hash.slice(1)).get('q') ?? ''));
    assert.ok(answered(HOSTILE, line).rows.length > 0, line.slice(0, 200));
    await page.locator(menu).getByRole('menuitem', { name: 'copy for a shell' }).click();
    await page.locator(menu).waitFor({ state: 'detached' });
    const { code, err } = shell(await clipboard(page), FOLDER);
    assert.equal(code, 0, `${(await clipboard(page)).slice(0, 300)}: ${err}`);
  }
  await leave(page);
  await hostile.stop();
  assert.ok(!existsSync('/tmp/barrow-e2e-harm'));
});
