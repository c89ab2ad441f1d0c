/** What a wallet holds, and what happened to it last. */
import { Ada, Amount, count } from "../kit/amounts.tsx";
import { Loaded, useData } from "../kit/data.tsx";
import { Id } from "../kit/Id.tsx";
import { Panel, Stat, Stats } from "../kit/parts.tsx";
import { hrefOf } from "../kit/router.ts";
import { Search } from "../kit/Search.tsx";
import { Empty } from "../kit/states.tsx";
import { Table } from "../kit/Table.tsx";
import { useState } from "preact/hooks";
import { type AssetBook, assetKey, decimalsOf, titleOf, useAssets } from "./assets.tsx";
import { explorerAsset } from "./devnet.ts";
import { TransactionTable } from "./historyTable.tsx";
import { walletPath } from "./paths.ts";
import { type AssetQuantity, readPage, type Transaction } from "./service.ts";
import type { WalletTab } from "./tab.ts";

const EVERY_MS = 4_000;
/** Transactions on the overview. */
const LATEST = 5;
/** Pages of the history that are read for the deposit. */
const MOST_PAGES = 10;
/** Tokens from which on they can be searched. */
const MANY = 10;

export function Overview({ wallet }: WalletTab) {
  const { prefix, id, available, reward, total, assets } = wallet;
  const book = useAssets(wallet);
  const latest = useData(
    (signal) => readPage<Transaction>(`/${prefix}/${id}/transactions`, { limit: LATEST }, signal),
    // a balance that has changed means another transaction
    [prefix, id, total, available],
    { everyMs: EVERY_MS, keep: true },
  );
  const delegating = wallet.delegation !== undefined &&
    [wallet.delegation.active, ...wallet.delegation.next].at(-1)?.status !== "not_delegating";
  const locked = total - available - reward;
  return (
    <>
      <Stats>
        <Stat name="Total" note={locked === 0n ? undefined : "includes change of pending transactions"}>
          <Ada lovelace={total} />
        </Stat>
        <Stat name="Available to send">
          <Ada lovelace={available} />
        </Stat>
        {prefix !== "byron-wallets" && (
          <Stat
            name="Rewards"
            note={reward > 0n
              ? <a href={hrefOf(walletPath(wallet, "staking"))}>Withdraw</a>
              : delegating
              ? "paid at the end of epochs"
              : <a href={hrefOf(walletPath(wallet, "staking"))}>Earn rewards</a>}
          >
            <Ada lovelace={reward} />
          </Stat>
        )}
        {delegating && <Deposit prefix={prefix} id={id} />}
      </Stats>
      {wallet.status === "syncing" && (
        <p class="alert info" role="status">
          The wallet is still being read from the chain: balances and history grow until it is ready.
        </p>
      )}
      {assets.length > 0 && (
        <Panel title="Tokens" aside={<span class="note">{count(assets.length)}</span>}>
          <Assets assets={assets} book={book.value} wallet={wallet} />
        </Panel>
      )}
      <Panel
        title="Latest transactions"
        aside={<a href={hrefOf(walletPath(wallet, "history"))}>All transactions</a>}
      >
        <Loaded data={latest} rows={LATEST}>
          {({ entries }) =>
            entries.length === 0
              ? (
                <Empty title="No transactions yet">
                  <p>
                    To fill the wallet, send ada to one of its addresses under{" "}
                    <a href={hrefOf(walletPath(wallet, "receive"))}>Receive</a>.
                  </p>
                </Empty>
              )
              : <TransactionTable transactions={entries} wallet={wallet} book={book.value} />}
        </Loaded>
      </Panel>
    </>
  );
}

/** The deposit of a registered stake key, which comes back when the wallet stops delegating. */
function Deposit({ prefix, id }: { readonly prefix: string; readonly id: string }) {
  // the service names deposits where they are paid: in the wallet's own history
  const paid = useData(async (signal) => {
    let sum = 0n;
    let after: string | undefined;
    for (let i = 0; i < MOST_PAGES; i++) {
      const page = await readPage<Transaction>(`/${prefix}/${id}/transactions`, { limit: 500, after }, signal);
      for (const { status, deposit_taken: taken, deposit_returned: returned } of page.entries) {
        if (status === "in_ledger") sum += BigInt(taken.quantity) - BigInt(returned.quantity);
      }
      after = page.after;
      if (after === undefined) return sum;
    }
    return undefined;
  }, [prefix, id]);
  if (paid.value === undefined || paid.value <= 0n) return null;
  return (
    <Stat name="Deposit" note="returned when it stops delegating">
      <Ada lovelace={paid.value} />
    </Stat>
  );
}

function Assets({ assets, book, wallet }: {
  readonly assets: readonly AssetQuantity[];
  readonly book: AssetBook | undefined;
  readonly wallet: WalletTab["wallet"];
}) {
  const [text, setText] = useState("");
  const rows = assets.map((asset) => {
    const { policy_id: policy, asset_name: name } = asset;
    const known = book?.get(assetKey(asset));
    return { ...asset, title: titleOf(book, policy, name), fingerprint: known?.fingerprint, known };
  });
  const room = Math.max(0, ...assets.map((one) => decimalsOf(book, one.policy_id, one.asset_name)));
  const wanted = text.toLowerCase();
  const shown = wanted === ""
    ? rows
    : rows.filter(({ title, fingerprint, policy_id, asset_name, known }) =>
      [title, fingerprint, policy_id + asset_name, known?.metadata?.name].some((one) =>
        one?.toLowerCase().includes(wanted)
      )
    );
  return (
    <>
      {rows.length > MANY && (
        <Search label="Search tokens" placeholder="Name, fingerprint or policy" value={text} onSearch={setText} />
      )}
      <Table
        caption="Tokens"
        rows={shown}
        keyOf={assetKey}
        pageSize={25}
        empty="No token matches."
        columns={[
          {
            title: "Token",
            compare: (a, b) => a.title.localeCompare(b.title),
            cell: ({ title, known }) => (
              <span class="wallet-name">
                <bdi>{title}</bdi>
                {known?.metadata?.name !== undefined && known.metadata.name !== title && (
                  <bdi class="note">{known.metadata.name}</bdi>
                )}
              </span>
            ),
          },
          {
            title: "Quantity",
            align: "right",
            compare: (a, b) => a.quantity < b.quantity ? -1 : a.quantity > b.quantity ? 1 : 0,
            cell: ({ policy_id, asset_name, quantity }) => (
              <Amount amount={quantity} decimals={decimalsOf(book, policy_id, asset_name)} room={room} />
            ),
          },
          {
            title: "Fingerprint",
            cell: (asset) =>
              asset.fingerprint === undefined
                ? "…"
                : <Id value={asset.fingerprint} name="fingerprint" href={explorerAsset(assetKey(asset))} external />,
          },
          { title: "Policy", cell: ({ policy_id }) => <Id value={policy_id} name="policy id" ends={6} /> },
          {
            title: "",
            align: "right",
            cell: (asset) => <a href={hrefOf(`${walletPath(wallet, "send")}?asset=${assetKey(asset)}`)}>Send</a>,
          },
        ]}
      />
    </>
  );
}
