/** The local-state-query queries that the devnet answers, each from one state and only the rows it needs. */
import type { Credential } from "#src/cardano/address.ts";
import { type Relay, walkCertificate } from "#src/cardano/certificates.ts";
import { Walk } from "#src/cardano/walk.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import { eraHistory, nodeGenesis } from "#src/devnet/serve/nodeGenesis.ts";
import { governanceAnswers } from "#src/devnet/serve/governanceAnswers.ts";
import { drepOf } from "#src/devnet/serve/governanceState.ts";
import { protocolParameters } from "#src/ledger/governance/parameters.ts";
import type { StateView } from "#src/devnet/serve/stateRows.ts";
import { NEWEST_MAJOR } from "#src/ledger/epoch/hardFork.ts";
import { nonMyopicMemberRewards, rewardInfo } from "#src/ledger/epoch/ranking.ts";
import {
  leaderDistribution,
  type PoolDistribution,
  stakeDistribution,
  stakeSnapshots,
} from "#src/ledger/epoch/reads.ts";
import { credentialKey, type LedgerState } from "#src/ledger/state.ts";
import type { QueryHandlers } from "#src/node/queries/answering.ts";
import { systemStart } from "#src/node/queries/history.ts";
import type { PoolParameters, StakeDistribution } from "#src/node/queries/pools.ts";
import { CONWAY } from "#src/node/protocols/values.ts";

/** Tables that current stake is computed from, beside outputs. */
const STAKE = ["accounts", "pools", "pots"] as const;

/** Tables that pools are ranked by. */
const RANKED = [...STAKE, "ranking", "parameters"] as const;

/** The answers of a state. */
export function nodeAnswers(genesis: Genesis, view: StateView): QueryHandlers {
  const { tip } = view;
  const point = { slot: tip.slot, hash: tip.hash };
  const start = { time: 0n, slot: 0, epoch: 0 };
  return {
    era: CONWAY,
    systemStart: () => systemStart(genesis.network.slots.zeroTime),
    height: () => tip.height < 0 ? undefined : tip.height,
    point: () => point,
    eraHistory: () => eraHistory(genesis, tip),
    eraStart: ({ era }) => era <= CONWAY ? start : undefined,
    ledgerTip: () => point,
    epoch: async () => (await view.registry(["epoch"])).epoch,
    parameters: async () => ({
      era: "Conway",
      parameters: protocolParameters((await view.registry(["parameters"])).parameters),
    }),
    genesis: () => nodeGenesis(genesis),
    utxoByAddress: ({ addresses }) => view.utxosByAddress(addresses),
    utxoByInput: ({ inputs }) => view.utxosByRef(inputs),
    wholeUtxo: () => view.utxos(),
    ...accountAnswers(view),
    ...governanceAnswers(genesis, view),
    accountState: async () => {
      const { treasury, reserves } = (await view.registry(["pots"])).pots;
      return { treasury, reserves };
    },
    ...poolAnswers(genesis, view),
    maxMajorVersion: () => NEWEST_MAJOR,
  };
}

/** Delegations, rewards and deposits of stake credentials. */
function accountAnswers(view: StateView) {
  /** The accounts read last: clients query rewards, deposits and votes of the same credentials in turn. */
  let last: { readonly keys: readonly string[]; readonly state: Promise<LedgerState> } | undefined;
  /** The registered ones of some credentials. */
  const accountsOf = async (credentials: readonly Credential[]) => {
    const keys = credentials.map(credentialKey);
    const same = last?.keys.length === keys.length && last.keys.every((key, index) => key === keys[index]);
    if (!last || !same) last = { keys, state: view.registry(["accounts"], keys) };
    const { accounts } = await last.state;
    return credentials.flatMap((credential) => {
      const account = accounts.get(credentialKey(credential));
      return account ? [{ credential, account }] : [];
    });
  };
  return {
    delegations: async ({ credentials }) => {
      const accounts = await accountsOf(credentials);
      return {
        pools: accounts.flatMap(({ credential, account: { pool } }) =>
          pool === undefined ? [] : [{ credential, pool }]
        ),
        rewards: accounts.map(({ credential, account }) => ({ credential, lovelace: account.balance })),
      };
    },
    stakeDeposits: async ({ credentials }) =>
      (await accountsOf(credentials)).map(({ credential, account }) => ({ credential, lovelace: account.deposit })),
    voteDelegatees: async ({ credentials }) =>
      (await accountsOf(credentials)).flatMap(({ credential, account: { drep } }) =>
        drep === undefined ? [] : [{ credential, drep: drepOf(drep) }]
      ),
  } satisfies Partial<QueryHandlers>;
}

