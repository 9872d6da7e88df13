// Values that are drawn: a series, a bar, and what ran over a time.

import { grouped, numberText } from './value_text.js';
import { h, svg } from './dom.js';

/** @typedef {import('./ask.js').Value} Value */
/** @typedef {import('./ask.js').Curve} Curve */

/** The width of a bar and of a time, and their height, in pixels. */
const [WIDTH, HEIGHT] = [200, 12];
/** Classes with a colour of their own. */
const COLOURS = 8;

/** The picture of a value; null if it is not drawn. @param {Value} value @returns {Node | null} */
export function pictureNode({ kind, value }) {
  switch (kind) {
    case 'series': return sparkline(value.numbers, { unit: value.unit });
    case 'bar': return barsNode([value], (bar) => ({ width: WIDTH * lengthOf(bar), height: HEIGHT }), grouped(value.length));
    case 'load': return barsNode(value, (share) => ({ y: HEIGHT * (1 - share), height: HEIGHT * share }), loadText(value));
    case 'lane': return barsNode(value, (mark) => ({ class: classOf(mark), height: mark === 'nothing' ? 0 : HEIGHT }), 'classes over time');
    case 'mark': return value === 'nothing' ? document.createTextNode('') : h('span', { class: `patch ${classOf(value)}` });
    default: return null;
  }
}

/** The part of the longest bar. @param {{length: number, longest: number}} bar */
export function lengthOf({ length, longest }) {
  return Number(longest) > 0 ? Number(length) / Number(longest) : 0;
}

/** When something ran, as parts of the whole time. @param {number[]} shares */
export function loadText(shares) {
  const [first, last] = [shares.findIndex(Boolean), shares.findLastIndex(Boolean) + 1];
  const part = (/** @type {number} */ at) => `${Math.round((100 * at) / shares.length)} %`;
  return last === 0 ? 'never ran' : `ran from ${part(first)} to ${part(last)} of the time`;
}

/** Bars beside each other, such as the equal parts of a time. @param {any[]} parts @param {(part: any) => import('./dom.js').Props} shape @param {string} words */
function barsNode(parts, shape, words) {
  const width = WIDTH / parts.length;
  return svg('svg', { class: 'times', width: WIDTH, height: HEIGHT, role: 'img', 'aria-label': words },
    parts.map((part, at) => svg('rect', { x: at * width, width, ...shape(part) })));
}

/** The class of the colour of a mark. @param {any} mark */
function classOf(mark) {
  if (mark === 'nothing') return '';
  const rank = mark === 'other' ? COLOURS : mark.rank;
  return rank < COLOURS ? `kind-${rank + 1}` : 'kind-other';
}

/** A curve from 0 on, with a value for each of some snapshots; the texts of its axes are around it. @param {Curve} curve */
export function curveNode({ heading, numbers, unit, form }) {
  const width = form === 'chart' ? 480 : 240;
  const node = sparkline(numbers, { unit, label: heading, width, height: 100, fromZero: true });
  const most = Math.max(...numbers.map(Number));
  node.appendChild(svg('g', { 'text-anchor': 'end' }, [[-6, 8, numberText(most, unit)], [-6, 99, numberText(0, unit)], [width, 116, `${numbers.length} snapshots`]]
    .map(([x, y, words]) => svg('text', { x, y }, words))));
  return h('figure', null, h('figcaption', { class: 'muted' }, heading), node);
}

/** A full height is this part of the largest value at least, so that next to no change looks so. */
const FULL_HEIGHT = 0.2;
const MOST_POINTS = 120;

/**
 * A sparkline. Places without a number are gaps.
 * @param {(number | null)[]} values
 * @param {{unit?: string, label?: string, width?: number, height?: number, fromZero?: boolean}} [options]
 * @returns {SVGElement | Text}
 */
export function sparkline(values, options = {}) {
  const { unit = 'count', width = 72, height = 18, fromZero = false } = options;
  const known = /** @type {number[]} */ (values.filter((value) => value !== null && !Number.isNaN(value)));
  if (known.length === 0) return document.createTextNode('');
  const points = condensed(values);
  const [least, most] = [fromZero ? 0 : Math.min(...known), Math.max(...known)];
  const span = Math.max(most - least, FULL_HEIGHT * Math.abs(most)) || 1;
  const bottom = (least + most) / 2 - span / 2;
  const x = (/** @type {number} */ at) => 1.5 + (at / Math.max(points.length - 1, 1)) * (width - 3);
  const y = (/** @type {number} */ value) => height - 2 - ((value - bottom) / span) * (height - 4);
  const lines = runs(points).map((run) => svg('polyline', {
    points: run.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' '),
  }));
  const last = points.length - 1;
  const end = points[last];
  const dot = end === null ? null : svg('circle', { cx: x(last).toFixed(1), cy: y(end).toFixed(1), r: 1.6 });
  return svg('svg', {
    class: 'sparkline', width, height, viewBox: `0 0 ${width} ${height}`, role: 'img',
    'aria-label': inWords(known, unit, options.label),
  }, lines, dot);
}

/** The numbers of a series in words. @param {number[]} known @param {string} unit @param {string} [label] */
function inWords(known, unit, label) {
  const [first, last] = [known[0], known[known.length - 1]];
  const way = last > first ? 'rises' : last < first ? 'falls' : 'stays';
  const told = first === last ? numberText(first, unit) : `from ${numberText(first, unit)} to ${numberText(last, unit)}`;
  return `${label ? `${label}: ` : ''}${way} ${first === last ? 'at ' : ''}${told} over ${known.length} snapshots`;
}

/** Long series as the least and the largest value of their parts. @param {(number | null)[]} values */
function condensed(values) {
  if (values.length <= MOST_POINTS) return values;
  const parts = MOST_POINTS / 2;
  return Array.from({ length: parts }, (_, part) => {
    const from = Math.floor((part * values.length) / parts);
    const slice = values.slice(from, Math.floor(((part + 1) * values.length) / parts));
    const known = /** @type {number[]} */ (slice.filter((value) => value !== null));
    if (known.length === 0) return [null, null];
    const ends = [Math.min(...known), Math.max(...known)];
    return known.indexOf(ends[0]) <= known.indexOf(ends[1]) ? ends : ends.reverse();
  }).flat();
}

/** Runs of places that have a number. @param {(number | null)[]} points */
function runs(points) {
  /** @type {[number, number][][]} */
  const all = [[]];
  points.forEach((value, at) => {
    if (value === null || Number.isNaN(value)) all.push([]);
    else all[all.length - 1].push([at, value]);
  });
  return all.filter((run) => run.length > 0);
}
