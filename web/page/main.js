// The page begins here: files and verbs, then the view of the address.

import { byId, fill, h } from './dom.js';
import { AskError, request, takeToken } from './ask.js';
import { attributes } from './asked_rows.js';
import { contextOf } from './context.js';
import { applyTheme, buildFrame, restoreLine, showFrame, tell } from './frame.js';
import { listenToKeys } from './keys.js';
import { listenForLinkMenus } from './link_menu.js';
import { errorNode } from './section.js';
import { fileNamed, followServed, loadServed, nowServed, onServed } from './served.js';
import { changed, changeOf, format, parse, quoted, resolveVerbsWith, verbOf, viewOf, words } from './state.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./state.js').Change} Change */
/** @typedef {import('./context.js').Verb} Verb */
/** @typedef {import('./context.js').View} View */
/** @typedef {import('./context.js').Context} Context */

/** @type {Record<string, () => Promise<{mount: (root: HTMLElement, ctx: Context) => View}>>} */
const VIEWS = {
  series: () => import('./views/series.js'),
  types: () => import('./views/types.js'),
  tree: () => import('./views/tree.js'),
  flame: () => import('./views/flame.js'),
  object: () => import('./views/object.js'),
  objects: () => import('./views/objects.js'),
  list: () => import('./views/list.js'),
  answer: () => import('./views/answer.js'),
  lanes: () => import('./views/lanes.js'),
  trials: () => import('./views/trials.js'),
  metric: () => import('./views/metric.js'),
  compare: () => import('./views/metric.js').then(({ mountCompare: mount }) => ({ mount })),
  runs: () => import('./views/trials.js').then(({ mountRuns: mount }) => ({ mount })),
  files: () => import('./views/files.js'),
  help: () => import('./views/help.js'),
  search: () => import('./views/search.js'),
};

/** Verbs whose answers can be drawn as flame graphs besides their own. */
const DRAWN = ['dominators', 'paths', 'sites'];

let state = parse(location.hash);
/** @type {Verb[]} */
let verbs = [];
/** @typedef {{name: string, file: number | null, view: View | null, root: HTMLElement, ctx?: Context, controller: AbortController, href: string, line: string, scroll?: number}} Mounted */
/** The view that is there. @type {Mounted | null} */
let current = null;
/** The last view that had an answer: it stays until the next one has, and is seen if that fails. @type {Mounted | null} */
let lastGood = null;
let isFirst = true;
/** How far each entry of the history was scrolled, and how far the one that the reader goes back to was. @type {Map<string, number>} */
const scrolled = new Map();
let returnsTo = 0;
/** The scroll position of the page, kept because asking the browser makes it lay out the page. */
let scrollTop = 0;

/** Changes the address. @param {Change} change @param {{replace?: boolean}} [how] */
function go(change, how = {}) {
  const next = format(changed(state, change));
  if (next === location.hash) return;
  history[how.replace ? 'replaceState' : 'pushState'](null, '', next);
  route();
}

/** @param {string} text */
function announce(text) {
  byId('announcer').append(h('p', null, text));
  while (byId('announcer').childElementCount > 3) byId('announcer').firstElementChild?.remove();
}

/** A line was typed: a question, or a change of the state. @param {string} line */
function submit(line) {
  const asked = line.trim();
  if (asked === '') return restoreLine();
  const change = changeOf(asked, state);
  if (change) {
    go(change);
    restoreLine();
    announce(asked);
  } else if (asked === state.q && !state.extra.p) {
    void show(true);
  } else {
    go({ q: asked });
  }
}

/** The name of the view of a state. @param {State} of */
function viewNamed(of) {
  const file = fileNamed(of.f);
  const asked = of.extra.p;
  if (asked === 'help' || viewOf(of.q) === 'help') return 'help';
  if (!file || file.state !== 'ready' || asked === 'files') return 'files';
  if (asked === 'search') return 'search';
  const view = viewOf(of.q, file);
  // Answers with a tree are drawn as a flame graph, too.
  return of.extra.as === 'flame' && file.snapshots && DRAWN.includes(verbOf(of.q)) ? 'flame' : view;
}

