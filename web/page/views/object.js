// One object: what it is, what it holds as a tree, the path that keeps it alive, what holds it, what would be freed with it.
// Another object can be beside it. Each section asks for itself and arrives alone.

import { fill, h } from '../dom.js';
import { forPeople, moreOf, nameNode, objectLink } from '../cell.js';
import { foldsOf, grouped, numberText, visible } from '../value_text.js';
import { cellOf, factOf, renderAnswer, renderTable, snapshotOf } from '../answer.js';
import { Section } from '../section.js';
import { FieldTree, WINDOW, fieldTreeKey, typeLink } from '../field_tree.js';
import { literal, nameIs } from '../state.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../ask.js').Answer} Answer */
/** @typedef {import('../ask.js').Table} Table */
/** @typedef {import('../ask.js').Value} Value */
/** Steps of a path that are one line: a single one, or rounds of the same types. @typedef {{rows: Value[][], period: number, rounds: number}} Hop */

/** Steps of a path that are loaded from each of its ends, and dominators: the roots are among these, too. */
const [LONG, MOST_DOMINATORS] = [990, 1000];
/** Lines of a path that are shown from each end of a longer one. */
const ENDS = 40;
/** From this width on, in rem, another object has room beside this one. */
const WIDE = 70;

/** @param {HTMLElement} root @param {Context} ctx */
export function mount(root, ctx) {
  return new ObjectView(root, ctx);
}

/** The object that a line is about. @param {string} line */
function wordOf(line) {
  return line.trim().replace(/^\S+\s*/, '');
}

class ObjectView {
  /** @param {HTMLElement} root @param {Context} ctx */
  constructor(root, ctx) {
    this.root = root;
    this.ctx = ctx;
    this.main = new ObjectPane(ctx, 'main', root);
    /** @type {ObjectPane | null} */
    this.beside = null;
    this.panes = h('div', { class: 'object-panes' }, this.main.element);
    root.append(this.panes);
    root.addEventListener('click', (event) => this.#split(event), true);
  }

  destroy() {
    this.main.destroy();
    this.beside?.destroy();
  }

  /** @param {State} state */
  update(state) {
    this.main.update(wordOf(state.q), state);
    const other = state.extra.beside;
    if (other && !this.beside) {
      this.beside = new ObjectPane(this.ctx, 'beside', null);
      this.panes.append(this.beside.element);
    } else if (!other && this.beside) {
      this.beside.destroy();
      this.beside = null;
    }
    if (other) this.beside?.update(other, state);
    this.panes.classList.toggle('is-split', Boolean(other));
  }

  /** Shift and a click on an object opens it beside, where there is room. @param {MouseEvent} event */
  #split(event) {
    const link = /** @type {HTMLAnchorElement | null} */ (/** @type {Element} */ (event.target).closest('a[href]'));
    const rem = parseFloat(getComputedStyle(document.documentElement).fontSize) || 14;
    if (!event.shiftKey || !link || this.root.clientWidth < WIDE * rem) return;
    const line = new URLSearchParams(link.hash.slice(1)).get('q') ?? '';
    if (!/^info\s+\S/.test(line)) return;
    event.preventDefault();
    event.stopPropagation();
    this.ctx.go({ beside: wordOf(line) });
  }
}

/** One object in sections. */
class ObjectPane {
  /** @param {Context} ctx @param {'main' | 'beside'} role @param {HTMLElement | null} mirror */
  constructor(ctx, role, mirror) {
    this.ctx = ctx;
    this.role = role;
    this.shown = '';
    this.word = '';
    /** How references are listed. */
    this.oneByOne = false;
    /** What the dominators of the object retain: all of them, or those near both ends. @type {Map<number, number>} */
    this.dominators = new Map();
    this.starting = 0;
    this.head = h('header', { class: 'object-head' });
    const section = (/** @type {string} */ title, /** @type {string} */ name) => new Section(ctx, { title, name, showsLine: true });
    this.facts = new Section(ctx, { name: 'facts', title: 'Object', showsLine: true, mirror: mirror ?? undefined });
    this.path = section('Path from a root', 'path');
    this.show = section('Fields and references', 'show');
    this.show.element.addEventListener('keydown', fieldTreeKey);
    this.inrefs = section('What holds it', 'inrefs');
    this.freed = section('What would be freed with it', 'freed');
    this.element = h('div', { class: 'object-pane', 'data-pane': role }, this.head, this.facts.element,
      h('div', { class: 'object-walk' }, h('div', { class: 'object-column' }, this.show.element, this.freed.element),
        h('div', { class: 'object-column' }, this.path.element, this.inrefs.element)));
  }

