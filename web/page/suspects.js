// Leak suspects as cards: what retains, where it piles up, the fields and roots that hold it, an assertion that permits it.

import { h } from './dom.js';
import { nameNode, objectLink, pathNode } from './cell.js';
import { grouped, size, visible } from './value_text.js';
import { cellOf, factOf, renderAnswer, snapshotOf } from './answer.js';
import { copyButton } from './frame.js';
import { assertLine, nameIs } from './state.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('./ask.js').Answer} Answer */
/** @typedef {import('./ask.js').Value} Value */

/** Steps of a path that a card shows. */
const MOST_STEPS = 100;

/** Types that are listed of what piled up. */
const MOST_PARTS = 5;

/** Suspects that are shown beside other answers; `.is-part` of a style hides the others. */
export const FIRST_SUSPECTS = 2;

/** Suspects as records. @param {Answer} answer @returns {Record<string, any>[]} */
export function suspectsOf(answer) {
  const table = answer.tables.find((one) => one.key === 'suspects');
  return (table?.rows ?? []).map((row) => Object.fromEntries(table?.columns.map((column, at) => [column.key, row[at].value]) ?? []));
}

/** A suspect that an assertion permits at its present size. @param {Record<string, any>} suspect */
export function excused(suspect) {
  const bytes = Number(suspect.together_bytes ?? suspect.retained_bytes);
  const limit = bytes >= 1 << 20 ? `${Math.ceil(bytes / (1 << 20))}M` : `${Math.ceil(bytes / 1024)}K`;
  return `${suspect.fingerprint} up to ${limit}`;
}

/** @param {Answer} answer @param {string} line @param {Context} ctx */
export function suspectsNode(answer, line, ctx) {
  const snapshot = snapshotOf(answer, ctx);
  const own = { href: ctx.href, snapshot };
  const nodes = suspectsOf(answer).map((suspect) => suspectNode(suspect, own, ctx));
  void nameHolders(suspectsOf(answer), nodes, own, ctx);
  const reachable = factOf(answer, 'reachable_bytes');
  const hidden = nodes.length - FIRST_SUSPECTS;
  const more = hidden > 0 ? h('p', { class: 'more-suspects' }, h('a', { href: ctx.href({ q: line }) }, hidden === 1 ? '1 more suspect' : `${grouped(hidden)} more suspects`)) : null;
  return h('div', { class: 'suspects' },
    h('p', { class: 'muted' }, `snapshot ${snapshot ?? ''}${reachable === undefined ? '' : `, ${size(Number(reachable))} reachable`}`),
    nodes, more, renderAnswer({ ...answer, facts: [], tables: [], notes: [] }, ctx, { line, hasCsv: true }));
}

/** The object that a path leads to: where a suspect piles up, or the largest of several ones. @param {Record<string, any>} suspect @returns {number} */
function targetOf(suspect) {
  return (suspect.objects === 1 ? suspect.accumulation_object : null) ?? suspect.object;
}

/**
 * Adds the names of roots and fields to what holds suspects, one after the other: these are further questions.
 * @param {Record<string, any>[]} suspects @param {HTMLElement[]} nodes @param {import('./cell.js').CellContext} own @param {Context} ctx
 */
async function nameHolders(suspects, nodes, own, ctx) {
  for (const [at, suspect] of suspects.entries()) {
    try {
      const name = own.snapshot === null ? `@${targetOf(suspect)}` : `${own.snapshot}:@${targetOf(suspect)}`;
      const { tables } = await ctx.ask(`path ${name}`, { from: 0, n: MOST_STEPS });
      const table = tables[tables.length - 1];
      // A longer path is shown by its own view.
      if (!table || table.rows.length < 1 || table.rows.length >= MOST_STEPS) continue;
      const known = new Map(records(suspect.path).map((step) => [step.object, step.title]));
      const steps = table.rows.map((row) => {
        const [label, object, type] = ['label', 'object', 'type'].map((key) => cellOf(table, row, key)?.value ?? null);
        const title = known.get(object) ?? type ?? '';
        return h('span', { class: object === suspect.object ? 'is-suspect' : null }, label === null ? null : [h('span', { class: 'label' }, nameNode(String(label))), ' '],
          object === null ? nameNode(String(title)) : objectLink(object, own, `${visible(String(title).slice(0, 200))} @${object}`));
      });
      const place = nodes[at].querySelector('.held > .path');
      if (place) place.replaceWith(pathOf(steps));
    } catch {
      // The types of the paths are there without names.
      return;
    }
  }
}

/** @param {HTMLElement[]} steps */
function pathOf(steps) {
  return pathNode(steps.map((step) => step.textContent ?? ''), (at) => steps[at]);
}

