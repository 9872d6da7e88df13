// The cells of a flame graph lie beside each other inside their parents, and a search counts each byte once.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { flameLine, found, laidOut, stepsOf } from '../../page/flame_cells.js';

const ROWS = [
  { title: 'everything', size: 100, depth: 0, own: 0 },
  { title: 'Cache', size: 80, depth: 1, own: 10, left: 2, leftSize: 20, leftName: 'smaller steps' },
  { title: 'Entry', size: 50, depth: 2, own: 20, left: 1, leftSize: 5, leftName: 'smaller steps' },
  { title: 'Cache', size: 25, depth: 3, own: 25 },
  { title: 'Map', size: 20, depth: 1, own: 20 },
];

test('children and what is left out are beside each other, and own bytes are free room', () => {
  const cells = laidOut(ROWS);
  assert.deepEqual(cells.map(({ title, x, w, parent, isRest }) => [title, Math.round(x * 100), Math.round(w * 100), parent, isRest]), [
    ['everything', 0, 100, -1, false], ['Cache', 0, 80, 0, false], ['Entry', 0, 50, 1, false], ['Cache', 0, 25, 2, false],
    ['1 smaller steps', 25, 5, 2, true], ['2 smaller steps', 50, 20, 1, true], ['Map', 80, 20, 0, false],
  ]);
});

test('a match below a match adds nothing, and what is outside of the zoom does not count', () => {
  const cells = laidOut(ROWS);
  const matches = (text, top) => (({ count, size }) => [count, size])(found(cells, text, top));
  assert.deepEqual(matches('cache', 0), [2, 80]);
  assert.deepEqual(matches('cache', 2), [1, 25]);
  assert.deepEqual(matches('smaller', 0), [0, 0]);
  assert.deepEqual(matches(' ', 0), [0, 0]);
});

test('lines name steps with quotes and backslashes', () => {
  for (const steps of [[], ['[globals]', 'a "b" \\c'], ['3:@12', "it's"], ['--depth 3', 'byte[]']]) {
    assert.deepEqual(stepsOf(flameLine(steps)), steps);
  }
  assert.deepEqual(stepsOf("flame '[globals]' Cache --cells 5"), ['[globals]', 'Cache']);
});
