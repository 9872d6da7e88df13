// Questions to the server: a stream of progress, then an answer or an error. Leaving a question stops it.

/** @typedef {{kind: string, value?: any}} Value */
/** A column; columns of the page itself have no role.
 * @typedef {{key: string, heading: string, unit: string, audience: string, is_secondary: boolean, role?: 'value' | 'place' | 'depth' | 'interval'}} Column */
/** @typedef {{column: Column, value: Value}} Fact */
/** @typedef {{key: string, audience: string, columns: Column[], rows: Value[][]}} Table */
/** @typedef {{heading: string, numbers: (number | null)[], unit: string, form: string}} Curve */
/**
 * @typedef {object} Answer
 * @property {Fact[]} facts
 * @property {Table[]} tables
 * @property {Curve[]} curves
 * @property {string[]} notes
 * @property {string | null} exactness
 * @property {string} outcome
 * @property {string | null} cut
 * @property {boolean} goes_on
 * @property {string | null} lost
 * @property {number} from the place of the first row of the last table
 * @property {number | null} rows_total how many rows the last table has; null if that is unknown
 * @property {number} elapsed_ms
 * @property {string} revision
 */
/**
 * @typedef {object} Progress
 * @property {string} phase
 * @property {number} done
 * @property {number | null} total
 * @property {string} unit
 * @property {number} elapsed_ms
 * @property {number | null} rate
 * @property {number | null} left_ms
 */
/**
 * @typedef {object} AskOptions
 * @property {number} [from] the first row of the last table
 * @property {number} [n] how many rows of it, at most 1,000
 * @property {number | null} [snapshot] another snapshot than the selected one; null: none is selected
 * @property {(progress: Progress) => void} [onProgress]
 * @property {(sentence: string) => void} [onRemark]
 * @property {AbortSignal} [signal]
 */

/** Why a question was not answered. */
export class AskError extends Error {
  /** @param {{message: string, code?: number, text?: string | null, column?: number | null, help?: string | null, shell?: string | null}} error
   *  @param {number} status the HTTP status */
  constructor(error, status) {
    super(error.message);
    this.status = status;
    this.code = error.code ?? null;
    this.text = error.text ?? null;
    this.column = error.column ?? null;
    this.help = error.help ?? null;
    this.shell = error.shell ?? null;
  }
}

/** The reason of a question that the user has stopped; others were left. */
export const STOPPED = 'stopped';

