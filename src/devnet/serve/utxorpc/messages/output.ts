/** Messages of outputs, assets, datums and scripts. */
import type { cardano } from "@utxorpc/spec/lib/index.mjs";
import { fromHex } from "#src/base/bytes.ts";
import { readScript, type Script } from "#src/cardano/conway/script.ts";
import { hash256 } from "#src/cardano/hash.ts";
import type { Output } from "#src/cardano/output.ts";
import { type Assets, nameOf, policyOf } from "#src/cardano/value.ts";
import type { Form } from "#src/devnet/serve/utxorpc/messages/form.ts";
import { dataMessageOf, nativeMessage } from "#src/devnet/serve/utxorpc/messages/nested.ts";
import type { Draft } from "#src/devnet/serve/utxorpc/messages/draft.ts";

const PLUTUS = { 1: "plutusV1", 2: "plutusV2", 3: "plutusV3" } as const;

/** An output. */
export function outputMessage(output: Output, form: Form): Draft<cardano.TxOutput> & { originalCbor: Uint8Array } {
  const { address, value, script, raw } = output;
  const datum = datumMessage(output);
  const scriptOf = script && scriptMessage(readScript(script));
  return {
    // only `v1beta` has it
    originalCbor: raw,
    address: fromHex(address),
    coin: form.quantity(value.lovelace),
    assets: assetMessages(value.assets, form, "held"),
    ...(datum ? { datum } : {}),
    ...(scriptOf ? { script: scriptOf } : {}),
  };
}

function datumMessage({ datum, datumHash }: Output): Draft<cardano.Datum> | undefined {
  if (datum) {
    const payload = dataMessageOf(datum);
    return { hash: fromHex(hash256(datum)), originalCbor: datum, ...(payload ? { payload } : {}) };
  }
  return datumHash === undefined ? undefined : { hash: fromHex(datumHash) };
}

/** Assets by policy, policies ascending. */
export function assetMessages(
  assets: Assets,
  form: Form,
  use: "held" | "minted",
): (Draft<cardano.Multiasset> & { policyId: Uint8Array })[] {
  const policies = new Map<string, Draft<cardano.Asset>[]>();
  for (const [unit, amount] of [...assets].sort(([a], [b]) => a < b ? -1 : 1)) {
    const policy = policyOf(unit);
    const of = policies.get(policy) ?? [];
    of.push(form.asset(fromHex(nameOf(unit)), amount, use));
    policies.set(policy, of);
  }
  return [...policies].map(([policy, assets]) => ({ policyId: fromHex(policy), assets }));
}

/** A script; undefined where it is nested too deeply. */
export function scriptMessage(script: Script): Draft<cardano.Script> | undefined {
  if (script.language !== 0) return { script: { case: PLUTUS[script.language], value: script.bytes } };
  const native = nativeMessage(script.native);
  return native && { script: { case: "native", value: native } };
}
