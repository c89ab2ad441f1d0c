// deno-lint-ignore-file jsx-key -- the pairs of Facts are no lists of elements
/** The history of a wallet: its transactions with filters, those that arrive, and one of them in detail. */
import type { SeenTransaction } from "#src/client/wallets.ts";
import { useEffect, useState } from "preact/hooks";
import { parseAddress } from "#src/cardano/address.ts";
import { Ada, count } from "../kit/amounts.tsx";
import { Loaded, useData, usePages } from "../kit/data.tsx";
import { confirm } from "../kit/Dialog.tsx";
import { SelectField } from "../kit/forms.tsx";
import { Id } from "../kit/Id.tsx";
import { Badge, Facts, Panel } from "../kit/parts.tsx";
import { go, hrefOf, setQuery } from "../kit/router.ts";
import { Search } from "../kit/Search.tsx";
import { Empty } from "../kit/states.tsx";
import { Pager } from "../kit/Table.tsx";
import { DateTime } from "../kit/time.tsx";
import { toast } from "../kit/toast.tsx";
import { JsonTree } from "../kit/values.tsx";
import { AssetAmount, type AssetBook, useAssets } from "./assets.tsx";
import { explorerAddress, explorerTx } from "./devnet.ts";
import { Change, TransactionStatus, TransactionTable } from "./historyTable.tsx";
import { networkId, pendingText } from "./network.tsx";
import { walletPath } from "./paths.ts";
import { read, readPage, send, type Transaction, type WalletSummary } from "./service.ts";
import { matchingPage, messageOf, PAGE, purposeOf } from "./transactions.ts";
import type { WalletTab } from "./tab.ts";

const EVERY_MS = 3_000;
const SEARCH_MS = 15_000;

export function History({ wallet, item, query }: WalletTab) {
  const book = useAssets(wallet);
  if (item !== undefined) return <OneTransaction wallet={wallet} hash={item} book={book.value} />;
  return <List wallet={wallet} book={book.value} query={query} />;
}

const DIRECTIONS = ["incoming", "outgoing"] as const;
const SHOWN = ["pending", "in_ledger", "expired"] as const;

function List({ wallet, book, query }: {
  readonly wallet: WalletSummary;
  readonly book: AssetBook | undefined;
  readonly query: URLSearchParams;
}) {
  const { prefix, id } = wallet;
  const direction = DIRECTIONS.find((one) => one === query.get("direction"));
  const status = SHOWN.find((one) => one === query.get("status"));
  const text = query.get("q") ?? "";
  const [from, to] = [dayIn(query.get("from")), dayIn(query.get("to"))];
  // the service finds a whole address; parts of texts are looked for here
  const whole = parseAddress(text.trim(), networkId());
  const address = whole.ok && whole.value.kind !== "reward" ? text.trim() : undefined;
  const filtered = [direction ?? "", status ?? "", text, from, to].some((one) => one !== "");
  const pages = usePages(
    (cursor, signal) =>
      matchingPage(
        (after) =>
          readPage<Transaction>(`/${prefix}/${id}/transactions`, {
            limit: PAGE,
            after,
            direction,
            status,
            address,
            start: from === "" ? undefined : startOf(from),
            end: to === "" ? undefined : endOf(to),
          }, signal),
        address === undefined ? text : "",
        cursor,
      ),
    ({ after }) => after,
    [prefix, id, direction, status, text, from, to],
    // a search may read many pages
    { everyMs: text === "" || address !== undefined ? EVERY_MS : SEARCH_MS },
  );
  return (
    <>
      <Arriving wallet={wallet} book={book} listed={pages.data.value?.entries ?? []} />
      <Panel title="Transactions">
        <div class="filter">
          <SelectField
            label="Direction"
            value={direction ?? ""}
            onChange={(wanted) => setQuery({ direction: wanted })}
            options={[["", "Both"], ["incoming", "Received"], ["outgoing", "Sent"]]}
          />
          <SelectField
            label="Status"
            value={status ?? ""}
            onChange={(wanted) => setQuery({ status: wanted })}
            options={[["", "Any"], ["pending", "Pending"], ["in_ledger", "In the ledger"], ["expired", "Expired"]]}
          />
          <DateField label="From" value={from} onChange={(day) => setQuery({ from: day })} />
          <DateField label="To" value={to} onChange={(day) => setQuery({ to: day })} />
          <div class="grow">
            <Search
              label="Search transactions"
              placeholder="Id, address or token"
              value={text}
              onSearch={(q) => setQuery({ q })}
            />
          </div>
        </div>
        <Loaded data={pages.data} rows={6}>
          {({ entries, after }) => (
            <>
              {entries.length > 0
                ? <TransactionTable transactions={entries} wallet={wallet} book={book} />
                : filtered
                ? (
                  <Empty title={after === undefined ? "No transaction matches" : "None of these transactions match"}>
                    <p>
                      {after !== undefined && "There are older ones: look on the next page. "}
                      <a href={hrefOf(walletPath(wallet, "history"))}>Show all transactions</a>
                    </p>
                  </Empty>
                )
                : (
                  <Empty title="No transactions yet">
                    <p>
                      Payments appear here as soon as the network knows of them.{" "}
                      <a href={hrefOf(walletPath(wallet, "receive"))}>Receive ada</a>
                    </p>
                  </Empty>
                )}
              <Pager
                label="Transactions"
                {...(pages.previous ?? pages.next ? { text: `Page ${count(pages.page + 1)}` } : {})}
                previous={pages.previous}
                next={pages.next}
              />
            </>
          )}
        </Loaded>
      </Panel>
    </>
  );
}

