/** Transactions that wait for a block, and those that were refused or left without one. */
import { useState } from "preact/hooks";
import { Ada, count } from "../kit/amounts.tsx";
import { Loaded, useData } from "../kit/data.tsx";
import { Choice, Heading, Panel } from "../kit/parts.tsx";
import { hrefOf } from "../kit/router.ts";
import { setting } from "../kit/setting.ts";
import { Table } from "../kit/Table.tsx";
import { type Departures, get, type Mempool } from "./api.ts";
import { DepartedTable } from "./departed.tsx";
import { Ref } from "./links.tsx";
import { live, moment } from "./live.ts";

const KINDS = [["", "All"], ["refused", "Refused"], ["dropped", "Dropped"], ["withdrawn", "Withdrawn"]] as const;

export function MempoolView() {
  const [kind, setKind] = useState<typeof KINDS[number][0]>("");
  const mempool = useData((signal) => get<Mempool>("/mempool", signal), [moment.value], { keep: true });
  const departed = useData(
    (signal) => get<Departures>(`/transactions/refused?count=500${kind === "" ? "" : `&kind=${kind}`}`, signal),
    [kind, live.value?.departed],
    { keep: true },
  );
  const slot = live.value?.currentSlot;
  return (
    <>
      <Heading title="Mempool">Mempool</Heading>
      <div class="column">
        <Panel
          title="Waiting for a block"
          aside={
            <span class="note">
              {setting("block-ms") === "0"
                ? <a href={hrefOf("/tools")}>Blocks are made on request</a>
                : "in the order in which they go into blocks"}
            </span>
          }
        >
          <Loaded data={mempool}>
            {({ transactions }) => (
              <Table
                caption="Transactions in the mempool"
                rows={transactions}
                keyOf={({ hash }) => hash}
                empty="The mempool is empty: every accepted transaction is in a block."
                columns={[
                  { title: "Transaction", width: "40%", cell: ({ hash }) => <Ref kind="transaction" id={hash} /> },
                  {
                    title: "Valid until",
                    cell: ({ validTo }) =>
                      validTo === undefined ? <span class="note">no limit</span> : (
                        <span>
                          {`slot ${count(validTo)}`}
                          {slot !== undefined && (
                            <span class="note">{` (in ${count(Math.max(0, validTo - slot))} slots)`}</span>
                          )}
                        </span>
                      ),
                  },
                  { title: "Bytes", width: "14%", align: "right", cell: ({ bytes }) => count(bytes) },
                  { title: "Fee", width: "20%", align: "right", cell: ({ fee }) => <Ada lovelace={fee} /> },
                ]}
              />
            )}
          </Loaded>
        </Panel>
        <Panel
          title="Refused, dropped and withdrawn"
          aside={<Choice label="Which transactions" options={KINDS} value={kind} onChange={setKind} />}
        >
          <p class="note about">
            A refused transaction was submitted and broke a rule of the ledger. A dropped one was in the mempool and
            became invalid. A withdrawn one was removed by a rollback, a reset or a restored snapshot. The last 500 are
            remembered until the devnet stops.
          </p>
          <Loaded data={departed}>{({ transactions }) => <DepartedTable rows={transactions} />}</Loaded>
        </Panel>
      </div>
    </>
  );
}
