/** All wallets of the service. */
import { useEffect, useState } from "preact/hooks";
import { Ada, count } from "../kit/amounts.tsx";
import { Loaded, useData } from "../kit/data.tsx";
import { shortId } from "../kit/Id.tsx";
import { Badge, Heading, Panel, Stat, Stats } from "../kit/parts.tsx";
import { hrefOf, setQuery, type ViewProps } from "../kit/router.ts";
import { Search } from "../kit/Search.tsx";
import { Empty } from "../kit/states.tsx";
import { Table } from "../kit/Table.tsx";
import { delegationText, KIND_NAMES, readWallets, type WalletSummary } from "./service.ts";
import { walletPath } from "./paths.ts";

/** Milliseconds between two reads of all wallets, and of many. */
const EVERY_MS = { few: 5_000, many: 20_000 };
/** Wallets from which on reading all of them takes a while. */
const MANY = 200;
const byName = new Intl.Collator();

export function WalletList({ query }: ViewProps) {
  const [pace, setPace] = useState<keyof typeof EVERY_MS>("few");
  const data = useData(readWallets, [pace], { everyMs: EVERY_MS[pace], keep: true });
  useEffect(() => {
    if ((data.value?.length ?? 0) >= MANY) setPace("many");
  }, [data.value]);
  const wanted = query.get("q") ?? "";
  return (
    <>
      <Heading
        title="Wallets"
        aside={data.value?.length === 0 ? undefined : (
          <>
            <a class="button primary" href={hrefOf("/new/create")}>Create a wallet</a>
            <a class="button" href={hrefOf("/new")}>Restore or add…</a>
          </>
        )}
      >
        Wallets
      </Heading>
      <Loaded data={data} rows={6}>
        {(wallets) => wallets.length === 0 ? <Welcome /> : <Wallets wallets={wallets} wanted={wanted} />}
      </Loaded>
    </>
  );
}

/** What a new user sees first. */
function Welcome() {
  return (
    <div class="panel">
      <Empty title="This service has no wallets yet">
        <p>
          A wallet holds ada and tokens. A new one comes with a recovery phrase of 24 words: with it, and with nothing
          else, the wallet can be restored.
        </p>
        <p class="buttons middle">
          <a class="button primary" href={hrefOf("/new/create")}>Create a wallet</a>
          <a class="button" href={hrefOf("/new")}>Restore or add…</a>
        </p>
      </Empty>
    </div>
  );
}

function Wallets({ wallets, wanted }: { readonly wallets: readonly WalletSummary[]; readonly wanted: string }) {
  const text = wanted.toLowerCase();
  const shown = text === ""
    ? wallets
    : wallets.filter(({ name, id }) => name.toLowerCase().includes(text) || id.startsWith(text));
  const total = wallets.reduce((sum, wallet) => sum + wallet.total, 0n);
  const syncing = wallets.filter(({ status }) => status === "syncing").length;
  return (
    <>
      <Stats>
        <Stat name="In all wallets">
          <Ada lovelace={total} />
        </Stat>
        <Stat name="Wallets" note={syncing > 0 ? `${count(syncing)} still syncing` : undefined}>
          {count(wallets.length)}
        </Stat>
      </Stats>
      <Panel
        title="All wallets"
        aside={
          <Search
            label="Search wallets"
            placeholder="Name or id"
            value={wanted}
            onSearch={(q) => setQuery({ q })}
          />
        }
      >
        <Table
          caption="Wallets"
          rows={shown}
          pageSize={25}
          keyOf={({ prefix, id }) => `${prefix}/${id}`}
          empty={
            <Empty title="No wallet has this name or id">
              <p>The search finds parts of names, and beginnings of ids.</p>
            </Empty>
          }
          columns={[
            {
              title: "Name",
              compare: (a, b) => byName.compare(a.name, b.name),
              cell: (wallet) => (
                <span class="wallet-name">
                  <a href={hrefOf(walletPath(wallet))}>
                    <bdi>{wallet.name}</bdi>
                  </a>
                  <span class="note mono">{shortId(wallet.id, 4)}</span>
                </span>
              ),
            },
            { title: "Kind", cell: (wallet) => <Kind wallet={wallet} /> },
            {
              title: "Total",
              align: "right",
              compare: (a, b) => a.total < b.total ? -1 : a.total > b.total ? 1 : 0,
              cell: ({ status, total }) => status === "incomplete" ? "–" : <Ada lovelace={total} />,
            },
            {
              title: "Tokens",
              align: "right",
              compare: (a, b) => a.assets.length - b.assets.length,
              cell: ({ assets }) => count(assets.length),
            },
            { title: "Delegation", cell: ({ delegation }) => delegationText(delegation) },
            { title: "State", cell: (wallet) => <State wallet={wallet} /> },
          ]}
        />
      </Panel>
    </>
  );
}

/** The kind of a wallet, and whether it can sign. */
export function Kind({ wallet: { prefix, signs, discovery } }: { readonly wallet: WalletSummary }) {
  const watches = !signs && discovery !== "random";
  return (
    <span class="badges">
      <Badge>{KIND_NAMES[prefix]}</Badge>
      {watches && <Badge tone="warn" title="Its keys are elsewhere: it cannot sign here">Watch-only</Badge>}
    </span>
  );
}

/** How far a wallet is read. */
export function State({ wallet: { status, progress } }: { readonly wallet: WalletSummary }) {
  switch (status) {
    case "ready":
      return <Badge tone="good">Ready</Badge>;
    case "syncing":
      return <Badge tone="warn">{progress === undefined ? "Syncing" : `Syncing ${Math.floor(progress)}%`}</Badge>;
    case "incomplete":
      return <Badge tone="warn">Waits for owners</Badge>;
    default:
      return <Badge tone="bad">Not responding</Badge>;
  }
}
