/**
 * The queries of an era's ledger: number, arguments and answer of each. Numbers are those of the node's `BlockQuery`.
 * Other queries can be sent as CBOR (`raw`).
 */
import type { Encodable, Item } from "#src/cardano/cbor.ts";
import { compareRefs } from "#src/cardano/output.ts";
import { point } from "#src/node/protocols/values.ts";
import { genesis } from "#src/node/queries/genesis.ts";
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
  mapOf,
  maybe,
  named,
  record,
  sentSet,
  type ShapeValue,
} from "#src/node/queries/shape.ts";
import {
  amountsBy,
  anchor,
  anything,
  compareCredentials,
  compareDreps,
  compareHex,
  credential,
  credentials,
  drep,
  hex,
  reference,
  utxos,
} from "#src/node/queries/vocabulary.ts";

interface Arguments<T> {
  readonly length: 0 | 1;
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

const none: Arguments<Record<never, never>> = { length: 0, read: () => ({}), write: () => [] };

function oneArgument<Name extends string, T>(name: Name, shape: CborShape<T>): Arguments<{ readonly [N in Name]: T }> {
  return {
    length: 1,
    read: ([item], at) => named(name, shape.read(item, at)),
    write: (value, at) => [shape.write(value[name], at)],
  };
}

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
const ofCredentials = oneArgument("credentials", argumentSet(credential, compareCredentials));
const ofCredentialsLoosely = oneArgument("credentials", argumentSet(credential, compareCredentials, "since Conway"));
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

const drepStates = mapOf(
  credential,
  record({
    /** Epoch after which it no longer counts. */
    expiry: count,
    anchor: maybe(anchor),
    deposit: amount,
    delegators: credentials,
  }, { more: true }),
  compareCredentials,
  (credential, of) => ({ credential, ...of }),
  ({ credential, ...of }) => [credential, of],
);

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
  /** CBOR, as is the next. */
  constitution: defineQuery(23, none, anything),
  governanceState: defineQuery(24, none, anything),
  /** No credentials: all DReps. */
  drepState: defineQuery(25, ofCredentials, drepStates),
  /** No DReps: all of them. */
  drepStake: defineQuery(
    26,
    oneArgument("dreps", argumentSet(drep, compareDreps, "since Conway")),
    amountsBy("drep", drep, compareDreps),
  ),
  voteDelegatees: defineQuery(28, ofCredentialsLoosely, delegatees),
  accountState: defineQuery(29, none, record({ treasury: amount, reserves: amount })),
  /** Stake with which pools vote. */
  poolStake: defineQuery(30, ofPoolsLoosely, stakeByPool),
  /** Highest major protocol version that the node supports. */
  maxMajorVersion: defineQuery(38, none, count, { since: 21 }),
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
