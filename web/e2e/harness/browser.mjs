// A browser with watchful pages: what must never happen on the page is written down, and `check` finds it.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { existsSync, readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';

/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('./binary.mjs').Server} Server */

const CHROME = process.env.CHROME ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** Longer than any answer here takes on a slow machine, in milliseconds. */
export const PATIENCE = Number(process.env.BARROW_PATIENCE ?? 30_000);

/** A browser for the tests of a file. @param {{args?: string[]}} [options] */
export async function launch({ args = [] } = {}) {
  if (!CHROME) throw new Error('there is no Chromium; set CHROME to its path');
  return chromium.launch({ executablePath: CHROME, args: ['--no-sandbox', '--disable-gpu', ...args] });
}

/**
 * What a page has done that it must not do.
 * @typedef {object} Watch
 * @property {string[]} faults dialogs, errors, violations of the security policy, requests to other machines
 * @property {{status: number, url: string}[]} refused answers of 400 and above
 * @property {string[]} requests the address of each request
 * @property {Set<import('playwright-core').Request>} asking questions that are not answered yet
 */

/**
 * A page of a server, in a context of its own: as a new visitor sees it.
 * @param {import('playwright-core').Browser} browser @param {Server} server
 * @param {{dark?: boolean, width?: number, height?: number, fragment?: string, isFirst?: boolean}} [options]
 */
export async function openPage(browser, server, options = {}) {
  const { dark = false, width = 1280, height = 800, fragment = '' } = options;
  const context = await browser.newContext({
    viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  const page = await anotherTab(context, server);
  await page.goto(server.address.replace(/#.*/, '') + fragment);
  return page;
}

/** @type {WeakMap<Page, Watch>} */
const watches = new WeakMap();

/** A further tab of the same visitor. @param {import('playwright-core').BrowserContext} context @param {Server} server */
export async function anotherTab(context, server) {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  /** @type {Watch} */
  const watch = { faults: [], refused: [], requests: [], asking: new Set() };
  watches.set(page, watch);
  page.on('dialog', (dialog) => {
    watch.faults.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('pageerror', (error) => watch.faults.push(`an exception: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    // The browser tells of each refused answer; `refused` has their statuses.
    if (['error', 'warning'].includes(message.type()) && !/^Failed to load resource: the server responded/.test(message.text())) {
      watch.faults.push(`on the console: ${message.text()}`);
    }
  });
  page.on('request', (request) => {
    watch.requests.push(request.url());
    if (request.url().startsWith(`${server.origin}/api/ask`)) watch.asking.add(request);
    const { protocol, origin } = new URL(request.url());
    if (origin !== server.origin && protocol !== 'data:') watch.faults.push(`a request to ${request.url()}`);
  });
  page.on('requestfinished', (request) => watch.asking.delete(request));
  page.on('requestfailed', (request) => watch.asking.delete(request));
  page.on('response', (response) => {
    if (response.status() >= 400) watch.refused.push({ status: response.status(), url: decodeURIComponent(response.url()) });
  });
  page.on('popup', (popup) => watch.faults.push(`a window: ${popup.url()}`));
  await page.exposeBinding('violated', (_, text) => { watch.faults.push(`against the security policy: ${text}`); });
  await page.addInitScript(() => {
    addEventListener('securitypolicyviolation', (event) => {
      /** @type {any} */ (window).violated(`${event.violatedDirective} ${event.blockedURI} ${event.sourceFile}:${event.lineNumber}`);
    });
  });
  return page;
}

/** @param {Page} page @returns {Watch} */
export function watchOf(page) {
  const watch = watches.get(page);
  if (!watch) throw new Error('this page is not watched');
  return watch;
}

/** Fails if the page did what it must not do. @param {Page} page @param {number[]} [refused] statuses that are meant to be */
export function check(page, refused = []) {
  const watch = watchOf(page);
  assert.deepEqual(watch.faults, []);
  assert.deepEqual(watch.refused.filter(({ status }) => !refused.includes(status)), []);
}

/** Closes a page after its check. @param {Page} page @param {number[]} [refused] */
export async function leave(page, refused) {
  check(page, refused);
  // Hidden ones among them.
  const negative = await page.locator('button').evaluateAll((all) => all.map((one) => one.textContent ?? '').filter((text) => /(^|\s)-\d/.test(text)));
  assert.deepEqual(negative, [], 'buttons say a negative number');
  await page.context().close();
}

/** The fragment of a state. @param {Record<string, string | number | string[]>} fields */
export function fragment(fields) {
  const all = new URLSearchParams();
  for (const [key, value] of Object.entries(fields)) {
    for (const one of [value].flat()) all.append(key, String(one));
  }
  return `#${all}`;
}

/** Waits until a view has one of these states. @param {Page} page @param {string} view @param {string[]} [states] */
export async function settled(page, view, states = ['ready']) {
  const wanted = states.map((state) => `.view[data-view="${view}"][data-state="${state}"]`).join();
  await page.locator(wanted).waitFor().catch(async (error) => {
    const is = await page.locator('.view').evaluateAll((all) => all.map((one) => `${one.getAttribute('data-view')} ${one.getAttribute('data-state')}: ${one.textContent?.slice(0, 300)}`));
    throw new Error(`${view} is not ${states.join(' or ')} but ${is.join(' | ')}\n${error.message}`);
  });
}

/** Waits until nothing that is seen of the view loads. @param {Page} page */
export async function quiet(page) {
  await page.waitForFunction(() => {
    const view = document.querySelector('.view');
    const all = view ? [view, ...view.querySelectorAll('[data-state]')] : [];
    return view && all.every((one) => /** @type {HTMLElement} */ (one).dataset.state !== 'loading' || !one.checkVisibility());
  });
}

/** Waits until everything has been asked and drawn, small additions to a view among it. @param {Page} page */
export async function complete(page) {
  const until = Date.now() + PATIENCE;
  do {
    await quiet(page);
    await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); }));
    if (Date.now() > until) throw new Error(`never answered: ${[...watchOf(page).asking].map((request) => request.url())}`);
  } while (watchOf(page).asking.size > 0 || await asks(page));
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); }));
}

