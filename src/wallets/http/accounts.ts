/** Accounts of keys, as requests name them. */
import { HARD } from "#src/cardano/keys/derivation.ts";
import { hardIndexRequired } from "#src/wallets/http/status.ts";

/** Index of an account out of a hard index; throws 403 for a soft one. */
export function accountOf(index: number): number {
  if (index >= HARD) return index - HARD;
  throw hardIndexRequired();
}
