// deno-lint-ignore-file jsx-key -- the pairs of Facts are no lists of elements
/// <reference lib="dom" />
/** A transaction that was sent, until it is in the ledger. */
import { useEffect, useLayoutEffect } from "preact/hooks";
import { Ada } from "../kit/amounts.tsx";
import { useData } from "../kit/data.tsx";
import { Id } from "../kit/Id.tsx";
import { Badge, Facts, Panel } from "../kit/parts.tsx";
import { hrefOf } from "../kit/router.ts";
import { useAssets } from "./assets.tsx";
import { Change, TransactionStatus } from "./historyTable.tsx";
import { pendingText } from "./network.tsx";
import { walletPath } from "./paths.ts";
import { read, type Transaction, type WalletSummary } from "./service.ts";
import { purposeOf } from "./transactions.ts";

/** A transaction that was sent, on its way to the ledger. */
export function Sent({ wallet, hash, back, landed }: {
  readonly wallet: WalletSummary;
  readonly hash: string;
  readonly back: () => void;
  /** Called once it is in the ledger. */
  readonly landed?: (() => void) | undefined;
}) {
  const data = useData(
    (signal) => read<Transaction>(`/${wallet.prefix}/${wallet.id}/transactions/${hash}`, {}, signal),
    [hash],
    { everyMs: 1_500 },
  );
  useLayoutEffect(() => document.querySelector<HTMLElement>("#sent")?.focus(), []);
  const book = useAssets(wallet);
  const status = data.value?.status ?? "pending";
  useEffect(() => {
    if (status === "in_ledger") landed?.();
  }, [status]);
  return (
    <Panel title="Sent">
      <div id="sent" tabIndex={-1} role="status">
        {status === "in_ledger"
          ? <p class="alert info">It is in the ledger.</p>
          : status === "expired"
          ? <p class="alert">It expired before a block had it. Nothing was spent.</p>
          : <p class="alert info">{pendingText()}</p>}
      </div>
      {data.value && (
        <p class="result">
          <b>{purposeOf(data.value)}</b> <Change transaction={data.value} book={book.value} />
        </p>
      )}
      <Facts
        pairs={[
          ["Status", data.value ? <TransactionStatus transaction={data.value} /> : <Badge tone="warn">Pending</Badge>],
          ["Fee", data.value && <Ada lovelace={data.value.fee.quantity} />],
          ["Transaction", <Id value={hash} name="transaction id" full />],
        ]}
      />
      <div class="buttons">
        <a class="button primary" href={hrefOf(walletPath(wallet, "history", hash))}>Show the transaction</a>
        <button type="button" onClick={back}>Done</button>
      </div>
    </Panel>
  );
}
