/** Assets that a payment intent mints and burns. */
import { fail, ok, type Result } from "#src/base/result.ts";
import { as, decode, raw } from "#src/cardano/cbor.ts";
import { refKey, type Utxo } from "#src/cardano/output.ts";
import { nativeHash, type NativeScript, readNative } from "#src/cardano/nativeScript.ts";
import type { AssetId } from "#src/cardano/value.ts";
import { hasTimes, isWithin, policyOfTemplate } from "#src/wallets/builds/policy.ts";
import type { KnownScript } from "#src/transaction/signers.ts";
import type { ValidityInterval } from "#src/wallets/builds/validity.ts";
import type { ConstructFailure, MintBurn, Payment } from "#src/wallets/builds/types.ts";

/** Minted and burned assets with their scripts. */
export interface MintPlan {
  /** Quantities, negative where burned; none is zero. */
  readonly mint: ReadonlyMap<AssetId, bigint>;
  /** Payments of minted assets to other addresses. */
  readonly payments: readonly Payment[];
  /** Scripts that the transaction carries. */
  readonly scripts: readonly KnownScript[];
  /** Native scripts that must accept the transaction, those in reference inputs too. */
  readonly natives: readonly NativeScript[];
  /** Reference inputs with minting scripts. */
  readonly references: readonly Utxo[];
  /** Whether a script checks slots, so that the transaction must state its first slot. */
  readonly timed: boolean;
}

const MOST = (1n << 63n) - 1n;
const NAME_DIGITS = 64;

/** MintPlan of an intent's `mintBurn`; `known` are the outputs that it may refer to. */
export function mintingOf(
  intents: readonly MintBurn[],
  policyKey: string | undefined,
  known: readonly Utxo[],
  interval: ValidityInterval,
): Result<MintPlan, ConstructFailure> {
  const mint = new Map<AssetId, bigint>();
  const payments: Payment[] = [];
  const scripts = new Map<string, KnownScript>();
  const natives = new Map<string, NativeScript>();
  const references = new Map<string, Utxo>();
  for (const { policy, name, quantity, operation, to } of intents) {
    if (name.length > NAME_DIGITS) {
      return fail(
        "asset_name_too_long",
        "Attempted to create a transaction with an asset name that is too long. The maximum length is 32 bytes.",
      );
    }
    if (quantity < 1n || quantity > MOST) {
      return fail(
        "mint_or_burn_asset_quantity_out_of_bounds",
        "Attempted to mint or burn an asset quantity that is out of bounds. The asset quantity must be greater than zero and must not " +
          `exceed ${MOST} (2^63 - 1).`,
      );
    }
    const found = "template" in policy
      ? policyOfTemplate(policy.template, policyKey)
      : referredPolicy(policy.id, known.find(({ ref }) => refKey(ref) === refKey(policy.reference)));
    if (!found.ok) return found;
    const { id, native } = found.value;
    natives.set(id, native);
    if ("bytes" in found.value) scripts.set(id, { bytes: found.value.bytes, native });
    else references.set(refKey(found.value.utxo.ref), found.value.utxo);
    if (operation === "mint" && to !== undefined) {
      payments.push({ address: to, lovelace: 0n, assets: [[id + name, quantity]] });
    }
    mint.set(id + name, (mint.get(id + name) ?? 0n) + (operation === "mint" ? quantity : -quantity));
  }
  const timed = [...natives.values()].some(hasTimes);
  const from = interval.from ?? (timed ? 0n : undefined);
  if ([...natives.values()].some((native) => !isWithin(native, from, interval.before))) {
    return fail(
      "validity_interval_not_inside_script_timelock",
      "Attempted to create a transaction with a validity interval that is not a subinterval of an associated script's timelock interval.",
    );
  }
  return ok({
    mint: new Map([...mint].filter(([, quantity]) => quantity !== 0n)),
    payments,
    scripts: [...scripts.values()],
    natives: [...natives.values()],
    references: [...references.values()],
    timed,
  });
}

function referredPolicy(
  id: string,
  utxo: Utxo | undefined,
): Result<{ readonly id: string; readonly native: NativeScript; readonly utxo: Utxo }, ConstructFailure> {
  const script = utxo?.output.script;
  if (!utxo || !script) {
    return fail(
      "unresolved_inputs",
      "The referenced output of a minting script does not exist or has no script.",
    );
  }
  const [language, content] = as(decode(script), "array").value;
  if (as(language, "int").value !== 0n || !content || nativeHash(raw(content)) !== id) {
    return fail(
      "created_wrong_policy_script_template",
      "The script in the referenced output is not the native script of this policy.",
    );
  }
  return ok({ id, native: readNative(content), utxo });
}
