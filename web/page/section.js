// A section of a view: one question, and its states. `data-state` is loading, ready, empty, error or cancelled.

import { afterFrame, fill, h } from './dom.js';
import { STOPPED, isAbort } from './ask.js';
import { grouped, visible } from './value_text.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('./ask.js').Answer} Answer */
/** @typedef {import('./ask.js').AskOptions} AskOptions */
/** @typedef {'loading' | 'ready' | 'empty' | 'error' | 'cancelled'} SectionState */

/** Progress is shown after this time, in milliseconds. */
const PATIENCE = 150;

/**
 * @typedef {object} SectionOptions
 * @property {string} [title] a heading; without it there is none
 * @property {number} [level] of the heading; 2 unless told
 * @property {boolean} [showsLine] whether the line is shown as a link beside the heading
 * @property {string} [name] `data-section`, for styles and tests
 * @property {HTMLElement} [mirror] an element that has the same `data-state`: the root of a view with one section
 */
/**
 * @typedef {object} Drawing
 * @property {(answer: Answer) => Node} draw
 * @property {(answer: Answer) => string | null} [why] why there is nothing to see, in a sentence; null if there is something
 * @property {boolean} [isQuiet] whether the end is not announced
 * @property {boolean} [isLarge] whether drawing has a frame of its own
 */

/**
 * One question with its heading, progress, error and answer. A late answer never replaces that of a newer question; on
 * an error or a stop the last good answer stays.
 */
export class Section {
  /** @param {Context} ctx @param {SectionOptions} [options] */
  constructor(ctx, options = {}) {
    this.ctx = ctx;
    this.options = options;
    this.line = '';
    /** The line that the body answers; empty if it answers none. */
    this.answered = '';
    /** @type {AbortController | null} */
    this.controller = null;
    /** @type {number | undefined} */
    this.timer = undefined;
    const { title, level = 2, name } = options;
    this.lineLink = h('a', { class: 'line', hidden: true });
    this.actions = h('span', { class: 'actions' });
    this.status = h('div', { class: 'section-status' });
    this.body = h('div', { class: 'section-body' });
    const heading = title === undefined ? null : h(level === 3 ? 'h3' : 'h2', null, title);
    this.head = h('div', { class: 'section-head' }, heading, this.lineLink, this.actions);
    this.head.hidden = !title && !options.showsLine;
    this.element = h('section', { class: 'section', 'data-section': name, 'aria-label': title }, this.head, this.status, this.body);
    this.is('loading');
  }

  /** @param {SectionState} state */
  is(state) {
    this.element.dataset.state = state;
    this.element.setAttribute('aria-busy', String(state === 'loading'));
    if (this.options.mirror) this.options.mirror.dataset.state = state;
  }

  /**
   * Asks and draws. Returns the answer, or null if there is none to draw.
   * @param {string} line @param {AskOptions} options @param {Drawing} drawing @returns {Promise<Answer | null>}
   */
  async ask(line, options, drawing) {
    this.stop();
    this.line = line;
    this.showLine(line);
    const controller = new AbortController();
    this.controller = controller;
    this.begin();
    let isAnswered = false;
    try {
      const answer = await this.ctx.ask(line, {
        ...options,
        signal: options.signal ? AbortSignal.any([options.signal, controller.signal]) : controller.signal,
        onProgress: (progress) => { this.progress = progress; },
      });
      if (drawing.isLarge) await afterFrame();
      if (this.controller !== controller) return null;
      this.end();
      isAnswered = true;
      this.show(answer, drawing);
      return answer;
    } catch (error) {
      // An error while drawing is told, too.
      if (!isAnswered && this.controller !== controller) return null;
      this.end();
      this.fail(error, () => this.ask(line, options, drawing));
      return null;
    }
  }

  /** @param {string} line */
  showLine(line) {
    if (!this.options.showsLine) return;
    this.lineLink.hidden = false;
    this.lineLink.textContent = visible(line);
    this.lineLink.href = this.ctx.href({ q: line });
    this.lineLink.title = 'this section as a question';
  }

  begin() {
    /** @type {import('./ask.js').Progress | null} */
    this.progress = null;
    const since = performance.now();
    this.is('loading');
    this.body.classList.toggle('stale', this.body.hasChildNodes());
    clearInterval(this.timer);
    this.timer = window.setInterval(() => {
      if (performance.now() - since < PATIENCE) return;
      if (!this.status.querySelector('.progress')) fill(this.status, progressNode(() => this.controller?.abort(STOPPED)), this.#before());
      showProgress(this.status, this.progress ?? null, performance.now() - since);
    }, PATIENCE / 2);
  }

  end() {
    clearInterval(this.timer);
    this.controller = null;
    this.body.classList.remove('stale');
    fill(this.status);
  }

  /** Says of which question the answer is that is still there. */
  #before() {
    if (!this.answered || this.answered === this.line || !this.body.hasChildNodes()) return null;
    const link = h('a', { href: this.ctx.href({ q: this.answered }) }, h('code', null, visible(this.answered)));
    return h('p', { class: 'last-good-label' }, 'The last answer, of ', link);
  }

