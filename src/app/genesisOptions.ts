/** The genesis of a devnet as options. Only given options are in the result; the devnet has the defaults. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { nodeFileOf, otherNodeFile, titleOf } from "#src/app/nodeFiles.ts";
import { fileFault } from "#src/base/fileFault.ts";
import { defined } from "#src/base/present.ts";
import { type Json, parseJson } from "#src/base/json.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { readConwayGenesis } from "#src/devnet/genesis/conwayGenesis.ts";
import { genesisDefaults, type GenesisOptions } from "#src/devnet/genesis/genesis.ts";
import { devkitGenesis, devkitParametersAt, type Likeness, LIKENESSES } from "#src/devnet/genesis/yaciDevkit.ts";
import { mainnetParametersAt, type Major } from "#src/ledger/parameters.ts";
import { overrideParameters } from "#src/devnet/genesis/parametersOverride.ts";
import { MOST_ACCOUNTS } from "#src/devnet/genesis/accounts.ts";
import { MOST_POOLS } from "#src/devnet/genesis/pools.ts";

const ADA = 1_000_000n;
/** Most ada that 63 bits of lovelace hold. */
const MOST_ADA = 9_223_372_036_854;

export const GENESIS_NAMES = [
  "like",
  "slot-ms",
  "epoch-slots",
  "security-parameter",
  "protocol-version",
  "hard-fork-epoch",
  "parameters",
  "conway-genesis",
  "dreps",
  "committee",
  "pools",
  "pledge-ada",
  "accounts",
  "accounts-ada",
  "supply-ada",
  "reserves-ada",
  "treasury-ada",
] as const;
type OptionName = (typeof GENESIS_NAMES)[number];

const { epochLength, slotLength, securityParameter, parameters, pools, pledge, maxSupply, reserves, treasury } =
  genesisDefaults;
const { accounts, accountFunds } = genesisDefaults;

/** A line of the help, in columns. */
function line(option: string, says: string, variable: string): string {
  return `  --${option} `.padEnd(23) + says.padEnd(46) + " " + variable;
}

export const GENESIS_HELP = [
  "Genesis of a new devnet; an existing devnet keeps its genesis:",
  line(
    "like NAME",
    `${LIKENESSES.join(", ")}: its pool, funds and parameters; other options win (none)`,
    "ARBOR_LIKE",
  ),
  line("slot-ms N", `slot length in ms (${slotLength})`, "ARBOR_SLOT_MS"),
  line("epoch-slots N", `slots per epoch (${epochLength})`, "ARBOR_EPOCH_SLOTS"),
  line(
    "security-parameter N",
    `maximum depth of a rollback in blocks, k (${securityParameter})`,
    "ARBOR_SECURITY_PARAMETER",
  ),
  line(
    "protocol-version N",
    `9, 10 or 11, with its cost models (${parameters.protocolVersion.major})`,
    "ARBOR_PROTOCOL_VERSION",
  ),
  line(
    "hard-fork-epoch N",
    "first epoch of the next protocol version, enacted without a governance action ",
    "ARBOR_HARD_FORK_EPOCH",
  ),
  line(
    "parameters FILE",
    "JSON file with protocol parameters that replace mainnet's, named as in GET /parameters ",
    "ARBOR_PARAMETERS",
  ),
  line(
    "conway-genesis FILE",
    "Conway genesis of a node: constitution, committee, representatives, parameters of governance ",
    "ARBOR_CONWAY_GENESIS",
  ),
  line("dreps N", "default accounts that are representatives, with their own stake (0)", "ARBOR_DREPS"),
  line("committee N", "default accounts in the constitutional committee (0)", "ARBOR_COMMITTEE"),
  line("pools N", `number of block-producing stake pools (${pools})`, "ARBOR_POOLS"),
  line("pledge-ada N", `pledge of each pool in ada (${pledge / ADA})`, "ARBOR_PLEDGE_ADA"),
  line("accounts N", `number of funded accounts with public keys (${accounts})`, "ARBOR_ACCOUNTS"),
  line("accounts-ada N", `funds of each account in ada (${accountFunds / ADA})`, "ARBOR_ACCOUNTS_ADA"),
  line("supply-ada N", `maximum supply in ada (${maxSupply / ADA})`, "ARBOR_SUPPLY_ADA"),
  line("reserves-ada N", `reserves in ada, the source of rewards (${reserves / ADA})`, "ARBOR_RESERVES_ADA"),
  line("treasury-ada N", `treasury in ada (${treasury / ADA}); the faucet has the rest`, "ARBOR_TREASURY_ADA"),
].join("\n");

