// The times that the page promises, measured with a recording: `node web/e2e/bench.mjs FILE.barrow`. BARROW is the program,
// target/release/barrow unless given. Nothing is asserted: it prints a table.

import { ROOT } from './harness/binary.mjs';

process.env.BARROW ??= `${ROOT}target/release/barrow`;
const { serve } = await import('./harness/binary.mjs');
const { complete, fragment, goTo, launch, openPage, settled, watchOf } = await import('./harness/browser.mjs');

const [file] = process.argv.slice(2);
if (!file) throw new Error('usage: node web/e2e/bench.mjs FILE.barrow');
const grid = '[role="treegrid"]';

/** @type {{what: string, median: number, worst: number, bar: string}[]} */
const rows = [];
/** @param {string} what @param {number[]} values @param {string} bar */
function row(what, values, bar) {
  const sorted = [...values].sort((one, other) => one - other);
  const at = (/** @type {number} */ share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  rows.push({ what, median: at(0.5), worst: at(0.95), bar });
  console.log(`${what}: ${at(0.5).toFixed(1)}, ${at(0.95).toFixed(1)} (bar ${bar})`);
}

/** @param {() => Promise<unknown>} work */
async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

let start = performance.now();
const server = await serve([file]);
row('serve to listening, ms', [performance.now() - start], '50');
const browser = await launch();
const page = await openPage(browser, server, { height: 1000, fragment: fragment({ q: 'summary all' }) });
await complete(page);

// First paint with numbers.
const first = [];
for (let times = 0; times < 5; times += 1) {
  const other = await page.context().newPage();
  first.push(await timed(async () => {
    await other.goto(`${server.origin}/${fragment({ q: 'summary all' })}`, { waitUntil: 'commit' });
    await other.waitForFunction(() => [...document.querySelectorAll('.section[data-state="ready"] .section-body')].some((body) => /\d/.test(body.textContent ?? '')));
  }));
  await other.close();
}
row('first paint with numbers, ms', first, '500');

/** What an answer takes, from asking to its last byte. @param {string} line @param {number} [times] */
async function asked(line, times = 5) {
  const all = [];
  let bytes = 0;
  for (let time = 0; time < times; time += 1) {
    all.push(await timed(async () => { bytes = (await (await server.get(`/api/ask?f=0&q=${encodeURIComponent(line)}`)).text()).length; }));
  }
  return { all, bytes };
}

start = performance.now();
await asked('dominators --depth 1', 1);
console.log(`dominators, cold or from the index: ${(performance.now() - start).toFixed(0)} ms`);
const map = await asked('dominators --cells 5000');
row('map: reply of 5,000 places, ms', map.all, '300');

// The tree: expanding to pixels.
await goTo(page, { q: 'dominators' });
await settled(page, 'tree');
await complete(page);
await page.locator(`${grid} [role="row"][aria-selected="true"]`).focus();
const expanded = [];
for (let times = 0; times < 40; times += 1) {
  const before = await page.locator(grid).getAttribute('aria-rowcount');
  expanded.push(await page.evaluate(async (count) => {
    const table = /** @type {HTMLElement} */ (document.querySelector('[role="treegrid"]'));
    const start = performance.now();
    document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true, cancelable: true }));
    const until = start + 3000;
    while ((table.getAttribute('aria-rowcount') === count || table.querySelector('[aria-busy]')) && performance.now() < until) {
      await new Promise((resolve) => { requestAnimationFrame(resolve); });
    }
    await new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); });
    return performance.now() - start;
  }, before));
  if (await page.locator(grid).getAttribute('aria-rowcount') === before) expanded.pop();
  await page.keyboard.press('ArrowDown');
}
if (expanded.length > 0) row('expanding a node, key to pixels, ms', expanded, '100');

// Scrolling the children of all roots, which are as many as there are.
await goTo(page, { q: 'dominators', again: 1 });
await page.reload();
await settled(page, 'tree');
await complete(page);
await page.locator(`${grid} [role="row"]`).nth(1).focus();
const shown = await page.locator(grid).getAttribute('aria-rowcount');
if (Number(shown) < 4) await page.keyboard.press('ArrowRight');
await complete(page);
const children = Number(await page.locator(grid).getAttribute('aria-rowcount')) - 2;
const client = await page.context().newCDPSession(page);
const box = await page.locator(grid).boundingBox();
await page.mouse.move((box?.x ?? 0) + 100, (box?.y ?? 0) + 200);
const { frames, longest } = await traced(async () => {
  for (let times = 0; times < 150; times += 1) {
    await page.mouse.wheel(0, 100 + (times % 5) * 200);
    await pause(12);
  }
});
const elements = await page.locator(`${grid} [role="row"]`).count();
row(`scrolling ${children.toLocaleString('en-US')} rows, script a frame, ms`, frames, '4');
row('the same, longest task, ms', [longest], '50');
row('the same, rows in the document', [elements], '100');

/** @param {number} ms */
function pause(ms) {
  return new Promise((resolve) => { setTimeout(resolve, ms); });
}

/** Script between two frames while something is done, and its longest task, in milliseconds. @param {() => Promise<void>} work */
async function traced(work) {
  /** @type {any[]} */
  const events = [];
  const collect = (/** @type {{value: any[]}} */ { value }) => events.push(...value);
  client.on('Tracing.dataCollected', collect);
  const ended = new Promise((resolve) => { client.once('Tracing.tracingComplete', resolve); });
  await client.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'v8'] } });
  await work();
  await client.send('Tracing.end');
  await ended;
  client.off('Tracing.dataCollected', collect);
  return scripted(events);
}

