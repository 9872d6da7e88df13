// One search over types, objects and texts: three questions that load alone.

import { fill, h } from '../dom.js';
import { renderAnswer } from '../answer.js';
import { Section } from '../section.js';
import { isBare, literal } from '../state.js';

/** @typedef {import('../context.js').Context} Context */

/** Typing is searched after this time, in milliseconds. */
const SETTLES = 400;
/** Rows of each section. */
const ROWS = 100;

/** @param {HTMLElement} root @param {Context} ctx @returns {import('../context.js').View} */
export function mount(root, ctx) {
  const box = h('input', { id: 'search', type: 'search', 'aria-label': 'search types, objects and texts', placeholder: 'part of a name, a glob* or /regex/; @123 is an object', autocomplete: 'off', spellcheck: 'false' });
  const sections = ['Types', 'Objects', 'Texts'].map((title) => new Section(ctx, { title, showsLine: true, name: title.toLowerCase() }));
  const direct = h('p', { class: 'direct' });
  let timer = 0;
  let searched = /** @type {string | null} */ (null);
  const search = () => {
    clearTimeout(timer);
    ctx.go({ p: 'search', find: box.value.trim() || null }, { replace: true });
  };
  box.addEventListener('input', () => {
    clearTimeout(timer);
    timer = window.setTimeout(search, SETTLES);
  });
  const submit = (/** @type {Event} */ event) => { event.preventDefault(); search(); };
  fill(root, h('form', { class: 'search-form', role: 'search', 'aria-label': 'search', onsubmit: submit }, box, h('button', { type: 'submit', class: 'primary' }, 'Search'), direct),
    sections.map((section) => section.element));
  box.focus();
  return {
    update(state) {
      const find = state.extra.find ?? '';
      if (searched === null || document.activeElement !== box) box.value = find;
      const key = `${find} ${state.s} ${state.w} ${ctx.file.revision}`;
      if (key === searched) return;
      searched = key;
      const object = find.match(/^(\d+:)?@\d+$|^0x[0-9a-f]+$/i)?.[0];
      const nothing = isBare(ctx.file) && !ctx.file.processes;
      fill(direct, nothing ? ['This recording holds no heap and no processes to search; ', h('a', { href: ctx.href({ q: 'trials' }) }, 'trials'), ' lists what was measured.']
        : object ? ['an object: ', h('a', { href: ctx.href({ q: `info ${object}` }) }, `info ${object}`)] : null);
      root.dataset.state = find ? 'ready' : 'empty';
      const lines = linesOf(find, ctx);
      sections.forEach((section, at) => {
        section.element.hidden = !find || !lines[at];
        if (find && lines[at]) ask(section, lines[at], ctx);
        else section.stop();
      });
    },
    destroy() {
      clearTimeout(timer);
      for (const section of sections) section.destroy();
    },
  };
}

/** The three questions; of a recording of processes only, the second one alone; of trials none. @param {string} find @param {Context} ctx */
function linesOf(find, ctx) {
  const isRegex = /^\/.+\/$/s.test(find);
  const isGlob = /[*?]/.test(find);
  // Quotes and slashes would end the expression.
  const isPlain = !isGlob && !/["'\\/]/.test(find);
  const pattern = isRegex ? `/${find.slice(1, -1).replace(/\\?[^]/g, (c) => (c === '/' ? '\\/' : c))}/` : isPlain ? `/(?i)${find.replace(/[.+()|[\]{}^$#]/g, '\\$&')}/` : literal(isGlob ? find : `*${find}*`);
  if (ctx.file.processes && !ctx.file.snapshots) return ['', `find ${ROWS} arguments ~ ${pattern}`, ''];
  if (isBare(ctx.file)) return ['', '', ''];
  return [`histogram type ~ ${pattern}`, `find ${ROWS} name ~ ${pattern}`, `strings ${pattern}`];
}

/** @param {Section} section @param {string} line @param {Context} ctx */
function ask(section, line, ctx) {
  void section.ask(line, { from: 0, n: ROWS }, {
    draw: (answer) => h('div', null, renderAnswer(answer, ctx, { line }), (answer.rows_total ?? 0) > ROWS
      ? h('p', null, h('a', { href: ctx.href({ q: line }) }, 'all rows')) : null),
    why: (answer) => (answer.tables.some((table) => table.rows.length > 0) ? null : 'Nothing has such a name.'),
  });
}
