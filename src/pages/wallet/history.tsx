/** The history of a wallet: its transactions with filters, those that arrive, and one of them in detail. */
import type { Query } from "#src/client/http.ts";
import type { SeenTransaction } from "#src/client/wallets.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { Ada, count } from "../kit/amounts.tsx";
import { Loaded, useData, usePages } from "../kit/data.tsx";
import { SelectField } from "../kit/forms.tsx";
import { Id } from "../kit/Id.tsx";
import { Action, Badge, Panel } from "../kit/parts.tsx";
import { hrefOf, setQuery } from "../kit/router.ts";
import { saveText } from "../kit/save.ts";
import { Search } from "../kit/Search.tsx";
import { Empty } from "../kit/states.tsx";
import { Pager } from "../kit/Table.tsx";
import { AssetAmount, type AssetBook, useAssets } from "./assets.tsx";
import { EVERY_MS, OneTransaction } from "./historyDetails.tsx";
import { TransactionTable } from "./historyTable.tsx";
import { networkId } from "./network.tsx";
import { walletPath } from "./paths.ts";
import { type Page, read, readPage, type Transaction, type WalletSummary } from "./service.ts";
import { matchingPage, PAGE } from "./transactions.ts";
import type { WalletTab } from "./tab.ts";

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
  const start = from === "" ? undefined : startOf(from);
  const end = to === "" ? undefined : endOf(to);
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
            start,
            end,
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
      <Panel title="Transactions" aside={<Download wallet={wallet} query={{ direction, status, start, end }} />}>
        <Filter direction={direction} status={status} text={text} from={from} to={to} />
        <Loaded data={pages.data} rows={6}>
          {({ entries, after }) => (
            <>
              {entries.length > 0
                ? <TransactionTable transactions={entries} wallet={wallet} book={book} />
                : filtered
                ? <NoMatch wallet={wallet} more={after !== undefined} />
                : <NoTransactions wallet={wallet} />}
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

/** Most transactions of a page of the service. */
const WHOLE = 500;

/** Downloads the history as CSV: all its pages, by direction, status and time as they are chosen. */
function Download({ wallet: { prefix, id, name }, query }: { readonly wallet: WalletSummary; readonly query: Query }) {
  return (
    <Action
      small
      run={async () => {
        const { csvOf } = await import("./csv.ts");
        const all: Transaction[] = [];
        for (let after: string | undefined, more = true; more; more = after !== undefined) {
          const page: Page<Transaction> = await readPage(`/${prefix}/${id}/transactions`, {
            ...query,
            "simple-metadata": true,
            limit: WHOLE,
            after,
          });
          all.push(...page.entries);
          after = page.after;
        }
        const file = `${name.replace(/[^\p{L}\p{N}_-]+/gu, "-")}-${new Date().toISOString().slice(0, 10)}.csv`;
        saveText(file, csvOf(all), "text/csv");
      }}
    >
      Download CSV
    </Action>
  );
}

/** A day in the address; empty where it is none, as `2026-02-31`. */
const dayIn = (text: string | null): string =>
  text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : "";
/** The first and the last moment of a local day, in ISO 8601. */
const startOf = (day: string) => new Date(`${day}T00:00:00`).toISOString();
const endOf = (day: string) => new Date(`${day}T23:59:59.999`).toISOString();

function Filter({ direction, status, text, from, to }: {
  readonly direction: string | undefined;
  readonly status: string | undefined;
  readonly text: string;
  readonly from: string;
  readonly to: string;
}) {
  return (
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
  );
}

function NoMatch({ wallet, more }: { readonly wallet: WalletSummary; readonly more: boolean }) {
  return (
    <Empty title={more ? "None of these transactions match" : "No transaction matches"}>
      <p>
        {more && "There are older ones: look on the next page. "}
        <a href={hrefOf(walletPath(wallet, "history"))}>Show all transactions</a>
      </p>
    </Empty>
  );
}

function NoTransactions({ wallet }: { readonly wallet: WalletSummary }) {
  return (
    <Empty title="No transactions yet">
      <p>
        Payments appear here as soon as the network knows of them.{" "}
        <a href={hrefOf(walletPath(wallet, "receive"))}>Receive ada</a>
      </p>
    </Empty>
  );
}

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
