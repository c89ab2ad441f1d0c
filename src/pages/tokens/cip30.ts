/// <reference lib="dom" />
/**
 * Browser wallets (CIP-30): which there are, connecting one, and its signature. No key is ever seen here. What a wallet
 * answers is checked: its signatures are put beside what was built, and nothing else of what it answers is used.
 */
import { ApiError } from "#src/client/http.ts";
import type { CheckedTransaction } from "#src/client/tokens.ts";
import { client, LOCAL, readConfig } from "./service.ts";

/** What a wallet offers once it is enabled. */
export interface Enabled {
  getNetworkId(): Promise<number>;
  getChangeAddress(): Promise<string>;
  getUsedAddresses(): Promise<string[]>;
  getUtxos?(): Promise<string[] | null>;
  signTx(transaction: string, partial: boolean): Promise<string>;
  /** Of the devnet's development wallet alone, as the next two. */
  getAccounts?(): Account[];
  getAccountId?(): string;
  selectAccount?(id: string): void;
}

export interface Account {
  readonly id: string;
  readonly name: string;
}

export interface Offered {
  readonly name?: unknown;
  enable(): Promise<Enabled>;
  isEnabled?(): Promise<boolean>;
}

/** A wallet of this browser. */
export interface BrowserWallet {
  /** Its name under `window.cardano`. */
  readonly id: string;
  readonly name: string;
  readonly offered: Offered;
}

/** A wallet that is connected, at the address that builds are for. */
export interface Wallet {
  readonly browser: BrowserWallet;
  readonly api: Enabled;
  /** Hashes of payment keys, by the addresses that may be chosen. */
  readonly keys: ReadonlyMap<string, string>;
  readonly address: string;
  /** Hash of the address's payment key. */
  readonly key: string;
  /** Accounts that may be chosen; none of other wallets than the devnet's. */
  readonly accounts: readonly Account[];
  readonly account: string | undefined;
}

/** The devnet's development wallet under `window.cardano`; the page has it on such a network only. */
export const DEVELOPMENT = "arbordevnet";

/** Code of a wallet whose account has changed since it was enabled. */
const ACCOUNT_CHANGED = -4;

/** What the codes of CIP-30 mean: those of every question, and those of signing. */
const MEANINGS: ReadonlyMap<unknown, string> = new Map([
  [-1, "The wallet did not understand the request."],
  [-2, "The wallet reported an internal error."],
  [-3, "The wallet refused."],
  [ACCOUNT_CHANGED, "The wallet has changed to another account: connect it again."],
]);
const SIGNING: ReadonlyMap<unknown, string> = new Map([
  [1, "The wallet cannot sign this: it does not have the key."],
  [2, "You declined to sign. Nothing was submitted."],
]);

const problem = (message: string) => new ApiError(LOCAL, "wallet", message);

/** An error of a wallet as a sentence, with its own message. */
export function walletError(error: unknown, asked: "any" | "sign"): ApiError {
  if (error instanceof ApiError) return error;
  const { code, info, message } = (typeof error === "object" && error !== null ? error : { info: error }) as {
    code?: unknown;
    info?: unknown;
    message?: unknown;
  };
  const means = (asked === "sign" && SIGNING.get(code)) || (MEANINGS.get(code) ?? "The wallet did not do it.");
  const says = [info, message].find((one) => typeof one === "string" && one.trim() !== "");
  return problem(says === undefined ? means : `${means} It says: ${String(says).slice(0, 300)}`);
}

/** The wallets that this browser has. */
export function offeredWallets(): BrowserWallet[] {
  const all = (globalThis as { cardano?: Record<string, unknown> }).cardano;
  const found: BrowserWallet[] = [];
  const seen = new Set<unknown>();
  for (const id of Object.keys(all ?? {})) {
    const offered = all?.[id] as Offered | null | undefined;
    if (typeof offered !== "object" || offered === null) continue;
    if (typeof offered.enable !== "function" || seen.has(offered)) continue;
    seen.add(offered);
    found.push({ id, name: typeof offered.name === "string" && offered.name !== "" ? offered.name : id, offered });
  }
  return found;
}

/** Hash of the payment key of an address (hexadecimal) with such a key, base or enterprise. */
export function paymentKey(hex: string): string | undefined {
  const type = hex[0];
  return type === "0" || type === "2" || type === "6" ? hex.slice(2, 58) : undefined;
}

/** Requests access to a wallet. Throws an `ApiError`. */
export async function connect(browser: BrowserWallet, wanted?: string): Promise<Wallet> {
  try {
    return await read(browser, await browser.offered.enable(), wanted);
  } catch (error) {
    throw walletError(error, "any");
  }
}

/** The development wallet with another account. Throws an `ApiError`. */
export async function withAccount({ browser, api }: Wallet, id: string): Promise<Wallet> {
  try {
    api.selectAccount?.(id);
    return await read(browser, api);
  } catch (error) {
    throw walletError(error, "any");
  }
}

/**
 * A wallet as it is now: at the same address where it still has it, else at its present one. One that says that its
 * account has changed is enabled again. Throws an `ApiError`.
 */
export async function again({ browser, api, address }: Wallet): Promise<Wallet> {
  try {
    return await read(browser, api, address);
  } catch (error) {
    if ((error as { code?: unknown }).code === ACCOUNT_CHANGED) return await connect(browser, address);
    throw walletError(error, "any");
  }
}

/** `wanted` is the address to take where the wallet has it. */
async function read(browser: BrowserWallet, api: Enabled, wanted?: string): Promise<Wallet> {
  const [{ addressFromHex }, { network }] = await Promise.all([client(), readConfig()]);
  const id = await api.getNetworkId();
  const hexes = [await api.getChangeAddress(), ...await api.getUsedAddresses()];
  if (id !== network.id) {
    const [theirs, ours] = [id, network.id].map((one) => one === 1 ? "the main network" : "a test network");
    throw problem(`The wallet is on ${theirs}, and this service on ${ours}.`);
  }
  const keys = new Map<string, string>();
  for (const hex of hexes) {
    const key = typeof hex === "string" ? paymentKey(hex) : undefined;
    if (key !== undefined) keys.set(addressFromHex(hex), key);
  }
  const [first] = keys;
  if (first === undefined) {
    throw problem("The wallet has no address with a payment key, which this service requires.");
  }
  const found = [...keys].find(([address]) => address === wanted);
  const [address, key] = found ?? first;
  const accounts = api.selectAccount ? api.getAccounts?.() ?? [] : [];
  return { browser, api, keys, address, key, accounts, account: api.getAccountId?.() };
}

/** The outputs that a wallet says it has (CBOR); none where it does not say. */
export async function outputsOf({ api }: Wallet): Promise<string[]> {
  try {
    const outputs = await api.getUtxos?.();
    return Array.isArray(outputs) ? outputs.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

/**
 * Has a wallet sign what was checked; gives the transaction with its signatures, every other byte as it was. `partial`:
 * others sign as well. Throws an `ApiError`.
 */
export async function signed(
  { api }: Wallet,
  transaction: CheckedTransaction,
  partial: boolean,
): Promise<CheckedTransaction> {
  let witnesses: string;
  try {
    witnesses = await api.signTx(transaction.cbor, partial);
  } catch (error) {
    throw walletError(error, "sign");
  }
  try {
    return transaction.withWitnessSet(witnesses);
  } catch {
    throw problem("The wallet returned an invalid witness set. Nothing was submitted.");
  }
}