/** Whether the page waits for an answer: it reads one after its request has ended. @param {Page} page @returns {Promise<boolean>} */
function asks(page) {
  return page.evaluate(async () => (await import(new URL('ask.js', document.baseURI).href)).runningQuestions().length > 0);
}

/** Goes to a state of the page, as if its link were followed. @param {Page} page @param {Record<string, string | number | string[]>} fields */
export async function goTo(page, fields) {
  await page.evaluate((hash) => { location.hash = hash; }, fragment(fields));
}

/** Types a line and asks it. @param {Page} page @param {string} line */
export async function ask(page, line) {
  await page.locator('#line').fill(line);
  await page.locator('#line').press('Enter');
}

/** The line that the page shows. @param {Page} page */
export function lineOf(page) {
  return page.locator('#line').inputValue();
}

/** What `copy` of the header puts into the clipboard. @param {Page} page @param {'line' | 'link' | 'shell' | 'serve'} what */
export async function copied(page, what) {
  await page.locator('#head details.menu summary', { hasText: /^copy/ }).click();
  await page.locator('#head details.menu[open] .items button', { hasText: new RegExp(`^${what}`) }).click();
  return clipboard(page);
}

/** @param {Page} page */
export function clipboard(page) {
  return page.evaluate(() => navigator.clipboard.readText());
}

/** Accessibility: WCAG 2.0 to 2.2, A and AA, without a violation. @param {Page} page @param {string} what */
export async function accessible(page, what) {
  if (!await page.evaluate(() => 'axe' in window)) await page.evaluate(AXE);
  const found = await page.evaluate(async () => {
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
    const { violations } = await /** @type {any} */ (window).axe.run(document, { runOnly: { type: 'tag', values: tags } });
    return violations.map((/** @type {any} */ one) => `${one.id} (${one.impact}): ${one.nodes.slice(0, 3).map((/** @type {any} */ node) => `${node.html.slice(0, 200)} ${node.failureSummary}`).join(' | ')}`);
  });
  assert.deepEqual(found, [], `violations in ${what}`);
}

/** Fails if the page is wider than the window. @param {Page} page @param {string} what */
export async function fits(page, what) {
  const { wide, width } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth, width: innerWidth }));
  assert.ok(wide <= width, `${what} is ${wide} pixels wide in a window of ${width}`);
}

/**
 * Holds the answers to some questions until they are released: for states that pass too fast.
 * @param {Page} page @param {(line: string) => boolean} [which]
 */
export async function held(page, which = () => true) {
  /** @type {(() => void) | undefined} */
  let release;
  const gate = new Promise((resolve) => { release = () => resolve(undefined); });
  let seen = 0;
  const matches = (/** @type {URL} */ url) => url.pathname === '/api/ask' && which(url.searchParams.get('q') ?? '');
  await page.route(matches, async (route) => {
    seen += 1;
    await gate;
    await route.continue().catch(() => {});
  });
  return {
    get seen() { return seen; },
    async release() {
      release?.();
      await page.unroute(matches);
    },
  };
}
