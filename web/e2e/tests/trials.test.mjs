// Trials: from the first page to a mode, its runs and the command that repeats one, by mouse and by keys; two programs side
// by side; recordings with too few values, without a run that succeeded, with ten thousand values, with a heap beside.

import assert from 'node:assert/strict';
import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { answered, serve, shell } from '../harness/binary.mjs';
import { accessible, ask, clipboard, complete, copied, fits, fragment, goTo, launch, leave, lineOf, openPage, settled } from '../harness/browser.mjs';
import { FAILED_TRIALS, FOLDER, HEAP_TRIALS, LEAK, MANY_TRIALS, ODD_TRIALS, TRIAL, scratch } from '../harness/fixtures.mjs';

/** @type {Record<string, import('../harness/binary.mjs').Server>} */
const servers = {};
/** @type {import('playwright-core').Browser} */
let browser;

before(async () => {
  const files = { trial: TRIAL, odd: ODD_TRIALS, failed: FAILED_TRIALS, many: MANY_TRIALS, heap: HEAP_TRIALS, leak: LEAK };
  await Promise.all(Object.entries(files).map(async ([name, file]) => { servers[name] = await serve([file]); }));
  browser = await launch();
});
after(async () => {
  await browser?.close();
  await Promise.all(Object.values(servers).map((server) => server.stop()));
});

/** @param {import('playwright-core').Page} page */
function tabs(page) {
  return page.locator('#head nav.tabs > a').allInnerTexts();
}

/** @param {import('playwright-core').Page} page @param {string} section */
function told(page, section) {
  return page.locator(`[data-section="${section}"] .lane-told`).first();
}

test('a recording of trials opens with its metrics, and no view of heaps', async () => {
  const page = await openPage(browser, servers.trial);
  await settled(page, 'trials');
  await complete(page);
  assert.equal(await lineOf(page), 'trials');
  assert.deepEqual(await tabs(page), ['Trials', 'Compare', 'Runs']);
  const rows = answered(TRIAL, 'trials').rows;
  const drawn = page.locator('[data-section="trials"] tbody tr');
  assert.equal(await drawn.count(), rows.length);
  // Each row has the bars of its histogram.
  for (const at of [0, rows.length - 1]) {
    assert.equal(await drawn.nth(at).locator('svg .bar').count(), rows[at].bin_counts.length);
    assert.match(await drawn.nth(at).innerText(), new RegExp(`^${rows[at].metric}\\s+${rows[at].variant}\\s+2\\s+yes`));
  }
  assert.match(await page.locator('.failed-runs').innerText(), /^1 run failed and does not count/);
  assert.match(await page.locator('[data-section="ran"]').innerText(), /builder[^]*scan-new\s+59\s+1\s+1/);
  for (const tab of await page.locator('#head nav.tabs > a').all()) {
    await tab.click();
    await complete(page);
    assert.equal(await page.locator('main .error').count(), 0, await tab.innerText());
    assert.equal(await tab.getAttribute('aria-current'), 'page');
  }
  await page.locator('#view').focus();
  await page.keyboard.press('g');
  await page.keyboard.press('c');
  await settled(page, 'compare');
  await page.keyboard.press('g');
  await page.keyboard.press('r');
  await settled(page, 'trials');
  await page.keyboard.press('/');
  await page.locator('#search').fill('x');
  await page.getByText('no heap and no processes').waitFor();
  // The menu has no verbs of heaps.
  await page.locator('#head details.menu summary', { hasText: 'More' }).click();
  const menu = await page.locator('#head details.menu[open] .items').innerText();
  assert.match(menu, /modes/);
  assert.doesNotMatch(menu, /dominators|strings|lanes/);
  await leave(page);
});

