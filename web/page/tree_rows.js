// Which row of an expanded tree is at which place. Children are numbered, and most of them are never looked at.
//
// A run is a piece of one list of children with no expanded child in it except its last one. The runs of the whole tree, in
// the order of the rows, are one array; where each begins is a sum over those before it.
//
//   ▾ a            runs: root 0..1, a 0..2, a 2..9400000, root 1..3
//     ▸ a.0
//     ▾ a.1              (then the runs of a.1 would follow `a 0..2`)
//
// With n expanded nodes, finding a row takes log n steps; expanding and collapsing take at most n, and few near the last row that
// was found. Nothing is recursive, so a tree may have any depth.

/** The children of an expanded node, or the rows at the top. */
export class Branch {
  /** @param {Branch | null} parent whose children contain the node @param {number} index of the node among them
   *  @param {number} count of its children @param {any} node what the children belong to */
  constructor(parent, index, count, node) {
    this.parent = parent;
    this.index = index;
    this.count = count;
    this.node = node;
    /** The level of the children: 1 at the top. @type {number} */
    this.level = levelBelow(parent);
    /** Expanded children. @type {Map<number, Branch>} */
    this.expanded = new Map();
    /** Whether it was in the tree and is no longer. */
    this.isGone = false;
  }
}

/** @param {Branch | null} parent @returns {number} */
function levelBelow(parent) {
  return parent ? parent.level + 1 : 1;
}

/** @typedef {{branch: Branch, index: number}} Place */
/** @typedef {{branch: Branch, from: number, to: number}} Run */

export class TreeRows {
  /** @param {number} count of rows at the top @param {any} [node] */
  constructor(count, node = null) {
    this.root = new Branch(null, -1, count, node);
    /** @type {Run[]} */
    this.runs = count > 0 ? [{ branch: this.root, from: 0, to: count }] : [];
    /** The row at which each run begins, up to date below `valid`. @type {number[]} */
    this.starts = [];
    this.valid = 0;
    /** The run that was found last. */
    this.near = 0;
  }

  /** How many rows there are. */
  get length() {
    const last = this.runs.length - 1;
    return last < 0 ? 0 : this.#start(last) + size(this.runs[last]);
  }

  /** What is in row `row`. @param {number} row @returns {Place | null} */
  at(row) {
    if (!(row >= 0 && row < this.length)) return null;
    this.near = this.#runAt(row);
    const run = this.runs[this.near];
    return { branch: run.branch, index: run.from + row - this.#start(this.near) };
  }

  /** The children that are in the rows from `first` to before `end`, as pieces of their lists. @param {number} first @param {number} end @returns {Run[]} */
  between(first, end) {
    /** @type {Run[]} */
    const pieces = [];
    const last = Math.min(end, this.length);
    for (let row = Math.max(0, first), at = row < last ? this.#runAt(row) : 0; row < last; at++) {
      const { branch, from } = this.runs[at];
      const start = this.#start(at);
      const next = Math.min(last, start + size(this.runs[at]));
      pieces.push({ branch, from: from + row - start, to: from + next - start });
      row = next;
    }
    return pieces;
  }

  /** The row of a child whose branch is in the tree. @param {Branch} branch @param {number} index */
  rowOf(branch, index) {
    const at = this.#runOf(branch, index);
    return this.#start(at) + index - this.runs[at].from;
  }

  /** Shows the children of a child. @param {Branch} branch @param {number} index @param {number} count @param {any} [node] */
  expand(branch, index, count, node = null) {
    const before = branch.expanded.get(index);
    if (before) return before;
    const child = new Branch(branch, index, count, node);
    branch.expanded.set(index, child);
    const at = this.#runOf(branch, index);
    const { from, to } = this.runs[at];
    const pieces = [{ branch, from, to: index + 1 }];
    if (count > 0) pieces.push({ branch: child, from: 0, to: count });
    if (index + 1 < to) pieces.push({ branch, from: index + 1, to });
    this.runs.splice(at, 1, ...pieces);
    this.valid = Math.min(this.valid, at);
    return child;
  }

  /** Hides the children of a child, and everything below them. Returns the branches that are gone.
   *  @param {Branch} branch @param {number} index @returns {Branch[]} */
  collapse(branch, index) {
    const child = branch.expanded.get(index);
    if (!child) return [];
    branch.expanded.delete(index);
    const at = this.#runOf(branch, index);
    let end = at + 1;
    while (end < this.runs.length && this.runs[end].branch.level > branch.level) end++;
    const goesOn = this.runs[end]?.branch === branch;
    const whole = { branch, from: this.runs[at].from, to: goesOn ? this.runs[end].to : index + 1 };
    this.runs.splice(at, end - at + Number(goesOn), whole);
    this.valid = Math.min(this.valid, at);
    const gone = [child];
    for (const one of gone) {
      one.isGone = true;
      for (const below of one.expanded.values()) gone.push(below);
    }
    return gone;
  }

  /** @param {number} at a run */
  #start(at) {
    for (let run = this.valid; run <= at; run++) {
      this.starts[run] = run === 0 ? 0 : this.starts[run - 1] + size(this.runs[run - 1]);
    }
    this.valid = Math.max(this.valid, at + 1);
    return this.starts[at];
  }

  /** The run that contains a row. @param {number} row */
  #runAt(row) {
    let [low, high] = [0, this.runs.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#start(middle) <= row) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** The run that contains a child: near the last one, most of the time. @param {Branch} branch @param {number} index */
  #runOf(branch, index) {
    const { runs } = this;
    const isIt = (/** @type {Run | undefined} */ run) => run?.branch === branch && run.from <= index && index < run.to;
    for (let away = 0; away <= runs.length; away++) {
      if (isIt(runs[this.near + away])) return (this.near += away);
      if (isIt(runs[this.near - away])) return (this.near -= away);
    }
    throw new Error('the branch is not in the tree');
  }
}

/** @param {Run} run */
function size(run) {
  return run.to - run.from;
}
