// @ts-check
/// <reference lib="dom" />
/**
 * Browser wallets (CIP-30): which there are, connecting one, and its signature. No key is ever seen here. What a wallet
 * answers is checked: its signatures are put beside what was built, and nothing else of what it answers is used.
 */
import { ApiError } from "../operator/api.js";
import { ask, client } from "./ask.js";

/**
 * What a wallet offers once it is enabled.
 * @typedef {object} Enabled
 * @property {() => Promise<number>} getNetworkId
 * @property {() => Promise<string>} getChangeAddress
 * @property {() => Promise<string[]>} getUsedAddresses
 * @property {() => Promise<string[] | null>} [getUtxos]
 * @property {(transaction: string, partial: boolean) => Promise<string>} signTx
 * @property {() => { id: string, name: string }[]} [getAccounts] of the devnet's development wallet alone, as the next two
 * @property {() => string} [getAccountId]
 * @property {(id: string) => void} [selectAccount]
 */
/** @typedef {{ name?: unknown, enable: () => Promise<Enabled> }} Offered */
/**
 * A wallet that is connected, at the address that builds are for.
 * @typedef {object} Wallet
 * @property {string} name
 * @property {Enabled} api
 * @property {string[]} addresses those that may be chosen, as texts
 * @property {ReadonlyMap<string, string>} keys hash of the payment key of each
 * @property {string} address
 * @property {string} key hash of the address's payment key
 * @property {{ id: string, name: string }[]} accounts those that may be chosen; none of other wallets than the devnet's
 * @property {string | undefined} account the one in use
 */
/** The devnet's development wallet under `window.cardano`; the page has it on such a network only. */
export const DEVELOPMENT = "arbordevnet";

/**
 * What the codes of CIP-30 mean: those of every question, and those of signing. @type {ReadonlyMap<unknown, string>}
 */
const MEANINGS = new Map([
  [-1, "The wallet did not understand the request."],
  [-2, "The wallet reported an internal error."],
  [-3, "The wallet refused."],
  [-4, "The wallet has changed to another account: connect it again."],
]);
/** @type {ReadonlyMap<unknown, string>} */
const SIGNING = new Map([
  [1, "The wallet cannot sign this: it does not have the key."],
  [2, "You declined to sign. Nothing was submitted."],
]);

/**
 * An error of a wallet as a sentence, with its own message. @param {unknown} error @param {"any" | "sign"} asked
 */
export function walletError(error, asked) {
  if (error instanceof ApiError) return error;
  const { code, info, message } = /** @type {{ code?: unknown, info?: unknown, message?: unknown }} */ (
    typeof error === "object" && error !== null ? error : { info: error }
  );
  const means = (asked === "sign" && SIGNING.get(code)) || (MEANINGS.get(code) ?? "The wallet did not do it.");
  const says = [info, message].find((one) => typeof one === "string" && one.trim() !== "");
  return new ApiError(0, "wallet", says === undefined ? means : `${means} It says: ${String(says).slice(0, 300)}`);
}

/**
 * The wallets that this browser has, by their names under `window.cardano`. @returns {Map<string, { name: string,
 * offered: Offered }>}
 */
export function offeredWallets() {
  const all = /** @type {{ cardano?: Record<string, unknown> }} */ (globalThis).cardano;
  /** @type {Map<string, { name: string, offered: Offered }>} */
  const found = new Map();
  const seen = new Set();
  for (const id of Object.keys(all ?? {})) {
    const offered = /** @type {Offered | undefined} */ (all?.[id]);
    if (typeof offered !== "object" || offered === null || typeof offered.enable !== "function" || seen.has(offered)) {
      continue;
    }
    seen.add(offered);
    found.set(id, { name: typeof offered.name === "string" && offered.name !== "" ? offered.name : id, offered });
  }
  return found;
}

