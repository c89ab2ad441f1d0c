/** The root of all unspent outputs of a network that is not the deployment's own devnet, as an option. */
import { existsSync } from "node:fs";
import { readConfiguration } from "#src/app/nodeFiles.ts";
import type { ProviderOptions } from "#src/app/providerOptions.ts";

export const UTXO_ROOT_NAMES = ["utxo-root"] as const;
type OptionName = (typeof UTXO_ROOT_NAMES)[number];

export const UTXO_ROOT_HELP =
  `  --utxo-root FILE     keep a root of all unspent outputs, with --provider node or ogmios; FILE: the config.json of a node, which names the genesis files  ARBOR_UTXO_ROOT`;

interface OptionReaders {
  readonly text: (name: OptionName) => string | undefined;
  readonly provider: string;
  readonly where: ProviderOptions;
  readonly problem: (sentence: string) => void;
}

/** Reads the option: the path of the node's configuration. Contradictions are reported as problems. */
export function readUtxoRoot(
  { text, provider, where, problem }: OptionReaders,
): { readonly utxoRoot?: string } {
  const utxoRoot = text("utxo-root");
  if (utxoRoot === undefined) return {};
  if (provider === "devnet") {
    problem("--utxo-root requires --provider node or ogmios: a devnet keeps a root without it");
  } else if (provider === "blockfrost" || provider === "yaci") {
    problem(
      "--utxo-root requires --provider node or ogmios: Blockfrost services and Yaci Store do not give whole blocks from the first one on",
    );
  } else if (where.ogmios?.from) {
    problem("--utxo-root and --ogmios-from exclude each other: the root needs all blocks from the first one on");
  }
  // the file may be at the machine of the follower alone, which reads it
  const read = existsSync(utxoRoot) ? readConfiguration(utxoRoot) : undefined;
  if (read?.ok === false) problem(`--utxo-root: ${read.error.message}`);
  return { utxoRoot };
}
