// A process tree over time: lanes, memory, what the classes did in the brush, the critical path, and other numbers of slots.

import { explained, fill, h } from '../dom.js';
import { cellNode, forPeople, numberOf } from '../cell.js';
import { text, visible } from '../value_text.js';
import { cellOf, factOf, renderAnswer } from '../answer.js';
import { LanesChart, colourOf } from '../lanes_chart.js';
import { lineWith, rangeOf, rangeWord, timeWord } from '../lane_times.js';
import { Section } from '../section.js';
import { nameIs, processLine, words } from '../state.js';
import { Slots } from '../slots.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../ask.js').Answer} Answer */
/** @typedef {import('../ask.js').Table} Table */
/** @typedef {import('../ask.js').Value} Value */

/** Processes that are listed. */
const MOST = 10;
const CRITICAL = 'critical --min 1%';

/** @param {HTMLElement} root @param {Context} ctx @returns {import('../context.js').View} */
export function mount(root, ctx) {
  return new LanesView(root, ctx);
}

class LanesView {
  /** @param {HTMLElement} root @param {Context} ctx */
  constructor(root, ctx) {
    this.root = root;
    this.ctx = ctx;
    this.lanes = new Section(ctx, { title: 'What ran', name: 'lanes', mirror: root });
    this.sections = {
      classes: new Section(ctx, { title: 'Classes', showsLine: true, name: 'classes' }),
      processes: new Section(ctx, { title: 'Processes', showsLine: true, name: 'processes' }),
      critical: new Section(ctx, { title: 'Critical path', showsLine: true, name: 'critical' }),
    };
    this.slots = new Slots(ctx);
    /** @type {Record<string, string>} */
    this.asked = {};
    /** @type {import('../lanes_chart.js').Charted | null} */
    this.charted = null;
    this.chart = new LanesChart({
      href: ctx.href,
      open: (block) => (block.process ? ctx.go({ q: processLine(block.process) }) : ctx.go({ q: lineWith(words(ctx.state.q), [block.from, block.to]) })),
      brush: (brush) => ctx.go({ t: brush ? rangeWord(brush) : null }, { replace: true }),
      zoom: () => ctx.go({ q: lineWith(words(ctx.state.q), rangeOf(ctx.state.extra.t)), t: null }),
    });
    this.tables = h('div', { class: 'lane-tables', hidden: true }, this.sections.classes.element, this.slots.section.element);
    fill(root, this.lanes.element, this.tables, this.sections.processes.element, this.sections.critical.element);
    this.sections.processes.element.hidden = this.sections.critical.element.hidden = true;
  }

  /** @param {State} state */
  update(state) {
    const brush = rangeOf(state.extra.t);
    this.showActions(state, brush);
    if (this.isNew('lanes', state.q)) void this.ask(state.q);
    if (!this.charted) return;
    this.chart.show(this.charted, brush);
    this.askTables(state, brush);
    this.slots.update(state);
  }

  /** Whether a section asks something else than before. @param {string} name @param {string} line */
  isNew(name, line) {
    const key = `${line} ${this.ctx.file.revision}`;
    const isOther = this.asked[name] !== key;
    this.asked[name] = key;
    return isOther;
  }

  /** The first answer comes before the others are asked: the processes are read once. @param {string} line */
  async ask(line) {
    const cells = Math.max(200, Math.round(this.root.clientWidth || 1000));
    const isFirst = this.charted === null;
    const answer = await this.lanes.ask(line.includes('--cells') ? line : `${line} --cells ${cells}`, {}, {
      why: (answer) => (answer.tables.find((table) => table.key === 'blocks')?.rows.length ? null : 'Nothing ran in this time.'),
      draw: (answer) => {
        const charted = chartedOf(answer);
        this.charted = charted;
        queueMicrotask(() => this.chart.show(charted, rangeOf(this.ctx.state.extra.t)));
        return h('div', null, this.chart.element, renderAnswer({ ...answer, facts: answer.facts.filter(({ column }) => column.key !== 'schema'), tables: [], notes: answer.cut ? [answer.cut] : [] }, this.ctx, { line, hasCsv: true }));
      },
    });
    if (answer && isFirst && this.charted) this.update(this.ctx.state);
  }

  /** @param {State} state @param {import('../lane_times.js').Range | null} brush */
  showActions(state, brush) {
    const all = words(state.q);
    const isPart = all.some((word) => word.includes('..'));
    const link = (/** @type {string} */ label, /** @type {import('../state.js').Change} */ change, /** @type {string} */ title) => h('a', { class: 'button', href: this.ctx.href(change), title }, label);
    fill(this.lanes.actions, brush ? link('zoom to the brush', { q: lineWith(all, brush), t: null }, 'z') : null,
      brush ? link('clear the brush', { t: null }, 'Del') : null,
      isPart ? link('the whole time', { q: lineWith(all, null), t: null }, 'lanes') : null);
  }

