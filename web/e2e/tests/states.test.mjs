// Each view in each state, in light and dark, wide and narrow: without a violation of WCAG 2.2 A and AA.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { serve } from '../harness/binary.mjs';
import { accessible, fits, fragment, held, launch, leave, openPage, quiet, settled } from '../harness/browser.mjs';
import { BUILD, EMPTY, FOLDER, LEAK, TRIAL } from '../harness/fixtures.mjs';

/** What each view asks; what it asks in vain; what empties it. */
const VIEWS = {
  series: { line: 'growth', wrong: 'growth 3..99' },
  types: { line: 'histogram by type', wrong: 'histogram colour = "red"' },
  tree: { line: 'dominators', wrong: 'dominators @99999999' },
  flame: { line: 'flame', wrong: 'flame nowhere' },
  object: { line: 'info @100', wrong: 'info @99999999' },
  list: { line: 'list size > 1K of type, size', wrong: 'list size > 1K of colour' },
  objects: { line: 'info', wrong: null },
  answer: { line: 'find 20 size > 1K', wrong: 'find size >' },
  help: { line: 'help', wrong: null },
};
/** Views of processes. */
const OF_PROCESSES = {
  lanes: { line: 'lanes', wrong: 'lanes 5s..1s', other: 'lanes program' },
  answer: { line: 'info 1001', wrong: 'info 1:99', other: 'processes 5' },
};
/** Views of trials. */
const OF_TRIALS = {
  trials: { line: 'trials', wrong: 'trials x', other: 'trials -s last' },
  metric: { line: 'histogram wall scan', wrong: 'histogram nothing scan', other: 'histogram user scan' },
  compare: { line: 'compare scan scan-new', wrong: 'compare scan nothing', other: 'compare scan-new scan' },
  runs: { line: 'values wall scan mode 2', wrong: 'runs 9999', other: 'runs 99' },
};
const LOOKS = [
  { name: 'light', options: {} },
  { name: 'dark', options: { dark: true } },
  { name: 'light, 360 px', options: { width: 360, height: 740 } },
  { name: 'dark, 360 px', options: { dark: true, width: 360, height: 740 } },
];

/** @type {import('../harness/binary.mjs').Server} */
let server;
/** @type {import('../harness/binary.mjs').Server} */
let build;
/** @type {import('../harness/binary.mjs').Server} */
let trial;
/** @type {import('../harness/binary.mjs').Server} */
let empty;
/** @type {import('../harness/binary.mjs').Server} */
let folder;
/** @type {import('playwright-core').Browser} */
let browser;

before(async () => {
  [server, build, trial, empty, folder] = await Promise.all([serve([LEAK]), serve([BUILD]), serve([TRIAL]), serve([EMPTY]), serve([`${FOLDER}/bad`])]);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await Promise.all([server, build, trial, empty, folder].map((one) => one?.stop()));
});

/** Waits until some section of the view has a state. @param {import('playwright-core').Page} page @param {string} view @param {string} state */
async function some(page, view, state) {
  await page.locator(`.view[data-view="${view}"][data-state="${state}"], .view[data-view="${view}"] [data-state="${state}"]`).first().waitFor();
}

