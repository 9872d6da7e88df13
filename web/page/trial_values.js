// Trials as data: values, bins, modes and knobs of answers; words with their units; axes; the lines that ask for more.

import { numberOf } from './cell.js';
import { measured } from './value_text.js';
import { cellOf, factOf } from './answer.js';
import { literal, path } from './state.js';

/** @typedef {import('./ask.js').Answer} Answer */
/** @typedef {import('./ask.js').Table} Table */
/** @typedef {import('./ask.js').Value} Value */
/** @typedef {{value: number, run: number, iteration: number | null}} Measured */
/** @typedef {{from: number, to: number, count: number, mode: number | null}} Bin */
/** @typedef {{number: number, location: number, low: number, high: number, count: number, weight: number, weightLow: number, weightHigh: number}} Mode */
/** @typedef {{name: string, share: number, modulus: number | null, settings: (number | string | null)[]}} Knob */
/** @typedef {{metric: string, unit: string, program: string, values: Measured[], bins: Bin[]}} Series */

/** Modes with a colour of their own. */
const COLOURS = 6;
/** Bins of a shared axis. */
const MOST_BINS = 120;

/** The class of style of a mode; modes are numbered from 1. @param {number | null} mode */
export function modeClass(mode) {
  return mode === null ? 'kind-other' : `kind-${((mode - 1) % COLOURS) + 1}`;
}

/** The rows of a table as functions from a key to a value. @param {Answer} answer @param {string} key */
export function rowsOf(answer, key) {
  const table = answer.tables.find((one) => one.key === key);
  return (table?.rows ?? []).map((row) => (/** @type {string} */ name) => cellOf(/** @type {Table} */ (table), row, name) ?? { kind: 'none' });
}

/** @param {Value} value */
function orNull(value) {
  const number = numberOf(value);
  return Number.isNaN(number) ? null : number;
}

/** The series of an answer to `histogram METRIC`. @param {Answer} answer @returns {Series} */
export function seriesOf(answer) {
  const numbers = (/** @type {string} */ key) => /** @type {(number | null)[]} */ (factOf(answer, key)?.numbers ?? []);
  const [runs, iterations] = [numbers('value_runs'), numbers('value_iterations')];
  return {
    metric: factOf(answer, 'metric') ?? '', unit: factOf(answer, 'unit') ?? '', program: factOf(answer, 'variant') ?? '',
    values: numbers('values').map((value, at) => ({ value: value ?? NaN, run: runs[at] ?? NaN, iteration: iterations[at] ?? null })),
    bins: rowsOf(answer, 'rows').map((get) => ({ from: numberOf(get('from')), to: numberOf(get('to')), count: numberOf(get('values')), mode: orNull(get('mode')) })),
  };
}

/** The modes of an answer to `modes METRIC`. @param {Answer} answer @returns {Mode[]} */
export function modesOf(answer) {
  return rowsOf(answer, 'rows').map((get) => {
    const number = (/** @type {string} */ key) => numberOf(get(key));
    return {
      number: number('mode'), location: number('location'), low: number('low'), high: number('high'), count: number('values'),
      weight: number('weight'), weightLow: number('weight_low'), weightHigh: number('weight_high'),
    };
  });
}

/** The knobs of an answer to `modes METRIC`, those that explain most first. @param {Answer} answer @returns {Knob[]} */
export function knobsOf(answer) {
  return rowsOf(answer, 'knobs').map((get) => ({
    name: String(get('knob').value), share: numberOf(get('share')), modulus: orNull(get('modulus')),
    settings: (get('settings').value ?? []).map((/** @type {Value} */ one) => (one.kind === 'none' ? null : one.kind === 'text' ? one.value : numberOf(one))),
  }));
}

/** The mode of a value: its number, or null. Modes do not overlap. @param {Mode[]} modes @param {number} value */
export function modeAt(modes, value) {
  return modes.find((mode) => value >= mode.low && value <= mode.high)?.number ?? null;
}

/**
 * Values in bins of equal width, the mode of each being that of most of its values. Equal values are one bin.
 * @param {number[]} values @param {Mode[]} modes @param {[number, number]} range @param {number} width @returns {Bin[]}
 */
