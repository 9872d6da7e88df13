// The dominator tree: a table on the left, a map of the same on the right, and one selection in both.

import { fill, h } from '../dom.js';
import { nameNode } from '../cell.js';
import { grouped, numberText, visible } from '../value_text.js';
import { factOf, renderTable } from '../answer.js';
import { Section } from '../section.js';
import { flameLine } from '../flame_cells.js';
import { nodesOf, titleOf, treeLine, withRestByType } from '../tree_nodes.js';
import { TreeTable } from '../tree_table.js';
import { TreeMap } from '../treemap.js';
import { linkRow, mapLegend, mapTable } from '../map_words.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../state.js').State} State */
/** @typedef {import('../tree_nodes.js').TreeNode} TreeNode */

/** Places on the map. */
const CELLS = 5000;
/** Larger than any heap: a line with it shows a place without its children. */
const WITHOUT_CHILDREN = '--depth 1 --min 8000000T';
/** Levels that one key expands. */
const CHAIN = 1000;
/** What is left out of a place is divided by type if it is this part of the map, for so many places. */
const [LARGE_REST, MOST_RESTS] = [0.03, 6];
/** Places in the breadcrumbs. */
const MOST_CRUMBS = 8;
/** The selection goes to the address after this time, in milliseconds. */
const SETTLED_MS = 250;

/** @param {HTMLElement} root @param {Context} ctx */
export function mount(root, ctx) {
  return new TreeView(root, ctx);
}

