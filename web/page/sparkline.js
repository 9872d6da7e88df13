// A series as a small line, with its numbers in words.

import { svg } from './dom.js';
import { numberText } from './cell.js';

/** A full height is this part of the largest value at least, so that next to no change looks so. */
const FULL_HEIGHT = 0.2;
const MOST_POINTS = 120;

/**
 * A sparkline. Places without a number are gaps.
 * @param {(number | null)[]} values
 * @param {{unit?: string, label?: string, width?: number, height?: number}} [options]
 * @returns {SVGElement | Text}
 */
export function sparkline(values, options = {}) {
  const { unit = 'count', width = 72, height = 18 } = options;
  const known = /** @type {number[]} */ (values.filter((value) => value !== null && !Number.isNaN(value)));
  if (known.length === 0) return document.createTextNode('');
  const points = condensed(values);
  const [least, most] = [Math.min(...known), Math.max(...known)];
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
