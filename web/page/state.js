// The address fragment and what it means, both ways; and the same question as a line for a shell.
//
//   #q=growth 0..28&s=7&f=app.barrow&w=type = "Cache"&let=$a = size > 1K&a=3&b=28

/**
 * @typedef {object} State
 * @property {string} q the question line, as at the prompt; empty if none is asked
 * @property {number | null} s the selected snapshot; null follows the last one
 * @property {string | null} f the name of the file; null if there is only one
 * @property {string[]} w what is excluded, in order: the words after `without`
 * @property {string[]} lets the sets, in order: `$name = EXPR`
 * @property {number | null} a the first snapshot of the brush
 * @property {number | null} b the last snapshot of the brush
 * @property {Record<string, string>} extra short keys that a view adds; the line never needs them
 */
/**
 * A change of a state. Names that the state does not have are short keys of a view; null removes one.
 * @typedef {Partial<Omit<State, 'extra'>> & Record<string, any>} Change
 */

const OWN = new Set(['q', 's', 'f', 'w', 'lets', 'a', 'b']);

/** @returns {State} */
export function empty() {
  return { q: '', s: null, f: null, w: [], lets: [], a: null, b: null, extra: {} };
}

/** @param {string | null} text @returns {number | null} */
function number(text) {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** @param {string} hash with or without `#` @returns {State} */
export function parse(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const state = empty();
  state.q = (fields.get('q') ?? '').trim();
  state.s = number(fields.get('s'));
  state.f = fields.get('f');
  state.w = fields.getAll('w');
  state.lets = fields.getAll('let');
  state.a = number(fields.get('a'));
  state.b = number(fields.get('b'));
  if (state.a === null || state.b === null || state.a >= state.b) state.a = state.b = null;
  for (const [key, value] of fields) {
    if (!OWN.has(key) && key !== 'let') state.extra[key] = value;
  }
  return state;
}

/** @param {State} state @returns {string} with `#` */
export function format(state) {
  const fields = new URLSearchParams();
  if (state.q) fields.set('q', state.q);
  if (state.s !== null) fields.set('s', String(state.s));
  if (state.f !== null) fields.set('f', state.f);
  for (const words of state.w) fields.append('w', words);
  for (const set of state.lets) fields.append('let', set);
  if (state.a !== null && state.b !== null) {
    fields.set('a', String(state.a));
    fields.set('b', String(state.b));
  }
  for (const [key, value] of Object.entries(state.extra)) fields.set(key, value);
  return `#${fields}`;
}

/**
 * The state after a change. Another view forgets the keys of this one; another file forgets what belongs to this one.
 * @param {State} state @param {Change} change @returns {State}
 */
export function changed(state, change) {
  const next = /** @type {State} */ ({ ...state, extra: { ...state.extra } });
  const isOther = change.q !== undefined && viewOf(change.q) !== viewOf(state.q);
  if (isOther) next.extra = {};
  else if (change.q !== undefined) for (const key of ['p', 'from', 'n', 'path']) delete next.extra[key];
  if (change.f !== undefined && change.f !== state.f) {
    Object.assign(next, { s: null, w: [], lets: [], a: null, b: null, extra: {} });
  }
  if (change.s !== undefined && change.s !== state.s) Object.assign(next, { w: state.w.filter((one) => !isOfSnapshot(one)), lets: ofAll(state.lets) });
  for (const [key, value] of Object.entries(change)) {
    if (OWN.has(key)) Object.assign(next, { [key]: value });
    else if (value == null) delete next.extra[key];
    else next.extra[key] = String(value);
  }
  return next;
}

/** Whether words name an object by its number, which another one has in another snapshot. @param {string} text */
export function isOfSnapshot(text) {
  return /(^|[^\w:])@\d/.test(text);
}

/** The sets that are of no snapshot: without those that name an object, and what is made of them. @param {string[]} lets @returns {string[]} */
function ofAll(lets) {
  const name = (/** @type {string} */ set) => set.match(/^\$\w+/)?.[0] ?? '';
  const gone = new Set(lets.filter(isOfSnapshot).map(name));
  return lets.filter((set) => !isOfSnapshot(set) && !(set.slice(name(set).length).match(/\$\w+/g) ?? []).some((other) => gone.has(other) && gone.add(name(set))));
}

/** The words of a line: quotes keep blanks together. @param {string} line @returns {string[]} */
export function words(line) {
  return line.match(/"[^"]*"?|'[^']*'?|[^\s"']+/g) ?? [];
}

/** What the first word names: the view of a verb. Unique beginnings of verbs are completed by `resolve`. */
/** @type {Record<string, string>} */
const VIEWS = {
  // @ts-expect-error a verb that nobody knows is not found in what objects inherit
  __proto__: null,
  summary: 'series', snapshots: 'series', growth: 'series', leaks: 'series', trend: 'series',
  top: 'types', histogram: 'types', diff: 'types', sites: 'types', age: 'types', born: 'types', died: 'types',
  dominators: 'tree', flame: 'flame', info: 'object', help: 'help', list: 'list', group: 'list', lanes: 'lanes', trials: 'trials', compare: 'compare', values: 'runs', runs: 'runs',
};

/** @type {(word: string) => string} */
let resolve = (word) => word;

/** Tells which verb a word names: aliases and unique beginnings. @param {(word: string) => string} names */
export function resolveVerbsWith(names) {
  resolve = names;
}

/** The verb of a line, in full. @param {string} line */
export function verbOf(line) {
  return resolve((words(line)[0] ?? '').toLowerCase());
}

/** The line that asks about a process. @param {string} name */
export function processLine(name) {
  return `info ${/^[\w.:-]+$/.test(name) ? name : literal(name)}`;
}

/** Views of heaps. */
const OF_HEAPS = ['series', 'types', 'tree', 'flame', 'object', 'objects', 'list'];

/**
 * The name of the view that shows a line of a file: what is about processes or trials has none of those of heaps.
 * @param {string} line @param {{snapshots: number | null, processes: boolean | null, trials: boolean | null} | null} [file]
 */
export function viewOf(line, file = null) {
  const verb = verbOf(line);
  const rest = words(line).slice(1);
  const isProcess = verb === 'info' && /^["']?([^@%]*:)?\d+["']?$/.test(rest[0] ?? '');
  const isOfProcesses = file?.processes && (!file.snapshots || isProcess);
  if (file?.trials && verb === 'histogram' && (!file.snapshots || isSeries(rest))) return 'metric';
  if ((isOfProcesses || isBare(file)) && OF_HEAPS.includes(viewOf(line))) return 'answer';
  if (verb === 'info' && rest.length === 0) return 'objects';
  if ((verb === 'snapshots' || verb === 'summary') && rest.some((word) => word !== 'all')) return 'answer';
  return VIEWS[verb] ?? 'answer';
}

/** Whether words may name a metric and a program, and are no expression. @param {string[]} rest */
function isSeries(rest) {
  return [1, 2].includes(rest.length) && !rest.includes('by') && rest.every((one) => !/[=<>~(]/.test(one) || /^["']/.test(one));
}

/** Whether a file holds trials and no heap. @param {{snapshots: number | null, trials: boolean | null} | null} file */
export function isBare(file) {
  return Boolean(file?.trials && !file.snapshots);
}

/**
 * What a line does that is not a question: `without X`, `without clear`, `let $a = X`, `snapshot N`.
 * @param {string} line @param {State} state @returns {Change | null} null if the line is a question
 */
export function changeOf(line, state) {
  const rest = line.replace(/^\s*\S+\s*/, '').trim();
  if (rest === '') return null;
  switch (verbOf(line)) {
    case 'without':
      if (rest === 'clear') return { w: [] };
      return { w: state.w.includes(rest) ? state.w : [...state.w, rest] };
    case 'let': {
      const name = rest.match(/^\$[^\s=]+/)?.[0];
      if (!name || !rest.includes('=')) return null;
      return { lets: [...state.lets.filter((set) => !set.startsWith(`${name} `) && !set.startsWith(`${name}=`)), rest] };
    }
    case 'snapshot':
      if (rest === 'last') return { s: null };
      return /^\d{1,9}$/.test(rest) ? { s: Number(rest) } : null;
    default:
      return null;
  }
}

/** A word of a POSIX shell that means exactly this text. @param {string} text */
export function quoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A file name that no program takes for a flag. @param {string} name */
export function path(name) {
  return quoted(name.startsWith('-') ? `./${name}` : name);
}

/** The lines that make a session ask what this state asks. @param {State} state @returns {string[]} */
export function session(state) {
  const lines = [...state.w.map((words) => `without ${words}`)];
  if (state.s !== null) lines.push(`snapshot ${state.s}`);
  lines.push(...state.lets.map((set) => `let ${set}`));
  if (state.q) lines.push(state.q);
  return lines;
}

/** A file as a shell names it: `dumps` is how many a series has. @typedef {{folder: string, name: string, dumps: number | null}} Named */

/**
 * The words that make barrow open a file. A series is imported first: a shell lists its dumps, so `*` is outside the quotes.
 * @param {string} verb such as `barrow assert` @param {Named} file
 */
function opened(verb, { folder, name, dumps }) {
  if (!dumps) return `${verb} ${path(folder + name)}`;
  const pattern = `${folder ? path(folder) : /^[-*]/.test(name) ? './' : ''}${name.split('*').map((part) => part && quoted(part)).join('*')}`;
  const made = path(`${name.replace(/^.*\//, '').replace(/[^\p{L}\p{N}]*\*.*$/u, '') || 'series'}.barrow`);
  return `barrow import ${pattern} -o ${made} && ${verb} ${made}`;
}

/** The same question in a shell. @param {State} state @param {Named} file */
export function shellLine(state, file) {
  return [opened('barrow', file), ...session(state).flatMap((line) => ['-e', quoted(line)])].join(' ');
}

/** The same view by `barrow serve`. @param {State} state @param {Named} file */
export function serveLine(state, file) {
  return [opened('barrow serve', file), ...session(state).flatMap((line) => ['--at', quoted(line)])].join(' ');
}

/** An assertion in a shell. @param {Named} file @param {string} assertion */
export function assertLine(file, assertion) {
  return `${opened('barrow assert', file)} ${quoted(assertion)}`;
}

/** A text as a word of an expression. @param {string} text */
export function literal(text) {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** What has a name, as an expression: as a pattern of its beginning if no line can hold the name. Types have a place in the
 *  program after their names, which patterns do not know. @param {string} attribute @param {string} name */
export function nameIs(attribute, name) {
  const isShort = name.length < 1000;
  const last = isShort ? Math.max(...['\0', '\r', '\n'].map((one) => name.lastIndexOf(one))) : -1;
  if (isShort && last < 0) return `${attribute} = ${literal(name)}`;
  const first = isShort ? name.slice(0, last + 1) : [...name.slice(0, 400)].slice(0, 200).join('');
  return `${attribute} ~ ${literal(`${first.replace(/[*\0\r\n]/g, '?')}*`)}`;
}
