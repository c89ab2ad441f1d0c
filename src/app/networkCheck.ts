/** Whether a network that answers is the one that the options name. Its magic is checked with the first message. */
import type { NetworkId } from "#src/cardano/address.ts";
import { networkIdOf } from "#src/cardano/magic.ts";
import type { LedgerPort } from "#src/chain/provider/ledgerPort.ts";
import { StartError } from "#src/app/context.ts";
import type { Options } from "#src/app/options.ts";

const NAMES = ["a test network", "mainnet"] as const;

/**
 * Compares the network id that a provider states with the id that belongs to the magic, and the start time of its chain
 * with that of the genesis file.
 *
 * @throws {StartError} where they differ: addresses and times would be wrong
 */
export async function checkNetwork(
  { networkMagic, genesisStart }: Pick<Options, "networkMagic" | "genesisStart">,
  id: NetworkId,
  port: Pick<LedgerPort, "genesis">,
): Promise<void> {
  const expected = networkIdOf(networkMagic);
  if (id !== expected) {
    throw new StartError(
      `The provider states the network id ${id} (${NAMES[id]}); the magic ${networkMagic} is that of ${
        NAMES[expected]
      }.`,
    );
  }
  if (genesisStart === undefined) return;
  const genesis = await port.genesis();
  // the file states whole seconds
  if (!genesis.ok || Math.floor(genesis.value.systemStart / 1_000) === genesisStart / 1_000) return;
  const [stated, expectedStart] = [genesis.value.systemStart, genesisStart].map((time) => new Date(time).toISOString());
  throw new StartError(
    `The network began at ${stated}, and that of the genesis file (--testnet) at ${expectedStart}: they are two networks.`,
  );
}
