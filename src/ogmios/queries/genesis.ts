/** Genesis configurations of a network that began in Conway, in Ogmios' JSON. */
import { type Json, jsonInteger } from "#src/base/json.ts";
import type { Credential } from "#src/cardano/address.ts";
import type { PoolParameters } from "#src/cardano/certificates.ts";
import type { ProtocolParameters, Ratio } from "#src/cardano/parameters.ts";
import { poolId } from "#src/cardano/poolId.ts";
import type { AnswerOf } from "#src/node/queries/table.ts";
import { poolParametersJson } from "#src/ogmios/certificates.ts";
import { type JsonObject, OgmiosFormError, type OgmiosVersion } from "#src/ogmios/form.ts";
import { costModelsJson, referenceScriptsJson } from "#src/ogmios/parameters.ts";
import { timeText } from "#src/ogmios/queries/eras.ts";
import { constitutionJson } from "#src/ogmios/queries/governance.ts";
import {
  governanceParametersJson,
  scriptParametersJson,
  shelleyParametersJson,
} from "#src/ogmios/queries/parameters.ts";
import { adaJson, addressJson, idJson, ratioText, sizeJson } from "#src/ogmios/values.ts";

/** What a network began with. Amounts are lovelace. */
export interface NetworkGenesis {
  /** Milliseconds since 1970. */
  readonly startTime: number;
  readonly magic: number;
  readonly isMainnet: boolean;
  readonly activeSlots: Ratio;
  readonly securityParameter: number;
  readonly epochLength: number;
  /** Milliseconds of a slot. */
  readonly slotLength: number;
  readonly slotsPerKesPeriod: number;
  readonly maxKesEvolutions: number;
  readonly updateQuorum: number;
  readonly maxSupply: bigint;
  readonly parameters: ProtocolParameters;
  /** By address, its bytes in hexadecimal. */
  readonly funds: readonly { readonly address: string; readonly lovelace: bigint }[];
  readonly pools: readonly PoolParameters[];
  /** Pools by the hash of a stake key. */
  readonly delegations: readonly { readonly key: string; readonly pool: string }[];
  readonly constitution: AnswerOf<"constitution">;
  readonly committee: {
    readonly members: readonly { readonly credential: Credential; readonly until: number }[];
    readonly quorum: Ratio;
  };
}

const ERAS = ["byron", "shelley", "alonzo", "conway"] as const;
type GenesisEra = typeof ERAS[number];

/** The era that a request names. @throws OgmiosFormError */
export function readGenesisEra({ era }: JsonObject): GenesisEra {
  const found = ERAS.find((one) => one === era);
  if (found === undefined) throw new OgmiosFormError(`field 'era' is none of ${ERAS.join(", ")}`);
  return found;
}

/** The genesis of an era. */
export function genesisJson(genesis: NetworkGenesis, era: GenesisEra, version: OgmiosVersion): JsonObject {
  switch (era) {
    case "byron":
      return byronJson(genesis);
    case "shelley":
      return shelleyJson(genesis);
    case "alonzo":
      return alonzoJson(genesis);
    case "conway":
      return conwayJson(genesis, version);
  }
}

/** Byron's own parameters, which no block is made under: those of a node's test networks. */
const BYRON_PARAMETERS = {
  heavyDelegationThreshold: "3/10000",
  maxBlockBodySize: sizeJson(2_000_000),
  maxBlockHeaderSize: sizeJson(2_000_000),
  maxUpdateProposalSize: sizeJson(700),
  maxTransactionSize: sizeJson(4_096),
  multiPartyComputationThreshold: "1/50",
  scriptVersion: 0,
  unlockStakeEpoch: 18_446_744_073_709_551_615n,
  updateProposalThreshold: "1/10",
  updateProposalTimeToLive: 10_000,
  updateVoteThreshold: "1/1000",
  softForkInitThreshold: "9/10",
  softForkMinThreshold: "3/5",
  softForkDecrementThreshold: "1/20",
  minFeeCoefficient: 44,
  minFeeConstant: adaJson(155_381n),
};

function byronJson({ startTime, securityParameter, magic, slotLength }: NetworkGenesis): JsonObject {
  return {
    era: "byron",
    genesisKeyHashes: [],
    genesisDelegations: {},
    startTime: timeText(startTime),
    initialFunds: {},
    initialVouchers: {},
    securityParameter,
    networkMagic: magic,
    updatableParameters: { ...BYRON_PARAMETERS, slotDuration: slotLength },
  };
}

function shelleyJson(genesis: NetworkGenesis): JsonObject {
  const { parameters, funds, pools, delegations } = genesis;
  return {
    era: "shelley",
    startTime: timeText(genesis.startTime),
    networkMagic: genesis.magic,
    network: genesis.isMainnet ? "mainnet" : "testnet",
    activeSlotsCoefficient: ratioText(genesis.activeSlots),
    securityParameter: genesis.securityParameter,
    epochLength: genesis.epochLength,
    slotsPerKesPeriod: genesis.slotsPerKesPeriod,
    maxKesEvolutions: genesis.maxKesEvolutions,
    slotLength: { milliseconds: genesis.slotLength },
    updateQuorum: genesis.updateQuorum,
    maxLovelaceSupply: jsonInteger(genesis.maxSupply),
    initialParameters: {
      ...shelleyParametersJson(parameters),
      federatedBlockProductionRatio: "0/1",
      extraEntropy: "neutral",
      minUtxoDepositConstant: adaJson(0n),
      minUtxoDepositCoefficient: 0,
    },
    initialDelegates: [],
    initialFunds: Object.fromEntries(funds.map(({ address, lovelace }) => [addressJson(address), adaJson(lovelace)])),
    initialStakePools: {
      stakePools: Object.fromEntries(
        pools.map((pool): [string, Json] => [poolId(pool.pool), poolParametersJson(pool)]),
      ),
      delegators: Object.fromEntries(delegations.map(({ key, pool }) => [key, poolId(pool)])),
    },
  };
}

/** Costs in the cost models of the eras that introduced them; later versions of the language have more. */
const V1_OF_ALONZO = 166;
const V3_OF_CONWAY = 251;

function costModelOf({ costModels }: ProtocolParameters, language: number, count: number): JsonObject {
  return costModelsJson([[language, costModels.get(language)?.slice(0, count) ?? []]]);
}

function alonzoJson({ parameters }: NetworkGenesis): JsonObject {
  return {
    era: "alonzo",
    updatableParameters: {
      // Alonzo counts words of eight bytes, later eras count bytes
      minUtxoDepositCoefficient: jsonInteger(parameters.utxoCostPerByte * 8n),
      plutusCostModels: { ...costModelOf(parameters, 0, V1_OF_ALONZO) },
      ...scriptParametersJson(parameters),
    },
  };
}

function conwayJson({ parameters, constitution, committee }: NetworkGenesis, version: OgmiosVersion): JsonObject {
  return {
    era: "conway",
    constitution: { ...constitutionJson(constitution) },
    constitutionalCommittee: {
      members: committee.members.map(({ credential, until }) => ({ ...idJson(credential), mandate: { epoch: until } })),
      quorum: ratioText(committee.quorum),
    },
    updatableParameters: {
      ...governanceParametersJson(parameters),
      ...(version === 6 ? {} : {
        plutusCostModels: { ...costModelOf(parameters, 2, V3_OF_CONWAY) },
        minFeeReferenceScripts: { ...referenceScriptsJson(parameters.refScriptCostPerByte) },
      }),
    },
  };
}
