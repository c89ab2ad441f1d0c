// @ts-check
/// <reference lib="dom" />
/** Facts of a token by pages and by the beginning of their keys, and their proofs, which are checked here. */
import { h, keyed, setText } from "../operator/dom.js";
import { alertBox, badge, count, labelled, nothing, panel, short } from "../operator/parts.js";
import { ask, client, percent, readable } from "./ask.js";
import { plain, visible } from "./visible.js";

/** @typedef {import("../../client/proofs.ts").FactProof} FactProof */
/** @typedef {import("../../client/tokens.ts").Token} Token */
/**
 * @typedef {{ tokenId: string, key: string | Uint8Array, expected: string | undefined, datum: string, current: () =>
 * Promise<Token | undefined> }} Checking
 */
/** @typedef {{ good: boolean, says: string, value?: string }} Verdict */

const PAGE = 50;
const MOST = 1_000;

/**
 * Checks a fact: its proof must lead from key and value to the root that the token's state output holds, and to the
 * datum that the reader has from another source, where there is one; and the value must be the one that is shown.
 * @param {Checking} asked @returns {Promise<Verdict>}
 */
async function checked({ tokenId, key, expected, datum, current }) {
  const { factSegment, verifyFact } = await client();
  const { segment, query } = factSegment(key);
  for (let tries = 2;; tries--) {
    const token = await current();
    if (!token) return { good: false, says: "The token no longer exists." };
    /** @type {{ answer: FactProof }} */
    const { answer } = await ask(`/token/${tokenId}/facts/${segment}${query}`);
    const { policyId, cbor: output } = answer.stateOutput ?? {};
    // the answer's own output is trusted only where it is the token's state output
    const trusted = datum === ""
      ? { policyId: String(policyId), output: String(output), outputRefId: token.outputRefId }
      : { policyId: String(policyId), assetName: tokenId, datum };
    const result = verifyFact(answer, { tokenId, key, trusted });
    // a block may have come between the two questions
    if (!result.ok && result.error.code === "state_differs" && datum === "" && tries > 0) continue;
    if (!result.ok) return { good: false, says: result.error.message };
    const { value } = result;
    if (datum === "" && value.root !== token.root) return { good: false, says: "The root is not that of the token." };
    const against = datum === ""
      ? `the state output ${short(token.outputRefId)}, as returned by this service`
      : "the state in the datum that you gave";
    if (!value.included) {
      const says = `this key has no value in ${against}.`;
      return expected === undefined ? { good: true, says } : { good: false, says: `Proven is that ${says}` };
    }
    if (expected !== undefined && value.text !== expected) {
      return { good: false, says: "The proof shows another value than the list: the list is wrong or outdated." };
    }
    return { good: true, says: `the proof leads from key and value to ${against}.`, value: value.text };
  }
}

/** @param {Verdict} verdict */
const verdictView = ({ good, says, value }) =>
  h(
    "p",
    { class: `verdict ${good ? "good" : "bad"}` },
    badge(good ? "verified" : "NOT verified", good ? "good" : "bad"),
    " ",
    says,
    ...(value === undefined ? [] : [" Value: ", visible(value)]),
  );

/**
 * @typedef {{ key: string, value: string, slot: number, root: string }} Fact a new `root` replaces the row and its
 * verdict with it, when the state changes
 */

/**
 * @param {string} tokenId
 * @param {{ signal: AbortSignal, current: () => Promise<Token | undefined>, showHistory: (key: string) => void }} place
 */