/** @param {Record<string, any>} suspect @param {import('./cell.js').CellContext} own @param {Context} ctx */
function suspectNode(suspect, own, ctx) {
  const name = (/** @type {number} */ id) => (own.snapshot === null ? `@${id}` : `${own.snapshot}:@${id}`);
  const link = (/** @type {number} */ id, /** @type {string} */ title) => objectLink(id, own, `${visible(String(title).slice(0, 200))} @${id}`);
  const typeLink = (/** @type {string} */ type) => {
    const line = `find 100 ${nameIs('type', type)} by retained`;
    return h('a', { href: ctx.href({ q: line }), title: visible(line) }, h('bdi', null, visible(type.slice(0, 200))));
  };
  const point = suspect.objects === 1 ? suspect.accumulation_object ?? null : null;
  const target = targetOf(suspect);
  const share = `${(suspect.share * 100).toFixed(1)} %`;
  const what = suspect.objects === 1
    ? [link(suspect.object, suspect.title), ` retains ${size(Number(suspect.retained_bytes))}, ${share} of what is reachable`]
    : [`${grouped(suspect.objects)} objects of `, typeLink(suspect.type), ` retain ${size(Number(suspect.retained_bytes))}, ${share}, right below `,
      (suspect.accumulation_object ?? null) === null ? 'the roots' : link(suspect.accumulation_object, suspect.accumulation_title ?? suspect.accumulation_type), '; the largest is ', link(suspect.object, suspect.title)];
  const pilesUp = point !== null && point !== suspect.object
    ? h('p', null, 'it piles up in ', link(point, suspect.accumulation_title ?? suspect.accumulation_type), `, ${size(Number(suspect.accumulation_bytes))}`) : null;
  const alike = suspect.alike > 1 ? h('p', null, `one of ${grouped(suspect.alike)} with this fingerprint, which retain ${size(Number(suspect.together_bytes))} together`) : null;
  const steps = chainOf(records(suspect.path)).map(({ round, times }) => {
    const title = (/** @type {Record<string, any>} */ step) => visible(String(step.title ?? step.type).slice(0, 200));
    if (times < 2) return link(round[0].object, round[0].title ?? round[0].type);
    return h('span', null, h('bdi', null, round.length > 1 ? `(${round.map(title).join(' › ')})` : title(round[0])), ` × ${grouped(times)}`);
  });
  const accumulated = records(suspect.accumulated);
  const parts = accumulated.slice(0, MOST_PARTS).map((part) => h('li', null,
    `${grouped(part.objects)} of `, typeLink(String(part.type)), part.is_chain ? ', one below the other' : '', `: ${size(Number(part.retained_bytes))}`,
    part.content_type ? [`; in them ${grouped(part.content_objects)} of `, typeLink(part.content_type), `: ${size(Number(part.content_bytes))}`] : null));
  const left = accumulated.length - MOST_PARTS;
  if (left > 0) parts.push(h('li', null, `… and ${grouped(left)} more ${left === 1 ? 'type' : 'types'}`));
  return h('article', { class: 'suspect', 'data-fingerprint': suspect.fingerprint },
    h('div', { class: 'share', 'aria-hidden': 'true' }, h('span', { style: { width: `${Math.min(suspect.share * 100, 100)}%` } })),
    h('p', { class: 'what' }, what), pilesUp, alike, parts.length > 0 ? h('ul', { class: 'parts' }, parts) : null,
    h('p', { class: 'held' }, h('span', { class: 'muted' }, suspect.objects === 1 ? 'held by ' : 'the largest is held by '), pathOf(steps)),
    h('p', { class: 'row-actions' }, h('span', { class: 'muted' }, 'fingerprint '), h('code', null, suspect.fingerprint), ' ',
      h('a', { class: 'button', href: ctx.href({ q: `dominators ${name(target)}` }), title: `dominators ${name(target)}` }, 'tree & map'), ' ',
      h('a', { class: 'button', href: ctx.href({ q: `path ${name(target)} 3` }), title: `path ${name(target)} 3` }, 'paths'), ' ',
      copyButton('copy assert', assertLine(ctx.file, `no leaks except ${excused(suspect)}`))));
}

/**
 * The steps of the path to a suspect: single ones, and rounds of steps that repeat.
 * @param {Record<string, any>[]} steps
 */
function chainOf(steps) {
  const parts = [];
  for (let at = 0; at < steps.length; at += parts.at(-1)?.round.length ?? 1) {
    const { times = 1, period = 1 } = steps[at];
    parts.push({ round: steps.slice(at, at + Math.max(1, Number(period))), times: Number(times) });
  }
  return parts;
}

/** Records of a list of an answer. @param {Value[] | undefined} list @returns {Record<string, any>[]} */
function records(list) {
  return (list ?? []).filter((one) => one.kind === 'record')
    .map((one) => Object.fromEntries(one.value.map((/** @type {import('./ask.js').Fact} */ { column, value }) => [column.key, value.value])));
}