/** Hash of the payment key of an address (hexadecimal) with such a key, base or enterprise. @param {string} hex */
export function paymentKey(hex) {
  const type = hex[0];
  return type === "0" || type === "2" || type === "6" ? hex.slice(2, 58) : undefined;
}

/**
 * Requests access to a wallet. Throws an `ApiError`. @param {{ name: string, offered: Offered }} chosen
 * @returns {Promise<Wallet>}
 */
export async function connect({ name, offered }) {
  /** @type {Enabled} */
  let api;
  try {
    api = await offered.enable();
  } catch (error) {
    throw walletError(error, "any");
  }
  return await read(name, api);
}

/**
 * The development wallet with another account. Throws an `ApiError`. @param {Wallet} wallet @param {string} id @returns
 * {Promise<Wallet>}
 */
export async function withAccount({ name, api }, id) {
  api.selectAccount?.(id);
  return await read(name, api);
}

/**
 * A wallet as it is now: its network must be the service's, and the address before must still be its own. @param
 * {Wallet} wallet @returns {Promise<Wallet>}
 */
export async function again(wallet) {
  const now = await read(wallet.name, wallet.api, wallet.address);
  if (now.address !== wallet.address) {
    throw new ApiError(0, "wallet", "The wallet has changed to another account: connect it again.");
  }
  return now;
}

/**
 * @param {string} name @param {Enabled} api @param {string} [wish] the address to take where the wallet has it @returns
 * {Promise<Wallet>}
 */
async function read(name, api, wish) {
  const { addressFromHex } = await client();
  /** @type {{ answer: { network: { id: number } } }} */
  const { answer: { network } } = await ask("/config");
  /** @type {string[]} */
  let hexes;
  /** @type {number} */
  let id;
  try {
    id = await api.getNetworkId();
    hexes = [await api.getChangeAddress(), ...await api.getUsedAddresses()];
  } catch (error) {
    throw walletError(error, "any");
  }
  if (id !== network.id) {
    const [theirs, ours] = [id, network.id].map((one) => one === 1 ? "the main network" : "a test network");
    throw new ApiError(0, "wallet", `The wallet is on ${theirs}, and this service on ${ours}.`);
  }
  /** @type {Map<string, string>} */
  const keys = new Map();
  for (const hex of hexes) {
    const key = typeof hex === "string" ? paymentKey(hex) : undefined;
    if (key !== undefined) keys.set(addressFromHex(hex), key);
  }
  const address = wish !== undefined && keys.has(wish) ? wish : keys.keys().next().value;
  if (address === undefined) {
    throw new ApiError(
      0,
      "wallet",
      "The wallet has no address with a payment key, which this service requires.",
    );
  }
  return {
    ...{ name, api, addresses: [...keys.keys()], keys, address, key: /** @type {string} */ (keys.get(address)) },
    accounts: api.selectAccount ? api.getAccounts?.() ?? [] : [],
    account: api.getAccountId?.(),
  };
}

/**
 * The outputs that a wallet says it has (CBOR); none where it does not say. @param {Wallet} wallet @returns
 * {Promise<string[]>}
 */
export async function outputsOf({ api }) {
  try {
    const outputs = await api.getUtxos?.();
    return Array.isArray(outputs) ? outputs.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

/**
 * Has a wallet sign; gives the transaction with its signatures, every other byte as it was. Throws an `ApiError`.
 * @param {Wallet} wallet @param {string} transaction hexadecimal
 * @param {boolean} partial whether others sign as well
 */
export async function signed({ api }, transaction, partial) {
  const { addWitnessSet, transactionHash } = await client();
  /** @type {string} */
  let witnesses;
  try {
    witnesses = await api.signTx(transaction, partial);
  } catch (error) {
    throw walletError(error, "sign");
  }
  try {
    const all = addWitnessSet(transaction, witnesses);
    if (transactionHash(all) === transactionHash(transaction)) return all;
  } catch {
    // reported below
  }
  throw new ApiError(0, "wallet", "The wallet returned an invalid witness set. Nothing was submitted.");
}
