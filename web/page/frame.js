// The frame of the page: the header with the question line, snapshots and brush, banners, tabs, and the footer.

import { afterFrame, byId, fill, h } from './dom.js';
import { Completion } from './completion.js';
import { onRunning, runningQuestions, stopAll } from './ask.js';
import { progressNode, showProgress } from './section.js';
import { overview } from './overview.js';
import { grouped, size, visible } from './value_text.js';
import { changed, format, isBare, isOfSnapshot, serveLine, shellLine, verbOf, viewOf } from './state.js';
import { cellOf } from './answer.js';
import { selectedSnapshot, visitedIn } from './context.js';
import { combined, furtherOf, setName, withoutSet } from './links.js';
import { isGone, openAgain } from './served.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./state.js').Change} Change */
/** @typedef {import('./served.js').ServedFile} ServedFile */
/** @typedef {import('./context.js').Verb} Verb */
/**
 * What the frame shows.
 * @typedef {object} Shown
 * @property {State} state
 * @property {ServedFile | null} file
 * @property {ServedFile[]} files
 * @property {Verb[]} verbs
 * @property {string} view the name of the view
 */
/**
 * @typedef {object} Doing
 * @property {(line: string) => void} submit a line was typed
 * @property {(change: Change, how?: {replace?: boolean}) => void} go
 * @property {(text: string) => void} announce
 * @property {import('./context.js').Context['complete']} complete
 * @property {() => void} help
 * @property {() => Promise<import('./ask.js').Answer>} overview the answer of `summary all`
 * @property {() => Promise<import('./ask.js').Answer>} programs an answer that names the programs of trials
 */

/** Verbs of the menu that no tab shows, in its order; further ones follow. */
const MENU = ['list', 'group', 'threads', 'roots', 'sites', 'strings', 'waste', 'dups', 'unreachable', 'paths', 'find', 'count', 'survival', 'verify'];

/** Files of trials that have several programs, by their ids and revisions. @type {Map<string, boolean>} */
const several = new Map();
/** @type {Shown | null} */
let shown = null;
/** @type {Doing | null} */
let doing = null;

const input = h('input', {
  id: 'line', type: 'text', spellcheck: 'false', autocomplete: 'off', autocapitalize: 'off',
  'aria-label': 'question', 'aria-describedby': 'line-hint', enterkeyhint: 'go', placeholder: 'a question, such as: top 10 by retained',
});
const hint = h('p', { id: 'line-hint', class: 'line-hint' });
/** What can follow on the line. @type {Completion | null} */
let completion = null;
const place = {
  file: h('span', { class: 'file' }), copy: h('span'), strip: h('div', { class: 'strip' }), overview: h('span'), banners: h('div', { class: 'banners' }),
  tabs: h('nav', { class: 'tabs', 'aria-label': 'views' }), running: h('div', { class: 'running' }), told: h('span', { class: 'told' }),
};

/** Builds the frame. @param {Doing} what */
export function buildFrame(what) {
  doing = what;
  const home = h('a', { class: 'brand', href: '#', title: 'all files, or the first view (g h)' }, 'barrow');
  const tools = h('span', { class: 'tools' },
    h('button', { type: 'button', title: 'search (/)', 'aria-label': 'search', onclick: () => what.go({ p: 'search' }) }, '⌕'),
    h('button', { type: 'button', title: 'help (?)', 'aria-label': 'help', onclick: what.help }, '?'),
    h('button', { type: 'button', title: 'light or dark', 'aria-label': 'light or dark', onclick: switchTheme }, '◐'));
  const ask = (/** @type {Event} */ event) => {
    event.preventDefault();
    leaveLine();
    what.submit(input.value);
  };
  completion = new Completion(input, what.complete, describe);
  const form = h('form', { class: 'line-form', role: 'search', 'aria-label': 'question', onsubmit: ask },
    h('label', { for: 'line', class: 'prompt', 'aria-hidden': 'true' }, '>'), input, place.copy,
    h('button', { type: 'submit', class: 'primary' }, 'Ask'));
  input.addEventListener('input', showHint);
  listenForLeaving();
  fill(byId('head'), h('div', { class: 'bar' }, h('h1', null, home), place.file, tools), form, h('div', { class: 'line-below' }, hint, completion.element), place.banners, h('div', { class: 'nav-row' }, place.tabs, place.strip));
  fill(byId('foot'), place.running, place.told);
  byId('skip').addEventListener('click', (event) => {
    event.preventDefault();
    byId('view').focus();
  });
  document.addEventListener('click', (event) => closeMenus(/** @type {Node} */ (event.target)));
  window.addEventListener('visited', () => shown && keepFocus(() => showTabs(/** @type {Shown} */ (shown))));
  onRunning(showRunning);
  setInterval(showRunning, 100);
}

