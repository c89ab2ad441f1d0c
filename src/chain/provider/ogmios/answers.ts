/**
 * What an Ogmios server answers to queries, read from its JSON in the shapes of versions 6 and 7. Functions throw
 * `OgmiosFormError`.
 */
import { isObject, type Json } from "#src/base/json.ts";
import type { Credential } from "#src/cardano/address.ts";
import type { ActionId } from "#src/cardano/conway/governance.ts";
import type { EraBound, EraHistory } from "#src/cardano/eras.ts";
import type { Parameters, Ratio } from "#src/cardano/parameters.ts";
import type { DRepStates, NetworkGenesis, StakeAccount, StakePool } from "#src/chain/provider/ledgerPort.ts";
import { readDrep, readPoolParameters } from "#src/ogmios/certificates.ts";
import {
  amountOf,
  countOf,
  hexOf,
  integerOf,
  isGiven,
  type JsonObject,
  listOf,
  objectOf,
  OgmiosFormError,
  textOf,
} from "#src/ogmios/form.ts";
import { readCostModels, readReferenceScripts } from "#src/ogmios/parameters.ts";
import {
  readAda,
  readAnchor,
  readCredential,
  readId,
  readPoolId,
  readRatio,
  readRef,
  readSize,
  readUnits,
} from "#src/ogmios/values.ts";

/** An account that is registered, by credential; its kind is missing where the version does not state it. */
type AccountSummary = Omit<StakeAccount, "credential" | "registered"> & {
  readonly hash: string;
  readonly kind: Credential["kind"] | undefined;
};

/** Registered accounts: a list since 6.13, before that a map by hash, which does not state what is hashed. */
export function readAccountSummaries(json: Json): readonly AccountSummary[] {
  if (Array.isArray(json)) {
    return json.map((one) => {
      const summary = objectOf(one, "an account");
      return { ...readCredential(summary), ...accountOf(summary) };
    });
  }
  return Object.entries(objectOf(json, "the accounts")).map(([hash, one]) => ({
    hash: hexOf(hash, "credential", 28),
    kind: undefined,
    ...accountOf(objectOf(one, "an account")),
  }));
}

function accountOf(summary: JsonObject): Pick<StakeAccount, "rewards" | "deposit" | "pool" | "drep"> {
  const { stakePool = summary.delegate, delegateRepresentative, rewards, deposit } = summary;
  const pool = isObject(stakePool) ? stakePool.id : stakePool;
  return {
    rewards: readAda(rewards),
    deposit: isGiven(deposit) ? readAda(deposit) : undefined,
    pool: isGiven(pool) ? readPoolId(pool) : undefined,
    drep: isGiven(delegateRepresentative) ? readDrep(delegateRepresentative) : undefined,
  };
}

/** Registered pools by id. One that is about to go may have no registration any more: it is left out. */
export function readStakePools(json: Json): ReadonlyMap<string, Omit<StakePool, "share" | "stake" | "retiring">> {
  const pools = Object.values(objectOf(json, "the pools")).map((one) => objectOf(one, "a pool"));
  return new Map(
    pools.filter(({ cost }) => isGiven(cost)).map((one) => {
      const { account, relays: _, metadata, ...terms } = readPoolParameters(one);
      return [terms.pool, { ...terms, rewardAccount: account, metadata }];
    }),
  );
}

/** Shares of the stake, by pool. */
export function readStakeShares(json: Json): ReadonlyMap<string, Ratio> {
  return new Map(
    Object.entries(objectOf(json, "the stake")).map(([pool, one]) => [
      readPoolId(pool),
      readRatio(objectOf(one, "a share").stake),
    ]),
  );
}

/** Lovelace by pool, for each stake or credential of the query. */
export function readProjectedRewards(json: Json): ReadonlyMap<string, ReadonlyMap<string, bigint>> {
  return new Map(
    Object.entries(objectOf(json, "the rewards")).map(([stake, pools]) => [
      stake,
      new Map(
        Object.entries(objectOf(pools, "rewards of pools")).map((
          [pool, amount],
        ) => [readPoolId(pool), readAda(amount)]),
      ),
    ]),
  );
}

/** Registered representatives. The two that always vote the same are in the answer too, and are no entries here. */
export function readRepresentatives(json: Json): DRepStates["all"] {
  return listOf(json, "the representatives").map((one) => objectOf(one, "a representative"))
    .filter(({ type }) => type === "registered").map((one) => ({
      credential: readId(one),
      expiry: countOf(objectOf(one.mandate, "the mandate").epoch, "epoch"),
      anchor: readAnchor(one.metadata),
      deposit: readAda(one.deposit),
      stake: readAda(one.stake),
    }));
}

/** Governance actions that are voted on, and the last epoch of each. */
export function readProposals(json: Json): readonly { readonly id: ActionId; readonly lastEpoch: number }[] {
  return listOf(json, "the proposals").map((one) => {
    const { proposal, until } = objectOf(one, "a proposal");
    return { id: readRef(proposal), lastEpoch: countOf(objectOf(until, "until").epoch, "epoch") };
  });
}

const PICOSECONDS = 1_000_000_000_000n;

