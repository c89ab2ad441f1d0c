/** Minting policies: native scripts of the wallet's policy key. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { agrees, encodeNative, keysOf, nativeHash, type NativeScript } from "#src/cardano/nativeScript.ts";
import { keyHash } from "#src/cardano/keys/signingKey.ts";
import { nodeOf } from "#src/cardano/keys/account.ts";
import type { WalletRow } from "#src/wallets/rows.ts";
import { leavesOf, toNative } from "#src/wallets/shared/script.ts";
import { scriptFault } from "#src/wallets/shared/validate.ts";
import type { PolicyTemplate } from "#src/wallets/builds/types.ts";

/** Why a template gives no policy. */
type PolicyFailure = Failure<"missing_policy_public_key" | "created_wrong_policy_script_template">;

/** The refusal of minting, and of policy ids, in a wallet without a policy key. */
export const NO_POLICY_KEY = {
  code: "missing_policy_public_key" as const,
  message:
    "It seems the wallet lacks a policy public key. Therefore it's not possible to create a minting/burning transaction or get a policy id. " +
    "Please first POST to endpoint /wallets/{walletId}/policy-key to set a policy key.",
};

/** A minting policy of the wallet. */
interface MintingPolicy {
  /** Its id: the script's hash. */
  readonly id: string;
  /** CBOR of the script. */
  readonly bytes: Uint8Array;
  readonly native: NativeScript;
}

/**
 * The policy of a template; `policyKey` is the hash that `cosigner#0` stands for. The template must name exactly this
 * cosigner and pass the `recommended` validation: no empty list, no key twice in one list, times that can be met.
 * `subject` begins the message of a refusal.
 */
export function policyOfTemplate(
  template: PolicyTemplate,
  policyKey: string | undefined,
  subject = "It looks like I've created a transaction with a minting/burning policy script",
): Result<MintingPolicy, PolicyFailure> {
  if (policyKey === undefined) return { ok: false, error: NO_POLICY_KEY };
  const leaves = leavesOf(template);
  const fault = leaves.length === 1 && leaves[0] === "cosigner#0"
    ? scriptFault(template, "recommended")
    : "The script must have exactly one cosigner in it, cosigner#0.";
  if (fault !== undefined) {
    return fail(
      "created_wrong_policy_script_template",
      `${subject} that either does not pass validation, contains more than one cosigner, or has a cosigner that is different from ` +
        `cosigner#0. ${fault}`,
    );
  }
  const native = toNative(template, () => policyKey);
  const bytes = encodeNative(native);
  return ok({ id: nativeHash(bytes), bytes, native });
}

/** Whether a script accepts every slot of an interval once all its keys have signed. */
export function isWithin(native: NativeScript, from: bigint | undefined, before: bigint | undefined): boolean {
  return agrees(native, new Set(keysOf(native)), { from, before });
}

/** Whether a script checks slots. */
export function hasTimes(native: NativeScript): boolean {
  return "scripts" in native ? native.scripts.some(hasTimes) : native.kind !== "key";
}

/** Hash of a wallet's policy key, where it has one. */
export function policyKeyHash({ policyKey }: Pick<WalletRow, "policyKey">): string | undefined {
  return policyKey === undefined ? undefined : keyHash(nodeOf(policyKey).key);
}