/** Reads the options. `text` gives the text of an option, `number` an integer or undefined; `problem` takes reports. */
export function readGenesisOptions(
  text: (name: OptionName) => string | undefined,
  number: (name: OptionName, least: number, most: number) => number | undefined,
  problem: (sentence: string) => void,
): Partial<GenesisOptions> {
  const lovelace = (name: OptionName) => {
    const ada = number(name, 0, MOST_ADA);
    return ada === undefined ? undefined : BigInt(ada) * ADA;
  };
  const like = readLike(text("like"), problem);
  const start = like === undefined ? {} : { like, ...devkitGenesis };
  const stated = defined({
    slotLength: number("slot-ms", 10, 60_000),
    epochLength: number("epoch-slots", 1, 2 ** 31 - 1),
    securityParameter: number("security-parameter", 1, 2 ** 31 - 1),
    pools: number("pools", 0, MOST_POOLS),
    pledge: lovelace("pledge-ada"),
    accounts: number("accounts", 0, MOST_ACCOUNTS),
    accountFunds: lovelace("accounts-ada"),
    maxSupply: lovelace("supply-ada"),
    reserves: lovelace("reserves-ada"),
    treasury: lovelace("treasury-ada"),
    hardForkEpoch: number("hard-fork-epoch", 1, 2 ** 31 - 1),
    dreps: number("dreps", 0, MOST_ACCOUNTS),
    committee: number("committee", 0, MOST_ACCOUNTS),
    ...withConway(
      readParameters(text("parameters"), number("protocol-version", 9, 11), like, problem),
      text("conway-genesis"),
      problem,
    ),
  });
  return { ...start, ...stated };
}

function readLike(name: string | undefined, problem: (sentence: string) => void): Likeness | undefined {
  const like = LIKENESSES.find((one) => one === name);
  if (name !== undefined && like === undefined) problem(`--like is ${name}, not one of ${LIKENESSES.join(", ")}`);
  return like;
}

/** @throws TypeError on a version that the options and the schema of the file do not let pass. */
function majorOf(version: number): Major {
  const major = ([9, 10, 11] as const).find((one) => one === version);
  if (major === undefined) throw new TypeError(`there are no parameters of protocol version ${version}`);
  return major;
}

type ChosenParameters = Partial<Pick<GenesisOptions, "parameters" | "parametersSource">>;

/** Adds what a Conway genesis states, whose parameters replace those before. */
function withConway(
  chosen: ChosenParameters,
  file: string | undefined,
  problem: (sentence: string) => void,
): ChosenParameters & Pick<GenesisOptions, "governance"> {
  if (file === undefined) return chosen;
  const json = readJson("conway-genesis", file, problem);
  const found = json === undefined ? undefined : nodeFileOf(json);
  if (json !== undefined && found !== "conway") {
    const other = otherNodeFile(file, json, "conway");
    problem(
      `--conway-genesis ${other ?? `${file} has no member of a Conway genesis, such as constitution or committee`}`,
    );
    return chosen;
  }
  const read = json === undefined ? undefined : readConwayGenesis(json);
  if (!read) return chosen;
  if (!read.ok) {
    problem(`--conway-genesis ${file}: ${read.error.message.replace(/\.$/, "")}`);
    return chosen;
  }
  const { parameters: base = genesisDefaults.parameters, parametersSource: source = genesisDefaults.parametersSource } =
    chosen;
  return {
    parameters: { ...base, ...read.value.parameters },
    parametersSource: `${source}; changed by ${path.basename(file)}`,
    governance: read.value.governance,
  };
}

/** The JSON in the file of an option; undefined where it cannot be read. */
function readJson(option: OptionName, file: string, problem: (sentence: string) => void): Json | undefined {
  try {
    return parseJson(readFileSync(file, "utf8"));
  } catch (error) {
    problem(`--${option} ${file} cannot be read: ${fileFault(error)}`);
    return undefined;
  }
}

function readParameters(
  file: string | undefined,
  version: number | undefined,
  like: Likeness | undefined,
  problem: (sentence: string) => void,
): ChosenParameters {
  if (file === undefined && version === undefined && like === undefined) return {};
  const major = version === undefined ? undefined : majorOf(version);
  const parametersAt = like === undefined ? mainnetParametersAt : devkitParametersAt;
  const base = parametersAt(major ?? majorOf(parameters.protocolVersion.major));
  let chosen: Parameters = base;
  let source = `${like ?? "mainnet"}, protocol version ${base.protocolVersion.major}`;
  if (file !== undefined) {
    const json = readJson("parameters", file, problem);
    const read = json === undefined ? undefined : overrideParameters(base, json);
    const found = json === undefined || read?.ok ? undefined : nodeFileOf(json);
    if (found !== undefined) {
      problem(`--parameters ${file} is ${titleOf(found)}, not protocol parameters named as in GET /parameters`);
    } else if (read && !read.ok) problem(`--parameters ${file}: ${read.error.message.replace(/\.$/, "")}`);
    else if (json !== undefined && read && major !== undefined) {
      chosen = { ...read.value, protocolVersion: base.protocolVersion };
    } else if (json !== undefined && read) {
      // the file may name the version; cost models that it leaves out are those of that version
      const stated = parametersAt(majorOf(read.value.protocolVersion.major));
      const again = overrideParameters(stated, json);
      chosen = again.ok ? again.value : read.value;
    }
    source += `; changed by ${path.basename(file)}`;
  }
  return { parameters: chosen, parametersSource: source };
}
