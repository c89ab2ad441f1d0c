/** The keys, scripts, addresses and ids of shared wallets (CIP-1854). */
import { concat, fromHex, utf8 } from "#src/base/bytes.ts";
import type { Credential, NetworkId } from "#src/cardano/address.ts";
import { ROLES } from "#src/cardano/derivation.ts";
import { encodeNative, nativeHash, type NativeScript } from "#src/cardano/nativeScript.ts";
import { addressOf } from "#src/wallet/index/credential.ts";
import { childHash, walletId } from "#src/wallet/keys/account.ts";
import type { Xpub } from "#src/wallet/keys/types.ts";
import { scriptText, toNative } from "#src/wallet/shared/script.ts";
import type { ScriptForm, ScriptTemplate } from "#src/wallet/shared/types.ts";

/** Id of a shared wallet: of its account's key and the scripts of its templates, whoever the other cosigners are. 40 hexadecimal digits. */
export function sharedWalletId(account: Xpub, payment: ScriptForm, delegation?: ScriptForm): string {
  const text = scriptText(payment) + (delegation === undefined ? "" : scriptText(delegation));
  return walletId(concat(fromHex(account), utf8(text)));
}

/** A template's script of a role and an index. Throws a `TypeError` while a key is missing. */
export function scriptAt({ script, keys }: ScriptTemplate, role: number, index: number): NativeScript {
  return toNative(script, (name) => {
    const account = keys[name];
    if (account === undefined) throw new TypeError(`no account key of ${name}`);
    return childHash(account, role, index);
  });
}

/** Hash of a native script as it is written here, 56 hexadecimal digits. */
export function hashOf(script: NativeScript): string {
  return nativeHash(encodeNative(script));
}

/** The one script under which a shared wallet delegates. */
export function stakeScript(delegation: ScriptTemplate): NativeScript {
  return scriptAt(delegation, ROLES.stake, 0);
}

/** Whose stake a shared wallet's is; it has none without a template for delegation. */
export function stakeCredential(delegation: ScriptTemplate | undefined): Credential | undefined {
  return delegation && { kind: "script", hash: hashOf(stakeScript(delegation)) };
}

/** Address of a shared wallet at a role (0, or 1 for change) and an index: its bytes in hexadecimal. */
export function sharedAddress(
  templates: { readonly payment: ScriptTemplate; readonly delegation?: ScriptTemplate | undefined },
  role: number,
  index: number,
  network: NetworkId,
): string {
  const payment: Credential = { kind: "script", hash: hashOf(scriptAt(templates.payment, role, index)) };
  return addressOf(payment, stakeCredential(templates.delegation), network);
}
