// Trials as data: bins, modes, knobs, words, and the lines and commands that are made of names.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { viewOf, words } from '../../page/state.js';
import { difference, measured } from '../../page/value_text.js';
import { binned, knobsOf, marksOf, modeAt, modesOf, placesOf, replayLine, runPlaces, seriesLine, seriesOf, sharedBins, weightText } from '../../page/trial_values.js';

const column = (key) => ({ key, heading: key, unit: 'number', audience: 'everyone', is_secondary: false });
const number = (value) => (value === null ? { kind: 'none' } : { kind: 'number', value });
const of = (value) => ({ kind: 'measured', value: { value, text: `${value} ns` } });
const table = (key, columns, rows) => ({ key, audience: 'everyone', columns: columns.map(column), rows });
const answer = (facts, ...tables) => ({
  facts: Object.entries(facts).map(([key, value]) => ({ column: column(key), value: Array.isArray(value) ? { kind: 'series', value: { numbers: value, unit: 'number' } } : { kind: 'text', value } })), tables, notes: [],
});
const mode = (at, low, high) => ({ number: at, location: (low + high) / 2, low, high, count: 1, weight: 0.5, weightLow: 0.4, weightHigh: 0.6 });

test('an answer becomes a series, modes and knobs', () => {
  const histogram = answer({ metric: 'wall', unit: 'ns', variant: 'sort', values: [1.5, 3], value_runs: [0, 2], value_iterations: [null, 4] },
    table('rows', ['from', 'to', 'values', 'mode'], [[of(1.5), of(2), number(1), number(1)], [of(2), of(3), number(1), number(null)]]));
  assert.deepEqual(seriesOf(histogram), {
    metric: 'wall', unit: 'ns', program: 'sort', values: [{ value: 1.5, run: 0, iteration: null }, { value: 3, run: 2, iteration: 4 }],
    bins: [{ from: 1.5, to: 2, count: 1, mode: 1 }, { from: 2, to: 3, count: 1, mode: null }],
  });
  const share = (value) => ({ kind: 'share', value });
  const modes = answer({}, table('rows', ['mode', 'location', 'low', 'high', 'values', 'weight', 'weight_low', 'weight_high'],
    [[number(1), of(2), of(1), of(3), number(8), share(0.25), share(0.1), share(0.4)]]),
  table('knobs', ['knob', 'share', 'modulus', 'settings'], [[{ kind: 'text', value: 'env' }, share(0.6), number(64), { kind: 'list', value: [number(70), { kind: 'text', value: 'on' }, { kind: 'none' }] }]]));
  assert.equal(weightText(modesOf(modes)[0]), '25 % (10–40 %)');
  assert.deepEqual(knobsOf(modes), [{ name: 'env', share: 0.6, modulus: 64, settings: [70, 'on', null] }]);
  assert.deepEqual([seriesOf(answer({})).values, modesOf(answer({})), knobsOf(answer({}))], [[], [], []]);
});

test('values are in bins, and the empty ones are there', () => {
  const modes = [mode(1, 0, 2), mode(2, 9, 10)];
  const bins = binned([0, 1, 1, 2, 9, 10], modes, [0, 10], 2);
  assert.deepEqual(bins.map(({ count }) => count), [3, 1, 0, 0, 2]);
  assert.deepEqual(bins.map((bin) => bin.mode), [1, 1, null, null, 2]);
  assert.deepEqual([bins[0].from, bins[4].to], [0, 10]);
  assert.deepEqual(binned([5, 5], [], [5, 5], 0), [{ from: 5, to: 5, count: 2, mode: null }]);
  assert.ok(binned([0, 1e9], [], [0, 1e9], 1e-9).length <= 120);
  assert.equal(modeAt(modes, 9.5), 2);
  assert.equal(modeAt(modes, 5), null);
});

test('two series share bins as narrow as the narrower ones', () => {
  const series = (values, width) => ({ metric: '', unit: '', program: '', values: values.map((value) => ({ value, run: 0, iteration: null })), bins: values.map((value) => ({ from: value, to: value + width, count: 1, mode: null })) });
  const [a, b] = sharedBins([series([0, 4], 1), series([6, 8], 2)], [[], []]);
  assert.deepEqual([a.length, b.length, a[0].from, b[9].to], [10, 10, 0, 10]);
  assert.equal(b.reduce((sum, { count }) => sum + count, 0), 2);
  const equal = sharedBins([series([7], 0), series([7], 0)], [[], []]);
  assert.deepEqual(equal.map((bins) => bins.map(({ count }) => count)), [[1], [1]]);
});

