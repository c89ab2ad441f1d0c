/**
 * The ledger queries of the port, composed from the queries of a node's ledger at one point. The devnet's rows answer
 * the same queries (`src/devnet/port.ts`), so both take this path.
 */
import type { Credential } from "#src/cardano/address.ts";
import { type Epoch, epochTimes, ERAS, type Eras } from "#src/cardano/eras.ts";
import type {
  DRepStates,
  DRepStatus,
  NetworkGenesis,
  StakeAccount,
  StakePool,
} from "#src/chain/provider/ledgerPort.ts";
import { nodeError } from "#src/node/errors.ts";
import { startTime } from "#src/node/queries/history.ts";
import type { EraAnswer, EraQuery, NodeQuery, QueryAnswer } from "#src/node/queries/query.ts";
import type { EraKind } from "#src/node/queries/table.ts";
import { compareCredentials } from "#src/node/queries/vocabulary.ts";
import { eraName } from "#src/node/protocols/values.ts";

/** A node's ledger at one point. */
export interface LedgerSession {
  /** Index of its current era. */
  era(): Promise<number>;
  /** Whether a query may be sent; false if it is known to be unsupported. */
  supports(kind: EraKind): boolean;
  query<Q extends Exclude<NodeQuery, EraQuery>>(query: Q): Promise<QueryAnswer<Q>>;
  /** Sends a query of the current era. */
  queryEra<Q extends EraQuery>(query: (era: number) => Q): Promise<EraAnswer<Q>>;
}

/** The node does not support a query that is necessary for an answer. */
export class UnsupportedQuery extends Error {
  override readonly name = "UnsupportedQuery";
  constructor(kind: EraKind) {
    super(`The node has no answer to the query "${kind}".`);
  }
}

/** Credentials of one query at most: a node accepts messages of a few megabytes. */
const MAX_CREDENTIALS = 10_000;

const keyOf = ({ kind, hash }: Credential) => `${kind} ${hash}`;

/** The accounts of credentials, one each, in order of first mention. */
export async function queryAccounts(
  ledger: LedgerSession,
  wanted: readonly Credential[],
): Promise<readonly StakeAccount[]> {
  requireSupport(ledger, "delegations");
  const all = [...new Map(wanted.map((credential) => [keyOf(credential), credential])).values()];
  const accounts: StakeAccount[] = [];
  for (let from = 0; from < all.length; from += MAX_CREDENTIALS) {
    accounts.push(...await queryAccountSet(ledger, all.slice(from, from + MAX_CREDENTIALS)));
  }
  return accounts;
}

async function queryAccountSet(ledger: LedgerSession, credentials: readonly Credential[]): Promise<StakeAccount[]> {
  const { pools, rewards } = await ledger.queryEra((era) => ({ kind: "delegations", era, credentials }));
  const deposits = ledger.supports("stakeDeposits")
    ? await ledger.queryEra((era) => ({ kind: "stakeDeposits", era, credentials }))
    : [];
  const votes = ledger.supports("voteDelegatees")
    ? await ledger.queryEra((era) => ({ kind: "voteDelegatees", era, credentials }))
    : [];
  const poolOf = new Map(pools.map(({ credential, pool }) => [keyOf(credential), pool]));
  const rewardsOf = new Map(rewards.map(({ credential, lovelace }) => [keyOf(credential), lovelace]));
  const depositOf = new Map(deposits.map(({ credential, lovelace }) => [keyOf(credential), lovelace]));
  const drepOf = new Map(votes.map(({ credential, drep }) => [keyOf(credential), drep]));
  return credentials.map((credential) => {
    const key = keyOf(credential);
    return {
      credential,
      registered: rewardsOf.has(key),
      rewards: rewardsOf.get(key) ?? 0n,
      deposit: depositOf.get(key),
      pool: poolOf.get(key),
      drep: drepOf.get(key),
    };
  });
}

/** Every registered pool, by id. */
export async function queryPools(ledger: LedgerSession): Promise<readonly StakePool[]> {
  requireSupport(ledger, "poolState");
  const { current, future, retiring, deposits } = await ledger.queryEra((era) => ({
    kind: "poolState",
    era,
    pools: undefined,
  }));
  const shares = ledger.supports("stakeDistribution")
    ? await ledger.queryEra((era) => ({ kind: "stakeDistribution", era }))
    : undefined;
  const futureOf = new Map(future.map((parameters) => [parameters.pool, parameters]));
  const retiringOf = new Map(retiring.map(({ pool, epoch }) => [pool, epoch]));
  const depositOf = new Map(deposits.map(({ pool, lovelace }) => [pool, lovelace]));
  const shareOf = new Map(shares?.pools.map((share) => [share.pool, share]));
  const none = shares &&
    { share: { numerator: 0n, denominator: 1n }, stake: shares.total === undefined ? undefined : 0n };
  return [...current].sort((a, b) => a.pool < b.pool ? -1 : 1).map((parameters): StakePool => {
    const { pool } = parameters;
    const { share, stake } = shareOf.get(pool) ?? none ?? { share: undefined, stake: undefined };
    return {
      ...parameters,
      future: futureOf.get(pool),
      retiring: retiringOf.get(pool),
      deposit: depositOf.get(pool) ?? 0n,
      share,
      stake,
    };
  });
}

