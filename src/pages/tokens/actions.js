// @ts-check
/// <reference lib="dom" />
/** The actions on a token: requests, for anybody; applying them, transferring and ending the token, for its owner. */
import { h } from "../operator/dom.js";
import { alertBox, labelled, nothing, panel, question, short } from "../operator/parts.js";
import { client, readable } from "./ask.js";
import { carry } from "./carry.js";
import { ada } from "./visible.js";

/** @typedef {import("./wallet.js").Wallet} Wallet */
/** @typedef {import("../../client/tokens.ts").UpdateDryRun} DryRun */
/** @typedef {{ wallet: () => Wallet | undefined, picked: () => string[], signal: AbortSignal }} Doing */
/** @typedef {"insert" | "update" | "delete"} Change */

/** @param {string} tokenId @param {Doing} doing */
export const actionsOf = (tokenId, doing) =>
  h(
    "div",
    { class: "actions" },
    requesting(tokenId, doing),
    applying(tokenId, doing),
    giving(tokenId, doing),
    ending(tokenId, doing),
  );

/**
 * Lovelace that a request may lock: a base amount, and for each byte more than the ledger requires.
 * @param {string[]} texts
 */
export const mostLocked = (...texts) =>
  texts.reduce((sum, text) => sum + 5_000n * BigInt(new TextEncoder().encode(text).length), 10_000_000n);

/** @param {string} id */
const textField = (id) => h("input", { id, autocomplete: "off", spellcheck: "false", autocapitalize: "off" });

/**
 * A form that does not leave the page. @param {() => void} run @param {import("../operator/dom.js").Child[]} children
 */
const form = (run, ...children) =>
  h("form", {
    submit: (/** @type {Event} */ event) => {
      event.preventDefault();
      run();
    },
  }, ...children);

/** @param {string} tokenId @param {Doing} doing */
function requesting(tokenId, { wallet }) {
  const type = h(
    "select",
    { id: "change" },
    ...["insert", "update", "delete"].map((one) => h("option", { value: one }, one)),
  );
  const [key, before, after] = [textField("key"), textField("old"), textField("new")];
  const [beforeField, afterField] = [labelled("Current value", before), labelled("New value", after)];
  const fit = () => {
    beforeField.hidden = type.value === "insert";
    afterField.hidden = type.value === "delete";
  };
  type.addEventListener("change", fit);
  fit();
  const ask = () => {
    const asked = { key: key.value, oldValue: before.value, newValue: after.value };
    const { key: name, oldValue, newValue } = asked;
    const kind = /** @type {Change} */ (type.value);
    void carry(wallet(), {
      title: `Request: ${kind} a fact`,
      build: (service, { address }) =>
        kind === "insert"
          ? service.insert(address, tokenId, name, newValue)
          : kind === "update"
          ? service.update(address, tokenId, name, oldValue, newValue)
          : service.delete(address, tokenId, name, oldValue),
      intent: (_built, { address }) => {
        const common = { token: tokenId, key: name, address, maxLocked: mostLocked(name, oldValue, newValue) };
        return kind === "insert"
          ? { type: kind, ...common, newValue }
          : kind === "update"
          ? { type: kind, ...common, oldValue, newValue }
          : { type: kind, ...common, oldValue };
      },
    });
  };
  return panel(
    "Request a change",
    form(
      ask,
      h("div", { class: "inline" }, labelled("Change", type), labelled("Key", key)),
      h("div", { class: "inline" }, beforeField, afterField),
      h("p", { class: "buttons" }, h("button", { type: "submit", class: "primary", "data-key": "request" }, "Request")),
    ),
  );
}

