/** What a network begins with: the genesis files that a node's configuration names. */
import path from "node:path";
import type { Failure, Result } from "#src/base/result.ts";
import { byronBalances, byronOutputs, shelleyFunds, shelleyOutputs } from "#src/cardano/genesisOutputs.ts";
import { hash256 } from "#src/cardano/hash.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { publicGenesis } from "#src/chain/provider/genesisHash.ts";
import { type AppContext, StartError } from "#src/app/context.ts";
import { checkNetwork } from "#src/app/networkCheck.ts";
import { readBytes, readConfiguration, readJson, readShape } from "#src/app/nodeFiles.ts";
import { readByronGenesis } from "#src/app/networkOptions.ts";

/**
 * Reads the files that the configuration of a node names, and checks that they are those of the network of the options.
 * The result computes the outputs that are in no block. Only a network that begins in Shelley or later has the initial
 * funds of its Shelley genesis.
 *
 * @throws {StartError} where the files cannot be read, do not have the hashes of the configuration, or are of another
 * network
 */
export async function readBeginning(
  { options, networkId, port }: Pick<AppContext, "options" | "networkId" | "port">,
  file: string,
): Promise<() => Promise<readonly Utxo[]>> {
  const refuse = (sentence: string): never => {
    throw new StartError(`--utxo-root: ${sentence}.`);
  };
  const use = <T>(read: Result<T, Failure>): T => read.ok ? read.value : refuse(read.error.message);
  const config = use(readConfiguration(file));
  const next = (name: string) => path.resolve(path.dirname(file), name);
  const byronFile = next(config.ByronGenesisFile);
  const byron = readByronGenesis(byronFile, byronFile, refuse);
  if (!byron) return refuse(`${byronFile} cannot be read`);
  const shelleyFile = next(config.ShelleyGenesisFile);
  const shelleyText = use(readBytes(shelleyFile));
  checkHash(byronFile, byron.hash, config.ByronGenesisHash, refuse);
  checkHash(shelleyFile, hash256(shelleyText), config.ShelleyGenesisHash, refuse);
  const { networkMagic, genesisHash = publicGenesis(networkMagic) } = options;
  if (byron.magic !== networkMagic || byron.hash !== (genesisHash ?? byron.hash)) {
    refuse(`${byronFile} is of another network (magic ${byron.magic}) than the services (magic ${networkMagic})`);
  }
  await checkNetwork({ networkMagic, genesisStart: byron.start }, networkId, port);
  const balances = use(readShape(byronBalances, byron.json, byronFile, "Byron genesis"));
  const funds = use(readShape(shelleyFunds, use(readJson(shelleyText, shelleyFile)), shelleyFile, "Shelley genesis"));
  const magic = config.RequiresNetworkMagic === "RequiresMagic" ? networkMagic : undefined;
  const beginsInByron = config.TestShelleyHardForkAtEpoch !== 0;
  return async () => [...await byronOutputs(balances, magic), ...beginsInByron ? [] : shelleyOutputs(funds)];
}

type Refuse = (sentence: string) => never;

function checkHash(file: string, actual: string, stated: string | undefined, refuse: Refuse): void {
  if (stated !== undefined && actual !== stated) {
    refuse(`${file} has the hash ${actual}, and the configuration states ${stated}`);
  }
}
