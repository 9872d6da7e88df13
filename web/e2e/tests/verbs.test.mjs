// Every verb that the page can ask draws its rows: those that `barrow VERB --format json` prints.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { answered, serve } from '../harness/binary.mjs';
import { fragment, goTo, launch, leave, openPage, quiet, settled } from '../harness/browser.mjs';
import { BUILD, INVOICES, JVM, LEAK, THREADS, TRIAL } from '../harness/fixtures.mjs';

/** A question of each verb, and the recording that has something to say to it. Verbs that are not here are asked alone: of the first, or of `build` if
 *  they are about processes, or of `trial` if they are about trials. */
const FILES = { leak: LEAK, build: BUILD, invoices: INVOICES, threads: THREADS, trial: TRIAL, jvm: JVM };
/** @type {Record<string, {line: string, file?: keyof typeof FILES}>} */
const LINES = {
  age: { line: 'age' },
  assert: { line: "assert 'count(type = \"list\") > 0'" },
  born: { line: 'born 0..last' },
  collections: { line: 'collections', file: 'jvm' },
  common: { line: 'common type = "__main__.Session"' },
  count: { line: 'count size > 1K' },
  diff: { line: 'diff 0 last by type' },
  died: { line: 'died 0..last' },
  dominators: { line: 'dominators @0' },
  entries: { line: 'entries @8113', file: 'jvm' },
  find: { line: 'find 20 size > 1K' },
  group: { line: 'group size > 1K by type,kind by retained' },
  growth: { line: 'growth 1..7' },
  // No process of it has a heap of its own: that is said in a sentence.
  heap: { line: 'processes 3', file: 'build' },
  help: { line: 'help expressions' },
  idom: { line: 'idom @5000' },
  info: { line: 'info @5000' },
  inrefs: { line: 'inrefs @5000' },
  loaders: { line: 'loaders', file: 'jvm' },
  path: { line: 'path @5000' },
  paths: { line: 'paths type = "__main__.Session"' },
  retained: { line: 'retained type = "__main__.Session"' },
  show: { line: 'show @5000' },
  site: { line: 'site 1', file: 'invoices' },
  // A shell prints all rows without a number.
  sites: { line: 'sites 15', file: 'invoices' },
  processes: { line: 'processes 15', file: 'build' },
  snapshot: { line: 'snapshot' },
  stack: { line: 'stack main', file: 'threads' },
  strings: { line: 'strings *main*' },
  survival: { line: 'survival type = "__main__.Session"' },
  survived: { line: 'survived 2' },
  threads: { line: 'threads', file: 'threads' },
  top: { line: 'top 10' },
  compare: { line: 'compare scan scan-new', file: 'trial' },
  list: { line: 'list 20 size > 1K of type, name, size, retained by retained' },
  modes: { line: 'modes wall scan', file: 'trial' },
  runs: { line: 'runs', file: 'trial' },
  values: { line: 'values wall mode 2', file: 'trial' },
  'what-if': { line: 'what-if -j 2', file: 'build' },
  trend: { line: 'trend type = "__main__.Session"' },
};

/** @type {Record<string, import('../harness/binary.mjs').Server>} */
const servers = {};
/** @type {import('playwright-core').Browser} */
let browser;
/** @type {any[]} */
let verbs = [];

before(async () => {
  for (const [name, file] of Object.entries(FILES)) servers[name] = await serve([file]);
  browser = await launch();
  verbs = (await (await servers.leak.get('/api/verbs')).json()).verbs.filter((/** @type {any} */ verb) => verb.page);
});
after(async () => {
  await browser?.close();
  await Promise.all(Object.values(servers).map((server) => server.stop()));
});

/** A value of an answer as JSON prints it. @param {any} value @returns {any} */
function plain(value) {
  switch (value.kind) {
    case 'none': return null;
    case 'measured':
    case 'decimal': return value.value.value;
    case 'object': return value.value.text;
    case 'series': return value.value.numbers;
    case 'list': return value.value.map(plain);
    case 'record': return Object.fromEntries(value.value.map((/** @type {any} */ fact) => [fact.column.key, plain(fact.value)]));
    default: return value.value;
  }
}

/** Numbers may be written in two ways, shares with six digits. @param {any} value @returns {any} */
function rounded(value) {
  if (typeof value === 'number') return Number.isInteger(value) ? value : Number(Number(value.toFixed(6)).toPrecision(4));
  if (Array.isArray(value)) return value.map(rounded);
  if (value && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, rounded(one)]));
  return value;
}

test('there are verbs', () => assert.ok(verbs.length >= 30, `${verbs.length} verbs`));