/** Lovelace that each pool would pay a member with this stake, by pool id. */
export async function queryRanking(ledger: LedgerSession, stake: bigint): Promise<ReadonlyMap<string, bigint>> {
  requireSupport(ledger, "nonMyopicRewards");
  const [ranked] = await ledger.queryEra((era) => ({ kind: "nonMyopicRewards", era, stakes: [stake] }));
  return new Map(ranked?.pools.map(({ pool, lovelace }) => [pool, lovelace]));
}

/** Every registered DRep, and the current epoch. */
export async function queryDreps(ledger: LedgerSession): Promise<DRepStates> {
  requireSupport(ledger, "drepState");
  const states = await ledger.queryEra((era) => ({ kind: "drepState", era, credentials: [] }));
  const stakes = ledger.supports("drepStake")
    ? await ledger.queryEra((era) => ({ kind: "drepStake", era, dreps: [] }))
    : undefined;
  const stakeOf = stakes &&
    new Map(stakes.flatMap(({ drep, lovelace }) => "hash" in drep ? [[keyOf(drep), lovelace] as const] : []));
  return {
    epoch: await ledger.queryEra((era) => ({ kind: "epoch", era })),
    all: [...states].sort((a, b) => compareCredentials(a.credential, b.credential)).map((
      { credential, expiry, anchor, deposit },
    ) => ({ credential, expiry, anchor, deposit, stake: stakeOf && (stakeOf.get(keyOf(credential)) ?? 0n) })),
  };
}

/** Some DReps, registered or not, in the order of their credentials. */
export async function queryDrepStatus(
  ledger: LedgerSession,
  credentials: readonly Credential[],
): Promise<readonly DRepStatus[]> {
  requireSupport(ledger, "drepState");
  // a query without credentials is for all of them
  if (credentials.length === 0) return [];
  const states = await ledger.queryEra((era) => ({ kind: "drepState", era, credentials }));
  const stakes = ledger.supports("drepStake")
    ? await ledger.queryEra((era) => ({ kind: "drepStake", era, dreps: credentials }))
    : undefined;
  const epoch = await ledger.queryEra((era) => ({ kind: "epoch", era }));
  const stakeOf = stakes && new Map(stakes.map(({ drep, lovelace }) => ["hash" in drep ? keyOf(drep) : "", lovelace]));
  return drepStatusesOf(credentials, states, epoch, (credential) => stakeOf && (stakeOf.get(keyOf(credential)) ?? 0n));
}

/** The status of DReps, registered or not, from the states of those that are, in an epoch. */
export function drepStatusesOf<State extends Omit<DRepStates["all"][number], "stake">>(
  credentials: readonly Credential[],
  states: readonly State[],
  epoch: number,
  stakeOf: (credential: Credential, state: State | undefined) => bigint | undefined,
): readonly DRepStatus[] {
  const stateOf = new Map(states.map((state) => [keyOf(state.credential), state]));
  return credentials.map((credential) => {
    const state = stateOf.get(keyOf(credential));
    return {
      credential,
      registered: state !== undefined,
      active: state !== undefined && epoch <= state.expiry,
      expiry: state?.expiry,
      anchor: state?.anchor,
      deposit: state?.deposit,
      stake: stakeOf(credential, state),
    };
  });
}

/** The mapping of slots, epochs and times. */
export async function queryEras(ledger: LedgerSession): Promise<Eras> {
  const era = await ledger.era();
  const current = ERAS[era];
  if (!current) {
    throw nodeError("era_unknown", `The node's ledger is in ${eraName(era)}, which this release does not support.`);
  }
  const systemStart = startTime(await ledger.query({ kind: "systemStart" }));
  return { systemStart, current, history: await ledger.query({ kind: "eraHistory" }) };
}

/** The epoch of the newest block. */
export async function queryEpoch(ledger: LedgerSession): Promise<Epoch> {
  requireSupport(ledger, "epoch");
  const eras = await queryEras(ledger);
  const epoch = epochTimes(eras, await ledger.queryEra((era) => ({ kind: "epoch", era })));
  if (epoch.ok) return epoch.value;
  throw nodeError(
    "protocol_violation",
    `The node's era history does not cover its current epoch: ${epoch.error.message}`,
  );
}

/** The network's genesis without its hash, which no query gives. */
export async function queryGenesis(ledger: LedgerSession): Promise<Omit<NetworkGenesis, "hash">> {
  requireSupport(ledger, "genesis");
  const genesis = await ledger.queryEra((era) => ({ kind: "genesis", era }));
  const { activeSlots, securityParameter, epochLength, slotLength, maxSupply } = genesis;
  return {
    systemStart: startTime(genesis.systemStart),
    activeSlots,
    securityParameter,
    epochLength,
    slotLength: slotLength / 1_000,
    maxSupply,
  };
}

function requireSupport(ledger: LedgerSession, kind: EraKind): void {
  if (!ledger.supports(kind)) throw new UnsupportedQuery(kind);
}
