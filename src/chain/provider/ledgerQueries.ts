/**
 * Wallets' questions, put together from queries of a node's ledger at one point. The devnet's rows answer the same queries
 * (`src/devnet/port.ts`), so that there is one path for both.
 */
import type { Credential } from "#src/cardano/address.ts";
import { type Epoch, epochTimes, ERAS, type Eras } from "#src/cardano/eras.ts";
import type { NetworkGenesis, Representatives, StakeAccount, StakePool } from "#src/chain/provider/ledgerPort.ts";
import { nodeError } from "#src/node/errors.ts";
import { startTime } from "#src/node/queries/history.ts";
import type { Answer, EraAnswer, EraQuery, Query } from "#src/node/queries/query.ts";
import type { EraKind } from "#src/node/queries/table.ts";
import { compareCredentials } from "#src/node/queries/vocabulary.ts";
import { eraName } from "#src/node/protocols/values.ts";

/** The ledger at one point. */
export interface Ledger {
  /** Index of the era that it is in. */
  era(): Promise<number>;
  /** Whether it may be asked such a query: false where it is known to have no answer. */
  answers(kind: EraKind): boolean;
  ask<Q extends Exclude<Query, EraQuery>>(query: Q): Promise<Answer<Q>>;
  /** Asks in the era that it is in. */
  askEra<Q extends EraQuery>(query: (era: number) => Q): Promise<EraAnswer<Q>>;
}

/** The ledger has no answer to a query that a question cannot do without. */
export class UnsupportedQuery extends Error {
  override readonly name = "UnsupportedQuery";
  constructor(kind: EraKind) {
    super(`The node has no answer to the query "${kind}".`);
  }
}

/** Credentials of one query; a node reads some megabytes at the most. */
const SET = 10_000;

const keyOf = ({ kind, hash }: Credential) => `${kind} ${hash}`;

/** The accounts of credentials, one for each, in the order of the first mention. */
export async function askAccounts(ledger: Ledger, wanted: readonly Credential[]): Promise<readonly StakeAccount[]> {
  need(ledger, "delegations");
  const all = [...new Map(wanted.map((credential) => [keyOf(credential), credential])).values()];
  const accounts: StakeAccount[] = [];
  for (let from = 0; from < all.length; from += SET) {
    accounts.push(...await askSet(ledger, all.slice(from, from + SET)));
  }
  return accounts;
}

async function askSet(ledger: Ledger, credentials: readonly Credential[]): Promise<StakeAccount[]> {
  const { pools, rewards } = await ledger.askEra((era) => ({ kind: "delegations", era, credentials }));
  const deposits = ledger.answers("stakeDeposits")
    ? await ledger.askEra((era) => ({ kind: "stakeDeposits", era, credentials }))
    : [];
  const votes = ledger.answers("voteDelegatees")
    ? await ledger.askEra((era) => ({ kind: "voteDelegatees", era, credentials }))
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
export async function askPools(ledger: Ledger): Promise<readonly StakePool[]> {
  need(ledger, "poolState");
  const { current, future, retiring, deposits } = await ledger.askEra((era) => ({
    kind: "poolState",
    era,
    pools: undefined,
  }));
  const shares = ledger.answers("stakeDistribution")
    ? await ledger.askEra((era) => ({ kind: "stakeDistribution", era }))
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

/** What each pool would pay a member with so much stake. */
export async function askRanking(ledger: Ledger, stake: bigint): Promise<ReadonlyMap<string, bigint>> {
  need(ledger, "nonMyopicRewards");
  const [ranked] = await ledger.askEra((era) => ({ kind: "nonMyopicRewards", era, stakes: [stake] }));
  return new Map(ranked?.pools.map(({ pool, lovelace }) => [pool, lovelace]));
}

/** Every registered representative, and the epoch that it is. */
export async function askDreps(ledger: Ledger): Promise<Representatives> {
  need(ledger, "drepState");
  const states = await ledger.askEra((era) => ({ kind: "drepState", era, credentials: [] }));
  const stakes = ledger.answers("drepStake")
    ? await ledger.askEra((era) => ({ kind: "drepStake", era, dreps: [] }))
    : undefined;
  const stakeOf = stakes &&
    new Map(stakes.flatMap(({ drep, lovelace }) => "hash" in drep ? [[keyOf(drep), lovelace] as const] : []));
  return {
    epoch: await ledger.askEra((era) => ({ kind: "epoch", era })),
    all: [...states].sort((a, b) => compareCredentials(a.credential, b.credential)).map((
      { credential, expiry, anchor, deposit },
    ) => ({ credential, expiry, anchor, deposit, stake: stakeOf && (stakeOf.get(keyOf(credential)) ?? 0n) })),
  };
}

/** How time runs. */
export async function askEras(ledger: Ledger): Promise<Eras> {
  const era = await ledger.era();
  const current = ERAS[era];
  if (!current) throw nodeError("era_unknown", `The node's ledger is in ${eraName(era)}, which is not known here.`);
  const systemStart = startTime(await ledger.ask({ kind: "systemStart" }));
  return { systemStart, current, history: await ledger.ask({ kind: "eraHistory" }) };
}

/** The epoch of the newest block. */
export async function askEpoch(ledger: Ledger): Promise<Epoch> {
  need(ledger, "epoch");
  const eras = await askEras(ledger);
  const epoch = epochTimes(eras, await ledger.askEra((era) => ({ kind: "epoch", era })));
  if (epoch.ok) return epoch.value;
  throw nodeError(
    "protocol_violation",
    `The node's history of eras does not reach its own epoch: ${epoch.error.message}`,
  );
}

/** What the network began with, but for the hash of it, which no query tells. */
export async function askGenesis(ledger: Ledger): Promise<Omit<NetworkGenesis, "hash">> {
  need(ledger, "genesis");
  const genesis = await ledger.askEra((era) => ({ kind: "genesis", era }));
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

function need(ledger: Ledger, kind: EraKind): void {
  if (!ledger.answers(kind)) throw new UnsupportedQuery(kind);
}
