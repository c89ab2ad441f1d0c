/** The DRep key of a wallet (CIP-105): role 3, index 0 of its account. */
import { setBounded } from "#src/base/maps.ts";
import { childHash } from "#src/cardano/keys/account.ts";
import { ROLES } from "#src/cardano/keys/derivation.ts";
import { accountPath } from "#src/cardano/keys/paths.ts";
import type { OwnDrep } from "#src/wallets/builds/types.ts";
import type { WalletRow } from "#src/wallets/rows.ts";

/** Hashes that were derived, by account key: a derivation takes about a millisecond, and each history needs one. */
const derived = new Map<string, string>();
const MOST_CACHED = 10_000;

/** Hash and path of the wallet's DRep key; undefined for wallets of kinds that have none. */
export function ownDrepOf(
  { kind, key, account }: Pick<WalletRow, "kind" | "key" | "account">,
): Pick<OwnDrep, "hash" | "path"> | undefined {
  if (kind !== "shelley") return undefined;
  const hash = derived.get(key) ?? childHash(key, ROLES.drep, 0);
  setBounded(derived, key, hash, MOST_CACHED);
  return { hash, path: [...accountPath("shelley", account), ROLES.drep, 0] };
}
