// deno-lint-ignore-file jsx-key -- the pairs of Facts are no lists of elements
/** The delegation of a wallet's stake: its pool, its rewards, and the pools by rank. */
import { useMemo, useState } from "preact/hooks";
import type { StakePool } from "#src/client/wallets.ts";
import { Ada, adaText, count } from "../kit/amounts.tsx";
import { Loaded, useData } from "../kit/data.tsx";
import { Id } from "../kit/Id.tsx";
import { Action, Badge, Facts, Panel } from "../kit/parts.tsx";
import { Search } from "../kit/Search.tsx";
import { Alert, Empty } from "../kit/states.tsx";
import { type Column, Table } from "../kit/Table.tsx";
import { DateTime } from "../kit/time.tsx";
import { explorerPool } from "./devnet.ts";
import type { Requested } from "./review.ts";
import { read, type WalletSummary } from "./service.ts";
import { useSigning } from "./signing.tsx";
import type { WalletTab } from "./tab.ts";

/** Delegation uses the first stake key, whatever the account. */
const STAKE_KEY = "0H";

export function Staking({ wallet, reload }: WalletTab) {
  const { begin, error, signing } = useSigning({ wallet, reload });
  // the rank depends on the stake; it is not read again after each payment
  const [stake] = useState(wallet.total);
  const pools = useData((signal) => read<StakePool[]>("/stake-pools", { stake: String(stake) }, signal), [stake]);
  if (signing) return signing;
  const target = delegatedTo(wallet);
  const join = (pool: StakePool) =>
    begin("Sign and join", {
      delegations: [{ join: { pool: pool.id, stake_key_index: STAKE_KEY } }],
      ...(votesOf(wallet) === undefined ? { vote: "abstain" } : {}),
    }, { join: pool.id });
  return (
    <>
      <Alert error={error} />
      <Current wallet={wallet} pools={pools.value} begin={begin} />
      <Panel title={target === undefined ? "Choose a pool" : "All pools"}>
        <p class="note">
          A pool makes blocks with the stake of those who join it, and shares the rewards. Your ada stays in the wallet
          and can be spent at any time. Joining for the first time takes a deposit, which comes back.
          {votesOf(wallet) === undefined &&
            " It also delegates your vote to Abstain, without which rewards cannot be withdrawn; change it under Voting."}
        </p>
        <Loaded data={pools} rows={8}>
          {(list) => <Pools pools={list} stake={stake} joined={target} join={join} canJoin={wallet.available > 0n} />}
        </Loaded>
      </Panel>
    </>
  );
}

/** The pool that the wallet's stake goes to in the end; undefined for none. */
function delegatedTo({ delegation }: WalletSummary): string | undefined {
  return delegation && [delegation.active, ...delegation.next].at(-1)?.target;
}

function votesOf({ delegation }: WalletSummary): string | undefined {
  return delegation && [delegation.active, ...delegation.next].at(-1)?.voting;
}

/** A pool's name: its ticker and name, or the beginning of its id. */
export const poolName = (pool: StakePool | undefined, id: string): string =>
  pool?.metadata ? `${pool.metadata.ticker} · ${pool.metadata.name}` : `${id.slice(0, 12)}…`;

function Current({ wallet, pools, begin }: {
  readonly wallet: WalletSummary;
  readonly pools: readonly StakePool[] | undefined;
  readonly begin: (verb: string, body: unknown, requested: Requested) => Promise<void>;
}) {
  const { delegation, reward } = wallet;
  if (delegation === undefined) return null;
  const { active, next } = delegation;
  const pool = (id: string | undefined) => {
    if (id === undefined) return "no pool";
    const { metadata } = pools?.find((one) => one.id === id) ?? {};
    return (
      <span class="badges">
        {metadata && <bdi>{`${metadata.ticker} · ${metadata.name}`}</bdi>}
        <Id value={id} name="pool id" ends={8} href={explorerPool(id)} external />
      </span>
    );
  };
  const delegates = [active, ...next].some(({ status }) => status !== "not_delegating");
  const withdraw = () => begin("Sign and withdraw", { withdrawal: "self" }, { withdraw: true });
  const quit = () =>
    begin("Sign and stop delegating", {
      delegations: [{ quit: { stake_key_index: STAKE_KEY } }],
      ...(reward > 0n ? { withdrawal: "self" } : {}),
    }, { quit: true, withdraw: reward > 0n });
  return (
    <Panel title="Your delegation">
      <Facts
        pairs={[
          ["Now", pool(active.target)],
          ...next.map((one) =>
            [
              `From epoch ${one.changes_at.epoch_number}`,
              <span class="badges">
                {pool(one.target)}{" "}
                <span class="note">
                  <DateTime at={one.changes_at.epoch_start_time} />
                </span>
              </span>,
            ] as const
          ),
          ["Rewards", <Ada lovelace={reward} />],
        ]}
      />
      {!delegates && <p class="note">The stake earns nothing yet. Rewards begin two epochs after joining a pool.</p>}
      <div class="buttons">
        {reward > 0n && <Action tone="primary" run={withdraw}>Withdraw the rewards</Action>}
        {delegates && <Action run={quit}>Stop delegating</Action>}
      </div>
    </Panel>
  );
}

