// The files that the tests open. They are made once by `run`, from programs of this repository; nothing of them is committed.

import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';

import { BARROW, ROOT } from './binary.mjs';

/** Where they are. */
export const FOLDER = process.env.BARROW_E2E ?? `${ROOT}target/e2e`;
/** The program that writes recordings that are hard to show: `testdata/examples/heaps`. */
const HEAPS = process.env.BARROW_HEAPS ?? `${ROOT}target/debug/examples/heaps`;

/** Eight snapshots of a Python program with a leak, as docs/guides/leaks.md finds it in a shell. */
export const LEAK = join(FOLDER, 'shop.barrow');
/** The folder of the dumps that it was imported from: `shop-1.pyheap` to `shop-8.pyheap`. */
export const DUMPS = join(FOLDER, 'dumps');
/** A linked list of a million objects. */
export const DEEP = join(FOLDER, 'deep.barrow');
/** An object with two million children, each with a child. */
export const WIDE = join(FOLDER, 'wide.barrow');
/** Names that would like to be HTML, a shell command, or a million characters. */
export const HOSTILE = join(FOLDER, 'hostile.barrow');
/** A recording without a snapshot, one without an object, one with one snapshot. */
export const NOTHING = join(FOLDER, 'nothing.barrow');
export const EMPTY = join(FOLDER, 'empty.barrow');
export const ONE = join(FOLDER, 'one.barrow');
/** A heap with three objects, and processes with hostile names. */
export const BOTH = join(FOLDER, 'both.barrow');
/** Trials: two modes that a knob explains, a failed run, five values per run that the program reports. */
export const TRIAL = join(ROOT, 'testdata/trial.barrow');
/** Trials with hostile names, too few values, equal ones; without a run that succeeded; of one program, with ten thousand values; beside a heap. */
export const ODD_TRIALS = join(FOLDER, 'trials-odd.barrow');
export const FAILED_TRIALS = join(FOLDER, 'trials-failed.barrow');
export const MANY_TRIALS = join(FOLDER, 'trials-many.barrow');
export const HEAP_TRIALS = join(FOLDER, 'trials-heap.barrow');
/** Damage in the middle; an end that is missing. */
export const DAMAGED = join(FOLDER, 'damaged.barrow');
export const CUT = join(FOLDER, 'cut.barrow');
/** Three snapshots of a Raku program: half a million objects each. */
export const RAKU = join(ROOT, 'testdata/raku.barrow');
/** The processes of `make -j4`, 58 of them, with their memory. */
export const BUILD = join(ROOT, 'testdata/build.barrow');
/** Allocation sites, threads. */
export const INVOICES = join(ROOT, 'testdata/invoices.barrow');
export const THREADS = join(ROOT, 'testdata/threads.barrow');
/** Eight heaps of a Java program with the values of fields, as docs/guides/sessions.md asks about them. */
export const STOREFRONT = join(ROOT, 'testdata/leaks/storefront.barrow');
/** A Java program with collections and class loaders. */
export const JVM = join(ROOT, 'testdata/jvm.barrow');
/** A dump of another format. */
export const DUMP = join(ROOT, 'testdata/foreign/jvm/17.hprof.zst');

/** Files that no reader can open, each for another reason. */
export const BAD = {
  'empty-file.barrow': Buffer.alloc(0),
  'text.barrow': Buffer.from('This is a letter, not a recording.\n'),
  'noise.barrow': Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 7919) % 251)),
  'header-only.barrow': null,
  'newer.barrow': null,
  'broken.hprof': Buffer.from('JAVA PROFILE 1.0.2\0\0\0\0\x08not a record'),
  'broken.heapsnapshot': Buffer.from('{"snapshot":{"meta":{"node_fields":["type"'),
};

/** What the files are made from, as a number. */
function recipe() {
  const hash = createHash('sha256');
  for (const path of ['web/e2e/harness/fixtures.mjs', 'testdata/examples/heaps/main.rs', 'testdata/examples/heaps/trials.rs', 'docs/guides/leaks/shop.py', 'recorders/python/dump_heap.py']) {
    hash.update(readFileSync(join(ROOT, path)));
  }
  return hash.digest('hex');
}

