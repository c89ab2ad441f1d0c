/** Many script credentials of one role at once. */
import { fromHex, toHex } from "#src/base/bytes.ts";
import { ok, type Result } from "#src/base/result.ts";
import { deriveCredentials } from "#src/wallet/keys/bulk.ts";
import type { Derived } from "#src/wallet/keys/types.ts";
import { hashOf } from "#src/wallet/shared/account.ts";
import { leavesOf, toNative } from "#src/wallet/shared/script.ts";
import type { SharedCredentialsInput } from "#src/wallet/shared/types.ts";

const HASH_BYTES = 28;

/** Hashes of a template's scripts, one after the other. Throws a `TypeError` while a key is missing. Runs in builder threads. */
export async function sharedCredentials(
  { template, role, from, count }: SharedCredentialsInput,
): Promise<Result<Derived, never>> {
  const names = leavesOf(template.script);
  const derived = new Map<string, Uint8Array>();
  for (const name of names) {
    const account = template.keys[name];
    if (account === undefined) throw new TypeError(`no account key of ${name}`);
    const keys = await deriveCredentials({ account, role, from, count });
    if (keys.ok) derived.set(name, keys.value.hashes);
  }
  const hashes = new Uint8Array(count * HASH_BYTES);
  for (let i = 0; i < count; i++) {
    const at = i * HASH_BYTES;
    const script = toNative(template.script, (name) => toHex(derived.get(name)!.subarray(at, at + HASH_BYTES)));
    hashes.set(fromHex(hashOf(script)), at);
  }
  return ok({ hashes });
}
