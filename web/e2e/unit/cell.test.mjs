// Values as text: the same as at the prompt.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { grouped, size, text, visible } from '../../page/value_text.js';
import { lengthOf, loadText } from '../../page/picture.js';

test('sizes and counts are those of the terminal', () => {
  assert.deepEqual([0, 1023, 1024, 1536, 12_900_000, (1 << 20) - 1, 3 * 2 ** 40].map(size), ['0 B', '1023 B', '1.0 KiB', '1.5 KiB', '12.3 MiB', '1.0 MiB', '3.0 TiB']);
  assert.deepEqual([0, 999, 1000, 1_234_567, '18446744073709551615'].map(grouped), ['0', '999', '1,000', '1,234,567', '18,446,744,073,709,551,615']);
});

test('numbers that JavaScript cannot hold stay exact', () => {
  assert.equal(text({ kind: 'number', value: '18446744073709551615' }, { unit: 'address' }), '0xffffffffffffffff');
  assert.equal(text({ kind: 'change', value: '-9223372036854775808' }, { unit: 'count' }), '-9,223,372,036,854,775,808');
});

test('estimates are marked, and none is empty', () => {
  assert.equal(text({ kind: 'estimate', value: 1504 }, { unit: 'count' }), '~1,504');
  assert.equal(text({ kind: 'estimated_share', value: 0.998 }, { unit: 'share' }), '~99.8 %');
  assert.equal(text({ kind: 'none' }, { unit: 'bytes' }), '');
});

test('what a reader would not see is written out', () => {
  assert.equal(visible('\u001b[31mred\u009b2J\u007f'), '\\u{1b}[31mred\\u{9b}2J\\u{7f}');
  assert.equal(visible('a\u202eb\u2066c\u200bd\ufeffe\u2028f'), 'a\\u{202e}b\\u{2066}c\\u{200b}d\\u{feff}e\\u{2028}f');
  assert.equal(visible('tag\u{e0041}\u{e007f}\n\ud800'), 'tag\\u{e0041}\\u{e007f}\\n\\u{d800}');
  for (const plain of ['', 'Größe', '日本語', 'e\u0301', '🦀', 'naïve — “quoted” …', 'عربى']) assert.equal(visible(plain), plain);
});

test('what is drawn has words, too', () => {
  assert.equal(text({ kind: 'series', value: { numbers: [1024, null, 2048], unit: 'bytes' } }, { unit: 'picture' }), '1.0 KiB, , 2.0 KiB');
  assert.equal(text({ kind: 'bar', value: { length: 1234, longest: 5000 } }, { unit: 'picture' }), '1,234');
  assert.equal(text({ kind: 'load', value: [0, 0.5] }, { unit: 'picture' }), '0.0 %, 50.0 %');
  assert.equal(text({ kind: 'lane', value: ['nothing', { rank: 3 }, 'other'] }, { unit: 'picture' }), ', 3, other');
  assert.deepEqual([{ length: 3, longest: 6 }, { length: 0, longest: 0 }].map(lengthOf), [0.5, 0]);
  assert.equal(loadText([0, 0.5, 0, 1]), 'ran from 25 % to 100 % of the time');
  assert.equal(loadText([0, 0]), 'never ran');
});

test('lists and records are words', () => {
  const fact = (key, heading, unit, value) => ({ column: { key, heading, unit }, value });
  const fields = [fact('type', 'type', 'text', { kind: 'text', value: 'A' }), fact('shallow_bytes', 'shallow', 'bytes', { kind: 'number', value: 2048 }), fact('object', 'object', 'object', { kind: 'number', value: 7 })];
  const record = { kind: 'record', value: fields };
  assert.equal(text({ kind: 'list', value: [record] }, { unit: 'nested' }), 'type: A, shallow: 2.0 KiB, object: @7');
  assert.equal(text({ kind: 'path', value: ['[root]', 'A\u202e'] }, { unit: 'text' }), '[root] › A\\u{202e}');
  const cycle = ['[root]', ...Array.from({ length: 1200 }, (_, at) => ['Context', 'Object', 'Function'][at % 3]), 'Leak'];
  assert.equal(text({ kind: 'path', value: cycle }, { unit: 'text' }), '[root] › (Context › Object › Function) × 400 › Leak');
});
