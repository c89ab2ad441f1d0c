/**
 * The queries about the ledger of an era: number, arguments and answer of each. Numbers are those of the node's `BlockQuery`; what
 * is not here can be asked as CBOR (`raw`).
 */
import type { Credential } from "#src/cardano/address.ts";
import type { Point } from "#src/cardano/block.ts";
import type { Encodable, Item } from "#src/cardano/cbor.ts";
import { compareRefs, type OutRef, type Utxo } from "#src/cardano/output.ts";
import { type Genesis, genesis } from "#src/node/queries/genesis.ts";
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
  type Stake,
  stake,
  stakeByPool,
  type StakeDistribution,
  stakeDistribution,
  type StakeSnapshots,
  stakeSnapshots,
} from "#src/node/queries/pools.ts";
import {
  amount,
  argumentSet,
  type At,
  count,
  mapOf,
  maybe,
  record,
  sentSet,
  type Shape,
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
  point,
  reference,
  utxos,
} from "#src/node/queries/vocabulary.ts";

type Nothing = Record<never, never>;
type OfPools = { readonly pools: readonly string[] };
/** Some pools, or all. */
type OfPoolsOrAll = { readonly pools: readonly string[] | undefined };
type OfCredentials = { readonly credentials: readonly Credential[] };

/** Who delegates to which pool, and what the accounts hold in rewards. */
export interface Delegations {
  readonly pools: readonly { readonly credential: Credential; readonly pool: string }[];
  readonly rewards: readonly { readonly credential: Credential; readonly lovelace: bigint }[];
}

/** A registered DRep. */
export interface DrepState {
  readonly credential: Credential;
  /** Epoch after which it counts no longer. */
  readonly expiry: number;
  readonly anchor: Anchor | undefined;
  readonly deposit: bigint;
  readonly delegators: readonly Credential[];
}

/** The ledger's pots, in lovelace. */
export interface Pots {
  readonly treasury: bigint;
  readonly reserves: bigint;
}

/** Arguments and answer of each query. Hashes and addresses are hexadecimal, amounts lovelace. */
interface Queries {
  ledgerTip: [Nothing, Point];
  epoch: [Nothing, number];
  /** How pools would reward stakes, an amount or that of a credential. */
  nonMyopicRewards: [{ readonly stakes: readonly Stake[] }, readonly NonMyopicRewards[]];
  parameters: [Nothing, EraParameters];
  stakeDistribution: [Nothing, StakeDistribution];
  /** Goes through the whole UTxO set on a node: not to be asked often. */
  utxoByAddress: [{ readonly addresses: readonly string[] }, readonly Utxo[]];
  /** For small networks alone. */
  wholeUtxo: [Nothing, readonly Utxo[]];
  delegations: [OfCredentials, Delegations];
  genesis: [Nothing, Genesis];
  utxoByInput: [{ readonly inputs: readonly OutRef[] }, readonly Utxo[]];
  stakePools: [Nothing, readonly string[]];
  poolParameters: [OfPools, readonly PoolParameters[]];
  rewardInfo: [Nothing, RewardInfo];
  poolState: [OfPoolsOrAll, PoolState];
  stakeSnapshots: [OfPoolsOrAll, StakeSnapshots];
  poolDistribution: [OfPoolsOrAll, StakeDistribution];
  stakeDeposits: [OfCredentials, readonly { readonly credential: Credential; readonly lovelace: bigint }[]];
  /** CBOR. */
  constitution: [Nothing, Uint8Array];
  /** CBOR. */
  governanceState: [Nothing, Uint8Array];
  /** No credentials: all DReps. */
  drepState: [OfCredentials, readonly DrepState[]];
  /** No DReps: all of them. */
  drepStake: [{ readonly dreps: readonly Drep[] }, readonly { readonly drep: Drep; readonly lovelace: bigint }[]];
  voteDelegatees: [OfCredentials, readonly { readonly credential: Credential; readonly drep: Drep }[]];
  accountState: [Nothing, Pots];
  /** Stake that pools vote with. */
  poolStake: [OfPools, readonly { readonly pool: string; readonly lovelace: bigint }[]];
  /** Highest major protocol version that the node knows. */
  maxMajorVersion: [Nothing, number];
}

/** Name of a query about an era. */
export type EraKind = keyof Queries;
/** Arguments of a query. */
export type ArgumentsOf<K extends EraKind> = Queries[K][0];
/** What a query is answered with. */
export type AnswerOf<K extends EraKind> = Queries[K][1];

