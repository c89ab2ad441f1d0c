/** Creates a token: its name is the hash of an output reference that the transaction spends; its first state has no facts. */
import { ok, type Result } from "#src/base/result.ts";
import { scriptAddress } from "#src/cardano/address.ts";
import { encodeData } from "#src/cardano/data.ts";
import type { OutRef, Utxo } from "#src/cardano/output.ts";
import { madeOutput } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import type { Measure } from "#src/transaction/evaluation.ts";
import { atLeast } from "#src/transaction/output.ts";
import { priorityOrder } from "#src/transaction/coinPool.ts";
import { EMPTY_ROOT, encodeState, tokenName } from "#src/contract/datum.ts";
import { mintData } from "#src/contract/redeemer.ts";
import {
  type BuildFailure,
  type BuildInput,
  type Built,
  finish,
  keyAddressOf,
} from "#src/contract/transactions/common.ts";

/** A boot transaction, and the id of its token. */
export interface BuiltBoot extends Built {
  readonly token: string;
}

/** Placeholder seed for an address without outputs. */
const NO_OUTPUT: OutRef = { txHash: "00".repeat(32), index: 0 };

/** Builds the transaction that creates a token owned by the payment key of the address. */
export function buildBoot(input: BuildInput, measure: Measure): Result<BuiltBoot, BuildFailure> {
  const owner = keyAddressOf(input);
  if (!owner.ok) return owner;
  const { script, network, parameters, address } = input;
  // If there is nothing to spend, the balancer fails and says how much is missing.
  const seed: Utxo = priorityOrder(input.available)[0]?.utxo ??
    { ref: NO_OUTPUT, output: madeOutput({ address, value: lovelace(0n) }) };
  const token = tokenName(seed.ref);
  const held = new Map([[script.hash + token, 1n]]);
  const state = atLeast(parameters, {
    address: scriptAddress(network, script.hash).hex,
    value: { lovelace: 0n, assets: held },
    datum: encodeState({ owner: owner.value.payment, root: EMPTY_ROOT }),
  });
  const minting = encodeData(mintData({ type: "minting", seed: seed.ref }));
  const built = finish(input, owner.value, {
    inputs: [seed],
    outputs: [state],
    mint: held,
    redeemers: [{ for: { purpose: "mint", policy: script.hash }, data: minting }],
  }, measure);
  return built.ok ? ok({ ...built.value, token }) : built;
}
