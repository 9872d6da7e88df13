// The recorded processes with another number of slots: what `what-if -j N` predicts, beside what was recorded.

import { fill, h } from './dom.js';
import { grouped, numberText, visible } from './cell.js';
import { factOf } from './answer.js';
import { Section } from './section.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('./state.js').State} State */
/** @typedef {import('./ask.js').Answer} Answer */

/** A choice is asked after this time without a further one, in milliseconds. */
const SETTLES = 200;
const MOST_SLOTS = 64;

export class Slots {
  /** @param {Context} ctx */
  constructor(ctx) {
    this.ctx = ctx;
    this.section = new Section(ctx, { title: 'With other numbers of slots', showsLine: true, name: 'what-if' });
    this.asked = '';
    this.timer = 0;
    this.number = h('output', { class: 'slots', for: 'slots' });
    this.slider = h('input', { id: 'slots', type: 'range', min: 1, max: MOST_SLOTS, 'aria-label': 'slots', oninput: () => this.moved() });
    this.result = h('div');
    this.drawn = h('div', null, h('label', { class: 'slots-choice', for: 'slots' }, '-j ', this.number), this.slider, this.result);
  }

  moved() {
    this.show(Number(this.slider.value));
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.ctx.go({ j: this.slider.value }, { replace: true }), SETTLES);
  }

  /** @param {number} slots */
  show(slots) {
    this.number.textContent = String(slots);
    this.slider.setAttribute('aria-valuetext', `-j ${slots}`);
  }

  /** @param {State} state */
  update(state) {
    const isKnown = this.ctx.verbs.some((verb) => verb.name === 'what-if');
    this.section.element.hidden = !isKnown;
    if (!isKnown) return;
    const slots = /^\d{1,2}$/.test(state.extra.j ?? '') ? Math.max(1, Math.min(MOST_SLOTS, Number(state.extra.j))) : 4;
    if (document.activeElement !== this.slider) this.slider.value = String(slots);
    this.show(slots);
    const line = `what-if -j ${slots}`;
    const key = `${line} ${this.ctx.file.revision}`;
    if (key === this.asked) return;
    this.asked = key;
    void this.section.ask(line, {}, {
      isQuiet: true,
      draw: (answer) => {
        fill(this.result, resultNode(answer, slots));
        return this.drawn;
      },
    });
  }

  destroy() {
    clearTimeout(this.timer);
    this.section.destroy();
  }
}

/** @param {Answer} answer @param {number} slots */
function resultNode(answer, slots) {
  const fact = (/** @type {string} */ key, /** @type {string} */ unit) => {
    const value = factOf(answer, key);
    return value === undefined || value === null ? '–' : numberText(value, unit);
  };
  const row = (/** @type {string} */ name, /** @type {string} */ wall, /** @type {string} */ peak) => h('tr', null, h('th', { scope: 'row' }, name), h('td', { class: 'number' }, wall), h('td', { class: 'number' }, peak));
  return h('div', null, h('table', { class: 'rows' }, h('caption', { class: 'sr-only' }, 'predicted and recorded'),
    h('thead', null, h('tr', null, h('td'), h('th', { scope: 'col', class: 'number' }, 'wall'), h('th', { scope: 'col', class: 'number' }, 'peak memory'))),
    h('tbody', null, row(`predicted, -j ${grouped(slots)}`, `~${fact('wall_ns', 'duration')}`, `~${fact('peak_bytes', 'bytes')}`),
      row('recorded', fact('recorded_wall_ns', 'duration'), fact('recorded_peak_bytes', 'bytes')),
      row('replayed as recorded', `~${fact('replayed_wall_ns', 'duration')}`, ''))),
  h('ul', { class: 'notes' }, answer.notes.filter(Boolean).map((note) => h('li', null, visible(note)))));
}
