// The files that are served: their formats and states. A dump is imported on a click, with progress.

import { fill, h } from '../dom.js';
import { STOPPED, isAbort } from '../ask.js';
import { grouped, size, visible } from '../value_text.js';
import { errorNode, progressNode, showProgress } from '../section.js';
import { importDump } from '../served.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../served.js').ServedFile} ServedFile */
/** @typedef {{controller: AbortController, node: HTMLElement}} Import */

/** Imports that run, by file: they go on when the view is left. @type {Map<number, Import>} */
const imports = new Map();
/** What went wrong, by file. @type {Map<number, HTMLElement>} */
const failures = new Map();

/** @param {HTMLElement} root @param {Context} ctx @returns {import('../context.js').View} */
export function mount(root, ctx) {
  const show = () => {
    const asked = ctx.state.f;
    const chosen = ctx.files.find((file) => file.name === asked) ?? (ctx.files.length === 1 ? ctx.files[0] : undefined);
    // What the command line names is imported at once, one after the other.
    const named = [chosen, ...ctx.files].find((file) => file?.named && file.state === 'dump' && !failures.has(file.id));
    if (named && imports.size === 0) return begin(named, ctx, show);
    const unknown = asked !== null && !ctx.files.some((file) => file.name === asked)
      ? h('div', { class: 'error', role: 'alert' }, h('p', null, 'There is no file ', h('bdi', null, visible(asked.slice(0, 200))), ' here.')) : null;
    root.dataset.state = unknown ? 'error' : ctx.files.length === 0 ? 'empty' : chosen?.state === 'unreadable' ? 'error' : 'ready';
    fill(root, h('section', { class: 'section', 'data-section': 'files', 'data-state': root.dataset.state }, h('div', { class: 'section-head' }, h('h2', null, 'Files')), unknown,
      ctx.files.length === 0 ? h('p', { class: 'empty' }, 'There is no recording and no dump here.') : table(chosen ? [chosen, ...ctx.files.filter((file) => file !== chosen)] : ctx.files, ctx, show)));
  };
  return { update: show, destroy() {} };
}

/** @param {ServedFile[]} files @param {Context} ctx @param {() => void} show */
function table(files, ctx, show) {
  const head = ['file', 'format', 'size', 'snapshots', 'state'];
  return h('div', { class: 'table-scroll', tabindex: 0, role: 'group', 'aria-label': 'files' }, h('table', { class: 'rows' },
    h('thead', null, h('tr', null, head.map((name) => h('th', { scope: 'col', class: ['size', 'snapshots'].includes(name) ? 'number' : '' }, name)))),
    h('tbody', null, files.map((file) => h('tr', { 'data-file': file.id, 'data-file-state': file.state },
      h('td', null, h('a', { href: ctx.href({ f: file.name, q: '', p: file.state === 'ready' ? null : 'files' }) }, h('bdi', null, visible(file.name)))),
      h('td', null, visible(file.format ?? '')), h('td', { class: 'number' }, size(file.bytes)),
      h('td', { class: 'number' }, file.snapshots === null ? '' : grouped(file.snapshots)),
      h('td', null, stateOf(file, ctx, show)))))));
}

/** @param {ServedFile} file @param {Context} ctx @param {() => void} show */
function stateOf(file, ctx, show) {
  const running = imports.get(file.id);
  if (running) return running.node;
  const failure = failures.get(file.id);
  const button = h('button', { type: 'button', onclick: () => begin(file, ctx, show) }, 'import');
  const lost = file.lost ? h('span', { class: 'banner lost' }, visible(file.lost)) : null;
  switch (file.state) {
    case 'dump': return h('div', null, failure, 'a dump, not imported yet ', button);
    case 'importing': return 'is being imported …';
    case 'unreadable': return h('span', { class: 'warning' }, visible(file.problem ?? 'cannot be read'));
    default: return h('span', null, file.growing ? '● growing ' : file.replaced ? 'was replaced ' : 'ready ', lost);
  }
}

/** @param {ServedFile} file @param {Context} ctx @param {() => void} show */
function begin(file, ctx, show) {
  const controller = new AbortController();
  const since = performance.now();
  const node = h('div', { 'data-state': 'loading' }, progressNode(() => controller.abort(STOPPED)));
  /** @type {import('../ask.js').Progress | null} */
  let progress = null;
  const timer = setInterval(() => showProgress(node, progress, performance.now() - since), 100);
  failures.delete(file.id);
  imports.set(file.id, { controller, node });
  const end = (/** @type {string} */ told) => {
    clearInterval(timer);
    imports.delete(file.id);
    ctx.announce(told);
    show();
    // The button that had the focus is gone.
    if (document.activeElement === document.body) /** @type {HTMLElement | null} */ (document.querySelector(`[data-file="${file.id}"] a`))?.focus();
  };
  importDump(file, { signal: controller.signal, onProgress: (next) => { progress = next; } }).then(
    () => end(`imported ${file.name}`),
    (error) => {
      failures.set(file.id, isAbort(error) ? h('p', { class: 'cancelled', 'data-state': 'cancelled' }, 'The import was stopped.') : errorNode(error));
      end('not imported');
    },
  );
  show();
}
