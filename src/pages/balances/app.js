// @ts-check
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />
/** The page of the wallets' port: balances and addresses of all wallets, read again every few seconds. It sends nothing. */
import { append, h } from "../operator/dom.js";

const EVERY_MS = 5_000;
const KINDS = ["wallets", "shared-wallets", "byron-wallets"];

/** @typedef {{ quantity: number | string }} Quantity */
/**
 * @typedef {{
 *   id: string, name: string, state: { status: string },
 *   balance?: { total: Quantity, available: Quantity, reward?: Quantity },
 *   assets?: { total: unknown[] },
 * }} Wallet
 */

/** Amounts may be larger than a double holds exactly: they stay text. @param {string} path */
async function read(path) {
  const answer = await fetch(`/v2/${path}`);
  const text = await answer.text();
  const exact = text.replace(/("quantity"\s*:\s*)(\d{16,})/g, '$1"$2"');
  const body = JSON.parse(exact);
  if (!answer.ok) throw new Error(body.message);
  return body;
}

/** Lovelace as ada with six digits. @param {Quantity | undefined} amount */
function ada(amount) {
  if (amount === undefined) return "–";
  const digits = String(amount.quantity).padStart(7, "0");
  const whole = digits.slice(0, -6).replace(/\B(?=(\d{3})+$)/g, ",");
  return `${whole}.${digits.slice(-6)} ada`;
}

/** @param {string} kind @param {Wallet} wallet */
function section(kind, wallet) {
  const { balance, assets, state } = wallet;
  const addresses = h("div");
  const details = h("details", {}, h("summary", {}, "Addresses"), addresses);
  details.addEventListener("toggle", async () => {
    if (!details.open) return;
    addresses.replaceChildren("Reading…");
    try {
      const list = await read(`${kind}/${wallet.id}/addresses`);
      const rows = list.map((/** @type {{ id: string, state: string }} */ one) => `${one.state.padEnd(7)}${one.id}`);
      addresses.replaceChildren(h("pre", { tabindex: 0 }, rows.join("\n") || "No addresses"));
    } catch (error) {
      addresses.replaceChildren(String(error instanceof Error ? error.message : error));
    }
  });
  return {
    details,
    element: h(
      "section",
      {},
      h("h2", {}, wallet.name),
      h("p", {}, h("code", {}, wallet.id), ` ${kind}, ${state.status}`),
      h(
        "p",
        {},
        `Total ${ada(balance?.total)}, available ${ada(balance?.available)}, rewards ${ada(balance?.reward)}, `,
        `${assets?.total.length ?? 0} assets`,
      ),
      details,
    ),
  };
}

/** Wallets whose addresses are shown stay open. @type {Set<string>} */
const open = new Set();

async function show() {
  const status = /** @type {HTMLElement} */ (document.getElementById("status"));
  const place = /** @type {HTMLElement} */ (document.getElementById("wallets"));
  try {
    const lists = await Promise.all(KINDS.map(async (kind) => ({ kind, wallets: await read(kind) })));
    const sections = lists.flatMap(({ kind, wallets }) =>
      wallets.map((/** @type {Wallet} */ wallet) => ({ id: wallet.id, ...section(kind, wallet) }))
    );
    place.replaceChildren();
    append(place, sections.map(({ element }) => element));
    for (const { id, details } of sections) {
      details.open = open.has(id);
      details.addEventListener("toggle", () => details.open ? open.add(id) : open.delete(id));
    }
    status.textContent = sections.length === 0 ? "This service has no wallets yet." : `${sections.length} wallets`;
  } catch (error) {
    status.textContent = `The wallets cannot be read: ${error instanceof Error ? error.message : error}`;
  }
  setTimeout(show, EVERY_MS);
}
await show();
