// @ts-check
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/** What several pages show: ids, times, states, values as a tree, errors, and the question before something is done. */
import { ApiError, pathOf } from "./api.js";
import { h, keyed, setText } from "./dom.js";

/**
 * What a page is given.
 * @typedef {object} Place
 * @property {string[]} params parts of the address, decoded
 * @property {URLSearchParams} query
 * @property {AbortSignal} signal aborts when the page is left
 * @property {(state: string) => void} link says how fresh the page is
 * @property {(address: string, replace?: boolean) => void} go opens another address
 */
/**
 * @typedef {{ title: string, element: HTMLElement, ready?: Promise<unknown> }} View what it shows, seen when `ready`
 */

/** @param {string} kind @param {string} id */
export const actorAddress = (kind, id) => `/ui/actors${pathOf(kind, id)}`;

/** A long id shortened in the middle. @param {string} id */
export const short = (id) => id.length > 22 ? `${id.slice(0, 10)}…${id.slice(-8)}` : id;

/** A link to an actor. @param {string} kind @param {string} id */
export const actorLink = (kind, id) =>
  h(
    "a",
    { class: "actor-link", href: actorAddress(kind, id), title: `${kind}/${id}`, "data-key": `${kind}/${id}` },
    h("span", { class: "kind" }, kind),
    h("span", { class: "mono" }, short(id)),
  );

/** @param {string} state */
export const stateChip = (state) => h("span", { class: "chip" }, state);

/** @param {string} text @param {"warn" | "bad" | "good" | "quiet"} tone */
export const badge = (text, tone) => h("span", { class: `badge ${tone}` }, text);

/** @param {number | bigint} n */
export const count = (n) => n.toLocaleString("en");

/** Milliseconds as a reader says them. @param {number} ms */
export function span(ms) {
  const s = Math.abs(ms) / 1000;
  if (s < 1) return `${Math.round(Math.abs(ms))} ms`;
  if (s < 10) return `${s.toFixed(1)} s`;
  if (s < 90) return `${Math.round(s)} s`;
  if (s < 5400) return `${Math.round(s / 60)} min`;
  if (s < 129_600) return `${Math.round(s / 3600)} h`;
  return `${Math.round(s / 86_400)} days`;
}

/** A moment as its distance from now, kept right by `tick`. @param {string} iso */
export const ago = (iso) => {
  const time = h("time", { datetime: iso, title: new Date(iso).toLocaleString(), "data-ago": Date.parse(iso) });
  tell(time);
  return time;
};

/** @param {Element} time */
function tell(time) {
  const ms = Date.now() - Number(time.getAttribute("data-ago"));
  setText(time, ms >= 1000 ? `${span(ms)} ago` : ms > -1000 ? "now" : `in ${span(ms)}`);
}

/** Keeps the distances right. */
export function tick() {
  if (document.hidden) return;
  for (const time of document.querySelectorAll("time[data-ago]")) tell(time);
}

/** A moment of the clock, to the millisecond. @param {string} iso */
export function clock(iso) {
  const at = new Date(iso);
  const time = at.toLocaleTimeString("en-GB");
  return h(
    "time",
    { datetime: iso, title: at.toLocaleString() },
    `${time}.${String(at.getMilliseconds()).padStart(3, "0")}`,
  );
}

/** `from → to`, or the state alone where it stays. @param {string} from @param {string} to */
export const step = (from, to) =>
  from === to ? h("span", { class: "step stays" }, to) : h(
    "span",
    { class: "step" },
    h("bdi", {}, from),
    h("span", { class: "to", "aria-label": "to" }, "→"),
    h("b", {}, to),
  );

/** What a `dl` holds. @param {[name: string, value: import("./dom.js").Child][]} pairs */
export const facts = (pairs) =>
  h("dl", { class: "facts" }, ...pairs.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));

/** @param {string} title @param {import("./dom.js").Child[]} children */
export function panel(title, ...children) {
  const id = `p-${title.toLowerCase().replace(/[^a-z]+/g, "-")}`;
  return h("section", { class: "panel", "aria-labelledby": id }, h("h2", { id }, title), ...children);
}

/** Links to the first and the next page of a list, each where there is one. */
export function pager() {
  const element = h("nav", { class: "pages", "aria-label": "Pages" });
  return {
    element,
    /** @param {[name: string, href: string | false | null | undefined][]} links */
    show: (links) =>
      keyed(
        element,
        links.filter(([, href]) => href),
        ([name]) => name,
        ([name, href]) => h("a", { class: "button", href, "data-key": name }, name),
      ),
  };
}

/** A sentence where there is nothing. @param {string} text */
export const nothing = (text) => h("p", { class: "nothing" }, text);

/** A field with its label above; the field has an id. @param {string} text @param {HTMLElement} field */
export const labelled = (text, field) => h("div", { class: "field" }, h("label", { for: field.id }, text), field);

