/// <reference lib="dom" />
/** What a text belongs to: an id, hash, address or wallet name. */
import { useEffect } from "preact/hooks";
import { Loaded, useData } from "../kit/data.tsx";
import { Heading } from "../kit/parts.tsx";
import { go, type ViewProps } from "../kit/router.ts";
import { Search } from "../kit/Search.tsx";
import { Empty } from "../kit/states.tsx";
import { type Column, Table } from "../kit/Table.tsx";
import { get } from "./service.ts";
import { ActorLink, actorPage, Settled } from "./shared.tsx";
import type { Search as Found } from "./types.ts";

type Result = Found["results"][number];

const WHY: Readonly<Record<Result["why"], string>> = {
  id: "its id begins with the text",
  name: "its name contains the text",
  owner: "its owner has this address",
  transaction: "this transaction touched it",
  address: "this address is its own",
};

/** Characters of a query that the service takes; no id, address or name of a wallet that is found is longer. */
const LONGEST = 200;

const columns: readonly Column<Result>[] = [
  {
    title: "What",
    cell: ({ kind, id, href }) => <ActorLink kind={kind} id={id} href={href === null ? null : `/ui${href}`} />,
  },
  { title: "Name", cell: ({ id, label }) => label === id ? "" : <bdi>{label}</bdi> },
  { title: "Found because", cell: ({ why }) => WHY[why] },
];

export function SearchView({ query }: ViewProps) {
  const q = (query.get("q") ?? "").trim().slice(0, LONGEST);
  const long = [...q].length > 1;
  const data = useData(
    async (signal) => long ? await get<Found>("/search", signal, { q }) : { results: [], more: false },
    [q],
  );
  // The whole id of one actor: that actor is meant, and it shows what else the text belongs to.
  const exact = data.value?.results.filter(({ why, id }) => why === "id" && id.toLowerCase() === q.toLowerCase()) ?? [];
  const only = exact.length === 1 ? exact[0] : undefined;
  useEffect(() => {
    if (only !== undefined) go(actorPage(only.kind, only.id), true);
  }, [only]);
  return (
    <Settled data={[data]}>
      <Heading title="Search">Search</Heading>
      <div class="panel">
        <Search
          label="Id, hash, address or wallet name"
          value={q}
          delayMs={100}
          onSearch={(text) => text !== q && go(`/ui/search?q=${encodeURIComponent(text)}`, true)}
        />
      </div>
      <div class="panel results">
        <Loaded data={data}>
          {({ results, more }) => (
            <>
              <Table
                caption="What was found"
                rows={results}
                keyOf={({ kind, id }) => `${kind}/${id}`}
                columns={columns}
                empty={<Nothing q={q} />}
              />
              {more && <p class="note">There are more: enter more characters.</p>}
            </>
          )}
        </Loaded>
      </div>
    </Settled>
  );
}

function Nothing({ q }: { readonly q: string }) {
  if (/^[0-9a-f]{64}$/i.test(q)) {
    return (
      <Empty title="This service knows no actor and no transaction of this hash.">
        A transaction is known here if it was submitted through this deployment, or touched one of its tokens or
        wallets. Check the hash; if it was submitted elsewhere, look for it in an explorer.
      </Empty>
    );
  }
  if ([...q].length < 2) {
    return (
      <Empty title="Enter at least two characters.">
        The beginning of an id (four characters or more), the hash of a transaction, a request (hash#index), an address,
        or part of a wallet's name.
      </Empty>
    );
  }
  return (
    <Empty title="Nothing was found.">
      Ids are found by their beginning, addresses and hashes whole, wallets by a part of their names.
    </Empty>
  );
}
