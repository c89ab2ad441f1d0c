/** The chain as it grows: its tip, epoch and mempool, and the newest blocks and transactions. */
import { useRef } from "preact/hooks";
import { Ada, count } from "../kit/amounts.tsx";
import { Meter } from "../kit/charts.tsx";
import { Loaded, useData } from "../kit/data.tsx";
import { Heading, Panel, Stat, Stats } from "../kit/parts.tsx";
import { hrefOf } from "../kit/router.ts";
import { Loading } from "../kit/states.tsx";
import { Table } from "../kit/Table.tsx";
import { Ago, now, span } from "../kit/time.tsx";
import { type Block, type Departures, type Epoch, get, index, type Network, type TransactionList } from "./api.ts";
import { Ref } from "./links.tsx";
import { LoadPanel } from "./load.tsx";
import { hasIndex, IndexOff, Thing } from "./lists.tsx";
import { live, moment } from "./live.ts";
import { setting } from "../kit/setting.ts";
import { PoolName } from "./PoolName.tsx";
import { pageOf } from "./names.ts";
import { DepartedTable } from "./departed.tsx";

const BLOCKS = 12;

/** The newest blocks, newest first. Those that are known from before are not read again. */
async function newestBlocks(known: readonly Block[], signal: AbortSignal): Promise<readonly Block[]> {
  const state = live.peek();
  if (state === undefined || state.tip.height < 0) return [];
  const newest = await index<Block>("/blocks/latest", signal);
  const [head] = known;
  if (newest.hash === head?.hash) return known;
  if (newest.previous_block === head?.hash) return [newest, ...known].slice(0, BLOCKS);
  const before = await index<Block[]>(`/blocks/${newest.hash}/previous`, signal, { count: BLOCKS - 1 });
  return [newest, ...before.filter(({ height }) => height !== null).reverse()];
}

export function Home() {
  const key = moment.value;
  const known = useRef<readonly Block[]>([]);
  const on = hasIndex();
  const network = useData((signal) => get<Network>("/tip", signal), []);
  const epoch = useData((signal) => get<Epoch>("/epoch", signal), [live.value?.epoch], { everyMs: 10_000, keep: true });
  const blocks = useData(
    async (signal) => {
      if (!on) return [];
      return known.current = await newestBlocks(known.current, signal);
    },
    [key],
    { keep: true },
  );
  const transactions = useData(
    (signal) => on ? get<TransactionList>("/transactions?count=12", signal) : Promise.resolve({ transactions: [] }),
    [key],
    { keep: true },
  );
  const departed = useData(
    (signal) => get<Departures>("/transactions/refused?count=5", signal),
    [live.value?.departed],
    {
      keep: true,
    },
  );
  const state = live.value;
  const slots = network.value;
  return (
    <>
      <Heading title="Chain">Chain</Heading>
      <ChainStats network={slots} epoch={epoch.value} />
      {slots && state && <ClockNote network={slots} slot={state.currentSlot} />}
      {!on && (
        <div class="panel index-off">
          <IndexOff />
        </div>
      )}
      {on && <LoadPanel />}
      {on && (
        <div class="columns">
          <div>
            <Panel title="Newest blocks">
              {state === undefined ? <Loading rows={BLOCKS} /> : (
                <Thing data={blocks} what="block" rows={BLOCKS}>
                  {(rows) => <BlockTable rows={rows} />}
                </Thing>
              )}
            </Panel>
          </div>
          <div>
            <Panel title="Newest transactions">
              <Thing data={transactions} what="transaction" rows={BLOCKS}>
                {({ transactions: rows }) => <TransactionTable rows={rows} caption="Newest transactions" />}
              </Thing>
            </Panel>
            {departed.value !== undefined && departed.value.total > 0 && (
              <Panel
                title="Refused and withdrawn lately"
                aside={<a class="note" href={hrefOf("/mempool")}>{`All ${departed.value.total}`}</a>}
              >
                <Loaded data={departed}>{({ transactions: rows }) => <DepartedTable rows={rows} />}</Loaded>
              </Panel>
            )}
          </div>
        </div>
      )}
    </>
  );
}

/** The slot of now by the reader's clock, where the devnet's runs with it. */
function currentSlot(network: Network | undefined): number | undefined {
  const state = live.value;
  if (network === undefined || state === undefined) return undefined;
  const byClock = Math.floor((now.value - network.genesisTime) / network.slotLength);
  return Math.abs(byClock - state.currentSlot) * network.slotLength > 60_000
    ? undefined
    : Math.max(byClock, state.currentSlot);
}

