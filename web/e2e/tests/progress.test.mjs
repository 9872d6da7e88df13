// Long questions: progress is seen, they stop, and none overwrites the answer to a newer one.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as passed } from 'node:timers/promises';

import { serve } from '../harness/binary.mjs';
import { anotherTab, check, complete, fragment, goTo, held, launch, leave, lineOf, openPage, quiet, settled } from '../harness/browser.mjs';
import { LEAK, WIDE } from '../harness/fixtures.mjs';

/** A question that takes many seconds: each exclusion is a search of the heap. */
const HEAVY = { q: 'find 5 all by retained', w: Array.from({ length: 60 }, (_, at) => `size = ${1_000_000 + at}`) };

/** @type {import('playwright-core').Browser} */
let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

/** A server that remembers nothing from before. @param {string} file @param {{after: (end: () => Promise<void>) => void}} one */
async function fresh(file, one) {
  const server = await serve([file, '--no-index']);
  one.after(() => server.stop());
  return server;
}

/** The processor time of a process so far, in ticks. @param {number} pid */
function ticks(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/** How long it takes until a server has nothing to do, in milliseconds. @param {number} pid */
async function idle(pid) {
  const since = performance.now();
  for (;;) {
    const before = ticks(pid);
    const from = performance.now() - since;
    await passed(50);
    if (ticks(pid) - before <= 1) return from;
    assert.ok(from < 10_000, 'the server still works after 10 s');
  }
}

test('progress is seen, and Esc stops the work of the server', async (one) => {
  const server = await fresh(WIDE, one);
  const page = await openPage(browser, server, { fragment: fragment(HEAVY) });
  const progress = page.locator('.view .progress .phase');
  await page.waitForFunction(() => /\d/.test(document.querySelector('.view .progress .phase')?.textContent ?? ''));
  const text = await progress.innerText();
  assert.match(text, /left|so far|asking/, text);
  await page.keyboard.press('Escape');
  await settled(page, 'answer', ['cancelled']);
  const took = await idle(server.pid);
  assert.ok(took < 2000, `the server worked for ${took} ms after the stop`);
  assert.match(await page.locator('main').innerText(), /[Ss]topped/);

  // Asked again, and stopped by its button; then left by another question.
  await page.getByRole('button', { name: 'ask again' }).click();
  await page.locator('.view .progress button.stop').click();
  await settled(page, 'answer', ['cancelled']);
  assert.ok(await idle(server.pid) < 2000);
  await page.getByRole('button', { name: 'ask again' }).click();
  await page.locator('.view .progress button.stop').waitFor();
  await goTo(page, { q: 'top 3' });
  await settled(page, 'types');
  assert.ok(await idle(server.pid) < 2000);
  await leave(page);
});

test('closing the tab stops the work', async (one) => {
  const server = await fresh(WIDE, one);
  const page = await openPage(browser, server, { fragment: fragment(HEAVY) });
  await page.locator('.view .progress button.stop').waitFor();
  await leave(page);
  assert.ok(await idle(server.pid) < 2000);
});

test('cheap questions are answered in another tab while a heavy one runs', async (one) => {
  const server = await fresh(WIDE, one);
  const page = await openPage(browser, server, { fragment: fragment({ ...HEAVY, s: 1 }) });
  await page.locator('.view .progress button.stop').waitFor();
  const other = await anotherTab(page.context(), server);
  await other.goto(`${server.origin}/${fragment({ q: 'summary', s: 0 })}`);
  await quiet(other);
  const times = [];
  for (let again = 0; again < 5; again += 1) {
    const since = performance.now();
    const answer = await (await server.get(`/api/ask?f=0&s=0&q=${encodeURIComponent(`top ${3 + again}`)}`)).text();
    times.push(performance.now() - since);
    assert.match(answer, /"answer"/);
  }
  assert.equal(await page.locator('.view').first().getAttribute('data-state'), 'loading', 'the heavy question still runs');
  assert.ok(Math.min(...times) < 1000, `cheap questions took ${times.map(Math.round)} ms`);
  await page.keyboard.press('Escape');
  check(other);
  await leave(page);
});

test('a late answer does not overwrite that of a newer question', async (one) => {
  const server = await fresh(LEAK, one);
  const page = await openPage(browser, server, { fragment: fragment({ q: 'find 5 size > 1K' }) });
  await settled(page, 'answer');
  // In the same view and in others: the first answer comes after the second.
  for (const [first, second, view] of [['find 7 type = "dict"', 'strings *main*', 'answer'], ['top 3', 'histogram by kind', 'types'], ['dominators @5', 'dominators @0', 'tree'], ['info @7', 'info @8', 'object'], ['trend list', 'leaks', 'series'], ['dominators', 'threads', 'answer']]) {
    const gate = await held(page, (line) => line.startsWith(first));
    await goTo(page, { q: first });
    await page.waitForFunction((line) => /** @type {HTMLInputElement} */ (document.getElementById('line')).value === line, first);
    await goTo(page, { q: second });
    await settled(page, view);
    await complete(page);
    const shown = await page.locator('main').innerText();
    await gate.release();
    // A further question and its answer: whatever was late has arrived before it.
    await (await server.get('/api/ask?f=0&q=top%202')).text();
    await complete(page);
    assert.equal(await lineOf(page), second);
    assert.equal(await page.locator('main').innerText(), shown, `${first}, then ${second}`);
  }
  await leave(page);
});
