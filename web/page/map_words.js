// What a map shows in colours and in words: hues, a legend, a table of its cells, and the selected place.

import { h } from './dom.js';
import { nameNode } from './cell.js';
import { grouped, numberText, visible } from './value_text.js';
import { REST } from './squarify.js';
import { nameIs } from './state.js';
import { shortType, titleOf, treeLine } from './tree_nodes.js';

/** @typedef {import('./treemap.js').TreeMap} TreeMap */
/** @typedef {import('./tree_nodes.js').TreeNode} TreeNode */
/** @typedef {import('./context.js').Context} Context */

/** Types in a legend. */
const MOST_TYPES = 6;

/** The selected place, with links. @param {TreeNode} node @param {Context} ctx @param {string} word of its object */
export function linkRow(node, ctx, word) {
  const own = node.own === null ? '' : `, itself ${numberText(node.own, 'bytes')}`;
  return [
    h('strong', null, nameNode(titleOf(node))), node.kind ? h('span', { class: 'muted' }, ` ${node.kind}`) : null,
    ` retains ${numberText(node.retained, 'bytes')} with ${node.objects === 1 ? '1 object' : `${grouped(node.objects)} objects`}${own} `,
    node.object === null ? null : h('a', { href: ctx.href({ q: `info ${word}` }) }, node.members === null ? `open ${word}` : `open the largest, ${word}`), ' ',
    node.word === null || node.word === '' ? null : h('a', { href: ctx.href({ q: treeLine(node.word), sel: null, zoom: null }) }, 'tree from here'), ' ',
    node.members === null ? null : h('a', { href: ctx.href({ q: `find ${nameIs('type', node.type)} by retained` }) }, 'objects of this type'),
  ];
}

/** What the colours mean. @param {TreeMap} map */
export function mapLegend(map) {
  const isDark = map.isDark;
  if (map.growth) return growthLegend(map.growth, isDark, 'smaller places');
  const types = [...bytesByType(map)].sort(([, one], [, other]) => other - one).slice(0, MOST_TYPES);
  return h('span', { class: 'legend' }, types.map(([type, bytes]) => swatch(typeColour(type, isDark), [h('span', { title: visible(type) }, nameNode(shortType(type)[0])), ` ${numberText(bytes, 'bytes')}`])),
    map.smallest().some((cell) => map.cells.part[cell] === REST) ? h('span', null, 'hatched: smaller places') : null);
}

/** @param {string} colour @param {any} text */
function swatch(colour, text) {
  return h('span', { class: 'swatch' }, h('span', { class: 'patch', 'aria-hidden': 'true', style: { background: colour } }), text);
}

/** What the colours of growth mean. @param {{a: number, b: number}} growth @param {boolean} isDark @param {string} others what has no colour besides */
export function growthLegend({ a, b }, isDark, others) {
  return h('span', { class: 'legend' }, swatch(growthColour(1, 1, isDark), `▲ grew ${a}..${b}`), swatch(growthColour(-1, 1, isDark), '▼ shrank'),
    swatch(neutralColour(isDark), `unchanged, not known, or ${others}`));
}

/** What the colours of ages mean. @param {number} oldest @param {boolean} isDark */
export function ageLegend(oldest, isDark) {
  const middle = Math.floor(oldest / 2);
  return h('span', { class: 'legend' }, 'Colours are the median age of all objects of a type: ',
    oldest === 0 ? null : [swatch(ageColour(0, oldest, isDark), 'new'), middle > 0 ? swatch(ageColour(middle, oldest, isDark), ageText(middle, oldest)) : null, swatch(ageColour(oldest, oldest, isDark), ageText(oldest, oldest))],
    swatch(neutralColour(isDark), 'not known, no type, or smaller steps'));
}

/** An age in words. @param {number} age in snapshots @param {number} oldest that of objects of the first snapshot */
export function ageText(age, oldest) {
  if (age === 0) return 'new in this snapshot';
  const words = `${grouped(age)} ${age === 1 ? 'snapshot' : 'snapshots'}`;
  return age === oldest ? `${words}: since the first one, or longer` : words;
}