function ChainStats({ network, epoch }: {
  readonly network: Network | undefined;
  readonly epoch: Epoch | undefined;
}) {
  const state = live.value;
  return (
    <Stats>
      <Stat
        name="Newest block"
        note={state && network && state.tip.height >= 0
          ? <Ago at={network.genesisTime + state.tip.slot * network.slotLength} />
          : "no block yet"}
      >
        {state === undefined
          ? "…"
          : state.tip.height < 0
          ? "none"
          : <a href={hrefOf(pageOf("block", state.tip.hash))}>{count(state.tip.height)}</a>}
      </Stat>
      <Stat name="Slot" note={network && `a slot is ${span(network.slotLength)} long`}>
        {state === undefined ? "…" : count(currentSlot(network) ?? state.currentSlot)}
      </Stat>
      <EpochStat epoch={epoch} />
      <Stat name="Mempool" note={state && `${count(state.mempool.bytes)} bytes`}>
        {state === undefined ? "…" : <a href={hrefOf("/mempool")}>{count(state.mempool.size)}</a>}
      </Stat>
      <Stat
        name="Network magic"
        note={setting("block-ms") === "0"
          ? "blocks only on request"
          : `a block every ${span(Number(setting("block-ms") ?? 1000))}`}
      >
        {network?.magic ?? "…"}
      </Stat>
    </Stats>
  );
}

function EpochStat({ epoch }: { readonly epoch: Epoch | undefined }) {
  if (epoch === undefined) return <Stat name="Epoch">…</Stat>;
  const { epochLength, firstSlot } = epoch;
  const slot = Math.max(epoch.currentSlot, live.value?.currentSlot ?? 0);
  const done = Math.min(epochLength, Math.max(0, slot - firstSlot));
  const left = epoch.nextEpochTime - now.value;
  return (
    <Stat
      name="Epoch"
      note={
        <>
          <Meter value={done} max={epochLength} label={`Slots of epoch ${epoch.epoch} that have passed`} />
          <span class="under-meter">
            {`${Math.floor(done * 100 / epochLength)} %${left > 0 ? `, next in ${span(left)}` : ""}`}
          </span>
        </>
      }
    >
      <a href={hrefOf(`/epoch/${epoch.epoch}`)}>{count(epoch.epoch)}</a>
    </Stat>
  );
}

/** Says that the devnet's clock runs ahead, by which times look wrong. */
function ClockNote({ network, slot }: { readonly network: Network; readonly slot: number }) {
  const ahead = network.genesisTime + slot * network.slotLength - Date.now();
  if (ahead < 60_000) return null;
  return (
    <p class="alert info">
      {`The devnet's clock runs ${
        span(ahead)
      } ahead of yours, because it was moved to later epochs. Its times are in the future.`}
    </p>
  );
}

/** Blocks, newest first. */
export function BlockTable({ rows, caption = "Newest blocks" }: {
  readonly rows: readonly Block[];
  readonly caption?: string;
}) {
  return (
    <div class="compact">
      <Table
        caption={caption}
        rows={rows}
        keyOf={({ hash }) => hash}
        empty="There is no block yet."
        columns={[
          {
            title: "Height",
            width: "15%",
            cell: ({ height, hash }) => (
              <a href={hrefOf(pageOf("block", hash))}>{height === null ? "genesis" : count(height)}</a>
            ),
          },
          { title: "Age", width: "22%", cell: ({ time }) => <Ago at={time * 1_000} /> },
          { title: "Slot", width: "16%", cell: ({ slot }) => slot === null ? "" : count(slot) },
          {
            title: "Made by",
            cell: ({ slot_leader: leader }) =>
              leader.startsWith("pool1") ? <PoolName id={leader} /> : <span class="note">the devnet</span>,
          },
          {
            title: "Transactions",
            width: "19%",
            align: "right",
            cell: ({ tx_count: n }) => n === 0 ? <span class="note">0</span> : n,
          },
        ]}
      />
    </div>
  );
}

/** Transactions of blocks. */
export function TransactionTable({ rows, caption }: {
  readonly rows: TransactionList["transactions"];
  readonly caption: string;
}) {
  return (
    <div class="compact amounts">
      <Table
        caption={caption}
        rows={rows}
        keyOf={({ hash }) => hash}
        empty="No transaction yet. Pay from the faucet under Tools, or submit one."
        columns={[
          {
            title: "Transaction",
            width: "28%",
            cell: ({ hash, valid }) => (
              <>
                <Ref kind="transaction" id={hash} ends={5} />
                {!valid && <span class="badge bad">script failed</span>}
              </>
            ),
          },
          { title: "Age", width: "18%", cell: ({ time }) => <Ago at={time} /> },
          {
            title: "Scripts",
            width: "13%",
            align: "right",
            cell: ({ scripts }) => scripts === 0 ? <span class="note">0</span> : scripts,
          },
          {
            title: "Outputs",
            align: "right",
            cell: ({ lovelace }) => <Ada lovelace={lovelace} />,
          },
        ]}
      />
    </div>
  );
}
