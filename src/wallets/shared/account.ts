/** Scripts, addresses and ids of shared wallets (CIP-1854). */
import { concat, fromHex, utf8 } from "#src/base/bytes.ts";
import type { Credential } from "#src/cardano/address.ts";
import { ROLES } from "#src/cardano/keys/derivation.ts";
import { encodeNative, nativeHash, type NativeScript } from "#src/cardano/nativeScript.ts";
import { childHash, walletId } from "#src/cardano/keys/account.ts";
import type { Xpub } from "#src/cardano/keys/types.ts";
import { scriptText, toNative } from "#src/wallets/shared/script.ts";
import type { ScriptForm, ScriptTemplate } from "#src/wallets/shared/types.ts";

/**
 * Id of a shared wallet, 40 hexadecimal digits: from its account key and its script templates, not from the keys of
 * other cosigners.
 */
export function sharedWalletId(account: Xpub, payment: ScriptForm, delegation?: ScriptForm): string {
  const text = scriptText(payment) + (delegation === undefined ? "" : scriptText(delegation));
  return walletId(concat(fromHex(account), utf8(text)));
}

/**
 * The script of a template for a role and an index.
 *
 * @throws TypeError while a cosigner's key is missing.
 */
export function scriptAt({ script, keys }: ScriptTemplate, role: number, index: number): NativeScript {
  return toNative(script, (name) => {
    const account = keys[name];
    if (account === undefined) throw new TypeError(`no account key of ${name}`);
    return childHash(account, role, index);
  });
}

/** Hash of a native script in the encoding of `encodeNative`, 56 hexadecimal digits. */
export function hashOf(script: NativeScript): string {
  return nativeHash(encodeNative(script));
}

/** The script of a shared wallet's stake account. */
export function stakeScript(delegation: ScriptTemplate): NativeScript {
  return scriptAt(delegation, ROLES.stake, 0);
}

/** Stake credential of a shared wallet; it has none without a delegation template. */
export function stakeCredential(delegation: ScriptTemplate | undefined): Credential | undefined {
  return delegation && { kind: "script", hash: hashOf(stakeScript(delegation)) };
}