const dayIn = (text: string | null): string => text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text) ? text : "";
/** The first and the last moment of a local day, in ISO 8601. */
const startOf = (day: string) => new Date(`${day}T00:00:00`).toISOString();
const endOf = (day: string) => new Date(`${day}T23:59:59.999`).toISOString();

function DateField({ label, value, onChange }: {
  readonly label: string;
  readonly value: string;
  readonly onChange: (day: string) => void;
}) {
  return (
    <label class="field">
      <span>{label}</span>
      <input type="date" value={value} onChange={(event) => onChange(event.currentTarget.value)} />
    </label>
  );
}

/** Payments of the network's mempool that no block holds yet and the wallet did not send itself. */
function Arriving({ wallet, book, listed }: {
  readonly wallet: WalletSummary;
  readonly book: AssetBook | undefined;
  readonly listed: readonly Transaction[];
}) {
  const { prefix, id } = wallet;
  const seen = useData(
    (signal) => read<SeenTransaction[]>(`/${prefix}/${id}/transactions-seen`, { limit: 50 }, signal),
    [prefix, id],
    { everyMs: EVERY_MS },
  );
  const known = new Set(listed.map((one) => one.id));
  const arriving = (seen.value ?? []).filter((one) => !known.has(one.id));
  if (arriving.length === 0) return null;
  return (
    <Panel title="Not in a block yet">
      <ul class="plain-list">
        {arriving.map((one) => (
          <li key={one.id} class="spread">
            <span class={`changes ${one.direction}`}>
              <Ada lovelace={(one.direction === "incoming" ? 1n : -1n) * BigInt(one.amount.quantity)} signed />
              {one.assets.slice(0, 3).map(({ policy_id, asset_name, quantity }) => (
                <AssetAmount
                  key={policy_id + asset_name}
                  book={book}
                  policy={policy_id}
                  name={asset_name}
                  quantity={BigInt(quantity)}
                  signed
                />
              ))}
            </span>
            <Badge tone="warn">{one.direction === "incoming" ? "Arriving" : "Leaving"}</Badge>
            <Id value={one.id} name="transaction id" />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function OneTransaction({ wallet, hash, book }: {
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
        {(one) => <Details transaction={one} wallet={wallet} book={book} reload={data.reload} />}
      </Loaded>
    </Panel>
  );
}

function Details({ transaction: one, wallet, book }: {
  readonly transaction: Transaction;
  readonly wallet: WalletSummary;
  readonly book: AssetBook | undefined;
  readonly reload: () => Promise<void>;
}) {
  const { status, fee, deposit_taken: taken, deposit_returned: returned, withdrawals } = one;
  const sum = (amounts: readonly { readonly amount: { readonly quantity: number | bigint } }[]) =>
    amounts.reduce((total, { amount }) => total + BigInt(amount.quantity), 0n);
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
