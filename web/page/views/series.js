// All snapshots: the chart, what grows, and leak suspects. Each section is a question of its own and loads alone.

import { fill, h } from '../dom.js';
import { cellNode, forPeople, pathNode, text, visible } from '../cell.js';
import { cellOf, numbersOf, renderAnswer } from '../answer.js';
import { Section } from '../section.js';
import { Snapshots, Trend } from '../snapshots_chart.js';
import { excused, suspectsNode, suspectsOf } from '../suspects.js';
import { copyButton } from '../frame.js';
import { assertLine, literal, nameIs, verbOf, words } from '../state.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../ask.js').Answer} Answer */
/** @typedef {import('../ask.js').Table} Table */
/** @typedef {import('../ask.js').Fact} Fact */
/** @typedef {import('../ask.js').Value} Value */
/** @typedef {import('../ask.js').Column} Column */

/** Judging growth takes this many snapshots. */
const LEAST_JUDGED = 5;

/** @param {HTMLElement} root @param {Context} ctx @returns {import('../context.js').View} */
export function mount(root, ctx) {
  const all = new Snapshots(ctx, root);
  const trend = new Trend(ctx);
  const sections = {
    asked: new Section(ctx, { title: 'Asked', showsLine: true, name: 'asked' }),
    growth: new Section(ctx, { title: 'What grows', showsLine: true, name: 'growth' }),
    leaking: new Section(ctx, { title: 'What grows and does not die', showsLine: true, name: 'leaking' }),
    leaks: new Section(ctx, { title: 'Suspects', showsLine: true, name: 'leaks' }),
  };
  /** @type {Record<string, string>} */
  let asked = {};
  fill(root, all.section.element, ...Object.values(sections).map((section) => section.element));
  return {
    update(state) {
      const lines = linesOf(state, ctx);
      all.update(state);
      trend.update();
      const first = verbOf(state.q) === 'leaks' ? (lines.leaks === state.q ? sections.leaks : sections.leaking) : null;
      if (first) all.section.element.after(first.element);
      for (const [name, section] of Object.entries(sections)) {
        const { line, why } = /** @type {{line?: string, why?: string}} */ (whatOf(name, lines, state, ctx));
        section.element.hidden = !line && !why;
        const key = `${line ?? ''}${why ?? ''} ${ctx.file.revision} ${state.w} ${state.lets} ${name === 'leaks' || (name === 'asked' && verbOf(state.q) !== 'trend') ? ctx.snapshot : ''}`;
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
  const last = (ctx.file.snapshots ?? 1) - 1;
  const lines = {
    asked: '', growth: range ? `growth ${range}` : 'growth', leaking: `leaks ${range ?? `0..${last}`}`, leaks: 'leaks',
  };
  const verb = verbOf(state.q);
  const isOne = verb === 'summary' && !words(state.q).includes('all') && (ctx.file.snapshots ?? 1) > 1;
  if (verb === 'trend' || verb === 'snapshots' || isOne) lines.asked = state.q;
  if (verb === 'growth') lines.growth = state.q;
  if (verb === 'leaks') Object.assign(lines, words(state.q).some((word) => word.includes('..')) ? { leaking: state.q } : { leaks: state.q });
  return lines;
}

/** What a section asks, or why it does not. @param {string} name @param {Record<string, string>} lines @param {State} state @param {Context} ctx */
function whatOf(name, lines, state, ctx) {
  const count = ctx.file.snapshots ?? 1;
  const isAsked = lines[name] === state.q;
  const brushed = state.a === null || state.b === null ? count : state.b - state.a + 1;
  if (count === 0 && !isAsked) return name === 'leaks' ? { why: 'This recording holds no whole snapshot.' } : {};
  if (name === 'growth' && !isAsked && count < 2) return { why: 'There is one snapshot; what grows shows in several.' };
  if (name === 'leaking' && !isAsked) {
    if (count < 2) return {};
    if (brushed < LEAST_JUDGED) return { why: `Whether something grows takes ${LEAST_JUDGED} snapshots; here are ${brushed}.` };
    if (state.w.length > 0) return { why: 'Births and deaths are those of all objects: not asked while something is excluded by `without`.' };
  }
  return { line: lines[name] };
}

/** @param {string} name @param {Section} section @param {string} line @param {Context} ctx @param {Trend} trend */
function askSection(name, section, line, ctx, trend) {
  fill(section.actions);
  if (name === 'leaks') void askSuspects(section, line, ctx);
  else if (name === 'asked') {
    const isTrend = verbOf(line) === 'trend';
    void section.ask(line, isTrend ? { snapshot: null } : {}, { draw: (answer) => (isTrend ? trend.draw(answer, line) : renderAnswer(answer, ctx, { line })) });
  }
  else void section.ask(line, { from: 0, n: 200 }, { draw: (answer) => growthNode(answer, line, ctx), why: nothingGrows });
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
      shows: (column) => forPeople(column) && !['#', '95 % interval', ''].includes(column.heading),
      cell: (row, column, at, table) => growthCell(row, column, at, table, ctx, lastSeen(row, table, snapshots)),
    },
  });
}

/** The snapshot in which a path is looked at, if it is not the selected one. @typedef {{s?: number}} Where */
/** A step of a path: its text and what it names. @typedef {{text: string, roots: string | null, type: string | null, kind: string | null, name: string | null}} Step */

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
  if (column.key === 'shown_path') return pathNode(stepsOf(row, table).map((step) => stepLink(step, ctx, where)));
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
  if (column.key !== 'do') return null;
  const last = stepsOf(row, table).at(-1);
  const are = last ? objectsOf(last) : null;
  if (are === null) return h('span');
  return h('span', { class: 'row-actions' },
    h('a', { href: ctx.href({ q: `trend ${are}` }), title: `trend ${are}` }, 'trend'), ' ',
    h('a', { href: ctx.href({ q: `paths ${are}`, ...where }), title: `what holds them: paths ${are}` }, 'holders'), ' ',
    copyButton('copy assert', assertLine(ctx.file.name, `growth(${are}) <= 0`)));
}

/** @param {Value[]} row @param {Table} table @returns {Step[]} */
function stepsOf(row, table) {
  const shown = cellOf(table, row, 'shown_path');
  const named = cellOf(table, row, 'steps')?.value ?? [];
  return (shown?.kind === 'path' ? shown.value : []).map((/** @type {string} */ text, /** @type {number} */ at) => {
    const of = (/** @type {string} */ key) => named[at]?.value.find((/** @type {Fact} */ { column }) => column.key === key)?.value.value ?? null;
    return { text, roots: of('roots'), type: of('type'), kind: of('kind'), name: of('name') };
  });
}

/** The expression of the objects of a step. @param {Step} step */
function objectsOf({ type, kind, name }) {
  if (type !== null) return nameIs('type', type);
  return kind === null || name === null ? null : `kind = ${literal(kind)} and ${nameIs('name', name)}`;
}

/** A step of a path of types: its objects, the largest first; of a group of roots: what these dominate. @param {Step} step @param {Context} ctx @param {Where} where */
function stepLink(step, ctx, where) {
  const { text, roots } = step;
  const objects = objectsOf(step);
  if (roots === null && objects === null) return h('span', null, text);
  const line = roots !== null ? `dominators roots ${literal(roots)}` : `find 100 ${objects} by retained`;
  return h('a', { href: ctx.href({ q: line, ...where }), title: line }, h('bdi', null, visible(text.length > 200 ? `${text.slice(0, 200)}…` : text)));
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
