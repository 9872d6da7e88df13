// Lines of list and group, both ways.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import './attributes.mjs';
import { askedRows, isPath, objectsOf, rawWords, rowsLine } from '../../page/asked_rows.js';

const asked = { verb: 'list', rows: '', expression: '', names: [], by: '', direction: '' };

test('a line says the same after it was read', () => {
  for (const line of [
    'list of type', 'list 20 size > 1K of type, name', 'list type = "Session" of .user.name, .hits, retained by .hits desc',
    'list type = "a of b by c" and name ~ /x of y by z/ of size by size asc', 'list name = of of size', "list text = 'it\\'s of' of .a",
    'group by type', 'group 5 type = "Session" by .state,.owner.name by count', 'group objects size > 1K by type,kind by retained', 'group type = "X"', 'list',
  ]) assert.equal(rowsLine(askedRows(line)), line);
});

test('what a line asks', () => {
  assert.deepEqual(askedRows('list 3 type = "of" of .a , .b,size by .a asc'), { ...asked, rows: '3', expression: 'type = "of"', names: ['.a', '.b', 'size'], by: '.a', direction: 'asc' });
  assert.deepEqual(askedRows('group size > 3 by .a, .b by retained'), { ...asked, verb: 'group', expression: 'size > 3', names: ['.a', '.b'], by: 'retained' });
  assert.deepEqual(askedRows('list type = S of ."a b", .c by ."a b"'), { ...asked, expression: 'type = S', names: ['."a b"', '.c'], by: '."a b"' });
  assert.deepEqual(askedRows('group 3 by type'), { ...asked, verb: 'group', rows: '3', names: ['type'] });
  assert.deepEqual(askedRows('group by site by shallow'), { ...asked, verb: 'group', names: ['site'], by: 'size' });
  assert.deepEqual(askedRows('group by distance'), { ...asked, verb: 'group', names: ['distance'] });
  assert.deepEqual(askedRows('group'), { ...asked, verb: 'group' });
});

test('words keep their quotes, also those that do not end', () => {
  assert.deepEqual(rawWords('a "b \\" c" d~/e f/ /g "h i'), ['a', '"b \\" c"', 'd~/e f/', '/g', '"h i']);
});

test('the objects of a group', () => {
  const column = (/** @type {string} */ key) => ({ key, heading: key, unit: 'number', audience: 'everyone', is_secondary: false });
  const of = (/** @type {string} */ line, /** @type {any[]} */ row) => {
    const keys = askedRows(line);
    return objectsOf(keys, { key: 'rows', audience: 'everyone', columns: keys.names.map(column), rows: [row] }, row);
  };
  const name = (/** @type {string} */ value) => ({ kind: 'name', value });
  assert.equal(of('group type = "S" by .a,.b', [{ kind: 'number', value: 5 }, name('it"s')]), 'type = "S" and .a = 5 and .b = "it\\"s"');
  assert.equal(of('group a or b by .a', [{ kind: 'absent', value: 'null' }]), '(a or b) and .a = null');
  assert.equal(of('group by .a', [{ kind: 'truth', value: false }]), '.a = false');
  assert.equal(of('group by .a', [name('null')]), '.a = "null"');
  // What objects do not have, other objects, and texts that are cut, no expression says.
  assert.equal(of('group by .a', [{ kind: 'absent', value: 'missing' }]), null);
  assert.equal(of('group by .a', [{ kind: 'object', value: { id: 1, text: '@1 X' } }]), null);
  assert.equal(of('group by .a', [name('x'.repeat(4097))]), null);
  assert.equal(of('group by text', [{ kind: 'none' }]), null);
  assert.equal(of('group by site', [{ kind: 'number', value: 3 }]), 'site = 3');
  assert.equal(of('group by site', [{ kind: 'absent', value: 'null' }]), null);
});

test('fields that a line can name', () => {
  for (const path of ['.a', '.owner.name', '.this$0', '.größe', '."a b"', '.a."b.c \\" d".e', '.<']) assert.equal(isPath(path), path !== '.<', path);
  for (const path of ['', 'a', '.', '.a.', '.a b', '.a,b', '.a"', '.a=b', '."a', '."a"b', '."a,b"', '.""']) assert.ok(!isPath(path), path);
});
