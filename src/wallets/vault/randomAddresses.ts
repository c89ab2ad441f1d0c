/** Addresses of random wallets that need the root key: their keys are derived on hard paths. */
import { getRandomValues } from "node:crypto";
import { elementAt, onlyOf } from "#src/base/present.ts";
import { ok, type Result } from "#src/base/result.ts";
import { HARD } from "#src/cardano/keys/derivation.ts";
import type { Store } from "#src/store/store.ts";
import type { Deadline, UnsealFailure, Vault } from "#src/wallets/vault/vault.ts";
import { countOwnAddresses, storeRandomAddresses } from "#src/wallets/index/readAddresses.ts";
import { byronPathKey, randomAddress } from "#src/cardano/keys/byronAddress.ts";
import type { WalletRow } from "#src/wallets/rows.ts";

/** What an address is made with. */
export interface RandomAddressServices {
  readonly store: Pick<Store, "sql">;
  readonly vault: Pick<Vault, "publicKeys">;
  /** Protocol magic; `undefined` on mainnet, whose addresses carry none. */
  readonly magic: number | undefined;
}

/** An address of a random wallet: bytes in hexadecimal, and its path. */
export interface MadeAddress {
  readonly address: string;
  readonly path: readonly [account: number, index: number];
}

/** An unpredictable hard index. */
const randomIndex = (): number => HARD + elementAt(getRandomValues(new Uint32Array(1)), 0) % HARD;

/**
 * Makes and stores an address of a random wallet, at a random index unless one is given (`HARD` added). `undefined`:
 * the wallet has made the address with this index before.
 */
export async function makeRandomAddress(
  { store, vault, magic }: RandomAddressServices,
  row: Pick<WalletRow, "id" | "key">,
  passphrase: string,
  until: Deadline,
  index = randomIndex(),
): Promise<Result<MadeAddress | undefined, UnsealFailure>> {
  const path = [HARD, index] as const;
  const keys = await vault.publicKeys(row.id, { passphrase, paths: [path] }, until);
  if (!keys.ok) return keys;
  const address = randomAddress({ pathKey: byronPathKey(row.key), path, key: onlyOf(keys.value), magic });
  const kept = await storeRandomAddresses(store.sql, row.id, [{ account: path[0], index, address }], true);
  return ok(kept.length > 0 ? { address, path } : undefined);
}

/**
 * Makes an address for a random wallet's change unless the wallet has made one. Addresses that were found on the chain
 * may be forged (a path of the wallet copied into an address of another owner), and change that goes there is lost.
 */
export async function ensureChangeAddress(
  services: RandomAddressServices,
  row: Pick<WalletRow, "id" | "key">,
  passphrase: string,
  until: Deadline,
): Promise<Result<null, UnsealFailure>> {
  if (await countOwnAddresses(services.store.sql, row.id) > 0) return ok(null);
  const made = await makeRandomAddress(services, row, passphrase, until);
  return made.ok ? ok(null) : made;
}
