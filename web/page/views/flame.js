// A flame graph: the dominator tree by type or by object, the paths from the roots to some objects, or allocation sites.

import { afterFrame, fill, h } from '../dom.js';
import { grouped, numberText, visible } from '../value_text.js';
import { nameNode, numberOf } from '../cell.js';
import { cellOf, factOf, renderTable } from '../answer.js';
import { cellsOf, flameLine, stepsOf } from '../flame_cells.js';
import { Icicle } from '../icicle.js';
import { ageLegend, growthLegend } from '../map_words.js';
import { Section } from '../section.js';
import { nameIs, verbOf } from '../state.js';
import { manyOf, treeLine } from '../tree_nodes.js';
import { asked } from './tree.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../ask.js').Answer} Answer */
/** @typedef {import('../flame_cells.js').FlameCell} FlameCell */

/** Steps or places in an answer: more cannot be told from each other in a window. */
const CELLS = 2000;
/** Sites in an answer: more than a program has. */
const MOST_SITES = 100_000;
/** A text is searched after this time without a further letter, in milliseconds. */
const SETTLES = 150;
/** Verbs whose cells have types. */
const HAVE_TYPES = ['flame', 'dominators'];
/** Steps in the breadcrumbs. */
const MOST_CRUMBS = 8;

/** @param {HTMLElement} root @param {Context} ctx */
export function mount(root, ctx) {
  return new FlameView(root, ctx);
}

