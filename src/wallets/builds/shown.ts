/** Inputs and outputs in the form of a coin selection. */
import { elementAt } from "#src/base/present.ts";
import type { Value } from "#src/cardano/value.ts";
import type { ChosenCoin, CoinSelection, OwnAddress, OwnCoin, ShownOutput } from "#src/wallets/builds/types.ts";

/** An output. */
export function shownOutput({ address, value }: { readonly address: string; readonly value: Value }): ShownOutput {
  return { address, lovelace: value.lovelace, assets: [...value.assets] };
}

/** An input or collateral input. */
export function shownCoin({ utxo, path }: OwnCoin): ChosenCoin {
  return { ref: utxo.ref, ...shownOutput(utxo.output), path };
}

/** Change outputs with the paths of their addresses; outputs beyond the last address go to it. */
export function shownChange(
  change: readonly { readonly address: string; readonly value: Value }[],
  to: readonly OwnAddress[],
): CoinSelection["change"] {
  return change.map((output, i) => ({ ...shownOutput(output), path: elementAt(to, Math.min(i, to.length - 1)).path }));
}
