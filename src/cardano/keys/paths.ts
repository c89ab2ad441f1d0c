/** Derivation paths of wallet keys. */
import { HARD, ROLES } from "#src/cardano/keys/derivation.ts";
import type { Path, WalletStyle } from "#src/cardano/keys/types.ts";

const COIN = HARD + 1815;

/**
 * First index of a style's paths: CIP-1852 for Shelley, CIP-1854 for shared wallets, 44 (BIP-44) for Icarus, Trezor and
 * Ledger.
 */
const PURPOSES = { shelley: 1852, shared: 1854, icarus: 44, trezor: 44, ledger: 44 } as const;

/** Path of an account key, such as 1852H/1815H/0H. `account` counts from 0 and is hardened here. */
export function accountPath(style: Exclude<WalletStyle, "random">, account = 0): Path {
  return [HARD + PURPOSES[style], COIN, HARD + account];
}

/** Path of the stake key of a sequential wallet's account, such as 1852H/1815H/0H/2/0. */
export function stakePath(account: number): Path {
  return [...accountPath("shelley", account), ROLES.stake, 0];
}

/** Path of the stake key of the first account: 1852H/1815H/0H/2/0. */
export const STAKE_PATH: Path = stakePath(0);

/** Path of a policy key, 1855H/1815H/0H (CIP-1855): it belongs to the root, whatever the account. */
export function policyPath(index = 0): Path {
  return [HARD + 1855, COIN, HARD + index];
}

/** A path in the form of the API: `["1852H", "1815H", "0H", "0", "3"]`. */
export function pathText(path: Path): string[] {
  return path.map((index) => index >= HARD ? `${index - HARD}H` : `${index}`);
}
