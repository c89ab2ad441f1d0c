/** Script credentials of one role of a shared wallet, many at once. */
import { fromHex, toHex } from "#src/base/bytes.ts";
import { mustGet } from "#src/base/maps.ts";
import { ok, type Result } from "#src/base/result.ts";
import type { NativeScript } from "#src/cardano/nativeScript.ts";
import { deriveCredentials } from "#src/cardano/keys/bulk.ts";
import type { DerivedHashes } from "#src/cardano/keys/types.ts";
import { hashOf } from "#src/wallets/shared/account.ts";
import { leavesOf, toNative } from "#src/wallets/shared/script.ts";
import type { SharedCredentialsInput } from "#src/wallets/shared/types.ts";

const HASH_BYTES = 28;

/**
 * Scripts of a template for a role at the indices `from` … `from + count − 1`.
 *
 * @throws TypeError while a cosigner's key is missing.
 */
export async function deriveScripts(
  { template, role, from, count }: SharedCredentialsInput,
): Promise<readonly NativeScript[]> {
  const derived = new Map<string, Uint8Array>();
  for (const name of leavesOf(template.script)) {
    const account = template.keys[name];
    if (account === undefined) throw new TypeError(`no account key of ${name}`);
    const keys = await deriveCredentials({ account, role, from, count });
    if (keys.ok) derived.set(name, keys.value.hashes);
  }
  return Array.from({ length: count }, (_, i) => {
    const at = i * HASH_BYTES;
    return toNative(template.script, (name) => toHex(mustGet(derived, name).subarray(at, at + HASH_BYTES)));
  });
}

/**
 * Hashes of these scripts, one after the other. Runs in builder threads.
 *
 * @throws TypeError while a cosigner's key is missing.
 */
export async function sharedCredentials(input: SharedCredentialsInput): Promise<Result<DerivedHashes, never>> {
  const hashes = new Uint8Array(input.count * HASH_BYTES);
  for (const [i, script] of (await deriveScripts(input)).entries()) hashes.set(fromHex(hashOf(script)), i * HASH_BYTES);
  return ok({ hashes });
}