interface Choosing {
  readonly stake: bigint;
  readonly joined: string | undefined;
  readonly join: (pool: StakePool) => Promise<void>;
  readonly canJoin: boolean;
}

function Pools({ pools, stake, joined, join, canJoin }: Choosing & { readonly pools: readonly StakePool[] }) {
  const [text, setText] = useState("");
  const ranked = useMemo(() => pools.map((pool, i) => ({ pool, rank: i + 1 })), [pools]);
  const wanted = text.toLowerCase();
  const shown = wanted === "" ? ranked : ranked.filter(({ pool: { id, metadata } }) =>
    id.startsWith(wanted) ||
    [metadata?.ticker, metadata?.name, metadata?.description].some((one) => one?.toLowerCase().includes(wanted))
  );
  if (pools.length === 0) return <Empty title="This network has no stake pools" />;
  return (
    <>
      <Search label="Search pools" placeholder="Ticker, name or id" value={text} onSearch={setText} />
      <Table
        caption="Stake pools by rank"
        rows={shown}
        keyOf={({ pool }) => pool.id}
        pageSize={20}
        empty="No pool matches."
        columns={poolColumns({ stake, joined, join, canJoin })}
      />
      {!canJoin && <p class="note">Joining needs a little ada for the fee and the deposit.</p>}
    </>
  );
}

/** A pool and its place in the order of the service. */
interface Ranked {
  readonly pool: StakePool;
  readonly rank: number;
}

const poolColumns = ({ stake, joined, join, canJoin }: Choosing): readonly Column<Ranked>[] => [
  { title: "Rank", align: "right", compare: (a, b) => a.rank - b.rank, cell: ({ rank }) => count(rank) },
  {
    title: "Pool",
    cell: ({ pool }) => (
      <span class="wallet-name">
        <bdi>{pool.metadata ? poolName(pool, pool.id) : <span class="note">without a name</span>}</bdi>
        <Id value={pool.id} name="pool id" ends={6} href={explorerPool(pool.id)} external />
        {pool.retirement && <Badge tone="bad">{`Retires in epoch ${pool.retirement.epoch_number}`}</Badge>}
        {pool.flags.includes("delisted") && <Badge tone="bad">Delisted</Badge>}
      </span>
    ),
  },
  {
    title: "Rewards an epoch",
    align: "right",
    compare: (a, b) =>
      Number(
        BigInt(a.pool.metrics.non_myopic_member_rewards.quantity) -
          BigInt(b.pool.metrics.non_myopic_member_rewards.quantity),
      ),
    cell: ({ pool }) => (
      <span title={`Expected for ${adaText(stake)}`}>
        <Ada lovelace={pool.metrics.non_myopic_member_rewards.quantity} />
      </span>
    ),
  },
  {
    title: "Saturation",
    align: "right",
    compare: (a, b) => a.pool.metrics.saturation - b.pool.metrics.saturation,
    cell: ({ pool: { metrics: { saturation } } }) => (
      <span class={saturation >= 1 ? "bad-text" : ""}>
        {`${(saturation * 100).toFixed(saturation < 0.1 ? 2 : 0)} %`}
      </span>
    ),
  },
  {
    title: "Cost",
    align: "right",
    cell: ({ pool: { cost, margin } }) => (
      <span class="wallet-name">
        <span>{`${Number(margin.quantity).toLocaleString("en", { maximumFractionDigits: 2 })} %`}</span>
        <span class="note">
          and <Ada lovelace={cost.quantity} />
        </span>
      </span>
    ),
  },
  { title: "Blocks", align: "right", cell: ({ pool }) => count(BigInt(pool.metrics.produced_blocks.quantity)) },
  {
    title: "Action",
    align: "right",
    cell: ({ pool }) =>
      pool.id === joined
        ? <Badge tone="good">Joined</Badge>
        : (
          <Action small run={() => join(pool)} disabled={!canJoin} label={`Join ${poolName(pool, pool.id)}`}>
            Join
          </Action>
        ),
  },
];
