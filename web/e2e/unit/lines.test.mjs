// What the lines of the tree and of the types ask.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import './attributes.mjs';
import { asked } from '../../page/views/tree.js';
import { askedTypes } from '../../page/views/types.js';

test('a line of the tree names a place', () => {
  const all = { word: '', byType: false, from: null };
  assert.deepEqual(asked('dominators'), all);
  assert.deepEqual(asked('dom --depth 3 --min 5%'), all);
  assert.deepEqual(asked('dominators 28:@123'), { ...all, word: '28:@123' });
  assert.deepEqual(asked('dominators 123 by type'), { word: '123', byType: true, from: null });
  assert.deepEqual(asked('dominators by type'), { ...all, byType: true });
  assert.deepEqual(asked('dominators 5..10'), { ...all, from: 5 });
  assert.deepEqual(asked('dominators @7 100..'), { word: '@7', byType: false, from: 100 });
  assert.deepEqual(asked('dominators roots "a \\"b\\" c" 5..9'), { word: 'roots "a \\"b\\" c"', byType: false, from: 5 });
  assert.deepEqual(asked("dominators roots 'JNI global'"), { ...all, word: "roots 'JNI global'" });
  assert.equal(asked('dominators 1 2 3'), null);
});

test('a line of types says verb, order and sides', () => {
  assert.deepEqual(askedTypes('histogram'), { verb: 'histogram', order: 'size', before: null, after: null, rest: '' });
  assert.deepEqual(askedTypes('histogram size > 1K by type by count').order, 'count');
  assert.deepEqual(askedTypes('histogram size > 1K by type by count').rest, 'size > 1K');
  assert.deepEqual(askedTypes('diff 0 last objects by retained'), { verb: 'diff', order: 'retained', before: '0', after: 'last', rest: 'objects' });
  assert.equal(askedTypes('top 10 type = "by count" by shallow').order, 'size');
});