/**
 * Script between two frames of the busiest thread, and its longest task, in milliseconds. Functions of the page count with the
 * layout that they force; what the browser does of its own when an event is dispatched, such as putting a character into a
 * field, is no script. @param {any[]} all
 */
function scripted(all) {
  // A function without an address is one that this program evaluates while it waits, and none of the page.
  const isScript = (/** @type {any} */ event) => event.ph === 'X' && ['FunctionCall', 'RunMicrotasks', 'EvaluateScript'].includes(event.name)
    && (event.name !== 'FunctionCall' || Boolean(event.args.data?.url));
  const thread = (/** @type {any} */ event) => `${event.pid}:${event.tid}`;
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const event of all.filter(isScript)) counts.set(thread(event), (counts.get(thread(event)) ?? 0) + 1);
  const busiest = [...counts].sort((one, other) => other[1] - one[1])[0]?.[0];
  const mine = all.filter((event) => thread(event) === busiest);
  /** @type {[number, number][]} Script, nested calls once. */
  const spans = [];
  for (const event of mine.filter(isScript).sort((one, other) => one.ts - other.ts)) {
    const last = spans.at(-1);
    const end = event.ts + event.dur;
    if (last && event.ts < last[1]) last[1] = Math.max(last[1], end);
    else spans.push([event.ts, end]);
  }
  const commits = mine.filter((event) => event.name === 'Commit').map((event) => event.ts).sort((one, other) => one - other);
  const perFrame = commits.map((from, frame) => spans.filter(([begin]) => begin >= from && begin < (commits[frame + 1] ?? from + 16_000))
    .reduce((sum, [begin, end]) => sum + (end - begin) / 1000, 0));
  const tasks = mine.filter((event) => event.name === 'RunTask' && event.dur > 0).map((event) => event.dur / 1000);
  return { frames: perFrame, longest: Math.max(0, ...tasks) };
}

// The flame graph: zooming in and out, and a text that is typed.
await goTo(page, { q: 'flame' });
await settled(page, 'flame');
await complete(page);
row('flame: reply of 2,000 steps, ms', (await asked('flame --cells 2000')).all, '300');
const cells = page.locator('.flame canvas');
await cells.focus();
const zoomed = await traced(async () => {
  for (let times = 0; times < 40; times += 1) {
    for (const key of times % 4 < 3 ? ['ArrowDown', 'Enter'] : ['Escape', 'Escape', 'Escape']) {
      await page.keyboard.press(key);
      await pause(50);
    }
    await complete(page);
    await cells.focus();
  }
});
row('flame: zooming, script a frame, ms', zoomed.frames, '4');
row('the same, longest task, ms', [zoomed.longest], '50');
await goTo(page, { q: 'flame' });
await settled(page, 'flame');
await complete(page);
const typed = await traced(async () => {
  for (const text of ['string', 'hash', 'node', 'list', 'map', 'object', 'a', 'e']) {
    await page.getByRole('searchbox', { name: 'highlight' }).pressSequentially(text, { delay: 60 });
    await pause(300);
    await page.getByRole('searchbox', { name: 'highlight' }).fill('');
  }
});
row('flame: searching, script a frame, ms', typed.frames, '4');
row('the same, longest task, ms', [typed.longest], '50');

// The object that retains the most, after a few others were looked at.
const told = await (await server.get(`/api/ask?f=0&q=${encodeURIComponent('find all by retained 8')}`)).text();
const table = JSON.parse(told.trim().split('\n').at(-1) ?? '').answer.tables.at(-1);
const at = table.columns.findIndex((/** @type {any} */ column) => column.key === 'object');
const objects = table.rows.map((/** @type {any[]} */ cells) => cells[at].value);
for (const other of objects) await asked(`inrefs @${other}`, 1);
const [object] = objects;
for (const line of [`info @${object}`, `path @${object}`, `idom @${object}`, `inrefs @${object} by type`]) {
  await asked(line, 1);
  row(`${line.split(' ')[0]}, warm, ms`, (await asked(line)).all, '100');
}

// A cheap question while a heavy one runs.
const heavy = new AbortController();
const running = server.get(`/api/ask?f=0&q=${encodeURIComponent('leaks')}&w=${encodeURIComponent('size = 123456789')}`, { signal: heavy.signal }).then((answer) => answer.text()).catch(() => '');
await new Promise((resolve) => { setTimeout(resolve, 150); });
row('`top 5` beside a heavy question, ms', (await asked('top 5', 20)).all, '50');
heavy.abort();
await running;

// Memory of the tab.
await client.send('HeapProfiler.enable');
/** @param {number} clicks */
async function heapAfter(clicks) {
  const views = [['summary all', 'series'], ['histogram by type', 'types'], ['dominators', 'tree'], [`info @${object}`, 'object'], ['top 20 by retained', 'types']];
  for (let click = 0; click < clicks; click += 1) {
    const [q, view] = views[click % views.length];
    await goTo(page, { q });
    await settled(page, view);
  }
  await complete(page);
  await client.send('HeapProfiler.collectGarbage');
  return (await client.send('Runtime.getHeapUsage')).usedSize / (1 << 20);
}
row('JS heap after 100 views, MiB', [await heapAfter(100)], '150');
row('JS heap after 200 views, MiB', [await heapAfter(100)], '150');

console.log(`\n${file}\n\n| what | median | 95 % | bar |\n|---|---|---|---|`);
for (const { what, median, worst, bar } of rows) console.log(`| ${what} | ${median.toFixed(1)} | ${worst.toFixed(1)} | ≤ ${bar} |`);
if (watchOf(page).faults.length > 0) console.log(`faults: ${watchOf(page).faults.join('; ')}`);
await browser.close();
await server.stop();
