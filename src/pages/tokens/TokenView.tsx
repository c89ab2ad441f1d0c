/// <reference lib="dom" />
/** One token: its facts, open requests and history, with the actions at the side; updated with each block. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { ApiError } from "#src/client/http.ts";
import { count } from "../kit/amounts.tsx";
import { type Data, useData } from "../kit/data.tsx";
import { Id, shortId, SiteLink } from "../kit/Id.tsx";
import { Badge, Heading, Tabs } from "../kit/parts.tsx";
import { hrefOf, pathOf, type ViewProps } from "../kit/router.ts";
import { actorAt } from "../kit/sites.ts";
import { Empty, Failure, Loading } from "../kit/states.tsx";
import { useEvents } from "./events.ts";
import { type EarlyFacts, earlyFacts, FactsPanel } from "./FactsPanel.tsx";
import { HistoryPanel } from "./HistoryPanel.tsx";
import { labels } from "./labels.ts";
import { LabelButton, Tx } from "./parts.tsx";
import { Proven } from "./Proven.tsx";
import { RequestsPanel } from "./RequestsPanel.tsx";
import { get, readConfig, type Timeline, type Token } from "./service.ts";
import { tokenContent } from "./shown.ts";
import { type Draft, LedgerLine, TokenActions } from "./TokenActions.tsx";
import { wallet } from "./wallet.tsx";

/** A token as a view has it: also one that has ended, or is not known. */
type Found =
  | { readonly status: "live"; readonly token: Token; readonly last: Timeline["entries"][number] | undefined }
  | { readonly status: "ended" }
  | { readonly status: "unknown" };

async function read(tokenId: string, signal: AbortSignal): Promise<Found> {
  const configured = readConfig().catch(() => undefined);
  try {
    const [token, { entries: [last] }] = await Promise.all([
      get<Token>(`/token/${tokenId}?requests=false`, signal),
      get<Timeline>(`/token/${tokenId}/timeline?limit=1&encoding=hex`, signal),
      configured,
    ]);
    return { status: "live", token, last };
  } catch (error) {
    if (error instanceof ApiError && error.code === "token_ended") return { status: "ended" };
    if (error instanceof ApiError && error.code === "token_unknown") return { status: "unknown" };
    throw error;
  }
}

export function TokenView({ params, query }: ViewProps) {
  const tokenId = (params.id ?? "").toLowerCase();
  return /^[0-9a-f]{64}$/.test(tokenId) ? <KnownId key={tokenId} tokenId={tokenId} query={query} /> : (
    <>
      <Heading title="No such token">No such token</Heading>
      <Empty title="A token id has 64 hexadecimal digits">
        <a href={hrefOf("/")}>All tokens</a>
      </Empty>
    </>
  );
}

function KnownId({ tokenId, query }: { readonly tokenId: string; readonly query: URLSearchParams }) {
  const data = useData((signal) => read(tokenId, signal), [tokenId]);
  const [early] = useState(() => tabOf(query, LIVE_TABS) === "facts" ? earlyFacts(tokenId, query) : undefined);
  const [version, setVersion] = useState(0);
  const [said, say] = useState("");
  useEvents(tokenId, (says) => {
    if (says !== undefined) say(says);
    void data.reload();
    setVersion((before) => before + 1);
  });
  const label = labels.value[tokenId];
  const { value } = data;
  return (
    <>
      <p class="note crumb">
        <a href={hrefOf("/")}>All tokens</a>
      </p>
      <Heading
        title={label ?? `Token ${shortId(tokenId)}`}
        aside={<LabelButton tokenId={tokenId} />}
      >
        <span class="row">
          {label === undefined ? "Token" : <bdi>{label}</bdi>}
          <Status found={value} />
        </span>
      </Heading>
      <p class="token-id">
        <Id value={tokenId} name="token id" full /> <SiteLink href={actorAt("token", tokenId)}>Actor</SiteLink>
      </p>
      <p class="sr" role="status">{said}</p>
      <Body tokenId={tokenId} data={data} version={version} query={query} early={early} />
    </>
  );
}

function Status({ found }: { readonly found: Found | undefined }) {
  if (found === undefined) return null;
  if (found.status === "unknown") return <Badge tone="warn">not on the ledger</Badge>;
  if (found.status === "ended") return <Badge>ended</Badge>;
  const { status, owner } = found.token;
  return (
    <>
      <Badge tone={status === "live" ? "good" : "bad"}>{status}</Badge>
      {owner === wallet.value?.key && <Badge tone="good">yours</Badge>}
    </>
  );
}

