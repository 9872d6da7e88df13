// The recorded processes with another number of slots: what `what-if -j N` predicts, beside what was recorded.

import { fill, h } from './dom.js';
import { grouped, numberText, visible } from './value_text.js';
import { factOf } from './answer.js';
import { Section } from './section.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('./state.js').State} State */
/** @typedef {import('./ask.js').Answer} Answer */

/** A choice is asked after this time without a further one, in milliseconds. */
const SETTLES = 200;
const MOST_SLOTS = 128;

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
    const slots = /^\d{1,3}$/.test(state.extra.j ?? '') ? Math.max(1, Math.min(MOST_SLOTS, Number(state.extra.j))) : null;
    // Without a choice it is the recorded number.
    const line = slots === null ? 'what-if' : `what-if -j ${slots}`;
    const key = `${line} ${this.ctx.file.revision}`;
    if (key === this.asked) return;
    this.asked = key;
    void this.section.ask(line, {}, {
      isQuiet: true,
      draw: (answer) => {
        const asked = Number(factOf(answer, 'slots') ?? slots ?? 1);
        const most = 4 * Math.max(Number(factOf(answer, 'cores') ?? 0), Number(factOf(answer, 'recorded_slots') ?? 0), 4);
        this.slider.max = String(Math.min(MOST_SLOTS, Math.max(most, asked)));
        if (document.activeElement !== this.slider || slots === null) this.slider.value = String(asked);
        this.show(Number(this.slider.value));
        fill(this.result, resultNode(answer, asked));
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
    return value == null ? '–' : numberText(value, unit);
  };
  const range = typeof factOf(answer, 'peak_high_bytes') !== 'number' ? '' : ` (${fact('peak_low_bytes', 'bytes')} to ${fact('peak_high_bytes', 'bytes')})`;
  const row = (/** @type {string} */ name, /** @type {string} */ wall, /** @type {string} */ peak) => h('tr', null, h('th', { scope: 'row' }, name), h('td', { class: 'number' }, wall), h('td', { class: 'number' }, peak));
  return h('div', null, h('table', { class: 'rows' }, h('caption', { class: 'sr-only' }, 'predicted and recorded'),
    h('thead', null, h('tr', null, h('td'), h('th', { scope: 'col', class: 'number' }, 'wall'), h('th', { scope: 'col', class: 'number' }, 'peak memory'))),
    h('tbody', null, row(`predicted, -j ${grouped(slots)}`, `~${fact('wall_ns', 'duration')}`, `~${fact('peak_bytes', 'bytes')}${range}`),
      row(`recorded${factOf(answer, 'recorded_slots') ? `, -j ${factOf(answer, 'recorded_slots')}` : ''}`, fact('recorded_wall_ns', 'duration'), fact('recorded_peak_bytes', 'bytes')),
      row('replayed as recorded', `~${fact('replayed_wall_ns', 'duration')}`, `~${fact('replayed_peak_bytes', 'bytes')}`))),
  h('ul', { class: 'notes' }, answer.notes.filter(Boolean).map((note) => h('li', null, visible(note)))));
}
