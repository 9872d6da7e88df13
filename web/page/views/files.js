// The files that are served: their formats and states. A dump is imported on a click, with progress, and several dumps of one
// process become a series. Until then their totals are shown, if they can be counted sooner.

import { fill, h } from '../dom.js';
import { STOPPED, isAbort } from '../ask.js';
import { grouped, size, visible } from '../value_text.js';
import { renderAnswer } from '../answer.js';
import { contextOf } from '../context.js';
import { errorNode, progressNode, showProgress } from '../section.js';
import { importDump } from '../served.js';
import { empty } from '../state.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../served.js').ServedFile} ServedFile */
/** `totals`: what is known before the end; null until it is asked. @typedef {{controller: AbortController, node: HTMLElement, totals: HTMLElement | null}} Import */

/** What is asked while a dump is imported. */
const EARLY = ['summary all', 'top 10'];

/** Imports that run, by file: they go on when the view is left. @type {Map<number, Import>} */
const imports = new Map();
/** What went wrong, by file. @type {Map<number, HTMLElement>} */
const failures = new Map();

/** @param {HTMLElement} root @param {Context} ctx @returns {import('../context.js').View} */
export function mount(root, ctx) {
  const show = () => {
    askTotals(ctx);
    const asked = ctx.state.f;
    const chosen = ctx.files.find((file) => file.name === asked) ?? (ctx.files.length === 1 ? ctx.files[0] : undefined);
    // What the command line names is imported at once, one after the other.
    const named = [chosen, ...ctx.files].find((file) => file?.named && file.state === 'dump' && !failures.has(file.id));
    if (named && imports.size === 0) return begin(named, ctx, show);
    const unknown = asked !== null && !ctx.files.some((file) => file.name === asked)
      ? h('div', { class: 'error', role: 'alert' }, h('p', null, 'There is no file ', h('bdi', null, visible(asked.slice(0, 200))), ' here.')) : null;
    root.dataset.state = unknown ? 'error' : ctx.files.length === 0 ? 'empty' : chosen?.state === 'unreadable' ? 'error' : 'ready';
    fill(root, h('section', { class: 'section', 'data-section': 'files', 'data-state': root.dataset.state },
      h('div', { class: 'section-head' }, h('h2', null, 'Files')), unknown, waitingNode(ctx, chosen),
      ctx.files.length === 0 ? h('p', { class: 'empty' }, 'There is no recording and no dump here.') : table(ordered(ctx.files, chosen), ctx, show)),
    [...imports.values()].map(({ totals }) => totals));
  };
  return { update: show, destroy() {} };
}

/** The line that was asked before its file can answer; empty if there is none. @param {Context} ctx */
function waitingLine({ state }) {
  return state.extra.p ? '' : state.q;
}

/** When the line that waits is answered. @param {Context} ctx @param {ServedFile} [chosen] */
function waitingNode(ctx, chosen) {
  const line = waitingLine(ctx);
  if (!line || chosen?.state === 'unreadable') return null;
  return h('p', { class: 'banner', role: 'status', 'data-banner': 'waiting' }, h('code', null, visible(line)),
    imports.size > 0 || chosen?.state === 'importing' ? ' is answered when the import ends.'
      : chosen ? ' is answered once this is imported.' : ' is answered once you choose a file.');
}

/** The chosen file first, then series, then the others. @param {ServedFile[]} files @param {ServedFile | undefined} chosen */
function ordered(files, chosen) {
  const place = (/** @type {ServedFile} */ file) => (file === chosen ? 0 : file.dumps ? 1 : 2);
  return files.toSorted((one, other) => place(one) - place(other));
}

/** @param {ServedFile[]} files @param {Context} ctx @param {() => void} show */
function table(files, ctx, show) {
  const waiting = waitingLine(ctx);
  // What can be done comes before what a narrow screen leaves out.
  const head = ['file', 'state', 'format', 'size', 'snapshots'];
  return h('div', { class: 'table-scroll', tabindex: 0, role: 'group', 'aria-label': 'files' }, h('table', { class: 'rows' },
    h('thead', null, h('tr', null, head.map((name) => h('th', { scope: 'col', class: ['size', 'snapshots'].includes(name) ? 'number' : '' }, name)))),
    h('tbody', null, files.map((file) => h('tr', { 'data-file': file.id, 'data-file-state': file.state },
      h('td', null, h('a', {
        href: ctx.href({ f: file.name, q: waiting, p: file.state === 'ready' || waiting ? null : 'files' }),
        onclick: file.state !== 'dump' || imports.has(file.id) ? undefined : (/** @type {MouseEvent} */ event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey) return;
          event.preventDefault();
          begin(file, ctx, show, true);
        },
      }, h('bdi', null, visible(file.name)))),
      h('td', null, stateOf(file, ctx, show)),
      h('td', null, visible(file.format ?? '')), h('td', { class: 'number' }, size(file.bytes)),
      h('td', { class: 'number' }, file.snapshots === null ? '' : grouped(file.snapshots)))))));
}