export function binned(values, modes, [from, to], width) {
  const count = from < to ? Math.max(1, Math.min(MOST_BINS, Math.round((to - from) / width) || MOST_BINS)) : 1;
  const edge = (/** @type {number} */ at) => (at === count ? to : from + ((to - from) * at) / count);
  /** @type {Map<number | null, number>[]} */
  const found = Array.from({ length: count }, () => new Map());
  for (const value of values) {
    const at = Math.max(0, Math.min(count - 1, Math.floor(((value - from) / (to - from || 1)) * count)));
    const mode = modeAt(modes, value);
    found[at].set(mode, (found[at].get(mode) ?? 0) + 1);
  }
  return found.map((of, at) => {
    const all = [...of].sort((one, other) => other[1] - one[1]);
    return { from: edge(at), to: edge(at + 1), count: all.reduce((sum, one) => sum + one[1], 0), mode: all[0]?.[0] ?? null };
  });
}

/** Two series in the same bins, as narrow as the narrower of their own. @param {Series[]} all @param {Mode[][]} modes @returns {Bin[][]} */
export function sharedBins(all, modes) {
  const ends = all.flatMap(({ bins }) => bins.flatMap(({ from, to }) => [from, to]));
  const range = /** @type {[number, number]} */ ([Math.min(...ends), Math.max(...ends)]);
  const widths = all.flatMap(({ bins }) => bins.slice(0, 1).map(({ from, to }) => to - from)).filter((width) => width > 0);
  return all.map(({ values }, at) => binned(values.map(({ value }) => value), modes[at], range, Math.min(...widths, range[1] - range[0])));
}

/**
 * The settings of a knob as places: numbers, modulo what explains most; or names, each with a place.
 * @param {Knob} knob @returns {{places: (number | null)[], names: string[] | null}}
 */
export function placesOf({ settings, modulus }) {
  if (settings.every((one) => one === null || typeof one === 'number')) {
    return { places: settings.map((one) => (one === null ? null : modulus ? Number(one) % modulus : Number(one))), names: null };
  }
  const names = [...new Set(settings.filter((one) => one !== null).map(String))].sort();
  return { places: settings.map((one) => (one === null ? null : names.indexOf(String(one)))), names };
}

/** Where runs are on the axis: iterations are within their run, in order. @param {Measured[]} values */
export function runPlaces(values) {
  const last = values.reduce((most, { iteration }) => Math.max(most, iteration ?? 0), 0);
  return values.map(({ run, iteration }) => run + ((iteration ?? 0) / (last + 1)) * 0.8);
}

/** A mark of an axis: round, so without zeros at its end. @param {number} value @param {string} unit */
export function markText(value, unit) {
  return measured(value, unit, 6).replace(/\.(\d*?)0+(?= |$)/, (_, digits) => (digits ? `.${digits}` : ''));
}

/** Round marks of an axis. @param {[number, number]} range @param {number} most how many at most */
export function marksOf([from, to], most) {
  if (!(to > from)) return [from];
  const least = (to - from) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = ([1, 2, 5].find((one) => one * power >= least) ?? 10) * power;
  const first = Math.ceil(from / step);
  const count = Math.min(100, Math.floor(to / step) - first + 1);
  return Array.from({ length: Math.max(0, count) }, (_, at) => Number(((first + at) * step).toPrecision(12)));
}

/** A share in percent. @param {number} share */
export function percent(share) {
  return `${Math.round(share * 100)} %`;
}

/** A weight with its interval. @param {Mode} mode */
export function weightText({ weight, weightLow, weightHigh }) {
  return `${percent(weight)} (${Math.round(weightLow * 100)}–${percent(weightHigh)})`;
}

/** A name as a word of a line: its beginning, if no line can hold it, since a unique beginning names it too. @param {string} name */
export function word(name) {
  const first = [...(name.slice(0, 400).match(/^[^\0\r\n]+/)?.[0] ?? '')].slice(0, 200).join('');
  return /^[\w./+-]+$/.test(first) && !first.startsWith('-') ? first : literal(first);
}

/** The line of a series. @param {string} verb @param {string} metric @param {string} program */
export function seriesLine(verb, metric, program) {
  return `${verb} ${word(metric)}${program ? ` ${word(program)}` : ''}`;
}

/** The command that repeats a run under its layout. @param {number | string} run @param {import('./served.js').ServedFile} file */
export function replayLine(run, { folder, name }) {
  return `barrow trial --replay ${run} ${path(folder + name)}`;
}
