/**
 * A devnet's genesis as the files of a cardano-node: one for each era that has a genesis, the configuration and the
 * topology.
 *
 * `validateGenesis` of the Haskell ledger requires epochs of at least 3k slots (with a block in each); a devnet's may
 * be shorter, because it computes rewards at the boundary. The files cannot express deposits of the first pools and
 * accounts, stake of epochs before the first, a treasury that is not empty, hot keys of the committee, or a hard fork within Conway (a node's comes by a
 * governance action). The Byron file holds no keys and no
 * funds, because no block is produced in that era.
 */
import { type Json, toJson } from "#src/base/json.ts";
import { utf8 } from "#src/base/bytes.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { PLUTUS_LANGUAGES, type Ratio, type Units } from "#src/cardano/parameters.ts";
import { conwayParametersJson } from "#src/devnet/genesis/conwayGenesis.ts";
import { type Genesis, genesisOutputs } from "#src/devnet/genesis/genesis.ts";
import { governanceJson } from "#src/devnet/genesis/governanceJson.ts";
import { DEVKIT_CONSTITUTION } from "#src/devnet/genesis/yaciDevkit.ts";
import { protocolParameters } from "#src/ledger/governance/parameters.ts";
import { parseCredentialKey } from "#src/ledger/state.ts";
import templates from "./templates.json" with { type: "json" };

export const ERAS = ["byron", "shelley", "alonzo", "conway"] as const;
type GenesisEra = typeof ERAS[number];

/** A file: its name, its text, and for a genesis the hash by which nodes identify it. */
export interface GenesisFile {
  readonly name: string;
  readonly text: string;
  readonly hash?: string;
}

/** The hash of a devnet's Byron genesis, which identifies the network. */
export function byronHash(genesis: Genesis): string {
  return hash256(utf8(canonical(byron(genesis))));
}

/** All files of a devnet. The same devnet gives the same files. */
export function genesisFiles(genesis: Genesis): GenesisFile[] {
  const contents = {
    byron: byron(genesis),
    shelley: shelley(genesis),
    alonzo: alonzo(genesis),
    conway: conway(genesis),
  };
  const files = ERAS.map((era) => {
    const text = pretty(contents[era]);
    const hash = era === "byron" ? byronHash(genesis) : hash256(utf8(text));
    return { era, name: `${era}-genesis.json`, text, hash };
  });
  return [
    ...files.map(({ era: _, ...file }) => file),
    { name: "config.json", text: pretty(config(genesis, files)) },
    { name: "topology.json", text: pretty(templates.topology) },
  ];
}

/**
 * Canonical JSON, of which a node hashes the Byron genesis: no spaces, members ordered by name, only quotation mark and
 * backslash escaped (`renderCanonicalJSON`). Integers only.
 */
export function canonical(json: Json): string {
  if (Array.isArray(json)) return `[${json.map(canonical).join(",")}]`;
  if (typeof json === "string") return `"${json.replace(/["\\]/g, "\\$&")}"`;
  if (typeof json !== "object" || json === null) return String(json);
  const members = Object.entries(json).sort(([a], [b]) => a < b ? -1 : 1);
  return `{${members.map(([name, value]) => `${canonical(name)}:${canonical(value)}`).join(",")}}`;
}

function pretty(json: Json): string {
  return indented(json, "") + "\n";
}

function indented(json: Json, indent: string): string {
  const deeper = indent + "  ";
  const lines = Array.isArray(json)
    ? json.every((item) => typeof item !== "object" || item === null)
      ? undefined
      : json.map((item) => indented(item, deeper))
    : typeof json === "object" && json !== null
    ? Object.entries(json).map(([name, value]) => `${toJson(name)}: ${indented(value, deeper)}`)
    : undefined;
  if (lines === undefined || lines.length === 0) return toJson(json);
  const [open, close] = Array.isArray(json) ? "[]" : "{}";
  return `${open}\n${lines.map((line) => deeper + line).join(",\n")}\n${indent}${close}`;
}

/** The nearest decimal number, as rates of parameters are written. */
const decimal = ({ numerator, denominator }: Ratio) => Number(numerator) / Number(denominator);
const exact = ({ numerator, denominator }: Ratio): Json => ({ numerator, denominator });
const units = ({ memory, steps }: Units): Json => ({ exUnitsMem: memory, exUnitsSteps: steps });

function byron({ network: { magic, slots, securityParameter } }: Genesis): Json {
  return {
    bootStakeholders: {},
    heavyDelegation: {},
    startTime: Math.floor(slots.zeroTime / 1_000),
    nonAvvmBalances: {},
    avvmDistr: {},
    protocolConsts: { k: securityParameter, protocolMagic: magic },
    blockVersionData: { scriptVersion: 0, slotDuration: String(slots.slotLength), ...templates.blockVersion },
  };
}

