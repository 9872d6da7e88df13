// What a map shows in colours and in words: hues, a legend, a table of its cells, and the selected place.

import { h } from './dom.js';
import { nameNode } from './cell.js';
import { grouped, numberText, visible } from './value_text.js';
import { REST } from './squarify.js';
import { nameIs } from './state.js';
import { kindOf, shortType, titleOf, treeLine } from './tree_nodes.js';

/** @typedef {import('./treemap.js').TreeMap} TreeMap */
/** @typedef {import('./tree_nodes.js').TreeNode} TreeNode */
/** @typedef {import('./context.js').Context} Context */

/** Types in a legend. */
const MOST_TYPES = 6;

/** The selected place, with links.
 *  @param {TreeNode} node @param {Context} ctx @param {string} word of its object @param {string | null} flame a line of its flame graph */
export function linkRow(node, ctx, word, flame) {
  const link = (/** @type {string} */ q, /** @type {string} */ label) => h('span', null, h('a', { href: ctx.href({ q, sel: null, zoom: null }) }, label), ' ');
  const isMany = (node.members ?? 1) > 1;
  const own = node.own === null ? '' : `, itself ${numberText(node.own, 'bytes')}`;
  return [
    h('strong', null, nameNode(titleOf(node))), node.kind ? h('span', { class: 'muted' }, ` ${node.kind}`) : null,
    ` retains ${numberText(node.retained, 'bytes')} with ${node.objects === 1 ? '1 object' : `${grouped(node.objects)} objects`}${own} `,
    node.object === null ? null : link(`info ${word}`, isMany ? `open the largest, ${word}` : `open ${word}`),
    node.word ? link(treeLine(node.word), 'tree from here') : null,
    flame === null ? null : link(flame, 'as a flame graph'),
    node.chain ? link(`retained ${word}`, 'all of it by type') : null,
    isMany ? link(`find ${nameIs('type', node.type)} by retained`, 'objects of this type') : null,
  ];
}

/** What the colours mean. @param {TreeMap} map */
export function mapLegend(map) {
  const isDark = map.isDark;
  if (map.growth) return growthLegend(map.growth, isDark, 'smaller places');
  const types = [...bytesByType(map)].sort(([, one], [, other]) => other - one).slice(0, MOST_TYPES);
  return h('span', { class: 'legend' }, types.map(([type, bytes]) => swatch(map.colours.of(type, isDark),
    [h('span', { title: visible(type) }, nameNode(shortKind(type))), ` ${numberText(bytes, 'bytes')}`])),
    map.smallest().some((cell) => map.cells.part[cell] === REST) ? h('span', null, 'hatched: smaller places') : null);
}

/** The types of a chain, or one type, without packages. @param {string} kind */
export function shortKind(kind) {
  return kind.split(' › ').map((type) => shortType(type)[0]).join(' › ');
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

/** Bytes of the smallest cells, by type; a chain of several types is a type of its own. @param {TreeMap} map */
export function bytesByType(map) {
  /** @type {Map<string, number>} */
  const types = new Map();
  for (const cell of map.smallest()) {
    const { node, part, bytes } = map.describe(cell);
    if (part !== REST && (node.object !== null || node.members !== null)) types.set(kindOf(node), (types.get(kindOf(node)) ?? 0) + bytes);
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

// Colours: a hue for each of the largest types of a picture, or two hues for growth and shrinking. Labels and signs say the same.

/** Hues, in equal distances; the next one that is tried is far from one that is taken. */
const [HUES, FURTHER] = [12, 5];

/** Colours of types. The largest ones of a picture differ in their hue, the others are pale. */
export class TypeColours {
  constructor() {
    /** The type that has each hue. @type {(string | null)[]} */
    this.types = new Array(HUES).fill(null);
  }

  /** Gives hues to the largest types: those that have one keep it, others get the one that follows from the name, if it is free.
   *  @param {Map<string, number>} sizes */
  choose(sizes) {
    const largest = [...sizes].sort(([, one], [, other]) => other - one).slice(0, HUES).map(([type]) => type);
    for (const type of largest) {
      if (this.types.includes(type)) continue;
      let at = hashOf(type) % HUES;
      while (largest.includes(this.types[at] ?? '')) at = (at + FURTHER) % HUES;
      this.types[at] = type;
    }
  }

  /** @param {string} type @param {boolean} isDark @param {boolean} [isOwn] the size of an object without what is below it */
  of(type, isDark, isOwn = false) {
    const at = this.types.indexOf(type);
    const hash = hashOf(type);
    const lightness = (isDark ? (isOwn ? 0.34 : 0.42) : isOwn ? 0.9 : 0.82) + ((at < 0 ? hash >>> 9 : at) % 3 - 1) * 0.04;
    const hue = at < 0 ? hash % 360 : (at * 360) / HUES + 15;
    return `oklch(${lightness.toFixed(2)} ${at < 0 ? 0.03 : isOwn ? 0.065 : 0.09} ${hue})`;
  }
}

/** A number of a type, the same on every page. @param {string} type */
function hashOf(type) {
  let hash = 2166136261;
  for (let at = 0; at < type.length; at++) hash = Math.imul(hash ^ type.charCodeAt(at), 16777619);
  return hash >>> 0;
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