function Body({ tokenId, data, version, query, early }: {
  readonly tokenId: string;
  readonly data: Data<Found>;
  readonly version: number;
  readonly query: URLSearchParams;
  readonly early: EarlyFacts | undefined;
}) {
  const { value, error, reload } = data;
  const [draft, setDraft] = useState<Draft>();
  useEffect(() => {
    if (draft) document.getElementById("request-change")?.scrollIntoView({ block: "nearest" });
  }, [draft]);
  if (value === undefined) {
    return error === undefined ? <Loading rows={6} /> : <Failure error={error} retry={reload} />;
  }
  if (value.status === "unknown") {
    return (
      <Empty title="No such token on the ledger">
        A token that was booted a moment ago appears here with its block. <a href={hrefOf("/")}>All tokens</a>
      </Empty>
    );
  }
  const failure = error === undefined ? null : <Failure error={error} retry={reload} stale />;
  const panels = { tokenId, version, query };
  if (value.status === "ended") {
    const tab = tabOf(query, ["history", "requests"]);
    return (
      <>
        {failure}
        <p class="alert info">The token has ended: it has no facts any more. Open requests can still be taken back.</p>
        <TabRow tokenId={tokenId} tabs={[["history", "History"], ["requests", "Open requests"]]} current={tab} />
        {tab === "history" ? <HistoryPanel {...panels} /> : <RequestsPanel {...panels} owner={undefined} />}
      </>
    );
  }
  const { token, last } = value;
  const tab = tabOf(query, LIVE_TABS);
  const { counts } = token;
  return (
    <>
      {failure}
      {token.status === "quarantined" && (
        <p class="alert">
          The token is in quarantine: its facts are not verified against its root, so this service does not show them.
          {token.reason === undefined ? "" : ` Reason: ${token.reason}.`}
        </p>
      )}
      <Pending token={token} />
      <LedgerLine token={token} lastSlot={last?.slot} />
      <TokenActions token={token} draft={draft} />
      <ProvenState token={token} reload={reload} />
      <TabRow
        tokenId={tokenId}
        tabs={[
          ["facts", "Facts", counts.facts],
          ["requests", "Open requests", counts.requests],
          ["history", "History"],
        ]}
        current={tab}
      />
      {tab === "facts"
        ? (
          <FactsPanel
            token={token}
            version={version}
            query={query}
            early={early}
            reload={reload}
            onDraft={setDraft}
          />
        )
        : tab === "requests"
        ? <RequestsPanel {...panels} owner={token.owner} />
        : <HistoryPanel {...panels} />}
    </>
  );
}

function ProvenState({ token, reload }: { readonly token: Token; readonly reload: () => Promise<void> }) {
  const { tokenId } = token;
  const content = tokenContent(token);
  const shown = useMemo(() => ({ items: new Map([[tokenId, content]]), total: 1 }), [content]);
  return <Proven subject={{ kind: "state", tokenId }} shown={shown} reload={reload} />;
}

/** Tabs of a token that lives. */
const LIVE_TABS = ["facts", "requests", "history"] as const;

/** The tab that the address names, else the first. */
function tabOf<T extends string>(query: URLSearchParams, tabs: readonly [T, ...(readonly T[])]): T {
  return tabs.find((one) => one === query.get("tab")) ?? tabs[0];
}

function TabRow({ tokenId, tabs, current }: {
  readonly tokenId: string;
  readonly tabs: readonly (readonly [id: string, name: string, n?: number])[];
  readonly current: string;
}) {
  return (
    <Tabs
      label="Parts of the token"
      current={current}
      tabs={tabs.map(([id, name, n], i) => ({
        id,
        name: (
          <>
            {name}
            {n !== undefined && (
              <>
                {" "}
                <span class="tab-count">{count(n)}</span>
              </>
            )}
          </>
        ),
        href: hrefOf(pathOf("token", tokenId) + (i === 0 ? "" : `?tab=${id}`)),
      }))}
    />
  );
}

/** What was submitted and is in no block. */
function Pending({ token: { pending } }: { readonly token: Token }) {
  if (pending === undefined) return null;
  const { transactions, conflict, status } = pending;
  const n = transactions.length;
  return (
    <div class={conflict ? "alert warn" : "alert info"} role="status">
      <p>
        {conflict
          ? "Two submitted transactions exclude each other: nothing can follow them before a block decides."
          : `${n === 1 ? "A submitted transaction waits" : `${n} submitted transactions wait`} for a block${
            status === "ended" ? ", and will end the token" : ""
          }.`}
      </p>
      <span class="row">
        {(conflict ?? transactions.slice(0, 5)).map((hash) => <Tx key={hash} hash={hash} />)}
        {!conflict && n > 5 && `and ${n - 5} more`}
      </span>
    </div>
  );
}
