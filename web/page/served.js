// The files that the server offers, and what happens to them: they grow, are replaced, are imported.

import { AskError, forgetAnswers, lines, request, stream } from './ask.js';

/**
 * @typedef {object} ServedFile
 * @property {number} id
 * @property {string} name
 * @property {string} folder what stands before the name in the absolute path: it ends with `/`, or is empty if it is no text
 * @property {'ready' | 'dump' | 'importing' | 'unreadable'} state
 * @property {string} format
 * @property {number} bytes of all dumps of a series
 * @property {number | null} dumps of a series; null for a file
 * @property {number | null} snapshots
 * @property {boolean | null} processes whether it holds a process tree
 * @property {boolean | null} trials whether it holds trials
 * @property {string | null} uuid what a process that wrote it says
 * @property {boolean} totals whether its totals can be asked while it is imported
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
/** Ends the connection that tells of changes. @type {AbortController | null} */
let events = null;
/** How long a page waits before it connects again, in milliseconds. */
const AGAIN = 1000;
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
  const response = await request('api/files');
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
      events?.abort();
      events = null;
    } else if (!events) {
      events = new AbortController();
      void listen(events.signal);
    }
  };
  document.addEventListener('visibilitychange', follow);
  follow();
}

/** Takes what the server tells until `signal` aborts. An `EventSource` cannot send the token. @param {AbortSignal} signal */
async function listen(signal) {
  while (!signal.aborted) {
    try {
      const response = await request('api/events', { signal });
      if (!response.ok) throw new Error(`the server says ${response.status}`);
      goneIs(false);
      for await (const line of lines(response)) {
        if (line.startsWith('data: ')) take(JSON.parse(line.slice('data: '.length)));
      }
    } catch {
      // It is tried again.
    }
    if (signal.aborted) return;
    goneIs(true);
    await new Promise((resolve) => { setTimeout(resolve, AGAIN); });
  }
}

/** The file of an address: the only one, if it names none. @param {string | null} name */
export function fileNamed(name) {
  if (name !== null) return served.files.find((file) => file.name === name) ?? null;
  return served.files.length === 1 ? served.files[0] : null;
}

/** Opens what is now in the place of a file that was replaced. @param {ServedFile} file */
export async function openAgain(file) {
  await request(`api/open?f=${file.id}`, { method: 'POST' });
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