/** @param {ServedFile} file @param {Context} ctx @param {() => void} show */
function stateOf(file, ctx, show) {
  const running = imports.get(file.id);
  if (running) return running.node;
  const failure = failures.get(file.id);
  const button = h('button', { type: 'button', onclick: () => begin(file, ctx, show) }, file.dumps ? 'open as a series' : 'import');
  const lost = file.lost ? h('span', { class: 'banner lost' }, visible(file.lost)) : null;
  switch (file.state) {
    case 'dump': return h('div', null, failure, file.dumps ? `${grouped(file.dumps)} dumps, perhaps of one process ` : 'a dump, not imported yet ', button);
    case 'importing': return 'is being imported …';
    case 'unreadable': return h('span', { class: 'warning' }, visible(file.problem ?? 'cannot be read'));
    default: return h('span', null, file.growing ? '● growing ' : file.replaced ? 'was replaced ' : 'ready ', lost);
  }
}

/** @param {ServedFile} file @param {Context} ctx @param {() => void} show @param {boolean} [opens] the file afterwards */
function begin(file, ctx, show, opens = false) {
  const controller = new AbortController();
  const since = performance.now();
  const node = h('div', { 'data-state': 'loading' }, progressNode(() => controller.abort(STOPPED)));
  /** @type {import('../ask.js').Progress | null} */
  let progress = null;
  const timer = setInterval(() => showProgress(node, progress, performance.now() - since), 100);
  failures.delete(file.id);
  imports.set(file.id, { controller, node, totals: null });
  const end = (/** @type {string} */ told) => {
    clearInterval(timer);
    controller.abort();
    imports.delete(file.id);
    ctx.announce(told);
    show();
    // The button that had the focus is gone.
    if (document.activeElement === document.body) /** @type {HTMLElement | null} */ (document.querySelector(`[data-file="${file.id}"] a`))?.focus();
  };
  importDump(file, { signal: controller.signal, onProgress: (next) => { progress = next; } }).then(
    () => {
      const isSeen = node.isConnected;
      end(`imported ${file.name}`);
      const { f, q, s, w, lets } = ctx.state;
      const isWaiting = waitingLine(ctx) !== '' && (f === null || f === file.name);
      if (isSeen && (opens || file.dumps || isWaiting)) ctx.go({ f: file.name, p: null, ...(isWaiting ? { q, s, w, lets } : { q: '' }) });
    },
    (error) => {
      failures.set(file.id, isAbort(error) ? h('p', { class: 'cancelled', 'data-state': 'cancelled' }, 'The import was stopped.') : errorNode(error));
      end('not imported');
    },
  );
  show();
}

/** Asks for totals that were counted while a dump is imported. @param {Context} ctx */
function askTotals(ctx) {
  for (const [id, one] of imports) {
    const file = ctx.files.find((file) => file.id === id);
    if (one.totals || !file?.totals) continue;
    one.totals = h('div', { class: 'early' });
    void showTotals(file, one.totals, ctx, one.controller.signal);
  }
}

/** @param {ServedFile} file @param {HTMLElement} place @param {Context} ctx @param {AbortSignal} signal */
async function showTotals(file, place, ctx, signal) {
  const state = { ...empty(), f: file.name };
  const own = contextOf({ state: () => state, file: () => file, verbs: ctx.verbs, go: ctx.go, announce: ctx.announce, signal });
  try {
    for (const line of EARLY) {
      const answer = await own.ask(line, { snapshot: null });
      place.append(h('section', { class: 'section', 'data-section': 'early', 'data-state': 'ready' },
        h('div', { class: 'section-head' }, h('h2', null, 'Counted before the import has ended'), h('code', { class: 'line' }, line)), renderAnswer(answer, own)));
    }
  } catch (error) {
    if (!isAbort(error)) place.append(errorNode(/** @type {Error} */ (error)));
  }
}
