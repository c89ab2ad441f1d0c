// @ts-check
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/**
 * Which view an address shows (behind the #, so that this page is one file and any address can be kept and sent), and
 * the wallet.
 */
import { h, keyed, setText } from "../operator/dom.js";
import { alertBox, labelled, short } from "../operator/parts.js";
import { readable } from "./ask.js";
import { signPage } from "./sign.js";
import { tokenPage } from "./token.js";
import { tokensPage } from "./tokens.js";
import { visible } from "./visible.js";
import { connect, DEVELOPMENT, offeredWallets, withAccount } from "./wallet.js";

/** @typedef {import("./wallet.js").Wallet} Wallet */
/** @typedef {"connecting" | "live" | "stale"} LinkState */
/**
 * What a view is given.
 * @typedef {object} Place
 * @property {string[]} params parts of the address
 * @property {AbortSignal} signal aborts when the view is left
 * @property {() => Wallet | undefined} wallet the one that is connected
 * @property {(state: LinkState) => void} link says how fresh the view is
 */
/** @typedef {{ title: string, element: HTMLElement, walletChanged?: () => void }} View */

/** @type {readonly [RegExp, (place: Place) => View][]} */
const ROUTES = [
  [/^#?\/?$/, tokensPage],
  [/^#\/token\/([0-9a-f]{64})$/i, tokenPage],
  [/^#\/sign$/, signPage],
];
/** @type {Record<LinkState, string>} */
const WORDS = { connecting: "Connecting", live: "Live", stale: "Stale, reconnecting" };

/** @param {string} id */
const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
const place = byId("view");
const status = byId("link");
let left = new AbortController();
/** @type {View | undefined} */
let view;
/** @type {Wallet | undefined} */
let wallet;

/** @param {LinkState} state */
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
  link("connecting");
  for (const one of /** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll("nav a"))) {
    if ((location.hash || "#/") === one.hash) one.setAttribute("aria-current", "page");
    else one.removeAttribute("aria-current");
  }
  view = find(location.hash);
  document.title = `${view.title} · Arbor`;
  place.replaceChildren(view.element);
  if (!moved) return;
  const heading = place.querySelector("h1");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus({ preventScroll: true });
  scrollTo(0, 0);
}

/** @param {string} hash @returns {View} */
function find(hash) {
  for (const [pattern, page] of ROUTES) {
    const found = pattern.exec(hash);
    if (!found) continue;
    const params = found.slice(1).map((part) => part.toLowerCase());
    return page({ params, signal: left.signal, wallet: () => wallet, link });
  }
  link("live");
  const element = h("div", {}, h("h1", {}, "No such page"), h("p", {}, h("a", { href: "#/" }, "To the tokens")));
  return { title: "No such page", element };
}

/** The wallet's part of the page. */
function walletPart() {
  const alert = alertBox();
  const said = h("p", { role: "status", class: "note" });
  const choices = h("div", { class: "buttons" });
  const chosen = h("div", { class: "inline" });
  const development = h(
    "p",
    { class: "note", "data-key": "development" },
    "The Arbor devnet wallet is for development: its keys are public, and its ada has no value.",
  );
  /** The view gets the shown wallet as well. @param {Wallet | undefined} next */
  const set = (next) => {
    wallet = next;
    offer();
    view?.walletChanged?.();
  };
  const offer = () => {
    const all = wallet ? [] : [...offeredWallets()].map(([id, { name }]) => ({ id, name }));
    keyed(
      choices,
      all,
      ({ id }) => id,
      ({ id, name }) =>
        h(
          "button",
          { type: "button", "data-key": `wallet ${id}`, click: () => void use(id) },
          "Connect ",
          visible(name),
        ),
    );
    development.hidden = wallet ? wallet.accounts.length === 0 : all.every(({ id }) => id !== DEVELOPMENT);
    // what a wallet offers is no data that could be compared
    keyed(
      chosen,
      wallet ? [{ name: wallet.name, address: wallet.address }] : [],
      ({ name }) => name,
      () => using(wallet),
    );
    if (wallet) return setText(said, `Connected: ${wallet.name}.`);
    setText(
      said,
      all.length > 0
        ? "Reading needs no wallet; a browser wallet (CIP-30) signs changes."
        : "No wallet (CIP-30) found in this browser. Reading needs no wallet; a wallet that is unlocked later appears here.",
    );
  };
  /** @param {Wallet | undefined} connected */
  const using = (connected) => {
    if (!connected) return h("div");
    const address = h(
      "select",
      {
        id: "address",
        "data-key": "address",
        change: () => {
          const hit = connected.keys.get(address.value);
          if (hit !== undefined) set({ ...connected, address: address.value, key: hit });
        },
      },
      ...connected.addresses.map((one) => h("option", { value: one, selected: one === connected.address }, short(one))),
    );
    return h(
      "div",
      { class: "inline" },
      ...(connected.accounts.length > 0 ? [accountsOf(connected)] : []),
      h("div", { class: "field" }, h("label", { for: "address" }, "Address that pays and signs"), address),
      h("button", { type: "button", "data-key": "disconnect", click: () => set(undefined) }, "Disconnect"),
    );
  };
  /** @param {Wallet} connected */
  const accountsOf = (connected) => {
    const account = h(
      "select",
      { id: "account", "data-key": "account", change: () => void change(connected, account.value) },
      ...connected.accounts.map(({ id, name }) => h("option", { value: id, selected: id === connected.account }, name)),
    );
    return labelled("Account of the devnet", account);
  };
  /** @param {Wallet} connected @param {string} id */
  const change = async (connected, id) => {
    alert.show(undefined);
    try {
      set(await withAccount(connected, id));
    } catch (error) {
      alert.show(readable(error));
    }
  };
  /** @param {string} id */
  const use = async (id) => {
    const one = offeredWallets().get(id);
    if (!one) return offer();
    alert.show(undefined);
    setText(said, `${one.name} asks you whether this page may use it.`);
    try {
      set(await connect(one));
      document.getElementById("address")?.focus();
    } catch (error) {
      offer();
      alert.show(readable(error));
    }
  };
  byId("wallet").replaceChildren(
    h("h2", { id: "wallet-title" }, "Wallet"),
    said,
    development,
    alert.element,
    choices,
    chosen,
  );
  offer();
  addEventListener(`${DEVELOPMENT}:ready`, () => wallet || offer());
  // wallets come into a page when they like
  setInterval(() => wallet || document.hidden || offer(), 1_000);
}

addEventListener("hashchange", () => show(true));
walletPart();
show(false);
