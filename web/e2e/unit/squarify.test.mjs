// The areas of a map add up, nothing overlaps, and nothing is lost.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { OWN, REST, cellAt, cellsOf, childrenOf, layOut } from '../../page/squarify.js';

/** A random tree, depth first, with bytes that add up: own + children + left = bytes. */
function randomTree(seed, most) {
  let state = seed;
  const random = (below) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const nodes = [{ depth: 0, bytes: 1e9, own: 0, left: 0, to: [] }];
  const all = [nodes[0]];
  while (all.length < most) {
    const parent = all[random(all.length)];
    const bytes = Math.floor((parent.bytes - parent.to.reduce((sum, one) => sum + one.bytes, 0)) / (2 + random(4)));
    if (bytes < 1) continue;
    const child = { depth: parent.depth + 1, bytes, own: 0, left: 0, to: [] };
    parent.to.push(child);
    all.push(child);
  }
  const rows = [];
  const open = [nodes[0]];
  while (open.length > 0) {
    const node = open.pop();
    const rest = node.bytes - node.to.reduce((sum, one) => sum + one.bytes, 0);
    node.own = Math.floor(rest / 3);
    node.left = rest - node.own;
    rows.push(node);
    open.push(...node.to);
  }
  return rows;
}

/** Cells that are not divided. */
function leaves(cells) {
  return Array.from({ length: cells.length }, (_, cell) => cell).filter((cell) => cells.first[cell] < 0);
}

test('bytes and areas of the smallest cells add up to the whole', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const cells = cellsOf(randomTree(seed, 400));
    layOut(cells, 0, 800, 600);
    const bytes = leaves(cells).reduce((sum, cell) => sum + cells.bytes[cell], 0);
    assert.equal(bytes, 1e9, 'bytes are exact');
    const area = leaves(cells).reduce((sum, cell) => sum + cells.w[cell] * cells.h[cell], 0);
    assert.ok(Math.abs(area - 480_000) < 1e-3, `${area}`);
    for (const cell of leaves(cells)) {
      const expected = (cells.bytes[cell] / 1e9) * 480_000;
      assert.ok(Math.abs(cells.w[cell] * cells.h[cell] - expected) < 1e-3, `cell ${cell}`);
    }
  }
});

test('what is inside a cell fills it and nothing else', () => {
  const cells = cellsOf(randomTree(7, 300));
  layOut(cells, 0, 640, 480);
  for (let cell = 0; cell < cells.length; cell++) {
    const inside = childrenOf(cells, cell);
    if (inside.length === 0) continue;
    assert.equal(inside.reduce((sum, one) => sum + cells.bytes[one], 0), cells.bytes[cell]);
    for (const one of inside) {
      assert.ok(cells.x[one] >= cells.x[cell] - 1e-6 && cells.y[one] >= cells.y[cell] - 1e-6);
      assert.ok(cells.x[one] + cells.w[one] <= cells.x[cell] + cells.w[cell] + 1e-6);
      assert.ok(cells.y[one] + cells.h[one] <= cells.y[cell] + cells.h[cell] + 1e-6);
    }
    for (const one of inside) {
      for (const other of inside) {
        if (one >= other) continue;
        const across = Math.min(cells.x[one] + cells.w[one], cells.x[other] + cells.w[other]) - Math.max(cells.x[one], cells.x[other]);
        const down = Math.min(cells.y[one] + cells.h[one], cells.y[other] + cells.h[other]) - Math.max(cells.y[one], cells.y[other]);
        assert.ok(across < 1e-6 || down < 1e-6, `${one} overlaps ${other}`);
      }
    }
  }
});

test('own size and what is left out are cells of their own', () => {
  const cells = cellsOf([
    { depth: 2, bytes: 100, own: 10, left: 30 }, { depth: 3, bytes: 60, own: 5, left: 55 },
  ]);
  assert.equal(cells.length, 4);
  assert.deepEqual([...cells.part.slice(2, 4)], [OWN, REST]);
  assert.deepEqual([...cells.bytes.slice(0, 4)], [100, 60, 10, 30]);
  assert.equal(cells.first[1], -1, 'a place without rows below it is one cell');
});

test('a point is in the smallest cell around it', () => {
  const cells = cellsOf(randomTree(3, 200));
  layOut(cells, 0, 500, 500);
  for (const cell of leaves(cells)) {
    if (cells.w[cell] * cells.h[cell] < 1) continue;
    assert.equal(cellAt(cells, 0, cells.x[cell] + cells.w[cell] / 2, cells.y[cell] + cells.h[cell] / 2), cell);
  }
  assert.equal(cellAt(cells, 0, 500, 3), -1);
});

test('a cell that is zoomed in fills the whole', () => {
  const cells = cellsOf(randomTree(5, 100));
  layOut(cells, 0, 300, 200);
  const inner = childrenOf(cells, 0).find((cell) => cells.first[cell] >= 0);
  layOut(cells, inner, 300, 200);
  assert.deepEqual([cells.x[inner], cells.y[inner], cells.w[inner], cells.h[inner]], [0, 0, 300, 200]);
});

test('nothing, one byte and a chain of 100,000 levels are laid out', () => {
  for (const bytes of [0, 1]) {
    const cells = cellsOf([{ depth: 0, bytes, own: bytes, left: 0 }]);
    layOut(cells, 0, 10, 10);
    assert.equal(cells.w[0], 10);
  }
  const chain = Array.from({ length: 100_000 }, (_, depth) => ({ depth, bytes: 100_000 - depth, own: 1, left: 0 }));
  const cells = cellsOf(chain);
  layOut(cells, 0, 1000, 1000);
  const area = leaves(cells).reduce((sum, cell) => sum + cells.w[cell] * cells.h[cell], 0);
  assert.ok(Math.abs(area - 1e6) < 1, `${area}`);
});

test('10,000 cells are laid out in 100 ms', () => {
  const cells = cellsOf(randomTree(11, 10_000));
  layOut(cells, 0, 1600, 900);
  const before = performance.now();
  layOut(cells, 0, 1600, 900);
  assert.ok(performance.now() - before < 100);
});
