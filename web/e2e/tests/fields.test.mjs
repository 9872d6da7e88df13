// What fields hold: on the page of an object, in lists with any columns, and in groups that lead to their objects.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { answered, barrow, serve } from '../harness/binary.mjs';
import { accessible, complete, fits, fragment, goTo, launch, leave, lineOf, openPage, quiet, settled } from '../harness/browser.mjs';
import { DEEP, HOSTILE, INVOICES, STOREFRONT } from '../harness/fixtures.mjs';

const SESSIONS = 'type = "Storefront$Session"';
const LOOKS = [{}, { dark: true }, { width: 360, height: 740 }, { dark: true, width: 640, height: 740 }];

/** @type {import('../harness/binary.mjs').Server} */
let server;
/** @type {import('../harness/binary.mjs').Server} */
let hostile;
/** @type {import('playwright-core').Browser} */
let browser;

before(async () => {
  [server, hostile] = await Promise.all([serve([STOREFRONT]), serve([HOSTILE])]);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await Promise.all([server, hostile].map((one) => one?.stop()));
});

const rows = '.view [data-section="rows"] tbody tr';

/** Waits until the page has a line that passes. @param {import('playwright-core').Page} page @param {(line: string) => boolean} passes */
async function lineThat(page, passes) {
  for (let times = 0; times < 300 && !passes(await lineOf(page)); times += 1) await page.waitForTimeout(50);
  assert.ok(passes(await lineOf(page)), await lineOf(page));
  await quiet(page);
}

test('an object has its fields: values, what objects stand for, links, null and unknown', async () => {
  const told = answered(STOREFRONT, `list 1 ${SESSIONS} and .state = CLOSED and .order = null of .customer, .lastSeen by .lastSeen asc`).rows[0];
  const page = await openPage(browser, server, { fragment: fragment({ q: `info @${told.object}` }) });
  await settled(page, 'object');
  await complete(page);
  const facts = page.locator('[data-section="show"]');
  const cell = (/** @type {string} */ name) => facts.locator('.field-row', { has: page.getByRole('link', { name, exact: true }) }).locator('.value');
  assert.equal(await cell('.lastSeen').innerText(), String(told['.lastSeen']));
  assert.equal(await cell('.order').locator('.absent').innerText(), 'null');
  assert.match(await cell('.state').innerText(), /^"CLOSED" @\d+$/);
  const customer = cell('.customer').getByRole('link').first();
  assert.equal(await cell('.customer').innerText(), told['.customer']);
  assert.match(await cell('.customer').getByRole('link', { name: 'Storefront$Customer' }).getAttribute('href') ?? '', /q=find\+type/);
  // All fields are declared by the type itself, so nothing is said of it.
  assert.doesNotMatch(await facts.innerText(), / of Storefront/);
  await customer.click();
  await page.waitForFunction(() => document.querySelector('.object-head')?.textContent?.includes('Storefront$Customer'));
  await complete(page);
  assert.match(await cell('.name').innerText(), /^"Castellan" @\d+$/);
  assert.equal(await cell('.usesSingleSignOn').innerText(), 'true');
  // A field leads to what others hold in it.
  await facts.getByRole('link', { name: '.usesSingleSignOn', exact: true }).click();
  await settled(page, 'list');
  assert.equal(await lineOf(page), 'group type = "Storefront$Customer" by .usesSingleSignOn');
  await leave(page);
});

