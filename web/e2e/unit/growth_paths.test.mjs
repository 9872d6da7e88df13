// The change of a path belongs to the places on it.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { changesOf } from '../../page/growth_paths.js';

/** Paths with the changes of their last steps; those of the steps above are unknown if they are not given. */
function diff(paths) {
  const columns = ['path', 'shown_path', 'steps_bytes_change'].map((key) => ({ key }));
  const known = (change) => (change === null ? { kind: 'none' } : { kind: 'change', value: change });
  const rows = paths.map(([path, ...changes]) => [
    { kind: 'text', value: path.join(' › ') }, { kind: 'path', value: path },
    { kind: 'list', value: [...path.slice(changes.length).map(() => null), ...changes].map(known) },
  ]);
  return { tables: [{ columns, rows }] };
}

function place(depth, type, name = null, kind = 'object') {
  return { depth, type, name, kind, object: 1, word: '0:@1' };
}

const everything = { depth: 0, type: 'all roots', name: null, kind: null, object: null, word: '' };
const roots = { depth: 1, type: 'roots: thread', roots: 'thread', name: null, kind: null, object: null, word: 'roots "thread"' };

test('objects of one type below each other are one step', () => {
  const answer = diff([[['[thread]', 'Node'], 7], [['[thread]', 'Node', 'Data'], 5]]);
  const nodes = [everything, roots, place(2, 'Node'), place(3, 'Node'), place(4, 'Data'), place(3, 'Data')];
  assert.deepEqual(changesOf(answer, nodes, []), [null, null, 7, 7, 5, 5]);
});

test('the steps above a path have their own changes', () => {
  const answer = diff([[['[thread]', 'Node', 'Data'], 8, 9, 5], [['[thread]', 'Node', 'Text'], 8, 9, 4]]);
  const nodes = [everything, roots, place(2, 'Node'), place(3, 'Data'), place(3, 'Text'), place(3, 'Other')];
  assert.deepEqual(changesOf(answer, nodes, []), [null, 8, 9, 5, 4, null]);
});

test('equal names of different kinds are different steps', () => {
  const answer = diff([[['Node'], 1], [['Node', 'Node'], 2]]);
  const nodes = [everything, place(1, 'Node', null, 'class'), place(2, 'Node', null, 'object')];
  assert.deepEqual(changesOf(answer, nodes, []), [null, 1, 2]);
});

test('a class is a step with its name', () => {
  const answer = diff([[['class Cache', 'Map'], 3], [['java.lang.Class'], 4]]);
  const nodes = [everything, place(1, 'java.lang.Class', 'Cache', 'class'), place(2, 'Map'), place(1, 'java.lang.Class', 'Other', 'class')];
  assert.deepEqual(changesOf(answer, nodes, []), [null, null, 3, 4]);
});

test('a tree that begins below the roots continues the path to it', () => {
  const answer = diff([[['[thread]', 'Node', 'Data'], 5]]);
  assert.deepEqual(changesOf(answer, [place(0, 'Data'), place(1, 'Data'), place(1, 'Other')], [roots, place(0, 'Node')]), [5, 5, null]);
});

test('of two paths with the same names nothing is known', () => {
  const answer = diff([[['Node'], 1], [['Node'], 2]]);
  assert.deepEqual(changesOf(answer, [everything, place(1, 'Node')], []), [null, null]);
});
