// Keys of the whole page. `:` the line, `/` search, `g` and a letter a view, `[` `]` snapshots, `?` help, Esc stops.

import { byId } from './dom.js';
import { closeMenus, focusLine, isLine, restoreLine, stopQuestions, tabLines } from './frame.js';
import { selectedSnapshot } from './context.js';
import { fileNamed } from './served.js';

/** What the keys do, for the help. @type {[string, string][]} */
export const KEYS = [
  [':', 'edit the question line'], ['/', 'search types, objects and texts'], ['?', 'this help'],
  ['g p', 'processes over time'], ['g r', 'trials'], ['g c', 'compare programs'], ['g s', 'series'], ['g t', 'types'], ['g d', 'dominator tree and map'], ['g f', 'flame graph'], ['g o', 'object'], ['g h', 'files, or the first view'],
  ['[  ]', 'snapshot before, next snapshot'], ['Esc', 'stop the questions that run; close a menu; leave the line'],
  ['← → ↑ ↓', 'links of a table; snapshots of a chart'], ['Shift ← →', 'brush in a chart'], ['Home  End', 'first, last'], ['Enter', 'follow'], ['Shift F10', 'what else can be asked about a link; the other button of a mouse does the same'],
];

/** Time between `g` and its letter, in milliseconds. */
const CHORD = 1500;

/** @param {{go: (change: import('./state.js').Change) => void, state: () => import('./state.js').State}} of */
export function listenToKeys({ go, state }) {
  let chordUntil = 0;
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') return escape(event);
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target)) return;
    const isChord = performance.now() < chordUntil;
    chordUntil = 0;
    if (isChord && goTo(event.key, go, state())) return event.preventDefault();
    switch (event.key) {
      case 'g': chordUntil = performance.now() + CHORD; break;
      case ':': focusLine(); break;
      case '/': go({ p: 'search' }); focusSearch(); break;
      case '?': go({ q: 'help' }); break;
      case '[': step(-1, go, state()); break;
      case ']': step(1, go, state()); break;
      default: return;
    }
    event.preventDefault();
  });
}

/** @param {KeyboardEvent} event */
function escape(event) {
  if (event.defaultPrevented) return;
  if (closeMenus() || stopQuestions()) return event.preventDefault();
  if (isLine(event.target)) {
    restoreLine();
    byId('view').focus();
  }
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  return target instanceof HTMLElement && (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName));
}

/** @param {string} key @param {(change: import('./state.js').Change) => void} go @param {import('./state.js').State} state */
function goTo(key, go, state) {
  const names = /** @type {Record<string, string>} */ ({ r: 'trials', c: 'compare', p: 'lanes', s: 'series', t: 'types', d: 'tree', f: 'flame', o: 'object' });
  const file = fileNamed(state.f);
  if (key === 'h') go(file && state.f === null ? { q: '' } : { f: null, q: '', p: 'files' });
  else if (file?.state === 'ready' && tabLines(state, file)[names[key]]) go({ q: tabLines(state, file)[names[key]] });
  else return false;
  return true;
}

/** @param {number} by @param {(change: import('./state.js').Change) => void} go @param {import('./state.js').State} state */
function step(by, go, state) {
  const file = fileNamed(state.f);
  const to = (selectedSnapshot(state, file) ?? 0) + by;
  if (file?.snapshots && to >= 0 && to < file.snapshots) go({ s: to });
}

/** The view of the search loads first. */
function focusSearch() {
  let tries = 40;
  const look = () => {
    const box = document.getElementById('search');
    if (box) /** @type {HTMLInputElement} */ (box).focus();
    else if ((tries -= 1) > 0) setTimeout(look, 25);
  };
  look();
}