/** What a line asks: the place, whether by type, and the first child to see. @param {string} line */
export function asked(line) {
  const rest = line.trim().replace(/^\S+\s*/, '').replace(/\s*--(depth|min|cells)[ =]\S+/g, '').trim();
  const found = rest.match(/^(roots\s+(?:"(?:[^"\\]|\\.)*"|'[^']*'|\S+)|(?!by\b)(?!\d+\.\.)\S+)?\s*(by\s+type|(\d+)\.\.\d*)?$/);
  return found ? { word: found[1] ?? '', byType: /^by/.test(found[2] ?? ''), from: found[3] ? Number(found[3]) : null } : null;
}

class TreeView {
  /** @param {HTMLElement} root @param {Context} ctx */
  constructor(root, ctx) {
    this.root = root;
    this.ctx = ctx;
    this.snapshot = 0;
    this.byType = false;
    /** What is shown, to see what a new state changes. */
    this.shown = { own: '', tree: '', map: '', growth: '' };
    /** The way from the top of the tree to that of the map. @type {number[] | null} */
    this.zoomPath = [];
    /** The places that the map was zoomed from. @type {{word: string | null, path: number[] | null}[]} */
    this.zooms = [];
    /** Chains that a map has told, by their first object. @type {Map<number, TreeNode>} */
    this.chains = new Map();
    this.settling = 0;
    /** @type {Promise<void>} */
    this.isTreeShown = Promise.resolve();
    /** The place of the tree, and of the map if that is another one, in words. @type {string | null} */
    this.word = null;
    this.zoomWord = '';
    this.crumbs = h('nav', { class: 'crumbs', 'aria-label': 'dominators' });
    this.tools = h('div', { class: 'tree-tools' });
    this.chosen = h('p', { class: 'chosen-place' });
    this.treeSection = new Section(ctx, { title: 'Dominator tree', name: 'tree', mirror: this.root, showsLine: true });
    this.mapSection = new Section(ctx, { title: 'Map', name: 'map', showsLine: true });
    this.growthSection = new Section(ctx, { title: 'Growth of type paths', name: 'growth', showsLine: true });
    this.legend = h('div', { class: 'map-legend' });
    this.mapTable = h('div', { class: 'map-table', hidden: true });
    this.table = new TreeTable({
      source: {
        children: (node, from, n, signal) => this.#children(node, from, n, signal), known: (node) => this.#known(node),
        chain: (node, signal) => this.#chain(node, signal), count: (node) => this.#count(node),
        folded: (node) => (this.byType ? null : this.chains.get(node.object ?? -1) ?? null),
      },
      href: (node) => ctx.href({ q: `info ${this.#wordOf(node)}` }),
      onSelect: (node) => this.#selected(node, 'table'),
      onOpen: (node, event) => this.#open(node, event),
      announce: ctx.announce,
    });
    this.map = new TreeMap({
      onSelect: (node, path) => { this.#selected(node, 'map'); this.#reveal(node, path); },
      onZoom: (node) => this.#zoom(node),
      onOut: () => this.#out(),
      announce: ctx.announce,
    });
    this.#build();
  }

  #build() {
    this.growthSection.element.hidden = true;
    this.growthSection.is('empty');
    this.mapSection.element.append(this.legend, this.mapTable);
    this.mapSection.element.addEventListener('keydown', (event) => {
      if (event.key !== 't' || event.ctrlKey || event.metaKey || event.altKey) return;
      event.stopPropagation();
      this.#toggleTable();
    });
    this.root.append(this.crumbs, this.tools, this.chosen,
      h('div', { class: 'tree-panes' }, this.treeSection.element, this.mapSection.element), this.growthSection.element);
  }

  destroy() {
    clearTimeout(this.settling);
    for (const section of [this.treeSection, this.mapSection, this.growthSection]) section.destroy();
    this.table.destroy();
    this.map.destroy();
  }

  /** @param {State} state */
  update(state) {
    const what = asked(state.q) ?? { word: null, byType: false, from: null };
    const { ctx } = this;
    const own = JSON.stringify([ctx.file.revision, ctx.snapshot, state.w, state.lets]);
    if (own !== this.shown.own) this.chains.clear();
    this.shown.own = own;
    const tree = JSON.stringify([own, state.q]);
    const word = what.word;
    this.#showTools(state, what);
    if (tree !== this.shown.tree) {
      const isOther = !this.shown.tree.startsWith(own.slice(0, -1)) || this.word !== word;
      this.shown.tree = tree;
      clearTimeout(this.settling);
      this.word = word;
      this.byType = what.byType;
      if (isOther) [this.zoomPath, this.zooms] = [[], []];
      this.isTreeShown = this.#showTree(state, what);
    }
    const mapWord = state.extra.zoom ?? word;
    const map = JSON.stringify([own, mapWord]);
    if (map !== this.shown.map && mapWord !== null) {
      this.shown.map = map;
      if (mapWord === word) this.zoomPath = [];
      else if (mapWord !== this.zoomWord) this.zoomPath = null;
      void this.#showMap(mapWord);
    }
    this.#showGrowth(state, own, mapWord);
  }

  // The tree

  /** @param {State} state @param {{word: string | null, from: number | null}} what */
  async #showTree(state, { word, from }) {
    const line = word === null ? state.q : treeLine(word, WITHOUT_CHILDREN);
    fill(this.crumbs);
    let hadFocus = false;
    const answer = await this.treeSection.ask(line, {}, {
      draw: () => {
        hadFocus = this.table.element.contains(document.activeElement);
        return this.table.element;
      },
      why: (answer) => whyEmpty(answer),
      isQuiet: true,
    });
    this.treeSection.showLine(state.q);
    if (!answer || this.treeSection.element.dataset.state !== 'ready') return;
    this.snapshot = factOf(answer, 'snapshot') ?? this.ctx.snapshot ?? 0;
    const [top] = nodesOf(answer, this.snapshot);
    if (this.byType && !(await this.#countTypes(top))) return;
    this.table.setTop(top);
    if (from !== null) this.table.goTo(from + 1);
    else if (top.children === 1 && !this.byType) void this.table.unfold();
    if (hadFocus) this.table.focus();
    this.#showChosen(top);
    this.ctx.announce(`dominator tree of ${titleOf(top)}: ${numberText(top.retained, 'bytes')}, ${top.children === 1 ? '1 child' : `${grouped(top.children)} children`}`);
    void this.#showCrumbs(top);
  }

  /** How many types the children of the top have; whether it was told. @param {TreeNode} top */
  async #countTypes(top) {
    const key = this.shown.tree;
    const answer = await this.treeSection.ask(treeLine(top.word ?? '', 'by type'), { from: 0, n: 1, snapshot: this.snapshot }, {
      draw: () => this.table.element, isQuiet: true,
    });
    this.treeSection.showLine(this.ctx.state.q);
    top.types = answer?.rows_total ?? 0;
    return answer !== null && key === this.shown.tree;
  }

  /** How many types the children of a row have. @param {TreeNode} node */
  async #count(node) {
    const answer = await this.ctx.ask(treeLine(node.word ?? '', 'by type'), { from: 0, n: 1, snapshot: this.snapshot });
    return answer.rows_total ?? 0;
  }

  /** @param {TreeNode} node @param {number} from @param {number} n @param {AbortSignal} signal */
  async #children(node, from, n, signal) {
    const { ctx, snapshot } = this;
    const word = node.word ?? '';
    const answer = this.byType
      ? await ctx.ask(treeLine(word, 'by type'), { from, n, signal, snapshot })
      : await ctx.ask(treeLine(word, `${from}..${from + n - 1}`), { signal, snapshot });
    return nodesOf(answer, snapshot).map((child) => ({ ...child, above: node }));
  }

  /** The largest children of a place, if the map shows them. @param {TreeNode} node */
  #known(node) {
    if (this.byType) return [];
    const { nodes } = this.map;
    const at = node.object === null ? nodes.findIndex((one) => one.word === node.word) : this.map.cellOfObject(node.object);
    /** @type {TreeNode[]} */
    const children = [];
    // The children of a chain are those of all its objects.
    if (at < 0 || nodes[at].chain) return children;
    for (let one = at + 1; one < nodes.length && nodes[one].depth > nodes[at].depth; one++) {
      if (nodes[one].depth > nodes[at].depth + 1 || nodes[one].members !== null) continue;
      if (nodes[one].chain) break;
      children.push(nodes[one]);
    }
    return children;
  }

  /** @param {TreeNode} node @param {AbortSignal} signal */
  async #chain(node, signal) {
    const { ctx, snapshot } = this;
    if (this.byType) return [node];
    const line = treeLine(node.word ?? '', `--depth ${CHAIN} --min ${Math.floor(node.retained / 2) + 1}`);
    return nodesOf(await ctx.ask(line, { signal, snapshot }), snapshot);
  }

  /** The places above the top, each with the link of its tree. @param {TreeNode} top */
  async #showCrumbs(top) {
    const { ctx } = this;
    const { places, missing } = await this.#above(top).catch(() => ({ places: /** @type {TreeNode[]} */ ([]), missing: 0 }));
    const link = (/** @type {TreeNode} */ node) => h('a', { href: ctx.href({ q: treeLine(node.word ?? ''), zoom: null, sel: null }), 'aria-current': node === top ? 'page' : null }, nameNode(titleOf(node).slice(0, 80)));
    const far = places.slice(0, missing > 0 ? 0 : -MOST_CRUMBS);
    const hidden = missing + far.length;
    const roots = top.word === '' ? [] : [{ ...top, word: '', type: 'all roots', name: null, members: null }];
    const all = [...roots.map(link), hidden > 0 ? h('span', null, `… ${grouped(hidden)} …`) : null, ...[...places.slice(-MOST_CRUMBS), top].map(link)];
    fill(this.crumbs, all.filter(Boolean).map((node, at) => [at > 0 ? h('span', { 'aria-hidden': 'true' }, ' › ') : null, node]));
  }

  /** The places above another one, the nearest last; how many of those near the roots an answer leaves out. @param {TreeNode} top */
  async #above(top) {
    if (top.object === null) return { places: [], missing: 0 };
    const answer = await this.ctx.ask(`idom ${top.word}`, { snapshot: this.snapshot });
    // The crumb of all roots stands before them.
    const places = nodesOf(answer, this.snapshot).reverse().filter((place) => place.word !== '');
    return { places, missing: Math.max(0, (answer.rows_total ?? 0) - places.length) };
  }

  // The map

  /** @param {string} word */
  async #showMap(word) {
    let hadFocus = false;
    const answer = await this.mapSection.ask(treeLine(word, `--cells ${CELLS}`), { snapshot: this.ctx.snapshot }, {
      draw: () => {
        hadFocus = this.map.element.contains(document.activeElement);
        return this.map.element;
      },
      why: (answer) => whyEmpty(answer),
      isQuiet: true,
    });
    const isShown = answer !== null && this.mapSection.element.dataset.state === 'ready';
    this.legend.hidden = !isShown;
    if (!answer || !isShown) return;
    const snapshot = factOf(answer, 'snapshot') ?? this.ctx.snapshot ?? 0;
    const nodes = nodesOf(answer, snapshot);
    this.#drawMap(nodes, word);
    if (hadFocus) this.map.canvas.focus();
    const sel = this.ctx.state.extra.sel;
    if (sel) void this.#restore(sel);
    await this.#divideRests(nodes, word, snapshot);
  }

  /** @param {TreeNode[]} nodes @param {string} word */
  #drawMap(nodes, word) {
    const selected = this.map.nodes[this.map.selected]?.object ?? null;
    this.map.setNodes(nodes);
    for (const node of nodes) if (node.chain && node.object !== null) this.chains.set(node.object, node);
    this.table.knowMore();
    if (selected !== null) this.map.select(selected);
    this.shown.growth = '';
    this.#showGrowth(this.ctx.state, null, word);
    this.#drawLegend();
  }

  /** Where much is left out of the map, it is divided by type. @param {TreeNode[]} nodes @param {string} word @param {number} snapshot */
  async #divideRests(nodes, word, snapshot) {
    const first = nodes;
    const large = nodes.filter((node) => !node.chain && node.leftBytes > LARGE_REST * nodes[0].retained).sort((one, other) => other.leftBytes - one.leftBytes);
    for (const place of large.slice(0, MOST_RESTS)) {
      try {
        const answer = await this.ctx.ask(treeLine(place.word ?? '', 'by type'), { snapshot });
        if (this.map.nodes !== first) return;
        nodes = withRestByType(nodes, place, nodesOf(answer, snapshot));
      } catch {
        return;
      }
    }
    if (large.length > 0) this.#drawMap(nodes, word);
  }

  /** Selects what the address says. @param {string} sel */
  async #restore(sel) {
    await this.isTreeShown;
    const object = Number(sel.replace(/^.*@/, ''));
    if (!this.map.select(object)) return;
    const node = this.map.nodes[this.map.selected];
    this.#showChosen(node);
    if (this.table.selected?.object !== object) this.#reveal(node, this.map.pathOf(this.map.selected));
  }

  /** @param {TreeNode} node @param {number[]} path from the top of the map */
  #reveal(node, path) {
    const way = this.map.placesTo(node);
    if (this.byType || this.zoomPath === null || node.members !== null || way.slice(0, -1).some((one) => one.chain)) return;
    void this.table.reveal([...this.zoomPath, ...path], (one) => one.word === node.word);
  }

  /** @param {TreeNode} node */
  #zoom(node) {
    if (node.word === null) return;
    this.zooms.push({ word: this.ctx.state.extra.zoom ?? null, path: this.zoomPath });
    // Below a chain, the cells of the map are not children of each other in the tree.
    const isBelowChain = this.map.placesTo(node).slice(0, -1).some((one) => one.chain);
    if (this.zoomPath) this.zoomPath = isBelowChain ? null : [...this.zoomPath, ...this.map.pathOf(this.map.top)];
    this.zoomWord = node.word;
    this.ctx.announce(`zoomed into ${titleOf(node)}`);
    this.ctx.go({ zoom: node.word === '' ? null : node.word });
  }

  /** Back to the place that the map was zoomed from, or to the whole tree. */
  #out() {
    if (!this.ctx.state.extra.zoom) return false;
    const { word, path } = this.zooms.pop() ?? { word: null, path: [] };
    [this.zoomWord, this.zoomPath] = [word ?? '', path];
    this.ctx.go({ zoom: word });
    this.ctx.announce('zoomed out');
    return true;
  }

  #toggleTable() {
    this.mapTable.hidden = !this.mapTable.hidden;
    this.#drawLegend();
    if (this.mapTable.hidden) return this.map.canvas.focus();
    const { table, total } = mapTable(this.map, this.snapshot);
    fill(this.mapTable, h('p', null, total), renderTable(table, this.ctx, { caption: 'cells of the map', snapshot: this.snapshot }));
    this.mapTable.querySelector('a')?.focus();
  }

  #drawLegend() {
    const button = h('button', { type: 'button', 'aria-pressed': String(!this.mapTable.hidden), onclick: () => this.#toggleTable() }, 'table ', h('kbd', null, 't'));
    fill(this.legend, mapLegend(this.map), button);
  }

  // Growth

  /** @param {State} state @param {string | null} own @param {string | null} word */
  #showGrowth(state, own, word) {
    const last = (this.ctx.file.snapshots ?? 1) - 1;
    const [a, b] = [state.a ?? 0, state.b ?? last];
    const isOn = state.extra.colour === 'growth' && last > 0;
    const key = isOn ? JSON.stringify([own ?? this.shown.map, word, a, b]) : '';
    this.growthSection.element.hidden = !isOn;
    if (key === this.shown.growth) return;
    this.shown.growth = key;
    if (isOn && this.map.nodes.length > 0) void this.#askGrowth(a, b);
    if (!isOn && this.map.growth) {
      this.map.setGrowth(null);
      this.#drawLegend();
    }
  }

  /** @param {number} a @param {number} b */
  async #askGrowth(a, b) {
    const { map } = this;
    const nodes = map.nodes;
    const top = nodes[0];
    const { changesOf } = await import('../growth_paths.js');
    const above = await this.#above(top).catch(() => null);
    await this.growthSection.ask(`diff ${a} ${b} by path`, {}, {
      draw: (answer) => {
        if (map.nodes === nodes) {
          const isKnown = above !== null && above.missing === 0;
          map.setGrowth({ changes: isKnown ? changesOf(answer, nodes, above.places) : nodes.map(() => null), a, b });
          this.#drawLegend();
        }
        const known = map.growth?.changes.filter((change) => change !== null).length ?? 0;
        return h('p', null, `The colour of a place is the change of its path of types from snapshot ${a} to ${b}, with all objects on that path: `
          + `${grouped(known)} of ${grouped(nodes.length)} places have a path that changed and is large enough to be tracked.`);
      },
    });
  }

  // The selection

  /** @param {TreeNode} node @param {'table' | 'map'} from */
  #selected(node, from) {
    if (from === 'table') this.map.select(node.object);
    this.#showChosen(node);
    clearTimeout(this.settling);
    const sel = node.object === null ? null : `${this.snapshot}:@${node.object}`;
    this.settling = window.setTimeout(() => this.ctx.go({ sel }, { replace: true }), SETTLED_MS);
  }

  /** @param {TreeNode} node */
  #showChosen(node) {
    fill(this.chosen, linkRow(node, this.ctx, this.#wordOf(node), flameOf(node)));
  }

  /** The object of a row in a line. @param {TreeNode} node */
  #wordOf(node) {
    return node.object === null ? '' : `${this.snapshot}:@${node.object}`;
  }

  /** @param {TreeNode} node @param {Event} event */
  #open(node, event) {
    if (event.type === 'click') return;
    clearTimeout(this.settling);
    if (node.object !== null) this.ctx.go({ q: `info ${this.#wordOf(node)}` });
    else if (node.word) this.ctx.go({ q: treeLine(node.word, this.byType ? 'by type' : ''), sel: null, zoom: null });
  }

  /** @param {State} state @param {{word: string | null, byType: boolean}} what */
  #showTools(state, { word, byType }) {
    const { ctx } = this;
    const toggle = (/** @type {boolean} */ isOn, /** @type {string} */ label, /** @type {import('../state.js').Change} */ change) =>
      h('a', { class: 'button', href: ctx.href(change), 'aria-current': isOn ? 'true' : null }, label);
    const snapshots = ctx.file.snapshots ?? 1;
    const isGrowth = state.extra.colour === 'growth' && snapshots > 1;
    const range = `${state.a ?? 0}..${state.b ?? snapshots - 1}`;
    fill(this.tools,
      h('span', { class: 'group', role: 'group', 'aria-label': 'children' }, 'children ',
        toggle(!byType, 'one by one', { q: treeLine(word ?? '') }), toggle(byType, 'by type', { q: treeLine(word ?? '', 'by type') })),
      h('span', { class: 'group', role: 'group', 'aria-label': 'colour of the map' }, 'colour ', toggle(!isGrowth, 'type', { colour: null }),
        snapshots > 1 ? toggle(isGrowth, `growth ${range}`, { colour: 'growth' }) : h('span', { class: 'muted' }, 'growth needs two snapshots')),
      state.extra.zoom ? h('a', { class: 'button', href: ctx.href({ zoom: null }) }, `map: out of ${visible(state.extra.zoom)} `, h('kbd', null, 'Esc')) : null,
      word ? h('a', { class: 'button', href: ctx.href({ q: 'dominators', zoom: null, sel: null }) }, 'all roots') : null,
      h('details', { class: 'keys' }, h('summary', null, 'keys'), h('p', null,
        'Table: ↑ ↓ rows, → expands, ← collapses, Shift → expands to where half is left, * expands all rows beside, Enter opens. Map: ↓ into, ↑ out, ← → beside, Enter zooms in, a double click by one level, Esc out, t table.')));
  }
}

/** The flame graph that begins with a place, or with all objects of a row; classes are steps of their own there. @param {TreeNode} node */
function flameOf(node) {
  if (node.roots) return flameLine([`[${node.roots}]`]);
  if (node.members === null || node.members === 1) return node.word && node.object !== null ? flameLine([node.word]) : null;
  const { above } = node;
  if (!above || node.kind === 'class') return null;
  return flameLine([...(above.roots ? [`[${above.roots}]`] : above.word ? [above.word] : []), node.type]);
}

/** Why a tree has nothing to show. @param {import('../ask.js').Answer} answer */
function whyEmpty(answer) {
  const rows = answer.tables[answer.tables.length - 1]?.rows ?? [];
  if (rows.length === 0) return answer.notes.map(visible).join(' ') || 'This snapshot has no objects.';
  const [top] = nodesOf(answer, 0);
  return top.objects === 0 ? 'No object is reachable from a root, so nothing is retained.' : null;
}