/** Shows a state: of another view at once, of the same one after that has drawn. @param {Shown} what */
export function showFrame(what) {
  const before = shown;
  shown = what;
  if (before?.state.q !== what.state.q || document.activeElement !== input) input.value = what.state.q;
  if (before?.view !== what.view) drawFrame(what);
  else void afterFrame().then(afterFrame).then(() => { if (shown === what) drawFrame(what); });
}

/** @param {Shown} what */
function drawFrame(what) {
  keepFocus(() => {
    for (const part of [showFiles, showCopy, showStrip, showBanners, showTabs, showTold]) part(what);
  });
  void showOverview(what);
  void countPrograms(what);
  const title = what.state.q || what.view;
  document.title = visible(what.file ? `${title} – ${what.file.name} – barrow` : `${title} – barrow`);
}

/** Draws the frame again; what had the focus has it afterwards. @param {() => void} draw */
function keepFocus(draw) {
  const name = (/** @type {Element} */ element) => `${element.tagName} ${element.getAttribute('aria-label') ?? element.textContent}`;
  const before = byId('head').contains(document.activeElement) ? document.activeElement : null;
  const wanted = before ? name(before) : '';
  draw();
  if (!before || before.isConnected) return;
  const same = [...byId('head').querySelectorAll('a, button, input, summary')].find((element) => name(element) === wanted);
  /** @type {HTMLElement | undefined} */ (same)?.focus();
}

/** Puts the cursor into the question line. */
export function focusLine() {
  input.focus();
  input.select();
}

/** Whether an element is the question line. @param {EventTarget | null} element */
export function isLine(element) {
  return element === input;
}

/** Shows the line of the address again. */
export function restoreLine() {
  input.value = shown?.state.q ?? '';
}

/** Closes all menus but that which contains a node. Returns whether one was open. @param {Node | null} except */
export function closeMenus(except = null) {
  let any = false;
  for (const menu of document.querySelectorAll('details.menu[open]')) {
    if (except && menu.contains(except) && !(/** @type {Element} */ (except).closest?.('.items a, .items button'))) continue;
    menu.removeAttribute('open');
    if (menu.contains(document.activeElement)) menu.querySelector('summary')?.focus();
    any = true;
  }
  return any;
}

/** A menu: a button and what it opens, which is made when it is opened. @param {string} label @param {string} title @param {() => any[]} items */
export function menu(label, title, items) {
  const box = h('div', { class: 'items' });
  return h('details', { class: 'menu' }, h('summary', { title, onclick: () => fill(box, items()) }, label), box);
}

/** @param {Shown} what */
function showFiles({ state, file, files }) {
  if (files.length === 0) return fill(place.file);
  const link = (/** @type {ServedFile} */ one) => h('a', {
    href: format(changed(state, { f: one.name, q: '' })), 'aria-current': one === file ? 'true' : null,
  }, h('bdi', null, visible(one.name)), h('span', { class: 'muted' }, ` ${size(one.bytes)}`));
  const all = h('a', { href: format({ ...changed(state, { q: '', p: 'files' }), f: null }) }, 'all files …');
  const name = h('bdi', { class: 'file-name' }, file ? visible(file.name) : 'choose a file');
  fill(place.file, files.length === 1 ? name
    : h('details', { class: 'menu' }, h('summary', { title: 'other files' }, name), h('div', { class: 'items' }, files.slice(0, 30).map(link), all)));
}

function showHint() {
  const verb = shown?.verbs.find((one) => one.name === verbOf(input.value));
  hint.textContent = verb && document.activeElement === input ? `${verb.usage} – ${verb.about}` : '';
}

/** Closes what is below the line. */
function leaveLine() {
  hint.textContent = '';
  completion?.close();
}

/** What is below the line closes when the focus leaves it. A pointer that is down stays on what it was pressed on. */
function listenForLeaving() {
  let isDown = false;
  addEventListener('pointerdown', () => { isDown = true; }, true);
  for (const name of ['pointerup', 'pointercancel']) addEventListener(name, () => { isDown = false; }, true);
  input.addEventListener('blur', () => {
    if (!isDown) return leaveLine();
    addEventListener('pointerup', () => setTimeout(() => { if (document.activeElement !== input) leaveLine(); }), { once: true, capture: true });
  });
}

