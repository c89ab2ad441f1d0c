// @ts-check
/// <reference lib="dom" />
/**
 * Taking a token over: its owner has prepared and signed the transaction, and the next owner, whose agreement the
 * contract wants, signs here.
 */
import { ApiError } from "../operator/api.js";
import { h } from "../operator/dom.js";
import { panel } from "../operator/parts.js";
import { client } from "./ask.js";
import { carryOn, refusal } from "./carry.js";

/** @typedef {import("./wallet.js").Wallet} Wallet */
/** @typedef {import("./carry.js").Checked} Checked */

/**
 * Checks that a transaction does nothing but to give a token to this wallet. @param {string} transaction @param
 * {Wallet} wallet @returns {Promise<Checked>}
 */
async function taking(transaction, wallet) {
  if (!/^([0-9a-f]{2})+$/i.test(transaction)) throw new ApiError(0, "", "This is not a transaction in hexadecimal.");
  const { TokenClient, exactSummary, fromSummary, requireIntent, summarize } = await client();
  const summary = exactSummary(await new TokenClient(location.origin).explain(transaction));
  const resolve = fromSummary(summary);
  const seen = await summarize(transaction, { resolve });
  if (!seen.ok) throw refusal(seen.error);
  const [token] = seen.value.tokens;
  // whose money it is: everything else that is spent belongs to the contract
  const payer = seen.value.spends.find(({ output }) => output !== null && output.holds === null)?.output?.address;
  if (token === undefined || payer === undefined || payer === wallet.address) {
    throw refusal({ message: "It does not transfer another owner's token to you." });
  }
  const intent = /** @type {const} */ ({ type: "transfer", token: token.tokenId, to: wallet.key, address: payer });
  const checked = await requireIntent(transaction, intent, { resolve });
  if (!checked.ok) throw refusal(checked.error);
  return { wallet, transaction, summary: checked.value, resolve };
}

/** @param {import("./app.js").Place} place @returns {import("./app.js").View} */
export function signPage({ wallet, link }) {
  const field = h("textarea", { id: "theirs", rows: 6, required: true, spellcheck: "false", autocapitalize: "off" });
  const form = h(
    "form",
    {
      submit: (/** @type {Event} */ event) => {
        event.preventDefault();
        void carryOn(wallet(), "Take a token over", (mine) => taking(field.value.trim(), mine));
      },
    },
    h("label", { for: "theirs" }, "Transaction signed by the current token owner, in hexadecimal"),
    field,
    h(
      "p",
      { class: "buttons" },
      h("button", { type: "submit", class: "primary", "data-key": "take" }, "Review and sign"),
    ),
  );
  link("live");
  const element = h(
    "div",
    { class: "sign-page" },
    h("h1", {}, "Accept a token"),
    panel(
      "A token that is transferred to you",
      h(
        "p",
        { class: "note" },
        "A transfer requires the signatures of both owners. Other transactions are rejected here.",
      ),
      form,
    ),
  );
  return { title: "Sign", element };
}
