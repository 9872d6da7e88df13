// All snapshots: a trend, the chart, what grows, and leak suspects. Each section is a question of its own and loads alone.

import { fill, h } from '../dom.js';
import { cellNode, forPeople, numberOf } from '../cell.js';
import { text, visible } from '../value_text.js';
import { cellOf, factOf, numbersOf, renderAnswer, typePathNode } from '../answer.js';
import { isAbort } from '../ask.js';
import { objectsOfStep, stepsOf } from '../links.js';
import { Section } from '../section.js';
import { Snapshots, Trend } from '../snapshots_chart.js';
import { excused, suspectsNode, suspectsOf } from '../suspects.js';
import { copy, copyButton, tell } from '../frame.js';
import { assertLine, quoted, verbOf, words } from '../state.js';

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
  const { path, asked: first, ...others } = sections;
  fill(root, path.element, first.element, all.section.element, ...Object.values(others).map((section) => section.element));
  return {
    update(state) {
      const lines = linesOf(state, ctx);
      all.update(state);
      trend.update();
      // What is asked is next to the chart; suspects are unless something else is.
      const upper = lines.leaking === state.q ? sections.leaking : lines.growth === state.q ? sections.growth : sections.leaks;
      if (all.section.element.nextElementSibling !== upper.element) all.section.element.after(upper.element);
      for (const [name, section] of Object.entries(sections)) {
        const { line, why } = /** @type {{line?: string, why?: string}} */ (whatOf(name, lines, state, ctx));
        section.element.hidden = !line && !why;
        const key = `${line ?? ''}${why ?? ''} ${name === 'path' ? state.extra.path : ''} ${ctx.file.revision} ${state.w} ${state.lets} ${name === 'leaks' || (name === 'asked' && verbOf(state.q) !== 'trend') ? ctx.snapshot : ''}`;
        if (asked[name] === key) continue;
        asked[name] = key;
        if (line) askSection(name, section, line, ctx, trend);
        else leaveSection(section, why);
      }
    },
    destroy() {
      all.destroy();
      trend.destroy();
      for (const section of Object.values(sections)) section.destroy();
    },
  };
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
  return { line: lines[name] };
}

