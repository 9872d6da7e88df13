// Names from a dump are texts: nothing of them runs, nothing of them rules the page, and all of them are shown.

import assert from 'node:assert/strict';
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { answered, lastOf, serve, shell } from '../harness/binary.mjs';
import { accessible, clipboard, copied, fits, fragment, goTo, launch, leave, openPage, quiet, settled } from '../harness/browser.mjs';
import { FOLDER, HOSTILE, scratch } from '../harness/fixtures.mjs';

/** @type {import('../harness/binary.mjs').Server} */
let server;
/** @type {import('playwright-core').Browser} */
let browser;

before(async () => {
  server = await serve([HOSTILE]);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const LINES = ['summary all', 'growth', 'leaks', 'top 20', 'histogram by type', 'histogram by kind', 'diff 0 last', 'dominators', 'dominators by type', 'dominators @0 by type',
  'info @0', 'info @10', 'find all', 'show @0', 'inrefs @10', 'path @10', 'paths all', 'strings', 'threads', 'roots', 'trend all', 'snapshot', 'info', 'waste', 'dups', 'find name ~ "*script*"'];

test('names are shown as texts, in every view', async () => {
  const page = await openPage(browser, server);
  for (const q of LINES) {
    await goTo(page, { q });
    await page.waitForFunction((line) => /** @type {HTMLInputElement} */ (document.getElementById('line')).value === line, q);
    await page.locator('.view').first().waitFor();
    await quiet(page);
    const { images, scripts, length, raw } = await page.evaluate(() => {
      const main = /** @type {HTMLElement} */ (document.querySelector('main'));
      const text = document.body.innerText;
      return {
        images: document.querySelectorAll('main img, header img').length,
        scripts: document.querySelectorAll('main script, main svg[onload], main a[href^="javascript:"], header a[href^="javascript:"]').length,
        length: main.innerText.length,
        // Control characters and those that turn the direction of a text.
        raw: [...text.matchAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u202a-\u202e\u2066-\u2069]/g)].map((found) => found[0].codePointAt(0)),
      };
    });
    assert.equal(images + scripts, 0, q);
    assert.deepEqual(raw, [], `${q}: characters that rule a text`);
    assert.ok(length < 200_000, `${q}: ${length} characters: long names are cut`);
    await fits(page, q);
  }
  await goTo(page, { q: 'histogram by type' });
  await settled(page, 'types');
  await quiet(page);
  assert.match(await page.locator('main').innerText(), /<\/script><img src=x onerror=alert\(1\)>/);
  await accessible(page, 'hostile types');
  await leave(page, [400, 403]);
  assert.ok(!existsSync('/tmp/barrow-e2e-harm'));
});

test('links and copied lines of hostile names lead to their objects', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ q: 'histogram by type' }) });
  await settled(page, 'types');
  const links = await page.locator('.view [role="row"] a[href*="find"]').evaluateAll((all) => all.map((one) => /** @type {HTMLAnchorElement} */ (one).hash));
  assert.ok(links.length >= 9, `${links.length} types`);
  for (const link of links) {
    assert.ok(link.length < 4000, `a link of ${link.length} characters`);
    await page.evaluate((hash) => { location.hash = hash; }, link);
    await settled(page, 'answer', ['ready', 'error']);
    await quiet(page);
    const line = new URLSearchParams(link.slice(1)).get('q') ?? '';
    const rows = await page.locator('.view:not(.last-good) tbody tr').count();
    assert.equal(rows, 1, `${line.slice(0, 200)}: ${(await page.locator('main').innerText()).slice(0, 500)}`);
    const { code, out, err } = shell(`${await copied(page, 'shell')} --format json`, FOLDER);
    assert.equal(code, 0, `${await clipboard(page)}: ${err}`);
    assert.equal(lastOf(out).rows.length, 1);
  }
  await leave(page);
  assert.ok(!existsSync('/tmp/barrow-e2e-harm'));
});

test('a regular expression is searched with its quotes and slashes', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ p: 'search' }) });
  await settled(page, 'search', ['empty']);
  for (const [find, line = find] of [['/["\']/'], ['/\\"|\\\\"|<\\/s/'], ['/a/b|>/', '/a\\/b|>/'], ['<x|y>', '/(?i)<x\\|y>/']]) {
    await page.locator('#search').fill(find);
    await page.locator('#search').press('Enter');
    for (const [section, q] of [['types', `histogram type ~ ${line}`], ['objects', `find 100 name ~ ${line}`], ['texts', `strings ${line}`]]) {
      const { rows } = answered(HOSTILE, q);
      const element = page.locator(`[data-section="${section}"]`);
      await element.locator('.line', { hasText: q }).waitFor();
      await quiet(page);
      assert.equal(await element.getAttribute('data-state'), rows.length > 0 ? 'ready' : 'empty', `${q}: ${await element.innerText()}`);
      assert.equal(await element.locator('tbody tr').count(), rows.length, q);
    }
  }
  assert.ok(answered(HOSTILE, 'strings /["\']/').rows.length > 0);
  await leave(page);
});

test('hostile names of files', async (one) => {
  const folder = scratch(one);
  const names = ['<img src=x onerror=alert(1)>.barrow', "a'b $(touch barrow-e2e-harm) `x`.barrow", '-rf.barrow', '#q=top&f=x.barrow', 'a\u202egnp.barrow', 'line\nbreak.barrow'];
  for (const name of names) copyFileSync(HOSTILE, join(folder, name));
  const mine = await serve([folder]);
  one.after(() => mine.stop());
  const page = await openPage(browser, mine);
  await settled(page, 'files');
  const links = page.locator('.view tbody a');
  const count = await links.count();
  for (let at = 0; at < count; at += 1) {
    await links.nth(at).click();
    await settled(page, 'series');
    await quiet(page);
    await goTo(page, { q: 'top 3', f: new URLSearchParams(new URL(page.url()).hash.slice(1)).get('f') ?? '' });
    await settled(page, 'types');
    const { code, err } = shell(await copied(page, 'shell'), folder);
    assert.equal(code, 0, `${await clipboard(page)}: ${err}`);
    await goTo(page, {});
    await settled(page, 'files');
  }
  assert.equal(count, names.length);
  assert.ok(!existsSync(`${folder}/barrow-e2e-harm`));
  await leave(page);
});
