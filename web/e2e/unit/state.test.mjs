// The address and the lines for a shell.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

import { assertLine, changeOf, changed, empty, format, nameIs, parse, quoted, serveLine, shellLine, viewOf } from '../../page/state.js';

const HOSTILE = ['', "it's", 'a b', '$(touch x)', '`id`', '"', '\\', '-e', 'a\nb', '*', '~', '!', 'größe', "'", "''"];

/** @param {string} name @param {number | null} [dumps] @param {string} [folder] */
const file = (name, dumps = null, folder = '') => ({ folder, name, dumps });

test('a shell reads a quoted word as it was', () => {
  for (const word of HOSTILE) {
    const read = execFileSync('sh', ['-c', `printf '%s|' ${quoted(word)}`], { encoding: 'utf8' });
    assert.equal(read, `${word}|`);
  }
});

test('an address says the whole state, both ways', () => {
  const state = { ...empty(), q: 'find name = "a&b#c+d %"', s: 7, f: "it's <b>.barrow", w: ['type = "Cache"', 'type ~ /&/'], lets: ['$a = size > 1K'], a: 3, b: 28, extra: { colour: 'growth' } };
  assert.deepEqual(parse(format(state)), state);
});

test('what is no address is an empty state, not an error', () => {
  const state = parse('#s=x&a=5&b=2&s=-1&q=%E0%A4%A&zoom');
  assert.deepEqual([state.s, state.a, state.b], [null, null, null]);
});

test('commands carry exclusions, snapshot and sets in the order in which they are asked', () => {
  const state = { ...empty(), q: "find name = 'x'", s: 3, w: ['type = "C"'], lets: ['$a = size > 1K'] };
  assert.equal(shellLine(state, file('a b.barrow')), `barrow 'a b.barrow' -e 'without type = "C"' -e 'snapshot 3' -e 'let $a = size > 1K' -e 'find name = '\\''x'\\'''`);
  assert.equal(serveLine({ ...empty(), q: 'top' }, file('-x.barrow')), 'barrow serve ./-x.barrow --at top');
  assert.equal(assertLine(file('a*.barrow'), 'no leaks'), "barrow assert 'a*.barrow' 'no leaks'");
  assert.equal(assertLine(file('-x.barrow', null, '../my dumps/'), 'no leaks'), "barrow assert '../my dumps/-x.barrow' 'no leaks'");
});

test('a shell lists the dumps of a series, which is imported first', () => {
  const line = (/** @type {string} */ name) => assertLine(file(name, 3), 'no leaks');
  assert.equal(line('run/shop-*.pyheap'), "barrow import run/shop-*.pyheap -o shop.barrow && barrow assert shop.barrow 'no leaks'");
  assert.equal(line('a b/x y-*.hprof'), "barrow import 'a b/x y-'*.hprof -o 'x y.barrow' && barrow assert 'x y.barrow' 'no leaks'");
  assert.match(line('chat/*.heapsnapshot'), /^barrow import chat\/\*\.heapsnapshot -o series\.barrow /);
  assert.match(line('-e*.hprof'), /^barrow import \.\/-e\*\.hprof -o \.\/-e\.barrow /);
  assert.match(assertLine(file('-e*.hprof', 2, '/a b*/'), 'no leaks'), /^barrow import '\/a b\*\/'-e\*\.hprof -o \.\/-e\.barrow /);
  assert.match(assertLine(file('*.hprof', 2, '-a/'), 'no leaks'), /^barrow import \.\/-a\/\*\.hprof -o series\.barrow /);
  for (const word of HOSTILE.filter((one) => one !== '' && one !== '*')) {
    const listed = execFileSync('sh', ['-c', `barrow() { printf '%s|' "$@"; return 1; }; ${line(`${word}*.none`)}`.replace('barrow import', 'barrow import --') + ' || true'], { encoding: 'utf8' });
    assert.equal(listed.split('|')[2].replace(/^\.\//, ''), `${word}*.none`);
  }
});

test('lines that change the state are no questions', () => {
  const state = { ...empty(), w: ['a'], lets: ['$a = 1'] };
  assert.deepEqual(changeOf('without type = "X"', state), { w: ['a', 'type = "X"'] });
  assert.deepEqual(changeOf('without a', state), { w: ['a'] });
  assert.deepEqual(changeOf('without clear', state), { w: [] });
  assert.deepEqual(changeOf('let $a = size > 1K', state), { lets: ['$a = size > 1K'] });
  assert.deepEqual(changeOf('snapshot 4', state), { s: 4 });
  assert.deepEqual(changeOf('snapshot last', state), { s: null });
  for (const line of ['snapshot', 'without', 'let', 'top 5', 'snapshot x']) assert.equal(changeOf(line, state), null, line);
});

test('another view forgets the keys of the one before, another file what belongs to it', () => {
  const state = { ...empty(), q: 'dominators', s: 2, f: 'a', w: ['x'], extra: { colour: 'growth' } };
  assert.deepEqual(changed(state, { q: 'dominators @1' }).extra, { colour: 'growth' });
  assert.deepEqual(changed(state, { q: 'top' }).extra, {});
  assert.deepEqual(changed({ ...state, q: 'find a', extra: { from: '1000' } }, { q: 'find b' }).extra, {});
  const other = changed(state, { f: 'b', q: '' });
  assert.deepEqual([other.s, other.w, other.f], [null, [], 'b']);
});

test('an object is excluded in its snapshot only', () => {
  const state = { ...empty(), s: 2, w: ['@5', 'type = "a@5"'], lets: ['$a = @7', '$b = size > 1K', '$c = $a or $b', '$d = $b'] };
  assert.deepEqual(changed(state, { s: 1 }), { ...state, s: 1, w: ['type = "a@5"'], lets: ['$b = size > 1K', '$d = $b'] });
  assert.deepEqual(changed(state, { s: 2 }), state);
  assert.deepEqual(changed(state, { s: 3, w: ['@9'] }).w, ['@9']);
});

test('verbs choose views', () => {
  assert.deepEqual(['summary all', 'summary', 'summary 3..5', 'growth', 'top', 'dominators @1', 'info', 'info 2:@1', 'find x', ''].map(viewOf),
    ['series', 'series', 'answer', 'series', 'types', 'tree', 'objects', 'object', 'answer', 'answer']);
});

test('names become expressions', () => {
  assert.equal(nameIs('type', 'Cache'), 'type = "Cache"');
  assert.equal(nameIs('type', 'a "b"'), 'type = "a \\"b\\""');
  assert.equal(nameIs('type', `a*"${'x'.repeat(1_000_000)}`), `type ~ "a?\\"${'x'.repeat(197)}*"`, 'a line that a server takes');
  assert.equal(nameIs('type', 'a\nb\0'), 'type ~ "a?b?*"', 'a field for a line has no ends of lines, a shell no NUL');
});