/** @param {string} name @param {Section} section @param {string} line @param {Context} ctx @param {Trend} trend */
function askSection(name, section, line, ctx, trend) {
  fill(section.actions);
  if (name === 'leaks') void askSuspects(section, line, ctx);
  else if (name === 'path') {
    const close = h('a', { class: 'button', href: ctx.href({ path: null }), 'aria-label': 'close this trend' }, '×');
    void section.ask(line, { from: 0, n: 200 }, { draw: (answer) => pathNodeOf(answer, ctx, trend), why: (answer) => whyNoPath(answer, ctx) }).then(() => fill(section.actions, close));
    section.element.scrollIntoView({ block: 'nearest' });
  } else if (name === 'asked') {
    const isTrend = verbOf(line) === 'trend';
    void section.ask(line, isTrend ? { snapshot: null } : {}, { draw: (answer) => (isTrend ? trend.draw(answer, line) : renderAnswer(answer, ctx, { line })) });
  }
  else {
    if (name === 'growth') fill(section.actions, leakingLink(ctx));
    void section.ask(line, { from: 0, n: 200 }, { draw: (answer) => growthNode(answer, line, ctx), why: nothingGrows });
    if (name === 'leaking') section.element.scrollIntoView({ block: 'nearest' });
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

/** Paths that grow: each step leads to its objects, and each row to its trend. Or groups that grow. @param {Answer} answer @param {string} line @param {Context} ctx */
function growthNode(answer, line, ctx) {
  const column = { key: 'do', heading: 'further', unit: 'text', audience: 'people', is_secondary: false };
  const arePaths = answer.tables.some((table) => table.columns.some(({ key }) => key === 'shown_path'));
  const tables = arePaths ? answer.tables.map((table) => ({
    ...table, columns: [...table.columns, column], rows: table.rows.map((row) => [...row, /** @type {Value} */ ({ kind: 'text', value: ' ' })]),
  })) : answer.tables;
  const snapshots = numbersOf(answer.facts.find((fact) => fact.column.key === 'snapshots')?.value ?? null) ?? [];
  return renderAnswer({ ...answer, tables, facts: [] }, ctx, {
    line,
    table: {
      caption: arePaths ? 'paths of types from the roots' : 'groups of objects',
      shows: (column) => forPeople(column) && column.role !== 'place' && column.role !== 'interval',
      cell: (row, column, at, table) => growthCell(row, column, at, table, ctx, lastSeen(row, table, snapshots)),
    },
  });
}

/** @typedef {import('../answer.js').Where} Where */

/** A path that has gone is looked at in the last snapshot that had it. @param {Value[]} row @param {Table} table @param {(number | null)[]} snapshots @returns {Where} */
function lastSeen(row, table, snapshots) {
  const values = numbersOf(cellOf(table, row, 'retained_bytes')) ?? [];
  let last = values.length - 1;
  while (last >= 0 && !values[last]) last -= 1;
  const snapshot = snapshots[last];
  return last < 0 || last === values.length - 1 || snapshot === null || snapshot === undefined ? {} : { s: snapshot };
}

/** @param {Value[]} row @param {Column} column @param {number} at @param {Table} table @param {Context} ctx @param {Where} where */
function growthCell(row, column, at, table, ctx, where) {
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
  return column.key === 'do' ? pathActions(row, table, ctx, where) : null;
}

/** What can be asked of a path itself; of objects on any path these are the questions about their type.
 *  @param {Value[]} row @param {Table} table @param {Context} ctx @param {Where} where */
function pathActions(row, table, ctx, where) {
  const steps = stepsOf(table, row);
  const last = steps.at(-1);
  const objects = last ? objectsOfStep(last) : null;
  if (objects === null) return h('span');
  const range = words(ctx.state.q).find((word) => word.includes('..')) ?? (ctx.state.a === null ? '' : `${ctx.state.a}..${ctx.state.b}`);
  const growth = verbOf(ctx.state.q) === 'growth' ? ctx.state.q : `growth ${range}`.trim();
  const are = `paths ${objects}`;
  const holders = isAnyPath(steps) ? h('a', { href: ctx.href({ q: are, ...where }), title: `what holds them: ${are}` }, 'holders')
    : h('button', { type: 'button', class: 'copy', title: 'what holds the objects of its type, or the largest on this path if most are on others', onclick: () => void goToHolders(steps, lastCount(row, table), ctx, where) }, 'holders');
  return h('span', { class: 'row-actions' },
    h('a', { href: ctx.href({ q: growth, path: textOf(steps) }), title: 'what this path retains in each snapshot' }, 'trend'), ' ', holders, ' ',
    h('button', { type: 'button', class: 'copy', title: 'an assertion that this path does not grow', onclick: () => void copyAssert(steps, lastCount(row, table), ctx, where) }, 'copy assert'));
}

/** How many objects a path has in the last snapshot that had it. @param {Value[]} row @param {Table} table */
function lastCount(row, table) {
  const counts = numbersOf(cellOf(table, row, 'objects')) ?? [];
  return counts.findLast((count) => Boolean(count)) ?? numberOf(cellOf(table, row, 'last_objects') ?? { kind: 'none' });
}

/** Goes to what holds the objects of a path: those of their type if most are on it, since these come first then, else the largest. @param {Step[]} steps @param {number} count of objects of the path @param {Context} ctx @param {Where} where */
async function goToHolders(steps, count, ctx, { s }) {
  const snapshot = s ?? ctx.snapshot ?? 0;
  const are = objectsOfStep(/** @type {Step} */ (steps.at(-1)));
  try {
    const all = Number(factOf(await ctx.ask(`count ${are}`, { snapshot }), 'objects'));
    if (count > all / 2) return ctx.go({ q: `paths ${are}`, ...(s === undefined ? {} : { s }) });
    const [table] = (await ctx.ask(`flame ${steps.map(({ text }) => quoted(text)).join(' ')} --cells 1`, { snapshot })).tables;
    ctx.go({ q: `path ${snapshot}:@${cellOf(table, table.rows[0], 'example')?.value} 3`, ...(s === undefined ? {} : { s }) });
  } catch (error) {
    if (!isAbort(error)) tell(`not answered: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * Copies the assertion about the last step of a path whose objects are all on it: as many as the path has, or a single
 * one, which holds the rest of the path. There may be none: then an assertion would be about other objects, too.
 * @param {Step[]} steps @param {number} count of objects of the path @param {Context} ctx @param {Where} where
 */
async function copyAssert(steps, count, ctx, { s }) {
  const snapshot = s ?? ctx.snapshot ?? 0;
  const isAny = isAnyPath(steps);
  try {
    for (const step of steps.toReversed()) {
      const are = objectsOfStep(step);
      if (are === null) continue;
      const all = isAny ? 1 : Number(factOf(await ctx.ask(`count ${are}`, { snapshot }), 'objects'));
      const line = assertLine(ctx.file.name, `growth(${are}) <= 0`);
      if (all === 1 || (step === steps.at(-1) && all === count)) return void await copy(line, line);
    }
    tell('nothing is copied: objects of each type on this path are on other paths, too');
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
    return at < 0 ? null : h('div', null, h('dt', null, name), h('dd', null, cellNode(row[at], table.columns[at], ctx)));
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
    fill(section.actions, copyButton(`copy assert for all ${suspects.length}`, assertLine(ctx.file.name, `no leaks except ${suspects.map(excused).join(', ')}`)));
  }
}