interface Arguments<T> {
  readonly length: 0 | 1;
  read(items: readonly Item[], at: At): T;
  write(value: T, at: At): readonly Encodable[];
}

/** One query. `tag` is its number; one that changed has another since version 21. */
export interface Entry<K extends EraKind> {
  readonly tag: (version: number) => number;
  /** First version of the protocol that knows it. */
  readonly since: number;
  readonly arguments: Arguments<ArgumentsOf<K>>;
  readonly answer: Shape<AnswerOf<K>>;
}

const none: Arguments<Nothing> = { length: 0, read: () => ({}), write: () => [] };

function one<Name extends string, T>(name: Name, shape: Shape<T>): Arguments<{ readonly [N in Name]: T }> {
  type Of = { readonly [N in Name]: T };
  return {
    length: 1,
    read: ([item], at) => ({ [name]: shape.read(item, at) }) as Of,
    write: (value, at) => [shape.write(value[name], at)],
  };
}

function query<T, R>(tag: number, of: Arguments<T>, answer: Shape<R>, { tagSince21 = tag, since = 16 } = {}) {
  return { tag: (version: number) => (version < 21 ? tag : tagSince21), since, arguments: of, answer };
}

const ofPools = one("pools", argumentSet(hex, compareHex));
const ofPoolsLoosely = one("pools", argumentSet(hex, compareHex, "since Conway"));
const ofPoolsOrAll = one("pools", maybe(argumentSet(hex, compareHex)));
const ofCredentials = one("credentials", argumentSet(credential, compareCredentials));
const ofCredentialsLoosely = one("credentials", argumentSet(credential, compareCredentials, "since Conway"));
const amountByCredential = amountsBy("credential", credential, compareCredentials);

const delegations: Shape<Delegations> = record<Delegations>({
  pools: mapOf(
    credential,
    hex,
    compareCredentials,
    (credential, pool) => ({ credential, pool }),
    (row) => [row.credential, row.pool],
  ),
  rewards: amountByCredential,
});

const drepStates: Shape<readonly DrepState[]> = mapOf(
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

/** Every query that is typed. */
export const table: { readonly [K in EraKind]: Entry<K> } = {
  ledgerTip: query(0, none, point),
  epoch: query(1, none, count),
  nonMyopicRewards: query(2, one("stakes", argumentSet(stake, compareStakes)), nonMyopicRewards),
  parameters: query(3, none, eraParameters),
  stakeDistribution: query(5, none, stakeDistribution, { tagSince21: 37 }),
  utxoByAddress: query(6, one("addresses", argumentSet(hex, compareHex, "since Conway")), utxos),
  wholeUtxo: query(7, none, utxos),
  delegations: query(10, ofCredentialsLoosely, delegations),
  genesis: query(11, none, genesis),
  utxoByInput: query(15, one("inputs", argumentSet(reference, compareRefs, "since Conway")), utxos),
  stakePools: query(16, none, sentSet(hex, compareHex)),
  poolParameters: query(17, ofPools, pools),
  rewardInfo: query(18, none, rewardInfo),
  poolState: query(19, ofPoolsOrAll, poolState),
  stakeSnapshots: query(20, ofPoolsOrAll, stakeSnapshots),
  poolDistribution: query(21, ofPoolsOrAll, stakeDistribution, { tagSince21: 36 }),
  stakeDeposits: query(22, ofCredentials, amountByCredential),
  constitution: query(23, none, anything),
  governanceState: query(24, none, anything),
  drepState: query(25, ofCredentials, drepStates),
  drepStake: query(
    26,
    one("dreps", argumentSet(drep, compareDreps, "since Conway")),
    amountsBy("drep", drep, compareDreps),
  ),
  voteDelegatees: query(28, ofCredentialsLoosely, delegatees),
  accountState: query(29, none, record<Pots>({ treasury: amount, reserves: amount })),
  poolStake: query(30, ofPoolsLoosely, stakeByPool),
  maxMajorVersion: query(38, none, count, { since: 21 }),
};

const kinds = Object.keys(table) as EraKind[];

/** The query with a number and as many arguments, as a version of the protocol has it. */
export function kindOf(tag: number, argumentCount: number, version: number): EraKind | undefined {
  return kinds.find((kind) => {
    const { tag: of, since, arguments: { length } } = table[kind];
    return version >= since && of(version) === tag && length === argumentCount;
  });
}
