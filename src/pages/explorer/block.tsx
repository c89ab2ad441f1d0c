/** A block with its transactions. */
import { Ada, count } from "../kit/amounts.tsx";
import { useData, usePages } from "../kit/data.tsx";
import { Id } from "../kit/Id.tsx";
import { Facts, Heading, Panel } from "../kit/parts.tsx";
import { hrefOf, type ViewProps } from "../kit/router.ts";
import { Empty } from "../kit/states.tsx";
import { Pager } from "../kit/Table.tsx";
import { Ago, DateTime } from "../kit/time.tsx";
import { type Block, get, index, part, type TransactionList } from "./api.ts";
import { TransactionTable } from "./home.tsx";
import { Ref } from "./links.tsx";
import { Thing } from "./lists.tsx";
import { moment } from "./live.ts";
import { PoolName } from "./PoolName.tsx";
import { pageOf } from "./names.ts";

export function BlockView({ params: { id = "" } }: ViewProps) {
  // a rollback may remove the block, and a new one may follow it
  const data = useData((signal) => index<Block>(`/blocks/${part(id)}`, signal), [id, moment.value], { keep: true });
  const block = data.value;
  const name = block === undefined ? "Block" : block.height === null ? "Genesis" : `Block ${count(block.height)}`;
  const neighbour = (hash: string | null | undefined, text: string) =>
    hash
      ? <a class="button small" href={hrefOf(pageOf("block", hash))}>{text}</a>
      : <button type="button" class="small" disabled>{text}</button>;
  return (
    <>
      <Heading
        title={name}
        aside={block && <>{neighbour(block.previous_block, "← Before")}{neighbour(block.next_block, "Next →")}</>}
      >
        {name}
      </Heading>
      <div class="column">
        <Panel title="Facts">
          <Thing data={data} what="block" rows={8}>
            {(shown) => (
              <Facts
                align="right"
                pairs={[
                  ["Hash", <Id value={shown.hash} full name="block hash" />],
                  [
                    "Time",
                    <span>
                      <DateTime at={shown.time * 1_000} />{" "}
                      <span class="note">
                        <Ago at={shown.time * 1_000} />
                      </span>
                    </span>,
                  ],
                  [
                    "Epoch",
                    shown.epoch === null ? undefined : (
                      <span>
                        <a href={hrefOf(`/epoch/${shown.epoch}`)}>{shown.epoch}</a>
                        <span class="note">{`, slot ${count(shown.epoch_slot ?? 0)} of it`}</span>
                      </span>
                    ),
                  ],
                  ["Slot", shown.slot === null ? undefined : count(shown.slot)],
                  [
                    "Made by",
                    shown.slot_leader.startsWith("pool1")
                      ? <PoolName id={shown.slot_leader} />
                      : shown.height === null
                      ? undefined
                      : "the devnet itself, no pool",
                  ],
                  [
                    "Confirmations",
                    shown.height === null ? undefined : `${count(shown.confirmations)} blocks after it`,
                  ],
                  ["Size", `${count(shown.size)} bytes`],
                  ["Outputs", shown.output === null ? undefined : <Ada lovelace={shown.output} />],
                  ["Fees", shown.fees === null || shown.fees === "0" ? undefined : <Ada lovelace={shown.fees} />],
                ]}
              />
            )}
          </Thing>
        </Panel>
        {block !== undefined && (
          <Panel title={`Transactions (${count(block.tx_count)})`}>
            {block.height === null
              ? <GenesisTransactions hash={block.hash} />
              : block.tx_count === 0
              ? <Empty title="This block has no transaction." />
              : <Transactions height={block.height} key={block.hash} />}
          </Panel>
        )}
      </div>
    </>
  );
}

function Transactions({ height }: { readonly height: number }) {
  const { data, page, previous, next } = usePages<TransactionList>(
    (cursor, signal) =>
      get(`/transactions?block=${height}&count=50${cursor === undefined ? "" : `&before=${cursor}`}`, signal),
    (value) => value.next,
    [height],
  );
  return (
    <Thing data={data} what="block">
      {({ transactions }) => (
        <>
          <TransactionTable rows={transactions} caption="Transactions of the block, last first" />
          {(previous ?? next) && (
            <Pager label="Transactions of the block" text={`Page ${page + 1}`} previous={previous} next={next} />
          )}
        </>
      )}
    </Thing>
  );
}

/** Each output of the genesis is known as a transaction. */
function GenesisTransactions({ hash }: { readonly hash: string }) {
  const data = useData((signal) => index<string[]>(`/blocks/${hash}/txs`, signal, { count: 100 }), [hash]);
  return (
    <Thing data={data} what="block">
      {(hashes) => (
        <ul class="hits">
          {hashes.map((one) => (
            <li key={one}>
              <Ref kind="transaction" id={one} ends={16} />
            </li>
          ))}
        </ul>
      )}
    </Thing>
  );
}
