/**
 * The queries of an era's ledger: number, arguments and answer of each. Numbers are those of the node's `BlockQuery`.
 * Other queries can be sent as CBOR (`raw`).
 */
import type { Credential } from "#src/cardano/address.ts";
import type { Encodable, Item } from "#src/cardano/cbor.ts";
import { compareRefs } from "#src/cardano/output.ts";
import { point } from "#src/node/protocols/values.ts";
import { genesis } from "#src/node/queries/genesis.ts";
import {
  actionState,
  committeeMembers,
  compareStatuses,
  constitution,
  defaultVote,
  drepDelegations,
  drepStake,
  drepStates,
  governanceState,
  type MemberStatus,
  memberStatus,
  nextParameters,
  ratifyState,
} from "#src/node/queries/governance.ts";
import { eraParameters } from "#src/node/queries/parameters.ts";
import {
  compareStakes,
  nonMyopicRewards,
  pools,
  poolState,
  rewardInfo,
  stake,
  stakeByPool,
  stakeDistribution,
  stakeSnapshots,
} from "#src/node/queries/pools.ts";
import {
  amount,
  argumentSet,
  type CborShape,
  count,
  type EncodingContext,
  listOf,
  mapOf,
  maybe,
  named,
  record,
  sentSet,
  type ShapeValue,
} from "#src/node/queries/shape.ts";
import {
  amountsBy,
  compareCredentials,
  compareDreps,
  compareHex,
  credential,
  drep,
  hex,
  reference,
  utxos,
} from "#src/node/queries/vocabulary.ts";

interface Arguments<T> {
  readonly length: number;
  read(items: readonly Item[], at: EncodingContext): T;
  write(value: T, at: EncodingContext): readonly Encodable[];
}

/** A query. `tag` is its number, which for some differs since version 21. */
interface QueryEntry<T, R> {
  readonly tag: (version: number) => number;
  /** First version of the protocol that has it. */
  readonly since: number;
  readonly arguments: Arguments<T>;
  readonly answer: CborShape<R>;
}

const credentialSet = argumentSet(credential, compareCredentials);
const statusSet = argumentSet(memberStatus, compareStatuses, "since Conway");

const none: Arguments<Record<never, never>> = { length: 0, read: () => ({}), write: () => [] };

function oneArgument<Name extends string, T>(name: Name, shape: CborShape<T>): Arguments<{ readonly [N in Name]: T }> {
  return {
    length: 1,
    read: ([item], at) => named(name, shape.read(item, at)),
    write: (value, at) => [shape.write(value[name], at)],
  };
}

/** The filters of `committeeMembers`; an empty one admits all. */
const ofMembers: Arguments<{
  readonly cold: readonly Credential[];
  readonly hot: readonly Credential[];
  readonly statuses: readonly MemberStatus[];
}> = {
  length: 3,
  read: ([cold, hot, statuses], at) => ({
    cold: credentialSet.read(cold, at),
    hot: credentialSet.read(hot, at),
    statuses: statusSet.read(statuses, at),
  }),
  write: ({ cold, hot, statuses }, at) => [
    credentialSet.write(cold, at),
    credentialSet.write(hot, at),
    statusSet.write(statuses, at),
  ],
};

function defineQuery<T, R>(
  tag: number,
  of: Arguments<T>,
  answer: CborShape<R>,
  { tagSince21 = tag, since = 16 } = {},
): QueryEntry<T, R> {
  return { tag: (version: number) => (version < 21 ? tag : tagSince21), since, arguments: of, answer };
}

const ofPools = oneArgument("pools", argumentSet(hex, compareHex));
const ofPoolsLoosely = oneArgument("pools", argumentSet(hex, compareHex, "since Conway"));
const ofPoolsOrAll = oneArgument("pools", maybe(argumentSet(hex, compareHex)));
const ofCredentials = oneArgument("credentials", credentialSet);
const ofCredentialsLoosely = oneArgument("credentials", argumentSet(credential, compareCredentials, "since Conway"));
const ofDreps = oneArgument("dreps", argumentSet(drep, compareDreps, "since Conway"));
const amountByCredential = amountsBy("credential", credential, compareCredentials);

