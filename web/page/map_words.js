// What a map shows, in words: a legend, a table of its cells, and the selected place.

import { h } from './dom.js';
import { grouped, nameNode, numberText, visible } from './cell.js';
import { growthColour, neutralColour, typeColour } from './map_colours.js';
import { REST } from './squarify.js';
import { quotedName, shortType, titleOf, treeLine } from './tree_nodes.js';

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
    ` retains ${numberText(node.retained, 'bytes')} with ${grouped(node.objects)} objects${own} `,
    node.object === null ? null : h('a', { href: ctx.href({ q: `info ${word}` }) }, node.members === null ? `open ${word}` : `open the largest, ${word}`), ' ',
    node.word === null || node.word === '' ? null : h('a', { href: ctx.href({ q: treeLine(node.word), sel: null, zoom: null }) }, 'tree from here'), ' ',
    node.members === null ? null : h('a', { href: ctx.href({ q: `find type = ${quotedName(node.type)} by retained` }) }, 'objects of this type'),
  ];
}

/** What the colours mean. @param {TreeMap} map */
export function mapLegend(map) {
  const isDark = map.isDark;
  const swatch = (/** @type {string} */ colour, /** @type {any} */ text) =>
    h('span', { class: 'swatch' }, h('span', { class: 'patch', 'aria-hidden': 'true', style: { background: colour } }), text);
  if (map.growth) {
    const { a, b } = map.growth;
    return h('span', { class: 'legend' }, swatch(growthColour(1, 1, isDark), `▲ grew ${a}..${b}`), swatch(growthColour(-1, 1, isDark), '▼ shrank'),
      swatch(neutralColour(isDark), 'unchanged, not known, or smaller places'));
  }
  const types = [...bytesByType(map)].sort(([, one], [, other]) => other - one).slice(0, MOST_TYPES);
  return h('span', { class: 'legend' }, types.map(([type, bytes]) => swatch(typeColour(type, isDark), [h('span', { title: visible(type) }, nameNode(shortType(type)[0])), ` ${numberText(bytes, 'bytes')}`])),
    h('span', null, 'hatched: smaller places'));
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
