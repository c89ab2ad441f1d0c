/** Whether a transaction has the signatures of the wallet's own keys that it needs. */
import { fromHex } from "#src/base/bytes.ts";
import type { Messaged } from "#src/base/json.ts";
import { paymentKeyHash } from "#src/cardano/address.ts";
import { keyHash } from "#src/cardano/keys/signingKey.ts";
import type { Queries } from "#src/store/store.ts";
import { signaturesOf } from "#src/wallets/builds/witnesses.ts";
import type { DecodedTransaction } from "#src/wallets/builds/types.ts";
import { ownersOf } from "#src/wallets/index/owners.ts";

/** Signatures of a transaction, counted. */
interface OwnSignatures {
  /**
   * Whether the transaction is the wallet's: it spends its outputs, withdraws its rewards, or has a signature of its
   * keys.
   */
  readonly own: boolean;
  /** Signatures of the wallet's keys that the transaction needs. */
  readonly expected: number;
  /** Signatures that it has, whose keys they are aside. */
  readonly detected: number;
  /** Needed signatures that it lacks. */
  readonly missing: number;
}

/**
 * Counts signatures of a transaction of a wallet. `account` is the hash of the wallet's stake key, `drep` of its DRep key. A transaction that
 * the wallet has signed is its own also where the index does not know the outputs that it spends, as after a rollback;
 * the ledger decides about it.
 */
export async function countOwnSignatures(
  sql: Queries,
  wallet: string,
  decoded: Messaged<DecodedTransaction>,
  transaction: Uint8Array,
  { account, drep }: { readonly account: string | undefined; readonly drep: string | undefined },
): Promise<OwnSignatures> {
  const spent = [...decoded.inputs, ...decoded.collateral].flatMap(({ own }) => own === undefined ? [] : [own.address]);
  const withdraws = decoded.withdrawals.some(({ path }) => path !== undefined);
  const certifies = decoded.certificates.some((one) => "account" in one && one.path !== undefined);
  const governs = [...decoded.votes, ...decoded.certificates].some((one) =>
    (!("type" in one) || one.type === "governance") && one.path !== undefined
  );
  const { keys, bootstraps } = signaturesOf(transaction);
  const signed = new Set(keys.map((key) => keyHash(fromHex(key))));
  const needed = new Set(spent.flatMap((address) => paymentKeyHash(address) ?? []));
  if (account !== undefined && (withdraws || certifies)) needed.add(account);
  if (drep !== undefined && governs) needed.add(drep);
  const byron = new Set(spent.filter((address) => address.startsWith("8"))).size;
  const lacking = [...needed].filter((hash) => !signed.has(hash)).length;
  return {
    own: spent.length > 0 || withdraws || await ownsKey(sql, wallet, [...signed]),
    expected: needed.size + byron,
    detected: signed.size + bootstraps,
    missing: lacking + Math.max(0, byron - bootstraps),
  };
}

async function ownsKey(sql: Queries, wallet: string, hashes: readonly string[]): Promise<boolean> {
  const owners = await ownersOf(sql, hashes.map((hash) => `key-${hash}`));
  return [...owners.values()].some((found) => found.some((owner) => owner.wallet === wallet));
}
