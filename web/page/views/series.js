// All snapshots: the chart, what grows, and leak suspects. Each section is a question of its own and loads alone.

import { fill, h } from '../dom.js';
import { cellNode, forPeople, grouped, numberOf, objectLink, pathNode, size, text, visible } from '../cell.js';
import { cellOf, factOf, numbersOf, renderAnswer, renderTable, snapshotOf } from '../answer.js';
import { SeriesChart } from '../chart.js';
import { Section } from '../section.js';
import { copy } from '../frame.js';
import { assertLine, typeIs, verbOf, words } from '../state.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../ask.js').Answer} Answer */
/** @typedef {import('../ask.js').Table} Table */
/** @typedef {import('../ask.js').Value} Value */
/** @typedef {import('../ask.js').Column} Column */

/** Judging growth takes this many snapshots. */
const LEAST_JUDGED = 5;
/** What the chart shows unless the address says otherwise. */
const PINNED = ['heap_bytes', 'unmanaged_bytes', 'objects'];

/** @param {HTMLElement} root @param {Context} ctx @returns {import('../context.js').View} */
export function mount(root, ctx) {
  const all = new Snapshots(ctx, root);
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
      const first = verbOf(state.q) === 'leaks' ? (lines.leaks === state.q ? sections.leaks : sections.leaking) : null;
      if (first) all.section.element.after(first.element);
      for (const [name, section] of Object.entries(sections)) {
        const { line, why } = /** @type {{line?: string, why?: string}} */ (whatOf(name, lines, state, ctx));
        section.element.hidden = !line && !why;
        const key = `${line ?? ''}${why ?? ''} ${ctx.file.revision} ${state.w} ${state.lets} ${name === 'leaks' || name === 'asked' ? ctx.snapshot : ''}`;
        if (asked[name] === key) continue;
        asked[name] = key;
        if (line) askSection(name, section, line, ctx);
        else leaveSection(section, why);
      }
    },
    destroy() {
      all.destroy();
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

/** @param {string} name @param {Section} section @param {string} line @param {Context} ctx */
function askSection(name, section, line, ctx) {
  fill(section.actions);
  if (name === 'leaks') void askSuspects(section, line, ctx);
  else if (name === 'asked') void section.ask(line, {}, { draw: (answer) => renderAnswer(answer, ctx, { line }) });
  else void section.ask(line, { from: 0, n: 200 }, { draw: (answer) => growthNode(answer, line, ctx), why: nothingGrows });
}

/** @param {Answer} answer */
function nothingGrows(answer) {
  return answer.tables.some((table) => table.rows.length > 0) ? null : visible(answer.notes.join('; ') || 'Nothing grows.');
}

/** Paths that grow: each step leads to its objects, and each row to its trend. @param {Answer} answer @param {string} line @param {Context} ctx */
function growthNode(answer, line, ctx) {
  const columns = [{ key: 'do', heading: 'further', unit: 'text', audience: 'people', is_secondary: false }];
  const tables = answer.tables.map((table) => ({
    ...table, columns: [...table.columns, ...columns], rows: table.rows.map((row) => [...row, /** @type {Value} */ ({ kind: 'text', value: ' ' })]),
  }));
  return renderAnswer({ ...answer, tables, facts: [] }, ctx, {
    line,
    table: {
      caption: 'paths of types from the roots',
      shows: (column) => forPeople(column) && !['#', '95 % interval', ''].includes(column.heading),
      cell: (row, column, at, table) => growthCell(row, column, at, table, ctx),
    },
  });
}

/** @param {Value[]} row @param {Column} column @param {number} at @param {Table} table @param {Context} ctx */
function growthCell(row, column, at, table, ctx) {
  const last = stepsOf(row, table).at(-1);
  const type = last && !last.startsWith('[') ? last : null;
  if (column.heading === 'path') return pathNode(stepsOf(row, table).map((step) => stepLink(step, ctx)));
  if (column.key === 'slope_bytes') {
    const node = /** @type {HTMLElement} */ (cellNode(row[at], column, ctx));
    const interval = cellOf(table, row, 'slope_interval');
    if (interval?.kind === 'text') node.title = `95 % interval: ${interval.value}`;
    return node;
  }
  if (column.key === 'shown_verdict') {
    const verdict = cellOf(table, row, 'verdict');
    return h('span', { class: `verdict ${text(row[at], column).split(/\W/)[0]}`, title: verdict ? text(verdict, { unit: 'text' }) : null }, text(row[at], column));
  }
  if (column.key !== 'do') return null;
  if (!type) return h('span');
  return h('span', { class: 'row-actions' },
    h('a', { href: ctx.href({ q: `trend ${typeIs(type)}` }), title: `trend ${typeIs(type)}` }, 'trend'), ' ',
    h('a', { href: ctx.href({ q: `paths ${typeIs(type)}` }), title: `what holds them: paths ${typeIs(type)}` }, 'holders'), ' ',
    copyButton('copy assert', assertLine(ctx.file.name, `growth(${typeIs(type)}) <= 0`)));
}

/** @param {Value[]} row @param {Table} table @returns {string[]} */
function stepsOf(row, table) {
  const shown = cellOf(table, row, 'shown_path');
  return shown?.kind === 'path' ? shown.value : [];
}

/** A step of a path of types: its objects, the largest first; of a group of roots: what these dominate. @param {string} step @param {Context} ctx */
function stepLink(step, ctx) {
  const group = step.match(/^\[(.*)\]$/s)?.[1];
  const line = group !== undefined ? `dominators roots "${group}"` : `find 100 ${typeIs(step)} by retained`;
  if (step === 'any path') return h('span', null, step);
  return h('a', { href: ctx.href({ q: line }), title: line }, h('bdi', null, visible(step.length > 200 ? `${step.slice(0, 200)}…` : step)));
}

/** @param {string} label @param {string} what */
function copyButton(label, what) {
  return h('button', { type: 'button', class: 'copy', title: what, onclick: () => void copy(what, what) }, label);
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

/** Suspects as records. @param {Answer} answer @returns {Record<string, any>[]} */
function suspectsOf(answer) {
  const table = answer.tables.find((one) => one.key === 'suspects');
  return (table?.rows ?? []).map((row) => Object.fromEntries(table?.columns.map((column, at) => [column.key, row[at].value]) ?? []));
}

/** A suspect that an assertion permits at its present size. @param {Record<string, any>} suspect */
function excused(suspect) {
  const bytes = Number(suspect.together_bytes ?? suspect.retained_bytes);
  const limit = bytes >= 1 << 20 ? `${Math.ceil(bytes / (1 << 20))}M` : `${Math.ceil(bytes / 1024)}K`;
  return `${suspect.fingerprint} up to ${limit}`;
}

/** @param {Answer} answer @param {string} line @param {Context} ctx */
function suspectsNode(answer, line, ctx) {
  const snapshot = snapshotOf(answer, ctx);
  const own = { href: ctx.href, snapshot };
  const nodes = suspectsOf(answer).map((suspect) => suspectNode(suspect, own, ctx));
  const reachable = factOf(answer, 'reachable_bytes');
  return h('div', { class: 'suspects' },
    h('p', { class: 'muted' }, `snapshot ${snapshot ?? ''}${reachable === undefined ? '' : `, ${size(Number(reachable))} reachable`}`),
    nodes, renderAnswer({ ...answer, facts: [], tables: [], notes: [] }, ctx, { line, hasCsv: true }));
}

/** @param {Record<string, any>} suspect @param {import('../cell.js').CellContext} own @param {Context} ctx */
function suspectNode(suspect, own, ctx) {
  const name = (/** @type {number} */ id) => (own.snapshot === null ? `@${id}` : `${own.snapshot}:@${id}`);
  const link = (/** @type {number} */ id, /** @type {string} */ title) => objectLink(id, own, `${visible(String(title).slice(0, 200))} @${id}`);
  const point = suspect.objects === 1 ? suspect.accumulation_object : null;
  const target = point ?? suspect.object;
  const share = `${(suspect.share * 100).toFixed(1)} %`;
  const what = suspect.objects === 1
    ? [link(suspect.object, suspect.title), ` retains ${size(Number(suspect.retained_bytes))}, ${share} of what is reachable`]
    : [`${grouped(suspect.objects)} objects of `, h('bdi', null, visible(suspect.type)), ` retain ${size(Number(suspect.retained_bytes))}, ${share}; the largest is `, link(suspect.object, suspect.title)];
  const pilesUp = point !== null && point !== suspect.object
    ? h('p', null, 'it piles up in ', link(point, suspect.accumulation_title ?? suspect.accumulation_type), `, ${size(Number(suspect.accumulation_bytes))}`) : null;
  const alike = suspect.alike > 1 ? h('p', null, `one of ${grouped(suspect.alike)} with this fingerprint, which retain ${size(Number(suspect.together_bytes))} together`) : null;
  const steps = records(suspect.path).map((step) => link(step.object, step.title ?? step.type));
  const parts = records(suspect.accumulated).slice(0, 5).map((part) => h('li', null,
    `${grouped(part.objects)} of `, h('bdi', null, visible(String(part.type).slice(0, 200))), part.is_chain ? ', one below the other' : '', `: ${size(Number(part.retained_bytes))}`));
  return h('article', { class: 'suspect', 'data-fingerprint': suspect.fingerprint },
    h('div', { class: 'share', 'aria-hidden': 'true' }, h('span', { style: { width: `${Math.min(suspect.share * 100, 100)}%` } })),
    h('p', { class: 'what' }, what), pilesUp, alike, parts.length > 0 ? h('ul', { class: 'parts' }, parts) : null,
    h('p', { class: 'held' }, h('span', { class: 'muted' }, 'held by '), pathNode(steps)),
    h('p', { class: 'row-actions' }, h('span', { class: 'muted' }, 'fingerprint '), h('code', null, suspect.fingerprint), ' ',
      h('a', { class: 'button', href: ctx.href({ q: `dominators ${name(target)}` }), title: `dominators ${name(target)}` }, 'tree & map'), ' ',
      h('a', { class: 'button', href: ctx.href({ q: `path ${name(target)} 3` }), title: `path ${name(target)} 3` }, 'paths'), ' ',
      copyButton('copy assert', assertLine(ctx.file.name, `no leaks except ${excused(suspect)}`))));
}

/** Records of a list of an answer. @param {Value[] | undefined} list @returns {Record<string, any>[]} */
function records(list) {
  return (list ?? []).filter((one) => one.kind === 'record')
    .map((one) => Object.fromEntries(one.value.map((/** @type {[string, Value]} */ [key, value]) => [key, value.value])));
}

/** The chart of all snapshots, and the same numbers as a table. */
class Snapshots {
  /** @param {Context} ctx @param {HTMLElement} root */
  constructor(ctx, root) {
    this.ctx = ctx;
    this.section = new Section(ctx, { title: 'Snapshots', showsLine: true, name: 'snapshots', mirror: root });
    this.table = h('div', { class: 'chart-table', hidden: true });
    this.asked = '';
    /** @type {{snapshots: number[], measures: import('../chart.js').Measure[]} | null} */
    this.data = null;
    this.chart = new SeriesChart({
      select: (snapshot) => ctx.go({ s: snapshot }),
      brush: (brush) => ctx.go(brush ? { a: brush[0], b: brush[1] } : { a: null, b: null }),
      pin: (pinned) => ctx.go({ pin: [...pinned].join('.') === PINNED.join('.') ? null : [...pinned].join('.') }, { replace: true }),
      table: () => { this.table.hidden = !this.table.hidden; },
    });
  }

  /** @param {State} state */
  update(state) {
    const line = (this.ctx.file.snapshots ?? 1) > 1 ? 'summary all' : 'summary';
    const asked = `${line} ${this.ctx.file.revision} ${state.w} ${line === 'summary' ? state.s : ''}`;
    if (asked === this.asked) return this.show(state);
    this.asked = asked;
    // The selected snapshot is no matter to all of them: the header asks the same.
    void this.section.ask(line, line === 'summary' ? {} : { snapshot: null }, {
      isQuiet: true,
      draw: (answer) => {
        const table = answer.tables.find((one) => one.key === 'snapshots');
        if (!table || table.rows.length < 2) return renderAnswer(answer, this.ctx, { line });
        this.data = { snapshots: table.rows.map((row) => numberOf(row[0])), measures: measuresOf(table) };
        fill(this.table, renderTable(table, this.ctx, { caption: 'all snapshots', cell: (row, column, at) => this.cell(row, column, at) }));
        queueMicrotask(() => this.show(this.ctx.state));
        return h('div', null, this.chart.element, this.table, renderAnswer({ ...answer, facts: [], tables: [] }, this.ctx, { line, hasCsv: true }));
      },
    });
  }

  /** @param {State} state */
  show(state) {
    if (!this.data) return;
    const known = this.data.measures.map((measure) => measure.key);
    const pinned = (state.extra.pin?.split('.') ?? PINNED).filter((key) => known.includes(key));
    const brush = /** @type {[number, number] | null} */ (state.a === null || state.b === null ? null : [state.a, state.b]);
    this.chart.show({ ...this.data, pinned: new Set(pinned.length > 0 ? pinned : known.slice(0, 1)), selected: this.ctx.snapshot, brush });
  }

  /** A number of a snapshot leads to it. @param {Value[]} row @param {Column} column @param {number} at */
  cell(row, column, at) {
    if (column.key !== 'snapshot') return null;
    return h('a', { href: this.ctx.href({ s: Number(row[at].value) }) }, text(row[at], column));
  }

  destroy() {
    this.chart.destroy();
    this.section.destroy();
  }
}

/** Every number of a snapshot that can be drawn, those of kinds last. @param {Table} table @returns {import('../chart.js').Measure[]} */
function measuresOf(table) {
  const drawn = table.columns.map((column, at) => ({ column, at }))
    .filter(({ column }) => ['bytes', 'count'].includes(column.unit) && column.audience === 'everyone');
  const own = drawn.map(({ column, at }) => ({
    key: column.key, name: column.heading, unit: column.unit, values: table.rows.map((row) => known(numberOf(row[at]))),
  }));
  const place = (/** @type {{key: string}} */ { key }) => (PINNED.includes(key) ? PINNED.indexOf(key) : PINNED.length);
  own.sort((one, other) => place(one) - place(other));
  return [...own, ...kindsOf(table)].filter((measure) => measure.values.some((value) => value !== null));
}

/** The sizes of each kind. @param {Table} table @returns {import('../chart.js').Measure[]} */
function kindsOf(table) {
  const at = table.columns.findIndex((column) => column.key === 'kinds');
  if (at < 0) return [];
  /** @type {Map<string, (number | null)[]>} */
  const series = new Map();
  table.rows.forEach((row, place) => {
    for (const [kind, counts] of row[at].value ?? []) {
      const bytes = counts.value?.find((/** @type {[string, Value]} */ [key]) => key === 'heap_bytes')?.[1];
      if (!series.has(kind)) series.set(kind, Array(table.rows.length).fill(null));
      /** @type {(number | null)[]} */ (series.get(kind))[place] = bytes ? known(numberOf(bytes)) : null;
    }
  });
  const told = [...series].filter(([, values]) => values.some((value) => value));
  return told.length < 2 ? [] : told.slice(0, 12).map(([kind, values]) => ({ key: `kind-${kind.replaceAll('.', '_')}`, name: visible(kind), unit: 'bytes', values }));
}

/** @param {number} number */
function known(number) {
  return Number.isNaN(number) ? null : number;
}