/** What a file is shown with at first. @param {State} of @returns {State} */
function withLine(of) {
  const file = fileNamed(of.f);
  const change = of.q ? changeOf(of.q, of) : null;
  if (change) return withLine(changed({ ...of, q: '' }, change));
  if (of.q || of.extra.p || !file || file.state !== 'ready') return of;
  if (file.snapshots === 0) return { ...of, q: file.processes ? 'lanes' : file.trials ? 'trials' : 'info' };
  return { ...of, q: (file.snapshots ?? 0) > 1 ? 'summary all' : 'summary' };
}

/** Shows what the address says. */
function route() {
  state = withLine(parse(location.hash));
  if (format(state) !== location.hash && state.q) history.replaceState(null, '', format(state));
  void show(false);
}

/** @param {boolean} isAgain whether the view is made anew */
async function show(isAgain) {
  const name = viewNamed(state);
  const file = fileNamed(state.f);
  showFrame({ state, file, files: nowServed().files, verbs, view: name });
  if (!isAgain && current?.view && current.name === name && current.file === (file?.id ?? null)) {
    current.view.update(state);
    remember(current);
    return;
  }
  leave(file?.id ?? null);
  const controller = new AbortController();
  const root = h('div', { class: 'view', 'data-view': name, 'data-state': 'loading' });
  /** @type {Mounted} */
  const mine = { name, file: file?.id ?? null, view: null, root, controller, href: format(state), line: state.q };
  current = mine;
  byId('view').prepend(root);
  new MutationObserver(() => showLastGood(mine)).observe(root, { attributeFilter: ['data-state'] });
  try {
    const early = name === 'search' ? earlySearch(root) : null;
    const { mount } = await VIEWS[name]();
    if (current !== mine) return;
    const ctx = contextOf({ state: () => state, file: () => fileNamed(state.f), verbs, go, announce, signal: controller.signal });
    mine.view = mount(root, ctx);
    mine.view.update(state);
    if (early?.value) fillSearch(early.value);
    mine.ctx = ctx;
    remember(mine);
    // What had the focus is gone with the view before.
    if (document.activeElement === document.body && !isFirst) byId('view').focus({ preventScroll: true });
    isFirst = false;
    mine.scroll = returnsTo;
    scrollTo(0, 0);
  } catch (error) {
    if (current !== mine) return;
    root.dataset.state = 'error';
    root.append(errorNode(/** @type {Error} */ (error)));
    throw error;
  }
}

/** The field of the search before its view is loaded: letters are typed at once. @param {HTMLElement} root */
function earlySearch(root) {
  const box = h('input', { id: 'search', type: 'search', 'aria-label': 'search' });
  root.append(h('div', { class: 'search-form' }, box));
  box.focus();
  return box;
}

/** @param {string} typed */
function fillSearch(typed) {
  const box = /** @type {HTMLInputElement} */ (byId('search'));
  box.value = typed;
  box.dispatchEvent(new Event('input'));
}

/** An object that is shown was seen. @param {Mounted} of */
function remember(of) {
  const object = of.name === 'object' ? words(state.q)[1] : undefined;
  if (object?.includes('@')) of.ctx?.visit(object.includes(':') ? object : `${of.ctx.snapshot ?? 0}:${object}`, '');
}

/** Leaves the view: its questions stop. It is kept if it has an answer of the same file. @param {number | null} file the next one */
function leave(file) {
  if (lastGood && lastGood.file !== file) drop();
  const old = current;
  current = null;
  if (!old) return;
  old.controller.abort();
  if (old.view && old.file === file && ['ready', 'empty'].includes(old.root.dataset.state ?? '')) {
    drop();
    lastGood = old;
    old.root.className = 'last-good';
    old.root.hidden = old.root.inert = true;
    for (const name of ['view', 'state']) delete old.root.dataset[name];
  } else {
    old.view?.destroy();
    old.root.remove();
  }
}