class FlameView {
  /** @param {HTMLElement} root @param {Context} ctx */
  constructor(root, ctx) {
    this.ctx = ctx;
    this.shown = { asked: '', colours: '' };
    this.verb = 'flame';
    this.settling = 0;
    /** @type {Answer | null} */
    this.answer = null;
    /** The cells of answers that come again, as those above and below do. @type {WeakMap<Answer, FlameCell[]>} */
    this.known = new WeakMap();
    /** The question of a zoom, which is asked after that is drawn. @type {(() => void) | null} */
    this.next = null;
    this.crumbs = h('nav', { class: 'crumbs', 'aria-label': 'steps' });
    this.chosen = h('p', { class: 'chosen-place' });
    this.search = h('input', { type: 'search', 'aria-label': 'highlight', placeholder: 'highlight a type', spellcheck: 'false', oninput: () => this.#typed() });
    this.matches = h('span', { class: 'flame-matches', role: 'status' });
    this.choices = h('span', { class: 'tree-tools' });
    const keys = h('details', { class: 'keys' }, h('summary', null, 'keys'), h('p', null, '↓ the largest below, ↑ above, ← → beside, Enter zooms in, Esc out. A click zooms.'));
    const tools = h('div', { class: 'tree-tools' }, this.choices, h('span', { class: 'group' }, this.search, this.matches), keys);
    this.section = new Section(ctx, { title: 'Flame graph', name: 'flame', mirror: root, showsLine: true });
    this.growthSection = new Section(ctx, { title: 'Growth of type paths', name: 'growth', showsLine: true });
    this.ageSection = new Section(ctx, { title: 'Ages of types', name: 'age', showsLine: true });
    this.legend = h('div', { class: 'map-legend' });
    this.table = h('div', { class: 'map-table', hidden: true });
    this.icicle = new Icicle({
      onSelect: (cell) => this.#showChosen(cell),
      onZoom: (cell, at) => this.#zoom(cell, at),
      onOut: () => this.#out(),
      announce: ctx.announce,
    });
    this.growthSection.element.hidden = this.ageSection.element.hidden = true;
    this.section.element.append(this.chosen, this.legend, this.table);
    root.append(this.crumbs, tools, this.section.element, this.growthSection.element, this.ageSection.element);
  }

  destroy() {
    this.next = null;
    clearTimeout(this.settling);
    this.section.destroy();
    this.growthSection.destroy();
    this.ageSection.destroy();
    this.icicle.destroy();
  }

  /** @param {State} state */
  update(state) {
    const { ctx } = this;
    this.verb = verbOf(state.q);
    this.next = null;
    if (document.activeElement !== this.search) this.search.value = state.extra.find ?? '';
    const own = JSON.stringify([ctx.file.revision, ctx.snapshot, state.w, state.lets, state.q]);
    if (own !== this.shown.asked) {
      this.shown = { asked: own, colours: '' };
      this.#showChoices(state);
      void this.#show(state);
    } else {
      void afterFrame().then(() => {
        if (state !== this.ctx.state) return;
        this.#showChoices(state);
        this.#showState(state);
      });
    }
  }

  /** @param {State} state */
  async #show(state) {
    let hadFocus = false;
    const answer = await this.section.ask(questionOf(state.q), {}, {
      draw: () => {
        hadFocus = this.icicle.element.contains(document.activeElement);
        return this.icicle.element;
      },
      why: (answer) => ((answer.tables.at(-1)?.rows.length ?? 0) > 0 ? null : answer.notes.map(visible).join(' ') || 'There is nothing to draw.'),
      isQuiet: true,
      isLarge: true,
    });
    const isShown = answer !== null && this.section.element.dataset.state === 'ready';
    this.legend.hidden = this.chosen.hidden = !isShown;
    if (!answer || !isShown) return;
    this.answer = answer;
    const snapshot = factOf(answer, 'snapshot') ?? this.ctx.snapshot ?? 0;
    const cells = this.known.get(answer) ?? cellsOf(this.verb, state.q, answer, snapshot);
    this.known.set(answer, cells);
    this.icicle.setCells(cells, this.verb === 'paths' ? 'count' : 'bytes');
    if (hadFocus) this.icicle.canvas.focus();
    this.ctx.announce(`flame graph of ${visible(cells[0].title)}, ${numberText(cells[0].size, this.icicle.unit)}`);
    this.#showState(this.ctx.state);
  }

  /** What the address says of an answer that is there. @param {State} state */
  #showState(state) {
    if (!this.answer || this.icicle.cells.length === 0) return;
    const zoom = /^\d{1,6}$/.test(state.extra.zoom ?? '') ? Number(state.extra.zoom) : 0;
    if (zoom !== this.icicle.top) this.icicle.setTop(zoom);
    const find = state.extra.find ?? '';
    if (find !== this.icicle.text) this.icicle.setText(find);
    this.#showMatches();
    this.#showCrumbs(state);
    this.#showChosen(this.icicle.cells[this.icicle.top]);
    this.#showColours(state);
    this.#showLegend();
  }

  /** @param {State} state */
  #showChoices(state) {
    const { ctx, verb } = this;
    const link = (/** @type {boolean} */ isOn, /** @type {string} */ label, /** @type {import('../state.js').Change} */ change) =>
      h('a', { class: 'button', href: ctx.href(change), 'aria-current': isOn ? 'true' : null }, label);
    const to = (/** @type {string} */ q) => ({ q, as: q.startsWith('flame') ? null : 'flame', zoom: null, colour: null });
    const [isGrowth, isAge] = [this.#range(state) !== null, this.#hasAges(state)];
    const snapshots = ctx.file.snapshots ?? 1;
    fill(this.choices,
      h('span', { class: 'group', role: 'group', 'aria-label': 'what is drawn' }, link(verb === 'flame', 'by type', to('flame')), link(verb === 'dominators', 'by object', to('dominators')),
        link(verb === 'sites', 'sites', to('sites')), verb === 'paths' ? [link(true, 'paths', to(state.q)), link(false, 'as a table', { as: null, zoom: null, find: null })] : null),
      !HAVE_TYPES.includes(verb) || snapshots < 2 ? null : h('span', { class: 'group', role: 'group', 'aria-label': 'colour' }, 'colour ', link(!isGrowth && !isAge, 'type', { colour: null }),
        verb === 'flame' ? link(isGrowth, `growth ${state.a ?? 0}..${state.b ?? snapshots - 1}`, { colour: 'growth' }) : null,
        state.w.length === 0 ? link(isAge, 'age', { colour: 'age' }) : null));
  }

