// @ts-check
/// <reference lib="dom" />
/** One token: its state, open requests, actions, facts and history, updated with each block. */
import { ApiError } from "../operator/api.js";
import { atMostEvery, h, keyed } from "../operator/dom.js";
import { alertBox, badge, facts, nothing, panel, said, short } from "../operator/parts.js";
import { actionsOf } from "./actions.js";
import { ask } from "./ask.js";
import { carry } from "./carry.js";
import { changeParts } from "./changes.js";
import { factsPart } from "./facts.js";
import { historyPart } from "./history.js";
import { plain } from "./visible.js";

/** @typedef {import("../../client/tokens.ts").Token} Token */
/** @typedef {Token["requests"][number]} Request */

/** The sentence for each event of a stream. @type {Record<string, string>} */
const EVENTS = {
  booted: "The token was booted.",
  requested: "A request was created.",
  retracted: "A request was retracted.",
  refused: "A request was refused.",
  updated: "The token changed.",
  ended: "The token ended.",
  "rolled-back": "The chain was rolled back.",
  quarantined: "The token was put into quarantine.",
  released: "The token was released from quarantine.",
  reset: "Events were missed; the page is reloaded.",
};

/** @param {import("./app.js").Place} place @returns {import("./app.js").View} */
export function tokenPage({ params, wallet, signal, link }) {
  const tokenId = /** @type {string} */ (params[0]);
  const alert = alertBox();
  const state = h("div", {}, nothing("Loading"));
  const requests = h("ul", { class: "rows" });
  const none = nothing("None.");
  /** @type {Set<string>} */
  const picked = new Set();
  /** @type {Token | undefined} */
  let token;

  const row = /** @param {Request & { mine: boolean }} request */ ({ outputRefId, change, owner, mine }) =>
    h(
      "li",
      {},
      h(
        "label",
        { class: "check grow" },
        h("input", {
          type: "checkbox",
          checked: picked.has(outputRefId),
          "data-key": `pick ${outputRefId}`,
          change: (/** @type {Event} */ event) => {
            const { checked } = /** @type {HTMLInputElement} */ (event.target);
            if (checked) picked.add(outputRefId);
            else picked.delete(outputRefId);
          },
        }),
        h("span", {}, h("span", { class: "sr" }, "Pick the request to "), ...changeParts(change)),
      ),
      h("span", { class: "note" }, mine ? badge("yours", "good") : `by ${short(owner)}`, " ", short(outputRefId)),
      mine && h("button", {
        type: "button",
        class: "small",
        "data-key": `retract ${outputRefId}`,
        "aria-label": `Take back the request to ${change.type} ${plain(change.key)}`,
        click: () =>
          void carry(wallet(), {
            title: "Take a request back",
            build: (service, { address }) => service.retract(address, outputRefId),
            intent: (_built, { address }) => ({ type: "retract", request: outputRefId, address }),
          }),
      }, "Take back"),
    );

  const show = () => {
    const key = wallet()?.key;
    if (!token) return;
    const { owner, root, outputRefId, status } = token;
    keyed(
      state,
      [{ owner, root, outputRefId, status, mine: owner === key }],
      () => "state",
      ({ mine }) =>
        facts([
          [
            "Status",
            status === "live" ? badge("live", "good") : badge("in quarantine: its facts are not verified", "bad"),
          ],
          ["Owner", h("span", {}, h("span", { class: "mono" }, owner), " ", mine && badge("yours", "good"))],
          ["Root", h("span", { class: "mono" }, root)],
          ["State output", h("span", { class: "mono" }, outputRefId)],
        ]),
    );
    const open = new Set(token.requests.map((one) => one.outputRefId));
    for (const one of picked) if (!open.has(one)) picked.delete(one);
    keyed(
      requests,
      token.requests.map((one) => ({ ...one, mine: one.owner === key })),
      (one) => one.outputRefId,
      row,
    );
    none.hidden = open.size > 0;
  };

  /** The token as it is now; undefined where it has ended. */
  const load = async () => {
    try {
      ({ answer: token } = await ask(`/token/${tokenId}`, signal));
      alert.show(undefined);
      show();
    } catch (error) {
      if (signal.aborted) return undefined;
      if (error instanceof ApiError && error.code === "token_ended") {
        token = undefined;
        state.replaceChildren(facts([["Status", badge("ended", "quiet")]]));
        requests.replaceChildren();
        none.hidden = false;
      } else alert.show(error);
    }
    return token;
  };

  const pieces = factsPart(tokenId, { signal, current: load, showHistory: (key) => past.ofKey(key) });
  const past = historyPart(tokenId, { signal });
  const all = () => Promise.all([load().then((now) => pieces.load(now?.root ?? "")), past.load()]);
  const soon = atMostEvery(() => void all(), 300, signal);
  void all();
  follow(tokenId, {
    signal,
    onOpen: () => {
      link("live");
      soon();
    },
    onLost: () => link("stale"),
    onEvent: (type) => {
      said(EVENTS[type] ?? type);
      soon();
    },
  });

  const element = h(
    "div",
    { class: "token-page" },
    h("p", { class: "note" }, h("a", { href: "#/" }, "All tokens")),
    h("h1", {}, "Token ", h("span", { class: "mono" }, tokenId)),
    alert.element,
    panel("State", state),
    panel("Open requests", none, requests),
    actionsOf(tokenId, { wallet, picked: () => [...picked], signal }),
    pieces.element,
    past.element,
  );
  return { title: `Token ${short(tokenId)}`, element, walletChanged: show };
}

/**
 * Listens to a token's events; a lost stream reconnects by itself, and a refused one is requested
 * again.
 * @param {string} tokenId
 * @param {{ signal: AbortSignal, onOpen: () => void, onLost: () => void, onEvent: (type: string) => void }} on
 */
function follow(tokenId, { signal, onOpen, onLost, onEvent }) {
  if (signal.aborted) return;
  const stream = new EventSource(`/token/${tokenId}/events`);
  const stop = () => stream.close();
  signal.addEventListener("abort", stop);
  stream.addEventListener("open", onOpen);
  for (const type of Object.keys(EVENTS)) stream.addEventListener(type, () => onEvent(type));
  stream.addEventListener("error", () => {
    if (signal.aborted) return;
    onLost();
    if (stream.readyState !== EventSource.CLOSED) return;
    signal.removeEventListener("abort", stop);
    setTimeout(() => follow(tokenId, { signal, onOpen, onLost, onEvent }), 3_000);
  });
}