test('what an object holds opens in place, by keys as well, beside the path and as far as a shell tells', async () => {
  const session = answered(STOREFRONT, `list 1 ${SESSIONS} of size`).rows[0].object;
  for (const look of LOOKS) {
    const page = await openPage(browser, server, { ...look, fragment: fragment({ q: `info 7:@${session}` }) });
    await settled(page, 'object');
    await complete(page);
    const tree = page.locator('[data-section="show"]');
    const labels = (/** @type {import('playwright-core').Locator} */ list) => list.locator(':scope > li > .field-row > .label').allInnerTexts();
    const held = async (/** @type {number} */ object, /** @type {import('playwright-core').Locator} */ list) => {
      const fields = (answered(STOREFRONT, `info 7:@${object}`).fields ?? []).map((/** @type {any} */ one) => one.field);
      const references = answered(STOREFRONT, 'snapshot 7', `show @${object}`).rows.map((/** @type {any} */ one) => one.label);
      assert.deepEqual((await labels(list)).map((label) => label.replace(/ of .*/, '')), [...fields, ...references.filter((/** @type {string} */ label) => !fields.includes(`.${label}`))].map((label) => label ?? 'without a name'));
    };
    await held(session, tree.locator('.section-body > .field-tree'));
    const row = tree.locator('li', { has: page.locator('.field-row > .label > a', { hasText: '.customer' }) }).first();
    await row.locator('.toggle').first().focus();
    await page.keyboard.press('ArrowRight');
    await row.locator('.below .field-tree').waitFor();
    await held(Number((await row.locator('a.object').first().innerText()).slice(1)), row.locator('.below > .field-tree').first());
    await accessible(page, 'an open tree');
    await fits(page, 'an open tree');
    await page.keyboard.press('ArrowRight');
    assert.ok(await row.locator('.below .toggle').first().evaluate((one) => one === document.activeElement));
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    assert.equal(await row.locator('.below').count(), 0);
    if ((look.width ?? 1280) >= 1280) {
      const [left, right] = await Promise.all([tree, page.locator('[data-section="path"]')].map((one) => one.boundingBox()));
      assert.ok(left && right && right.x > left.x + left.width - 1 && Math.abs(left.y - right.y) < 2, 'the path is beside the tree');
    }
    await leave(page);
  }
});

test('attributes are those that a shell lists, with their meaning', async () => {
  const page = await openPage(browser, server);
  for (const [line, refused, list] of [[`list ${SESSIONS} of size`, 'list of nonsense', /is no column; there are fields, as .*?, and (.*)/], [`group ${SESSIONS} by type`, 'group by nonsense', /is no key; there are (.*?) and fields/]]) {
    await goTo(page, { q: String(line) });
    await settled(page, 'list');
    const buttons = page.locator('.choices [aria-label="attributes"] button');
    const [, words] = barrow([STOREFRONT, '-e', String(refused)]).err.match(list) ?? [];
    assert.equal((await buttons.allInnerTexts()).join(', '), words, String(line));
    assert.ok((await buttons.evaluateAll((all) => all.map((one) => one.getAttribute('title')?.length ?? 0))).every((length) => length > 5));
  }
  await leave(page);
});

