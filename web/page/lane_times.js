// Times of lanes: as words, as parts of a line, on an axis; and what is near a place.

/** @typedef {[number, number]} Range from and to, in nanoseconds */
/**
 * What is drawn in a lane.
 * @typedef {object} Block
 * @property {number} lane
 * @property {number} from in nanoseconds
 * @property {number} to
 * @property {string | null} name its class
 * @property {number | null} rank the place of that among all classes
 * @property {number} own how long that class ran in it
 * @property {number} running how long anything did
 * @property {number} spans
 * @property {string | null} process if all of it is of one
 * @property {string | null} program its program and what that builds
 * @property {number} critical how much of it is on the critical path
 * @property {number} waiting share of the time of its process
 */

/** A time as a line takes it: `1.25s`. @param {number} ns */
export function timeWord(ns) {
  return `${(ns / 1e9).toFixed(9).replace(/\.?0+$/, '')}s`;
}

/** A range as a line takes it: `1.25s..3s`. @param {Range} range */
export function rangeWord([from, to]) {
  return `${timeWord(from)}..${timeWord(to)}`;
}

/** A range that begins and ends at round times, by which no pixel moves. @param {Range} range @param {number} pixel in nanoseconds @returns {Range} */
export function rounded([from, to], pixel) {
  const step = Math.max(1, 10 ** Math.floor(Math.log10(Math.max(pixel, 1))));
  return [Math.floor(from / step) * step, Math.ceil(to / step) * step];
}

/** The range that a word tells; null if it is none. @param {string | undefined} word @returns {Range | null} */
export function rangeOf(word) {
  const [, from, to] = word?.match(/^(\d{1,12}(?:\.\d{1,9})?)s\.\.(\d{1,12}(?:\.\d{1,9})?)s$/) ?? [];
  const range = /** @type {Range} */ ([Math.round(Number(from) * 1e9), Math.round(Number(to) * 1e9)]);
  return from !== undefined && range[0] < range[1] ? range : null;
}

/** The words of a line of lanes without its range, and with another one. @param {string[]} words @param {Range | null} range */
export function lineWith(words, range) {
  return [words[0], range ? rangeWord(range) : '', ...words.slice(1).filter((word) => !word.includes('..'))].filter(Boolean).join(' ');
}

/** A time on an axis whose steps are so long: `1:05`, `2:00:00`, `1.25 s`, `3.5 ms`. @param {number} ns @param {number} step */
export function timeText(ns, step) {
  if (step >= 1e9 && ns >= 6e10) {
    const all = Math.round(ns / 1e9);
    const two = (/** @type {number} */ part) => String(part).padStart(2, '0');
    const hours = Math.floor(all / 3600);
    const minutes = Math.floor(all / 60) % 60;
    return hours > 0 ? `${hours}:${two(minutes)}:${two(all % 60)}` : `${minutes}:${two(all % 60)}`;
  }
  const [unit, name] = step >= 1e7 || ns >= 1e10 ? [1e9, 's'] : step >= 1e4 ? [1e6, 'ms'] : [1e3, 'µs'];
  const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / Number(unit)) + 1e-9)));
  return `${(ns / Number(unit)).toFixed(digits)} ${name}`;
}

/** The step of an axis: round, so that a range has at most so many. @param {number} length in nanoseconds @param {number} most */
export function stepOf(length, most) {
  const least = Math.max(length / Math.max(most, 1), 1);
  const long = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 43200, 86400].map((s) => s * 1e9);
  if (least > 1e9) return long.find((step) => step >= least) ?? Math.ceil(least / 86400e9) * 86400e9;
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5].find((one) => one * power >= least) ?? 10) * power;
}

/** The times of the marks of an axis. @param {Range} range @param {number} step */
export function marksOf([from, to], step) {
  const first = Math.ceil(from / step);
  return Array.from({ length: Math.max(0, Math.floor(to / step) - first + 1) }, (_, at) => (first + at) * step);
}

/** The block of a lane that has a time, or is nearest to it. @param {Block[]} blocks @param {number} lane @param {number} time @returns {number} its place; −1 if the lane has none */
export function nearest(blocks, lane, time) {
  let best = -1;
  let least = Infinity;
  blocks.forEach((block, at) => {
    const distance = block.lane !== lane ? Infinity : Math.max(block.from - time, time - block.to, 0);
    if (distance < least) [best, least] = [at, distance];
  });
  return best;
}

/** What is drawn of a block: blocks in which something ran for a part of the time are lower. @param {Block} block @param {number} height of the lane */
export function heightOf(block, height) {
  const length = block.to - block.from;
  return length <= 0 || block.spans === 1 ? height : Math.max(2, Math.min(1, block.running / length) * height);
}

/** Words without the folders of paths. @param {string} text */
export function withoutFolders(text) {
  return text.split(' ').map((word) => word.slice(word.lastIndexOf('/') + 1) || word).join(' ');
}

/** The beginning of a name that fits, in letters of about this width; empty if too little does. @param {string} name @param {number} room in pixels */
export function fitting(name, room) {
  const letters = Math.floor(room / 6.3);
  const all = [...name.slice(0, 2 * letters + 2)];
  return all.length <= letters ? name : letters < 4 ? '' : `${all.slice(0, letters - 1).join('')}…`;
}

/**
 * Stacks series: for each, the sums below it and with it.
 * @param {number[][]} series each as long as the first @returns {[number, number][][]}
 */
export function stacked(series) {
  const below = Array(series[0]?.length ?? 0).fill(0);
  return series.map((values) => values.map((value, at) => {
    const from = below[at];
    below[at] += value;
    return /** @type {[number, number]} */ ([from, below[at]]);
  }));
}
