// @ts-check
/// <reference lib="dom" />
/** The summary of a transaction for its signer, computed from the bytes by this browser. */
import { h } from "../operator/dom.js";
import { facts, short } from "../operator/parts.js";
import { changeParts } from "./changes.js";
import { ada, visible } from "./visible.js";

/** @typedef {import("../../client/summary.ts").Summary} Summary */
/** @typedef {import("../operator/dom.js").Child} Child */

/** @param {string} id */
const mono = (id) => h("span", { class: "mono" }, id);

/** The effects of the transaction, one line each. @param {Summary} summary @returns {Child[][]} */
function steps({ valid, tokens, requests, retracts, refunds }) {
  return [
    ...(valid ? [] : [["The transaction is marked as failing and forfeits its collateral."]]),
    ...tokens.flatMap(({ tokenId, booted, ended, owner, root, applies, skips }) => {
      if (booted) return [["Boots the token ", mono(tokenId), "."]];
      if (ended) return [["Ends the token ", mono(tokenId), "."]];
      return [
        ...applies.map((
          { change, outputRef },
        ) => ["Applies the request ", mono(short(outputRef)), ": ", ...changeParts(change)]),
        ...skips.map(({ outputRef }) => ["Sends the request ", mono(short(outputRef)), " back."]),
        ...(owner.before === owner.after ? [] : [["Transfers the token to the key ", mono(String(owner.after)), "."]]),
        ...(root.before === root.after
          ? [["The root of the token ", mono(short(tokenId)), " does not change."]]
          : [["The root of the token ", mono(short(tokenId)), " becomes ", mono(String(root.after)), "."]]),
      ];
    }),
    ...requests.map(({ tokenId, change, offered, refundAddress, locked }) => [
      "Asks the token ",
      mono(short(tokenId)),
      " to ",
      ...changeParts(change),
      `. It locks ${ada(locked.lovelace)}, of which ${ada(offered)} go to the token's owner, the rest back to `,
      mono(refundAddress),
      ".",
    ]),
    ...retracts.map(({ outputRef, change, locked }) => [
      "Takes the request ",
      mono(short(outputRef)),
      " (",
      ...changeParts(change),
      `) back with its ${ada(locked.lovelace)}.`,
    ]),
    ...refunds.map(({ address, lovelace }) => [`Refunds ${ada(lovelace)} to `, mono(address), "."]),
  ];
}

/** @param {{ lovelace: bigint, assets: Record<string, bigint> }} amount */
function amountText({ lovelace, assets }) {
  const others = Object.entries(assets).map(([name, quantity]) => `${quantity} of ${name}`);
  return [ada(lovelace), ...others].join(", ");
}

/** @param {Summary["validity"]["until"]} until */
const untilText = (until) =>
  until === null ? "unlimited" : `slot ${until.slot}${until.time === null ? "" : ` (${until.time})`}`;

/** @param {Summary} summary */
export function summaryView(summary) {
  const { fee, net, collateral, signers, validity, pays, hash, size, unknown, effects } = summary;
  return h(
    "div",
    {},
    h("ul", { class: "effects" }, ...steps(summary).map((line) => h("li", {}, ...line))),
    unknown.length > 0 && h(
      "ul",
      { class: "effects error" },
      ...unknown.map(({ message }) => h("li", {}, "Not understood: ", visible(message))),
    ),
    facts([
      ["Fee", ada(fee)],
      ["For you", net === null ? "not known" : amountText(net)],
      [
        "At risk",
        collateral === null
          ? "nothing"
          : `${collateral.atRisk === null ? "not known" : ada(collateral.atRisk)} if a script fails`,
      ],
      [
        "Signs",
        signers.map(({ key, requester, signed }) => `${requester ? "you" : key}${signed ? " (signed)" : ""}`).join(
          ", ",
        ),
      ],
      ["Valid until", untilText(validity.until)],
      ["Hash", mono(hash)],
    ]),
    h(
      "details",
      {},
      h("summary", {}, `All ${pays.length} outputs, ${size} bytes`),
      h(
        "ul",
        { class: "rows" },
        ...pays.map(({ index, address, amount, purpose }) =>
          h("li", {}, h("span", { class: "grow" }, `${index} ${purpose}: `, mono(address)), amountText(amount))
        ),
      ),
      h("h3", {}, "Balance change of each address"),
      h(
        "ul",
        { class: "rows" },
        ...effects.map((one) => h("li", {}, h("span", { class: "grow" }, mono(one.address)), amountText(one))),
      ),
    ),
  );
}
