/** Transactions that were refused or left without a block, and why. */
import { Badge, type Tone } from "../kit/parts.tsx";
import { Table } from "../kit/Table.tsx";
import { Ago } from "../kit/time.tsx";
import type { Departed, Transaction } from "./api.ts";
import { Ref, Sentence } from "./links.tsx";
import { causesFirst } from "./names.ts";

/** Names and tones of where a transaction is. */
export const STATUS: Readonly<Record<Transaction["status"], readonly [name: string, tone: Tone]>> = {
  in_block: ["in a block", "good"],
  in_mempool: ["waiting in the mempool", "warn"],
  refused: ["refused", "bad"],
  dropped: ["dropped from the mempool", "bad"],
  withdrawn: ["withdrawn", "warn"],
  genesis: ["genesis", "quiet"],
};

export function DepartedTable({ rows }: { readonly rows: readonly Departed[] }) {
  return (
    <Table
      caption="Transactions that were refused or left without a block"
      rows={rows}
      keyOf={({ hash }) => hash}
      empty="No transaction was refused since the devnet was started."
      columns={[
        { title: "Transaction", width: "27%", cell: ({ hash }) => <Ref kind="transaction" id={hash} ends={6} /> },
        {
          title: "What happened",
          cell: ({ kind, why, reasons }) => (
            <div>
              <Badge tone={STATUS[kind][1]}>{STATUS[kind][0]}</Badge>{" "}
              <Sentence text={causesFirst(reasons)[0]?.text ?? `${why}.`} />
              {reasons.length > 1 && <span class="note">{` and ${reasons.length - 1} more`}</span>}
            </div>
          ),
        },
        { title: "When", width: "17%", cell: ({ at }) => <Ago at={at} /> },
      ]}
    />
  );
}
