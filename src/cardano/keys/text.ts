/** Public keys in the form of the API: bech32 with the prefixes of CIP-5 and CIP-1854. */
import { fromHex } from "#src/base/bytes.ts";
import { keyHash } from "#src/cardano/keys/signingKey.ts";
import { writeKey } from "#src/cardano/keys/keyText.ts";
import { nodeOf } from "#src/cardano/keys/account.ts";
import type { Xpub } from "#src/cardano/keys/types.ts";

/** `extended` includes the chain code, so that children can be derived. */
type KeyFormat = "extended" | "non_extended";

/** `key` is `…_vk`; `hash`, its blake2b-224, is `…_vkh`. */
type KeyShape = "key" | "hash";

/**
 * An account key: `acct_xvk1…` or `acct_vk1…`; for shared wallets (purpose 1854) `acct_shared_xvk1…` or
 * `acct_shared_vk1…`.
 */
export function accountKeyText(account: Xpub, options: { shared: boolean; format: KeyFormat }): string {
  const name = options.shared ? "acct_shared" : "acct";
  return options.format === "extended"
    ? writeKey(`${name}_xvk`, { form: "publicNode", node: nodeOf(account) })
    : writeKey(`${name}_vk`, { form: "public", key: nodeOf(account).key });
}

/**
 * A key of a role: `addr_vk1…`, `stake_vk1…`, `drep_vk1…`; for shared wallets `addr_shared_vk1…`, `stake_shared_vk1…`.
 */
export function childKeyText(
  key: Uint8Array,
  options: { name: "addr" | "stake" | "drep"; shared: boolean; shape: KeyShape },
): string {
  const prefix = options.shared ? `${options.name}_shared` : options.name;
  return shaped(prefix, key, options.shape);
}

/** A policy key: `policy_vk1…` or `policy_vkh1…`. */
export function policyKeyText(key: Xpub, shape: KeyShape): string {
  return shaped("policy", nodeOf(key).key, shape);
}

function shaped(prefix: string, key: Uint8Array, shape: KeyShape): string {
  return shape === "key"
    ? writeKey(`${prefix}_vk`, { form: "public", key })
    : writeKey(`${prefix}_vkh`, { form: "hash", hash: fromHex(keyHash(key)) });
}