/** The eras that have begun, oldest first. */
export function readEraSummaries(json: Json): EraHistory {
  return listOf(json, "the eras").map((one) => {
    const { start, end, parameters } = objectOf(one, "an era");
    const { epochLength, slotLength, safeZone } = objectOf(parameters, "the era's parameters");
    const safe = isGiven(safeZone) ? countOf(safeZone, "safeZone") : undefined;
    return {
      start: boundOf(start),
      end: isGiven(end) ? boundOf(end) : undefined,
      terms: {
        epochLength: countOf(epochLength, "epochLength"),
        slotLength: millisecondsOf(slotLength),
        safeZone: safe,
        // the same in every era so far: 2k in Byron, 3k/f since
        genesisWindow: safe ?? 0,
      },
    };
  });
}

function boundOf(json: Json | undefined): EraBound {
  const { time, slot, epoch } = objectOf(json, "a bound");
  const { seconds } = objectOf(time, "the time");
  // slots of private networks may be shorter than a second
  const picoseconds = typeof seconds === "number" && !Number.isInteger(seconds)
    ? BigInt(Math.round(seconds * 1_000)) * (PICOSECONDS / 1_000n)
    : integerOf(seconds, "seconds") * PICOSECONDS;
  return { time: picoseconds, slot: countOf(slot, "slot"), epoch: countOf(epoch, "epoch") };
}

const millisecondsOf = (json: Json | undefined): number =>
  Number(integerOf(objectOf(json, "the slot's length").milliseconds, "milliseconds"));

/** A time, in ms since 1970; finer parts are cut off. */
export function readTime(json: Json | undefined): number {
  const [, seconds, fraction = ""] = /^([\d-]{10}T[\d:]{8})(?:\.(\d+))?Z?$/.exec(textOf(json, "the time")) ?? [];
  const time = Date.parse(`${seconds}.${fraction.slice(0, 3).padEnd(3, "0")}Z`);
  if (seconds === undefined || Number.isNaN(time)) throw new OgmiosFormError("the time is not one");
  return time;
}

/** The genesis of Shelley, and the network that it states. */
export function readShelleyGenesis(
  json: Json,
): Omit<NetworkGenesis, "hash"> & { readonly magic: number; readonly id: 0 | 1 } {
  const genesis = objectOf(json, "the genesis");
  return {
    magic: countOf(genesis.networkMagic, "networkMagic"),
    id: genesis.network === "mainnet" ? 1 : 0,
    systemStart: readTime(genesis.startTime),
    activeSlots: readRatio(genesis.activeSlotsCoefficient),
    securityParameter: countOf(genesis.securityParameter, "securityParameter"),
    epochLength: countOf(genesis.epochLength, "epochLength"),
    slotLength: millisecondsOf(genesis.slotLength),
    maxSupply: amountOf(genesis.maxLovelaceSupply, "maxLovelaceSupply"),
  };
}

/** First protocol version of Conway. */
const CONWAY = 9;

/** The protocol parameters. Those of an era before Conway have another form. */
export function readParameters(json: Json): Parameters {
  const p = objectOf(json, "the parameters");
  const { major, minor } = objectOf(p.version, "version");
  const version = countOf(major, "major");
  if (version < CONWAY) {
    throw new OgmiosFormError(`the network has protocol version ${version}; the oldest supported version is ${CONWAY}`);
  }
  const prices = objectOf(p.scriptExecutionPrices, "scriptExecutionPrices");
  return {
    protocolVersion: { major: version, minor: countOf(minor, "minor") },
    feePerByte: amountOf(p.minFeeCoefficient, "minFeeCoefficient"),
    feeFixed: readAda(p.minFeeConstant),
    maxTxSize: readSize(p.maxTransactionSize),
    maxBlockBodySize: readSize(p.maxBlockBodySize),
    maxBlockHeaderSize: readSize(p.maxBlockHeaderSize),
    maxValueSize: readSize(p.maxValueSize),
    utxoCostPerByte: amountOf(p.minUtxoDepositCoefficient, "minUtxoDepositCoefficient"),
    keyDeposit: readAda(p.stakeCredentialDeposit),
    poolDeposit: readAda(p.stakePoolDeposit),
    drepDeposit: readAda(p.delegateRepresentativeDeposit),
    govActionDeposit: readAda(p.governanceActionDeposit),
    minPoolCost: readAda(p.minStakePoolCost),
    poolRetirementBound: countOf(p.stakePoolRetirementEpochBound, "stakePoolRetirementEpochBound"),
    desiredPools: countOf(p.desiredNumberOfStakePools, "desiredNumberOfStakePools"),
    pledgeInfluence: readRatio(p.stakePoolPledgeInfluence),
    monetaryExpansion: readRatio(p.monetaryExpansion),
    treasuryGrowth: readRatio(p.treasuryExpansion),
    collateralPercentage: countOf(p.collateralPercentage, "collateralPercentage"),
    maxCollateralInputs: countOf(p.maxCollateralInputs, "maxCollateralInputs"),
    prices: { memory: readRatio(prices.memory), steps: readRatio(prices.cpu) },
    maxTxUnits: readUnits(p.maxExecutionUnitsPerTransaction),
    maxBlockUnits: readUnits(p.maxExecutionUnitsPerBlock),
    refScriptCostPerByte: readReferenceScripts(p.minFeeReferenceScripts),
    costModels: new Map(readCostModels(p.plutusCostModels)),
  };
}