test('from the first page to the command that repeats a run of the slow mode', async () => {
  const page = await openPage(browser, servers.trial);
  await settled(page, 'trials');
  await page.locator('[data-section="trials"] tbody a').first().click();
  await settled(page, 'metric');
  await complete(page);
  assert.equal(await lineOf(page), 'histogram wall scan');
  const histogram = answered(TRIAL, 'histogram wall scan');
  const bars = page.locator('[data-section="histogram"] svg .bar');
  assert.equal(await bars.count(), histogram.rows.length, 'empty bars are there');
  assert.equal(await page.locator('[data-section="histogram"] .mode').count(), 2);
  assert.match(await page.locator('[data-section="histogram"] .mode').nth(1).innerHTML(), /mode 2: 30 % \(19–43 %\)/);
  // All values are points; the knob that explains them is chosen.
  const points = await page.locator('[data-section="order"] path.points').evaluateAll((all) => all.reduce((sum, one) => sum + (one.getAttribute('d')?.split('M').length ?? 1) - 1, 0));
  assert.equal(points, 60);
  assert.match(await page.locator('.finding').innerText(), /64 % of the spread is heap_offset/);
  assert.match(await page.locator('.knob h3').innerText(), /Over heap_offset/);
  await page.locator('[data-knob="thp"] a').click();
  await page.locator('.knob h3', { hasText: 'Over thp' }).waitFor();
  assert.equal(await page.locator('[data-knob="thp"]').getAttribute('aria-selected'), 'true');
  // A click on a bar of the slow mode lists its runs.
  await bars.last().click();
  await settled(page, 'runs');
  assert.equal(await lineOf(page), 'values wall scan mode 2');
  const values = answered(TRIAL, 'values wall scan mode 2').rows;
  assert.equal(await page.locator('tbody tr').count(), values.length);
  assert.match(await page.locator('tbody tr').first().innerText(), /heap_offset=3632/);
  await page.locator('tbody tr button.copy').first().click();
  assert.equal(await clipboard(page), `barrow trial --replay ${values[0].run} ${TRIAL}`);
  await page.locator('tbody tr a').first().click();
  await settled(page, 'runs');
  assert.equal(await lineOf(page), `runs ${values[0].run}`);
  assert.match(await page.locator('main').innerText(), /wall\s+15\.75 ms/);
  await leave(page);
});

test('keys choose bars and points, and open them', async () => {
  const page = await openPage(browser, servers.trial, { fragment: fragment({ q: 'histogram wall scan-new' }) });
  await settled(page, 'metric');
  await complete(page);
  const histogram = page.locator('[data-section="histogram"] .bars').first();
  await histogram.focus();
  await page.keyboard.press('End');
  assert.match(await histogram.getAttribute('aria-valuetext') ?? '', /mode 2, 29 %/);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Home');
  assert.match(await histogram.getAttribute('aria-valuetext') ?? '', /mode 1/);
  assert.equal(await told(page, 'histogram').innerText(), await histogram.getAttribute('aria-valuetext'));
  // The failed run has a place in the order, and leads to what it printed.
  assert.equal(await page.locator('[data-section="order"] path.failed').count(), 1);
  const order = page.locator('[data-section="order"] .bars');
  await order.focus();
  await page.keyboard.press('End');
  for (let left = 60; left > 0 && !/failed/.test(await order.getAttribute('aria-valuetext') ?? ''); left -= 1) await page.keyboard.press('ArrowLeft');
  assert.equal(await order.getAttribute('aria-valuetext'), 'run 99: failed');
  await page.keyboard.press('Enter');
  await settled(page, 'runs');
  assert.equal(await lineOf(page), 'runs 99');
  assert.match(await page.locator('main').innerText(), /failed\s+1\s[^]*it printed:\s+\| scan-new: the block ends in the next page/);
  assert.match(await page.locator('.replay').innerText(), /barrow trial --replay 99 \S+\/trial\.barrow/);
  await leave(page);
});

