/** Stake pools: all of them, and one with its epochs, delegators and blocks. */
import { Ada, count } from "../kit/amounts.tsx";
import { useData } from "../kit/data.tsx";
import { Id, shortId } from "../kit/Id.tsx";
import { Badge, Facts, Heading, Panel, Stat, Stats } from "../kit/parts.tsx";
import { hrefOf, type ViewProps } from "../kit/router.ts";
import { Table } from "../kit/Table.tsx";
import { get, index, part, type Pool } from "./api.ts";
import { Ref } from "./links.tsx";
import { Delegators, transactionColumn } from "./indexTables.tsx";
import { IndexTable, Parts, Thing, useIndexPages } from "./lists.tsx";
import { live, moment } from "./live.ts";
import { pageOf } from "./names.ts";

const percent = (share: number) => `${Math.round(share * 10_000) / 100} %`;
const marginOf = ({ margin: { numerator, denominator } }: Pool) => percent(Number(numerator) / Number(denominator));

export function PoolsView() {
  const data = useData((signal) => get<{ pools: Pool[] }>("/pools", signal), [live.value?.epoch], {
    everyMs: 10_000,
    keep: true,
  });
  return (
    <>
      <Heading title="Stake pools">Stake pools</Heading>
      <Panel title="Registered pools">
        <Thing data={data} what="pool">
          {({ pools }) => (
            <Table
              caption="Stake pools"
              rows={pools}
              keyOf={({ id }) => id}
              empty="No pool is registered. A devnet makes its blocks without pools as well."
              columns={[
                {
                  title: "Pool",
                  width: "32%",
                  cell: (pool) => (
                    <span>
                      <a href={hrefOf(pageOf("pool", pool.id))}>
                        <bdi>{pool.name ?? shortId(pool.id)}</bdi>
                      </a>
                      {pool.ticker !== undefined && (
                        <span class="note">
                          {" "}
                          <bdi>{pool.ticker}</bdi>
                        </span>
                      )}
                      {pool.retiring !== undefined && <Badge tone="warn">{`retires in epoch ${pool.retiring}`}</Badge>}
                    </span>
                  ),
                },
                {
                  title: "Blocks this epoch",
                  align: "right",
                  cell: ({ blocks }) => count(blocks.epoch),
                  compare: (a, b) => a.blocks.epoch - b.blocks.epoch,
                },
                {
                  title: "Active stake",
                  align: "right",
                  cell: ({ stake }) => <Ada lovelace={stake.set} />,
                  compare: (a, b) => Number(a.stake.set) - Number(b.stake.set),
                },
                { title: "Margin", align: "right", cell: marginOf },
                { title: "Cost", align: "right", cell: ({ cost }) => <Ada lovelace={cost} /> },
              ]}
            />
          )}
        </Thing>
      </Panel>
    </>
  );
}

interface PoolInfo {
  readonly pool_id: string;
  readonly hex: string;
  readonly vrf_key: string;
  readonly blocks_minted: number;
  readonly blocks_epoch: number;
  readonly live_stake: string;
  readonly live_saturation: number;
  readonly live_delegators: number;
  readonly active_stake: string;
  readonly active_size: number;
  readonly declared_pledge: string;
  readonly live_pledge: string;
  readonly margin_cost: number;
  readonly fixed_cost: string;
  readonly reward_account: string;
  readonly owners: readonly string[];
}

export function PoolView({ params: { id = "" }, query }: ViewProps) {
  const path = `/pools/${part(id)}`;
  const tab = query.get("tab") ?? "";
  const data = useData((signal) => index<PoolInfo>(path, signal), [id, moment.value], { keep: true });
  const metadata = useData(
    (signal) =>
      index<{ name?: string | null; ticker?: string | null; description?: string | null }>(`${path}/metadata`, signal),
    [id],
  );
  const name = metadata.value?.name ?? undefined;
  const at = pageOf("pool", id);
  const tabs = [["", "Epochs"], ["delegators", "Delegators"], ["blocks", "Blocks"], [
    "updates",
    "Registrations",
  ]] as const;
  return (
    <>
      <Heading
        title={`Pool ${name ?? id.slice(0, 12)}`}
        aside={metadata.value?.ticker && (
          <Badge>
            <bdi>{metadata.value.ticker}</bdi>
          </Badge>
        )}
      >
        <bdi>{name ?? "Stake pool"}</bdi>
      </Heading>
      <p class="subject">
        <Id value={id} full name="pool id" />
      </p>
      <Thing data={data} what="pool" rows={6}>
        {(pool) => (
          <>
            <PoolStats pool={pool} />
            <div class="column">
              <PoolTerms pool={pool} />
              <div>
                <Parts label="Parts of the pool" at={at} tab={tab} tabs={tabs}>
                  {tab === "delegators"
                    ? (
                      <Delegators<{ readonly address: string; readonly live_stake: string }>
                        path={path}
                        empty="No account delegates to this pool."
                        stakeOf={({ live_stake }) => live_stake}
                      />
                    )
                    : tab === "blocks"
                    ? <Blocks path={path} />
                    : tab === "updates"
                    ? <Updates path={path} />
                    : <Epochs path={path} />}
                </Parts>
              </div>
            </div>
          </>
        )}
      </Thing>
    </>
  );
}

