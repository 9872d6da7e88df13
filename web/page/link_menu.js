// The menu of a link: what else can be asked about what it leads to. By the other button, the menu key or Shift+F10.

import { h } from './dom.js';
import { visible } from './value_text.js';
import { copy } from './frame.js';
import { changed, format, parse, shellLine } from './state.js';
import { freeName, furtherOf, partOf, setName, subjectOf, withAdded } from './links.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./served.js').ServedFile} ServedFile */

/** Sets that the menu offers to add to. */
const MOST_SETS = 5;
/** The distance from the edges of the window, in pixels. */
const EDGE = 4;

/** The menu that is open. @type {HTMLElement | null} */
let open = null;
/** What has the focus again afterwards. @type {HTMLElement | null} */
let opener = null;

/** @param {(state: State) => ServedFile | null} fileOf the file of a state */
export function listenForLinkMenus(fileOf) {
  document.addEventListener('contextmenu', (event) => {
    // With Shift it is the menu of the browser.
    const link = event.shiftKey ? null : linkAt(event.target);
    if (link && show(link, fileOf, event)) event.preventDefault();
  });
  document.addEventListener('keydown', (event) => {
    if (open) return menuKey(event);
    const isMenuKey = event.key === 'ContextMenu' || (event.key === 'F10' && event.shiftKey);
    const link = isMenuKey ? linkAt(event.target) : null;
    if (link && show(link, fileOf, null)) event.preventDefault();
  }, true);
  document.addEventListener('pointerdown', (event) => { if (open && !open.contains(/** @type {Node} */ (event.target))) close(); }, true);
  addEventListener('hashchange', close);
  addEventListener('resize', close);
}

/** The link of a question that an element is, that its row of a grid has, or that the chosen cell of its graph has. @param {EventTarget | null} target @returns {HTMLAnchorElement | null} */
function linkAt(target) {
  if (!(target instanceof Element)) return null;
  const link = /** @type {HTMLAnchorElement | null} */ (target.closest('a[href^="#"]') ?? target.closest('[role=row]')?.querySelector('a[href^="#"]')
    ?? (target.matches('canvas') ? document.querySelector('#view .chosen-place a[href^="#"]') : null));
  return link?.closest('#view') && parse(link.hash).q ? link : null;
}

/** @param {HTMLAnchorElement} link @param {(state: State) => ServedFile | null} fileOf @param {MouseEvent | null} pointer */
function show(link, fileOf, pointer) {
  const state = parse(link.hash);
  const file = fileOf(state);
  if (!file) return false;
  close();
  opener = document.activeElement instanceof HTMLElement && document.activeElement !== document.body ? document.activeElement : link;
  open = h('div', { class: 'link-menu', role: 'menu', 'aria-label': `about ${visible(state.q).slice(0, 200)}` }, itemsOf(state, file));
  document.body.append(open);
  const at = link.getBoundingClientRect();
  const isPointed = pointer !== null && pointer.clientX + pointer.clientY > 0;
  const [x, y] = isPointed ? [pointer.clientX, pointer.clientY] : [at.left, at.bottom];
  open.style.left = `${Math.max(EDGE, Math.min(x, innerWidth - open.offsetWidth - EDGE))}px`;
  open.style.top = `${Math.max(EDGE, Math.min(y, innerHeight - open.offsetHeight - EDGE))}px`;
  items()[0]?.focus();
  return true;
}

/** @param {State} state of the link @param {ServedFile} file */
function itemsOf(state, file) {
  const entry = (/** @type {string} */ label, /** @type {string} */ detail) => [label, h('code', null, visible(detail.slice(0, 300)))];
  const link = (/** @type {string} */ label, /** @type {State} */ to, /** @type {string} */ detail) => h('a', { role: 'menuitem', tabindex: -1, href: format(to), title: visible(detail), onclick: close }, entry(label, detail));
  const further = furtherOf(state.q, file);
  const shell = shellLine(state, file);
  return [
    ...(further.length > 0 ? further : [{ label: 'open', line: state.q }]).map(({ label, line }) => link(label, changed(state, { q: line }), line)),
    ...setItems(state, link),
    h('button', { type: 'button', role: 'menuitem', tabindex: -1, title: visible(shell), onclick: () => { close(); void copy(shell, 'shell'); } }, entry('copy for a shell', shell)),
  ];
}

/**
 * Objects are added to a set or excluded, and the view stays. An object has its number in one snapshot only, which is selected then.
 * @param {State} state @param {(label: string, to: State, detail: string) => Node} link
 */
function setItems(state, link) {
  const { object, expression } = subjectOf(state.q);
  const [, snapshot, number] = object?.match(/^(?:(\d+):)?(@\d+)$/) ?? [];
  const all = number ?? (expression && furtherOf(state.q, { snapshots: 1 }).length > 0 ? expression : null);
  if (!all) return [];
  const term = partOf(all);
  const here = parse(location.hash);
  const selected = snapshot === undefined ? {} : { s: Number(snapshot) };
  const to = (/** @type {string | null} */ name) => changed(here, { lets: withAdded(here.lets, name, all), ...selected });
  const known = here.lets.map(setName).filter(Boolean).slice(0, MOST_SETS);
  return [...known.map((name) => link(`add to ${name}`, to(name), `${name} = … or ${term}`)), link('new set', to(null), `${freeName(here.lets)} = ${term}`),
    link('without', changed(here, { w: [...here.w, all], ...selected }), `without ${all}`)];
}

function items() {
  return /** @type {HTMLElement[]} */ ([...(open?.querySelectorAll('[role=menuitem]') ?? [])]);
}

/** @param {KeyboardEvent} event */
function menuKey(event) {
  const all = items();
  const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const to = { ArrowDown: (at + 1) % all.length, ArrowUp: (at - 1 + all.length) % all.length, Home: 0, End: all.length - 1 }[event.key];
  if (to !== undefined) all[to].focus();
  else if (event.key === 'Escape' || event.key === 'Tab') close();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

/** Closes the menu; what had the focus has it again, unless it is elsewhere by now. */
function close() {
  if (!open) return;
  const hadFocus = open.contains(document.activeElement);
  open.remove();
  open = null;
  if (hadFocus) opener?.focus();
  opener = null;
}