/** Whether an error is that of a question that was left or stopped. @param {unknown} error */
export function isAbort(error) {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** @param {unknown} reason */
function abortError(reason) {
  return new DOMException(reason === STOPPED ? STOPPED : 'left', 'AbortError');
}

/**
 * A question that runs.
 * @typedef {object} Running
 * @property {string} line
 * @property {number} since
 * @property {Progress | null} progress
 * @property {AbortController} controller
 * @property {Set<AskOptions>} askers
 * @property {Promise<Answer>} answer
 */

/** @type {Map<string, Running>} */
const running = new Map();
/** Answers, the least recently used first. @type {Map<string, {answer: Answer, cells: number}>} */
const known = new Map();
const MOST_KNOWN_CELLS = 200_000;
/** @type {Set<() => void>} */
const listeners = new Set();

/** Calls a function when a question begins, goes on or ends. @param {() => void} listener */
export function onRunning(listener) {
  listeners.add(listener);
}

function tell() {
  for (const listener of listeners) listener();
}

/** The questions that run, the oldest first. */
export function runningQuestions() {
  return [...running.values()];
}

/** Stops all questions, because the user wants it. Returns whether there were any. */
export function stopAll() {
  const all = runningQuestions();
  for (const question of all) question.controller.abort(STOPPED);
  return all.length > 0;
}

/** Forgets all answers. */
export function forgetAnswers() {
  known.clear();
}

/**
 * Asks the server.
 * @param {URLSearchParams} fields f, s, w, let and q
 * @param {string} revision of the file: answers of another one are not used
 * @param {AskOptions} options
 * @returns {Promise<Answer>}
 */
export function askServer(fields, revision, options) {
  if (options.from !== undefined) fields.set('from', String(options.from));
  if (options.n !== undefined) fields.set('n', String(options.n));
  const { signal } = options;
  if (signal?.aborted) return Promise.reject(abortError(signal.reason));
  const key = `${revision} ${fields}`;
  const before = known.get(key);
  if (before) {
    known.delete(key);
    known.set(key, before);
    return Promise.resolve(before.answer);
  }
  const question = running.get(key) ?? begin(key, fields);
  question.askers.add(options);
  if (question.progress) options.onProgress?.(question.progress);
  return new Promise((resolve, reject) => {
    const leave = () => {
      question.askers.delete(options);
      if (question.askers.size === 0) question.controller.abort(signal?.reason);
      reject(abortError(signal?.reason));
    };
    signal?.addEventListener('abort', leave, { once: true });
    question.answer.then(resolve, reject).finally(() => signal?.removeEventListener('abort', leave));
  });
}

/** @param {string} key @param {URLSearchParams} fields @returns {Running} */
function begin(key, fields) {
  const controller = new AbortController();
  /** @type {Running} */
  const question = {
    line: fields.get('q') ?? '', since: performance.now(), progress: null, controller, askers: new Set(),
    answer: /** @type {any} */ (null),
  };
  running.set(key, question);
  question.answer = fetchAnswer(fields, controller.signal, (event) => {
    if (event.progress) {
      question.progress = event.progress;
      for (const asker of question.askers) asker.onProgress?.(event.progress);
      tell();
    }
    if (event.remark) for (const asker of question.askers) asker.onRemark?.(event.remark);
  });
  question.answer.then((answer) => keep(key, answer), () => {}).finally(() => {
    if (running.get(key) === question) running.delete(key);
    tell();
  });
  controller.signal.addEventListener('abort', () => {
    if (running.get(key) === question) running.delete(key);
    tell();
  });
  tell();
  return question;
}

/** @param {string} key @param {Answer} answer */
function keep(key, answer) {
  const cells = answer.tables.reduce((sum, table) => sum + table.rows.length * table.columns.length, 100);
  known.set(key, { answer, cells });
  let all = 0;
  for (const one of known.values()) all += one.cells;
  for (const [oldest, one] of known) {
    if (all <= MOST_KNOWN_CELLS || oldest === key) break;
    known.delete(oldest);
    all -= one.cells;
  }
}

/**
 * @param {URLSearchParams} fields @param {AbortSignal} signal @param {(event: any) => void} onEvent
 * @returns {Promise<Answer>}
 */
async function fetchAnswer(fields, signal, onEvent) {
  const last = await stream(`api/ask?${fields}`, { signal }, onEvent);
  if (last?.answer) return last.answer;
  throw new AskError({ message: 'the answer ended early: is `barrow serve` still running?' }, 0);
}

/**
 * Reads a stream of events. Throws what it tells as an error. Returns the last event.
 * @param {string} url @param {RequestInit} init @param {(event: any) => void} onEvent
 * @returns {Promise<any>}
 */
export async function stream(url, init, onEvent) {
  const signal = init.signal ?? undefined;
  try {
    const response = await request(url, init);
    if (!response.ok) throw await refused(response);
    let last = null;
    for await (const line of lines(response)) {
      last = event(line);
      if (last.error) throw new AskError(last.error, response.status);
      onEvent(last);
    }
    return last;
  } catch (error) {
    if (signal?.aborted) throw abortError(signal.reason);
    if (error instanceof AskError) throw error;
    throw new AskError({ message: 'the server does not answer: is `barrow serve` still running?' }, 0);
  }
}

/** @param {Response} response */
async function refused(response) {
  const text = await response.text();
  try {
    return new AskError(JSON.parse(text).error, response.status);
  } catch {
    return new AskError({ message: text.trim().slice(0, 2000) || `the server says ${response.status}` }, response.status);
  }
}

/** An event; whole numbers that JavaScript cannot hold stay texts of digits. @param {string} line */
export function event(line) {
  return JSON.parse(line.replace(/"value":(-?\d{16,})(?=[,}\]])/g, '"value":"$1"'));
}

/** The token of the server, of the address that was printed. */
let token = '';

/**
 * Takes the token out of the address, and keeps it for reloads and other tabs. An origin has the port, so that other servers
 * of this machine do not get it; a cookie would go to all of them.
 */
export function takeToken() {
  const given = new URLSearchParams(location.search).get('token');
  token = given ?? '';
  try {
    if (given !== null) localStorage.setItem('token', given);
    else token = localStorage.getItem('token') ?? '';
  } catch {
    // The browser stores nothing: this tab has it until it is loaded again.
  }
  if (given !== null) history.replaceState(history.state, '', location.pathname + location.hash);
}

/** @param {string} url @param {RequestInit} [init] */
export function request(url, init = {}) {
  return fetch(url, { ...init, credentials: 'omit', headers: { Authorization: `Bearer ${token}` } });
}

/** The lines of a response, as they arrive. @param {Response} response */
export async function* lines(response) {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  /** @type {string[]} */
  let parts = [];
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const pieces = value.split('\n');
    for (const piece of pieces.slice(0, -1)) {
      const line = parts.join('') + piece;
      parts = [];
      if (line) yield line;
    }
    parts.push(pieces[pieces.length - 1]);
  }
  const rest = parts.join('');
  if (rest) yield rest;
}

/** Saves what an address gives as a file. Returns what the server said if it refuses. @param {string} url @param {string} name */
export async function download(url, name) {
  const response = await request(url);
  if (!response.ok) return response.text();
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  // The browser has begun to save it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return null;
}
