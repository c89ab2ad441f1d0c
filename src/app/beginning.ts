/** What a network begins with: the genesis files that a node's configuration names. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { z } from "zod";
import { fileFault } from "#src/base/fileFault.ts";
import { type Json, parseJson } from "#src/base/json.ts";
import { reason } from "#src/base/log.ts";
import { byronBalances, byronOutputs, shelleyFunds, shelleyOutputs } from "#src/cardano/genesisOutputs.ts";
import { hash256 } from "#src/cardano/hash.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { publicGenesis } from "#src/chain/provider/genesisHash.ts";
import { type AppContext, StartError } from "#src/app/context.ts";
import { checkNetwork } from "#src/app/networkCheck.ts";
import { readByronGenesis } from "#src/app/networkOptions.ts";

const hash = z.string().regex(/^[0-9a-f]{64}$/, "must be 64 hexadecimal digits").optional();
/** What is read of the configuration. */
const configuration = z.object({
  ByronGenesisFile: z.string().min(1),
  ByronGenesisHash: hash,
  ShelleyGenesisFile: z.string().min(1),
  ShelleyGenesisHash: hash,
  RequiresNetworkMagic: z.enum(["RequiresMagic", "RequiresNoMagic"]),
  TestShelleyHardForkAtEpoch: z.int().min(0).optional(),
});

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
  const config = shapeOf(
    configuration,
    jsonOf(textOf(file, refuse), file, refuse),
    file,
    "configuration of a node",
    refuse,
  );
  const next = (name: string) => path.resolve(path.dirname(file), name);
  const byronFile = next(config.ByronGenesisFile);
  const byron = readByronGenesis(byronFile, byronFile, refuse);
  if (!byron) return refuse(`${byronFile} cannot be read`);
  const shelleyFile = next(config.ShelleyGenesisFile);
  const shelleyText = textOf(shelleyFile, refuse);
  checkHash(byronFile, byron.hash, config.ByronGenesisHash, refuse);
  checkHash(shelleyFile, hash256(shelleyText), config.ShelleyGenesisHash, refuse);
  const { networkMagic, genesisHash = publicGenesis(networkMagic) } = options;
  if (byron.magic !== networkMagic || byron.hash !== (genesisHash ?? byron.hash)) {
    refuse(`${byronFile} is of another network (magic ${byron.magic}) than the services (magic ${networkMagic})`);
  }
  await checkNetwork({ networkMagic, genesisStart: byron.start }, networkId, port);
  const balances = shapeOf(byronBalances, byron.json, byronFile, "Byron genesis", refuse);
  const funds = shapeOf(shelleyFunds, jsonOf(shelleyText, shelleyFile, refuse), shelleyFile, "Shelley genesis", refuse);
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

function textOf(file: string, refuse: Refuse): Uint8Array {
  try {
    return readFileSync(file);
  } catch (error) {
    return refuse(`${file} cannot be read: ${fileFault(error)}`);
  }
}

function jsonOf(text: Uint8Array, file: string, refuse: Refuse): Json {
  try {
    return parseJson(new TextDecoder().decode(text));
  } catch (error) {
    return refuse(`${file} is not JSON: ${reason(error)}`);
  }
}

function shapeOf<T>(shape: z.ZodType<T>, json: Json, file: string, what: string, refuse: Refuse): T {
  const read = shape.safeParse(json);
  if (read.success) return read.data;
  const [{ path: at = [], message } = {}] = read.error.issues;
  return refuse(`${file} is not the ${what} (${at.join(".") || "the file"}: ${message})`);
}
