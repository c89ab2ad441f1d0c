/** Actors by kind, state and id, page by page; the filter is the address, so that it can be kept and sent. */
import { count } from "../kit/amounts.tsx";
import { Loaded, useData } from "../kit/data.tsx";
import { SelectField } from "../kit/forms.tsx";
import { Badge, Chip, Heading } from "../kit/parts.tsx";
import { go, type ViewProps } from "../kit/router.ts";
import { Search } from "../kit/Search.tsx";
import { Empty } from "../kit/states.tsx";
import { type Column, Table } from "../kit/Table.tsx";
import { Ago } from "../kit/time.tsx";
import { get } from "./service.ts";
import { ActorLink, Settled } from "./shared.tsx";
import type { ActorLine, Actors, Kinds } from "./types.ts";

const LIMIT = 50;
type Filter = Readonly<Record<"kind" | "state" | "paused" | "failing" | "changed" | "sort" | "q", string>>;

const MINUTE = 60_000;
/** Choices by the time of the last change: within it, or longer ago. */
const CHANGED: readonly (readonly [value: string, name: string, ms: number])[] = [
  ["5m", "in the last 5 minutes", 5 * MINUTE],
  ["1h", "in the last hour", 60 * MINUTE],
  ["1d", "in the last day", 1_440 * MINUTE],
  ["-1h", "more than an hour ago", 60 * MINUTE],
  ["-1d", "more than a day ago", 1_440 * MINUTE],
];

/** The filter as the service takes it. */
function queryOf({ changed, sort, ...filter }: Filter): Record<string, string> {
  const [value = "", , ms = 0] = CHANGED.find(([one]) => one === changed) ?? [];
  const time = new Date(Date.now() - ms).toISOString();
  return {
    ...wanted(filter),
    ...(value === "" ? {} : value.startsWith("-") ? { changedBefore: time } : { changedSince: time }),
    ...(sort === "" ? {} : { sort: "changed", order: sort === "newest" ? "desc" : "asc" }),
  };
}

const columns: readonly Column<ActorLine>[] = [
  { title: "Actor", cell: ({ kind, id }) => <ActorLink kind={kind} id={id} ends={4} /> },
  {
    title: "State",
    cell: ({ state, paused }) => (
      <>
        <Chip>{state}</Chip> {paused && <Badge tone="warn">paused</Badge>}
      </>
    ),
  },
  { title: "Version", align: "right", cell: ({ version }) => count(version) },
  { title: "Changed", cell: ({ changed }) => <Ago at={changed} /> },
  { title: "Worker", cell: ({ owner }) => owner === null ? <Badge tone="bad">none</Badge> : <bdi>{owner}</bdi> },
  { title: "Partition", align: "right", cell: ({ partition }) => partition },
];

export function ActorsView({ query }: ViewProps) {
  const of = (name: string) => query.get(name) ?? "";
  const filter: Filter = {
    kind: of("kind"),
    state: of("state"),
    paused: of("paused"),
    failing: of("failing"),
    changed: of("changed"),
    sort: of("sort"),
    q: of("q"),
  };
  const after = of("after");
  const kinds = useData((signal) => get<Kinds>("/kinds", signal), [], { everyMs: 30_000, remember: "kinds" });
  const list = useData(
    (signal) => get<Actors>("/actors", signal, { ...queryOf(filter), limit: LIMIT, after: after || undefined }),
    [JSON.stringify(filter), after],
    { everyMs: filter.sort === "" ? 3_000 : 10_000, keep: true, remember: `actors ${JSON.stringify([filter, after])}` },
  );
  const open = (changes: Partial<Filter>) => {
    const next = { ...filter, ...changes };
    // Typing on is one step for the back button.
    const typed = filter.q !== "" && changes.q !== undefined;
    if (JSON.stringify(next) !== JSON.stringify(filter) || after !== "") go(addressOf(next), typed);
  };
  const all = kinds.value?.kinds ?? [];
  const states = new Set(
    all.filter(({ kind }) => filter.kind === "" || kind === filter.kind).flatMap((one) =>
      one.states.map(({ state }) => state)
    ),
  );
  return (
    <Settled data={[list]}>
      <Heading title="Actors">Actors</Heading>
      <div class="filter">
        <SelectField
          label="Kind"
          value={filter.kind}
          options={options("all", all.map(({ kind }) => kind), filter.kind)}
          onChange={(kind) => open({ kind, state: "" })}
        />
        <SelectField
          label="State"
          value={filter.state}
          options={options("all", [...states].sort(), filter.state)}
          onChange={(state) => open({ state })}
        />
        <SelectField
          label="Paused"
          value={filter.paused}
          options={[["", "either"], ["true", "paused"], ["false", "not paused"]]}
          onChange={(paused) => open({ paused })}
        />
        <SelectField
          label="Failures"
          value={filter.failing}
          options={[["", "either"], ["true", "failed effects or dead letters"], ["false", "none"]]}
          onChange={(failing) => open({ failing })}
        />
        <SelectField
          label="Last change"
          value={filter.changed}
          options={[["", "any time"], ...CHANGED.map(([value, name]) => [value, name] as const)]}
          onChange={(changed) => open({ changed })}
        />
        <SelectField
          label="Order"
          value={filter.sort}
          options={[["", "kind and id"], ["newest", "newest change first"], ["oldest", "oldest change first"]]}
          onChange={(sort) => open({ sort })}
        />
        <Search label="Beginning of the id" value={filter.q} delayMs={100} onSearch={(q) => open({ q })} />
      </div>
      <div class="panel actors">
        <Loaded data={list} rows={8}>
          {({ actors, next }) => (
            <>
              <Table
                caption="Actors"
                rows={actors}
                keyOf={({ kind, id }) => JSON.stringify([kind, id])}
                columns={columns}
                empty={<Nothing filter={filter} />}
              />
              {(after !== "" || next !== null) && (
                <nav class="pager" aria-label="Pages of actors">
                  <span class="note" role="status">{`${count(actors.length)} shown`}</span>
                  <span class="buttons">
                    {after !== "" && <a class="button small" href={addressOf(filter)}>First page</a>}
                    {next !== null && <a class="button small" href={addressOf(filter, next)}>Next page</a>}
                  </span>
                </nav>
              )}
            </>
          )}
        </Loaded>
      </div>
    </Settled>
  );
}

/** Empty members are left out. */
const wanted = (filter: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ""));

function addressOf(filter: Filter, after = ""): string {
  const text = new URLSearchParams({ ...wanted(filter), ...(after === "" ? {} : { after }) }).toString();
  return text === "" ? "/ui/actors" : `/ui/actors?${text}`;
}

/** The values of a choice, with the chosen one where the service does not list it. */
function options(all: string, values: readonly string[], chosen: string): (readonly [string, string])[] {
  const listed = values.includes(chosen) || chosen === "" ? values : [...values, chosen];
  return [["", all] as const, ...listed.map((value) => [value, value] as const)];
}

function Nothing({ filter }: { readonly filter: Filter }) {
  const { q, sort: _sort, ...chosen } = filter;
  if (q === "") {
    return Object.keys(wanted(chosen)).length === 0
      ? <Empty title="No actor has had a transition yet." />
      : <Empty title="No actor matches.">Choose another kind or state.</Empty>;
  }
  return (
    <Empty title="No actor's id begins with this.">
      <a href={`/ui/search?q=${encodeURIComponent(q)}`}>Search for it as an address, a hash or a wallet name</a>
    </Empty>
  );
}
