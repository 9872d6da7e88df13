// All snapshots: leak suspects, what grows, trends, and the chart. Each section is a question of its own and loads alone.

import { fill, h } from '../dom.js';
import { cellNode, forPeople, isNothing, numberOf } from '../cell.js';
import { text, visible } from '../value_text.js';
import { cellOf, numbersOf, renderAnswer, typePathNode } from '../answer.js';
import { isAbort } from '../ask.js';
import { objectsOfStep, stepsOf } from '../links.js';
import { Section } from '../section.js';
import { Snapshots, Trend } from '../snapshots_chart.js';
import { FIRST_SUSPECTS, excused, suspectsNode, suspectsOf } from '../suspects.js';
import { copyButton, tell } from '../frame.js';
import { assertLine, isOfSnapshot, literal, quoted, verbOf, words } from '../state.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../ask.js').Answer} Answer */
/** @typedef {import('../ask.js').Table} Table */
/** @typedef {import('../ask.js').Value} Value */
/** @typedef {import('../ask.js').Column} Column */
/** @typedef {import('../links.js').Step} Step */

/** Judging growth takes this many snapshots. */
const LEAST_JUDGED = 5;

/** @param {HTMLElement} root @param {Context} ctx @returns {import('../context.js').View} */
export function mount(root, ctx) {
  const all = new Snapshots(ctx, root);
  const trend = new Trend(ctx, all);
  const sections = {
    path: new Section(ctx, { title: 'Trend of a path', showsLine: true, name: 'path' }),
    asked: new Section(ctx, { title: 'Asked', showsLine: true, name: 'asked' }),
    leaks: new Section(ctx, { title: 'Suspects', showsLine: true, name: 'leaks' }),
    growth: new Section(ctx, { title: 'What grows', showsLine: true, name: 'growth' }),
    leaking: new Section(ctx, { title: 'What grows and does not die', showsLine: true, name: 'leaking' }),
  };
  /** @type {Record<string, string>} */
  let asked = {};
  let shown = '';
  return {
    update(state) {
      const lines = linesOf(state, ctx);
      all.update(state);
      trend.update();
      const { path, asked: first, leaking, leaks, growth } = sections;
      // What is asked comes first, and the chart last, unless there is but one snapshot.
      const judged = lines.growth === state.q ? [growth, leaks] : [leaks, growth];
      if ((ctx.file.snapshots ?? 1) < 2) judged.splice(1, 0, all.section);
      place(root, [...new Set([path, first, leaking, ...judged, all.section])].map((section) => section.element));
      showSuspects(leaks.element, lines.leaks === state.q);
      for (const [name, section] of Object.entries(sections)) {
        const { line, why } = /** @type {{line?: string, why?: string}} */ (whatOf(name, lines, state, ctx));
        section.element.hidden = !line && !why;
        const key = `${line ?? ''}${why ?? ''} ${name === 'growth' && line === state.q} ${name === 'path' ? state.extra.path : ''} ${ctx.file.revision} ${state.w} ${state.lets} ${name === 'leaks' || (name === 'asked' && verbOf(state.q) !== 'trend') ? ctx.snapshot : ''}`;
        if (asked[name] === key) continue;
        asked[name] = key;
        if (line) askSection(name, section, line, ctx, trend);
        else leaveSection(section, why);
      }
      const top = /** @type {HTMLElement} */ (root.querySelector('.section:not([hidden])'));
      const what = `${state.q} ${state.extra.path ?? ''}`;
      if (shown !== '' && shown !== what && top.getBoundingClientRect().top < 0) top.scrollIntoView();
      shown = what;
    },
    destroy() {
      all.destroy();
      trend.destroy();
      for (const section of Object.values(sections)) section.destroy();
    },
  };
}

/** Puts elements in an order; what has the focus keeps it. @param {HTMLElement} root @param {HTMLElement[]} elements */
function place(root, elements) {
  const active = /** @type {HTMLElement | null} */ (document.activeElement);
  elements.forEach((element, at) => { if (root.children[at] !== element) root.insertBefore(element, root.children[at] ?? null); });
  if (root.contains(active) && active !== document.activeElement) active?.focus({ preventScroll: true });
}

/** Shows all suspects, or the first ones beside other answers. @param {HTMLElement} section @param {boolean} isAsked */
function showSuspects(section, isAsked) {
  const more = section.querySelector('.more-suspects a');
  const hadFocus = isAsked && more !== null && more === document.activeElement;
  section.classList.toggle('is-part', !isAsked);
  // The link is gone; the first suspect that it hid has the focus.
  if (hadFocus) /** @type {HTMLElement | null} */ (section.querySelector(`.suspect:nth-of-type(${FIRST_SUSPECTS + 1}) a`))?.focus();
}