  #typed() {
    clearTimeout(this.settling);
    this.icicle.setText(this.search.value);
    this.#showMatches();
    this.settling = window.setTimeout(() => this.ctx.go({ find: this.search.value.trim() || null }, { replace: true }), SETTLES);
  }

  #showMatches() {
    const { matches, text, cells, top, unit } = this.icicle;
    const whole = cells[top]?.size || 1;
    this.matches.textContent = text.trim() === '' ? '' : matches.count === 0 ? 'nothing drawn here matches'
      : `${((matches.size / whole) * 100).toFixed(1)} %, ${numberText(matches.size, unit)}, in ${matches.count === 1 ? '1 cell' : `${grouped(matches.count)} cells`}`;
  }

  /** Each step with the link of its graph. @param {State} state */
  #showCrumbs(state) {
    const { ctx, icicle } = this;
    /** @type {{title: string, change: import('../state.js').Change}[]} */
    const all = [];
    const path = this.verb === 'flame' ? stepsOf(state.q) : [];
    path.forEach((step, at) => all.push({ title: step, change: { q: flameLine(path.slice(0, at + 1)), zoom: null } }));
    if (path.length > 0) all.unshift({ title: 'everything', change: { q: 'flame', zoom: null } });
    if (this.verb === 'dominators' && asked(state.q)?.word) all.push({ title: 'all roots', change: { q: 'dominators', zoom: null, as: 'flame' } });
    const zoomed = icicle.way(icicle.top);
    for (const at of all.length > 0 && this.verb === 'flame' ? zoomed.slice(1) : zoomed) all.push({ title: icicle.cells[at].title, change: { zoom: at === 0 ? null : at } });
    const last = all.at(-1);
    const shown = all.length > MOST_CRUMBS ? [all[0], null, ...all.slice(1 - MOST_CRUMBS)] : all;
    fill(this.crumbs, shown.map((one, at) => [at > 0 ? h('span', { 'aria-hidden': 'true' }, ' › ') : null,
      one ? h('a', { href: ctx.href(one.change), 'aria-current': one === last ? 'page' : null }, nameNode(one.title.slice(0, 80))) : `… ${grouped(all.length - MOST_CRUMBS)} …`]));
  }

  /** The object of a cell in a line. @param {FlameCell} cell */
  #wordOf(cell) {
    const snapshot = this.answer ? factOf(this.answer, 'snapshot') ?? this.ctx.snapshot : this.ctx.snapshot;
    return cell.object === null ? '' : `${snapshot}:@${cell.object}`;
  }

  /** @param {FlameCell} cell */
  #showChosen(cell) {
    const { ctx, icicle } = this;
    const [word, { kind, roots }] = [this.#wordOf(cell), cell.place];
    fill(this.chosen, h('strong', null, nameNode(manyOf(cell.many, cell.title))), ` ${numberText(cell.size, icicle.unit)}`,
      cell.own === null ? null : `, itself ${numberText(cell.own, icicle.unit)}`, ' ',
      word === '' ? null : h('a', { href: ctx.href({ q: `info ${word}` }) }, `open ${cell.many > 1 ? 'the largest, ' : ''}${word}`), ' ',
      word === '' ? null : h('a', { href: ctx.href({ q: treeLine(word) }) }, 'tree from here'), ' ',
      kind === null || roots !== null || cell.isRest || cell.chain !== null ? null
        : h('a', { href: ctx.href({ q: `paths ${nameIs('type', cell.type)}`, as: 'flame' }) }, 'paths to this type'),
      this.verb === 'sites' && cell.line ? h('a', { href: ctx.href({ q: cell.line }) }, 'open the site') : null);
  }

  #showLegend() {
    const { icicle } = this;
    const button = h('button', { type: 'button', 'aria-pressed': String(!this.table.hidden), onclick: () => this.#toggleTable() }, 'table');
    const legend = icicle.growth ? growthLegend(icicle.growth, icicle.isDark, 'smaller steps')
      : icicle.ages ? ageLegend(icicle.ages.oldest, icicle.isDark) : h('span', null, this.verb === 'sites' ? 'Colours are files.' : 'Colours are types.');
    fill(this.legend, legend, h('span', null, 'Hatched: what is left out, or is too thin to be drawn alone. Room below a cell: what it has itself.'), button);
  }

  #toggleTable() {
    this.table.hidden = !this.table.hidden;
    this.#showLegend();
    const table = this.answer?.tables.at(-1);
    fill(this.table, this.table.hidden || !table ? null : renderTable(table, this.ctx, { caption: 'cells of the flame graph', snapshot: this.ctx.snapshot }));
  }

  // Zoom

  /** @param {FlameCell} cell @param {number} at */
  #zoom(cell, at) {
    this.ctx.announce(`zoomed into ${visible(cell.title)}`);
    // Answers of paths and sites have all cells; those of trees have finer ones below.
    const change = cell.isRest ? { q: treeLine(this.#wordOf(cell)), zoom: null, as: 'flame', colour: null }
      : this.verb === 'flame' && cell.line ? { q: cell.line, zoom: null }
      : this.verb === 'dominators' && cell.line ? { q: cell.line, zoom: null, as: 'flame' } : { zoom: at === 0 ? null : at };
    const next = () => this.ctx.go(change);
    this.next = next;
    void afterFrame().then(() => { if (this.next === next) this.#goNext(); });
  }

  #goNext() {
    const { next } = this;
    this.next = null;
    next?.();
  }

  /** Back to the step above. */
  #out() {
    this.#goNext();
    const { state } = this.ctx;
    const { icicle } = this;
    if (this.verb === 'flame' && stepsOf(state.q).length > 0) this.ctx.go({ q: flameLine(stepsOf(state.q).slice(0, -1)) });
    else if (this.verb === 'dominators' && asked(state.q)?.word) void this.#outOfObject(state.q);
    else if (state.extra.zoom) this.ctx.go({ zoom: icicle.cells[icicle.top].parent || null });
    else return false;
    this.ctx.announce('zoomed out');
    return true;
  }

  /** To the object that dominates that of a line. @param {string} line */
  async #outOfObject(line) {
    const word = asked(line)?.word ?? '';
    const answer = word.startsWith('roots') ? null : await this.ctx.ask(`idom ${word}`);
    const table = answer?.tables.at(-1);
    const above = table?.rows[0] && cellOf(table, table.rows[0], 'object')?.value;
    this.ctx.go({ q: above == null ? 'dominators' : `dominators ${factOf(/** @type {Answer} */ (answer), 'snapshot') ?? 0}:@${above}`, as: 'flame', zoom: null });
  }

  // Growth and age

  /** The brushed snapshots, if the colours are about them. @param {State} state @returns {[number, number] | null} */
  #range(state) {
    const last = (this.ctx.file.snapshots ?? 1) - 1;
    return state.extra.colour === 'growth' && last > 0 && verbOf(state.q) === 'flame' ? [state.a ?? 0, state.b ?? last] : null;
  }

  /** Whether the colours are ages: those of all objects, whatever is excluded. @param {State} state */
  #hasAges(state) {
    return state.extra.colour === 'age' && (this.ctx.file.snapshots ?? 1) > 1 && state.w.length === 0 && HAVE_TYPES.includes(verbOf(state.q));
  }

  /** @param {State} state */
  #showColours(state) {
    const [range, hasAges] = [this.#range(state), this.#hasAges(state)];
    this.growthSection.element.hidden = range === null;
    this.ageSection.element.hidden = !hasAges;
    const key = range !== null ? range.join() : hasAges ? 'age' : '';
    if (key === this.shown.colours) return;
    this.shown.colours = key;
    this.icicle.setColours();
    if (range !== null) void this.#askGrowth(range, stepsOf(state.q));
    else if (hasAges) void this.#askAges();
  }

  /** The median age of each type, for all cells of the type. */
  async #askAges() {
    const { icicle, ctx } = this;
    const [cells, oldest] = [icicle.cells, ctx.snapshot ?? 0];
    await this.ageSection.ask('age by type', {}, {
      isQuiet: true,
      draw: (answer) => {
        const known = agesOf(answer);
        // Of objects that are in the first snapshot it is not known how long they were there.
        const ages = cells.map((cell) => (oldest === 0 || cell.isRest || cell.place.roots !== null ? null : known.get(cell.type) ?? null));
        if (icicle.cells === cells && this.shown.colours === 'age') icicle.setColours({ ages: { ages, oldest } });
        this.#showLegend();
        const count = ages.filter((age) => age !== null).length;
        return h('div', null, h('p', null, oldest === 0 ? 'This is the first snapshot: no age is known. Ages count the snapshots since an object was first seen.'
          : `Colours are the median age of the objects of each type, in snapshots since an object was first seen: ${grouped(count)} of ${grouped(cells.length)} cells have a type with a known age.`),
        h('ul', { class: 'notes' }, answer.notes.filter(Boolean).map((note) => h('li', null, visible(note)))));
      },
    });
  }

  /** @param {[number, number]} range @param {string[]} path */
  async #askGrowth([a, b], path) {
    const { icicle } = this;
    const cells = icicle.cells;
    const { changesOf } = await import('../growth_paths.js');
    await this.growthSection.ask(`diff ${a} ${b} by path`, {}, {
      isQuiet: true,
      draw: (answer) => {
        const above = path.slice(0, -1).map((step) => {
          const roots = step.match(/^\[(.*)\]$/)?.[1] ?? null;
          return { type: step, name: null, roots, kind: null, word: null, object: null };
        });
        const isObject = /^(\d+:)?@/.test(path[0] ?? '');
        const places = cells.map(({ place, depth, between }) => ({ ...place, depth, between }));
        const changes = isObject ? cells.map(() => null) : changesOf(answer, places, above)
          .map((change, at) => (cells[at].isRest ? null : change));
        if (icicle.cells === cells && this.shown.colours === `${a},${b}`) icicle.setColours({ growth: { changes, a, b } });
        this.#showLegend();
        const known = changes.filter((change) => change !== null).length;
        return h('p', null, `Colours are the change of each path of types from snapshot ${a} to ${b}: ${grouped(known)} of ${grouped(cells.length)} cells have a path that changed and is large enough to be tracked.`);
      },
    });
  }
}

/** The median age of types by their titles; types of one title are not told apart. @param {Answer} answer @returns {Map<string, number | null>} */
function agesOf(answer) {
  /** @type {Map<string, number | null>} */
  const ages = new Map();
  const table = answer.tables[answer.tables.length - 1];
  for (const row of table?.rows ?? []) {
    const [type, age] = [cellOf(table, row, 'type')?.value, numberOf(cellOf(table, row, 'median_age') ?? { kind: 'none' })];
    ages.set(type, ages.has(type) || Number.isNaN(age) ? null : age);
  }
  return ages;
}

/** What is asked for a line. @param {string} line */
function questionOf(line) {
  if (verbOf(line) === 'sites' && !/\s\d+\b/.test(line)) return line.replace(/^\s*\S+/, `$& ${MOST_SITES}`);
  const isTree = ['flame', 'dominators'].includes(verbOf(line));
  return isTree && !/\s--(depth|min|cells)\b/.test(line) ? `${line.trim()} --cells ${CELLS}` : line;
}
