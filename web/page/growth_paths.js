// What type paths gained from one snapshot to another, for the places of a tree: from an answer of `diff A B by path`.
//
// A path is a group of roots and then types down the dominator tree; objects of one type directly below each other are one
// step. All objects of a path have its change. Places whose path did not change, or is too small to be tracked, have none.

/** @typedef {import('./ask.js').Answer} Answer */
/** @typedef {{type: string, name: string | null, roots?: string | null, kind: string | null, word: string | null, object: number | null, members?: number | null}} Place */
/** @typedef {{steps: Map<string, Step>, change: number | null}} Step */

/**
 * The change of the path of each place, in bytes; null where none is known.
 * @param {Answer} answer of `diff A B by path`
 * @param {(Place & {depth: number, between?: Place[]})[]} nodes depth first; `between` are places above one that are no nodes
 * @param {Place[]} above the places above the first one, the outermost first
 * @returns {(number | null)[]}
 */
export function changesOf(answer, nodes, above) {
  let at = { step: /** @type {Step | null} */ (stepsOf(answer)), identity: '' };
  for (const place of above) at = below(at, place);
  const least = nodes[0]?.depth ?? 0;
  /** Where the last place of each depth is. @type {(typeof at)[]} */
  const places = [];
  return nodes.map((node) => {
    const depth = node.depth - least;
    places[depth] = below((node.between ?? []).reduce(below, depth === 0 ? at : places[depth - 1]), node);
    return places[depth].step?.change ?? null;
  });
}

/** The paths of an answer as a tree. @param {Answer} answer @returns {Step} */
function stepsOf(answer) {
  const table = answer.tables[answer.tables.length - 1];
  const keys = table?.columns.map((column) => column.key) ?? [];
  const [shown, changes] = ['shown_path', 'steps_bytes_change'].map((key) => keys.indexOf(key));
  const root = step();
  /** Steps with two paths of the same names, of which nothing is known. @type {Set<Step>} */
  const twice = new Set();
  const ends = new Set();
  for (const row of table?.rows ?? []) {
    let at = root;
    for (const [number, name] of row[shown].value.entries()) {
      const next = at.steps.get(name) ?? step();
      at.steps.set(name, next);
      const change = row[changes]?.value[number]?.value ?? null;
      if (change !== null && next.change !== null && next.change !== Number(change)) twice.add(next);
      if (change !== null) next.change = Number(change);
      at = next;
    }
    if (ends.has(at)) twice.add(at);
    ends.add(at);
  }
  for (const one of twice) one.change = null;
  return root;
}

/** @returns {Step} */
function step() {
  return { steps: new Map(), change: null };
}

/** The step of a place below another one. @param {{step: Step | null, identity: string}} parent @param {Place} place */
function below(parent, place) {
  if (place.word === '') return parent;
  if (place.roots) return found(parent, [`[${place.roots}]`], place);
  // An object that represents a type, such as a class, is a step of its own.
  return found(parent, place.name === null ? [place.type] : [`${place.kind} ${place.name}`, place.type], place);
}

/** @param {{step: Step | null, identity: string}} parent @param {string[]} names @param {Place} place */
function found(parent, names, place) {
  const own = `${place.kind}\n${names[names.length - 1]}`;
  for (const name of names) {
    const identity = name === names[names.length - 1] ? own : `${place.kind}\n${name}`;
    if (identity === parent.identity) return parent;
    const next = parent.step?.steps.get(name);
    if (next) return { step: next, identity };
  }
  return { step: null, identity: own };
}
