// What can follow on the question line: a list that hangs below it and pushes the rest down, so that it covers nothing.
// Arrows choose, Tab and Enter take, Escape closes; a click takes, too.

import { fill, h } from './dom.js';
import { visible } from './value_text.js';

/** A word that can follow, and what it is. @typedef {{text: string, what: string}} Choice */
/** `replaces`: characters before the cursor that a choice replaces. @typedef {{replaces: number, choices: Choice[]}} Found */

/** The line is completed after this time without a further letter, in milliseconds. */
const SETTLES = 80;
/** Characters of a choice that are shown. */
const LONGEST = 200;

export class Completion {
  /**
   * @param {HTMLInputElement} input
   * @param {(before: string, signal: AbortSignal) => Promise<Found>} ask
   * @param {(choice: Choice) => string} describe what a choice is, in words
   */
  constructor(input, ask, describe) {
    this.input = input;
    this.ask = ask;
    this.describe = describe;
    this.settling = 0;
    this.controller = new AbortController();
    /** @type {Found} */
    this.found = { replaces: 0, choices: [] };
    this.chosen = -1;
    this.element = h('ul', { id: 'completions', class: 'completions', role: 'listbox', 'aria-label': 'what can follow', hidden: true });
    for (const [name, value] of Object.entries({ role: 'combobox', 'aria-autocomplete': 'list', 'aria-expanded': 'false', 'aria-controls': 'completions' })) input.setAttribute(name, value);
    input.addEventListener('input', () => this.#typed());
    input.addEventListener('keydown', (event) => this.#key(event));
  }

  get isOpen() {
    return !this.element.hidden;
  }

  close() {
    clearTimeout(this.settling);
    this.controller.abort();
    this.#show({ replaces: 0, choices: [] });
  }

  #typed() {
    clearTimeout(this.settling);
    this.controller.abort();
    this.settling = window.setTimeout(() => void this.#ask(), SETTLES);
  }

  async #ask() {
    const { input } = this;
    const before = input.value.slice(0, input.selectionStart ?? input.value.length);
    if (before.trim() === '' || input.selectionStart !== input.selectionEnd || document.activeElement !== input) return this.close();
    this.controller = new AbortController();
    const { signal } = this.controller;
    try {
      const found = await this.ask(before, signal);
      const word = before.slice(before.length - found.replaces);
      if (!signal.aborted) this.#show(found.choices.length === 1 && found.choices[0].text === word ? { ...found, choices: [] } : found);
    } catch {
      // The line can be typed without it.
      if (!signal.aborted) this.close();
    }
  }

  /** @param {Found} found */
  #show(found) {
    this.found = found;
    const { choices } = found;
    fill(this.element, choices.map((choice, at) => h('li', {
      id: `completion-${at}`, role: 'option', 'aria-selected': 'false',
      onpointerdown: (/** @type {Event} */ event) => event.preventDefault(), onclick: () => this.#take(at),
    }, h('bdi', null, visible(choice.text.slice(0, LONGEST))), ' ', h('span', { class: 'muted' }, this.describe(choice)))));
    this.element.hidden = choices.length === 0;
    this.input.setAttribute('aria-expanded', String(this.isOpen));
    this.#choose(-1);
  }

  /** @param {number} at -1: none */
  #choose(at) {
    this.chosen = at;
    [...this.element.children].forEach((option, index) => option.setAttribute('aria-selected', String(index === at)));
    this.element.children[at]?.scrollIntoView({ block: 'nearest' });
    if (at < 0) this.input.removeAttribute('aria-activedescendant');
    else this.input.setAttribute('aria-activedescendant', `completion-${at}`);
  }

  /** Puts a choice into the line. @param {number} at */
  #take(at) {
    const { input, found } = this;
    const { text, what } = found.choices[at];
    const end = input.selectionStart ?? input.value.length;
    input.setRangeText(what === 'verb' ? `${text} ` : text, end - found.replaces, end, 'end');
    this.close();
    input.focus();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (!this.isOpen || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey || event.isComposing) return;
    const count = this.found.choices.length;
    switch (event.key) {
      case 'ArrowDown': this.#choose((this.chosen + 1) % count); break;
      case 'ArrowUp': this.#choose((Math.max(this.chosen, 0) + count - 1) % count); break;
      case 'Tab': this.#take(Math.max(this.chosen, 0)); break;
      case 'Enter':
        if (this.chosen < 0) return;
        this.#take(this.chosen);
        break;
      case 'Escape': this.close(); break;
      default: return;
    }
    event.preventDefault();
  }
}
