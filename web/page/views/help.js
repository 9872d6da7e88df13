// What can be asked: every verb by its group, with an example that asks it here; the keys; expressions.

import { fill, h } from '../dom.js';
import { visible } from '../value_text.js';
import { KEYS } from '../keys.js';
import { Section } from '../section.js';
import { verbOf, words } from '../state.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('../context.js').Verb} Verb */

/** Lines that change the address instead of being asked. */
const HERE = ['without', 'let', 'snapshot', 'help'];

/** @param {HTMLElement} root @param {Context} ctx @returns {import('../context.js').View} */
export function mount(root, ctx) {
  const expressions = new Section(ctx, { title: 'Expressions', showsLine: true, name: 'expressions' });
  const keys = h('section', { class: 'section', 'data-section': 'keys', 'data-state': 'ready' }, h('h2', null, 'Keys'),
    h('dl', { class: 'keys' }, KEYS.map(([key, does]) => h('div', null, h('dt', null, h('kbd', null, key)), h('dd', null, does)))));
  const groups = [...new Set(ctx.verbs.map((verb) => verb.group))].map((group) => h('section', { class: 'section', 'data-section': 'verbs', 'data-state': 'ready' },
    h('h2', null, group), ctx.verbs.filter((verb) => verb.group === group).map((verb) => verbNode(verb, ctx))));
  fill(root, keys, groups, expressions.element);
  root.dataset.state = 'ready';
  if (ctx.file?.state === 'ready') {
    void expressions.ask('help expressions', {}, { isQuiet: true, draw: (answer) => h('pre', { class: 'notes' }, answer.notes.map(visible).join('\n')) });
  } else {
    expressions.element.hidden = true;
  }
  return {
    update(state) {
      const asked = verbOf(words(state.q)[1] ?? '');
      for (const one of root.querySelectorAll('details.verb')) one.toggleAttribute('open', one.id === `verb-${asked}`);
      const target = asked === 'expressions' ? expressions.element : document.getElementById(`verb-${asked}`);
      target?.scrollIntoView({ block: 'start' });
      target?.querySelector('summary')?.focus();
    },
    destroy: () => expressions.destroy(),
  };
}

/** @param {Verb} verb @param {Context} ctx */
function verbNode(verb, ctx) {
  const isHere = verb.page || HERE.includes(verb.name);
  const example = isHere && ctx.file?.state === 'ready'
    ? h('a', { href: ctx.href({ q: verb.example }) }, h('code', null, verb.example)) : h('code', null, verb.example);
  const where = isHere ? null : h('p', { class: 'muted' }, 'Only in a shell', verb.shell ? [': ', h('code', null, verb.shell)] : ' or at the prompt', '.');
  return h('details', { class: 'verb', id: `verb-${verb.name}` },
    h('summary', null, h('code', null, verb.usage), ' ', h('span', { class: 'muted' }, verb.about)),
    h('p', null, code(verb.details)), verb.aliases.length > 0 ? h('p', { class: 'muted' }, 'Also called ', verb.aliases.join(', '), '.') : null,
    h('p', null, 'For instance: ', example), where);
}

/** A text with its `code`. @param {string} text */
function code(text) {
  return text.split('\x60').map((part, at) => (at % 2 === 1 ? h('code', null, part) : part));
}
