// The files that the server offers, and what happens to them: they grow, are replaced, are imported.

import { AskError, forgetAnswers, stream } from './ask.js';

/**
 * @typedef {object} ServedFile
 * @property {number} id
 * @property {string} name
 * @property {'ready' | 'dump' | 'importing' | 'unreadable'} state
 * @property {string} format
 * @property {number} bytes
 * @property {number | null} snapshots
 * @property {boolean | null} processes whether it holds a process tree
 * @property {boolean | null} trials whether it holds trials
 * @property {string | null} uuid what a process that wrote it says
 * @property {boolean} growing
 * @property {boolean} replaced
 * @property {string | null} lost
 * @property {string | null} problem
 * @property {string} revision
 * @property {boolean} named
 */
/** @typedef {{version: string, folder: boolean, files: ServedFile[]}} Served */

/** @type {Served} */
let served = { version: '', folder: false, files: [] };
/** @type {Set<(before: Served) => void>} */
const listeners = new Set();
/** @type {EventSource | null} */
let events = null;
let gone = false;

/** What is served now. */
export function nowServed() {
  return served;
}

/** Whether the server does not answer. */
export function isGone() {
  return gone;
}

/** @param {boolean} is */
function goneIs(is) {
  if (gone === is) return;
  gone = is;
  for (const listener of listeners) listener(served);
}

/** Calls a function when something about the files changes. @param {(before: Served) => void} listener */
export function onServed(listener) {
  listeners.add(listener);
}

/** Asks which files there are. */
export async function loadServed() {
  const response = await fetch('api/files', { credentials: 'same-origin' });
  if (!response.ok) throw new AskError({ message: (await response.text()).trim() || `the server says ${response.status}` }, response.status);
  take(await response.json());
  return served;
}

/** @param {Served} next */
function take(next) {
  const before = served;
  served = next;
  const revisions = (/** @type {Served} */ of) => of.files.map((file) => `${file.id} ${file.revision}`).join();
  if (revisions(before) !== revisions(next)) forgetAnswers();
  if (JSON.stringify(before) === JSON.stringify(next)) return;
  for (const listener of listeners) listener(before);
}

/** Follows the files while the page is visible: a browser opens few connections to one server. */
export function followServed() {
  const follow = () => {
    if (document.visibilityState === 'hidden') {
      events?.close();
      events = null;
    } else if (!events) {
      events = new EventSource('api/events');
      events.addEventListener('files', (event) => take(JSON.parse(event.data)));
      events.addEventListener('open', () => goneIs(false));
      events.addEventListener('error', () => goneIs(true));
    }
  };
  document.addEventListener('visibilitychange', follow);
  follow();
}

/** The file of an address: the only one, if it names none. @param {string | null} name */
export function fileNamed(name) {
  if (name !== null) return served.files.find((file) => file.name === name) ?? null;
  return served.files.length === 1 ? served.files[0] : null;
}

/** Opens what is now in the place of a file that was replaced. @param {ServedFile} file */
export async function openAgain(file) {
  await fetch(`api/open?f=${file.id}`, { method: 'POST', credentials: 'same-origin' });
  await loadServed();
}

/**
 * Imports a dump.
 * @param {ServedFile} file @param {{signal?: AbortSignal, onProgress: (progress: import('./ask.js').Progress) => void}} options
 */
export async function importDump(file, options) {
  const last = await stream(`api/import?f=${file.id}`, { method: 'POST', signal: options.signal }, (event) => {
    if (event.progress) options.onProgress(event.progress);
  });
  if (!last?.imported) throw new AskError({ message: 'the import ended early: is `barrow serve` still running?' }, 0);
  await loadServed();
}