test('a point leads to its run', async () => {
  const page = await openPage(browser, servers.trial, { fragment: fragment({ q: 'histogram pass scan' }) });
  await settled(page, 'metric');
  await complete(page);
  const order = page.locator('[data-section="order"] .bars');
  await order.focus();
  await page.keyboard.press('End');
  const run = (await order.getAttribute('aria-valuetext') ?? '').match(/^run (\d+): .*iteration 4/)?.[1];
  const box = await page.locator('[data-section="order"] circle.chosen').boundingBox();
  assert.ok(run && box);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await settled(page, 'runs');
  assert.equal(await lineOf(page), `runs ${run}`);
  await leave(page);
});

test('two programs side by side: each mode has its verdict', async () => {
  const page = await openPage(browser, servers.trial, { fragment: fragment({ q: 'compare' }) });
  await settled(page, 'compare');
  await page.locator('[data-section="beside"] svg .bar').first().waitFor({ state: 'attached' });
  await complete(page);
  const compared = answered(TRIAL, 'compare scan scan-new');
  assert.equal(await page.locator('[data-section="compare"] tbody tr').count(), compared.rows.length);
  const beside = page.locator('[data-section="beside"]');
  assert.match(await beside.locator('.finding').innerText(), /^wall: B is ▲?\s*slower in mode 2: \+12\.80 ms; shift of all values -0\.4 %; shift -29\.91 µs \(-68\.72 µs to \+13\.42 µs\); could see ~6\.0 %/);
  assert.deepEqual(await beside.locator('text.pair').allTextContents().then((all) => all.map((one) => one.replace(/\s+/g, ' '))), ['1 → 1 equal', '2 → 2 slower +12.80 ms']);
  assert.equal(await beside.locator('text.pair.worse').count(), 1);
  // Both histograms have the same bars, and all values.
  assert.match(await beside.locator('.bars').getAttribute('aria-label') ?? '', /scan and scan-new/);
  await page.locator('[data-metric="peak_heap"] a').click();
  await page.locator('[data-section="beside"] .finding', { hasText: 'peak_heap: B is' }).waitFor();
  await complete(page);
  await page.getByRole('button', { name: 'swap' }).click();
  await page.waitForFunction(() => /** @type {HTMLInputElement} */ (document.getElementById('line')).value === 'compare scan-new scan');
  await settled(page, 'compare');
  await complete(page);
  assert.match(await page.locator('[data-section="compare"] tbody tr').first().innerText(), /wall\s+▼?\s*faster/);
  // The metric stays. A mode of the second program leads to its runs.
  await page.locator('[data-section="beside"] .finding', { hasText: 'peak_heap: B is' }).waitFor();
  await page.locator('[data-metric="wall"] a').click();
  await page.locator('[data-section="beside"] .finding', { hasText: 'wall: B is' }).waitFor();
  await complete(page);
  const chart = page.locator('[data-section="beside"] .bars');
  await chart.focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('End');
  for (let left = 130; left > 0 && !/mode 2/.test(await chart.getAttribute('aria-valuetext') ?? ''); left -= 1) await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('Enter');
  await settled(page, 'runs');
  assert.equal(await lineOf(page), 'values wall scan mode 2');
  await ask(page, 'compare other.barrow');
  await settled(page, 'compare', ['error']);
  assert.match(await page.locator('main .error').first().innerText(), /only in a shell/);
  await leave(page, [403]);
});

test('a program is chosen if several have values', async () => {
  const page = await openPage(browser, servers.trial, { fragment: fragment({ q: 'histogram wall' }) });
  await settled(page, 'metric', ['error']);
  assert.match(await page.locator('main .error').innerText(), /several programs have values of wall/);
  await page.getByRole('link', { name: 'scan-new', exact: true }).click();
  await settled(page, 'metric');
  assert.equal(await lineOf(page), 'histogram wall scan-new');
  await page.getByRole('link', { name: 'side by side' }).click();
  await settled(page, 'compare');
  assert.equal(await lineOf(page), 'compare scan scan-new wall');
  await leave(page, [400]);
});

