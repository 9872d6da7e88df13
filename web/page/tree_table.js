// The dominator tree as a treegrid: rows are loaded when they come into view, and a few dozen elements show them.

import { h } from './dom.js';
import { foldsOf, grouped, numberText, visible } from './value_text.js';
import { isAbort } from './ask.js';
import { chainTitle, manyOf, shortType, titleOf } from './tree_nodes.js';
import { TreeRows } from './tree_rows.js';
import { VirtualRows } from './virtual_rows.js';

/** @typedef {import('./tree_nodes.js').TreeNode} TreeNode */
/** @typedef {import('./tree_rows.js').Branch} Branch */
/** @typedef {import('./tree_rows.js').Place} Place */
/**
 * @typedef {object} TreeSource
 * @property {(node: TreeNode, from: number, n: number, signal: AbortSignal) => Promise<TreeNode[]>} children
 * @property {(node: TreeNode) => TreeNode[]} known the first children, as far as another answer has them already
 * @property {(node: TreeNode, signal: AbortSignal) => Promise<TreeNode[]>} chain the node, then the largest child of each,
 *   while that retains half of the node
 * @property {(node: TreeNode) => Promise<number>} count how many types the children of a row have, where rows are types
 * @property {(node: TreeNode) => TreeNode | null} folded the chain that begins with a row, if it is known
 */
/**
 * @typedef {object} TreeOptions
 * @property {TreeSource} source
 * @property {(node: TreeNode) => string} href the link of a row
 * @property {(node: TreeNode) => void} onSelect
 * @property {(node: TreeNode, event: Event) => void} onOpen
 * @property {(text: string) => void} announce
 */
/** A window of children: loaded, or on its way, or why not. */
/** @typedef {{nodes: TreeNode[] | null, isWhole: boolean, problem: string | null}} Page */
/** @typedef {{branch: Branch, page: number, controller: AbortController}} Flight */

/** Children in a window; more where there are so many children that finding a window takes longer than sending it. */
const [PAGE, LARGE_PAGE, LARGE_BRANCH] = [250, 1000, 500_000];
/** The next window is loaded when the end of one is so near, in rows. */
const AHEAD = 120;
/** Windows that are kept: more than are wanted at once where each row is a window of its own, on a long chain. */
const MOST_PAGES = 400;
/** Deeper levels have their number, because they are not indented much further. */
const DEEPEST_INDENT = 8;
/** The least objects of a chain, and the most types of one round. */
const [CHAIN, ROUND] = [8, 3];
/** While rows fly by, nothing is loaded: only what stays for this time, in milliseconds. */
const REST_MS = 40;

const COLUMNS = [
  ['name', 'type and name'], ['retained', 'retained'], ['share', 'of top'], ['own', 'itself'], ['objects', 'objects'], ['children', 'children'],
];

export class TreeTable {
  /** @param {TreeOptions} options */
  constructor(options) {
    this.options = options;
    this.tree = new TreeRows(0);
    /** @type {Map<Branch, Map<number, Page>>} */
    this.pages = new Map();
    /** Loaded windows, the oldest first. @type {{branch: Branch, page: number}[]} */
    this.loaded = [];
    /** Windows on their way. @type {Set<Flight>} */
    this.flights = new Set();
    /** Whether rows are to be drawn again. */
    this.isStale = false;
    /** The row with the focus. @type {Place | null} */
    this.active = null;
    this.whole = 0;
    this.lastFirst = 0;
    this.resting = 0;
    this.rows = new VirtualRows({
      make: () => this.#make(),
      fill: (element, row) => this.#fill(element, row),
      shown: (first, end) => this.#shown(first, end),
    });
    this.element = h('div', {
      class: 'tree-table', role: 'treegrid', 'aria-label': 'dominator tree', 'aria-colcount': COLUMNS.length,
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
    }, h('div', { class: 'vr-row vr-head', role: 'row', 'aria-rowindex': 1 },
      COLUMNS.map(([key, title], at) => h('span', { class: `c-${key}`, role: 'columnheader', 'aria-colindex': at + 1 }, title))),
    this.rows.element);
  }

  destroy() {
    this.#forget();
    clearTimeout(this.resting);
    this.rows.destroy();
  }

