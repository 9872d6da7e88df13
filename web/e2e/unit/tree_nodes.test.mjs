// Rows of `dominators` as places, and what is left out of them by type.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { nodesOf, shortType, treeLine, withRestByType } from '../../page/tree_nodes.js';
import { literal } from '../../page/state.js';
import { shortName } from '../../page/treemap.js';

const KEYS = ['depth', 'object', 'type', 'name', 'roots', 'kind', 'shallow_bytes', 'unmanaged_bytes', 'retained_objects', 'retained_bytes', 'left_out', 'left_out_bytes'];

function answer(rows) {
  const value = (of) => (of === null ? { kind: 'none' } : { kind: typeof of === 'number' ? 'number' : 'text', value: of });
  return { tables: [{ columns: KEYS.map((key) => ({ key, heading: key })), rows: rows.map((row) => row.map(value)) }] };
}

const ROWS = [
  [0, null, 'all roots', null, null, null, null, null, 12, 1000, 5, 500],
  [1, null, 'roots: a "b"', null, 'a "b"', null, null, null, 4, 300, null, null],
  [2, 7, 'Map', null, null, 'object', 100, 200, 1, 300, null, null],
  [1, 8, 'Map', null, null, 'object', 150, 0, 2, 200, 1, 50],
];

test('children are those shown and those left out', () => {
  const nodes = nodesOf(answer(ROWS), 3);
  assert.deepEqual(nodes.map((node) => node.children), [7, 1, 0, 1]);
  assert.deepEqual(nodes.map((node) => node.word), ['', 'roots "a \\"b\\""', '3:@7', '3:@8']);
  assert.deepEqual(nodes.map((node) => node.own), [null, null, 300, 150]);
});

test('what is left out is divided by type, and still adds up', () => {
  const nodes = nodesOf(answer(ROWS), 3);
  const type = (name, members, retained) => ({ ...nodes[3], object: 9, type: name, members, retained, objects: members });
  // Two types of one name, which differ in their layout, are one.
  const types = [type('Map', 3, 400), type('List', 2, 250), type('Map', 1, 50), { ...type('roots: a "b"', 1, 300), kind: null }];
  const divided = withRestByType(nodes, nodes[0], types);
  assert.deepEqual(divided.map((node) => node.type), ['all roots', 'roots: a "b"', 'Map', 'Map', 'Map', 'List']);
  assert.deepEqual(divided.slice(4).map((node) => [node.depth, node.members, node.retained]), [[1, 3, 250], [1, 2, 250]]);
  assert.equal(divided[0].leftBytes, 0);
  assert.equal(nodes[0].leftBytes, 500, 'the rows themselves stay');
});

test('sums that differ divide nothing', () => {
  const nodes = nodesOf(answer(ROWS), 3);
  assert.equal(withRestByType(nodes, nodes[0], [{ ...nodes[3], type: 'List', members: 2, retained: 499, objects: 2 }]), nodes);
});

test('names in lines are quoted', () => {
  assert.equal(literal('a"b\\c'), '"a\\"b\\\\c"');
  assert.equal(treeLine('', '--cells 5'), 'dominators --cells 5');
  assert.deepEqual(shortType('java.util.HashMap$Node[]'), ['HashMap$Node[]', 'java.util']);
  assert.deepEqual(shortType('<anon> (a.b:1)'), ['<anon> (a.b:1)', '']);
});

test('a class and its instances differ in the map', () => {
  const place = { object: 1, members: null, chain: null };
  assert.equal(shortName({ ...place, type: 'java.lang.Class', name: 'com.acme.Order', kind: 'class' }), 'class Order');
  assert.equal(shortName({ ...place, type: 'com.acme.Order', name: null, kind: 'instance' }), 'Order');
  assert.equal(shortName({ ...place, type: 'java.lang.Class', name: null, kind: 'class', members: 3 }), '3 × Class');
});
