// @ts-check
/// <reference lib="dom" />
/** All tokens that are alive, and booting one. */
import { every, h, keyed, setText } from "../operator/dom.js";
import { alertBox, badge, count, short } from "../operator/parts.js";
import { ask } from "./ask.js";
import { carry } from "./carry.js";

/** @typedef {import("../../client/tokens.ts").Tokens} Tokens */

/** Tokens that are shown before the button for more. */
const SHOWN = 100;

/** A token in the list. @param {Tokens["tokens"][number] & { mine: boolean }} token */
const row = ({ tokenId, owner, root, mine }) =>
  h(
    "tr",
    {},
    h(
      "td",
      { class: "wide" },
      h("a", { class: "mono", href: `#/token/${tokenId}`, title: tokenId, "data-key": tokenId }, short(tokenId)),
    ),
    h(
      "td",
      { "data-label": "owner" },
      h("span", { class: "mono", title: owner }, short(owner)),
      " ",
      mine && badge("yours", "good"),
    ),
    h(
      "td",
      { "data-label": "root" },
      /^0+$/.test(root) ? badge("no facts", "quiet") : h("span", { class: "mono", title: root }, short(root)),
    ),
  );

/** @param {import("./app.js").Place} place @returns {import("./app.js").View} */
export function tokensPage({ wallet, signal, link }) {
  const alert = alertBox();
  const body = h("tbody");
  const note = h("p", { class: "note", role: "status" }, "Loading");
  const filter = h("input", { id: "filter", type: "search", spellcheck: "false", autocapitalize: "off" });
  let most = SHOWN;
  /** @type {Tokens | undefined} */
  let all;
  const more = h("button", {
    type: "button",
    class: "more",
    hidden: true,
    click: () => {
      most += SHOWN;
      show();
    },
  }, "Show more");
  const show = () => {
    if (!all) return;
    const key = wallet()?.key;
    const wanted = filter.value.trim().toLowerCase();
    const fitting = all.tokens.filter(({ tokenId, owner }) => tokenId.startsWith(wanted) || owner.startsWith(wanted));
    const some = fitting.slice(0, most).map((token) => ({ ...token, mine: token.owner === key }));
    keyed(body, some, ({ tokenId }) => tokenId, row);
    more.hidden = fitting.length <= most;
    const { ready, networkTip, indexerTip } = all.indexerStatus;
    const behind = ready
      ? ""
      : ` The index is ${count(Math.max(0, networkTip - indexerTip))} slots behind the network.`;
    const number = fitting.length === 1 ? "1 token" : `${count(fitting.length)} tokens`;
    setText(note, `${number}.${behind}`);
  };
  filter.addEventListener("input", show);
  void every(
    async () => {
      try {
        ({ answer: all } = await ask("/tokens", signal));
        alert.show(undefined);
        link("live");
        show();
      } catch (error) {
        if (signal.aborted) return;
        link("stale");
        alert.show(error);
      }
    },
    4_000,
    signal,
  );
  const boot = h("button", {
    type: "button",
    class: "primary",
    "data-key": "boot",
    click: () =>
      void carry(wallet(), {
        title: "Boot a token",
        build: (service, { address }) => service.boot(address),
        intent: ({ value }, { address }) => ({ type: "boot", token: value, address }),
      }),
  }, "Boot a token");
  const element = h(
    "div",
    { class: "tokens-page" },
    h("h1", {}, "Tokens"),
    h(
      "div",
      { class: "filter", role: "search" },
      h("div", { class: "field grow" }, h("label", { for: "filter" }, "Id or owner begins with"), filter),
      boot,
    ),
    alert.element,
    note,
    h(
      "table",
      { class: "cards" },
      h("thead", {}, h("tr", {}, ...["Token", "Owner", "Root"].map((name) => h("th", { scope: "col" }, name)))),
      body,
    ),
    more,
  );
  return { title: "Tokens", element, walletChanged: show };
}
