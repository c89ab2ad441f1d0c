/**
 * The queries of an era's ledger: number, arguments and answer of each. Numbers are those of the node's `BlockQuery`.
 * Other queries can be sent as CBOR (`raw`).
 */
import type { Credential } from "#src/cardano/address.ts";
import type { Point } from "#src/cardano/block.ts";
import type { Encodable, Item } from "#src/cardano/cbor.ts";
import { compareRefs, type OutRef, type Utxo } from "#src/cardano/output.ts";
import { point } from "#src/node/protocols/values.ts";
import { genesis, type ShelleyGenesis } from "#src/node/queries/genesis.ts";
import { type EraParameters, eraParameters } from "#src/node/queries/parameters.ts";
import {
  compareStakes,
  type NonMyopicRewards,
  nonMyopicRewards,
  type PoolParameters,
  pools,
  type PoolState,
  poolState,
  type RewardInfo,
  rewardInfo,
  stake,
  stakeByPool,
  type StakeDistribution,
  stakeDistribution,
  type StakeOrCredential,
  type StakeSnapshots,
  stakeSnapshots,
} from "#src/node/queries/pools.ts";
import {
  amount,
  argumentSet,
  type CborShape,
  count,
  type EncodingContext,
  mapOf,
  maybe,
  record,
  sentSet,
} from "#src/node/queries/shape.ts";
import {
  amountsBy,
  type Anchor,
  anchor,
  anything,
  compareCredentials,
  compareDreps,
  compareHex,
  credential,
  credentials,
  type Drep,
  drep,
  hex,
  reference,
  utxos,
} from "#src/node/queries/vocabulary.ts";

type NoArguments = Record<never, never>;
type PoolArguments = { readonly pools: readonly string[] };
/** Some pools, or all. */
type PoolOrAllArguments = { readonly pools: readonly string[] | undefined };
type CredentialArguments = { readonly credentials: readonly Credential[] };

/** Delegations to pools, and rewards of accounts. */
export interface Delegations {
  readonly pools: readonly { readonly credential: Credential; readonly pool: string }[];
  readonly rewards: readonly { readonly credential: Credential; readonly lovelace: bigint }[];
}

/** A registered DRep. */
export interface DrepState {
  readonly credential: Credential;
  /** Epoch after which it no longer counts. */
  readonly expiry: number;
  readonly anchor: Anchor | undefined;
  readonly deposit: bigint;
  readonly delegators: readonly Credential[];
}

/** The ledger's pots, in lovelace. */
export interface AccountPots {
  readonly treasury: bigint;
  readonly reserves: bigint;
}

/** Arguments and answer of each query. Hashes and addresses are hexadecimal, amounts lovelace. */
interface EraQueries {
  ledgerTip: [NoArguments, Point];
  epoch: [NoArguments, number];
  /** What pools would pay for stakes, each an amount or that of a credential. */
  nonMyopicRewards: [{ readonly stakes: readonly StakeOrCredential[] }, readonly NonMyopicRewards[]];
  parameters: [NoArguments, EraParameters];
  stakeDistribution: [NoArguments, StakeDistribution];
  /** A node scans its whole UTxO set for this: query it rarely. */
  utxoByAddress: [{ readonly addresses: readonly string[] }, readonly Utxo[]];
  /** Only for small networks. */
  wholeUtxo: [NoArguments, readonly Utxo[]];
  delegations: [CredentialArguments, Delegations];
  genesis: [NoArguments, ShelleyGenesis];
  utxoByInput: [{ readonly inputs: readonly OutRef[] }, readonly Utxo[]];
  stakePools: [NoArguments, readonly string[]];
  poolParameters: [PoolArguments, readonly PoolParameters[]];
  rewardInfo: [NoArguments, RewardInfo];
  poolState: [PoolOrAllArguments, PoolState];
  stakeSnapshots: [PoolOrAllArguments, StakeSnapshots];
  poolDistribution: [PoolOrAllArguments, StakeDistribution];
  stakeDeposits: [CredentialArguments, readonly { readonly credential: Credential; readonly lovelace: bigint }[]];
  /** CBOR. */
  constitution: [NoArguments, Uint8Array];
  /** CBOR. */
  governanceState: [NoArguments, Uint8Array];
  /** No credentials: all DReps. */
  drepState: [CredentialArguments, readonly DrepState[]];
  /** No DReps: all of them. */
  drepStake: [{ readonly dreps: readonly Drep[] }, readonly { readonly drep: Drep; readonly lovelace: bigint }[]];
  voteDelegatees: [CredentialArguments, readonly { readonly credential: Credential; readonly drep: Drep }[]];
  accountState: [NoArguments, AccountPots];
  /** Stake with which pools vote. */
  poolStake: [PoolArguments, readonly { readonly pool: string; readonly lovelace: bigint }[]];
  /** Highest major protocol version that the node supports. */
  maxMajorVersion: [NoArguments, number];
}

/** Name of a query of an era. */
export type EraKind = keyof EraQueries;
/** Arguments of a query. */
export type ArgumentsOf<K extends EraKind> = EraQueries[K][0];
/** Answer of a query. */
export type AnswerOf<K extends EraKind> = EraQueries[K][1];

