// @ts-check
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/**
 * Making and changing elements. What comes from outside (ids, contexts, causes, errors) only ever becomes text or the
 * value of a harmless attribute: nothing here parses HTML.
 */

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {{ [name: string]: string | number | boolean | null | undefined | ((event: any) => void) }} Props */

const SVG = "http://www.w3.org/2000/svg";
const HARMLESS =
  /^(class|id|for|name|type|value|title|href|role|tabindex|placeholder|datetime|colspan|scope|open|hidden|disabled|checked|selected|required|readonly|autocomplete|spellcheck|method|min|max|maxlength|rows|inputmode|enterkeyhint|autocapitalize|aria-[a-z]+|data-[a-z]+)$/;

/** @param {Element} element @param {Props} props @param {Child[]} children */
function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  append(element, children);
}

/** @param {Element} element @param {Child[]} children */
export function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

/**
 * An HTML element; a property that is a function listens for the event of its name.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Props} [props] @param {Child[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props = {}, ...children) {
  for (const [name, value] of Object.entries(props)) {
    if (typeof value !== "function" && !HARMLESS.test(name)) throw new Error(`the attribute ${name} is not for pages`);
  }
  if (typeof props.href === "string" && !/^(#|\/(?!\/))/.test(props.href)) {
    throw new Error("a link that leads elsewhere");
  }
  const element = document.createElement(tag);
  fill(element, props, children);
  return element;
}

/**
 * An SVG element.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag @param {Props} [props] @param {Child[]} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function svg(tag, props = {}, ...children) {
  const element = /** @type {SVGElementTagNameMap[T]} */ (document.createElementNS(SVG, tag));
  fill(element, props, children);
  return element;
}

/**
 * Changes an element's children to what a list says: what stayed the same stays in the document, so that focus and
 * selection survive a refresh. A replaced element that had the focus gets it back (by `data-key`).
 * @template T
 * @param {Element} parent @param {readonly T[]} items
 * @param {(item: T) => string} keyOf @param {(item: T) => Element} render
 */
export function keyed(parent, items, keyOf, render) {
  const focused = parent.contains(document.activeElement) ? document.activeElement : null;
  const focusKey = focused?.getAttribute("data-key");
  const held = kept.get(parent) ?? new Map();
  /** @type {Map<string, { text: string, element: Element }>} */
  const now = new Map();
  for (const item of items) {
    const key = keyOf(item);
    const text = JSON.stringify(item, (_name, value) => typeof value === "bigint" ? String(value) : value);
    const before = held.get(key);
    now.set(key, before && before.text === text ? before : { text, element: render(item) });
  }
  const wanted = [...now.values()].map(({ element }) => element);
  const stays = new Set(wanted);
  for (const child of [...parent.children]) if (!stays.has(child)) child.remove();
  wanted.forEach((element, i) => {
    if (parent.children[i] !== element) parent.insertBefore(element, parent.children[i] ?? null);
  });
  kept.set(parent, now);
  if (focusKey && document.activeElement !== focused) {
    const again = parent.querySelector(`[data-key="${CSS.escape(focusKey)}"]`);
    if (again instanceof HTMLElement) again.focus({ preventScroll: true });
  }
}
/** @type {WeakMap<Element, Map<string, { text: string, element: Element }>>} */
const kept = new WeakMap();

/** Sets an element's text where it differs. @param {Element} element @param {string} text */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Calls at most once in `ms`, the last time included. @param {() => void} call @param {number} ms @param {AbortSignal}
 * signal
 */
export function atMostEvery(call, ms, signal) {
  let last = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  signal.addEventListener("abort", () => clearTimeout(waiting));
  return () => {
    if (waiting !== undefined || signal.aborted) return;
    waiting = setTimeout(() => {
      waiting = undefined;
      last = Date.now();
      call();
    }, Math.max(0, last + ms - Date.now()));
  };
}

/**
 * Calls again and again while the page is seen, `ms` after the call before has ended, and when it is seen again;
 * resolves after the first. @param {() => Promise<unknown>} call @param {number} ms @param {AbortSignal} signal
 */
export function every(call, ms, signal) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  let running = false;
  const run = async () => {
    if (running || signal.aborted) return;
    clearTimeout(waiting);
    running = true;
    try {
      if (!document.hidden) await call();
    } finally {
      running = false;
      if (!signal.aborted) waiting = setTimeout(run, ms);
    }
  };
  signal.addEventListener("abort", () => clearTimeout(waiting));
  document.addEventListener("visibilitychange", () => void (document.hidden || run()), { signal });
  return run();
}
