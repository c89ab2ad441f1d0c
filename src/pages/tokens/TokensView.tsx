/// <reference lib="dom" />
/** All tokens that are alive, and booting one. */
import { useMemo } from "preact/hooks";
import { count } from "../kit/amounts.tsx";
import { Loaded, useData } from "../kit/data.tsx";
import { Id } from "../kit/Id.tsx";
import { Badge, Choice, Heading, Panel } from "../kit/parts.tsx";
import { hrefOf, pathOf, setQuery, type ViewProps } from "../kit/router.ts";
import { Search } from "../kit/Search.tsx";
import { Empty } from "../kit/states.tsx";
import { type Column, Table } from "../kit/Table.tsx";
import { boot } from "./actions.tsx";
import { labels } from "./labels.ts";
import { SlotAgo } from "./parts.tsx";
import { Proven } from "./Proven.tsx";
import { getTokens, readConfig, type TokenLine, type Tokens } from "./service.ts";
import { tokenContent } from "./shown.ts";
import { wallet } from "./wallet.tsx";

const EVERY_MS = 4_000;

const columns: readonly Column<TokenLine>[] = [
  {
    title: "Token",
    cell: ({ tokenId, status }) => {
      const label = labels.value[tokenId];
      return (
        <span class="token-name">
          {label !== undefined && <a class="label" href={hrefOf(pathOf("token", tokenId))}>{label}</a>}
          <Id value={tokenId} href={hrefOf(pathOf("token", tokenId))} name="token id" />
          {status === "quarantined" && <Badge tone="bad">quarantined</Badge>}
        </span>
      );
    },
  },
  {
    title: "Owner",
    cell: ({ owner }) => (
      <span class="row">
        <Id value={owner} name="owner's key hash" ends={4} />
        {owner === wallet.value?.key && <Badge tone="good">yours</Badge>}
      </span>
    ),
  },
  {
    title: "Facts",
    align: "right",
    cell: ({ counts }) => count(counts.facts),
    compare: (a, b) => a.counts.facts - b.counts.facts,
  },
  {
    title: "Open requests",
    align: "right",
    cell: ({ counts }) => counts.requests > 0 ? <Badge tone="warn">{count(counts.requests)}</Badge> : "0",
    compare: (a, b) => a.counts.requests - b.counts.requests,
  },
  {
    title: "Last change",
    align: "right",
    cell: ({ changed }) => <SlotAgo slot={changed.slot} />,
    compare: (a, b) => a.changed.slot - b.changed.slot,
  },
  {
    title: "Created",
    align: "right",
    cell: ({ booted }) => <SlotAgo slot={booted.slot} />,
    compare: (a, b) => a.booted.slot - b.booted.slot,
  },
];

/** The newest token first: its place does not change with updates. */
const byAge = (a: TokenLine, b: TokenLine) =>
  b.booted.slot - a.booted.slot || (a.tokenId < b.tokenId ? -1 : a.tokenId > b.tokenId ? 1 : 0);

export function TokensView({ query }: ViewProps) {
  const data = useData(
    async (signal) => {
      const [all] = await Promise.all([getTokens(signal), readConfig().catch(() => undefined)]);
      return { ...all, tokens: [...all.tokens].sort(byAge) };
    },
    [],
    { everyMs: EVERY_MS },
  );
  const search = query.get("search") ?? "";
  const mine = query.get("show") === "yours";
  const tokens = data.value?.tokens;
  const shown = useMemo(
    () => tokens && { items: new Map(tokens.map((one) => [one.tokenId, tokenContent(one)])), total: tokens.length },
    [tokens],
  );
  return (
    <>
      <Heading
        title="Tokens"
        aside={<button type="button" class="primary" onClick={() => void boot()}>Boot a token</button>}
      >
        Tokens
      </Heading>
      <About />
      <Panel title="Live tokens">
        <div class="filter">
          <Search
            label="Search"
            placeholder="Label, token id or owner's key hash"
            value={search}
            delayMs={100}
            onSearch={(text) => setQuery({ search: text })}
          />
          <Choice
            label="Which tokens"
            options={[["all", "All"], ["yours", "Yours"]]}
            value={mine ? "yours" : "all"}
            onChange={(which) => setQuery({ show: which === "yours" ? which : undefined })}
          />
        </div>
        {shown && <Proven subject={{ kind: "tokens" }} shown={shown} reload={data.reload} />}
        <Loaded data={data} rows={6}>{(all) => <TokenTable all={all} search={search} mine={mine} />}</Loaded>
      </Panel>
    </>
  );
}

function TokenTable({ all, search, mine }: { readonly all: Tokens; readonly search: string; readonly mine: boolean }) {
  const key = wallet.value?.key;
  const named = labels.value;
  const fitting = useMemo(() => {
    const wanted = search.toLowerCase();
    return all.tokens.filter(({ tokenId, owner }) =>
      (!mine || owner === key) &&
      (tokenId.startsWith(wanted) || owner.startsWith(wanted) || (named[tokenId] ?? "").toLowerCase().includes(wanted))
    );
  }, [all, search, mine, key, named]);
  const { ready, networkTip, indexerTip } = all.indexerStatus;
  return (
    <>
      {!ready && (
        <p class="alert warn" role="status">
          The index is {count(Math.max(0, networkTip - indexerTip))}{" "}
          slots behind the network: newer changes appear later.
        </p>
      )}
      {all.tokens.length === 0 ? <NoTokens /> : (
        <Table
          caption="Live tokens"
          rows={fitting}
          keyOf={({ tokenId }) => tokenId}
          columns={columns}
          empty={mine && key === undefined
            ? <Empty title="Connect a wallet to see your tokens" />
            : <Empty title="No token matches">Change the search, or show all tokens.</Empty>}
        />
      )}
    </>
  );
}

/** What the page is about. */
function About() {
  return (
    <div class="about">
      <section>
        <h2>Token</h2>
        <p>
          A token is on the ledger and has one owner. It holds facts under one root, so that everybody can verify a fact
          without trust in this service.
        </p>
      </section>
      <section>
        <h2>Fact</h2>
        <p>
          A fact is a value under a key, in text or bytes. Its proof leads to the token's root on the ledger; a proof
          can also say that a key has no value.
        </p>
      </section>
      <section>
        <h2>Request</h2>
        <p>
          A request to insert, update or delete a fact locks a deposit on the ledger. The owner applies or refuses it,
          or the requester takes it back; then the deposit returns.
        </p>
      </section>
      <section>
        <h2>Who signs</h2>
        <p>
          Anyone can boot a token or request a change. The owner signs what applies or refuses requests and what ends
          the token, and with the new owner a transfer.
        </p>
      </section>
    </div>
  );
}

function NoTokens() {
  return (
    <Empty title="No tokens yet">
      <p>To make the first one:</p>
      <ol class="numbered">
        <li>Connect a wallet that has some ada.</li>
        <li>Boot a token: you own it.</li>
        <li>Open it, request a fact, and apply the request.</li>
      </ol>
    </Empty>
  );
}
