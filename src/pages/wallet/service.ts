/** The wallet service as the page calls it: from its own origin, and with advice beside the service's sentences. */
import type { z } from "zod";
import type * as sharedApi from "#src/wallets/api/shared.ts";
import { toHex } from "#src/base/bytes.ts";
import type { Messaged } from "#src/base/json.ts";
import { answer, ApiError, type Query, queryText } from "#src/client/http.ts";
import type { ByronWallet, Transaction, Wallet, WalletAddress } from "#src/client/wallets.ts";

export type { Transaction, WalletAddress };
export type SharedWallet = Messaged<z.output<typeof sharedApi.sharedWallet>>;

/** Kinds of wallets, by the first segment of their paths. */
export type Prefix = "wallets" | "shared-wallets" | "byron-wallets";
export const PREFIXES: readonly Prefix[] = ["wallets", "shared-wallets", "byron-wallets"];

/** Root of the API on the page's own origin. */
const BASE = "/v2";

/** Reads from the service. @throws {ApiError} */
export async function read<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return (await answer<T>(BASE, "GET", path + queryText(query), undefined, signal)).json;
}

/** A page of a list; `after` is the cursor of the next one. */
export interface Page<T> {
  readonly entries: readonly T[];
  readonly after?: string | undefined;
}

/** Reads a page of a list. @throws {ApiError} */
export async function readPage<T>(path: string, query: Query, signal?: AbortSignal): Promise<Page<T>> {
  const { json, headers } = await answer<T[]>(BASE, "GET", path + queryText(query), undefined, signal);
  const next = /<[^>]*[?&]after=([^&>]+)[^>]*>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
  return { entries: json, after: next === undefined ? undefined : decodeURIComponent(next) };
}

/** Sends a request with a body; `key` makes a repeated one count once. @throws {ApiError} with advice */
export async function send<T = unknown>(
  method: "POST" | "PUT" | "PATCH" | "DELETE",
  path: string,
  body?: unknown,
  key?: string,
): Promise<T> {
  const headers: Record<string, string> = key === undefined ? {} : { "idempotency-key": key };
  try {
    return (await answer<T>(BASE, method, path, body, undefined, headers)).json;
  } catch (error) {
    throw advised(error);
  }
}

/** Words for a refusal in place of the service's, which are for programmers. */
const WORDS: Readonly<Record<string, string>> = {
  wrong_encryption_passphrase:
    "This is not the passphrase of this wallet. After five wrong ones in a row it waits longer each time.",
  not_enough_money: "The wallet does not have enough for this and the fee: send less, or receive more ada first. " +
    "Each recipient also needs a little ada to hold tokens.",
  cannot_cover_fee: "The fee does not fit: send a little less.",
  utxo_too_small: "A recipient gets less ada than the ledger allows. Increase it.",
  no_utxos_available: "This wallet has nothing to spend yet: receive some ada first.",
  wallet_already_exists: "This wallet is in the list already: its id comes from the recovery phrase or key.",
  paused: "An operator of this service has paused the wallet. Nothing is lost; try again when it is resumed.",
};

/** A key for `send`. `crypto.randomUUID` needs a secure context, which a page over http from another machine is not. */
export const newKey = (): string => toHex(crypto.getRandomValues(new Uint8Array(16)));

/** What can be done about a refusal, by its code. */
const ADVICE: Readonly<Record<string, string>> = {
  too_many_wrong_passphrases: "Wait until then, or set a new passphrase with the recovery phrase under Settings.",
  inputs_depleted:
    "Wait until pending transactions are in the ledger, or set the coin selection to Round-robin under Settings.",
  no_root_key: "This wallet only watches: its transactions are signed where its keys are.",
  drep_not_registered: "Register the wallet as a representative first, under Voting.",
  withdrawal_not_possible_without_vote: "Delegate the vote first, under Voting; Abstain is enough.",
  spending_limit_exceeded: "The limit of this wallet is under Settings.",
  transaction_is_too_big: "Send to fewer recipients, or with fewer tokens at a time.",
  not_delegating_to: "Reload the page: the delegation has changed.",
  nothing_to_migrate: "The coins are worth less than it costs to move them.",
  shared_wallet_cannot_update_key: "Keys cannot be changed any more.",
  shared_wallet_key_already_exists: "Each owner has another key: copy the one of the owner who is missing.",
  missing_witnesses_in_transaction: "Pass it on to an owner who has not signed yet.",
  created_invalid_transaction:
    "Nothing was sent. Go back and review it again: another page or program may have spent its coins meanwhile.",
  network_unreachable: "The node of this service is away; try again when it is back.",
};

/** An error in the page's words, or with advice behind its sentence, where there are some. */
export function advised(error: unknown): unknown {
  if (!(error instanceof ApiError)) return error;
  const [words, advice] = [WORDS[error.code], ADVICE[error.code]];
  if (words === undefined && advice === undefined) return error;
  const message = words ?? `${error.message.replace(/[.\s]*$/, ".")} ${advice}`;
  return new ApiError(error.status, error.code, message, error.details);
}

