/** Addresses of shared wallets, derived script by script. */
import type { Credential } from "#src/cardano/address.ts";
import { addressOf } from "#src/wallets/index/credential.ts";
import { hashOf, scriptAt, stakeCredential } from "#src/wallets/shared/account.ts";
import type { ScriptTemplate } from "#src/wallets/shared/types.ts";

/** Address on network 0 at a role (0, or 1 for change) and an index; its bytes in hexadecimal. */
export function sharedAddress(
  { payment, delegation }: { readonly payment: ScriptTemplate; readonly delegation?: ScriptTemplate },
  role: number,
  index: number,
): string {
  const credential: Credential = { kind: "script", hash: hashOf(scriptAt(payment, role, index)) };
  return addressOf(credential, stakeCredential(delegation), 0);
}