/** What a choice of the line is: a verb says what it does. @param {import('./completion.js').Choice} choice */
function describe({ text, what }) {
  const about = what === 'verb' ? shown?.verbs.find((one) => one.name === text)?.about : undefined;
  return about ? `verb: ${about}` : what;
}

/** @param {Shown} what */
function showCopy({ state, file }) {
  if (!file || !state.q) return fill(place.copy);
  const item = (/** @type {string} */ label, /** @type {string} */ text) => h('button', {
    type: 'button', title: text, onclick: () => copy(text, label),
  }, label, h('code', null, visible(text)));
  fill(place.copy, menu('copy', 'copy the line, a link, or a command', () => [item('line', state.q), item('link', location.href),
    item('shell', shellLine(state, file)), item('serve', serveLine(state, file))]));
}

/** Copies a text and says so. @param {string} text @param {string} what */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    tell(`copied: ${what}`);
  } catch {
    tell('the browser did not let it be copied');
  }
}

/** A button that copies a text. @param {string} label @param {string} what */
export function copyButton(label, what) {
  return h('button', { type: 'button', class: 'copy', title: what, onclick: () => void copy(what, what) }, label);
}

/** Says something in the footer and to screen readers. @param {string} text */
export function tell(text) {
  doing?.announce(text);
  place.told.textContent = text;
  setTimeout(() => {
    if (place.told.textContent === text && shown) showTold(shown);
  }, 4000);
}

/** @param {Shown} what */
function showTold({ file }) {
  place.told.textContent = file ? `${file.format}, ${size(file.bytes)}${file.growing ? ', growing' : ''}` : '';
}

/** @param {Shown} what */
function showStrip({ state, file }) {
  const count = file?.snapshots ?? 0;
  const time = state.extra.t ? h('span', { class: 'chip' }, `brush ${visible(state.extra.t)} `, remove(state, { t: null }, 'the whole time')) : null;
  const live = file?.growing ? h('span', { class: 'chip live' }, '● growing') : null;
  if (!file || file.state !== 'ready' || count === 0) return fill(place.strip, time, file?.processes ? live : null);
  const selected = selectedSnapshot(state, file) ?? 0;
  const step = (/** @type {string} */ label, /** @type {string} */ name, /** @type {number} */ to) => h('a', {
    class: 'step-button', 'aria-label': name, title: `${name} (${label === '◂' ? '[' : ']'})`,
    href: to < 0 || to >= count ? null : format(changed(state, { s: to })), 'aria-disabled': to < 0 || to >= count ? 'true' : null,
    role: to < 0 || to >= count ? 'link' : null,
  }, label);
  const choice = h('input', {
    type: 'number', min: 0, max: count - 1, value: selected, 'aria-label': 'snapshot', inputmode: 'numeric',
    onchange: () => doing?.go({ s: Math.max(0, Math.min(count - 1, Math.floor(Number(choice.value)) || 0)) }),
  });
  const snapshots = count === 1 ? h('span', null, '1 snapshot') : h('span', { class: 'snapshot-choice' },
    `${grouped(count)} snapshots `, step('◂', 'snapshot before', selected - 1), choice, step('▸', 'next snapshot', selected + 1),
    ' ', state.s === null ? h('span', { class: 'muted' }, 'last') : h('a', { class: 'step-button', href: format(changed(state, { s: null })) }, 'last'));
  const brush = count < 2 ? null : state.a === null || state.b === null ? h('span', { class: 'brushed muted' }, 'brush: all')
    : h('span', { class: 'chip' }, `brush ${state.a}..${state.b} `, remove(state, { a: null, b: null }, 'all snapshots'));
  const unknown = selected >= count ? h('span', { class: 'warning' }, `there is no snapshot ${selected}`) : null;
  fill(place.strip, count > 2 ? place.overview : null, snapshots, brush, time, unknown, live);
}

/** All snapshots as a line, once it is known. @param {Shown} what */
async function showOverview({ state, file }) {
  if (!file || file.state !== 'ready' || (file.snapshots ?? 0) < 3) return fill(place.overview);
  const brush = /** @type {[number, number] | null} */ (state.a === null || state.b === null ? null : [state.a, state.b]);
  try {
    const answer = await doing?.overview();
    if (!answer || shown?.state !== state) return;
    fill(place.overview, overview(answer, { selected: selectedSnapshot(state, file) ?? 0, brush, select: (s) => doing?.go({ s }) }));
  } catch {
    // The views say what is wrong; the header does without.
    fill(place.overview);
  }
}

