// The fields that objects have, as suggestions: those of the first few objects that match.

import { cellOf } from './answer.js';
import { isPath } from './asked_rows.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('./ask.js').Value} Value */
/** @typedef {{name: string, holds: string, value: Value}} Field */

/** Objects whose fields are looked at. */
const OBJECTS = 3;

/**
 * The fields at the end of a path, without those that a line cannot name; none if the recording has none, or if what is
 * asked is not an expression yet.
 * @param {Context} ctx @param {string} expression which objects @param {string} path such as `.owner`; empty for their own
 * @param {AbortSignal} signal @returns {Promise<Field[]>}
 */
export async function fieldsOf(ctx, expression, path, signal) {
  try {
    const found = await ctx.ask(`find ${OBJECTS} ${expression}`, { from: 0, n: OBJECTS, signal });
    const table = found.tables[found.tables.length - 1];
    const first = table.rows.map((row) => Number(cellOf(table, row, 'object')?.value));
    const names = path.split('.').slice(1);
    const all = await Promise.all(first.map((id) => ofObject(ctx, id, names, signal)));
    const known = new Map(all.flat().toReversed().map((field) => [field.name, field]));
    return [...known.values()].toReversed();
  } catch {
    return [];
  }
}

/** @param {Context} ctx @param {number} id @param {string[]} names the references on the way @param {AbortSignal} signal @returns {Promise<Field[]>} */
async function ofObject(ctx, id, [first, ...rest], signal) {
  const answer = await ctx.ask(`info @${id}`, { signal });
  const table = answer.tables.find((one) => one.key === 'fields');
  if (!table) return [];
  const fields = table.rows.map((row) => ({
    name: String(cellOf(table, row, 'field')?.value), holds: String(cellOf(table, row, 'holds')?.value), value: /** @type {Value} */ (cellOf(table, row, 'value')),
  })).filter((field) => isPath(field.name));
  if (first === undefined) return fields;
  const held = fields.find((field) => field.name === `.${first}`)?.value;
  return held?.kind === 'object' ? ofObject(ctx, held.value.id, rest, signal) : [];
}
