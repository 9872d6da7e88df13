// Times of lanes: words, ranges, axes, and what is near a place.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { fitting, heightOf, lineWith, marksOf, nearest, rangeOf, rangeWord, rounded, stacked, stepOf, timeText, timeWord, withoutFolders } from '../../page/lane_times.js';
import { viewOf, processLine } from '../../page/state.js';

/** @param {Partial<import('../../page/lane_times.js').Block>} of */
function block(of) {
  return { lane: 0, from: 0, to: 10, name: 'a', rank: 0, own: 10, running: 10, spans: 1, process: null, program: null, critical: 0, ...of };
}

test('a range is read as it is written', () => {
  assert.deepEqual([0, 1, 1e9, 1.25e9, 26_200e9].map(timeWord), ['0s', '0.000000001s', '1s', '1.25s', '26200s']);
  for (const range of /** @type {[number, number][]} */ ([[0, 1], [1e9, 2.5e9], [123_456_789, 98_765_432_101], [0, 1e18]])) {
    assert.deepEqual(rangeOf(rangeWord(range)), range);
  }
  for (const word of [undefined, '', '1s..1s', '2s..1s', '1..2', 's..s', '1s..2s x', '1e3s..2s', '-1s..2s', '1s..', `${'9'.repeat(40)}s..2s`]) {
    assert.equal(rangeOf(word), null, word);
  }
});

test('a line keeps its other words', () => {
  assert.equal(lineWith(['lanes'], [1e9, 2e9]), 'lanes 1s..2s');
  assert.equal(lineWith(['lanes', '1s..2s', 'program', '--cells', '5'], [3e9, 4e9]), 'lanes 3s..4s program --cells 5');
  assert.equal(lineWith(['lanes', '1s..', 'program'], null), 'lanes program');
});

test('a brush has round ends and no less in it', () => {
  assert.deepEqual(rounded([1_234_567_890, 2_345_678_901], 2_460_000), [1_234_000_000, 2_346_000_000]);
  assert.deepEqual(rounded([7, 9], 0.01), [7, 9]);
  for (let round = 0; round < 200; round += 1) {
    const [from, length, pixel] = [Math.floor(Math.random() * 1e12), Math.floor(Math.random() * 1e11) + 1, Math.random() * 1e9];
    const [a, b] = rounded([from, from + length], pixel);
    assert.ok(a <= from && b >= from + length && from - a <= pixel + 1 && b - from - length <= pixel + 1);
  }
});

test('axes have few round marks', () => {
  for (let power = 1; power < 16; power += 1) {
    for (const factor of [1, 1.7, 3.3, 9.9]) {
      const length = factor * 10 ** power;
      const step = stepOf(length, 8);
      const marks = marksOf([length / 3, length / 3 + length], step);
      assert.ok(marks.length >= 1 && marks.length <= 9, `${length}: ${marks.length} marks`);
      assert.ok(marks.every((mark) => Math.abs(mark / step - Math.round(mark / step)) < 1e-6));
      assert.equal(new Set(marks.map((mark) => timeText(mark, step))).size, marks.length, `${length}: ${marks.map((mark) => timeText(mark, step))}`);
    }
  }
  assert.deepEqual([[0, 1e9], [65e9, 1e9], [3_725e9, 60e9], [1.25e9, 5e7], [3.5e6, 5e5], [1500, 500]].map(([ns, step]) => timeText(ns, step)),
    ['0 s', '1:05', '1:02:05', '1.25 s', '3.5 ms', '1.5 µs']);
});

test('the nearest block is of the same lane', () => {
  const blocks = [block({ from: 0, to: 10 }), block({ from: 20, to: 30 }), block({ lane: 1, from: 12, to: 14 })];
  assert.deepEqual([[0, 5], [0, 14], [0, 16], [0, 99], [1, 0], [2, 5], [-1, 5]].map(([lane, time]) => nearest(blocks, lane, time)), [0, 0, 1, 1, 2, -1, -1]);
});

test('the area of a block is what ran', () => {
  assert.equal(heightOf(block({}), 20), 20);
  assert.equal(heightOf(block({ spans: 5, running: 5 }), 20), 10);
  assert.equal(heightOf(block({ spans: 5, running: 0.01 }), 20), 2);
  assert.equal(heightOf(block({ spans: 5, from: 3, to: 3 }), 20), 20);
});

test('names are cut where they do not fit', () => {
  assert.deepEqual(['cc1 lvm.c', 'cc1 lvm.c', 'cc1 lvm.c', 'cc1', ''].map((name, at) => fitting(name, [100, 40, 20, 19, 0][at])), ['cc1 lvm.c', 'cc1 l…', '', 'cc1', '']);
  assert.equal(fitting('𝒳'.repeat(1000), 63), `${'𝒳'.repeat(9)}…`);
});

test('paths are short in blocks', () => {
  assert.deepEqual(['cc1 src/a/b.c', '/usr/bin/cc', 'a/', '', 'a b'].map(withoutFolders), ['cc1 b.c', 'cc', 'a/', '', 'a b']);
});

test('areas are above each other', () => {
  assert.deepEqual(stacked([[1, 2], [3, 0]]), [[[0, 1], [0, 2]], [[1, 4], [2, 2]]]);
  assert.deepEqual(stacked([]), []);
});

test('what is about processes has no view of heaps', () => {
  const [processes, both, heap] = [{ snapshots: 0, processes: true }, { snapshots: 3, processes: true }, { snapshots: 3, processes: false }];
  const lines = ['summary', 'top 5', 'info', 'info 12:0', 'info "a b:12:0"', 'info @5', 'lanes', 'diff 0 1', 'help'];
  assert.deepEqual(lines.map((line) => viewOf(line, processes)), ['answer', 'answer', 'answer', 'answer', 'answer', 'answer', 'lanes', 'answer', 'help']);
  assert.deepEqual(lines.map((line) => viewOf(line, both)), ['series', 'types', 'objects', 'answer', 'answer', 'object', 'lanes', 'types', 'help']);
  assert.deepEqual(lines.map((line) => viewOf(line, heap)), ['series', 'types', 'objects', 'object', 'object', 'object', 'lanes', 'types', 'help']);
  assert.deepEqual(['12:0', 'host:12:0', 'a b:1:0', '<x>:1:0'].map(processLine), ['info 12:0', 'info host:12:0', 'info "a b:1:0"', 'info "<x>:1:0"']);
});
