// deno-lint-ignore-file jsx-key -- the pairs of Facts are no lists of elements
/** One transaction of a wallet in detail. */
import { useEffect, useState } from "preact/hooks";
import { Ada, count } from "../kit/amounts.tsx";
import { Loaded, useData } from "../kit/data.tsx";
import { confirm } from "../kit/Dialog.tsx";
import { Id, SiteLink } from "../kit/Id.tsx";
import { Badge, Facts, Panel } from "../kit/parts.tsx";
import { go, hrefOf } from "../kit/router.ts";
import { actorsOf } from "../kit/sites.ts";
import { DateTime } from "../kit/time.tsx";
import { toast } from "../kit/toast.tsx";
import { JsonTree } from "../kit/values.tsx";
import { AddressLabel } from "./addressLabels.tsx";
import { AssetAmount, type AssetBook } from "./assets.tsx";
import { explorerAddress, explorerTx } from "./devnet.ts";
import { Change, TransactionStatus } from "./historyTable.tsx";
import { governanceWords } from "./governanceWords.ts";
import { pendingText } from "./network.tsx";
import { walletPath } from "./paths.ts";
import { read, send, type Transaction, type WalletSummary } from "./service.ts";
import { messageOf, purposeOf } from "./transactions.ts";

/** Between two reads of what may change, in milliseconds. */
export const EVERY_MS = 3_000;

export function OneTransaction({ wallet, hash, book }: {
  readonly wallet: WalletSummary;
  readonly hash: string;
  readonly book: AssetBook | undefined;
}) {
  const { prefix, id } = wallet;
  const path = `/${prefix}/${id}/transactions/${encodeURIComponent(hash)}`;
  const data = useData((signal) => read<Transaction>(path, { "simple-metadata": true }, signal), [path], {
    everyMs: EVERY_MS,
  });
  return (
    <Panel
      title="Transaction"
      aside={<a href={hrefOf(walletPath(wallet, "history"))}>All transactions</a>}
    >
      <Loaded data={data} rows={6}>
        {(one) => <Details transaction={one} wallet={wallet} book={book} />}
      </Loaded>
    </Panel>
  );
}

function Details({ transaction: one, wallet, book }: {
  readonly transaction: Transaction;
  readonly wallet: WalletSummary;
  readonly book: AssetBook | undefined;
}) {
  const { status } = one;
  const isOpen = status !== "in_ledger";
  const message = messageOf(one.metadata);
  const canRepeat = status === "expired" && one.direction === "outgoing" &&
    one.outputs.some(({ derivation_path: own }) => !own);
  const forget = () =>
    confirm({
      title: "Forget this transaction?",
      text: status === "pending" || status === "submitted"
        ? "The wallet stops waiting for it, and its coins can be spent again. The network may still include it in a block."
        : "It is removed from the history. It never was in the ledger.",
      verb: "Forget it",
      danger: true,
      run: async () => {
        await send("DELETE", `/${wallet.prefix}/${wallet.id}/transactions/${one.id}`);
        toast("The transaction is forgotten");
        go(walletPath(wallet, "history"), true);
      },
    });
  return (
    <>
      <p class="result">
        <b>{purposeOf(one)}</b> <Change transaction={one} book={book} />
      </p>
      <DetailFacts transaction={one} message={message} />
      {one.failures !== undefined && one.failures.length > 0 && (
        <div class="alert" role="alert">
          <p>The network rejected it after it had accepted it:</p>
          <ul>{one.failures.map(({ name, message }) => <li key={name}>{message}</li>)}</ul>
        </div>
      )}
      <div class="two">
        <Sides title="From" entries={one.inputs} book={book} unknown="an output of another wallet" />
        <Sides title="To" entries={one.outputs} book={book} unknown="" />
      </div>
      {one.metadata !== undefined && one.metadata !== null && message === undefined && (
        <>
          <h3>Metadata</h3>
          <JsonTree value={one.metadata} />
        </>
      )}
      {isOpen && (
        <div class="buttons">
          {canRepeat && (
            <a class="button primary" href={hrefOf(`${walletPath(wallet, "send")}?again=${one.id}`)}>Send again</a>
          )}
          <button type="button" class="danger" onClick={() => void forget()}>Forget</button>
        </div>
      )}
    </>
  );
}