function PoolStats({ pool }: { readonly pool: PoolInfo }) {
  return (
    <Stats>
      <Stat name="Blocks made" note={`${count(pool.blocks_epoch)} in this epoch`}>
        {count(pool.blocks_minted)}
      </Stat>
      <Stat name="Active stake" note={`${percent(pool.active_size)} of all`}>
        <Ada lovelace={pool.active_stake} />
      </Stat>
      <Stat name="Delegators">{count(pool.live_delegators)}</Stat>
      <Stat name="Saturation">{percent(pool.live_saturation)}</Stat>
    </Stats>
  );
}

function PoolTerms({ pool }: { readonly pool: PoolInfo }) {
  return (
    <Panel title="Terms">
      <Facts
        pairs={[
          ["Margin", percent(pool.margin_cost)],
          ["Cost an epoch", <Ada lovelace={pool.fixed_cost} />],
          [
            "Pledge",
            <span>
              <Ada lovelace={pool.declared_pledge} />
              <span class="note">{` declared; held: `}</span>
              <Ada lovelace={pool.live_pledge} />
            </span>,
          ],
          ["Live stake", <Ada lovelace={pool.live_stake} />],
          ["Rewards to", <Ref kind="account" id={pool.reward_account} />],
          [
            "Owners",
            <ul>
              {pool.owners.map((owner) => (
                <li key={owner}>
                  <Ref kind="account" id={owner} />
                </li>
              ))}
            </ul>,
          ],
          ["Id in bytes", <Id value={pool.hex} name="pool id" />],
          ["VRF key hash", <Id value={pool.vrf_key} name="key hash" />],
        ]}
      />
    </Panel>
  );
}

interface PoolEpoch {
  readonly epoch: number;
  readonly blocks: number;
  readonly active_stake: string;
  readonly delegators_count: number;
  readonly rewards: string;
}

function Epochs({ path }: { readonly path: string }) {
  return (
    <IndexTable
      pages={useIndexPages<PoolEpoch>(`${path}/history`, [live.value?.epoch], { order: "desc" })}
      caption="Epochs of the pool, newest first"
      keyOf={({ epoch }) => String(epoch)}
      empty="No epoch has ended yet in which the pool had stake."
      columns={[
        { title: "Epoch", cell: ({ epoch }) => <a href={hrefOf(`/epoch/${epoch}`)}>{epoch}</a> },
        { title: "Blocks", align: "right", cell: ({ blocks }) => count(blocks) },
        { title: "Delegators", align: "right", cell: ({ delegators_count: n }) => count(n) },
        { title: "Stake", align: "right", cell: ({ active_stake: stake }) => <Ada lovelace={stake} /> },
        { title: "Rewards", align: "right", cell: ({ rewards }) => <Ada lovelace={rewards} /> },
      ]}
    />
  );
}

function Blocks({ path }: { readonly path: string }) {
  return (
    <IndexTable
      pages={useIndexPages<string>(`${path}/blocks`, [moment.value], { order: "desc" })}
      caption="Blocks of the pool, newest first"
      keyOf={(hash) => hash}
      empty="The pool has made no block."
      columns={[{ title: "Block", width: "100%", cell: (hash) => <Ref kind="block" id={hash} ends={16} /> }]}
    />
  );
}

function Updates({ path }: { readonly path: string }) {
  return (
    <IndexTable
      pages={useIndexPages<{ readonly tx_hash: string; readonly cert_index: number; readonly action: string }>(
        `${path}/updates`,
        [moment.value],
        { order: "desc" },
      )}
      caption="Registrations, newest first"
      keyOf={({ tx_hash, cert_index }) => `${tx_hash} ${cert_index}`}
      empty="The pool is of the genesis and was not changed since."
      columns={[
        transactionColumn(10, "65%"),
        { title: "Action", cell: ({ action }) => action },
      ]}
    />
  );
}