/** A quantity of an asset. */
export interface AssetQuantity {
  readonly policy_id: string;
  readonly asset_name: string;
  readonly quantity: number | bigint;
}

/** What the page shows of a wallet, whatever its kind. */
export interface WalletSummary {
  readonly prefix: Prefix;
  readonly id: string;
  readonly name: string;
  readonly status: "ready" | "syncing" | "not_responding" | "incomplete";
  /** Percent, while it is `syncing`. */
  readonly progress: number | undefined;
  readonly available: bigint;
  readonly reward: bigint;
  readonly total: bigint;
  readonly assets: readonly AssetQuantity[];
  readonly availableAssets: readonly AssetQuantity[];
  /** Whether the service has its keys, so that it can sign. */
  readonly signs: boolean;
  readonly passphraseAt: string | undefined;
  readonly delegation: Wallet["delegation"] | undefined;
  /** Hardened index of the account, where it is not 0H. */
  readonly account: string | undefined;
  readonly selection: Wallet["selection"] | undefined;
  readonly oneChange: boolean | undefined;
  readonly gap: number | undefined;
  readonly discovery: ByronWallet["discovery"] | undefined;
  readonly payment: SharedWallet["payment_script_template"] | undefined;
  readonly staking: SharedWallet["delegation_script_template"] | undefined;
}

/** The members of any kind that may be there. */
type AnyWallet =
  & Pick<Wallet, "id" | "name">
  & { readonly state: { readonly status: string; readonly progress?: { readonly quantity: number } | undefined } }
  & Partial<Omit<Wallet, "id" | "name" | "state" | "passphrase" | "balance">>
  & Partial<Pick<ByronWallet, "discovery" | "passphrase">>
  & Partial<Pick<SharedWallet, "payment_script_template" | "delegation_script_template">>
  & {
    readonly balance?: { readonly [of in "available" | "reward" | "total"]?: { readonly quantity: number | bigint } };
  };

export function summaryOf(prefix: Prefix, wallet: AnyWallet): WalletSummary {
  const { state, balance = {}, assets, passphrase } = wallet;
  const quantity = (of: "available" | "reward" | "total") => BigInt(balance[of]?.quantity ?? 0);
  return {
    prefix,
    id: wallet.id,
    name: wallet.name,
    status: state.status as WalletSummary["status"],
    progress: state.progress?.quantity,
    available: quantity("available"),
    reward: quantity("reward"),
    total: quantity("total"),
    assets: assets?.total ?? [],
    availableAssets: assets?.available ?? [],
    // an incomplete shared wallet does not say; a Byron wallet without `passphrase` may have an empty one
    signs: state.status === "incomplete" || passphrase !== undefined,
    passphraseAt: passphrase?.last_updated_at,
    delegation: wallet.delegation,
    account: wallet.account_index === "0H" ? undefined : wallet.account_index,
    selection: wallet.selection,
    oneChange: wallet.one_change_address_mode,
    gap: wallet.address_pool_gap,
    discovery: wallet.discovery,
    payment: wallet.payment_script_template,
    staking: wallet.delegation_script_template,
  };
}

/** The newest summary of each wallet that was read, so that a view which opens has something to show at once. */
const recent = new Map<string, WalletSummary>();

/** What was last read of a wallet; undefined where nothing was. */
export const recentWallet = (prefix: Prefix, id: string): WalletSummary | undefined => recent.get(`${prefix}/${id}`);

function remembered(wallet: WalletSummary): WalletSummary {
  recent.set(`${wallet.prefix}/${wallet.id}`, wallet);
  return wallet;
}

/** All wallets of the service, of all kinds; within each kind the oldest first. @throws {ApiError} */
export async function readWallets(signal: AbortSignal): Promise<readonly WalletSummary[]> {
  const lists = await Promise.all(PREFIXES.map(async (prefix) => {
    const list = await read<AnyWallet[]>(`/${prefix}`, {}, signal);
    return list.map((wallet) => remembered(summaryOf(prefix, wallet)));
  }));
  return lists.flat();
}

/** One wallet. @throws {ApiError} */
export const readWallet = async (prefix: Prefix, id: string, signal?: AbortSignal): Promise<WalletSummary> =>
  remembered(summaryOf(prefix, await read<AnyWallet>(`/${prefix}/${id}`, {}, signal)));

/** What a kind of wallets is called. */
export const KIND_NAMES: Readonly<Record<Prefix, string>> = {
  wallets: "Shelley",
  "shared-wallets": "Shared",
  "byron-wallets": "Byron",
};

/** The words for what a wallet's stake and vote do now. */
export function delegationText(delegation: WalletSummary["delegation"]): string {
  switch (delegation?.active.status) {
    case "delegating":
      return "Staking";
    case "voting":
      return "Voting";
    case "delegating_and_voting":
      return "Staking and voting";
    default:
      return delegation?.next.length ? "Starts soon" : "–";
  }
}
