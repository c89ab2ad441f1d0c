// @ts-check
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/** The page of each URL, and navigation between pages without reloading. */
import { actorPage } from "./actor.js";
import { actorsPage } from "./actors.js";
import { hasToken, keepToken, onUnauthorized } from "./api.js";
import { h, setText } from "./dom.js";
import { lettersPage } from "./letters.js";
import { overviewPage } from "./overview.js";
import { alertBox, tick } from "./parts.js";
import { webhooksPage } from "./webhooks.js";
import { workersPage } from "./workers.js";

/** @typedef {import("./parts.js").Place} Place */
/** @typedef {import("./parts.js").View} View */

/** @type {readonly [RegExp, (place: Place) => View][]} */
const ROUTES = [
  [/^\/(?:ui\/?)?$/, overviewPage],
  [/^\/ui\/actors\/?$/, actorsPage],
  [/^\/ui\/actors\/([^/]+)\/([^/]+)$/, actorPage],
  [/^\/ui\/workers$/, workersPage],
  [/^\/ui\/dead-letters$/, lettersPage],
  [/^\/ui\/webhooks$/, webhooksPage],
];
const WORDS = {
  connecting: "Connecting",
  live: "Live",
  stale: "Stale, reconnecting",
  paused: "Paused",
  locked: "Locked",
};

const main = /** @type {HTMLElement} */ (document.getElementById("main"));
const status = /** @type {HTMLElement} */ (document.getElementById("link"));
const links = [.../** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("nav a"))];
let left = new AbortController();

/** @param {import("./live.js").LinkState | "locked"} state */
function link(state) {
  if (status.dataset.state === state) return;
  status.dataset.state = state;
  setText(status, WORDS[state]);
}

/**
 * Shows what the address names. @param {boolean} moved whether the reader came here by a link, so that the heading is
 * to be read out
 */
function show(moved) {
  left.abort();
  left = new AbortController();
  const { pathname, search } = location;
  link("connecting");
  for (const one of links) {
    const path = one.pathname;
    const here = path === "/" ? /^\/(ui\/?)?$/.test(pathname) : pathname.startsWith(path);
    if (here) one.setAttribute("aria-current", pathname === path ? "page" : "true");
    else one.removeAttribute("aria-current");
  }
  const view = find(pathname, new URLSearchParams(search));
  document.title = `${view.title} · Arbor`;
  main.replaceChildren(view.element);
  appear(view);
  if (moved) {
    const heading = main.querySelector("h1");
    heading?.setAttribute("tabindex", "-1");
    heading?.focus({ preventScroll: true });
  }
}

/**
 * Shows a page when all of its answers are there, and after three seconds in any case. @param
 * {View} view
 */
function appear({ element, ready }) {
  if (!ready) return;
  const late = setTimeout(() => element.classList.remove("loading"), 3_000);
  element.classList.add("loading");
  void ready.finally(() => {
    clearTimeout(late);
    element.classList.remove("loading");
  });
}

/** @param {string} pathname @param {URLSearchParams} query @returns {View} */
function find(pathname, query) {
  for (const [pattern, page] of ROUTES) {
    const found = pattern.exec(pathname);
    if (!found) continue;
    try {
      const params = found.slice(1).map((part) => decodeURIComponent(part));
      return page({ params, query, signal: left.signal, link, go });
    } catch (error) {
      if (!(error instanceof URIError)) throw error;
    }
  }
  return {
    title: "No such page",
    element: h("div", {}, h("h1", {}, "No such page"), h("p", {}, h("a", { href: "/" }, "To the overview"))),
  };
}

/** @param {string} address @param {boolean} [replace] */
function go(address, replace = false) {
  history[replace ? "replaceState" : "pushState"](null, "", address);
  if (!replace) scrollTo(0, 0);
  show(!replace);
}

function login() {
  // Several calls of one page are refused together: the first one has opened the login form.
  if (!hasToken() && main.querySelector(".login")) return;
  left.abort();
  const alert = alertBox();
  if (hasToken()) alert.element.textContent = "This token was rejected.";
  alert.element.hidden = !hasToken();
  keepToken("");
  link("locked");
  document.title = "Token · Arbor";
  const field = h("input", {
    id: "token",
    type: "password",
    autocomplete: "off",
    required: true,
    spellcheck: "false",
    autocapitalize: "off",
  });
  main.replaceChildren(h(
    "form",
    {
      class: "login panel",
      submit: (/** @type {Event} */ event) => {
        event.preventDefault();
        keepToken(field.value.trim());
        show(true);
      },
    },
    h("h1", {}, "Operator token"),
    h(
      "p",
      {},
      "This service requires its operator token (ARBOR_OPERATOR_TOKEN). The token is stored only in this tab.",
    ),
    h("label", { for: "token" }, "Token"),
    field,
    alert.element,
    h("button", { type: "submit", class: "primary" }, "Go on"),
  ));
  field.focus();
}

document.addEventListener("click", (event) => {
  const anchor = event.target instanceof Element ? event.target.closest("a") : null;
  if (!anchor || event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const { origin, pathname, search, hash } = anchor;
  if (origin !== location.origin || hash !== "" || !/^\/(ui(\/|$)|$)/.test(pathname)) return;
  event.preventDefault();
  go(pathname + search);
});
addEventListener("popstate", () => show(true));
onUnauthorized(login);
setInterval(tick, 1_000);
document.body.append(h("p", { id: "said", role: "status" }));
show(false);
