/** Transactions that a devnet judged otherwise than a node, with the outputs that they spend. */
import { readFileSync } from "node:fs";
import { fromHex } from "#src/base/bytes.ts";
import { decode } from "#src/cardano/cbor.ts";
import { readOutput } from "#src/cardano/output.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { vectors } from "../base/vectors.ts";
import { World } from "./draft.ts";

interface Finding {
  /** CBOR in hexadecimal. */
  readonly tx: string;
  readonly slot: number;
  readonly utxo: readonly { readonly ref: string; readonly output: string }[];
}

/** A file of `test/vectors/findings`. */
export function found(name: string): Finding {
  return JSON.parse(readFileSync(vectors(`findings/${name}.json`), "utf8"));
}

/** The transaction of a finding, and a ledger with its outputs. */
export function foundIn(name: string, parameters?: Parameters): { world: World; transaction: Uint8Array } {
  const { tx, slot, utxo } = found(name);
  const world = new World(parameters);
  world.slot = slot;
  for (const { ref, output } of utxo) world.outputs.set(ref, readOutput(decode(fromHex(output))));
  return { world, transaction: fromHex(tx) };
}
