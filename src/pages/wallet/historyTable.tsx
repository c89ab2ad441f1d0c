/** Transactions of a wallet as a table. */
import { Ada } from "../kit/amounts.tsx";
import { Id } from "../kit/Id.tsx";
import { Badge } from "../kit/parts.tsx";
import { hrefOf } from "../kit/router.ts";
import { Table } from "../kit/Table.tsx";
import { Ago, DateTime } from "../kit/time.tsx";
import { AssetAmount, type AssetBook } from "./assets.tsx";
import { explorerTx } from "./devnet.ts";
import { walletPath } from "./paths.ts";
import type { Transaction, WalletSummary } from "./service.ts";
import { assetChanges, purposeOf, STATUSES } from "./transactions.ts";

/** Tokens of a row before the rest is a number. */
const SOME = 3;

export function TransactionTable({ transactions, wallet, book }: {
  readonly transactions: readonly Transaction[];
  readonly wallet: WalletSummary;
  readonly book: AssetBook | undefined;
}) {
  return (
    <Table
      caption="Transactions"
      rows={transactions}
      keyOf={({ id }) => id}
      pageSize={100}
      columns={[
        {
          title: "What",
          cell: (one) => (
            <span class="wallet-name">
              <a href={hrefOf(walletPath(wallet, "history", one.id))}>{purposeOf(one)}</a>
              <TransactionTime transaction={one} />
            </span>
          ),
        },
        { title: "Amount", align: "right", cell: (one) => <Change transaction={one} book={book} /> },
        { title: "Status", cell: (one) => <TransactionStatus transaction={one} /> },
        {
          title: "Transaction",
          cell: ({ id }) => <Id value={id} name="transaction id" ends={6} href={explorerTx(id)} external />,
        },
      ]}
    />
  );
}

function TransactionTime({ transaction }: { readonly transaction: Transaction }) {
  const at = transaction.inserted_at ?? transaction.pending_since;
  if (at === undefined) return null;
  return (
    <span class="note">{transaction.status === "in_ledger" ? <DateTime at={at.time} /> : <Ago at={at.time} />}</span>
  );
}

/** What the wallet gained or lost. */
export function Change(
  { transaction, book }: { readonly transaction: Transaction; readonly book: AssetBook | undefined },
) {
  const changes = [...assetChanges(transaction)];
  const quantity = BigInt(transaction.amount.quantity);
  return (
    <span class={`changes ${transaction.direction}`}>
      <Ada lovelace={transaction.direction === "incoming" ? quantity : -quantity} signed />
      {changes.slice(0, SOME).map(([key, amount]) => (
        <AssetAmount key={key} book={book} policy={key.slice(0, 56)} name={key.slice(56)} quantity={amount} signed />
      ))}
      {changes.length > SOME && <span class="note">{`and ${changes.length - SOME} more`}</span>}
    </span>
  );
}

export function TransactionStatus({ transaction: { status, depth } }: { readonly transaction: Transaction }) {
  const [words, tone] = STATUSES[status];
  const blocks = depth?.quantity;
  return (
    <Badge tone={tone} {...(blocks === undefined ? {} : { title: `${blocks} blocks deep` })}>
      {words}
    </Badge>
  );
}