/** Shows the last good view below one that has no answer, and drops it once there is one. @param {Mounted} mine */
function showLastGood(mine) {
  if (current !== mine) return;
  const is = mine.root.dataset.state ?? '';
  if (['ready', 'empty'].includes(is)) {
    if (mine.scroll) scrollTo(0, mine.scroll);
    mine.scroll = 0;
    return drop();
  }
  if (!lastGood) return;
  const isSeen = ['error', 'cancelled'].includes(is);
  lastGood.root.hidden = !isSeen;
  byId('view').querySelector('.last-good-label')?.remove();
  if (isSeen) lastGood.root.before(h('p', { class: 'last-good-label' }, 'The last answer, of ', h('a', { href: lastGood.href }, h('code', null, lastGood.line || lastGood.name))));
}

function drop() {
  byId('view').querySelector('.last-good-label')?.remove();
  lastGood?.view?.destroy();
  lastGood?.root.remove();
  lastGood = null;
}

/** The files changed: what follows the last snapshot is asked again. @param {import('./served.js').Served} before */
function filesChanged(before) {
  const file = fileNamed(state.f);
  const old = before.files.find((one) => one.id === file?.id);
  const isAgain = Boolean(old?.replaced && !file?.replaced);
  const isOther = old?.state !== file?.state || isAgain;
  const hasGrown = old && file && old.revision !== file.revision && !file.replaced;
  // What was asked before anything was known of the file was not chosen.
  const isUnknown = old?.snapshots === null && (file?.processes || file?.trials) && !file.snapshots && state.q === 'summary';
  state = withLine(isUnknown ? { ...state, q: '' } : state);
  if ((isOther || isUnknown) && state.q) history.replaceState(null, '', format(state));
  if (!current || isOther || (hasGrown && (state.s === null || current.name === 'series')) || current.name === 'files') void show(isAgain);
  else showFrame({ state, file, files: nowServed().files, verbs, view: current.name });
}

/** A verb by its name, an alias or a unique beginning. @param {string} word */
function verbNamed(word) {
  const exact = verbs.find((verb) => verb.name === word || verb.aliases.includes(word));
  if (exact) return exact.name;
  const begin = word === '' ? [] : verbs.filter((verb) => [verb.name, ...verb.aliases].some((name) => name.startsWith(word)));
  return begin.length === 1 ? begin[0].name : word;
}

async function boot() {
  takeToken();
  applyTheme();
  const own = contextOf({ state: () => state, file: () => fileNamed(state.f), verbs, go, announce, signal: new AbortController().signal });
  buildFrame({ submit, go, announce, complete: own.complete, help: () => go({ q: 'help' }), overview: () => own.ask('summary all', { snapshot: null }), programs: () => own.ask(own.file.snapshots ? 'trials' : 'summary') });
  listenToKeys({ go, state: () => state });
  listenForLinkMenus((of) => fileNamed(of.f));
  resolveVerbsWith(verbNamed);
  try {
    const asked = request('api/verbs');
    await loadServed();
    const response = await asked;
    if (!response.ok) throw new AskError({ message: await response.text() }, response.status);
    const told = await response.json();
    verbs = told.verbs;
    Object.assign(attributes, told.attributes);
  } catch (error) {
    const told = error instanceof AskError ? error : new Error('the server does not answer: is `barrow serve` still running?');
    fill(byId('view'), h('div', { class: 'view', 'data-view': 'boot', 'data-state': 'error' }, errorNode(told)));
    return;
  }
  onServed(filesChanged);
  addEventListener('dragover', (event) => event.preventDefault());
  addEventListener('drop', (event) => {
    event.preventDefault();
    const name = event.dataTransfer?.files[0]?.name;
    if (name) tell(`to open it, run in a shell: barrow serve ${quoted(name)}`);
  });
  addEventListener('popstate', route);
  addEventListener('scroll', () => { scrollTop = scrollY; }, { passive: true });
  // Answers come later than a browser scrolls. One without this interface begins at the top.
  const { navigation } = /** @type {any} */ (globalThis);
  navigation?.addEventListener('navigate', (/** @type {any} */ event) => {
    scrolled.set(navigation.currentEntry.key, scrollTop);
    returnsTo = event.navigationType === 'traverse' ? scrolled.get(event.destination.key) ?? 0 : 0;
  });
  addEventListener('hashchange', () => {
    if (format(withLine(parse(location.hash))) !== format(state)) route();
  });
  route();
  followServed();
}

void boot();
