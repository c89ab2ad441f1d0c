/// <reference lib="dom" />
/** A wallet: its name and state, and its views as tabs. */
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Loaded, useData } from "../kit/data.tsx";
import { Id, SiteLink } from "../kit/Id.tsx";
import { Heading, lazy, Tabs } from "../kit/parts.tsx";
import { hrefOf, type ViewProps } from "../kit/router.ts";
import { actorAt } from "../kit/sites.ts";
import { Empty, Failure } from "../kit/states.tsx";
import { Kind, State } from "./list.tsx";
import { Overview } from "./overview.tsx";
import { walletPath } from "./paths.ts";
import { type Prefix, PREFIXES, readWallet, recentWallet } from "./service.ts";
import type { WalletTab } from "./tab.ts";

const EVERY_MS = 3_000;

interface TabDefinition {
  readonly id: string;
  readonly name: string;
  /** The tab that it is a view of, and what it is called there; a tab of its own where undefined. */
  readonly group?: string;
  readonly kinds: readonly Prefix[];
  readonly view: ComponentType<WalletTab>;
  /** Whether an incomplete shared wallet has it. */
  readonly incomplete?: boolean;
  /** Whether it needs keys that the service has. */
  readonly signs?: boolean;
}

const STAKED: readonly Prefix[] = ["wallets", "shared-wallets"];

const TABS: readonly TabDefinition[] = [
  { id: "overview", name: "Overview", kinds: PREFIXES, view: Overview },
  {
    id: "owners",
    name: "Owners",
    kinds: ["shared-wallets"],
    incomplete: true,
    view: lazy(() => import("./tabs.ts").then(({ Owners }) => Owners)),
  },
  { id: "send", name: "Send", kinds: PREFIXES, view: lazy(() => import("./tabs.ts").then(({ Send }) => Send)) },
  {
    id: "receive",
    name: "Receive",
    kinds: PREFIXES,
    view: lazy(() => import("./tabs.ts").then(({ Receive }) => Receive)),
  },
  {
    id: "history",
    name: "History",
    kinds: PREFIXES,
    view: lazy(() => import("./tabs.ts").then(({ History }) => History)),
  },
  {
    id: "staking",
    name: "Staking",
    kinds: STAKED,
    view: lazy(() => import("./tabs.ts").then(({ Staking }) => Staking)),
  },
  {
    id: "voting",
    name: "Voting",
    group: "staking",
    kinds: STAKED,
    view: lazy(() => import("./tabs.ts").then(({ Voting }) => Voting)),
  },
  {
    id: "mint",
    name: "Mint",
    group: "send",
    kinds: ["wallets"],
    signs: true,
    view: lazy(() => import("./tabs.ts").then(({ Mint }) => Mint)),
  },
  {
    id: "sign",
    name: "Sign",
    group: "send",
    kinds: STAKED,
    view: lazy(() => import("./tabs.ts").then(({ Cosign }) => Cosign)),
  },
  {
    id: "move",
    name: "Move all",
    group: "send",
    kinds: ["wallets", "byron-wallets"],
    signs: true,
    view: lazy(() => import("./tabs.ts").then(({ Migrate }) => Migrate)),
  },
  {
    id: "settings",
    name: "Settings",
    kinds: PREFIXES,
    incomplete: true,
    view: lazy(() => import("./tabs.ts").then(({ Settings }) => Settings)),
  },
];

export function WalletView({ params, query }: ViewProps) {
  const prefix = PREFIXES.find((one) => one === params.prefix);
  const { id = "" } = params;
  if (prefix === undefined || !/^[0-9a-f]{40}$/.test(id)) {
    return (
      <>
        <Heading title="No such wallet">No such wallet</Heading>
        <p>
          <a href={hrefOf("/")}>To the list of wallets</a>
        </p>
      </>
    );
  }
  return (
    <OneWallet
      key={`${prefix}/${id}`}
      prefix={prefix}
      id={id}
      tab={params.tab}
      item={params.item}
      query={query}
    />
  );
}

function OneWallet({ prefix, id, tab, item, query }: {
  readonly prefix: Prefix;
  readonly id: string;
  readonly tab: string | undefined;
  readonly item: string | undefined;
  readonly query: URLSearchParams;
}) {
  const data = useData((signal) => readWallet(prefix, id, signal), [prefix, id], { everyMs: EVERY_MS });
  const wallet = data.value ?? (data.error === undefined ? recentWallet(prefix, id) : undefined);
  const ready = wallet !== undefined;
  // a view that shows the result of what was done starts again when its tab is pressed
  const [visits, setVisits] = useState(0);
  useEffect(() => {
    // on a narrow screen the tabs are wider than the page
    document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [tab, ready]);
  if (wallet === undefined) {
    return (
      <>
        <Heading title="Wallet">Wallet</Heading>
        <Loaded data={data} rows={6}>{() => null}</Loaded>
      </>
    );
  }
  // a random wallet's passphrase may be empty: then it signs without one
  const signs = wallet.signs || wallet.discovery === "random";
  const tabs = TABS.filter((one) =>
    one.kinds.includes(prefix) && (one.incomplete || wallet.status !== "incomplete") && (signs || !one.signs)
  );
  const current = tabs.find((one) => one.id === (tab ?? tabs[0]?.id));
  const Shown = current?.view;
  const group = current?.group ?? current?.id ?? "";
  const beside = tabs.filter((one) => (one.group ?? one.id) === group);
  const linkOf = ({ id, name }: TabDefinition) => ({ id, name, href: hrefOf(walletPath(wallet, id)) });
  return (
    <>
      <Heading
        title={current && current.id !== "overview" ? `${current.name} · ${wallet.name}` : wallet.name}
        aside={
          <span class="badges">
            <State wallet={wallet} />
            <Kind wallet={wallet} />
            <Id value={wallet.id} name="wallet id" ends={6} />
            <SiteLink href={actorAt(prefix === "shared-wallets" ? "shared-wallet" : "wallet", wallet.id)}>
              Actor
            </SiteLink>
          </span>
        }
      >
        <bdi>{wallet.name}</bdi>
      </Heading>
      <Tabs
        label="Views of the wallet"
        current={group}
        {
          // from another view of its group, the tab opens the first one
          ...(current?.id === group ? { again: () => setVisits(visits + 1) } : {})
        }
        tabs={tabs.filter((one) => one.group === undefined).map(linkOf)}
      />
      {beside.length > 1 && (
        <div class="subtabs">
          <Tabs
            label={`Views of ${tabs.find(({ id }) => id === group)?.name ?? group}`}
            current={current?.id ?? ""}
            again={() => setVisits(visits + 1)}
            tabs={beside.map((one) => one.id === "send" ? { ...linkOf(one), name: "Payment" } : linkOf(one))}
          />
        </div>
      )}
      {data.error !== undefined && <Failure error={data.error} retry={data.reload} stale />}
      {wallet.status === "not_responding" && (
        <p class="alert warn" role="status">
          This wallet does not respond: an operator of the service has paused it, or its worker is away. What you see
          may be out of date, and it signs nothing until it responds again.
        </p>
      )}
      <div class="column">
        {Shown
          ? <Shown key={`${current.id} ${visits}`} wallet={wallet} reload={data.reload} item={item} query={query} />
          : <Empty title="This wallet has no such view" />}
      </div>
    </>
  );
}
