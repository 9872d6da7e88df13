// Cells lead to lines, and lines to what else can be asked.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import './attributes.mjs';
import { furtherOf, lineOfCell, lineOfStep, stepsOf, subjectOf, withAdded } from '../../page/links.js';

const heap = { snapshots: 2, processes: false };

/** The line of the first cell of a row. @param {Record<string, any>} values @param {object} [file] */
function lineOf(values, file = heap) {
  const columns = Object.keys(values).map((key) => ({ key, heading: key || 'type', unit: 'text', audience: 'everyone', is_secondary: false }));
  const row = Object.values(values).map((value) => (typeof value === 'string' ? { kind: 'text', value } : value));
  return lineOfCell({ key: 'rows', audience: 'everyone', columns, rows: [row] }, row, columns[0], file);
}

test('what a cell says is a line about it', () => {
  const number = (value) => ({ kind: 'number', value });
  assert.equal(lineOf({ type: 'Node', kind: 'instance' }), 'find type = "Node" and kind = "instance" by retained');
  assert.equal(lineOf({ text: { kind: 'name', value: '7' } }), 'find text = "7" by retained');
  assert.equal(lineOf({ name: 'job 14', cpu_time_ns: number(1) }), 'stack "job 14"');
  assert.equal(lineOf({ function: 'parse', site: number(3) }), 'site 3');
  assert.equal(lineOf({ class: 'linker', process: '1:0' }, { snapshots: 0, processes: true }), 'find class = "linker"');
  assert.equal(lineOf({ class: 'x'.repeat(4097), process: '1:0' }, { snapshots: 0, processes: true }), null);
  assert.equal(lineOf({ process: '1:0' }, { snapshots: 0, processes: true }), null);
  assert.equal(lineOf({ '': 'all roots', type: 'all roots', object: { kind: 'none' } }), null);
  assert.equal(lineOf({ function: 'not recorded', site: { kind: 'none' } }), null);
  assert.equal(lineOf({ loader: '<the JVM\'s own>', classes: number(9) }), null);
  assert.equal(lineOf({ type: 'wall' }, { snapshots: 0, processes: false }), null);
});

test('a frame is a line about its thread', () => {
  assert.equal(lineOf({ frame: 'run (job.rb:3)', thread: 'job 14' }), 'stack "job 14" --frame "run (job.rb:3)"');
  assert.equal(lineOf({ frame: 'a "b" \\', thread: 'main' }), 'stack main --frame "a \\"b\\" \\\\"');
  assert.equal(lineOf({ frame: 'two\nlines', thread: 'main' }), null);
  assert.equal(lineOf({ frame: 'run' }), null);
});

test('the steps of a path lead to what the answer names', () => {
  const column = (key) => ({ key, heading: key, unit: 'text', audience: 'everyone', is_secondary: false });
  const record = (fields) => ({ kind: 'record', value: Object.entries(fields).map(([key, value]) => ({ column: column(key), value: { kind: 'text', value } })) });
  const table = (columns) => ({ key: 'rows', audience: 'everyone', columns: columns.map(column), rows: [] });
  const path = { kind: 'path', value: ['[globals]', 'Cache', 'module os'] };
  const steps = { kind: 'list', value: [record({ roots: 'globals' }), record({ type: 'Cache' }), record({ kind: 'module', name: 'os' })] };
  const lines = (columns, row) => stepsOf(table(columns), row).map(lineOfStep);
  assert.deepEqual(lines(['shown_path', 'steps'], [path, steps]), ['dominators roots "globals"', 'find 100 type = "Cache" by retained', 'find 100 kind = "module" and name = "os" by retained']);
  // What only looks like a type is not taken for one.
  assert.deepEqual(lines(['shown_path'], [path]), [null, null, null]);
});

test('a hostile name stays one word of a line', () => {
  for (const name of ['a" or true or "', '$(touch x)`', "it's; rm -rf \\", '</script>']) {
    const line = lineOf({ type: name }) ?? '';
    assert.equal(line, `find type = "${name.replace(/["\\]/g, '\\$&')}" by retained`);
    for (const further of furtherOf(line, heap)) assert.ok(further.line.includes(line.slice('find '.length, -' by retained'.length)), further.line);
  }
});

test('what a line is about', () => {
  assert.deepEqual(subjectOf('info 28:@7'), { object: '28:@7' });
  assert.deepEqual(subjectOf('path @7 3'), { object: '@7' });
  assert.deepEqual(subjectOf('find 100 type = "A by b" by retained'), { expression: 'type = "A by b"' });
  assert.deepEqual(subjectOf('group size > 1K by .owner'), { expression: 'size > 1K' });
  assert.deepEqual(subjectOf('summary all'), {});
  assert.deepEqual(furtherOf('find class = "linker"', { snapshots: 0 }), []);
});

test('a set gets more objects, or a new one has them', () => {
  assert.deepEqual(withAdded(['$a = size > 1'], null, '@7'), ['$a = size > 1', '$b = @7']);
  assert.deepEqual(withAdded(['$a = size > 1', '$b = @7'], '$a', '@9'), ['$a = (size > 1) or @9', '$b = @7']);
});