test('too few values, equal ones, one program, no run that succeeded', async () => {
  const failed = await openPage(browser, servers.failed);
  await settled(failed, 'trials', ['empty']);
  assert.match(await failed.locator('main').innerText(), /No run succeeded; 3 failed/);
  assert.deepEqual(await tabs(failed), ['Trials', 'Runs']);
  await accessible(failed, 'no run succeeded');
  await ask(failed, 'histogram wall');
  await settled(failed, 'metric', ['error']);
  assert.match(await failed.locator('main .error').innerText(), /no run that counts has a value of wall/);
  await leave(failed, [400]);

  const page = await openPage(browser, servers.odd, { fragment: fragment({ q: 'histogram few ./plain.sh' }) });
  await settled(page, 'metric');
  await complete(page);
  assert.match(await page.locator('main').innerText(), /11 values are too few for a statement about modes; 12 or more/);
  assert.equal(await page.locator('[data-section="histogram"] .bar:not(.kind-other)').count(), 0);
  await accessible(page, 'too few values');
  await goTo(page, { q: 'histogram equal ./plain.sh' });
  await page.getByText('all values are equal').first().waitFor();
  await complete(page);
  assert.equal(await page.locator('[data-section="histogram"] .bar').count(), 1);
  // A metric of one program alone is not compared.
  await goTo(page, { q: 'histogram alone' });
  await settled(page, 'metric');
  await complete(page);
  assert.equal(await page.getByRole('link', { name: 'side by side' }).count(), 0);
  await ask(page, 'compare ./plain.sh "javascript" alone');
  await settled(page, 'compare', ['error']);
  assert.match(await page.locator('main .error').first().innerText(), /not both programs have a value of alone|several|no variant/);
  await leave(page, [400]);
});

test('ten thousand values are drawn, and keys stay quick', async () => {
  const page = await openPage(browser, servers.many, { fragment: fragment({ q: 'histogram latency' }) });
  await settled(page, 'metric');
  await complete(page);
  assert.ok(!(await tabs(page)).includes('Compare'));
  const points = await page.locator('[data-section="order"] path.points').evaluateAll((all) => all.reduce((sum, one) => sum + (one.getAttribute('d')?.split('M').length ?? 1) - 1, 0));
  assert.equal(points, 10_000);
  assert.match(await page.locator('.knob h3').innerText(), /heap_offset modulo 64/);
  await page.locator('[data-section="order"] .bars').focus();
  const took = await page.evaluate(async () => {
    const plot = /** @type {HTMLElement} */ (document.querySelector('[data-section="order"] .bars'));
    const since = performance.now();
    const { left, top, width } = plot.getBoundingClientRect();
    for (let at = 0; at < 100; at += 1) plot.dispatchEvent(new PointerEvent('pointermove', { clientX: left + (at / 100) * width, clientY: top + 60 }));
    await new Promise(requestAnimationFrame);
    return (performance.now() - since) / 100;
  });
  console.log(`# a move over ten thousand points: ${took.toFixed(2)} ms`);
  assert.ok(took < 30, `${took} ms for a move`);
  await accessible(page, 'ten thousand values');
  await leave(page);
});

test('a heap and trials are shown side by side', async () => {
  const page = await openPage(browser, servers.heap);
  await settled(page, 'series', ['ready', 'empty']);
  await page.locator('#head nav.tabs > a', { hasText: 'Compare' }).waitFor();
  assert.deepEqual(await tabs(page), ['Trials', 'Compare', 'Runs', 'Series', 'Types', 'Tree & map', 'Flame graph', 'Object']);
  await page.locator('#head nav.tabs > a').first().click();
  await settled(page, 'trials');
  assert.equal(await page.locator('[data-section="ran"]:visible').count(), 0);
  await page.locator('[data-section="trials"] tbody a').first().click();
  await settled(page, 'metric');
  await goTo(page, { q: 'histogram by type' });
  await settled(page, 'types');
  await leave(page);
  const other = await openPage(browser, servers.leak, { fragment: fragment({ q: 'trials' }) });
  await settled(other, 'trials', ['error']);
  assert.match(await other.locator('main .error').first().innerText(), /holds no trials/);
  assert.ok(!(await tabs(other)).includes('Trials'));
  await leave(other, [400]);
});