/** @param {unknown} error */
export const sentenceOf = (error) => error instanceof ApiError ? error.message : "Internal error of this page.";

/** A place for an error, announced when it is set. */
export function alertBox() {
  const element = h("p", { class: "alert", role: "alert", hidden: true });
  return {
    element,
    /** @param {unknown} error undefined to take it away */
    show: (error) => {
      setText(element, error === undefined ? "" : sentenceOf(error));
      element.hidden = error === undefined;
    },
  };
}

const DEEP = 3;

/**
 * A JSON value as a tree that can be folded.
 * @param {unknown} value
 * @param {Map<string, boolean>} [folds] what the reader has opened and closed, by path, so that a newer value is shown
 * alike
 * @param {string[]} [path]
 * @returns {HTMLElement}
 */
export function valueTree(value, folds = new Map(), path = []) {
  if (typeof value !== "object" || value === null) {
    const text = typeof value === "string" ? JSON.stringify(value) : String(value);
    return h("span", { class: `value ${value === null ? "null" : typeof value}` }, text);
  }
  const entries = Array.isArray(value) ? value.map((one, i) => [String(i), one]) : Object.entries(value);
  if (entries.length === 0) return h("span", { class: "value null" }, Array.isArray(value) ? "[ ]" : "{ }");
  const list = () =>
    h(
      "ul",
      { class: "tree" },
      ...entries.map(([name, one]) =>
        h("li", {}, h("span", { class: "name" }, `${name}:`), " ", valueTree(one, folds, [...path, name]))
      ),
    );
  if (path.length === 0) return list();
  const size = Array.isArray(value) ? `${entries.length} items` : `${entries.length} fields`;
  const key = JSON.stringify(path);
  const open = folds.get(key) ?? (path.length < DEEP && entries.length <= 12);
  const summary = h(
    "summary",
    { "data-key": `fold ${key}`, click: () => void folds.set(key, !details.open) },
    entries.length === 1 ? size.slice(0, -1) : size,
  );
  const details = h("details", { open }, summary);
  const unfold = () => {
    if (details.open && details.childElementCount === 1) details.append(list());
  };
  details.addEventListener("toggle", unfold);
  unfold();
  return details;
}

/**
 * Asks for confirmation, carries out an action, and shows why it failed. Resolves true when it succeeded.
 * @param {object} question
 * @param {string} question.title
 * @param {string} question.text what it means
 * @param {string} question.verb of the button
 * @param {boolean} [question.danger]
 * @param {HTMLElement} [question.field] something to fill in
 * @param {() => Promise<string | void>} question.run gives a sentence to show where it was answered with less than
 * hoped
 * @returns {Promise<boolean>}
 */
export function question({ title, text, verb, danger = false, field, run }) {
  return new Promise((resolve) => {
    const alert = alertBox();
    const yes = h("button", { type: "submit", class: danger ? "danger" : "primary" }, verb);
    const no = h("button", { type: "button", click: () => dialog.close() }, "Cancel");
    let done = false;
    const form = h(
      "form",
      {
        method: "dialog",
        submit: async (/** @type {Event} */ event) => {
          event.preventDefault();
          alert.show(undefined);
          yes.disabled = true;
          try {
            const less = await run();
            if (less) {
              alert.show(new ApiError(200, "", less));
              yes.hidden = true;
              setText(no, "Close");
              no.focus();
              return;
            }
            done = true;
            dialog.close();
          } catch (error) {
            alert.show(error);
          } finally {
            yes.disabled = false;
          }
        },
      },
      h("h2", { id: "question" }, title),
      h("p", {}, text),
      field,
      alert.element,
      h("div", { class: "buttons" }, no, yes),
    );
    const before = document.activeElement;
    const key = before?.getAttribute("data-key");
    const dialog = h("dialog", {
      "aria-labelledby": "question",
      close: () => {
        dialog.remove();
        // The button may have been replaced by a redraw.
        const again = before?.isConnected ? before : key && document.querySelector(`[data-key="${CSS.escape(key)}"]`);
        if (again instanceof HTMLElement) again.focus();
        resolve(done);
      },
    }, form);
    document.body.append(dialog);
    dialog.showModal();
    (field?.querySelector("input,select") instanceof HTMLElement
      ? /** @type {HTMLElement} */ (field.querySelector("input,select"))
      : yes).focus();
  });
}

/** Says for a moment that something was done. @param {string} text */
export function said(text) {
  const place = document.getElementById("said");
  if (!place) return;
  setText(place, text);
  place.classList.add("shown");
  clearTimeout(hiding);
  hiding = setTimeout(() => {
    place.classList.remove("shown");
    setText(place, "");
  }, 4_000);
}
/** @type {ReturnType<typeof setTimeout> | undefined} */
let hiding;
