/** Inputs looked up in the UTxO, and what can be read off them. */
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import { type Address, type Credential, readAddressHex } from "#src/cardano/address.ts";
import { type Output, type OutRef, refKey, type Utxo } from "#src/cardano/output.ts";
import { readScript, type Script } from "#src/cardano/conway/script.ts";
import type { UtxoView } from "#src/ledger/state.ts";

/** An input that is there, its address read. */
export interface Input extends Utxo {
  readonly address: Address;
}

/** Inputs that are there, in the order given, and those that are not. */
export interface Inputs {
  readonly found: readonly Input[];
  readonly missing: readonly OutRef[];
}

/** Looks inputs up. */
export function lookUp(utxo: UtxoView, refs: readonly OutRef[]): Inputs {
  const found: Input[] = [];
  const missing: OutRef[] = [];
  for (const ref of refs) {
    const output = utxo.get(ref);
    if (!output) {
      missing.push(ref);
      continue;
    }
    const address = readAddressHex(output.address);
    if (!address.ok) throw new Error(`the UTxO holds an output without an address: ${address.error.message}`);
    found.push({ ref, output, address: address.value });
  }
  return { found, missing };
}

/** Who may spend from an address; undefined for Byron. */
export function paymentCredential(address: Address): Credential | undefined {
  return "payment" in address ? address.payment : undefined;
}

const scripts = new WeakMap<Uint8Array, Script>();

/** The script that an output holds, if any. */
export function scriptOf(output: Output): Script | undefined {
  if (!output.script) return undefined;
  const known = scripts.get(output.script);
  if (known) return known;
  const script = readScript(output.script);
  scripts.set(output.script, script);
  return script;
}

/**
 * Reads the scripts of outputs and yields to the event loop: 16 kB of reference inputs can refer to megabytes of scripts, each
 * of which is hashed once.
 */
export async function readScripts(outputs: readonly Output[]): Promise<void> {
  const pace = new EventLoopPacer();
  for (const output of outputs) {
    scriptOf(output);
    await pace.step();
  }
}

/** Bytes of the scripts that inputs and reference inputs hold, each output counted once (ledger: `txNonDistinctRefScriptsSize`). */
export function refScriptBytes(inputs: readonly Input[], references: readonly Input[]): number {
  const outputs = new Map([...inputs, ...references].map(({ ref, output }) => [refKey(ref), output]));
  let sum = 0;
  for (const output of outputs.values()) sum += scriptOf(output)?.size ?? 0;
  return sum;
}