test('the number of objects of a group leads to these objects, each one', async () => {
  const page = await openPage(browser, server);
  for (const [keys, expression] of [['.customer.name,.state', SESSIONS], ['.order', `${SESSIONS} and .lastSeen > 400`], ['.requests', `(${SESSIONS} or size > 100K)`], ['.customer.usesSingleSignOn', `${SESSIONS} or ${SESSIONS}`],
    ['type,kind', 'size > 3K'], ['superclass', 'size > 60'], ['text', 'text ~ "order 1*"'], ['.value', 'type = "java.lang.Integer" and .value < 0'], ['.threadLocalRandomSeed,.name', 'type = "java.lang.Thread"'], ['.loadFactor', 'type = "java.util.HashMap"']]) {
    await goTo(page, { q: `group ${expression} by ${keys}` });
    await lineThat(page, (line) => line === `group ${expression} by ${keys}`);
    const groups = answered(STOREFRONT, `group ${expression} by ${keys}`).rows;
    const links = await page.locator(`${rows} a[href*="list"]`).evaluateAll((all) => all.map((one) => ({ line: new URLSearchParams(/** @type {HTMLAnchorElement} */ (one).hash.slice(1)).get('q') ?? '', objects: Number(one.textContent?.replaceAll(',', '')) })));
    const known = groups.filter((/** @type {any} */ group) => keys.split(',').every((key) => group[key] !== null || key.startsWith('.')) && keys.split(',').every((key) => group[key]?.absent !== 'missing'));
    assert.equal(links.length, Math.min(known.length, 200), `${keys}: ${JSON.stringify(groups.slice(0, 3))}`);
    assert.ok(links.length > 0, keys);
    for (const { line, objects } of links.slice(0, 8)) {
      assert.equal(answered(STOREFRONT, line.replace(/^list/, 'list 10000')).rows.length, objects, line);
    }
  }
  // One of them, by a click.
  await goTo(page, { q: `group ${SESSIONS} by .customer.name,.state by retained` });
  await lineThat(page, (line) => line.endsWith('by retained'));
  await page.locator(`${rows} a[href*="list"]`).first().click();
  await lineThat(page, (line) => line.startsWith('list'));
  assert.equal(await lineOf(page), `list ${SESSIONS} and .customer.name = "Castellan" and .state = "CLOSED" of .customer.name, .state, retained by retained`);
  assert.match(await page.locator('[data-section="rows"]').innerText(), /show 278 more of 478 rows/);
  await leave(page);
});

test('from a type to its fields: columns by buttons, orders by headings, rows as in a shell', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ q: 'histogram by type', filter: 'Storefront$Session' }) });
  await settled(page, 'types');
  await quiet(page);
  await page.getByRole('link', { name: 'list with fields' }).click();
  await lineThat(page, (line) => line.endsWith('retained'));
  // A list without columns begins with the first fields.
  assert.equal(await lineOf(page), `list ${SESSIONS} and kind = "instance" of .number, .customer, .state, .requests, .lastSeen, retained`);
  const choice = (/** @type {string} */ name) => page.getByRole('group', { name: 'fields' }).getByRole('button', { name, exact: true });
  await choice('.customer').click();
  await lineThat(page, (line) => !line.includes('.customer'));
  await choice('.order').click();
  await lineThat(page, (line) => line.includes('retained, .order'));
  const heading = page.getByRole('columnheader', { name: '.lastSeen' });
  for (const [line, sort] of [['by .lastSeen', 'descending'], ['by .lastSeen asc', 'ascending'], ['.order', null]]) {
    await heading.getByRole('button').click();
    await lineThat(page, (now) => now.endsWith(String(line)));
    assert.equal(await heading.getAttribute('aria-sort'), sort);
    const drawn = await page.locator(rows).evaluateAll((all) => all.slice(0, 50).map((row) => row.querySelector('a')?.textContent));
    const told = answered(STOREFRONT, (await lineOf(page)).replace(/^list/, 'list 50')).rows;
    assert.deepEqual(drawn, told.map((/** @type {any} */ row) => `@${row.object}`));
  }
  // The form orders, too, and asks what is typed.
  await page.getByLabel('order').selectOption('.order');
  await lineThat(page, (line) => line.endsWith('by .order'));
  await page.getByLabel('direction').selectOption('desc');
  await lineThat(page, (line) => line.endsWith('by .order desc'));
  await page.getByLabel('objects, an expression').fill(`${SESSIONS} and .customer.name = Elmhurst`);
  await page.getByRole('button', { name: 'Show', exact: true }).click();
  await lineThat(page, (line) => line.includes('Elmhurst'));
  assert.equal(await page.locator(rows).count(), answered(STOREFRONT, `list 100 ${SESSIONS} and .customer.name = Elmhurst of size`).rows.length);
  // The address is the whole of it.
  const text = await page.locator(rows).allInnerTexts();
  await page.reload();
  await settled(page, 'list');
  await quiet(page);
  assert.deepEqual(await page.locator(rows).allInnerTexts(), text);
  // The same objects in groups: what is no key is left out.
  await page.getByRole('group', { name: 'list or group' }).getByRole('link', { name: 'group' }).click();
  await lineThat(page, (line) => line.startsWith('group'));
  assert.equal(await lineOf(page), `group ${SESSIONS} and .customer.name = Elmhurst by .number,.state,.requests,.lastSeen,.order`);
  await leave(page);
});