/** Makes all files, unless they are there. */
export function makeFixtures() {
  const made = join(FOLDER, 'made');
  if (existsSync(made) && readFileSync(made, 'utf8') === recipe()) return;
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  run(HEAPS, [FOLDER]);
  makeLeak();
  const leak = readFileSync(LEAK);
  writeFileSync(DAMAGED, withDamage(leak));
  writeFileSync(CUT, leak.subarray(0, Math.floor(leak.length * 0.7)));
  age(CUT);
  makeBad(readFileSync(ONE));
  writeFileSync(made, recipe());
}

/** @param {string} program @param {string[]} words @param {string} [cwd] */
function run(program, words, cwd) {
  const { status, stderr, error } = spawnSync(program, words, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${words.join(' ')}: ${error?.message ?? stderr}`);
}

/** Runs the leaking program and imports its dumps. */
function makeLeak() {
  const folder = mkdtempSync(join(tmpdir(), 'barrow-shop-'));
  cpSync(`${ROOT}docs/guides/leaks/shop.py`, join(folder, 'shop.py'));
  cpSync(`${ROOT}recorders/python/dump_heap.py`, join(folder, 'dump_heap.py'));
  run('python3', ['shop.py'], folder);
  const dumps = Array.from({ length: 8 }, (_, at) => join(folder, `shop-${at + 1}.pyheap`));
  run(BARROW, ['import', ...dumps, '-o', LEAK]);
  mkdirSync(DUMPS);
  for (const dump of dumps) copyFileSync(dump, join(DUMPS, basename(dump)));
  rmSync(folder, { recursive: true });
}

/** A recording with damage in the objects of its last snapshot; tables and totals are whole. @param {Buffer} whole */
function withDamage(whole) {
  const BLOCK = Buffer.from([0x42, 0x72, 0x77, 0x46, 7, 0]); // The beginning of a frame of objects: docs/recording-format.md.
  const damaged = Buffer.from(whole);
  for (let at = whole.length, left = 3; left > 0; left -= 1) {
    at = whole.lastIndexOf(BLOCK, at - 1);
    const length = Number(whole.readBigUInt64LE(at + 16));
    // Each column has at least one of these bytes.
    for (let byte = at + 40 + (length >> 3); byte < at + 40 + length; byte += 97) damaged[byte] ^= 0x55;
  }
  return damaged;
}

/** Makes a file old: a recording without an end may be growing while it is new. @param {string} file */
function age(file) {
  const before = new Date(Date.now() - 3_600_000);
  utimesSync(file, before, before);
}

/** @param {Buffer} whole a recording */
function makeBad(whole) {
  const folder = join(FOLDER, 'bad');
  mkdirSync(folder);
  const newer = Buffer.from(whole);
  newer[8] = 0xfe; // The major version.
  const made = { ...BAD, 'header-only.barrow': whole.subarray(0, 16), 'newer.barrow': newer };
  for (const [name, bytes] of Object.entries(made)) {
    writeFileSync(join(folder, name), /** @type {Buffer} */ (bytes));
    age(join(folder, name));
  }
}

/** A folder of one's own, gone after the test. @param {{after: (end: () => void) => void}} test */
export function scratch(test) {
  const folder = mkdtempSync(join(tmpdir(), 'barrow-e2e-'));
  test.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A link to a file in a folder of one's own, where its index may be. @param {string} file @param {string} folder @param {string} [name] */
export function linked(file, folder, name = file.split('/').at(-1) ?? '') {
  const link = join(folder, name);
  symlinkSync(file, link);
  return link;
}

/**
 * A recording that grows by one snapshot at each call of `commit`.
 * @param {string} file
 */
export function growing(file) {
  const child = spawn(HEAPS, ['grow', file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = new Promise((resolve) => { child.on('close', resolve); });
  return {
    /** Returns how many snapshots there are. */
    async commit() {
      child.stdin.write('\n');
      return Number((await lines.next()).value);
    },
    async end() {
      child.stdin.end();
      await ended;
    },
  };
}

if (process.argv[1] === new URL(import.meta.url).pathname) makeFixtures();
