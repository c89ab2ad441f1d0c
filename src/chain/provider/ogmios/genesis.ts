/** The network behind an Ogmios server. */
import type { NetworkGenesis } from "#src/chain/provider/ledgerPort.ts";
import { readEraSummaries, readShelleyGenesis } from "#src/chain/provider/ogmios/answers.ts";
import { type ConnectionSettings, OgmiosConnection } from "#src/chain/provider/ogmios/connection.ts";
import { ogmiosError } from "#src/chain/provider/ogmios/errors.ts";
import type { Network } from "#src/chain/provider/port.ts";

/** The network, and what is read of its genesis. */
export interface KnownNetwork {
  readonly network: Network;
  readonly genesis: Omit<NetworkGenesis, "hash">;
}

export interface NetworkSettings extends ConnectionSettings {
  /** The network's magic; a server of another network is refused. */
  readonly magic: number;
}

/**
 * Connects, and reads the network: the server at a URL may be another one after a restart.
 *
 * @throws OgmiosError `wrong_network` if it is another network than expected.
 */
export async function connect(
  settings: NetworkSettings,
  signal: AbortSignal,
): Promise<{ readonly connection: OgmiosConnection; readonly known: KnownNetwork }> {
  const connection = await OgmiosConnection.open(settings, signal);
  try {
    return { connection, known: await readNetwork(connection, settings.magic, signal) };
  } catch (error) {
    connection.close();
    throw error;
  }
}

async function readNetwork(
  connection: OgmiosConnection,
  expected: number,
  signal: AbortSignal,
): Promise<KnownNetwork> {
  const { magic, id, ...genesis } = readShelleyGenesis(
    await connection.request("queryNetwork/genesisConfiguration", { era: "shelley" }, signal),
  );
  if (magic !== expected) {
    throw ogmiosError(
      "wrong_network",
      `Ogmios at ${connection.where} is for the network with magic ${magic}, not ${expected}.`,
    );
  }
  const history = readEraSummaries(await connection.request("queryLedgerState/eraSummaries", undefined, signal));
  const newest = history.at(-1);
  if (!newest) throw ogmiosError("unusable", `Ogmios at ${connection.where} states no eras.`);
  return {
    network: {
      magic,
      id,
      slots: {
        zeroTime: genesis.systemStart + Number(newest.start.time / 1_000_000_000n),
        zeroSlot: newest.start.slot,
        slotLength: newest.terms.slotLength,
      },
      securityParameter: genesis.securityParameter,
    },
    genesis,
  };
}
