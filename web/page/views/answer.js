// The view of any question that has no view of its own.

import { fill, h } from '../dom.js';
import { WINDOW, renderAnswer } from '../answer.js';
import { forPeople } from '../cell.js';
import { longPathNode, pathsNode } from '../path_answers.js';
import { visible } from '../value_text.js';
import { Section } from '../section.js';
import { verbOf } from '../state.js';

/** @param {HTMLElement} root @param {import('../context.js').Context} ctx @returns {import('../context.js').View} */
export function mount(root, ctx) {
  const section = new Section(ctx, { name: 'answer', mirror: root });
  const title = h('h2');
  fill(root, title, section.element);
  return {
    update(state) {
      title.textContent = ctx.verbs.find((verb) => verb.name === verbOf(state.q))?.about ?? '';
      title.hidden = title.textContent === '';
      const [verb, isPaths] = [verbOf(state.q), verbOf(state.q) === 'paths'];
      section.head.hidden = !isPaths;
      fill(section.actions, isPaths ? h('a', { class: 'button', href: ctx.href({ as: 'flame' }) }, 'flame graph') : null);
      askWindow(section, ctx, state.q, number(state.extra.from) ?? 0, number(state.extra.n) ?? WINDOW, undefined, isPaths ? pathsNode : verb === 'path' ? longPathNode : renderAnswer);
    },
    destroy: () => section.destroy(),
  };
}

/** @param {string | undefined} text */
function number(text) {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Why there is nothing to see: tables without rows, or no answer at all. @param {import('../ask.js').Answer} answer */
function why(answer) {
  const tables = answer.tables.filter(forPeople);
  const isBare = tables.length === 0 && answer.facts.length === 0 && answer.notes.length === 0;
  if (!isBare && (tables.length === 0 || tables.some((table) => table.rows.length > 0))) return null;
  return visible(answer.notes.filter(Boolean).join('; ')) || 'Nothing was found.';
}

/**
 * Asks a line and draws its answer, with buttons for further windows.
 * @param {Section} section @param {import('../context.js').Context} ctx @param {string} line @param {number} from @param {number} n
 * @param {import('../answer.js').TableOptions} [table] @param {typeof renderAnswer} [draw]
 */
export function askWindow(section, ctx, line, from, n, table, draw = renderAnswer) {
  void section.ask(line, { from, n: Math.min(n, WINDOW) }, {
    draw: (answer) => draw(answer, ctx, { line, table, onPage: (to, count) => ctx.go({ from: to === 0 ? null : to, n: count }) }),
    why,
  });
}