  /** Begins at a place, expanded. @param {TreeNode} node */
  setTop(node) {
    this.#forget();
    this.whole = node.retained;
    this.tree = new TreeRows(1);
    this.#keep(this.tree.root, 0, [node]);
    if (rowsBelow(node) > 0) this.tree.expand(this.tree.root, 0, rowsBelow(node), node);
    this.active = { branch: this.tree.root, index: 0 };
    this.rows.scrollTo(0);
    this.#changed();
  }

  /** Expands a path from the top and selects its end. Each step is the number of a child.
   *  @param {number[]} path @param {(node: TreeNode) => boolean} isIt whether a row is the one that is meant */
  async reveal(path, isIt) {
    let place = /** @type {Place} */ ({ branch: this.tree.root, index: 0 });
    for (const index of path) {
      const branch = await this.#expand(place);
      if (!branch || index >= branch.count) return;
      place = { branch, index };
      if (index !== path[path.length - 1] || path.length > 1) await this.#load(branch, pageOf({ branch, index }));
      if (branch.isGone) return;
    }
    await this.#load(place.branch, pageOf(place));
    const node = this.#node(place);
    if (!node || !isIt(node) || place.branch.isGone) return;
    this.#changed();
    this.#activate(place, false);
  }

  /** Selects a row. @param {number} row */
  goTo(row) {
    const place = this.tree.at(Math.max(0, Math.min(this.tree.length - 1, row)));
    if (place) this.#activate(place, false);
  }

  /** Expands the top to where it branches or a chain begins, a page at most; the top stays selected. */
  async unfold() {
    const top = this.active;
    if (!top) return;
    try {
      await this.#expandFar(top, false);
    } catch (error) {
      this.#say(error);
    }
  }

  /** The selected place. */
  get selected() {
    return this.active && this.#node(this.active);
  }

  /** Puts the focus on the selected row. */
  focus() {
    if (this.active) this.#activate(this.active, true);
  }