/** A section that asks nothing. @param {Section} section @param {string} [why] */
function leaveSection(section, why) {
  section.stop();
  fill(section.actions);
  section.empty(why ?? '');
}

/** The line of each section. @param {State} state @param {Context} ctx @returns {Record<string, string>} */
function linesOf(state, ctx) {
  const range = state.a === null || state.b === null ? null : `${state.a}..${state.b}`;
  const lines = {
    path: '', asked: '', growth: range ? `growth ${range}` : 'growth', leaking: '', leaks: 'leaks',
  };
  const verb = verbOf(state.q);
  const isOne = verb === 'summary' && !words(state.q).includes('all') && (ctx.file.snapshots ?? 1) > 1;
  if (verb === 'trend' || verb === 'snapshots' || isOne) lines.asked = state.q;
  if (verb === 'growth') lines.growth = state.q;
  if (verb === 'growth' && state.extra.path) lines.path = state.q;
  if (verb === 'leaks') Object.assign(lines, words(state.q).some((word) => word.includes('..')) ? { leaking: state.q } : { leaks: state.q });
  return lines;
}

/** What a section asks, or why it does not. @param {string} name @param {Record<string, string>} lines @param {State} state @param {Context} ctx */
function whatOf(name, lines, state, ctx) {
  const count = ctx.file.snapshots ?? 1;
  const isAsked = lines[name] === state.q;
  if (count === 0 && !isAsked) return name === 'leaks' ? { why: 'This recording holds no whole snapshot.' } : {};
  if (name === 'growth' && !isAsked && count < 2) return { why: 'There is one snapshot; what grows shows in several.' };
  if (name === 'growth' && state.w.some(isOfSnapshot)) return { why: 'An excluded object belongs to one snapshot: growth over several cannot leave it out.' };
  return { line: lines[name] };
}

/** @param {string} name @param {Section} section @param {string} line @param {Context} ctx @param {Trend} trend */
function askSection(name, section, line, ctx, trend) {
  fill(section.actions);
  if (name === 'leaks') void askSuspects(section, line, ctx);
  else if (name === 'path') {
    const close = h('a', { class: 'button', href: ctx.href({ path: null }), 'aria-label': 'close this trend' }, '×');
    void section.ask(line, { from: 0, n: 200 }, { draw: (answer) => pathNodeOf(answer, ctx, trend), why: (answer) => whyNoPath(answer, ctx) }).then(() => fill(section.actions, close));
  } else if (name === 'asked') {
    const isTrend = verbOf(line) === 'trend';
    void section.ask(line, isTrend ? { snapshot: null } : {}, { draw: (answer) => (isTrend ? trend.draw(answer, line) : renderAnswer(answer, ctx, { line })) });
  }
  else {
    if (name === 'growth') fill(section.actions, leakingLink(ctx));
    void section.ask(line, { from: 0, n: 200 }, { draw: (answer) => growthNode(answer, line, ctx), why: nothingGrows });
  }
}

/** Whether the objects of paths that grow die is another question; not while something is excluded, since births and
 *  deaths are those of all objects. @param {Context} ctx */
function leakingLink(ctx) {
  const [a, b] = [ctx.state.a ?? 0, ctx.state.b ?? (ctx.file.snapshots ?? 1) - 1];
  if (b - a + 1 < LEAST_JUDGED || ctx.state.w.length > 0) return null;
  return h('a', { class: 'button', href: ctx.href({ q: `leaks ${a}..${b}` }), title: `leaks ${a}..${b}` }, 'what of this does not die');
}

/** @param {Answer} answer */
function nothingGrows(answer) {
  return answer.tables.some((table) => table.rows.length > 0) ? null : visible(answer.notes.join('; ') || 'Nothing grows.');
}

/**
 * Paths that grow: each step leads to its objects, and each row to its trend. Or groups that grow. What shrinks is below that if it is
 * asked, else it is counted.
 * @param {Answer} answer @param {string} line @param {Context} ctx
 */