/** Pools, their stake and their rewards. */
function poolAnswers(genesis: Genesis, view: StateView) {
  /** Registered pools: all, or the given ones. */
  const poolsOf = async (ids?: readonly string[]) => {
    const { pools } = await view.registry(["pools"], ids);
    const all = ids === undefined ? [...pools.entries()] : ids.map((id) => [id, pools.get(id)] as const);
    return all.flatMap(([id, pool]) => pool ? [{ id, pool }] : []);
  };
  return {
    stakePools: async () => (await poolsOf()).map(({ id }) => id),
    poolParameters: async ({ pools }) => (await poolsOf(pools)).map(({ pool }) => parametersOf(pool.certificate)),
    poolState: async ({ pools }) => {
      const chosen = await poolsOf(pools);
      return {
        current: chosen.map(({ pool }) => parametersOf(pool.certificate)),
        future: chosen.flatMap(({ pool: { future } }) => future ? [parametersOf(future)] : []),
        retiring: chosen.flatMap(({ id, pool: { retiring } }) =>
          retiring === undefined ? [] : [{ pool: id, epoch: retiring }]
        ),
        deposits: chosen.map(({ id, pool }) => ({ pool: id, lovelace: pool.deposit })),
      };
    },
    stakeSnapshots: async ({ pools: wanted }) => {
      const { pools, total } = stakeSnapshots(await view.registry(["snapshots", "epoch"]));
      const chosen = [...pools].filter(([id]) => wanted === undefined || wanted.includes(id));
      return { pools: chosen.map(([pool, amounts]) => ({ pool, ...amounts })), totals: total };
    },
    poolDistribution: async ({ pools }) =>
      distributionOf(leaderDistribution(await view.registry(["snapshots", "epoch"])), pools),
    stakeDistribution: async () => distributionOf(stakeDistribution(await view.ledger(STAKE), genesis.terms)),
    rewardInfo: async () => {
      const { pools, ...terms } = rewardInfo(await view.ledger(RANKED), genesis.terms);
      return { ...terms, pools: [...pools].map(([pool, of]) => ({ pool, ...of })) };
    },
    nonMyopicRewards: async ({ stakes }) => {
      const keyed = stakes.map((stake) => ({ stake, key: typeof stake === "bigint" ? stake : credentialKey(stake) }));
      const keys = keyed.map(({ key }) => key);
      const rewards = nonMyopicMemberRewards(await view.ledger(RANKED), genesis.terms, keys);
      return keyed.map(({ stake, key }) => ({
        stake,
        pools: [...rewards.get(key) ?? []].map(([pool, lovelace]) => ({ pool, lovelace })),
      }));
    },
  } satisfies Partial<QueryHandlers>;
}

function parametersOf(bytes: Uint8Array): PoolParameters {
  const certificate = walkCertificate(new Walk(bytes));
  if (certificate.kind !== "register pool") throw new Error("the state has a pool with an unexpected certificate");
  const { pool, vrf, pledge, cost, margin, account, owners, relays, metadata } = certificate;
  return {
    pool,
    vrf,
    pledge,
    cost,
    margin,
    rewardAccount: account,
    owners,
    relays: relays.map(relayOf),
    metadata,
  };
}

function relayOf(relay: Relay): PoolParameters["relays"][number] {
  switch (relay.kind) {
    case "address":
      return { kind: "address", port: relay.port, ipv4: relay.ipv4, ipv6: relay.ipv6 };
    case "host":
      return { kind: "name", port: relay.port, name: relay.name };
    case "service":
      return { kind: "names", name: relay.name };
  }
}

function distributionOf({ pools, active }: PoolDistribution, ids?: readonly string[]): StakeDistribution {
  const chosen = [...pools].filter(([id]) => ids === undefined || ids.includes(id));
  return {
    pools: chosen.map(([pool, { share, lovelace, vrf }]) => ({ pool, share, stake: lovelace, vrf })),
    total: active,
  };
}