/** There is something to compare if several programs have values: then there is a tab for it. @param {Shown} what */
async function countPrograms({ file }) {
  const key = file && `${file.id} ${file.revision}`;
  if (!key || file.state !== 'ready' || !file.trials || several.has(key)) return;
  several.set(key, false);
  try {
    const answer = await doing?.programs();
    const table = answer?.tables.find((one) => one.key === 'programs') ?? answer?.tables.at(-1);
    const counted = table?.rows.filter((row) => cellOf(table, row, 'runs')?.value > 0).map((row) => cellOf(table, row, 'variant')?.value);
    several.set(key, new Set(counted).size > 1);
    if (shown?.file === file) keepFocus(() => showTabs(/** @type {Shown} */ (shown)));
  } catch {
    // The view says what is wrong.
    several.delete(key);
  }
}

/** @param {State} state @param {Change} change @param {string} name */
function remove(state, change, name) {
  return h('a', { class: 'remove', href: format(changed(state, change)), 'aria-label': name, title: name }, '×');
}

/** What a set is asked for, and what it makes with each other one. @param {State} state @param {ServedFile | null} file @param {string} name */
function setMenu(state, file, name) {
  if (!file || !name) return name;
  const item = (/** @type {string} */ label, /** @type {string} */ line, /** @type {Change} */ change) => h('a', { href: format(changed(state, { ...change, q: line })) }, label, h('code', null, line));
  const asked = file.snapshots ? furtherOf(`find ${name} by retained`, { snapshots: 1 }) : [{ label: 'objects', line: `find ${name}` }];
  return menu(name, `what ${name} is asked for, and new sets of it and others`, () => [
    ...asked.map(({ label, line }) => item(label, line, {})),
    ...combined(state, name, file).map(({ expression, line, made, lets }) => item(`${made} = ${expression}`, line, { lets })),
  ]);
}

/** @param {Shown} what */
function showBanners({ state, file }) {
  const chip = (/** @type {any} */ what, /** @type {string} */ text, /** @type {Change} */ change) => h('span', { class: 'chip' }, what, ' ', remove(state, change, `remove: ${visible(text)}`));
  const banner = (/** @type {string} */ name, /** @type {...any} */ ...children) => h('div', { class: `banner ${name}`, 'data-banner': name }, ...children);
  fill(place.banners,
    state.w.length === 0 ? null : banner('without', h('b', null, 'without'), ' ', state.w.map((text, at) => chip(h('bdi', null, visible(text)), text, { w: state.w.filter((_, other) => other !== at) })),
      ' every view excludes this, and what only this keeps alive. ', state.w.some(isOfSnapshot) ? 'Objects are excluded in the selected snapshot only. ' : null, h('a', { href: format(changed(state, { w: [] })) }, 'clear')),
    state.lets.length === 0 ? null : banner('sets', h('b', null, 'sets'), ' ', state.lets.map((set) => chip(h('span', null, setMenu(state, file, setName(set)), h('bdi', null, visible(set.slice(setName(set).length)))), set, { lets: withoutSet(state.lets, set) })), ' ',
      h('a', { href: format(changed(state, { lets: [] })) }, 'clear')),
    !isGone() ? null : banner('lost', 'barrow serve does not answer: what is shown is from before.'),
    !file?.replaced ? null : banner('replaced', file.dumps ? 'Dumps of this series were added or replaced. What is shown is of those before. ' : 'The file was replaced or cut while it was open. What is shown is of the file before. ',
      h('button', { type: 'button', onclick: () => void openAgain(file) }, 'open it again')),
    !file?.lost ? null : banner('lost', visible(file.lost)),
    file?.state === 'unreadable' && file.problem ? banner('lost', visible(file.problem)) : null);
  document.body.classList.toggle('is-replaced', Boolean(file?.replaced));
}

const TABS = /** @type {Record<string, string>} */ ({
  trials: 'Trials', compare: 'Compare', runs: 'Runs', lanes: 'Processes', series: 'Series', types: 'Types', tree: 'Tree & map', flame: 'Flame graph', object: 'Object', summary: 'Summary', classes: 'Classes', ptree: 'Tree', processes: 'List',
});
/** The keys after `g`. */
const TAB_KEYS = /** @type {Record<string, string>} */ ({ trials: 'r', compare: 'c', lanes: 'p', series: 's', types: 't', tree: 'd', flame: 'f', object: 'o' });

