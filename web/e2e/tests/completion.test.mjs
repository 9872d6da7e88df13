// Completion of the line: what can follow, as a list that covers nothing; by keys and by a mouse.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { answered, barrow, serve } from '../harness/binary.mjs';
import { accessible, complete, fits, fragment, launch, leave, lineOf, openPage, settled } from '../harness/browser.mjs';
import { HOSTILE, JVM, STOREFRONT } from '../harness/fixtures.mjs';

/** @type {import('../harness/binary.mjs').Server} */
let server;
/** @type {import('playwright-core').Browser} */
let browser;
before(async () => {
  server = await serve([STOREFRONT, JVM, HOSTILE, '--no-index']);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

const list = '#completions';

/** A page of a file. @param {string} file @param {object} [look] */
async function opened(file, look = {}) {
  const page = await openPage(browser, server, { ...look, fragment: fragment({ f: file.split('/').at(-1) ?? '', q: 'find 5 all' }) });
  await settled(page, 'answer');
  await complete(page);
  return page;
}

/** What is offered after a part of a line: the words and what they are. @param {import('playwright-core').Page} page @param {string} line */
async function offered(page, line) {
  await page.locator('#line').fill('');
  await page.locator(list).waitFor({ state: 'hidden' });
  await page.locator('#line').pressSequentially(line);
  await page.locator(`${list} li`).first().waitFor();
  return page.locator(`${list} li`).evaluateAll((all) => all.map((one) => [one.querySelector('bdi')?.textContent ?? '', one.querySelector('span')?.textContent ?? '']));
}

test('verbs, types, fields and threads are offered, each with what it is', async () => {
  const page = await opened(STOREFRONT);
  assert.ok((await offered(page, 'dom')).some(([word, what]) => word === 'dominators' && what.startsWith('verb: ')));
  // Verbs of a shell or a prompt are none of the page.
  assert.ok((await offered(page, 're')).every(([word]) => !['record', 'redact', 'repair', 'repack', 'report'].includes(word)));
  const types = await offered(page, 'find type = "Storefront$S');
  assert.ok(types.length > 0 && types.every(([word, what]) => word.startsWith('"Storefront$S') && what === 'type'), `${types}`);
  const session = answered(STOREFRONT, 'find 1 type = "Storefront$Session"').rows[0].object;
  const declared = answered(STOREFRONT, `info @${session}`).fields.map((/** @type {any} */ field) => field.field);
  const fields = await offered(page, 'find type = "Storefront$Session" and .');
  assert.deepEqual(fields.map(([word]) => word).sort(), declared.sort());
  assert.ok(fields.every(([, what]) => what === 'field'));
  const all = await offered(page, 'find .');
  assert.ok(all.length > fields.length);
  await leave(page);
  const threads = await opened(JVM);
  const found = await offered(threads, 'stack ');
  assert.ok(found.every(([, what]) => what === 'thread') && found.some(([word]) => word === 'first'), `${found}`);
  // Each of them is a thread in a shell, too, unless it holds nothing.
  for (const [word] of found) {
    const { code, err } = barrow([JVM, '-e', `stack ${word}`]);
    assert.ok(code === 0 || /no thread with roots/.test(err), `${word}: ${err}`);
  }
  await leave(threads);
});

test('keys choose and take, Escape closes, and nothing is covered', async () => {
  for (const look of [{}, { width: 390, height: 844 }, { dark: true }]) {
    const page = await opened(STOREFRONT, look);
    await offered(page, 'find type = "Storefront$Sess');
    await accessible(page, 'completion');
    await fits(page, 'completion');
    const below = await page.locator(list).evaluate((one) => one.getBoundingClientRect().bottom);
    for (const what of ['.tabs', '#view', '.strip']) {
      const top = await page.locator(what).evaluate((one) => one.getBoundingClientRect().top);
      assert.ok(top >= below, `${what} is covered`);
    }
    await page.keyboard.press('Escape');
    await page.locator(list).waitFor({ state: 'hidden' });
    assert.equal(await lineOf(page), 'find type = "Storefront$Sess');
    await offered(page, 'find type = "Storefront$Sess');
    await page.keyboard.press('ArrowDown');
    const chosen = await page.locator('#line').getAttribute('aria-activedescendant');
    assert.equal(await page.locator(`#${chosen}`).getAttribute('aria-selected'), 'true');
    const word = await page.locator(`#${chosen} bdi`).innerText();
    await page.keyboard.press('Enter');
    assert.equal(await lineOf(page), `find type = ${word}`);
    await page.locator(list).waitFor({ state: 'hidden' });
    // A second Enter asks.
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => /Storefront/.test(location.hash));
    await settled(page, 'answer');
    await complete(page);
    assert.equal(await page.locator('.view:not(.last-good) .error').count(), 0);
    await offered(page, 'domi');
    await page.keyboard.press('Tab');
    assert.equal(await lineOf(page), 'dominators ');
    assert.ok(await page.locator('#line').evaluate((one) => one === document.activeElement));
    await leave(page);
  }
});

test('a click takes a choice, and a press elsewhere follows what it was on', async () => {
  const page = await opened(STOREFRONT);
  await offered(page, 'thre');
  await page.locator(`${list} li`).first().click();
  assert.equal(await lineOf(page), 'threads ');
  await offered(page, 'find ');
  await page.locator('.tabs a', { hasText: 'Types' }).click();
  await settled(page, 'types');
  assert.ok(await page.locator(list).isHidden());
  await leave(page);
});

test('hostile names of types are texts, and what is taken finds them', async () => {
  const page = await opened(HOSTILE);
  const { rows } = answered(HOSTILE, 'histogram by type');
  let taken = 0;
  for (const { type: title } of rows) {
    // Completion offers names, and titles have the place behind them.
    const type = title.split(' (</script>')[0];
    // What cannot be seen or typed is not offered.
    if (type.length > 500 || /[\p{C}\u2028\u2029]/u.test(type)) continue;
    const words = await offered(page, `find type = "${[...type].slice(0, 3).join('').replace(/["\\]/g, '\\$&')}`);
    assert.equal(await page.locator(`${list} :is(img, script)`).count(), 0);
    const wanted = `"${type.replace(/["\\]/g, '\\$&')}"`;
    const at = words.findIndex(([word]) => word === wanted);
    if (at < 0) continue;
    await page.locator(`${list} li`).nth(at).click();
    assert.equal(await lineOf(page), `find type = ${wanted}`);
    assert.ok(answered(HOSTILE, await lineOf(page)).rows.length > 0, wanted);
    taken += 1;
  }
  assert.ok(taken >= 3, `${taken} types were taken`);
  await leave(page);
});