test('hostile names of programs, metrics, knobs and files are texts', async (one) => {
  const page = await openPage(browser, servers.odd);
  await settled(page, 'trials');
  await complete(page);
  const links = await page.locator('[data-section="trials"] tbody a').evaluateAll((all) => all.map((link) => /** @type {HTMLAnchorElement} */ (link).hash));
  assert.equal(links.length, 31);
  const metrics = links.filter((link) => /common/.test(link));
  assert.equal(metrics.length, 6);
  for (const link of [...metrics, links.at(-1) ?? '']) {
    assert.ok(link.length < 4000, `a link of ${link.length} characters`);
    await page.evaluate((hash) => { location.hash = hash; }, link);
    await page.waitForFunction((line) => /** @type {HTMLInputElement} */ (document.getElementById('line')).value === line, new URLSearchParams(link.slice(1)).get('q') ?? '');
    await settled(page, 'metric');
    await complete(page);
    await fits(page, link);
    const { active, raw } = await page.evaluate(() => ({
      active: document.querySelectorAll('main img, main script, main svg[onload], header img, a[href^="javascript:"]').length,
      raw: [...document.body.innerText.matchAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u202a-\u202e\u2066-\u2069]/g)].length,
    }));
    assert.deepEqual([active, raw], [0, 0], link);
    await page.locator('[data-section="modes"] table a').first().click();
    await settled(page, 'runs');
    await complete(page);
    assert.ok(await page.locator('tbody tr').count() > 0);
    const { code, err } = shell(await copied(page, 'shell'), FOLDER);
    assert.equal(code, 0, err);
    await fits(page, link);
  }
  await goTo(page, { q: 'runs failed' });
  await settled(page, 'runs');
  for (const run of await page.locator('tbody tr a').evaluateAll((all) => all.map((link) => /** @type {HTMLAnchorElement} */ (link).hash))) {
    await page.evaluate((hash) => { location.hash = hash; }, run);
    await page.locator('.replay').waitFor();
    await complete(page);
    assert.equal(await page.locator('main img, main script, main svg[onload]').count(), 0);
    await page.locator('.replay button').click();
    const replay = await clipboard(page);
    assert.ok(/^barrow trial --replay \d+ /.test(replay) && replay.endsWith(` ${ODD_TRIALS}`), replay);
  }
  await goTo(page, { q: 'compare "</script><img" "<script>" common' });
  await settled(page, 'compare');
  await complete(page);
  await accessible(page, 'hostile programs');
  await fits(page, 'hostile programs');
  await leave(page);

  // A shell takes the copied command as three words and the name of the file.
  const folder = scratch(one);
  const name = "-a'b $(touch barrow-e2e-harm) `x`;.barrow";
  copyFileSync(TRIAL, join(folder, name));
  const mine = await serve([folder]);
  one.after(() => mine.stop());
  const other = await openPage(browser, mine, { fragment: fragment({ f: name, q: 'runs 99' }) });
  await settled(other, 'runs');
  await other.locator('.replay button').click();
  const line = await clipboard(other);
  const { out } = shell(line.replace(/^barrow /, "printf '%s|' "), folder);
  assert.equal(out, `trial|--replay|99|${folder}/${name}|`);
  assert.ok(!existsSync(join(folder, 'barrow-e2e-harm')) && !existsSync('/tmp/barrow-e2e-harm'));
  await leave(other);
});