  /** @param {Answer} answer @param {Drawing} drawing */
  show(answer, drawing) {
    const why = drawing.why?.(answer) ?? null;
    const hadFocus = this.body.contains(document.activeElement);
    if (why === null) {
      const drawn = drawing.draw(answer);
      // A node that is there already stays: taken out and put back, a canvas would lose its bitmap and the focus.
      if (this.body.childNodes.length !== 1 || this.body.firstChild !== drawn) fill(this.body, drawn);
      this.is('ready');
    } else {
      this.empty(why);
    }
    this.answered = this.line;
    // What had the focus may be gone with the answer before.
    if (hadFocus && document.activeElement === document.body) {
      this.body.tabIndex = -1;
      this.body.focus({ preventScroll: true });
    }
    if (!drawing.isQuiet) this.ctx.announce(why ?? inWords(this.options.title ?? visible(this.line), answer));
  }

  /** Says why there is nothing. @param {string} why */
  empty(why) {
    this.body.classList.remove('stale');
    this.answered = '';
    fill(this.body, h('p', { class: 'empty' }, why));
    this.is('empty');
  }

  /** @param {unknown} error @param {() => void} again */
  fail(error, again) {
    const askAgain = h('button', { type: 'button', onclick: again }, 'ask again');
    this.body.classList.toggle('stale', this.body.hasChildNodes());
    if (isAbort(error)) {
      if (/** @type {DOMException} */ (error).message !== STOPPED) return;
      fill(this.status, h('p', { class: 'cancelled' }, 'Stopped before it was answered. ', askAgain), this.#before());
      this.is('cancelled');
      this.ctx.announce('stopped');
      return;
    }
    if (!(error instanceof Error)) throw error;
    // What was not understood will not be understood again.
    const isFinal = /** @type {import('./ask.js').AskError} */ (error).code === 2;
    fill(this.status, errorNode(error), isFinal ? null : h('p', null, askAgain), this.#before());
    this.is('error');
    this.ctx.announce(`not answered: ${error.message}`);
  }

  /** Leaves the question that runs. */
  stop() {
    const before = this.controller;
    this.controller = null;
    clearInterval(this.timer);
    before?.abort();
    fill(this.status);
  }

  destroy() {
    this.stop();
    this.element.remove();
  }
}

/** What a screen reader says of an answer. @param {string} what @param {Answer} answer */
function inWords(what, answer) {
  const table = answer.tables[answer.tables.length - 1];
  const rows = answer.rows_total ?? table?.rows.length;
  return rows === undefined ? `${what}: answered` : `${what}: ${grouped(rows)} ${rows === 1 ? 'row' : 'rows'}`;
}

/** An error in words: the sentence, and a caret under the place in the question. @param {Error} error */
export function errorNode(error) {
  const { text = null, column = null, help = null, shell = null } = /** @type {import('./ask.js').AskError} */ (error);
  const box = h('div', { class: 'error', role: 'alert' }, h('p', null, visible(error.message)));
  if (text !== null && column !== null) {
    const before = [...text].slice(0, column).join('');
    box.append(h('pre', { class: 'caret' }, `${visible(text)}\n${before.replace(/[^\t]/gu, ' ')}^`));
  }
  if (help) box.append(h('p', { class: 'help' }, visible(help)));
  if (shell) {
    const copy = () => void navigator.clipboard.writeText(shell);
    box.append(h('button', { type: 'button', onclick: copy }, 'copy for a shell'));
  }
  return box;
}

/** The place of progress: phase, rate, time left, and a button to stop. @param {() => void} stop */
export function progressNode(stop) {
  return h('div', { class: 'progress' },
    h('span', { class: 'bar', 'aria-hidden': 'true' }, h('span', { class: 'done' })),
    h('span', { class: 'phase' }),
    h('button', { type: 'button', class: 'stop', onclick: stop }, 'stop ', h('kbd', null, 'Esc')));
}

/** @param {Element} place @param {import('./ask.js').Progress | null} progress @param {number} elapsed in milliseconds */
export function showProgress(place, progress, elapsed) {
  const [phase, bar] = [place.querySelector('.phase'), place.querySelector('.bar')];
  if (!phase || !bar) return;
  phase.textContent = progressText(progress, elapsed);
  const share = progress?.total ? Math.min(progress.done / progress.total, 1) : null;
  bar.classList.toggle('unknown', share === null);
  const done = /** @type {HTMLElement} */ (bar.firstElementChild);
  done.style.width = share === null ? '' : `${(share * 100).toFixed(1)}%`;
}

/** @param {import('./ask.js').Progress | null} progress @param {number} elapsed */
function progressText(progress, elapsed) {
  if (!progress) return `asking, ${seconds(elapsed)}`;
  const { phase, done, total, unit, rate, left_ms } = progress;
  const of = total ? `${rounded(done)} of ${rounded(total)} ${unit}` : done ? `${rounded(done)} ${unit}` : '';
  const parts = [of, rate ? `${rounded(rate)} ${unit}/s` : '', left_ms !== null && left_ms !== undefined ? `${seconds(left_ms)} left` : `${seconds(elapsed)} so far`];
  return visible([phase, ...parts].filter(Boolean).join(', '));
}

/** @param {number} ms */
function seconds(ms) {
  const s = ms / 1000;
  return s < 10 ? `${s.toFixed(1)} s` : s < 120 ? `${Math.round(s)} s` : `${Math.round(s / 60)} min`;
}

/** `45,600,000` as `45.6 M`. @param {number} number */
function rounded(number) {
  for (const [unit, name] of /** @type {[number, string][]} */ ([[1e9, 'G'], [1e6, 'M'], [1e3, 'k']])) {
    if (number >= 10 * unit) return `${(number / unit).toFixed(number < 100 * unit ? 1 : 0)} ${name}`;
  }
  return grouped(Math.round(number));
}