function shelley(genesis: Genesis): Json {
  const { network: { magic, id, slots, securityParameter }, terms, parameters, pools } = genesis;
  const network = id === 1 ? "Mainnet" : "Testnet";
  const funds = genesisOutputs(genesis).map(({ output }) => [output.address, output.value.lovelace] as const);
  const poolOf = ({ registered: { id, terms } }: Genesis["pools"][number]): Json => ({
    publicKey: id,
    vrf: terms.vrf,
    pledge: terms.pledge,
    cost: terms.cost,
    margin: decimal(terms.margin),
    rewardAccount: { network, credential: { keyHash: terms.rewardKey } },
    owners: [...terms.owners],
    relays: [],
    metadata: terms.metadata ?? null,
  });
  return {
    activeSlotsCoeff: decimal(terms.activeSlots),
    epochLength: terms.epochLength,
    genDelegs: {},
    initialFunds: Object.fromEntries(funds),
    maxKESEvolutions: 62,
    maxLovelaceSupply: terms.maxSupply,
    networkId: network,
    networkMagic: magic,
    protocolParams: {
      a0: decimal(parameters.pledgeInfluence),
      decentralisationParam: 0,
      eMax: parameters.poolRetirementBound,
      extraEntropy: { tag: "NeutralNonce" },
      keyDeposit: parameters.keyDeposit,
      maxBlockBodySize: parameters.maxBlockBodySize,
      maxBlockHeaderSize: parameters.maxBlockHeaderSize,
      maxTxSize: parameters.maxTxSize,
      minFeeA: parameters.feePerByte,
      minFeeB: parameters.feeFixed,
      minPoolCost: parameters.minPoolCost,
      minUTxOValue: 0,
      nOpt: parameters.desiredPools,
      poolDeposit: parameters.poolDeposit,
      protocolVersion: { ...parameters.protocolVersion },
      rho: decimal(parameters.monetaryExpansion),
      tau: decimal(parameters.treasuryGrowth),
    },
    securityParam: securityParameter,
    slotLength: slots.slotLength / 1_000,
    slotsPerKESPeriod: 129_600,
    staking: {
      pools: Object.fromEntries(pools.map((pool) => [pool.id, poolOf(pool)])),
      stake: Object.fromEntries(pools.map(({ id, registered }) => [parseCredentialKey(registered.owner.key).hash, id])),
    },
    systemStart: new Date(slots.zeroTime).toISOString().replace(".000Z", "Z"),
    updateQuorum: 1,
  };
}

function alonzo({ parameters }: Genesis): Json {
  const { prices, costModels } = parameters;
  return {
    // Alonzo counts words of eight bytes, later eras count bytes
    lovelacePerUTxOWord: parameters.utxoCostPerByte * 8n,
    executionPrices: { prMem: exact(prices.memory), prSteps: exact(prices.steps) },
    maxTxExUnits: units(parameters.maxTxUnits),
    maxBlockExUnits: units(parameters.maxBlockUnits),
    maxValueSize: parameters.maxValueSize,
    collateralPercentage: parameters.collateralPercentage,
    maxCollateralInputs: parameters.maxCollateralInputs,
    costModels: { PlutusV1: first(V1_OF_ALONZO, costModels.get(0)) },
    extraConfig: {
      costModels: Object.fromEntries(
        PLUTUS_LANGUAGES.flatMap((name, language) => {
          const model = costModels.get(language);
          return model ? [[name, [...model]]] : [];
        }),
      ),
    },
  };
}

/**
 * Entries of cost models in the files of the eras that introduced them. A node reads this many there (cardano-ledger#5241),
 * none of Plutus V2, and whole models from `extraConfig` of Alonzo's file (cardano-ledger#5342, cardano-node from 10.7 on),
 * which replace the others at the start.
 */
const V1_OF_ALONZO = 166;
const V3_OF_CONWAY = 251;

const first = (count: number, model: readonly bigint[] = []): Json => model.slice(0, count);

/** Without a committee its quorum is met. */
function conway({ parameters, like, governance }: Genesis): Json {
  const constitution = like === undefined ? {} : { constitution: DEVKIT_CONSTITUTION };
  return {
    ...conwayParametersJson(protocolParameters(parameters), decimal),
    plutusV3CostModel: first(V3_OF_CONWAY, parameters.costModels.get(2)),
    ...governanceJson(governance ?? { dreps: [], delegations: [] }),
    ...(governance?.constitution ? {} : constitution),
  };
}

function config(
  { network: { id } }: Genesis,
  files: readonly { readonly era: GenesisEra; readonly name: string; readonly hash: string }[],
): Json {
  const title = (era: GenesisEra) => era.charAt(0).toUpperCase() + era.slice(1);
  const forks = ["Shelley", "Allegra", "Mary", "Alonzo", "Babbage", "Conway"];
  return {
    Protocol: "Cardano",
    RequiresNetworkMagic: id === 1 ? "RequiresNoMagic" : "RequiresMagic",
    ...Object.fromEntries(files.flatMap(({ era, name, hash }) => [
      [`${title(era)}GenesisFile`, name],
      [`${title(era)}GenesisHash`, hash],
    ])),
    ...Object.fromEntries(forks.map((era) => [`Test${era}HardForkAtEpoch`, 0])),
    ...templates.config,
  };
}
