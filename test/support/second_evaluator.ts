/** Another Plutus machine than the product's: aiken's, as WebAssembly inside a dependency of the Blaze SDK. */
import { createRequire } from "node:module";
import { fromHex } from "#src/base/bytes.ts";
import { encode } from "#src/cardano/cbor.ts";
import type { SlotConfig } from "#src/cardano/parameters.ts";
import { mainnetParameters } from "#src/ledger/parameters.ts";
import type { Utxo } from "#src/cardano/output.ts";

interface Budget {
  readonly mem: bigint;
  readonly cpu: bigint;
  free(): void;
}
interface Evaluated {
  readonly initial_budget: Budget;
  readonly remaining_budget: Budget;
  free(): void;
}
interface Machine {
  eval_phase_two_raw(
    transaction: Uint8Array,
    references: readonly Uint8Array[],
    outputs: readonly Uint8Array[],
    costModels: Uint8Array,
    steps: bigint,
    memory: bigint,
    zeroTime: bigint,
    zeroSlot: bigint,
    slotLength: number,
  ): Evaluated[];
}

const project = createRequire(import.meta.url);
const sdk = createRequire(project.resolve("@blaze-cardano/sdk"));
const folder = sdk.resolve("@blaze-cardano/uplc").replace(/dist.*$/, "dist/wasm/pkg-node/");
const machine: Machine = sdk(`${folder}uplc_wasm.js`);

/** Units of each redeemer, in the ledger's order of redeemers, or undefined when a script refuses. */
export function evaluateSecond(
  transaction: Uint8Array,
  utxos: readonly Utxo[],
  slots: SlotConfig,
): { readonly memory: bigint; readonly steps: bigint }[] | undefined {
  const models = encode(new Map([[2, mainnetParameters.costModels.get(2)!]]));
  let results: Evaluated[];
  try {
    results = machine.eval_phase_two_raw(
      transaction,
      utxos.map(({ ref }) => encode([fromHex(ref.txHash), ref.index])),
      utxos.map(({ output }) => output.raw),
      models,
      100_000_000_000n,
      200_000_000n,
      BigInt(slots.zeroTime),
      BigInt(slots.zeroSlot),
      slots.slotLength,
    );
  } catch (error) {
    // a script that refuses comes as a text; anything else is no verdict
    if (
      typeof error === "string" || (error instanceof Error && /validator|evaluat|budget|error/i.test(error.message))
    ) {
      return undefined;
    }
    throw error;
  }
  return results.map((result) => {
    const { initial_budget: first, remaining_budget: rest } = result;
    const units = { memory: first.mem - rest.mem, steps: first.cpu - rest.cpu };
    first.free();
    rest.free();
    result.free();
    return units;
  });
}
