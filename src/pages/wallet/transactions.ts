/** Transactions of a history: what they moved, their state in words, and pages of those that match a filter. */
import { governancePurpose } from "./governanceWords.ts";
import type { Page, Transaction } from "./service.ts";

/** What a transaction did to the wallet's tokens, by policy id and name; only what changed. */
export function assetChanges(
  { inputs, outputs }: Pick<Transaction, "inputs" | "outputs">,
): ReadonlyMap<string, bigint> {
  const changes = new Map<string, bigint>();
  const add = (assets: Transaction["outputs"][number]["assets"], sign: 1n | -1n) => {
    for (const { policy_id, asset_name, quantity } of assets ?? []) {
      const key = policy_id + asset_name;
      changes.set(key, (changes.get(key) ?? 0n) + sign * BigInt(quantity));
    }
  };
  for (const { derivation_path: own, assets } of inputs) if (own) add(assets, -1n);
  for (const { derivation_path: own, assets } of outputs) if (own) add(assets, 1n);
  for (const [key, quantity] of changes) if (quantity === 0n) changes.delete(key);
  return changes;
}

/** What a transaction is for, in a word. */
export function purposeOf(transaction: Transaction): string {
  const { certificates, withdrawals, direction, mint, burn, outputs } = transaction;
  const types = new Set<string>(certificates.map(({ certificate_type: type }) => type));
  if (types.has("quit_pool")) return "Stopped delegating";
  if (types.has("join_pool")) return "Joined a pool";
  const governs = governancePurpose(transaction);
  if (governs !== undefined) return governs;
  if (types.has("cast_vote")) return "Delegated the vote";
  if (mint.tokens.length > 0) return "Minted tokens";
  if (burn.tokens.length > 0) return "Burnt tokens";
  if (direction === "incoming") return withdrawals.length > 0 ? "Withdrew rewards" : "Received";
  return outputs.every(({ derivation_path: own }) => own)
    ? withdrawals.length > 0 ? "Withdrew rewards" : "Sent to itself"
    : "Sent";
}

/** The lines of a message (CIP-20) in simple metadata; undefined where there is none, or more than one. */
export function messageOf(metadata: unknown): readonly string[] | undefined {
  const [only, ...others] = Object.entries(metadata ?? {});
  if (only === undefined || others.length > 0 || only[0] !== "674") return undefined;
  const { msg, ...more } = (only[1] ?? {}) as { readonly msg?: unknown };
  if (!Array.isArray(msg) || Object.keys(more).length > 0) return undefined;
  return msg.every((line) => typeof line === "string") ? msg : undefined;
}

/** The words for a status, and how it is coloured. */
export const STATUSES: Readonly<Record<Transaction["status"], readonly [string, "good" | "warn" | "bad"]>> = {
  pending: ["Pending", "warn"],
  submitted: ["Pending", "warn"],
  in_ledger: ["In the ledger", "good"],
  expired: ["Expired", "bad"],
};

/** Whether a transaction has a text: the beginning of its id, or a part of an address or of a token's hexadecimal. */
export function hasText(
  { id, inputs, outputs }: Pick<Transaction, "id" | "inputs" | "outputs">,
  text: string,
): boolean {
  const wanted = text.toLowerCase();
  return id.startsWith(wanted) ||
    [...inputs, ...outputs].some(({ address, assets }) =>
      address?.toLowerCase().includes(wanted) ||
      (assets ?? []).some(({ policy_id, asset_name }) => `${policy_id}${asset_name}`.includes(wanted))
    );
}

/** Transactions on a page at least, where there are so many. */
export const PAGE = 20;
/** Pages of the service that one page of matches may take: more would let the reader wait. */
const MOST_READ = 25;

/**
 * A page of transactions that have a text: pages of the service are read until enough are found. `after` continues
 * behind the last one that was read, so no transaction is left out or shown twice.
 */
export async function matchingPage(
  readPage: (after: string | undefined) => Promise<Page<Transaction>>,
  text: string,
  cursor: string | undefined,
): Promise<Page<Transaction>> {
  const entries: Transaction[] = [];
  let after = cursor;
  for (let i = 0; i < MOST_READ; i++) {
    const page = await readPage(after);
    entries.push(...text === "" ? page.entries : page.entries.filter((one) => hasText(one, text)));
    after = page.after;
    if (after === undefined || text === "" || entries.length >= PAGE) break;
  }
  return { entries, after };
}

/** The payments of a transaction to others, to send them again. */
export const paymentsOf = ({ outputs }: Pick<Transaction, "outputs">) =>
  outputs.filter(({ derivation_path: own }) => !own).map(({ address, amount, assets }) => ({
    address,
    lovelace: BigInt(amount.quantity),
    assets: (assets ?? []).map(({ policy_id, asset_name, quantity }) => ({
      asset: policy_id + asset_name,
      quantity: BigInt(quantity),
    })),
  }));
