/** Addresses of any kind: inspected, and assembled from keys and scripts. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { toHex } from "#src/base/bytes.ts";
import {
  addressText,
  baseAddress,
  type Credential,
  enterpriseAddress,
  type NetworkId,
  readAddressHex,
  rewardAddress,
} from "#src/cardano/address.ts";
import { fromBech32 } from "#src/cardano/bech32.ts";
import { inspect } from "#src/cardano/inspectAddress.ts";
import { keyHash } from "#src/cardano/keys/signingKey.ts";
import { readKey } from "#src/cardano/keys/keyText.ts";
import { encodeNative, nativeHash } from "#src/cardano/nativeScript.ts";
import * as api from "#src/wallets/api/addresses.ts";
import type { ScriptBody } from "#src/wallets/api/script.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { route } from "#src/wallets/http/route.ts";
import type { WalletEdgeOptions } from "#src/wallets/http/options.ts";
import { leavesOf, toNative } from "#src/wallets/shared/script.ts";
import type { ValidationLevel } from "#src/wallets/shared/types.ts";
import { scriptFault } from "#src/wallets/shared/validate.ts";

/** Adds `/addresses` and `/addresses/{addressId}`. */
export function addressRoutes(app: OpenAPIHono, { networkId }: Pick<WalletEdgeOptions, "networkId">): void {
  route(app, "get", "/addresses/:addressId", {
    operation: "inspectAddress",
    summary: "Inspect an address",
    params: { addressId: api.anyAddress },
    answer: api.inspected,
  }, ({ params }) => Promise.resolve(inspect(params.addressId)));

  route(app, "post", "/addresses", {
    operation: "postAnyAddress",
    summary: "Construct an address from credentials",
    body: api.addressBody,
    status: 202,
    answer: api.madeAddress,
  }, async ({ body }) => {
    const of = (text: ScriptBody | undefined, keys: RegExp) =>
      text === undefined ? undefined : credentialOf(text, keys, body.validation ?? "none");
    const [payment, stake] = [of(body.payment, /^addr_(xvk|vk|vkh)$/), of(body.stake, /^stake_(xvk|vk|vkh)$/)];
    const address = readAddressHex(addressOf(networkId, payment, stake).hex);
    if (!address.ok) throw new Error(address.error.message);
    return await Promise.resolve({ address: addressText(address.value) });
  });
}

function addressOf(network: NetworkId, payment: Credential | undefined, stake: Credential | undefined) {
  if (payment !== undefined) {
    return stake === undefined ? enterpriseAddress(network, payment) : baseAddress(network, payment, stake);
  }
  if (stake === undefined) throw malformed("neither payment nor stake is present");
  return rewardAddress(network, stake);
}

const malformed = (why: string) =>
  new HttpFailure(
    400,
    "bad_request",
    "Error in $: Address must have at least one valid credential. When script is used as a credential it must have only bech32 encoded " +
      "verification keys with possible prefixes: 'stake_shared_vkh', 'stake_shared_vk', 'stake_shared_xvk', 'addr_shared_vkh', " +
      "'addr_shared_vk' or 'addr_shared_xvk' and proper payload size. When public key is used as a credential then bech32 encoded public " +
      `keys are expected to be used with possible prefixes: 'stake_xvk', 'addr_xvk', 'stake_vk', 'addr_vk', and their hashes. Here ${why}.`,
  );

/** Keys in scripts; `script_vkh` is the prefix of their hashes before their roles had prefixes. */
const OF_SCRIPTS = /^((stake_shared|addr_shared|policy)_(xvk|vk|vkh)|script_vkh)$/;

function credentialOf(text: ScriptBody, keys: RegExp, level: ValidationLevel): Credential {
  if (typeof text === "string") {
    const hash = fromBech32(text);
    if (hash?.prefix === "script" && hash.bytes.length === 28) return { kind: "script", hash: toHex(hash.bytes) };
    const key = readKey(text);
    if (key.ok && keys.test(key.value.prefix)) return { kind: "key", hash: hashOf(text, keys) };
    // one key alone may be a script too
    return { kind: "script", hash: scriptHash(text, level) };
  }
  return { kind: "script", hash: scriptHash(text, level) };
}

function scriptHash(script: ScriptBody, level: ValidationLevel): string {
  const prefixes = new Set<string>();
  const hashes = new Map(
    leavesOf(script).map((leaf) => {
      prefixes.add(fromBech32(leaf)?.prefix.replace(/_[a-z]+$/, "") ?? "");
      return [leaf, hashOf(leaf, OF_SCRIPTS)] as const;
    }),
  );
  const why = level !== "none" && prefixes.size > 1
    ? "All keys of a script must have the same role: either payment or delegation."
    : scriptFault(script, level);
  if (why !== undefined) throw malformed(`the script is not valid: ${why}`);
  return nativeHash(encodeNative(toNative(script, (leaf) => hashes.get(leaf) ?? hashOf(leaf, OF_SCRIPTS))));
}

/** Hash of a key in bech32 under one of some prefixes. */
function hashOf(text: string, prefixes: RegExp): string {
  const key = readKey(text);
  if (!key.ok) throw malformed(`a key is not valid: ${key.error.message}`);
  if (!prefixes.test(key.value.prefix)) throw malformed(`there is a key with the prefix '${key.value.prefix}'`);
  switch (key.value.form) {
    case "hash":
      return toHex(key.value.hash);
    case "public":
      return keyHash(key.value.key);
    case "publicNode":
      return keyHash(key.value.node.key);
    default:
      throw malformed("a key is secret");
  }
}