test('every verb has a page with the rows of a shell', async (context) => {
  for (const verb of verbs) {
    await context.test(verb.name, async () => {
      const { line, file = verb.needs[0] === 'processes' ? 'build' : verb.needs[0] === 'trials' ? 'trial' : 'leak' } = LINES[verb.name] ?? { line: verb.name };
      const server = servers[file];
      const page = await openPage(browser, server, { fragment: fragment({ q: line }) });
      await page.locator('.view').first().waitFor();
      await quiet(page);
      const state = await page.locator('.view').first().getAttribute('data-state');
      assert.ok(['ready', 'empty'].includes(state ?? ''), `${line}: ${state}: ${await page.locator('main').innerText()}`);
      await leave(page);

      // The same as JSON, from the server and from a shell. Some tables are for people only.
      const told = answered(FILES[file], line);
      const stream = await (await server.get(`/api/ask?f=0&q=${encodeURIComponent(line)}`)).text();
      const { answer } = JSON.parse(stream.trim().split('\n').at(-1) ?? '');
      assert.ok(answer, stream.slice(0, 500));
      const table = answer.tables.find((/** @type {any} */ one) => one.audience !== 'people' && (one.key === 'rows' || Array.isArray(told[one.key])));
      if (!table) {
        const facts = answer.facts.map((/** @type {any} */ fact) => fact.column.key);
        const lists = Object.entries(told).filter(([key, value]) => Array.isArray(value) && typeof value[0] === 'object' && !facts.includes(key));
        assert.deepEqual(lists, [], `${line}: lists without a table`);
        return;
      }
      const expected = told[table.key];
      assert.equal(table.rows.length, expected.length, `${line}: rows`);
      const keys = table.columns.map((/** @type {any} */ column) => column.key);
      table.rows.slice(0, 200).forEach((/** @type {any[]} */ row, /** @type {number} */ at) => {
        const own = Object.fromEntries(keys.map((/** @type {string} */ key, /** @type {number} */ place) => [key, plain(row[place])]));
        for (const [key, value] of Object.entries(expected[at])) assert.deepEqual(rounded(own[key]), rounded(value), `${line}: row ${at}: ${key}`);
      });
    });
  }
});

test('what is drawn are the rows of the answer', async () => {
  for (const [line, file] of /** @type {[string, keyof typeof FILES][]} */ ([['find 20 size > 1K', 'leak'], ['strings *main*', 'leak'], ['threads', 'threads'], ['inrefs @5000', 'leak'], ['roots', 'leak']])) {
    const server = servers[file];
    const page = await openPage(browser, server, { fragment: fragment({ q: line }) });
    await page.locator('.view').first().waitFor();
    await quiet(page);
    const told = answered(FILES[file], line);
    const drawn = await page.locator('.view table').last().locator('tbody tr').allInnerTexts();
    assert.equal(drawn.length, Math.min(told.rows.length, 200), line);
    told.rows.slice(0, drawn.length).forEach((/** @type {any} */ row, /** @type {number} */ at) => {
      for (const key of ['object', 'type', 'name', 'category', 'text']) {
        const value = row[key];
        if (typeof value === 'number') assert.ok(drawn[at].includes(`@${value}`), `${line}: row ${at}: @${value} in ${drawn[at]}`);
        else if (typeof value === 'string' && /^[\w .]{1,100}$/.test(value)) assert.ok(drawn[at].includes(value), `${line}: row ${at}: ${value} in ${drawn[at]}`);
      }
    });
    await leave(page);
  }
});

test('what is wider than its box is marked, and no heading of the page is cut', async () => {
  const narrow = await openPage(browser, servers.threads, { width: 390, height: 844, fragment: fragment({ q: 'stack main' }) });
  await settled(narrow, 'answer');
  const marks = await narrow.locator('.table-scroll').evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => getComputedStyle(one).backgroundAttachment));
  assert.ok(marks.length > 0);
  assert.deepEqual(new Set(marks), new Set(['local, local, scroll, scroll']));
  await goTo(narrow, { q: 'growth' });
  await settled(narrow, 'series');
  const legend = await narrow.locator('div.legend').first().evaluate((one) => ({ isWide: one.scrollWidth > one.clientWidth, mask: getComputedStyle(one).maskImage }));
  assert.ok(legend.isWide);
  assert.match(legend.mask, /^linear-gradient/);
  await leave(narrow);
  const wide = await openPage(browser, servers.invoices, { fragment: fragment({ q: 'top by size' }) });
  for (const q of ['top by size', 'histogram by type by unmanaged', 'diff 0 5']) {
    await goTo(wide, { q });
    await settled(wide, 'types');
    const cut = await wide.locator('.vr-head > *').evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent));
    assert.deepEqual(cut, [], q);
  }
  await leave(wide);
});