  /** The tables follow the brush, or else the time that is drawn. @param {State} state @param {import('../lane_times.js').Range | null} brush */
  askTables(state, brush) {
    const { classes, processes, critical } = this.sections;
    this.tables.hidden = processes.element.hidden = false;
    const all = words(state.q).filter((word, at, line) => word !== '--cells' && line[at - 1] !== '--cells');
    const drawn = all.find((word) => word.includes('..'));
    const range = brush ?? rangeOf(drawn);
    const ofClasses = `${brush ? lineWith(all, brush) : all.join(' ')} --cells 1`;
    if (this.isNew('classes', ofClasses)) {
      void classes.ask(ofClasses, {}, { isQuiet: true, draw: (answer) => this.classes(answer, ofClasses) });
    }
    const ofProcesses = range ? `processes ${MOST} began < ${timeWord(range[1])} and not ended <= ${timeWord(range[0])}` : `processes ${MOST}`;
    if (this.isNew('processes', ofProcesses)) {
      void processes.ask(ofProcesses, {}, {
        isQuiet: true,
        draw: (answer) => h('div', null, h('p', { class: 'muted' }, range ? `Those that ran in ${rangeWord(range)} and used most processor time; each figure is of the whole process.` : 'Those that used most processor time.'),
          renderAnswer(answer, this.ctx, { line: ofProcesses })),
      });
    }
    const hasCritical = this.ctx.verbs.some((verb) => verb.name === 'critical');
    critical.element.hidden = !hasCritical;
    if (hasCritical && this.isNew('critical', CRITICAL)) {
      void critical.ask(CRITICAL, {}, { isQuiet: true, draw: (answer) => renderAnswer(answer, this.ctx, { line: CRITICAL }) });
    }
  }

  /** @param {Answer} answer @param {string} line */
  classes(answer, line) {
    const tables = answer.tables.filter((table) => table.key === 'classes');
    const time = `${this.ctx.state.extra.t ? 'In the brush' : 'In the time that is drawn'}, ${duration(answer)}`;
    return h('div', null, h('p', { class: 'muted' }, explained(time, 'running is the time in lanes; cpu is an estimate where it begins with ~')),
      renderAnswer({ ...answer, facts: [], tables }, this.ctx, {
        line,
        table: {
          caption: 'classes', shows: (column) => forPeople(column) && column.key !== 'mark',
          cell: (row, column, at, table) => (column.key === 'class' ? this.className(row, at, table) : null),
        },
      }));
  }

  /** @param {Value[]} row @param {number} at @param {Table} table */
  className(row, at, table) {
    const rank = cellOf(table, row, 'rank');
    const isOne = rank?.kind === 'number';
    const name = cellNode(row[at], { unit: 'text' }, { href: this.ctx.href });
    const line = `processes 50 ${nameIs('class', String(row[at].value))}`;
    return h('span', { class: `${colourOf(isOne ? numberOf(rank) : null)} swatch` }, h('span', { class: 'patch' }),
      isOne ? h('a', { href: this.ctx.href({ q: line }), title: visible(line) }, name) : name);
  }

  destroy() {
    this.chart.destroy();
    this.slots.destroy();
    for (const section of [this.lanes, ...Object.values(this.sections)]) section.destroy();
  }
}

/** How long the time of an answer is. @param {Answer} answer */
function duration(answer) {
  const length = Number(factOf(answer, 'to_ns')) - Number(factOf(answer, 'from_ns'));
  return text({ kind: 'number', value: length }, { unit: 'duration' });
}

/** What an answer draws. @param {Answer} answer @returns {import('../lanes_chart.js').Charted} */
function chartedOf(answer) {
  const table = (/** @type {string} */ key) => /** @type {Table} */ (answer.tables.find((one) => one.key === key) ?? { key, columns: [], rows: [] });
  const rowsOf = (/** @type {Table} */ of) => of.rows.map((row) => (/** @type {string} */ key) => cellOf(of, row, key)?.value ?? null);
  const classes = rowsOf(table('classes')).map((get) => ({ name: String(get('class')), rank: Number(get('rank') ?? Infinity), share: Number(get('running_share') ?? 0) }));
  const path = table('critical_path').rows.length;
  return {
    range: [Number(factOf(answer, 'from_ns')), Number(factOf(answer, 'to_ns'))],
    lanes: Number(factOf(answer, 'lanes')),
    blocks: [...rowsOf(table('critical_path')), ...rowsOf(table('blocks'))].map((get, at) => ({
      lane: at < path ? -1 : Number(get('lane')), from: Number(get('from_ns')), to: Number(get('to_ns')), name: get('class'), rank: get('rank'), own: Number(get('class_ns')), running: Number(get('running_ns')),
      spans: Number(get('spans')), process: get('process'), program: [get('program'), get('unit')].filter(Boolean).join(' ') || null, critical: Number(get('critical_ns') ?? 0),
      waiting: Math.min(1, Number(get('image_waiting_ns') ?? 0) / Math.max(1, Number(get('image_wall_ns') ?? 1))),
    })),
    classes,
    memory: rowsOf(table('memory')).map((get) => ({ time: Number(get('time_ns')), bytes: Number(get('bytes')), classes: (get('class_bytes') ?? []).map((/** @type {Value} */ one) => numberOf(one)) })),
  };
}
