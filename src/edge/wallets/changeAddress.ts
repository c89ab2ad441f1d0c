/** An address for a random wallet's change, made with its root key. */
import { getRandomValues } from "node:crypto";
import { HARD } from "#src/cardano/derivation.ts";
import { type Desk, until } from "#src/edge/wallets/context.ts";
import { answered } from "#src/edge/wallets/status.ts";
import { countOwnAddresses, storeRandomAddresses } from "#src/wallet/index/readAddresses.ts";
import { byronPathKey, randomAddress } from "#src/wallet/keys/byronAddress.ts";
import type { WalletRow } from "#src/wallet/rows.ts";

/**
 * Sees to it that a random wallet has an address of its own making: those that it found on the chain may be others', with a path of
 * the wallet's copied into them, and change that goes there is lost. Throws what is answered where the passphrase is wrong.
 */
export async function haveChangeAddress(
  desk: Pick<Desk, "store" | "vault"> & { readonly port: Pick<Desk["port"], "network"> },
  row: Pick<WalletRow, "id" | "key">,
  passphrase: string,
): Promise<void> {
  const { sql } = desk.store;
  if (await countOwnAddresses(sql, row.id) > 0) return;
  const index = HARD + (getRandomValues(new Uint32Array(1))[0]! % HARD);
  const path = [HARD, index] as const;
  const [key] = answered(await desk.vault.publicKeys(row.id, { passphrase, paths: [path] }, until()));
  const { magic, id } = await desk.port.network();
  const address = randomAddress({
    pathKey: byronPathKey(row.key),
    path,
    key: key!,
    ...(id === 1 ? {} : { magic }),
  });
  await storeRandomAddresses(sql, row.id, [{ account: path[0], index, address }], true);
}
