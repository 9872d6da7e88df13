// Where the rows of an expanded tree are, compared with a tree that is written out row by row.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { TreeRows } from '../../page/tree_rows.js';

/** All rows, by walking the branches: what `TreeRows` must agree with. */
function written(rows) {
  const all = [];
  const open = [{ branch: rows.root, index: 0 }];
  while (open.length > 0) {
    const place = open[open.length - 1];
    if (place.index === place.branch.count) {
      open.pop();
      continue;
    }
    const index = place.index++;
    all.push({ branch: place.branch, index });
    const child = place.branch.expanded.get(index);
    if (child) open.push({ branch: child, index: 0 });
  }
  return all;
}

function assertSame(rows) {
  const expected = written(rows);
  assert.equal(rows.length, expected.length);
  expected.forEach(({ branch, index }, row) => {
    const place = rows.at(row);
    assert.ok(place.branch === branch && place.index === index, `row ${row}`);
    assert.equal(rows.rowOf(branch, index), row);
  });
  for (const [first, end] of [[-3, 2], [0, expected.length], [1, expected.length + 3], [expected.length, expected.length + 1]]) {
    const between = rows.between(first, end).flatMap(({ branch, from, to }) => Array.from({ length: to - from }, (_, at) => ({ branch, index: from + at })));
    assert.ok(between.length === Math.max(0, Math.min(end, expected.length) - Math.max(0, first)));
    between.forEach(({ branch, index }, at) => assert.ok(expected[Math.max(0, first) + at].branch === branch && expected[Math.max(0, first) + at].index === index));
  }
  assert.equal(rows.at(expected.length), null);
  assert.equal(rows.at(-1), null);
}

/** Numbers that are the same in every run. */
function numbers(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test('a tree without rows has none', () => {
  const rows = new TreeRows(0);
  assert.equal(rows.length, 0);
  assert.equal(rows.at(0), null);
});

test('children are below their parent', () => {
  const rows = new TreeRows(3);
  const first = rows.expand(rows.root, 0, 2, 'a');
  assert.equal(rows.length, 5);
  assert.deepEqual([1, 2].map((row) => rows.at(row).branch === first), [true, true]);
  assert.equal(rows.at(3).index, 1);
  assert.equal(first.level, 2);
  assert.equal(first.node, 'a');
  assertSame(rows);
});

test('a node without children can be expanded', () => {
  const rows = new TreeRows(2);
  rows.expand(rows.root, 1, 0);
  assertSame(rows);
  rows.collapse(rows.root, 1);
  assertSame(rows);
  assert.equal(rows.runs.length, 1);
});

test('expanding and collapsing at random agrees with the written tree', () => {
  for (let seed = 1; seed <= 30; seed++) {
    const random = numbers(seed);
    const rows = new TreeRows(1 + random(6));
    for (let step = 0; step < 60; step++) {
      const { branch, index } = rows.at(random(rows.length));
      if (branch.expanded.has(index)) rows.collapse(branch, index);
      else if (rows.length < 300) rows.expand(branch, index, random(7));
      if (step % 10 === 9) assertSame(rows);
    }
    while (rows.root.expanded.size > 0) rows.collapse(rows.root, [...rows.root.expanded.keys()][0]);
    assert.equal(rows.length, rows.root.count);
    assert.equal(rows.runs.length, 1, 'runs are joined again');
  }
});

test('9.4 million children cost nothing until they are looked at', () => {
  const rows = new TreeRows(1);
  const roots = rows.expand(rows.root, 0, 9_400_000);
  for (let index = 0; index < 9_400_000; index += 9_400) rows.expand(roots, index, 3);
  assert.equal(rows.length, 1 + 9_400_000 + 3_000);
  assert.equal(rows.runs.length, 2_002);
  assert.deepEqual(rows.at(9_402_999 + 1).index, 9_399_999);
  const before = performance.now();
  for (let row = 0; row < rows.length; row += 100) {
    const place = rows.at(row);
    if (row % 100_000 === 0) assert.equal(rows.rowOf(place.branch, place.index), row);
  }
  assert.ok(performance.now() - before < 1_000, 'rows are found by halving');
});

test('a chain of a million levels has no recursion', () => {
  const rows = new TreeRows(1);
  let branch = rows.root;
  for (let level = 0; level < 1_000_000; level++) {
    branch = chained(rows, branch);
  }
  assert.equal(rows.length, 1_000_001);
  assert.equal(rows.at(1_000_000).branch.level, 1_000_001);
  assert.equal(rows.at(500_000).branch.level, 500_001);
  rows.collapse(rows.root, 0);
  assert.equal(rows.length, 1);
});

function chained(rows, branch) {
  return rows.expand(branch, 0, 1);
}
