// Elements. Texts become text nodes, so nothing that a dump says is ever read as HTML.

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Child | Child[] | Child[][]} Children */
/** @typedef {Record<string, any>} Props */

const SVG = 'http://www.w3.org/2000/svg';
/** A frame that has not come after this time does not come, in milliseconds. */
const LONGEST_FRAME = 100;

/**
 * Creates an element. Props that begin with `on` are listeners, `style` is an object of CSS properties, `class` and the
 * others are attributes: `true` is an empty one, `false`, `null` and `undefined` none.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Props | null} [props]
 * @param {...Children} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  set(element, props);
  add(element, children);
  return element;
}

/**
 * The same in SVG.
 * @param {string} tag
 * @param {Props | null} [props]
 * @param {...Children} children
 * @returns {SVGElement}
 */
export function svg(tag, props, ...children) {
  const element = /** @type {SVGElement} */ (document.createElementNS(SVG, tag));
  set(element, props);
  add(element, children);
  return element;
}

/**
 * A text whose explanation appears while the pointer is on it, or the focus.
 * @param {string} text @param {string} explanation
 */
export function explained(text, explanation) {
  return h('span', { class: 'explained', tabindex: '0', 'aria-description': explanation, 'data-explanation': explanation }, text);
}

/**
 * Replaces what an element contains. A link or a field with the focus leaves it to the one of the same name.
 * @param {Element} element
 * @param {...Children} children
 */
export function fill(element, ...children) {
  const active = document.activeElement;
  const same = () => [...element.querySelectorAll(active?.localName ?? '*')].filter((one) => nameOf(one) === nameOf(/** @type {Element} */ (active)));
  const isOne = active !== element && element.contains(active) && same().length === 1;
  element.replaceChildren();
  add(element, children);
  if (isOne && !active?.isConnected) /** @type {HTMLElement | undefined} */ (same()[0])?.focus();
}

/** @param {Element} element */
function nameOf(element) {
  return element.ariaLabel ?? element.textContent;
}

/** @param {HTMLElement | SVGElement} element @param {Props | null} [props] */
export function set(element, props) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (name.startsWith('on')) {
      if (value) element.addEventListener(name.slice(2), value);
    } else if (name === 'style') {
      for (const [property, text] of Object.entries(value)) element.style.setProperty(property, String(text));
    } else if (value === false || value == null) {
      element.removeAttribute(name);
    } else {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
}

/** @param {Element} element @param {any[]} children */
function add(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) add(element, child);
    else if (child !== null && child !== undefined && child !== false) {
      element.append(typeof child === 'number' ? String(child) : child);
    }
  }
}

/**
 * The element with this id, which the page itself has made.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
}

/** The value of a colour token, such as `accent`, as light or dark has it now: for a canvas. @param {string} name */
export function colour(name) {
  const probe = h('span', { hidden: true, style: { color: `var(--${name})` } });
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

/** Ends after the next frame is drawn, so that much to do is divided among frames. A page that is not seen draws none. */
export function afterFrame() {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
    setTimeout(resolve, LONGEST_FRAME);
  });
}

/** Calls `paint` when the theme changes. Returns what ends that. @param {() => void} paint */
export function onTheme(paint) {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', paint);
  const themes = new MutationObserver(paint);
  themes.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => {
    dark.removeEventListener('change', paint);
    themes.disconnect();
  };
}
