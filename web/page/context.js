// What a view gets: the state, the file, and how to ask and to go elsewhere.

import { askServer, request } from './ask.js';
import { changed, format, isOfSnapshot } from './state.js';
import { nowServed } from './served.js';

/** @typedef {import('./state.js').State} State */
/** @typedef {import('./state.js').Change} Change */
/** @typedef {import('./served.js').ServedFile} ServedFile */
/** @typedef {import('./ask.js').Answer} Answer */
/** @typedef {import('./ask.js').AskOptions} AskOptions */
/**
 * A verb, as /api/verbs tells it.
 * @typedef {object} Verb
 * @property {string} name
 * @property {string[]} aliases
 * @property {string} group
 * @property {string} usage
 * @property {string} about
 * @property {string} details
 * @property {string} example
 * @property {string[]} flags
 * @property {boolean} page whether it can be asked here
 * @property {('heap' | 'processes' | 'trials')[]} needs what the recording must hold, one of these
 * @property {string | null} shell the line for a shell
 */
/**
 * @typedef {object} Context
 * @property {State} state the state that is shown
 * @property {ServedFile} file the selected file; views of files have none
 * @property {ServedFile[]} files
 * @property {Verb[]} verbs
 * @property {number | null} snapshot the selected snapshot, whether the address tells it or follows the last one
 * @property {(change: Change, how?: {replace?: boolean}) => void} go changes the address
 * @property {(change: Change) => string} href the link of a changed state
 * @property {(line: string, options?: AskOptions) => Promise<Answer>} ask
 * @property {(before: string, signal: AbortSignal) => Promise<import('./completion.js').Found>} complete what can follow a part of a line
 * @property {(line: string) => string} csv the link of all rows of a question as CSV
 * @property {(text: string) => void} announce for screen readers
 * @property {(name: string, title: string) => void} visit remembers an object, such as `28:@123`
 */
/**
 * A view. `update` is called once after `mount`, and whenever the state changes.
 * @typedef {{update: (state: State) => void, destroy: () => void}} View
 */

/**
 * The context of one view.
 * @param {{state: () => State, file: () => ServedFile | null, verbs: Verb[], go: Context['go'], announce: Context['announce'], signal: AbortSignal}} of
 * @returns {Context}
 */
export function contextOf(of) {
  const file = () => /** @type {ServedFile} */ (of.file());
  const ctx = {
    get state() { return of.state(); },
    get file() { return file(); },
    get files() { return nowServed().files; },
    get verbs() { return of.verbs; },
    get snapshot() { return selectedSnapshot(of.state(), file()); },
    go: of.go,
    href: (/** @type {Change} */ change) => format(changed(of.state(), change)),
    ask: (/** @type {string} */ line, /** @type {AskOptions} */ options = {}) => {
      const signal = options.signal ? AbortSignal.any([options.signal, of.signal]) : of.signal;
      return askServer(fields(of.state(), file(), line, options.snapshot), file().revision, { ...options, signal });
    },
    complete: async (/** @type {string} */ before, /** @type {AbortSignal} */ signal) => {
      if (file()?.state !== 'ready') return { replaces: 0, choices: [] };
      const response = await request(`api/completions?${fields(of.state(), file(), before)}`, { signal });
      return response.json();
    },
    csv: (/** @type {string} */ line) => `api/csv?${fields(of.state(), file(), line)}`,
    announce: of.announce,
    visit: (/** @type {string} */ name, /** @type {string} */ title) => visit(file(), name, title),
  };
  return ctx;
}

/** The selected snapshot as a number; null if the file has none. @param {State} state @param {ServedFile | null} file */
export function selectedSnapshot(state, file) {
  return state.s ?? (file?.snapshots ? file.snapshots - 1 : null);
}

/** @param {State} state @param {ServedFile} file @param {string} line @param {number | null} [snapshot] undefined: the selected one */
function fields(state, file, line, snapshot) {
  const all = new URLSearchParams({ f: String(file.id) });
  const s = snapshot === undefined ? state.s : snapshot;
  if (s !== null) all.set('s', String(s));
  all.set('q', line);
  // An object that is excluded is one of the selected snapshot, and no other.
  for (const words of state.w) if (snapshot !== null || !isOfSnapshot(words)) all.append('w', words);
  for (const set of state.lets) all.append('let', set);
  return all;
}

/** @typedef {{name: string, title: string}} Visited */
const MOST_VISITED = 50;

/** @param {ServedFile} file */
function key(file) {
  return `barrow visited ${file.name}`;
}

/** The objects that were seen in a file, the last one first. @param {ServedFile} file @returns {Visited[]} */
export function visitedIn(file) {
  try {
    return JSON.parse(sessionStorage.getItem(key(file)) ?? '[]');
  } catch {
    return [];
  }
}

/** @param {ServedFile} file @param {string} name @param {string} title */
function visit(file, name, title) {
  const known = visitedIn(file);
  const before = known.find((one) => one.name === name);
  const all = [{ name, title: title.slice(0, 200) || before?.title || '' }, ...known.filter((one) => one !== before)];
  try {
    sessionStorage.setItem(key(file), JSON.stringify(all.slice(0, MOST_VISITED)));
  } catch {
    // A full or forbidden store only forgets.
  }
  window.dispatchEvent(new Event('visited'));
}