  #forget() {
    const flights = [...this.flights];
    this.flights.clear();
    for (const flight of flights) flight.controller.abort();
    this.pages.clear();
    this.loaded = [];
  }

  #changed() {
    this.element.setAttribute('aria-rowcount', String(this.tree.length + 1));
    this.rows.setLength(this.tree.length);
    this.rows.refresh();
  }

  // Windows of children

  /** @param {Place} place @returns {TreeNode | null} null if it is not loaded */
  #node({ branch, index }) {
    return this.pages.get(branch)?.get(pageOf({ branch, index }))?.nodes?.[index % pageSize(branch)] ?? null;
  }

  /** @param {Branch} branch @param {number} page @param {TreeNode[]} nodes */
  #keep(branch, page, nodes) {
    this.#pagesOf(branch).set(page, { nodes, isWhole: true, problem: null });
    if (branch !== this.tree.root) this.loaded.push({ branch, page });
    if (this.loaded.length <= MOST_PAGES) return;
    const oldest = this.loaded.shift();
    if (oldest) this.pages.get(oldest.branch)?.delete(oldest.page);
  }

  /** @param {Branch} branch */
  #pagesOf(branch) {
    let pages = this.pages.get(branch);
    if (!pages) this.pages.set(branch, (pages = new Map()));
    return pages;
  }

  /** Loads a window, unless it is there or on its way. @param {Branch} branch @param {number} page */
  async #load(branch, page) {
    const isHere = this.pages.get(branch)?.get(page)?.isWhole || branch === this.tree.root;
    if (isHere || branch.isGone || [...this.flights].some((one) => one.branch === branch && one.page === page)) return;
    const flight = { branch, page, controller: new AbortController() };
    this.flights.add(flight);
    try {
      const n = Math.min(pageSize(branch), branch.count - page * pageSize(branch));
      if (this.#takeKnown(branch, page, n)) return;
      const nodes = await this.options.source.children(branch.node, page * pageSize(branch), n, flight.controller.signal);
      if (!branch.isGone && this.flights.has(flight)) this.#arrived(branch, page, nodes);
    } catch (error) {
      const isLeft = isAbort(error) && !this.flights.has(flight);
      const problem = isLeft ? null : isAbort(error) ? 'it was stopped' : /** @type {Error} */ (error).message;
      if (problem !== null) this.#pagesOf(branch).set(page, { nodes: null, isWhole: false, problem });
    } finally {
      this.flights.delete(flight);
    }
    this.rows.refresh();
  }

  /** A window is here; the selected row may have waited for it. @param {Branch} branch @param {number} page @param {TreeNode[]} nodes */
  #arrived(branch, page, nodes) {
    const waited = this.active?.branch === branch && pageOf(this.active) === page && !this.selected;
    this.#keep(branch, page, nodes);
    const node = this.selected;
    if (waited && node) this.options.onSelect(node);
  }

  /** Shows what is known of a window already; whether that is all of it. @param {Branch} branch @param {number} page @param {number} n */
  #takeKnown(branch, page, n) {
    const nodes = this.options.source.known(branch.node).slice(page * pageSize(branch), page * pageSize(branch) + n);
    if (nodes.length === n) this.#keep(branch, page, nodes);
    else if (nodes.length > 0) this.#pagesOf(branch).set(page, { nodes, isWhole: false, problem: null });
    if (nodes.length > 0) this.#refreshSoon();
    return nodes.length === n;
  }

  /** Draws the rows again after all that is taken now. */
  #refreshSoon() {
    if (this.isStale) return;
    this.isStale = true;
    queueMicrotask(() => {
      this.isStale = false;
      this.rows.refresh();
    });
  }

  /** More is known without asking: rows that wait for their window may be among it. */
  knowMore() {
    for (const { branch, page } of this.flights) {
      const n = Math.min(pageSize(branch), branch.count - page * pageSize(branch));
      if (!this.pages.get(branch)?.get(page)) this.#takeKnown(branch, page, n);
    }
    this.#refreshSoon();
  }

  /** Rows are shown: those that are not here are loaded, and windows that scrolled away are left.
   *  @param {number} first @param {number} end */
  #shown(first, end) {
    const isFlying = Math.abs(first - this.lastFirst) > PAGE;
    this.lastFirst = first;
    if (this.resting) clearTimeout(this.resting);
    this.resting = 0;
    if (isFlying) this.resting = window.setTimeout(() => this.#loadShown(first, end), REST_MS);
    else this.#loadShown(first, end);
    this.#rove(first, end);
  }

  /** @param {number} first @param {number} end */
  #loadShown(first, end) {
    /** @type {Map<Branch, Set<number>>} */
    const wanted = new Map();
    for (const { branch, from, to } of this.tree.between(first - AHEAD, end + AHEAD)) {
      const pages = wanted.get(branch) ?? new Set();
      for (let page = pageOf({ branch, index: from }); page <= pageOf({ branch, index: to - 1 }); page++) pages.add(page);
      wanted.set(branch, pages);
    }
    for (const flight of this.flights) {
      if (wanted.get(flight.branch)?.has(flight.page)) continue;
      this.flights.delete(flight);
      flight.controller.abort();
    }
    for (const [branch, pages] of wanted) {
      for (const page of pages) if (!this.pages.get(branch)?.get(page)?.problem) void this.#load(branch, page);
    }
  }

  // Elements

  #make() {
    const cells = COLUMNS.map(([key], at) => h('span', { class: `c-${key}`, role: 'gridcell', 'aria-colindex': at + 1 }));
    const [twisty, link] = [h('span', { class: 'twisty', 'aria-hidden': 'true' }), h('a', { class: 'object', tabindex: -1 })];
    const [type, name, origin, deep] = [h('bdi'), h('bdi', { class: 'muted' }), h('bdi', { class: 'muted origin' }), h('span', { class: 'muted origin' })];
    const [bar, share] = [h('span'), h('span')];
    cells[0].append(twisty, link, type, name, origin, deep);
    cells[2].append(share, h('span', { class: 'share-bar', 'aria-hidden': 'true' }, bar));
    const row = h('div', { class: 'vr-row', role: 'row', tabindex: -1 }, cells);
    const [, retained, , own, objects, children] = cells;
    PARTS.set(row, {
      texts: [twisty, link, type, name, origin, deep, retained, share, own, objects, children].map(textIn), row: -1, attribute: attributesOf(row), href: attributesOf(link),
      width: styleOf(bar, 'width'), depth: styleOf(cells[0], '--depth'),
    });
    row.addEventListener('click', (event) => this.#click(event, row));
    row.addEventListener('dblclick', () => this.#toggle(row));
    row.addEventListener('focus', () => this.#focused(row));
    return row;
  }

  /** @param {HTMLElement} element @param {number} row */
  #fill(element, row) {
    const place = this.tree.at(row);
    const parts = PARTS.get(element);
    if (!place || !parts) return;
    parts.row = row;
    const { attribute } = parts;
    const { branch, index } = place;
    const node = this.#node(place);
    const isExpanded = branch.expanded.has(index);
    const isActive = this.active?.branch === branch && this.active.index === index;
    attribute('aria-rowindex', row + 2);
    attribute('aria-level', branch.level);
    attribute('aria-setsize', branch.count);
    attribute('aria-posinset', index + 1);
    attribute('aria-selected', isActive);
    attribute('aria-expanded', node && node.children > 0 ? isExpanded : null);
    attribute('aria-busy', node ? null : true);
    attribute('tabindex', isActive ? 0 : -1);
    parts.depth(String(branch.level - 1));
    const texts = node ? this.#textsOf(node, isExpanded, branch.level) : this.#pending(place);
    parts.texts.forEach((text, at) => text(texts[at] ?? ''));
    parts.href('href', node === null || node.object === null ? null : this.options.href(node));
    parts.width(node && this.whole > 0 ? `${Math.min(100, (node.retained / this.whole) * 100)}%` : '0');
  }

  /** The texts of a row, in the order of its parts. @param {TreeNode} node @param {boolean} isExpanded @param {number} level */
  #textsOf(node, isExpanded, level) {
    const fold = this.options.source.folded(node);
    const [chain, own] = [fold?.chain, fold?.own ?? node.own];
    const [type, origin] = shortType(node.type);
    return [
      node.children === 0 ? '·' : isExpanded ? '▾' : '▸',
      node.object === null ? '' : (node.members ?? 1) > 1 ? `largest @${node.object}` : `@${node.object}`,
      shortened(chain ? chainTitle({ ...chain, types: chain.types.map((one) => shortType(one)[0]) }) : manyOf(node.members, type)),
      node.name === null || chain ? '' : shortened(node.name),
      shortened(origin),
      level - 1 > DEEPEST_INDENT ? `level ${grouped(level)}` : '',
      numberText(node.retained, 'bytes'),
      `${((this.whole > 0 ? node.retained / this.whole : 0) * 100).toFixed(1)} %`,
      own === null ? '' : numberText(own, 'bytes'),
      grouped(node.objects),
      node.children > 0 && !node.isType ? grouped(node.children) : '',
    ];
  }

  /** @param {Place} place */
  #pending({ branch, index }) {
    const problem = this.pages.get(branch)?.get(pageOf({ branch, index }))?.problem ?? null;
    return ['·', '', problem === null ? 'loading …' : `not loaded: ${visible(problem)}; click to try again`];
  }

  /** One row is the stop of the tabulator: the active one, or the first that is visible. @param {number} first @param {number} end */
  #rove(first, end) {
    if (!this.active) return;
    const row = this.tree.rowOf(this.active.branch, this.active.index);
    const element = this.rows.elementOf(row >= first && row < end ? row : first);
    if (!element) return;
    // The property `tabIndex` makes the browser lay out; the attribute does not.
    for (const one of this.rows.elements.values()) PARTS.get(one)?.attribute('tabindex', one === element ? 0 : -1);
  }

  // Keys and clicks

  /** @param {Event} event @param {HTMLElement} element */
  #click(event, element) {
    const place = this.tree.at(PARTS.get(element)?.row ?? -1);
    if (!place) return;
    const isLink = /** @type {Element} */ (event.target).closest('a[href]');
    if (!isLink) this.#activate(place, true);
    const node = this.#node(place);
    if (!node) this.#again(place);
    else if (isLink) this.options.onOpen(node, event);
    else if (/** @type {Element} */ (event.target).closest('.twisty')) void this.#turn(place);
  }

  /** @param {Place} place whose window was not loaded */
  #again({ branch, index }) {
    this.pages.get(branch)?.delete(pageOf({ branch, index }));
    void this.#load(branch, pageOf({ branch, index }));
  }

  /** @param {HTMLElement} element */
  #toggle(element) {
    const place = this.tree.at(PARTS.get(element)?.row ?? -1);
    if (place) void this.#turn(place);
  }

  /** @param {HTMLElement} element */
  #focused(element) {
    const place = this.tree.at(PARTS.get(element)?.row ?? -1);
    if (place && (place.branch !== this.active?.branch || place.index !== this.active.index)) this.#activate(place, true);
  }

  /** Selects a row and shows it. @param {Place} place @param {boolean} withFocus */
  #activate(place, withFocus) {
    const isSame = this.active?.branch === place.branch && this.active.index === place.index;
    const before = this.active && !this.active.branch.isGone ? this.tree.rowOf(this.active.branch, this.active.index) : -1;
    this.active = place;
    const row = this.tree.rowOf(place.branch, place.index);
    this.rows.reveal(row);
    for (const one of [before, row]) {
      const element = this.rows.elementOf(one);
      if (element) this.#fill(element, one);
    }
    if (withFocus) this.rows.elementOf(row)?.focus({ preventScroll: true });
    const node = this.#node(place);
    if (node && !isSame) this.options.onSelect(node);
  }

  /** Expands or collapses. @param {Place} place */
  async #turn(place) {
    if (place.branch.expanded.has(place.index)) this.#collapse(place);
    else await this.#expand(place).catch((error) => this.#say(error));
  }

  /** @param {Place} place */
  #collapse({ branch, index }) {
    for (const gone of this.tree.collapse(branch, index)) this.pages.delete(gone);
    if (this.active?.branch.isGone) this.active = { branch, index };
    this.#changed();
  }

  /** Shows the children of a row. @param {Place} place @returns {Promise<Branch | null>} */
  async #expand(place) {
    const before = place.branch.expanded.get(place.index);
    const node = this.#node(place);
    if (before || !node || node.children === 0) return before ?? null;
    if (node.isType && node.types === undefined) {
      node.types = await this.options.source.count(node);
      if (place.branch.isGone) return null;
    }
    const branch = this.tree.expand(place.branch, place.index, rowsBelow(node), node);
    this.#changed();
    return branch;
  }

  /** Expands along the largest children until one retains less than half. @param {Place} place @param {boolean} goes to the last */
  async #expandFar(place, goes) {
    const node = this.#node(place);
    if (!node || node.children === 0) return;
    const chain = await this.options.source.chain(node, new AbortController().signal);
    if (place.branch.isGone) return;
    // What opens by itself is a page, and no chain.
    const last = goes ? chain.length : Math.min(beginOfChain(chain), this.rows.page);
    let at = place;
    for (const next of chain.slice(1, last + 1)) {
      const parent = /** @type {TreeNode} */ (this.#node(at));
      const branch = this.tree.expand(at.branch, at.index, rowsBelow(parent), parent);
      if (!this.#node({ branch, index: 0 })) this.#pagesOf(branch).set(0, { nodes: [next], isWhole: false, problem: null });
      at = { branch, index: 0 };
    }
    if (last >= chain.length) await this.#expand(at);
    this.#changed();
    if (!goes) return;
    const end = this.#node(at);
    this.#activate(at, true);
    this.options.announce(`level ${grouped(at.branch.level)}: ${end ? titleOf(end) : ''}`);
  }

  /** Expands the rows on this page that have the same parent. @param {Place} place */
  async #expandSiblings({ branch }) {
    const places = [...this.rows.elements.keys()].map((row) => this.tree.at(row));
    let count = 0;
    for (const place of places) {
      if (place?.branch === branch && !branch.expanded.has(place.index) && await this.#expand(place)) count += 1;
    }
    this.#changed();
    if (this.active) this.#activate(this.active, true);
    this.options.announce(`${count} expanded`);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (!this.active || event.ctrlKey || event.metaKey || event.altKey) return;
    const { branch, index } = this.active;
    const row = this.tree.rowOf(branch, index);
    const to = { ArrowDown: row + 1, ArrowUp: row - 1, Home: 0, End: this.tree.length - 1, PageDown: row + this.rows.page, PageUp: row - this.rows.page }[event.key];
    if (to !== undefined) this.#go(to);
    else if (event.key === 'ArrowRight' && event.shiftKey) void this.#expandFar(this.active, true).catch((error) => this.#say(error));
    else if (event.key === 'ArrowRight') this.#right();
    else if (event.key === 'ArrowLeft') this.#left();
    else if (event.key === '*') void this.#expandSiblings(this.active).catch((error) => this.#say(error));
    else if (event.key === 'Enter' || event.key === ' ') this.#open(event);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** @param {unknown} error */
  #say(error) {
    if (!isAbort(error)) this.options.announce(/** @type {Error} */ (error).message);
  }

  /** @param {number} row */
  #go(row) {
    const place = this.tree.at(Math.max(0, Math.min(this.tree.length - 1, row)));
    if (place) this.#activate(place, true);
  }

  #right() {
    const place = /** @type {Place} */ (this.active);
    const child = place.branch.expanded.get(place.index);
    if (child) this.#activate({ branch: child, index: 0 }, true);
    else void this.#turn(place);
  }

  #left() {
    const { branch, index } = /** @type {Place} */ (this.active);
    if (branch.expanded.has(index)) this.#collapse({ branch, index });
    else if (branch.parent) this.#activate({ branch: branch.parent, index: branch.index }, true);
    this.focus();
  }

  /** @param {KeyboardEvent} event */
  #open(event) {
    const node = this.selected;
    if (!node) return;
    if (event.key === 'Enter') this.options.onOpen(node, event);
    else void this.#turn(/** @type {Place} */ (this.active));
  }
}

