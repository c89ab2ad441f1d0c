/** The scripts of a shared wallet in a transaction. */
import { ROLES } from "#src/cardano/keys/derivation.ts";
import type { Queries } from "#src/store/store.ts";
import { ownersOf } from "#src/wallets/index/owners.ts";
import { accountPath } from "#src/cardano/keys/paths.ts";
import type { Path } from "#src/cardano/keys/types.ts";
import { stakeCredential } from "#src/wallets/shared/account.ts";
import type { SharedWalletRow } from "#src/wallets/shared/rows.ts";

/** Path of the wallet's own key in its stake script. */
export const sharedStakePath = ({ sharing }: Pick<SharedWalletRow, "sharing">): Path => [
  ...accountPath("shared", sharing.account),
  ROLES.stake,
  0,
];

/** Those of some script hashes that are the wallet's, with the paths of its keys in them. */
export async function readOwnScripts(
  sql: Queries,
  row: Pick<SharedWalletRow, "id" | "sharing">,
  hashes: readonly string[],
): Promise<{ readonly script: string; readonly path: Path }[]> {
  const owners = await ownersOf(sql, hashes.map((hash) => `script-${hash}`));
  const stake = stakeCredential(row.sharing.delegation)?.hash;
  return hashes.flatMap((script) => {
    const owner = owners.get(`script-${script}`)?.find(({ wallet }) => wallet === row.id);
    const path = owner?.path ?? (script === stake ? sharedStakePath(row) : undefined);
    return path ? [{ script, path }] : [];
  });
}