/** Bytes of the smallest cells, by type. @param {TreeMap} map */
function bytesByType(map) {
  /** @type {Map<string, number>} */
  const types = new Map();
  for (const cell of map.smallest()) {
    const { node, part, bytes } = map.describe(cell);
    if (part !== REST && (node.object !== null || node.members !== null)) types.set(node.type, (types.get(node.type) ?? 0) + bytes);
  }
  return types;
}

/** The smallest cells as a table: they add up to the whole. @param {TreeMap} map @param {number} snapshot */
export function mapTable(map, snapshot) {
  const column = (/** @type {string} */ key, /** @type {string} */ heading, /** @type {string} */ unit) =>
    ({ key, heading, unit, audience: 'everyone', is_secondary: false });
  const cells = map.smallest().map((cell) => map.describe(cell)).sort((one, other) => other.bytes - one.bytes);
  const some = (/** @type {string} */ kind, /** @type {any} */ value) => (value === null ? { kind: 'none' } : { kind, value });
  const rows = cells.map(({ node, part, what, bytes, share, change }) => [
    some('number', part === REST ? null : node.object), { kind: 'text', value: what }, { kind: 'number', value: bytes }, { kind: 'share', value: share },
    some('change', change),
  ]);
  const columns = [column('object', 'object', 'object'), column('what', 'what', 'text'), column('bytes', 'bytes', 'bytes'), column('share', 'share', 'share'),
    column('change', 'change of the path', 'bytes')];
  const sum = cells.reduce((all, cell) => all + cell.bytes, 0);
  const total = `${grouped(cells.length)} cells of snapshot ${snapshot} add up to ${grouped(sum)} bytes, all that ${map.describe(map.top).what} retains.`;
  return { table: { key: 'cells', audience: 'everyone', columns, rows }, total };
}

// Colours: a stable hue for each type, or two hues for growth and shrinking. Labels and signs say the same.

/** A number of a type, the same on every page. @param {string} type */
function hashOf(type) {
  let hash = 2166136261;
  for (let at = 0; at < type.length; at++) hash = Math.imul(hash ^ type.charCodeAt(at), 16777619);
  return hash >>> 0;
}

/** @param {string} type @param {boolean} isDark @param {boolean} [isOwn] the size of an object without what is below it */
export function typeColour(type, isDark, isOwn = false) {
  const hash = hashOf(type);
  // Types of nearly one hue differ in their lightness, most of the time.
  const lightness = (isDark ? (isOwn ? 0.34 : 0.42) : isOwn ? 0.9 : 0.82) + (((hash >>> 9) % 3) - 1) * 0.04;
  return `oklch(${lightness.toFixed(2)} ${isDark ? 0.075 : 0.085} ${hash % 360})`;
}

/** What has no type or no known change. @param {boolean} isDark */
export function neutralColour(isDark) {
  return isDark ? 'oklch(0.33 0.01 250)' : 'oklch(0.9 0.008 250)';
}

/** Growth is orange, shrinking blue; the largest change of a map has the full colour.
 *  @param {number} change @param {number} largest @param {boolean} isDark */
export function growthColour(change, largest, isDark) {
  if (change === 0) return neutralColour(isDark);
  const part = Math.sqrt(Math.min(1, Math.abs(change) / largest));
  const lightness = isDark ? 0.34 + 0.12 * part : 0.9 - 0.17 * part;
  return `oklch(${lightness.toFixed(3)} ${(0.03 + (isDark ? 0.1 : 0.12) * part).toFixed(3)} ${change > 0 ? 48 : 250})`;
}

/** The older, the stronger. @param {number | null} age in snapshots; null if it is not known @param {number} oldest @param {boolean} isDark */
export function ageColour(age, oldest, isDark) {
  if (age === null || oldest === 0) return neutralColour(isDark);
  const part = 0.2 + 0.8 * Math.min(1, age / oldest);
  const lightness = isDark ? 0.33 + 0.14 * part : 0.92 - 0.2 * part;
  return `oklch(${lightness.toFixed(3)} ${(0.03 + 0.1 * part).toFixed(3)} 305)`;
}

/** The texts on all of these. @param {boolean} isDark */
export function inkColour(isDark) {
  return isDark ? '#ffffff' : '#14161a';
}
