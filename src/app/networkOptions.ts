/** Which network, as options: mainnet, or a test network by its Byron genesis file or by its magic. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { utf8 } from "#src/base/bytes.ts";
import { fileFault } from "#src/base/fileFault.ts";
import { type Json, parseJson } from "#src/base/json.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { MAINNET_MAGIC } from "#src/cardano/magic.ts";
import { otherNodeFile } from "#src/app/nodeFiles.ts";
import { canonical } from "#src/devnet/genesis/json.ts";

/** Names of the options, without `--`. */
export const NETWORK_NAMES = ["mainnet", "testnet", "network-magic"] as const;
type OptionName = (typeof NETWORK_NAMES)[number];

/** Their part of the help text. */
export const NETWORK_HELP =
  `  --mainnet            mainnet; requires --provider node, ogmios, blockfrost or yaci  ARBOR_MAINNET
  --testnet FILE       test network by its Byron genesis file           ARBOR_TESTNET
  --network-magic N    network by its magic: 1 preprod, 2 preview, 764824073 mainnet (42)  ARBOR_NETWORK_MAGIC`;

/** The magic of a devnet. */
const DEVNET_MAGIC = 42;

export interface NetworkOptions {
  /** The network's magic, of the node or of the devnet. */
  readonly networkMagic: number;
  /** Start time of the chain in ms since 1970, as the Byron genesis file states it. */
  readonly genesisStart?: number;
  /** Hash of the Byron genesis file, by which wallets know the network. */
  readonly genesisHash?: string;
}

interface OptionReaders {
  readonly text: (name: OptionName) => string | undefined;
  readonly flag: (name: "mainnet") => boolean;
  readonly number: (name: OptionName, least: number, most: number) => number | undefined;
  /** Whether an option is on the command line. */
  readonly isArgument: (name: OptionName) => boolean;
  /** Whether the network is the deployment's own devnet. */
  readonly devnet: boolean;
  readonly problem: (sentence: string) => void;
}

/**
 * Reads the network. One named on the command line takes precedence over all three environment variables. Contradictions
 * are reported as problems; the result is then not usable.
 */
export function readNetwork({ text, flag, number, isArgument, devnet, problem }: OptionReaders): NetworkOptions {
  const onLine = NETWORK_NAMES.some(isArgument);
  const counts = (name: OptionName) => !onLine || isArgument(name);
  const given: { readonly option: string; readonly magic: number }[] = [];
  let byron: ByronGenesis | undefined;
  if (counts("mainnet") && flag("mainnet")) given.push({ option: "--mainnet", magic: MAINNET_MAGIC });
  const file = counts("testnet") ? text("testnet") : undefined;
  if (file !== undefined) {
    const genesis = readByronGenesis(file, `--testnet ${file}`, problem);
    if (genesis?.magic === MAINNET_MAGIC) problem(`--testnet ${file} is the genesis of mainnet: use --mainnet`);
    else if (genesis !== undefined) {
      byron = genesis;
      given.push({ option: `--testnet ${file}`, magic: genesis.magic });
    }
  }
  const magic = counts("network-magic") ? number("network-magic", 0, 2 ** 32 - 1) : undefined;
  if (magic !== undefined) given.push({ option: "--network-magic", magic });
  const [first, ...others] = given;
  for (const other of others) {
    if (other.magic === first?.magic) continue;
    problem(`${first?.option} (magic ${first?.magic}) contradicts ${other.option} (magic ${other.magic})`);
  }
  const networkMagic = first?.magic ?? DEVNET_MAGIC;
  if (devnet && networkMagic === MAINNET_MAGIC) {
    problem("mainnet requires --provider node, ogmios, blockfrost or yaci: a devnet is never mainnet");
  }
  if (devnet && byron !== undefined) {
    problem("--testnet requires --provider node, ogmios, blockfrost or yaci: a devnet has a genesis of its own");
  }
  return { networkMagic, ...(byron && { genesisStart: byron.start, genesisHash: byron.hash }) };
}

/** What is read of a Byron genesis; its other members are those of an era in which nothing is computed here. */
const byronGenesis = z.object({
  startTime: z.int().min(0),
  protocolConsts: z.object({ protocolMagic: z.int().min(0).max(2 ** 32 - 1) }),
});

interface ByronGenesis {
  readonly magic: number;
  /** Milliseconds since 1970. */
  readonly start: number;
  readonly hash: string;
  readonly json: Json;
}

/** Reads a Byron genesis; undefined where that is reported as a problem with `what`. */
export function readByronGenesis(
  file: string,
  what: string,
  problem: (sentence: string) => void,
): ByronGenesis | undefined {
  let json: Json;
  try {
    json = parseJson(readFileSync(file, "utf8"));
  } catch (error) {
    problem(`${what} cannot be read: ${fileFault(error)}`);
    return undefined;
  }
  const other = otherNodeFile(file, json, "byron");
  if (other !== undefined) {
    problem(what === file ? other : `${what.slice(0, -file.length)}${other}`);
    return undefined;
  }
  const read = byronGenesis.safeParse(json);
  if (read.success) {
    const { startTime, protocolConsts: { protocolMagic } } = read.data;
    return { magic: protocolMagic, start: startTime * 1_000, hash: hash256(utf8(canonical(json))), json };
  }
  const [{ path = [], message } = {}] = read.error.issues;
  problem(
    `${what} is not a Byron genesis, which has protocolConsts.protocolMagic and startTime ` +
      `(${path.join(".") || "the file"}: ${message})`,
  );
  return undefined;
}