function growthNode(answer, line, ctx) {
  const arePaths = answer.tables.some((table) => table.columns.some(({ key }) => key === 'shown_path'));
  const what = arePaths ? 'path' : 'group';
  const shrinks = (/** @type {Value[]} */ row, /** @type {Table} */ table) => numberOf(cellOf(table, row, 'slope_bytes') ?? { kind: 'none' }) < 0;
  const part = (/** @type {boolean} */ ofShrinking) => answer.tables.map((table) => ({
    ...table, key: ofShrinking ? 'what shrinks' : 'what grows', rows: table.rows.filter((row) => shrinks(row, table) === ofShrinking),
  })).filter(({ rows }) => rows.length > 0);
  const [grown, shrunk] = [part(false), part(true)];
  const shrinking = shrunk.reduce((sum, { rows }) => sum + rows.length, 0);
  const isAll = line === ctx.state.q || shrinking === 0;
  const leftOut = `${shrinking} ${shrinking === 1 ? `${what} that shrinks is` : `${what}s that shrink are`} left out: \`${line}\``;
  const notes = [...(grown.length > 0 ? [] : ['Nothing grows.']), ...answer.notes, ...(isAll ? [] : [leftOut])];
  const tables = [...grown, ...(isAll ? shrunk : [])].map((table) => (arePaths ? withActions(table) : table));
  const known = new Set(tables.flatMap(({ columns, rows }) => columns.filter((_, at) => rows.some((row) => hasText(row[at]))).map(({ key }) => key)));
  return renderAnswer({ ...answer, tables, facts: [], notes }, ctx, {
    line,
    table: {
      caption: arePaths ? 'paths of types from the roots' : 'groups of objects',
      shows: (column) => forPeople(column) && !['place', 'interval'].includes(column.role ?? '') && column.key !== 'example' && known.has(column.key),
      cell: (row, column, at, table) => growthCell(row, column, at, table, ctx, placeOf(answer, line, row, table, ctx)),
    },
  });
}

/** @param {Value} value */
function hasText(value) {
  return !isNothing(value) && value.value !== '';
}

/** A table with a column for what can be asked of each row. @param {Table} table @returns {Table} */
function withActions(table) {
  const column = { key: 'do', heading: 'further', unit: 'text', audience: 'people', is_secondary: false };
  return { ...table, columns: [...table.columns, column], rows: table.rows.map((row) => [...row, { kind: 'text', value: ' ' }]) };
}

/** @typedef {import('../answer.js').Where} Where */

/** Where a path is looked at, if not in the selected snapshot, and the last snapshot of its series. @typedef {Where & {last: number}} Place */

/**
 * A path that has gone is looked at in the last snapshot that had it.
 * @param {Answer} answer @param {string} line @param {Value[]} row @param {Table} table @param {Context} ctx @returns {Place}
 */
function placeOf(answer, line, row, table, ctx) {
  const snapshots = /** @type {number[]} */ (numbersOf(answer.facts.find((fact) => fact.column.key === 'snapshots')?.value ?? null) ?? []);
  const end = words(line).find((word) => word.includes('..'))?.split('..')[1] ?? '';
  const last = snapshots.at(-1) ?? (/^\d+$/.test(end) ? Number(end) : (ctx.file.snapshots ?? 1) - 1);
  const values = numbersOf(cellOf(table, row, 'retained_bytes')) ?? [];
  const at = values.findLastIndex((value) => Boolean(value));
  return at < 0 || at === values.length - 1 || snapshots[at] === undefined ? { last } : { last, s: snapshots[at] };
}

/** @param {Value[]} row @param {Column} column @param {number} at @param {Table} table @param {Context} ctx @param {Place} place */
function growthCell(row, column, at, table, ctx, { last, ...where }) {
  if (column.key === 'shown_path') return typePathNode(table, row, ctx, where);
  if (column.key === 'slope_bytes') {
    const node = /** @type {HTMLElement} */ (cellNode(row[at], column, ctx));
    const interval = cellOf(table, row, 'slope_interval');
    if (interval?.kind === 'text') node.title = `95 % interval: ${interval.value}`;
    return node;
  }
  if (column.key === 'shown_verdict') {
    const verdict = cellOf(table, row, 'verdict');
    return h('span', { class: `verdict ${cellOf(table, row, 'grows')?.value === true ? 'yes' : ''}`, title: verdict ? text(verdict, { unit: 'text' }) : null }, text(row[at], column));
  }
  return column.key === 'do' ? pathActions(row, table, ctx, last, where) : null;
}

/** What can be asked of a path itself; what holds objects on any path is a question about their type.
 *  @param {Value[]} row @param {Table} table @param {Context} ctx @param {number} last @param {Where} where */