/** Where the tabs lead. @param {State} state @param {ServedFile} file @returns {Record<string, string>} */
export function tabLines(state, file) {
  const isSeries = (file.snapshots ?? 0) > 1;
  const hasOthers = several.get(`${file.id} ${file.revision}`);
  /** @type {Record<string, string>} */
  const without = { ...(file.processes ? { lanes: 'lanes' } : {}), ...(file.trials ? { trials: 'trials', ...(hasOthers ? { compare: 'compare' } : {}), runs: 'runs' } : {}) };
  if (file.processes && !file.snapshots) return { ...without, summary: 'summary', classes: 'classes', ptree: 'tree', processes: 'processes 50' };
  if (isBare(file)) return without;
  return {
    ...without,
    series: isSeries ? 'summary all' : 'summary', types: 'histogram', tree: 'dominators', flame: 'flame',
    object: visitedIn(file).length > 0 ? `info ${visitedIn(file)[0].name}` : 'info',
  };
}

/** @param {Shown} what */
function showTabs({ state, file, verbs, view }) {
  if (!file || file.state !== 'ready') return fill(place.tabs);
  const lines = tabLines(state, file);
  const verb = verbOf(state.q);
  const active = view === 'objects' ? 'object' : view === 'metric' ? 'trials' : view === 'answer' ? (verb === 'tree' ? 'ptree' : verb) : view;
  const tabs = Object.entries(lines).map(([name, line]) => h('a', {
    href: format(changed(state, { q: line })), 'aria-current': name === active ? 'page' : null, title: TAB_KEYS[name] ? `${line} (g ${TAB_KEYS[name]})` : line,
  }, TABS[name]));
  const isThere = (/** @type {Verb} */ { needs }) => needs.length === 0 || needs.some((one) => one === 'heap' ? file.snapshots : file[one]);
  const questions = () => verbs.filter((verb) => verb.page && isThere(verb) && !['help'].includes(verb.name) && (MENU.includes(verb.name) || viewOf(verb.name, file) === 'answer'))
    .sort((one, other) => placeOf(one.name) - placeOf(other.name));
  const item = (/** @type {Verb} */ verb) => {
    // A view with a form needs no words.
    const isWhole = viewOf(verb.name, file) === 'list' || !verb.usage.replace(/\[[^\]]*\]/g, '').trim().includes(' ');
    const target = isWhole ? { q: verb.name } : { q: `help ${verb.name}` };
    return h('a', { href: format(changed(state, target)), title: verb.about }, verb.name, h('span', { class: 'muted' }, ` ${verb.about}`));
  };
  const seen = visitedIn(file);
  const visited = seen.length === 0 ? null : menu('Visited', 'objects that you have looked at', () => seen.slice(0, 20).map((one) => h('a', {
    href: format(changed(state, { q: `info ${one.name}` })),
  }, one.name, ' ', h('bdi', { class: 'muted' }, visible(one.title)))));
  const others = () => [...questions().map(item), h('a', { href: format(changed(state, { q: 'help all' })) }, 'all verbs …')];
  fill(place.tabs, tabs, menu('More', 'all other questions', others), visited);
}

/** @param {string} name */
function placeOf(name) {
  const at = MENU.indexOf(name);
  return at < 0 ? MENU.length : at;
}

/** Stops what runs, and says so. Returns whether anything ran. */
export function stopQuestions() {
  const any = stopAll();
  if (any) tell('stopped');
  return any;
}

/** Questions that run: the oldest with its progress. */
function showRunning() {
  const now = performance.now();
  const all = runningQuestions().filter((question) => now - question.since > 150);
  if (all.length === 0) {
    if (place.running.hasChildNodes()) fill(place.running);
    return;
  }
  if (!place.running.querySelector('.progress')) fill(place.running, h('span', { class: 'asked' }), progressNode(stopQuestions));
  const first = all.find((question) => question.progress) ?? all[0];
  const asked = /** @type {Element} */ (place.running.firstElementChild);
  asked.textContent = visible(all.length > 1 ? `${first.line} and ${all.length - 1} more` : first.line);
  showProgress(place.running, first.progress, now - first.since);
}

const THEME = 'barrow theme';

/** Applies the kept choice of light or dark. */
export function applyTheme() {
  const kept = readTheme();
  if (kept) document.documentElement.dataset.theme = kept;
}

function readTheme() {
  try {
    const kept = localStorage.getItem(THEME);
    return kept === 'light' || kept === 'dark' ? kept : null;
  } catch {
    return null;
  }
}

/** The other of light and dark; what the system has is not kept. */
function switchTheme() {
  const system = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  const next = (readTheme() ?? system) === 'dark' ? 'light' : 'dark';
  try {
    if (next === system) localStorage.removeItem(THEME);
    else localStorage.setItem(THEME, next);
  } catch {
    // Without a store it lasts as long as the page.
  }
  if (next === system) delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  window.dispatchEvent(new Event('theme'));
  tell(next);
}