function DetailFacts({ transaction: one, message }: {
  readonly transaction: Transaction;
  readonly message: ReturnType<typeof messageOf>;
}) {
  const { status, fee, deposit_taken: taken, deposit_returned: returned, withdrawals } = one;
  const sum = (amounts: readonly { readonly amount: { readonly quantity: number | bigint } }[]) =>
    amounts.reduce((total, { amount }) => total + BigInt(amount.quantity), 0n);
  const isOpen = status !== "in_ledger";
  const words = governanceWords(one);
  const operators = actorsOf(one.id);
  return (
    <Facts
      pairs={[
        [
          "Status",
          (
            <span class="badges">
              <TransactionStatus transaction={one} />
              <StatusNote transaction={one} />
            </span>
          ),
        ],
        ["Id", <Id value={one.id} name="transaction id" href={explorerTx(one.id)} full external />],
        ["Actors", operators === undefined ? undefined : <SiteLink href={operators}>Operator page</SiteLink>],
        [
          "In the ledger since",
          one.inserted_at && (
            <>
              <DateTime at={one.inserted_at.time} />
              {` · block ${count(one.inserted_at.height.quantity)}, ${count(one.depth?.quantity ?? 0)} deep`}
            </>
          ),
        ],
        ["Pending since", one.pending_since && <DateTime at={one.pending_since.time} />],
        ["Fee", one.direction === "outgoing" ? <Ada lovelace={fee.quantity} /> : undefined],
        [
          "Governance",
          words.length > 0 ? <ul class="plain-list">{words.map((one) => <li key={one}>{one}</li>)}</ul> : undefined,
        ],
        ["Deposit paid", BigInt(taken.quantity) > 0n ? <Ada lovelace={taken.quantity} /> : undefined],
        ["Deposit returned", BigInt(returned.quantity) > 0n ? <Ada lovelace={returned.quantity} /> : undefined],
        ["Rewards withdrawn", withdrawals.length > 0 ? <Ada lovelace={sum(withdrawals)} /> : undefined],
        [
          "Message",
          message && <bdi class="message">{message.join("\n")}</bdi>,
        ],
        ["Valid until", isOpen && one.expires_at ? <DateTime at={one.expires_at.time} /> : undefined],
      ]}
    />
  );
}

function StatusNote({ transaction: { status } }: { readonly transaction: Transaction }) {
  if (status === "expired") return <span class="note">It can no longer get into a block. Nothing was spent.</span>;
  if (status === "in_ledger") return null;
  return <span class="note">{pendingText()}</span>;
}

interface Side {
  readonly address?: string | undefined;
  readonly amount?: { readonly quantity: number | bigint } | undefined;
  readonly assets?: Transaction["outputs"][number]["assets"] | undefined;
  readonly derivation_path?: readonly string[] | undefined;
}

/** Inputs or outputs that are shown before the reader asks for more. */
const SIDES = 20;

function Sides({ title, entries, book, unknown }: {
  readonly title: string;
  readonly entries: readonly Side[];
  readonly book: AssetBook | undefined;
  readonly unknown: string;
}) {
  const [limit, setLimit] = useState(SIDES);
  useEffect(() => setLimit(SIDES), [entries.length]);
  return (
    <section class="sides">
      <h3>{title}</h3>
      <ul class="plain-list">
        {entries.slice(0, limit).map(({ address, amount, assets, derivation_path: own }, i) => (
          <li key={i} class={own ? "own" : ""}>
            <span class="spread">
              {address === undefined
                ? <span class="note">{unknown}</span>
                : <Id value={address} name="address" ends={10} href={explorerAddress(address)} external />}
              {address !== undefined && <AddressLabel address={address} />}
              {own && <Badge tone="good">This wallet</Badge>}
            </span>
            {amount && <Ada lovelace={amount.quantity} />}
            {(assets ?? []).map(({ policy_id, asset_name, quantity }) => (
              <AssetAmount
                key={policy_id + asset_name}
                book={book}
                policy={policy_id}
                name={asset_name}
                quantity={BigInt(quantity)}
              />
            ))}
          </li>
        ))}
      </ul>
      {entries.length > limit && (
        <button type="button" class="small" onClick={() => setLimit(limit + 100)}>
          {`Show more of ${count(entries.length)}`}
        </button>
      )}
    </section>
  );
}