function pathActions(row, table, ctx, last, where) {
  const steps = stepsOf(table, row);
  const end = steps.at(-1);
  const objects = end ? objectsOfStep(end) : null;
  const range = words(ctx.state.q).find((word) => word.includes('..')) ?? (ctx.state.a === null ? '' : `${ctx.state.a}..${ctx.state.b}`);
  const growth = verbOf(ctx.state.q) === 'growth' ? ctx.state.q : `growth ${range}`.trim();
  const example = cellOf(table, row, 'example')?.value ?? null;
  const why = 'what holds the largest object on this path';
  const holders = isAnyPath(steps) ? objects && linkTo({ q: `paths ${objects}`, ...where }, 'what holds them', ctx)
    : example !== null ? linkTo({ q: `path ${last}:@${example}` }, why, ctx)
    : end?.roots ? null : h('button', { type: 'button', class: 'copy', title: why, onclick: () => void goToHolders(steps, ctx, where) }, 'holders');
  return h('span', { class: 'row-actions' },
    h('a', { href: ctx.href({ q: growth, path: textOf(steps) }), title: 'what this path retains in each snapshot' }, 'trend'), ' ', holders, ' ',
    copyButton('copy assert', assertLine(ctx.file, `growth(path ${literal(cellOf(table, row, 'path')?.value ?? textOf(steps))}) <= 0`)));
}

/** @param {{q: string, s?: number}} to @param {string} why @param {Context} ctx */
function linkTo(to, why, ctx) {
  return h('a', { href: ctx.href(to), title: visible(`${why}: ${to.q}`) }, 'holders');
}

/** Goes to what holds the largest object on a path whose row names none. @param {Step[]} steps @param {Context} ctx @param {Where} where */
async function goToHolders(steps, ctx, { s = ctx.snapshot ?? 0 }) {
  try {
    const [table] = (await ctx.ask(`flame ${steps.map(({ text }) => quoted(text)).join(' ')} --cells 1`, { snapshot: s })).tables;
    ctx.go({ q: `path ${s}:@${cellOf(table, table.rows[0], 'example')?.value}` });
  } catch (error) {
    if (!isAbort(error)) tell(`not answered: ${/** @type {Error} */ (error).message}`);
  }
}

/** The row of the path of the address. @param {Answer} answer @param {Context} ctx */
function rowOfPath(answer, ctx) {
  const table = answer.tables[answer.tables.length - 1];
  return { table, row: table?.rows.find((one) => textOf(stepsOf(table, one)) === ctx.state.extra.path) };
}

/** @param {Answer} answer @param {Context} ctx */
function whyNoPath(answer, ctx) {
  return rowOfPath(answer, ctx).row ? null : 'This answer does not list the path.';
}

/** The numbers of a path as a chart. @param {Answer} answer @param {Context} ctx @param {Trend} trend */
function pathNodeOf(answer, ctx, trend) {
  const { table, row = [] } = rowOfPath(answer, ctx);
  const numbers = (/** @type {string} */ key) => numbersOf(cellOf(table, row, key)) ?? [];
  const measures = [['retained_bytes', 'retained', 'bytes'], ['objects', 'objects', 'count']].map(([key, name, unit]) => ({ key, name, unit, values: numbers(key) }));
  const snapshots = /** @type {number[]} */ (numbersOf(answer.facts.find((fact) => fact.column.key === 'snapshots')?.value ?? null) ?? []);
  const fact = (/** @type {string} */ key, /** @type {string} */ name) => {
    const at = table.columns.findIndex((column) => column.key === key);
    return at < 0 || isNothing(row[at]) ? null : h('div', null, h('dt', null, name), h('dd', null, cellNode(row[at], table.columns[at], ctx)));
  };
  return h('div', null, typePathNode(table, row, ctx), h('dl', { class: 'facts' }, fact('slope_bytes', 'per snapshot'), fact('slope_interval', '95 % interval'), fact('shown_verdict', 'grows')),
    trend.chartOf(snapshots, measures));
}

/** Returns whether objects on any path are meant: the first step names nothing. @param {Step[]} steps */
function isAnyPath(steps) {
  return steps.length > 0 && steps[0].roots === null && objectsOfStep(steps[0]) === null;
}

/** The text of a path, as the address has it. @param {Step[]} steps */
function textOf(steps) {
  return steps.map(({ text }) => text).join(' › ');
}

/** @param {Section} section @param {string} line @param {Context} ctx */
async function askSuspects(section, line, ctx) {
  const answer = await section.ask(line, {}, {
    draw: (answer) => suspectsNode(answer, line, ctx),
    why: (answer) => (suspectsOf(answer).length > 0 ? null : visible(answer.notes.filter(Boolean).join('; ') || 'No suspects: nothing accumulates.')),
  });
  const suspects = answer ? suspectsOf(answer) : [];
  if (suspects.length > 1) {
    fill(section.actions, copyButton(`copy assert for all ${suspects.length}`, assertLine(ctx.file, `no leaks except ${suspects.map(excused).join(', ')}`)));
  }
}
