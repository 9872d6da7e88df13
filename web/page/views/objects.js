// Objects that were seen, a way to any other, and the file itself: what `info` without an object shows.

import { fill, h } from '../dom.js';
import { visible } from '../value_text.js';
import { renderAnswer } from '../answer.js';
import { Section } from '../section.js';
import { visitedIn } from '../context.js';

/** @typedef {import('../context.js').Context} Context */

/** @param {HTMLElement} root @param {Context} ctx @returns {import('../context.js').View} */
export function mount(root, ctx) {
  const file = new Section(ctx, { title: 'The file', showsLine: true, name: 'file', mirror: root });
  const input = h('input', { type: 'text', placeholder: '@123', 'aria-label': 'object', autocomplete: 'off', spellcheck: 'false' });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const name = input.value.trim();
    if (name) ctx.go({ q: `info ${/^\d+$/.test(name) ? `@${name}` : name}` });
  };
  const largest = 'top 20 all by retained';
  const seen = h('section', { class: 'section', 'data-section': 'visited', 'data-state': 'ready' });
  fill(root, h('form', { class: 'search-form', onsubmit: submit, 'aria-label': 'object' }, h('label', null, 'Object ', input), h('button', { type: 'submit' }, 'Show'),
    h('a', { href: ctx.href({ q: largest }) }, 'the largest objects')), seen, file.element);
  return {
    update() {
      const visited = visitedIn(ctx.file);
      seen.dataset.state = visited.length > 0 ? 'ready' : 'empty';
      fill(seen, h('h2', null, 'Objects that you have looked at'), visited.length === 0 ? h('p', { class: 'empty' }, ['None yet. Each ', h('code', null, '@123'), ' in a table leads to one.'])
        : h('ul', { class: 'visited' }, visited.map((one) => h('li', null, h('a', { href: ctx.href({ q: `info ${one.name}` }) }, one.name), ' ', h('bdi', null, visible(one.title))))));
      void file.ask('info', {}, { isQuiet: true, draw: (answer) => renderAnswer(answer, ctx, { line: 'info' }) });
    },
    destroy: () => file.destroy(),
  };
}