export function factsPart(tokenId, { signal, current, showHistory }) {
  const alert = alertBox();
  const list = h("ul", { class: "rows" });
  const note = h("p", { class: "note", role: "status" }, "Loading");
  const prefix = h("input", { id: "prefix", type: "search", spellcheck: "false", autocapitalize: "off" });
  const datum = h("input", { id: "datum", autocomplete: "off", spellcheck: "false", autocapitalize: "off" });
  /** @type {Fact[]} */
  let shown = [];
  /** @type {string | undefined} */
  let next;
  let root = "";
  let turn = 0;

  /**
   * Fills a place with what a check gives. @param {HTMLElement} into @param {string | Uint8Array} key @param {string |
   * undefined} expected
   */
  const check = async (into, key, expected) => {
    into.replaceChildren(nothing("Checking"));
    try {
      const asked = { tokenId, key, expected, datum: datum.value.trim(), current };
      const verdict = await checked(asked);
      if (expected !== undefined) delete verdict.value;
      into.replaceChildren(verdictView(verdict));
    } catch (error) {
      const { message } = /** @type {Error} */ (readable(error));
      into.replaceChildren(verdictView({ good: false, says: message }));
    }
  };

  const row = /** @param {Fact} fact */ ({ key, value, slot }) => {
    const verdict = h("div", { class: "whole", role: "status" });
    return h(
      "li",
      {},
      h("span", { class: "grow" }, visible(key), " = ", visible(value)),
      h("span", { class: "note" }, `slot ${count(slot)}`),
      h(
        "div",
        { class: "buttons" },
        h("button", {
          type: "button",
          class: "small",
          "data-key": `check ${key}`,
          "aria-label": `Check the proof of ${plain(key)}`,
          click: () => void check(verdict, key, value),
        }, "Check"),
        h("button", {
          type: "button",
          class: "small",
          "data-key": `history ${key}`,
          "aria-label": `History of ${plain(key)}`,
          click: () => showHistory(key),
        }, "History"),
      ),
      verdict,
    );
  };

  /** Reads a page. @param {string} path @param {Fact[]} before what is shown above it */
  const read = async (path, before) => {
    const mine = ++turn;
    try {
      /** @type {{ answer: Record<string, { value: string, slot: number }>, next: string | undefined }} */
      const page = await ask(path, signal);
      if (mine !== turn) return;
      alert.show(undefined);
      const facts = Object.entries(page.answer).map(([key, { value, slot }]) => ({ key, value, slot, root }));
      // keys that look like numbers come first in any object
      shown = [...before, ...facts.sort((a, b) => a.key < b.key ? -1 : 1)];
      next = page.next;
      keyed(list, shown, ({ key }) => key, row);
      more.hidden = next === undefined;
      setText(
        note,
        shown.length === 0 ? "None." : `${count(shown.length)} shown${next === undefined ? "" : ", there are more"}.`,
      );
    } catch (error) {
      if (signal.aborted || mine !== turn) return;
      const { code } = /** @type {{ code?: string }} */ (error);
      // the view says itself that there is no such token
      if (code === "token_ended" || code === "token_unknown") {
        shown = [];
        keyed(list, shown, ({ key }) => key, row);
        setText(note, code === "token_ended" ? "The token has ended." : "None.");
      } else alert.show(error);
      more.hidden = true;
    }
  };
  /** Reloads what is shown. @param {string} [now] the root that the token has */
  const load = async (now = root) => {
    // what was found of a key was found in another state
    if (root !== now) answer.replaceChildren();
    root = now;
    const begins = prefix.value === "" ? "" : `&prefix=${percent(new TextEncoder().encode(prefix.value))}`;
    const limit = Math.min(MOST, Math.max(PAGE, shown.length));
    await read(`/token/${tokenId}/facts?slots=true&limit=${limit}${begins}`, []);
  };
  const more = h("button", {
    type: "button",
    class: "more",
    hidden: true,
    click: () => void (next === undefined ? undefined : read(next, shown)),
  }, "Show more facts");
  prefix.addEventListener("input", () => {
    shown = [];
    void load();
  });

  const wanted = h("input", { id: "wanted", autocomplete: "off", spellcheck: "false", autocapitalize: "off" });
  const inHex = h("input", { id: "hex", type: "checkbox" });
  const answer = h("div", { role: "status" });
  const byKey = h(
    "form",
    {
      class: "inline",
      submit: async (/** @type {Event} */ event) => {
        event.preventDefault();
        if (!inHex.checked) return await check(answer, new TextEncoder().encode(wanted.value), undefined);
        const digits = wanted.value.trim();
        if (/^([0-9a-f]{2})*$/i.test(digits)) {
          const bytes = digits.match(/../g)?.map((pair) => parseInt(pair, 16)) ?? [];
          return await check(answer, Uint8Array.from(bytes), undefined);
        }
        answer.replaceChildren(nothing("This is not hexadecimal."));
      },
    },
    labelled("Check any key, whether it is there or not", wanted),
    h("label", { class: "check", for: "hex" }, inHex, "in hexadecimal"),
    h("button", { type: "submit", "data-key": "check" }, "Check the key"),
  );

  const element = panel(
    "Facts",
    h(
      "div",
      { class: "inline" },
      labelled("Key begins with", prefix),
      labelled("Datum of the state output from another provider, in hexadecimal, to check against (optional)", datum),
    ),
    note,
    alert.element,
    list,
    more,
    byKey,
    answer,
  );
  return { element, load };
}
