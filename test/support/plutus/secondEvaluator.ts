/**
 * A second Plutus machine, independent of the product's: aiken's, as WebAssembly inside a dependency of the Blaze SDK.
 */
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

/**
 * The trace of a transaction's failing script, without spaces; undefined when no script fails. The budget is unlimited:
 * the machine gives builtins that a language does not have costs past all limits, so that scripts of Plutus V1 can only
 * use the builtins of V1.
 */
export function tracedBySecond(transaction: Uint8Array, utxos: readonly Utxo[], slots: SlotConfig): string | undefined {
  try {
    run(transaction, utxos, slots, [0, 1, 2], { steps: 10n ** 15n, memory: 10n ** 12n }).forEach((result) =>
      result.free()
    );
    return undefined;
  } catch (error) {
    if (typeof error !== "string") throw error;
    return /Trace(.*)/.exec(error.replace(/\s+/g, ""))?.[1];
  }
}

function run(
  transaction: Uint8Array,
  utxos: readonly Utxo[],
  slots: SlotConfig,
  languages: readonly number[],
  limit: { readonly steps: bigint; readonly memory: bigint },
): Evaluated[] {
  return machine.eval_phase_two_raw(
    transaction,
    utxos.map(({ ref }) => encode([fromHex(ref.txHash), ref.index])),
    utxos.map(({ output }) => output.raw),
    encode(new Map(languages.map((language) => [language, mainnetParameters.costModels.get(language)!]))),
    limit.steps,
    limit.memory,
    BigInt(slots.zeroTime),
    BigInt(slots.zeroSlot),
    slots.slotLength,
  );
}

/** Units of each redeemer, in the ledger's order of redeemers, or undefined if a script refuses. */
export function evaluateSecond(
  transaction: Uint8Array,
  utxos: readonly Utxo[],
  slots: SlotConfig,
): { readonly memory: bigint; readonly steps: bigint }[] | undefined {
  let results: Evaluated[];
  try {
    results = run(transaction, utxos, slots, [2], { steps: 100_000_000_000n, memory: 200_000_000n });
  } catch (error) {
    // a script that refuses is reported as a text; anything else is no verdict
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