  /** The sections after the facts. */
  get #others() {
    return [this.path, this.show, this.inrefs, this.freed];
  }

  destroy() {
    clearTimeout(this.starting);
    for (const section of [this.facts, ...this.#others]) section.destroy();
    this.element.remove();
  }

  /** @param {string} word @param {State} state */
  update(word, state) {
    const key = JSON.stringify([word, this.ctx.snapshot, state.w, state.lets, this.ctx.file.revision]);
    if (key === this.shown) return;
    this.shown = key;
    this.word = word;
    this.dominators = new Map();
    this.#showHead(null);
    void this.#start();
  }

  /** The facts first: what is wrong with the name of the object is said once. */
  async #start() {
    clearTimeout(this.starting);
    const key = this.shown;
    let isStarted = false;
    const others = () => {
      if (isStarted || this.shown !== key) return;
      isStarted = true;
      this.#askOthers();
    };
    // What is excluded may be this object: then nothing more is asked of it.
    if (this.ctx.state.w.length === 0) this.starting = window.setTimeout(others, 80);
    const answer = await this.facts.ask(`info ${this.word}`, {}, { draw: (answer) => this.#facts(answer) });
    if (this.shown !== key) return;
    clearTimeout(this.starting);
    const isExcluded = answer?.notes.some((note) => note.startsWith('it is excluded'));
    if (answer && !isExcluded) return others();
    for (const section of this.#others) {
      section.stop();
      if (isExcluded) section.empty('It is excluded (without): nothing refers to it, and nothing would be freed with it.');
      else if (section.body.hasChildNodes()) section.is('ready');
      else section.empty('There is no such object to show.');
    }
  }

  #askOthers() {
    void this.#askPath();
    void this.#askTree();
    void this.#askReferences();
    void this.freed.ask(`retained ${this.word}`, {}, {
      draw: (answer) => this.#freed(answer), why: (answer) => (lastTable(answer).rows.length === 0 ? told(answer, 'Nothing would be freed: no root reaches it.') : null), isQuiet: true,
    });
  }

  // What it is

  /** @param {Answer} answer */
  #facts(answer) {
    const snapshot = snapshotOf(answer, this.ctx);
    const name = `${snapshot}:@${factOf(answer, 'object')}`;
    const type = factOf(answer, 'type') ?? '';
    if (this.role === 'main') this.ctx.visit(name, [type, factOf(answer, 'name')].filter(Boolean).join(' '));
    this.#showHead({ name, object: factOf(answer, 'object'), snapshot: snapshot ?? 0, type, own: factOf(answer, 'name'), kind: factOf(answer, 'kind') });
    const facts = answer.facts.map(({ column, value }) => {
      const id = column.key === 'dominated_by' ? factOf(answer, 'immediate_dominator') ?? null : null;
      return { column, value: id === null ? value : { kind: 'object', value: { id, text: value.value } } };
    });
    // Its fields are in the tree.
    const tables = answer.tables.filter((table) => table.key !== 'fields');
    return renderAnswer({ ...answer, facts, tables }, this.ctx, { line: `info ${name}`, hasCsv: true });
  }

  /** @param {{name: string, object: number, snapshot: number, type: string, own: string | null, kind: string | null} | null} of */
  #showHead(of) {
    const { ctx } = this;
    if (!of) return fill(this.head, h('h2', null, visible(this.word)), this.#close());
    const line = (/** @type {string} */ q, /** @type {string} */ label) => h('a', { class: 'button', href: ctx.href({ q, beside: null }), title: visible(q) }, label);
    const isOut = ctx.state.w.includes(`@${of.object}`);
    const copy = h('button', {
      type: 'button', onclick: async () => {
        await navigator.clipboard.writeText(of.name);
        ctx.announce(`${of.name} is copied`);
      },
    }, `copy ${of.name}`);
    // An object has a number in its snapshot only, so what excludes it selects the snapshot, too.
    const without = isOut
      ? h('a', { class: 'button', href: ctx.href({ w: ctx.state.w.filter((one) => one !== `@${of.object}`) }) }, 'with this again')
      : h('a', { class: 'button', href: ctx.href({ w: [...ctx.state.w, `@${of.object}`], s: of.snapshot }), title: `without @${of.object}` }, 'without this');
    fill(this.head,
      h('h2', null, h('span', { class: 'object' }, of.name), ' ', nameNode(of.type), of.own == null ? null : [' ', h('span', { class: 'muted' }, nameNode(of.own))]),
      h('div', { class: 'object-actions' }, without, line(`path ${of.name} 3`, 'path 3'), line(`path ${of.name} --weak`, 'weak'), this.#avoid(of.name),
        line(`dominators ${of.name}`, 'tree from here'), line(`find ${nameIs('type', of.type)}${of.kind ? ` and kind = ${literal(of.kind)}` : ''} by retained`, 'objects of this type'),
        copy, this.#close()));
  }

  /** @param {string} name */
  #avoid(name) {
    const box = h('input', { 'aria-label': 'objects to avoid, an expression', placeholder: 'type = "Cache"', size: 16 });
    const form = h('form', {
      class: 'avoid',
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        if (box.value.trim()) this.ctx.go({ q: `path ${name} --avoid ${oneWord(box.value.trim())}`, beside: null });
      },
    }, box, h('button', { type: 'submit' }, 'find a path'));
    return h('details', { class: 'menu' }, h('summary', null, 'avoid …'), h('div', { class: 'items' }, form));
  }

  #close() {
    if (this.role === 'main') return null;
    return h('span', { class: 'pane-tools' }, h('a', { class: 'button', href: this.ctx.href({ q: `info ${this.word}`, beside: null }) }, 'alone'),
      h('a', { class: 'button', href: this.ctx.href({ beside: null }), 'aria-label': 'close this object' }, '×'));
  }

  // The path

  async #askPath() {
    const list = h('div', { class: 'hops' });
    const answer = await this.path.ask(`path ${this.word}`, { from: 0, n: LONG }, {
      draw: (answer) => { this.#drawPath(list, answer, []); return list; },
      why: (answer) => (lastTable(answer)?.rows.length ? null : told(answer, 'No root reaches it.')),
      isQuiet: true,
    });
    if (!answer || lastTable(answer).rows.length === 0) return;
    const key = this.shown;
    try {
      const total = answer.rows_total ?? 0;
      const end = total <= LONG ? [] : lastTable(await this.ctx.ask(`path ${this.word}`, { from: Math.max(LONG, total - LONG), n: LONG })).rows;
      const idoms = [await this.ctx.ask(`idom ${this.word}`, { from: 0, n: MOST_DOMINATORS })];
      const above = idoms[0].rows_total ?? 0;
      const from = Math.max(MOST_DOMINATORS, above - MOST_DOMINATORS);
      if (above > MOST_DOMINATORS) idoms.push(await this.ctx.ask(`idom ${this.word}`, { from, n: MOST_DOMINATORS }));
      if (key !== this.shown) return;
      for (const table of idoms.map(lastTable)) {
        const at = (/** @type {Value[]} */ row, /** @type {string} */ key) => Number(cellOf(table, row, key)?.value ?? -1);
        for (const row of table.rows) if (at(row, 'object') >= 0) this.dominators.set(at(row, 'object'), at(row, 'retained_bytes'));
      }
      this.#drawPath(list, answer, end, idoms[0]);
    } catch {
      // The path is there without them.
    }
  }

  /** Both ends of a path, rounds of the same types as one line; its middle on demand, or as a table if it is very long.
   *  @param {HTMLElement} list @param {Answer} answer @param {Value[][]} end the last steps, if they are not in the answer @param {Answer} [idom] */
  #drawPath(list, answer, end, idom) {
    const table = lastTable(answer);
    const href = (/** @type {import('../state.js').Change} */ change) => this.ctx.href({ beside: null, ...change });
    const own = { href, snapshot: snapshotOf(answer, this.ctx) };
    const total = Math.max(answer.rows_total ?? 0, table.rows.length);
    const hidden = total - table.rows.length - end.length;
    const [rows, last] = hidden > 0 ? [table.rows, end] : [[...table.rows, ...end], []];
    const isOwn = (/** @type {Value[] | undefined} */ row) => row === (last.length > 0 ? last : rows).at(-1);
    const line = (/** @type {Hop} */ hop) => this.#hop(table, hop, own, isOwn);
    // The object itself is a line of its own.
    const parts = [rows, last].map((some) => foldsBut(table, some, isOwn));
    const steps = h('ol', { class: 'path-hops' });
    for (const hops of parts) {
      const isLong = hops.length > 2 * ENDS + 1;
      steps.append(...(isLong ? hops.slice(0, ENDS) : hops).map(line));
      if (isLong) {
        const middle = hops.slice(ENDS, -ENDS);
        const more = moreOf(h('li', { class: 'hidden-hops' }), middle, (hop) => [line(hop)], () => `show ${grouped(middle.reduce((sum, hop) => sum + hop.rows.length, 0))} more steps`);
        steps.append(more, ...hops.slice(-ENDS).map(line));
      }
      if (hops === parts[0] && hidden > 0) {
        const [before, after] = [rows.at(-1), last[0]].map((row) => (row ? typeAndLabel(table, row) : ''));
        steps.append(h('li', { class: 'hidden-hops' }, h('a', { href: own.href({ q: `path ${this.word}` }) }, `${grouped(hidden)} more steps`),
          before === after ? ' between steps of the same type' : ''));
      }
    }
    fill(list, h('p', { class: 'muted' }, this.#dominance(table, rows, total, idom)), steps);
  }

  /** What dominates, in words. @param {Table} table @param {Value[][]} rows @param {number} total @param {Answer} [idom] */
  #dominance(table, rows, total, idom) {
    if (!idom) return 'Looking for dominators …';
    const count = rows.filter((row) => this.#retainedBy(table, row) !== null).length;
    if (total === 1) return 'A root refers to it.';
    if (total > rows.length) return '═▶ dominates it: without it, it would be freed, with all that is said to be retained.';
    return count === 0
      ? 'No object on this path dominates it: it is held in several ways, by roots or by objects together.'
      : `${grouped(count)} of the ${grouped(rows.length - 1)} steps before it dominate it (═▶): without any one of them it would be freed, `
        + 'with all that is said to be retained.';
  }

  /** What a step retains if it dominates the object; null if it does not. @param {Table} table @param {Value[]} row */
  #retainedBy(table, row) {
    return this.dominators.get(Number(cellOf(table, row, 'object')?.value ?? -1)) ?? null;
  }

  /** @param {Table} table @param {Hop} hop @param {import('../cell.js').CellContext} own @param {(row: Value[] | undefined) => boolean} isOwn
   *  @returns {HTMLElement} */
  #hop(table, { rows, period, rounds }, own, isOwn) {
    const all = rows.map((row) => this.#retainedBy(table, row));
    const dominates = all.every((retained) => retained !== null);
    const otherwise = isOwn(rows[0]) ? 'this object' : null;
    const note = dominates ? [h('span', { class: 'sr-only' }, 'dominates, '), `${numberText(all[0] ?? 0, 'bytes')} retained`] : otherwise;
    const at = (/** @type {Value[]} */ row, /** @type {string} */ key) => cellOf(table, row, key)?.value ?? null;
    const label = (/** @type {Value[]} */ row) => {
      const text = rounds > 1 ? labelOf(table, row) : String(at(row, 'label') ?? '');
      return text === '' ? null : h('span', { class: 'label' }, nameNode(text));
    };
    const object = (/** @type {Value[]} */ row) => (at(row, 'object') === null ? null : objectLink(at(row, 'object'), own));
    const type = (/** @type {Value[]} */ row) => typeLink(table, row, this.ctx, own);
    const name = at(rows[0], 'name') === null ? null : h('span', { class: 'muted' }, nameNode(String(at(rows[0], 'name'))));
    const round = rows.slice(0, period).flatMap((row, number) => [number > 0 ? ' › ' : null, type(row), label(row) ? ' through ' : null, label(row)]);
    const open = () => {
      const rest = rows.slice();
      item.replaceChildren();
      moreOf(item, rest, (row) => [this.#hop(table, { rows: [row], period: 1, rounds: 1 }, own, isOwn)], () => `show ${grouped(rest.length)} more steps`).querySelector('button')?.click();
    };
    const what = rounds === 1 ? [label(rows[0]), ' ', object(rows[0]), ' ', type(rows[0]), ' ', name]
      : [object(rows[0]), ' … ', object(rows[rows.length - 1]), ` chain of ${grouped(rounds)} `, period > 1 ? '(' : null, ...round, period > 1 ? ') ' : ' ',
        h('button', { type: 'button', class: 'more', onclick: open }, 'show each')];
    const item = h('li', { class: dominates ? 'dominates' : null },
      h('span', { class: 'hop' }, h('span', { class: 'arrow', 'aria-hidden': 'true' }, dominates ? '═▶ ' : '─▶ '), what),
      note === null ? null : [' ', h('span', { class: 'dominator-note' }, note)]);
    return item;
  }

  // References

  /** What it holds, as a tree that opens in place. */
  async #askTree() {
    const { word, ctx, shown } = this;
    fill(this.show.actions, h('a', { class: 'button', href: ctx.href({ q: `show ${word} by type`, beside: null }), title: visible(`show ${word} by type`) }, 'by type'));
    this.show.is('loading');
    // The section of the facts asks the same, and says what is wrong.
    const info = await ctx.ask(`info ${word}`).catch(() => null);
    if (!info || shown !== this.shown) return;
    const tree = new FieldTree(ctx, snapshotOf(info, ctx));
    await this.show.ask(`show ${word}`, { from: 0, n: WINDOW }, {
      draw: (answer) => tree.list(word, info, answer, [factOf(info, 'object')]),
      why: (answer) => (lastTable(answer)?.rows.length || info.tables.some((table) => table.key === 'fields' && table.rows.length > 0) ? null
        : told(answer, 'It holds nothing: it has no outgoing references.', true)),
      isQuiet: true,
    });
  }

  /** What holds it, by type or one by one. @param {number} [from] */
  async #askReferences(from = 0) {
    const { ctx, inrefs: section, oneByOne: isOne } = this;
    const toggle = (/** @type {boolean} */ to, /** @type {string} */ label) => h('button', {
      type: 'button', 'aria-pressed': String(isOne === to), onclick: () => { this.oneByOne = to; void this.#askReferences(); },
    }, label);
    fill(section.actions, toggle(false, 'by type'), toggle(true, 'one by one'));
    const line = isOne ? `inrefs ${this.word}` : `inrefs ${this.word} by type`;
    await section.ask(line, { from, n: isOne ? WINDOW : 1000 }, {
      draw: (answer) => renderAnswer({ ...answer, facts: answer.facts.filter((fact) => fact.column.key === 'references') }, ctx, { line, onPage: (to) => void this.#askReferences(to), table: { shows: isShort } }),
      why: (answer) => (lastTable(answer)?.rows.length ? null : told(answer, 'Nothing refers to it.', true)),
      isQuiet: true,
    });
  }

  // What would be freed

  /** @param {Answer} answer */
  #freed(answer) {
    const [bytes, objects] = [factOf(answer, 'retained_bytes'), factOf(answer, 'objects')];
    const table = lastTable(answer);
    return h('div', null, h('p', null, h('strong', null, numberText(bytes ?? 0, 'bytes')), ` in ${objects === 1 ? 'this object alone' : `${grouped(objects ?? 0)} objects, this one included`}. `,
      h('a', { href: this.ctx.href({ q: `dominators ${this.word}`, beside: null }) }, 'as a tree and a map')),
    answer.exactness && answer.exactness !== 'exact' ? h('p', { class: 'muted' }, visible(answer.exactness)) : null,
    renderTable(table, this.ctx, { caption: 'what would be freed, by type', sorts: false, shows: (column) => ['type', 'kind', 'objects', 'shallow_bytes', 'unmanaged_bytes'].includes(column.key) }));
  }
}

/** @param {Answer} answer @returns {Table} */
function lastTable(answer) {
  return answer.tables[answer.tables.length - 1];
}

/** Columns of the lists beside each other. @param {import('../ask.js').Column} column */
function isShort(column) {
  return forPeople(column) && !column.is_secondary && column.role !== 'place' && !['', 'kind'].includes(column.key);
}

/** What an empty answer says itself, or a sentence. @param {Answer} answer @param {string} otherwise @param {boolean} [isOurs] */
function told(answer, otherwise, isOurs = false) {
  const notes = answer.notes.filter((note) => note && `${note}.`.toLowerCase() !== otherwise.toLowerCase()).map(visible).join('; ');
  return isOurs || !notes ? [otherwise, isOurs ? notes : ''].filter(Boolean).join(' ') : notes;
}

/** How a step is referred to, whatever the place in an array. @param {Table} table @param {Value[]} row */
function labelOf(table, row) {
  return String(cellOf(table, row, 'label')?.value ?? '').replace(/^\[\d+\]$/, '[]');
}

/** @param {Table} table @param {Value[]} row */
function typeAndLabel(table, row) {
  return `${cellOf(table, row, 'type')?.value} ${labelOf(table, row)}`;
}

/** Steps as lines: rounds of the same types are one, the object itself is not among them.
 *  @param {Table} table @param {Value[][]} rows @param {(row: Value[]) => boolean} isOwn @returns {Hop[]} */
function foldsBut(table, rows, isOwn) {
  const folds = foldsOf(rows.map((row) => (isOwn(row) ? '' : typeAndLabel(table, row))));
  return folds.map(({ start, period, rounds }) => ({ rows: rows.slice(start, start + period * rounds), period, rounds }));
}

/** An expression as one word of a line. @param {string} expression */
function oneWord(expression) {
  return /\s/.test(expression) ? `'${expression.replace(/['\\]/g, '\\$&')}'` : expression;
}
