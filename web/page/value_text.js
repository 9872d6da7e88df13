// Values as texts, as a terminal has them: numbers with units, and what is hidden written out.

/** @typedef {import('./ask.js').Value} Value */
/** @typedef {import('./ask.js').Column} Column */
/** @typedef {import('./ask.js').Fact} Fact */

/** What it means that a field has no value. @type {Record<string, {word: string, title: string}>} */
export const ABSENT = {
  missing: { word: '', title: '' },
  no_field: { word: '(no such field)', title: 'objects of this type have no such field, or the map no such key' },
  unknown: { word: 'unknown', title: 'what the field holds was not recorded' },
  null: { word: 'null', title: 'the field holds nothing' },
  undefined: { word: 'undefined', title: 'the field holds `undefined`' },
};
/** Controls, and what has no width or changes the direction of text; also halves of characters. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\u180e\u115f\u1160\u3164\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** A text with each hidden character written out, such as `\u{1b}`. @param {string} text */
export function visible(text) {
  return text.replace(HIDDEN, (c) => {
    const named = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[c];
    return named ?? `\\u{${/** @type {number} */ (c.codePointAt(0)).toString(16)}}`;
  });
}

/** `1234567` as `1,234,567`. @param {number | string} number */
export function grouped(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** Bytes in binary units: `12.3 MiB`. @param {number} bytes */
export function size(bytes) {
  const units = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
  if (bytes < 1024) return `${bytes} B`;
  let unit = 0;
  let value = bytes / 1024;
  while (value >= 1023.95 && unit + 1 < units.length) {
    value /= 1024;
    unit += 1;
  }
  return `${fixed(value, 1)} ${units[unit]}`;
}

/**
 * A number with decimals, as at a terminal: of two that are as near, the even one. `toFixed` takes the larger one.
 * @param {number} number @param {number} decimals
 */
function fixed(number, decimals) {
  const power = 10 ** decimals;
  const scaled = Math.abs(number) * power;
  const isHalf = Number.isInteger(number * 2 ** (decimals + 1)) && scaled % 1 === 0.5;
  return (isHalf ? (Math.sign(number) * 2 * Math.round(scaled / 2)) / power : number).toFixed(decimals);
}

/** Bytes per something: `+1.5 KiB`. @param {number} bytes */
function rate(bytes) {
  const sign = bytes < 0 ? '-' : '+';
  const magnitude = Math.abs(bytes);
  if (magnitude === 0) return '0 B';
  if (magnitude < 0.005) return `${sign}< 0.01 B`;
  if (magnitude < 10 && magnitude % 1 !== 0) return `${sign}${fixed(magnitude, 2)} B`;
  return sign + size(Math.round(magnitude));
}

/** Nanoseconds as `1.25 s`; short times as `1.25 ms` and `12.5 µs`. @param {number} ns */
export function duration(ns) {
  if (ns > 0 && ns < 1e5) return `${fixed(ns / 1e3, 1)} µs`;
  return ns > 0 && ns < 1e7 ? `${fixed(ns / 1e6, 2)} ms` : `${fixed(ns / 1e9, 2)} s`;
}

/** A share as `12.3 %`. @param {number} share */
function shareText(share) {
  return `${fixed(share * 100, 1)} %`;
}

/** A number that need not be whole; one that would have many zeros with an exponent. @param {number} number */
function real(number) {
  const amount = Math.abs(number);
  if (amount !== 0 && !(amount >= 1e-5 && amount < 1e16)) return number.toExponential().replace('e+', 'e');
  return Object.is(number, -0) ? '-0' : String(number);
}

/** Units of times and their nanoseconds. @type {Record<string, number>} */
const TIMES = { s: 1e9, ms: 1e6, µs: 1e3, ns: 1 };

/** A measured number with its unit: `19.32 ns`, `8.5 MiB`, `1,234`. @param {number} value @param {string} unit @param {number} [digits] significant ones */
export function measured(value, unit, digits = 4) {
  const [sign, amount] = [value < 0 ? '-' : '', Math.abs(value)];
  if (unit === 'ns') {
    // Less is a rest of arithmetic: quantiles are weighted means.
    return sign + (amount < 1e-3 ? '0 ns' : inTime(amount, Object.keys(TIMES).find((one) => amount >= TIMES[one]) ?? 'ns', digits));
  }
  if (unit === 'bytes' && amount < 1e15) return sign + (Number.isInteger(amount) || amount >= 1024 ? size(Math.round(amount)) : `${significant(amount, digits)} B`);
  return sign + significant(amount, digits) + (unit ? ` ${visible(unit.slice(0, 30))}` : '');
}

/** @param {number} ns @param {string} name a unit of times @param {number} digits */
function inTime(ns, name, digits) {
  return `${significant(ns / TIMES[name], digits)} ${name}`;
}

/** A difference with its sign. @param {number} value @param {string} unit */
export function difference(value, unit) {
  return (value > 0 ? '+' : '') + measured(value, unit);
}

/** A number of so many significant digits; a whole one has all of its digits. @param {number} amount @param {number} digits */
function significant(amount, digits) {
  if (Number.isInteger(amount) && amount < 1e15) return grouped(amount);
  if (amount < 1e-4 || amount >= 1e15) return amount.toExponential(digits - 1).replace('e+', 'e');
  // Digits are counted after rounding: 0.99999 becomes 1.
  const whole = Number(amount.toExponential(digits - 1).split('e')[1]) + 1;
  if (whole >= digits) return grouped(Math.round(amount));
  const [left, right] = fixed(amount, digits - whole).split('.');
  return `${grouped(left)}.${right}`;
}

/** @typedef {{value: number, unit: string, is_difference: boolean, time_unit: string | null}} Measured */

/** A measured number in the unit of times that was asked for, if one was. @param {Measured} measured */
function measuredText({ value, unit, is_difference, time_unit }) {
  if (time_unit === null) return is_difference ? difference(value, unit) : measured(value, unit);
  return (value < 0 ? '-' : is_difference && value > 0 ? '+' : '') + inTime(Math.abs(value), time_unit, 4);
}

/** A number by its unit. @param {number | string} number @param {string} unit */
export function numberText(number, unit) {
  switch (unit) {
    case 'bytes': return size(Number(number));
    case 'count': return grouped(number);
    case 'object': return `@${number}`;
    case 'address': return `0x${BigInt(number).toString(16)}`;
    case 'duration': return duration(Number(number));
    case 'share': return shareText(Number(number));
    default: return String(number);
  }
}

/** A signed difference. @param {number | string} difference @param {string} unit */
function changeText(difference, unit) {
  const digits = String(difference);
  if (digits === '0') return '0';
  const magnitude = digits.replace('-', '');
  return (digits.startsWith('-') ? '-' : '+') + (unit === 'bytes' ? size(Number(magnitude)) : grouped(magnitude));
}

/** The most steps of a path that repeat together; fewer rounds or steps are not folded. */
const [LONGEST_ROUND, LEAST_ROUNDS, LEAST_STEPS] = [6, 3, 6];

/** Steps of a path that repeat, or a single one: the first step, the steps of a round, and the rounds. @typedef {{start: number, period: number, rounds: number}} Fold */

/** A path, divided into steps that repeat and single ones. @param {string[]} steps @returns {Fold[]} */
export function foldsOf(steps) {
  const folds = [];
  for (let start = 0; start < steps.length;) {
    let best = { start, period: 1, rounds: 1 };
    for (let period = 1; period <= LONGEST_ROUND; period += 1) {
      let end = start + period;
      while (end < steps.length && steps[end] === steps[end - period]) end += 1;
      const rounds = Math.floor((end - start) / period);
      if (rounds >= LEAST_ROUNDS && rounds * period >= LEAST_STEPS && rounds * period > best.rounds * best.period) best = { start, period, rounds };
    }
    folds.push(best);
    start += best.period * best.rounds;
  }
  return folds;
}

/** A path of steps with what repeats folded. @param {string[]} steps */
export function pathText(steps) {
  const parts = foldsOf(steps).map(({ start, period, rounds }) => {
    const round = steps.slice(start, start + period).map(visible).join(' › ');
    return rounds === 1 ? round : `${period === 1 ? round : `(${round})`} × ${grouped(rounds)}`;
  });
  return parts.join(' › ');
}

/**
 * A value as text, hidden characters written out. None is an empty text, an estimate has a `~`.
 * @param {Value} value @param {Pick<Column, 'unit'>} column @returns {string}
 */
export function text(value, column) {
  const of = value.value;
  switch (value.kind) {
    case 'none': return '';
    case 'text':
    case 'line': return visible(of);
    // In quotes, with its own quotes and what is hidden written out.
    case 'name': return `"${visible(of.replaceAll('\\', '\\\\').replaceAll('"', '\\"'))}"`;
    case 'path': return pathText(of);
    case 'number': return numberText(of, column.unit);
    case 'estimate': return `~${numberText(of, column.unit)}`;
    case 'change': return changeText(of, column.unit);
    case 'share': return shareText(of);
    case 'estimated_share': return `~${shareText(of)}`;
    case 'rate': return of === null ? '' : column.unit === 'bytes' ? rate(of) : real(of);
    case 'measured': return measuredText(of);
    case 'decimal': return fixed(of.value, of.decimals);
    case 'flag': return of ? 'yes' : 'no';
    case 'signed': return String(of);
    case 'truth': return String(of);
    case 'object': return visible(of.text);
    case 'absent': return ABSENT[of].word;
    case 'series': return of.numbers.map((/** @type {number | null} */ one) => (one === null ? '' : numberText(one, of.unit))).join(', ');
    case 'bar': return grouped(of.length);
    case 'load': return of.map(shareText).join(', ');
    case 'lane': return of.map((/** @type {any} */ one) => text({ kind: 'mark', value: one }, column)).join(', ');
    case 'mark': return of === 'nothing' ? '' : String(of.rank ?? of);
    case 'list': return of.map((/** @type {Value} */ one) => text(one, column)).join(', ');
    case 'record':
      return of.map((/** @type {Fact} */ fact) => `${visible(fact.column.heading)}: ${text(fact.value, fact.column)}`).join(', ');
    default: return visible(JSON.stringify(value));
  }
}