test('the settings of a knob are numbers modulo what explains most, or names', () => {
  const knob = (settings, modulus = null) => placesOf({ name: '', share: 0, modulus, settings });
  assert.deepEqual(knob([70, 128, null], 64), { places: [6, 0, null], names: null });
  assert.deepEqual(knob([70, 128]).places, [70, 128]);
  assert.deepEqual(knob(['on', 'off', 'on', null]), { places: [1, 0, 1, null], names: ['off', 'on'] });
  assert.deepEqual(runPlaces([{ value: 1, run: 3, iteration: 0 }, { value: 1, run: 3, iteration: 1 }]), [3, 3.4]);
  assert.deepEqual(runPlaces([{ value: 1, run: 3, iteration: null }]), [3]);
});

test('numbers are written as the server writes them', () => {
  const texts = [[17.5314, 'ns', '17.53 ns'], [1_234_567, 'ns', '1.235 ms'], [2.5e9, 'ns', '2.500 s'], [0, 'ns', '0 ns'], [8_875_584, 'bytes', '8.5 MiB'], [100.5, 'bytes', '100.5 B'],
    [140_725, '', '140,725'], [3.25, 'MB/s', '3.250 MB/s'], [1e300, '', '1.000e300'], [1e-9, 's', '1.000e-9 s'], [-1500, 'ns', '-1.500 µs']];
  for (const [value, unit, text] of texts) assert.equal(measured(value, unit), text);
  assert.equal(difference(2.5, 'ns'), '+2.500 ns');
  assert.equal(difference(0, 'ns'), '0 ns');
});

test('marks of an axis are round, and few', () => {
  assert.deepEqual(marksOf([0, 10], 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(marksOf([5, 5], 5), [5]);
  assert.deepEqual(marksOf([7.7e6, 1.6e7], 4), [1e7, 1.5e7]);
  for (const range of [[-3, 1e-12], [0, 1e300], [1e-300, 2e-300], [-1e15, 1e15]]) assert.ok(marksOf(range, 6).length <= 8, String(range));
});

test('names are words of a line and of a shell', () => {
  assert.equal(seriesLine('histogram', 'wall', 'sort'), 'histogram wall sort');
  assert.equal(seriesLine('histogram', 'wall', ''), 'histogram wall');
  assert.equal(seriesLine('modes', 'my time', './a "b"'), 'modes "my time" "./a \\"b\\""');
  assert.equal(seriesLine('modes', '-x', '| sh'), 'modes "-x" "| sh"');
  assert.equal(seriesLine('modes', 'a\nb', 'n'.repeat(1000)), `modes a ${'n'.repeat(200)}`);
  const file = (/** @type {string} */ name) => /** @type {any} */ ({ folder: '', name });
  assert.equal(replayLine(7, file('t.barrow')), 'barrow trial --replay 7 t.barrow');
  assert.equal(replayLine(7, file("-it's; $(x).barrow")), "barrow trial --replay 7 './-it'\\''s; $(x).barrow'");
});

test('a histogram is of a metric in a file of trials', () => {
  const file = (snapshots, trials) => ({ snapshots, processes: false, trials });
  assert.equal(viewOf('histogram wall', file(0, true)), 'metric');
  assert.equal(viewOf('histogram', file(0, true)), 'metric');
  assert.equal(viewOf('histogram wall "a = b"', file(3, true)), 'metric');
  assert.equal(viewOf('histogram by type', file(3, true)), 'types');
  assert.equal(viewOf('histogram type = "x"', file(3, true)), 'types');
  assert.equal(viewOf('histogram wall', file(3, false)), 'types');
  for (const line of ['summary', 'dominators', 'info', 'top']) assert.equal(viewOf(line, file(0, true)), 'answer', line);
  assert.deepEqual(['trials', 'compare a b', 'runs 3', 'values wall mode 2'].map((line) => viewOf(line, file(0, true))), ['trials', 'compare', 'runs', 'runs']);
  assert.equal(words('compare "a b" c').length, 3);
});
