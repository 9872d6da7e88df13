// All snapshots as a small line in the header of every view: the brush, the selected snapshot, and a click selects one.

import { h, svg } from './dom.js';
import { size } from './value_text.js';
import { cellOf } from './answer.js';

const [WIDTH, HEIGHT] = [160, 24];

/**
 * @param {import('./ask.js').Answer} answer of `summary all`
 * @param {{selected: number, brush: [number, number] | null, select: (snapshot: number) => void}} of
 * @returns {Node | null} null if there is no series
 */
export function overview(answer, of) {
  const table = answer.tables.find((one) => one.key === 'snapshots');
  if (!table || table.rows.length < 3) return null;
  const number = (/** @type {any[]} */ row, /** @type {string} */ key) => Number(cellOf(table, row, key)?.value ?? 0);
  const sizes = table.rows.map((row) => number(row, 'heap_bytes') + number(row, 'unmanaged_bytes'));
  const snapshots = table.rows.map((row) => number(row, 'snapshot'));
  const most = sizes.reduce((one, other) => Math.max(one, other), 1);
  const x = (/** @type {number} */ at) => 2 + (Math.max(at, 0) / (sizes.length - 1)) * (WIDTH - 4);
  const y = (/** @type {number} */ value) => HEIGHT - 2 - (value / most) * (HEIGHT - 5);
  const points = thinned(sizes).map((at) => `${x(at).toFixed(1)},${y(sizes[at]).toFixed(1)}`).join(' ');
  const place = (/** @type {number} */ snapshot) => x(snapshots.indexOf(snapshot)).toFixed(1);
  const brush = of.brush ? svg('rect', { class: 'brush', x: place(of.brush[0]), y: 0, width: Math.max(1, Number(place(of.brush[1])) - Number(place(of.brush[0]))), height: HEIGHT }) : null;
  const picture = svg('svg', {
    width: WIDTH, height: HEIGHT, viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img',
    'aria-label': `shallow and unmanaged size of all snapshots: ${size(sizes[0])} to ${size(sizes[sizes.length - 1])}`,
    onclick: (/** @type {MouseEvent} */ event) => {
      const { left, width } = picture.getBoundingClientRect();
      const at = (((event.clientX - left) * WIDTH) / width - 2) / (WIDTH - 4) * (sizes.length - 1);
      of.select(snapshots[Math.max(0, Math.min(sizes.length - 1, Math.round(at)))]);
    },
  }, brush, svg('polyline', { points }), svg('line', { x1: place(of.selected), x2: place(of.selected), y1: 0, y2: HEIGHT }));
  return h('span', { class: 'overview', title: 'a click selects a snapshot' }, picture);
}

/** Places that are drawn: a few for each pixel. @param {number[]} sizes */
function thinned(sizes) {
  const step = Math.max(1, Math.floor(sizes.length / (2 * WIDTH)));
  return sizes.map((_, at) => at).filter((at) => at % step === 0 || at === sizes.length - 1);
}