/** Delegations to pools, and rewards of accounts. */
const delegations = record({
  pools: mapOf(
    credential,
    hex,
    compareCredentials,
    (credential, pool) => ({ credential, pool }),
    (row) => [row.credential, row.pool],
  ),
  rewards: amountByCredential,
});

const delegatees = mapOf(
  credential,
  drep,
  compareCredentials,
  (credential, drep) => ({ credential, drep }),
  (row) => [row.credential, row.drep],
);

/** Every typed query. Hashes and addresses are hexadecimal, amounts lovelace. */
const entries = {
  ledgerTip: defineQuery(0, none, point),
  epoch: defineQuery(1, none, count),
  /** What pools would pay for stakes, each an amount or that of a credential. */
  nonMyopicRewards: defineQuery(2, oneArgument("stakes", argumentSet(stake, compareStakes)), nonMyopicRewards),
  parameters: defineQuery(3, none, eraParameters),
  stakeDistribution: defineQuery(5, none, stakeDistribution, { tagSince21: 37 }),
  /** A node scans its whole UTxO set for this: query it rarely. */
  utxoByAddress: defineQuery(6, oneArgument("addresses", argumentSet(hex, compareHex, "since Conway")), utxos),
  /** Only for small networks. */
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
  constitution: defineQuery(23, none, constitution),
  /** Of the Conway era; other eras have other states, which an untyped query gives. */
  governanceState: defineQuery(24, none, governanceState),
  /** No credentials: all DReps. */
  drepState: defineQuery(25, ofCredentials, drepStates),
  /** As of the last epoch boundary. No DReps: all of them. */
  drepStake: defineQuery(26, ofDreps, drepStake),
  committeeMembers: defineQuery(27, ofMembers, committeeMembers),
  voteDelegatees: defineQuery(28, ofCredentialsLoosely, delegatees),
  accountState: defineQuery(29, none, record({ treasury: amount, reserves: amount })),
  /** Stake with which pools vote, as of the last epoch boundary. No pools: all of them. */
  poolStake: defineQuery(30, ofPoolsLoosely, stakeByPool),
  /** The actions that the next epoch boundary decides about, with the votes that count. No actions: all of them. */
  proposals: defineQuery(
    31,
    oneArgument("actions", argumentSet(reference, compareRefs, "since Conway")),
    listOf(actionState),
    { since: 17 },
  ),
  ratifyState: defineQuery(32, none, ratifyState, { since: 17 }),
  futureParameters: defineQuery(33, none, nextParameters, { since: 18 }),
  /** How a pool counts that does not vote. */
  poolDefaultVote: defineQuery(35, oneArgument("pool", hex), defaultVote, { since: 20 }),
  /** Highest major protocol version that the node supports. */
  maxMajorVersion: defineQuery(38, none, count, { since: 21 }),
  /** No DReps: all that have delegators. */
  drepDelegations: defineQuery(39, ofDreps, drepDelegations, { since: 23 }),
};

/** Name of a query of an era. */
export type EraKind = keyof typeof entries;
/** Arguments of a query. */
export type ArgumentsOf<K extends EraKind> = typeof entries[K]["arguments"] extends Arguments<infer T> ? T : never;
/** Answer of a query. */
export type AnswerOf<K extends EraKind> = ShapeValue<typeof entries[K]["answer"]>;
export type Delegations = AnswerOf<"delegations">;

/** The queries by name, with their types related to the name. */
export const queryTable: { readonly [K in EraKind]: QueryEntry<ArgumentsOf<K>, AnswerOf<K>> } = entries;

/** Whether a name is that of a query in the table. */
export function isEraKind(name: string): name is EraKind {
  return Object.hasOwn(queryTable, name);
}

const kinds = Object.keys(queryTable).filter(isEraKind);

/** The query with this number and argument count in a version of the protocol. */
export function kindOf(tag: number, argumentCount: number, version: number): EraKind | undefined {
  return kinds.find((kind) => {
    const { tag: of, since, arguments: { length } } = queryTable[kind];
    return version >= since && of(version) === tag && length === argumentCount;
  });
}
