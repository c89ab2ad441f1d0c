/** Epochs: all of them, and one with its pots, stake and parameters. */
import { Ada, count } from "../kit/amounts.tsx";
import { Meter } from "../kit/charts.tsx";
import { useData } from "../kit/data.tsx";
import { Facts, Heading, Panel, Stat, Stats } from "../kit/parts.tsx";
import { hrefOf, type ViewProps } from "../kit/router.ts";
import { DateTime } from "../kit/time.tsx";
import { JsonTree } from "../kit/values.tsx";
import { type Epoch as Current, get, index, part } from "./api.ts";
import { Ref } from "./links.tsx";
import { IndexTable, Parts, Thing, useIndexPages } from "./lists.tsx";
import { live, moment } from "./live.ts";

interface EpochInfo {
  readonly epoch: number;
  readonly start_time: number;
  readonly end_time: number;
  readonly block_count: number;
  readonly tx_count: number;
  readonly output: string;
  readonly fees: string;
  readonly active_stake: string | null;
}

export function EpochsView() {
  const current = useData((signal) => get<Current>("/epoch", signal), [live.value?.epoch], {
    everyMs: 10_000,
    keep: true,
  });
  const epoch = current.value?.epoch;
  return (
    <>
      <Heading title="Epochs">Epochs</Heading>
      <div class="column">
        <Panel title="Now">
          <Thing data={current} what="epoch" rows={5}>
            {(now) => (
              <Facts
                align="right"
                pairs={[
                  ["Epoch", <a href={hrefOf(`/epoch/${now.epoch}`)}>{now.epoch}</a>],
                  [
                    "Progress",
                    (
                      <span class="units">
                        <Meter
                          value={Math.min(now.epochLength, now.currentSlot - now.firstSlot)}
                          max={now.epochLength}
                          label="Slots of the epoch that have passed"
                        />
                        <span>
                          {`${count(Math.min(now.epochLength, now.currentSlot - now.firstSlot))} of ${
                            count(now.epochLength)
                          } slots`}
                        </span>
                      </span>
                    ),
                  ],
                  ["Next epoch", <DateTime at={now.nextEpochTime} />],
                  ["Active stake", <Ada lovelace={now.activeStake} />],
                  ["Treasury", <Ada lovelace={now.pots.treasury} />],
                  ["Reserves", <Ada lovelace={now.pots.reserves} />],
                  ["Deposits", <Ada lovelace={now.pots.deposits} />],
                  ["Fees so far", <Ada lovelace={now.pots.fees} />],
                ]}
              />
            )}
          </Thing>
        </Panel>
        {epoch !== undefined && (
          <Panel title="Epochs before">
            {epoch === 0
              ? (
                <p class="note">
                  This is the first epoch. Under Tools you can move the devnet to the next one at once.
                </p>
              )
              : <Before epoch={epoch} />}
          </Panel>
        )}
      </div>
    </>
  );
}

function Before({ epoch }: { readonly epoch: number }) {
  return (
    <IndexTable
      pages={useIndexPages<EpochInfo>(`/epochs/${epoch}/previous`, [])}
      caption="Epochs before this one, newest first"
      reversed
      keyOf={(one) => String(one.epoch)}
      empty="No epoch has ended with a block in it."
      columns={[
        { title: "Epoch", cell: ({ epoch: one }) => <a href={hrefOf(`/epoch/${one}`)}>{one}</a> },
        { title: "Began", cell: ({ start_time: time }) => <DateTime at={time * 1_000} /> },
        {
          title: "Blocks",
          align: "right",
          cell: ({ block_count: n }) => count(n),
          compare: (a, b) => a.block_count - b.block_count,
        },
        {
          title: "Transactions",
          align: "right",
          cell: ({ tx_count: n }) => count(n),
          compare: (a, b) => a.tx_count - b.tx_count,
        },
        { title: "Fees", align: "right", cell: ({ fees }) => <Ada lovelace={fees} /> },
      ]}
    />
  );
}

export function EpochView({ params: { number = "" }, query }: ViewProps) {
  const tab = query.get("tab") ?? "";
  const data = useData((signal) => index<EpochInfo>(`/epochs/${part(number)}`, signal), [number, moment.value], {
    keep: true,
  });
  const at = `/epoch/${part(number)}`;
  const tabs = [["", "Blocks"], ["stake", "Stake"], ["parameters", "Protocol parameters"]] as const;
  const n = Number(number);
  return (
    <>
      <Heading
        title={`Epoch ${number}`}
        aside={Number.isSafeInteger(n) && (
          <>
            {n > 0 && <a class="button small" href={hrefOf(`/epoch/${n - 1}`)}>← Before</a>}
            {n < (live.value?.epoch ?? 0) && <a class="button small" href={hrefOf(`/epoch/${n + 1}`)}>Next →</a>}
          </>
        )}
      >
        {`Epoch ${number}`}
      </Heading>
      <Thing data={data} what="epoch with a block" rows={5}>
        {(epoch) => (
          <>
            <Stats>
              <Stat name="Blocks">{count(epoch.block_count)}</Stat>
              <Stat name="Transactions">{count(epoch.tx_count)}</Stat>
              <Stat name="Outputs">
                <Ada lovelace={epoch.output} />
              </Stat>
              <Stat name="Fees">
                <Ada lovelace={epoch.fees} />
              </Stat>
              {epoch.active_stake !== null && (
                <Stat name="Active stake">
                  <Ada lovelace={epoch.active_stake} />
                </Stat>
              )}
            </Stats>
            <p class="note subject">
              From <DateTime at={epoch.start_time * 1_000} /> to <DateTime at={epoch.end_time * 1_000} />
            </p>
            <Parts label="Parts of the epoch" at={at} tab={tab} tabs={tabs}>
              {tab === "stake"
                ? <Stakes at={at} />
                : tab === "parameters"
                ? <Parameters number={number} />
                : <Blocks at={at} />}
            </Parts>
          </>
        )}
      </Thing>
    </>
  );
}

function Blocks({ at }: { readonly at: string }) {
  return (
    <IndexTable
      pages={useIndexPages<string>(`${at.replace("/epoch/", "/epochs/")}/blocks`, [moment.value], { order: "desc" })}
      caption="Blocks of the epoch, newest first"
      keyOf={(hash) => hash}
      empty="No block."
      columns={[{ title: "Block", width: "100%", cell: (hash) => <Ref kind="block" id={hash} ends={16} /> }]}
    />
  );
}

function Stakes({ at }: { readonly at: string }) {
  return (
    <IndexTable
      pages={useIndexPages<{ readonly stake_address: string; readonly pool_id: string; readonly amount: string }>(
        `${at.replace("/epoch/", "/epochs/")}/stakes`,
        [],
      )}
      caption="Stake that counted in this epoch"
      keyOf={({ stake_address }) => stake_address}
      empty="No stake counted in this epoch."
      columns={[
        { title: "Stake account", width: "38%", cell: ({ stake_address: one }) => <Ref kind="account" id={one} /> },
        { title: "Pool", cell: ({ pool_id: pool }) => <Ref kind="pool" id={pool} ends={6} /> },
        { title: "Stake", align: "right", cell: ({ amount }) => <Ada lovelace={amount} /> },
      ]}
    />
  );
}

function Parameters({ number }: { readonly number: string }) {
  const data = useData((signal) => index<object>(`/epochs/${part(number)}/parameters`, signal), [number]);
  return <Thing data={data} what="epoch" rows={10}>{(parameters) => <JsonTree value={parameters} open={1} />}</Thing>;
}