test('names are suggested where they are typed, also those of objects that fields lead to', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ q: `group ${SESSIONS}` }) });
  await settled(page, 'list', ['empty']);
  await page.getByRole('button', { name: '.customer', exact: true }).waitFor();
  const suggested = async (/** @type {string} */ label, /** @type {string} */ text, /** @type {string} */ wanted) => {
    await page.getByLabel(label).fill(text);
    await page.waitForFunction((value) => [...document.querySelectorAll('datalist option')].some((one) => /** @type {HTMLOptionElement} */ (one).value === value), wanted);
  };
  await suggested('keys of groups', '.sta', '.state');
  await suggested('keys of groups', '.state, .cust', '.state, .customer');
  await suggested('keys of groups', '.state, .customer.', '.state, .customer.name');
  await suggested('objects, an expression', `${SESSIONS} and .customer.uses`, `${SESSIONS} and .customer.usesSingleSignOn`);
  await page.getByLabel('objects, an expression').fill(`${SESSIONS} and .customer.usesSingleSignOn`);
  await page.getByLabel('keys of groups').fill('.state');
  await page.getByLabel('keys of groups').press('Enter');
  await settled(page, 'list');
  assert.equal(await lineOf(page), `group ${SESSIONS} and .customer.usesSingleSignOn by .state`);
  await leave(page);
});

test('without fields, and with what is not understood', async () => {
  const other = await serve([INVOICES]);
  const page = await openPage(browser, other, { fragment: fragment({ q: 'list type = "str"' }) });
  await lineThat(page, (line) => line === 'list type = "str" of name, size, retained');
  await settled(page, 'list');
  await goTo(page, { q: 'group' });
  await settled(page, 'list', ['empty']);
  await goTo(page, { q: 'list size > 1K of colour' });
  await settled(page, 'list', ['error']);
  await goTo(page, { q: 'list size > of name' });
  await lineThat(page, (line) => line.startsWith('list size > of'));
  await settled(page, 'list', ['error']);
  await leave(page, [400]);
  await other.stop();
});

test('hostile names of fields and texts in them stay texts, and lead to their objects', async () => {
  const page = await openPage(browser, hostile, { fragment: fragment({ q: 'info 2:@0' }) });
  await settled(page, 'object');
  await complete(page);
  assert.match(await page.locator('[data-section="show"]').innerText(), /\."<b>never<\/b>"\s+unknown\s+integer/);
  await fits(page, 'hostile fields');
  await accessible(page, 'hostile fields');
  // The long text is cut, and all of it can be seen.
  await goTo(page, { q: 'info 2:@10' });
  await page.waitForFunction(() => document.querySelector('.object-head')?.textContent?.includes('@10'));
  await complete(page);
  const long = page.locator('[data-section="show"] .field-row', { has: page.getByRole('link', { name: '.said', exact: true }) });
  await long.getByRole('button', { name: 'all', exact: true }).click();
  assert.ok((await long.innerText()).length > 4000);
  await goTo(page, { q: 'group by .said' });
  await settled(page, 'list');
  await quiet(page);
  const links = await page.locator(`${rows} a[href*="list"]`).evaluateAll((all) => all.map((one) => /** @type {HTMLAnchorElement} */ (one).hash));
  // All but the text that is cut, and those that no line can hold.
  assert.ok(links.length >= 8, `${links.length} groups`);
  for (const link of links) {
    await page.evaluate((hash) => { location.hash = hash; }, link);
    await lineThat(page, (line) => line === new URLSearchParams(link.slice(1)).get('q'));
    assert.equal(await page.locator(rows).count(), 1, await lineOf(page));
    await fits(page, link);
  }
  await leave(page);
});