interface Arguments<T> {
  readonly length: 0 | 1;
  read(items: readonly Item[], at: EncodingContext): T;
  write(value: T, at: EncodingContext): readonly Encodable[];
}

/** A query. `tag` is its number, which for some differs since version 21. */
export interface QueryEntry<K extends EraKind> {
  readonly tag: (version: number) => number;
  /** First version of the protocol that has it. */
  readonly since: number;
  readonly arguments: Arguments<ArgumentsOf<K>>;
  readonly answer: CborShape<AnswerOf<K>>;
}

const none: Arguments<NoArguments> = { length: 0, read: () => ({}), write: () => [] };

function oneArgument<Name extends string, T>(name: Name, shape: CborShape<T>): Arguments<{ readonly [N in Name]: T }> {
  type Of = { readonly [N in Name]: T };
  return {
    length: 1,
    read: ([item], at) => ({ [name]: shape.read(item, at) }) as Of,
    write: (value, at) => [shape.write(value[name], at)],
  };
}

function defineQuery<T, R>(tag: number, of: Arguments<T>, answer: CborShape<R>, { tagSince21 = tag, since = 16 } = {}) {
  return { tag: (version: number) => (version < 21 ? tag : tagSince21), since, arguments: of, answer };
}

const ofPools = oneArgument("pools", argumentSet(hex, compareHex));
const ofPoolsLoosely = oneArgument("pools", argumentSet(hex, compareHex, "since Conway"));
const ofPoolsOrAll = oneArgument("pools", maybe(argumentSet(hex, compareHex)));
const ofCredentials = oneArgument("credentials", argumentSet(credential, compareCredentials));
const ofCredentialsLoosely = oneArgument("credentials", argumentSet(credential, compareCredentials, "since Conway"));
const amountByCredential = amountsBy("credential", credential, compareCredentials);

const delegations: CborShape<Delegations> = record<Delegations>({
  pools: mapOf(
    credential,
    hex,
    compareCredentials,
    (credential, pool) => ({ credential, pool }),
    (row) => [row.credential, row.pool],
  ),
  rewards: amountByCredential,
});

const drepStates: CborShape<readonly DrepState[]> = mapOf(
  credential,
  record<Omit<DrepState, "credential">>({
    expiry: count,
    anchor: maybe(anchor),
    deposit: amount,
    delegators: credentials,
  }, { more: true }),
  compareCredentials,
  (credential, of): DrepState => ({ credential, ...of }),
  ({ credential, ...of }) => [credential, of],
);

const delegatees = mapOf(
  credential,
  drep,
  compareCredentials,
  (credential, drep) => ({ credential, drep }),
  (row) => [row.credential, row.drep],
);

/** Every typed query. */
export const queryTable: { readonly [K in EraKind]: QueryEntry<K> } = {
  ledgerTip: defineQuery(0, none, point),
  epoch: defineQuery(1, none, count),
  nonMyopicRewards: defineQuery(2, oneArgument("stakes", argumentSet(stake, compareStakes)), nonMyopicRewards),
  parameters: defineQuery(3, none, eraParameters),
  stakeDistribution: defineQuery(5, none, stakeDistribution, { tagSince21: 37 }),
  utxoByAddress: defineQuery(6, oneArgument("addresses", argumentSet(hex, compareHex, "since Conway")), utxos),
  wholeUtxo: defineQuery(7, none, utxos),
  delegations: defineQuery(10, ofCredentialsLoosely, delegations),
  genesis: defineQuery(11, none, genesis),
  utxoByInput: defineQuery(15, oneArgument("inputs", argumentSet(reference, compareRefs, "since Conway")), utxos),
  stakePools: defineQuery(16, none, sentSet(hex, compareHex)),
  poolParameters: defineQuery(17, ofPools, pools),
  rewardInfo: defineQuery(18, none, rewardInfo),
  poolState: defineQuery(19, ofPoolsOrAll, poolState),
  stakeSnapshots: defineQuery(20, ofPoolsOrAll, stakeSnapshots),
  poolDistribution: defineQuery(21, ofPoolsOrAll, stakeDistribution, { tagSince21: 36 }),
  stakeDeposits: defineQuery(22, ofCredentials, amountByCredential),
  constitution: defineQuery(23, none, anything),
  governanceState: defineQuery(24, none, anything),
  drepState: defineQuery(25, ofCredentials, drepStates),
  drepStake: defineQuery(
    26,
    oneArgument("dreps", argumentSet(drep, compareDreps, "since Conway")),
    amountsBy("drep", drep, compareDreps),
  ),
  voteDelegatees: defineQuery(28, ofCredentialsLoosely, delegatees),
  accountState: defineQuery(29, none, record<AccountPots>({ treasury: amount, reserves: amount })),
  poolStake: defineQuery(30, ofPoolsLoosely, stakeByPool),
  maxMajorVersion: defineQuery(38, none, count, { since: 21 }),
};

const kinds = Object.keys(queryTable) as EraKind[];

/** The query with this number and argument count in a version of the protocol. */
export function kindOf(tag: number, argumentCount: number, version: number): EraKind | undefined {
  return kinds.find((kind) => {
    const { tag: of, since, arguments: { length } } = queryTable[kind];
    return version >= since && of(version) === tag && length === argumentCount;
  });
}
