// The program under test, as a shell runs it, and its server.

import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The repository. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** The program: `run` builds it and says where it is. */
export const BARROW = process.env.BARROW ?? `${ROOT}target/debug/barrow`;

/** Longer than anything here takes on a slow machine, in milliseconds. */
const PATIENCE = 60_000;

/**
 * Runs the program to its end.
 * @param {string[]} words @param {{cwd?: string}} [options]
 */
export function barrow(words, { cwd } = {}) {
  const { status, stdout, stderr } = spawnSync(BARROW, words, { cwd, encoding: 'utf8', maxBuffer: 1 << 30, timeout: PATIENCE });
  return { code: status, out: stdout, err: stderr };
}

/** The answer to a line in a shell, as `--format json` prints it. @param {string} file @param {string[]} lines the last is the question */
export function answered(file, ...lines) {
  const { code, out, err } = barrow([file, ...lines.flatMap((line) => ['-e', line]), '--format', 'json']);
  if (code !== 0 && code !== 1) throw new Error(`${lines.at(-1)}: exit ${code}: ${err}`);
  return lastOf(out);
}

/** The last of the answers in JSON that the program printed. @param {string} out */
export function lastOf(out) {
  return JSON.parse(out.split(/\n(?=\{"schema_version")/).at(-1) ?? '');
}

/** Runs what was copied from the page, in a shell that knows `barrow`. @param {string} line @param {string} cwd */
export function shell(line, cwd) {
  const text = `barrow() { "$BARROW" "$@"; }; ${line}`;
  const { status, stdout, stderr } = spawnSync('sh', ['-c', text], { cwd, encoding: 'utf8', env: { ...process.env, BARROW }, timeout: PATIENCE, maxBuffer: 1 << 30 });
  return { code: status, out: stdout, err: stderr };
}

/**
 * A server.
 * @typedef {object} Server
 * @property {string} address with the token, as it was printed
 * @property {string} origin
 * @property {number} pid
 * @property {(path: string, init?: RequestInit) => Promise<Response>} get asks it without a browser
 * @property {() => Promise<void>} stop
 */

/**
 * Starts `barrow serve`. It listens when this returns.
 * @param {string[]} words files and flags @param {{cwd?: string}} [options]
 * @returns {Promise<Server>}
 */
export async function serve(words, { cwd } = {}) {
  const child = spawn(BARROW, ['serve', ...words], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text) => { complaint += text; });
  const ended = new Promise((resolve) => { child.on('close', resolve); });
  const line = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('error', reject);
    void ended.then((code) => reject(new Error(`barrow serve ${words.join(' ')} ended with ${code}: ${complaint}`)));
  });
  const { origin, searchParams } = new URL(line);
  return {
    address: line,
    origin,
    pid: /** @type {number} */ (child.pid),
    get: (path, init = {}) => fetch(`${origin}${path}`, { ...init, headers: { Authorization: `Bearer ${searchParams.get('token')}`, ...init.headers } }),
    async stop() {
      child.kill('SIGINT');
      await ended;
    },
  };
}