/** Where types begin to go down in turn, as the map folds them. @param {TreeNode[]} line @returns {number} infinite if they do not */
function beginOfChain(line) {
  const fold = foldsOf(line.map(({ kind, type }) => `${kind} ${type}`)).find(({ period, rounds }) => period <= ROUND && period * rounds >= CHAIN);
  return fold?.start ?? Infinity;
}

/** @param {TreeNode} node */
function rowsBelow(node) {
  return node.types ?? node.children;
}

/** @param {Branch} branch */
function pageSize(branch) {
  return branch.count > LARGE_BRANCH ? LARGE_PAGE : PAGE;
}

/** The window that a place is in. @param {Place} place */
function pageOf({ branch, index }) {
  return Math.floor(index / pageSize(branch));
}

/** Sets something of an element, unless it is so already: what was set last is kept, because asking the browser takes longer. */
/** @typedef {(value: string) => void} Setter */
/**
 * The parts of a row that change.
 * @typedef {{texts: Setter[], row: number, attribute: ReturnType<typeof attributesOf>, href: ReturnType<typeof attributesOf>, width: Setter, depth: Setter}} RowParts
 */
/** @type {WeakMap<HTMLElement, RowParts>} */
const PARTS = new WeakMap();

/** @param {HTMLElement} element */
function attributesOf(element) {
  /** @type {Map<string, string | number | boolean | null>} */
  const last = new Map();
  return (/** @type {string} */ name, /** @type {string | number | boolean | null} */ value) => {
    if (last.get(name) === value) return;
    last.set(name, value);
    if (value === null) element.removeAttribute(name);
    else element.setAttribute(name, String(value));
  };
}

/** @param {HTMLElement} element @param {string} name @returns {Setter} */
function styleOf(element, name) {
  let last = '';
  return (value) => {
    if (value !== last) element.style.setProperty(name, last = value);
  };
}

/** The text of an element: its node stays, and only what it says is replaced. @param {HTMLElement} element @returns {Setter} */
function textIn(element) {
  const node = document.createTextNode('');
  element.append(node);
  let last = '';
  return (value) => {
    if (value !== last) node.data = last = value;
  };
}

/** The beginning of a name: the whole is on the page of the object. @param {string} name */
function shortened(name) {
  return visible(name.length > 200 ? `${name.slice(0, 200)}…` : name);
}