for (const { name: look, options } of LOOKS) {
  const all = [...Object.entries(VIEWS).map(([view, one]) => ({ view, other: '', ...one, of: () => server })), ...Object.entries(OF_PROCESSES).map(([view, one]) => ({ view, ...one, of: () => build })),
    ...Object.entries(OF_TRIALS).map(([view, one]) => ({ view, ...one, of: () => trial }))];
  for (const { view, line, wrong, other, of } of all) {
    test(`${view}${other && ` of ${line}`}, ${look}`, async () => {
      const page = await openPage(browser, of(), { ...options, fragment: fragment({ q: line }) });
      await settled(page, view);
      await quiet(page);
      await accessible(page, `${view}, ready, ${look}`);
      await fits(page, `${view}, ready, ${look}`);

      if (view !== 'help') {
        // The same, asked with something excluded, or something else, while the answer is on its way; then stopped.
        const gate = await held(page);
        await page.evaluate((hash) => { location.hash = hash; }, fragment(other ? { q: other } : { q: line, w: 'type = "float"' }));
        await some(page, view, 'loading');
        await page.locator('.view .progress button.stop').first().waitFor();
        await accessible(page, `${view}, loading, ${look}`);
        await fits(page, `${view}, loading, ${look}`);
        await page.keyboard.press('Escape');
        await some(page, view, 'cancelled');
        await accessible(page, `${view}, cancelled, ${look}`);
        await fits(page, `${view}, cancelled, ${look}`);
        await gate.release();
      }
      if (wrong) {
        await page.evaluate((hash) => { location.hash = hash; }, fragment({ q: wrong }));
        await some(page, view, 'error');
        await quiet(page);
        await accessible(page, `${view}, error, ${look}`);
        await fits(page, `${view}, error, ${look}`);
      }
      await leave(page, [400]);
    });
  }

  test(`views of nothing, ${look}`, async () => {
    const page = await openPage(browser, empty, options);
    for (const [view, { line }] of Object.entries({ ...VIEWS, object: { line: 'info @0' } })) {
      await page.evaluate((hash) => { location.hash = hash; }, fragment({ q: line }));
      await settled(page, view, ['ready', 'empty', 'error']);
      await quiet(page);
      assert.equal(await page.locator(':is([data-state="empty"], [data-state="ready"]) > .stale').count(), 0, `${view} is not from before`);
      await accessible(page, `${view} of nothing, ${look}`);
      await fits(page, `${view} of nothing, ${look}`);
      assert.match(await page.locator('main').innerText(), /\w+ \w+ \w+/, `${view} says why it is empty`);
    }
    await leave(page, [400]);
  });

  test(`files and search, ${look}`, async () => {
    const page = await openPage(browser, folder, options);
    await settled(page, 'files');
    await accessible(page, `files, ${look}`);
    await fits(page, `files, ${look}`);
    await page.evaluate((hash) => { location.hash = hash; }, fragment({ f: 'nowhere.barrow', q: 'top' }));
    await settled(page, 'files', ['error']);
    await accessible(page, `files, error, ${look}`);
    await leave(page);

    const search = await openPage(browser, server, { ...options, fragment: fragment({ q: 'summary all', p: 'search' }) });
    await settled(search, 'search', ['empty']);
    await accessible(search, `search, empty, ${look}`);
    await search.locator('#search').fill('Session');
    await search.locator('#search').press('Enter');
    await settled(search, 'search', ['ready']);
    await quiet(search);
    await accessible(search, `search, ready, ${look}`);
    await fits(search, `search, ready, ${look}`);
    await leave(search);
  });
}

test('menus and banners', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ q: 'find 20 $a', w: 'type = "float"', let: '$a = size > 1K', a: 2, b: 7, s: 3 }) });
  await settled(page, 'answer');
  assert.equal(await page.locator('#head').getByText('last', { exact: true }).count(), 1, 'one way to the last snapshot');
  await accessible(page, 'a header with a selected snapshot');
  for (const menu of await page.locator('#head details.menu summary').all()) {
    await menu.click();
    await accessible(page, `menu ${await menu.textContent()}`);
    await page.keyboard.press('Escape');
  }
  await leave(page);
});

test('an answer that cannot be drawn is an error that is told', async () => {
  const page = await openPage(browser, server, { fragment: fragment({ q: 'find 5 size > 1K' }) });
  await settled(page, 'answer');
  // A row without the cell of its column.
  const columns = [{ key: 'type', heading: 'type', unit: 'text', audience: 'everyone', is_secondary: false, role: 'value' }];
  const answer = { facts: [], tables: [{ key: 'rows', audience: 'everyone', columns, rows: [[]] }], curves: [], notes: [], from: 0, rows_total: 1, revision: '0' };
  await page.route('**/api/ask?*top*', (route) => route.fulfill({ contentType: 'application/x-ndjson', body: `${JSON.stringify({ answer })}\n` }));
  await page.evaluate((hash) => { location.hash = hash; }, fragment({ q: 'find 3 type ~ "*top*"' }));
  await some(page, 'answer', 'error');
  await leave(page);
});