test('in light and dark, wide and narrow', async () => {
  const object = answered(STOREFRONT, `list 1 ${SESSIONS} of size`).rows[0].object;
  for (const look of LOOKS) {
    for (const [q, view] of [[`info @${object}`, 'object'], [`list ${SESSIONS} of .number, .customer, .customer.name, .state, .order, retained by retained`, 'list'], [`group ${SESSIONS} by .customer.name,.state by retained`, 'list']]) {
      const page = await openPage(browser, server, { ...look, fragment: fragment({ q }) });
      await settled(page, view);
      await complete(page);
      await accessible(page, `${q} ${JSON.stringify(look)}`);
      await fits(page, `${q} ${JSON.stringify(look)}`);
      await leave(page);
    }
  }
});

test('sizes of rows say what they are, and what has no room goes on below the label', async () => {
  const object = answered(STOREFRONT, `list 1 ${SESSIONS} of size`).rows[0].object;
  const page = await openPage(browser, server, { width: 390, height: 844, fragment: fragment({ q: `info @${object}` }) });
  await settled(page, 'object');
  await complete(page);
  const sizes = await page.locator('[data-section="show"] .size').allInnerTexts();
  assert.ok(sizes.length > 0 && sizes.every((size) => /^[\d,.]+ [KMG]?i?B itself/.test(size)), sizes.join());
  const starts = await page.locator('[data-section="show"] .field-row').evaluateAll((rows) => rows.flatMap((row) => {
    const label = /** @type {HTMLElement} */ (row.querySelector('.label')).getBoundingClientRect().left;
    return [...row.children].slice(1).map((one) => one.getBoundingClientRect().left - label);
  }));
  assert.ok(Math.min(...starts) > -1, `a part of a row begins ${Math.min(...starts)} pixels from its label`);
  await leave(page);
});

test('a path says what dominates, folds what repeats, and its types are links', async (one) => {
  const deep = await serve([DEEP, '--no-index']);
  one.after(() => deep.stop());
  const page = await openPage(browser, deep, { fragment: fragment({ q: 'info @1000' }) });
  await settled(page, 'object');
  await complete(page);
  const path = page.locator('[data-section="path"]');
  assert.match(await path.innerText(), /@\d+ … @999 chain of 9\d\d Node through next/);
  assert.match(await path.locator('li', { hasText: 'chain of' }).getAttribute('class') ?? '', /dominates/);
  assert.ok(await path.locator('li').count() < 8, await path.innerText());
  await path.getByRole('button', { name: 'show each' }).click();
  await path.getByRole('button', { name: /more steps/ }).press('Enter');
  assert.ok(await path.locator('li.dominates').count() > 900);
  await path.locator('li a.type', { hasText: 'Node' }).first().click();
  await settled(page, 'answer');
  assert.match(await lineOf(page), /^find type = "Node"/);
  // Far from the roots, both ends are marked.
  await goTo(page, { q: 'info @500000' });
  await settled(page, 'object');
  await complete(page);
  const ends = path.locator('li.dominates', { hasText: 'chain of' });
  assert.equal(await ends.count(), 2, await path.innerText());
  assert.match(await path.innerText(), /[\d,]+ more steps/);
  const facts = page.locator('[data-section="facts"] .facts');
  assert.equal(await facts.getByRole('link', { name: '@499999' }).count(), 1, await facts.innerText());
  await goTo(page, { q: 'info @0' });
  await page.waitForFunction(() => document.querySelector('.object-head')?.textContent?.includes('@0'));
  await complete(page);
  const held = await page.locator('[data-section="inrefs"]').innerText();
  assert.equal(held.match(/nothing refers to it/gi)?.length ?? 0, /references/.test(held) ? 0 : 1, held);
  await leave(page);
});