/** @param {string} tokenId @param {Doing} doing */
function applying(tokenId, { wallet, picked, signal }) {
  const outcome = h("div", { role: "status" });
  const alert = alertBox();
  /** @param {readonly string[]} requests all that fit where there is none */
  const apply = (requests) =>
    void carry(wallet(), {
      title: requests.length > 0 ? "Apply the selected requests" : "Apply all requests that fit",
      build: (service, { address }) => service.apply(address, tokenId, requests),
      intent: ({ applied, mpfRoot }, { address }) => ({
        type: "apply",
        token: tokenId,
        requests: requests.length > 0 ? requests : applied,
        root: mpfRoot,
        address,
      }),
    });
  const tryOut = async () => {
    alert.show(undefined);
    outcome.replaceChildren(nothing("Looking"));
    try {
      const address = wallet()?.address;
      if (address === undefined) {
        outcome.replaceChildren(nothing("Connect the owner's wallet first."));
        return;
      }
      const { TokenClient } = await client();
      const outcomes = await new TokenClient(location.origin).tryApply(address, tokenId, picked());
      if (!signal.aborted) outcome.replaceChildren(dryRunView(outcomes));
    } catch (error) {
      if (signal.aborted) return;
      outcome.replaceChildren();
      alert.show(readable(error));
    }
  };
  return panel(
    "Apply requests",
    h(
      "p",
      { class: "note" },
      "For the owner. Select requests above, or apply as many as fit, oldest first.",
    ),
    h(
      "div",
      { class: "buttons" },
      h(
        "button",
        { type: "button", class: "primary", "data-key": "apply all", click: () => apply([]) },
        "Apply all that fit",
      ),
      h("button", {
        type: "button",
        "data-key": "apply",
        click: () => {
          alert.show(undefined);
          const requests = picked();
          if (requests.length > 0) apply(requests);
          else outcome.replaceChildren(nothing("No request is selected."));
        },
      }, "Apply selected"),
      h("button", { type: "button", "data-key": "dry run", click: () => void tryOut() }, "Dry run"),
    ),
    alert.element,
    outcome,
  );
}

/** @param {DryRun} outcomes */
function dryRunView({ applied, left, mpfRoot, fee, size }) {
  return h(
    "div",
    {},
    h("p", {}, `${applied.length} would be applied, for a fee of ${ada(BigInt(fee))} (${size} bytes).`),
    h("p", { class: "note" }, "The root would be ", h("span", { class: "mono" }, mpfRoot)),
    h(
      "ul",
      { class: "rows" },
      ...left.map(({ request, code, message, lostTo }) =>
        h(
          "li",
          {},
          h("span", { class: "mono" }, short(request)),
          h("span", { class: "grow" }, `stays open: ${message} (${code}${lostTo ? `, lost to ${short(lostTo)}` : ""})`),
        )
      ),
    ),
  );
}

/** @param {string} tokenId @param {Doing} doing */
function giving(tokenId, { wallet }) {
  const to = textField("to");
  to.required = true;
  const give = () => {
    const next = to.value.trim();
    void carry(wallet(), {
      title: "Transfer the token",
      build: (service, { address }) => service.transfer(address, tokenId, next),
      intent: (_built, { address }) => ({ type: "transfer", token: tokenId, to: next, address }),
    });
  };
  return panel(
    "Transfer the token to another owner",
    h("p", { class: "note" }, "Both owners sign: you here, the new owner under “Accept a token”."),
    form(
      give,
      labelled("Address of the new owner", to),
      h("p", { class: "buttons" }, h("button", { type: "submit", "data-key": "give" }, "Transfer")),
    ),
  );
}

/** @param {string} tokenId @param {Doing} doing */
function ending(tokenId, { wallet }) {
  const end = async () => {
    const sure = await question({
      title: "End this token?",
      text: "The token and all its facts are burnt and cannot be restored. Open requests can then only be retracted.",
      verb: "End it",
      danger: true,
      run: () => Promise.resolve(),
    });
    if (!sure) return;
    void carry(wallet(), {
      title: "End the token",
      build: (service, { address }) => service.end(address, tokenId),
      intent: (_built, { address }) => ({ type: "end", token: tokenId, address }),
    });
  };
  return panel(
    "End the token",
    h("p", { class: "note" }, "For the owner. The ada locked in the token's state is returned."),
    h("div", { class: "buttons" }, h("button", { type: "button", "data-key": "end", click: () => void end() }, "End")),
  );
}
