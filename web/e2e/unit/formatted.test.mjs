// Values as text, in the cases of the tests of the crate `barrow-answer`: the page and a terminal write the same.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { event } from '../../page/ask.js';
import { text } from '../../page/value_text.js';

/** @type {any} */
const cases = event(readFileSync(new URL('../../../answer/tests/formatted.json', import.meta.url), 'utf8'));

test('values are written as a terminal writes them', () => {
  assert.ok(cases.length > 200, 'the file has its cases');
  const differing = cases.map((/** @type {any} */ one) => ({ ...one, found: text(one.value, { unit: one.unit }) })).filter((/** @type {any} */ one) => one.found !== one.text);
  assert.deepEqual(differing, []);
});
