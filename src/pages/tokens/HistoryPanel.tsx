/// <reference lib="dom" />
/** What happened to a token, or what a key had, the newest first; also after the token's end. */
import { useEffect } from "preact/hooks";
import { fromHex } from "#src/base/bytes.ts";
import { elementAt } from "#src/base/present.ts";
import { Ada } from "../kit/amounts.tsx";
import { Loaded, usePages } from "../kit/data.tsx";
import { Id } from "../kit/Id.tsx";
import { Choice, Panel, Timeline as TimelineList, type TimelineItem, type Tone } from "../kit/parts.tsx";
import { setQuery } from "../kit/router.ts";
import { Empty } from "../kit/states.tsx";
import { Pager } from "../kit/Table.tsx";
import { SlotAgo, Tx } from "./parts.tsx";
import { client, type FactHistory, getPage, type PastRequest, type Timeline } from "./service.ts";
import { changeFromHex, ChangeText, textOf, Visible, WholeChange } from "./visible.tsx";

const PAGE = 30;

type Kind = Timeline["entries"][number]["type"];

/** An entry, whichever answer it is of; texts of changes in hexadecimal. */
interface Entry {
  readonly type: Kind;
  readonly slot: number;
  readonly txHash: string | null;
  readonly owner: string;
  readonly outputRefId?: string | undefined;
  readonly change?: PastRequest["change"] | undefined;
  readonly lovelace?: number | undefined;
  readonly fee?: number | undefined;
}

interface HistoryPage {
  readonly entries: readonly Entry[];
  readonly next: string | undefined;
}

const FILTERS = [
  ["all", "Everything"],
  ["applied", "Applied"],
  ["refused", "Refused"],
  ["retracted", "Taken back"],
] as const;
type Filter = typeof FILTERS[number][0];

const TONES: Readonly<Record<Kind, Tone | undefined>> = {
  booted: "good",
  requested: undefined,
  applied: "good",
  refused: "warn",
  retracted: undefined,
  transferred: "warn",
  ended: "bad",
};

async function readPage(
  tokenId: string,
  { filter, key, cursor, signal }: {
    readonly filter: Filter;
    readonly key: string | undefined;
    readonly cursor: string | undefined;
    readonly signal: AbortSignal;
  },
): Promise<HistoryPage> {
  if (key !== undefined) {
    const { segment, query } = (await client()).factSegment(fromHex(key));
    const path = `/token/${tokenId}/facts/${segment}/history${query === "" ? "?" : `${query}&`}limit=${PAGE}`;
    const { value, next } = await getPage<FactHistory>(cursor ?? path, signal);
    return { next, entries: value.history.map((one) => keyEntry(one, key)) };
  }
  if (filter === "all") {
    const path = `/token/${tokenId}/timeline?encoding=hex&limit=${PAGE}`;
    const { value, next } = await getPage<Timeline>(cursor ?? path, signal);
    return { next, entries: value.entries };
  }
  const path = `/token/${tokenId}/history?encoding=hex&limit=${PAGE}&status=${filter}`;
  const { value, next } = await getPage<{ requests: PastRequest[] }>(cursor ?? path, signal);
  const entries = value.requests.map(({ closed, opened, ...one }) => ({ ...one, ...(closed ?? opened), type: filter }));
  return { next, entries };
}

/** A change of the key's value; the answer has texts of keys, and the values in hexadecimal beside them. */
function keyEntry({ type, valueHex, oldValueHex, ...one }: FactHistory["history"][number], key: string): Entry {
  const change = { type, operation: type, key, newValue: valueHex ?? "", oldValue: oldValueHex ?? "" };
  return {
    type: "applied",
    slot: one.slot,
    txHash: one.txHash,
    owner: one.owner,
    outputRefId: one.outputRefId,
    change,
  };
}

/** Entries of one transaction that stand beside each other, as one. */
function grouped(entries: readonly Entry[]): Entry[][] {
  const groups: Entry[][] = [];
  for (const entry of entries) {
    const last = groups.at(-1);
    const [one] = last ?? [];
    if (last && one && one.txHash !== null && one.txHash === entry.txHash && one.type === entry.type) last.push(entry);
    else groups.push([entry]);
  }
  return groups;
}

export function HistoryPanel({ tokenId, version, query }: {
  readonly tokenId: string;
  readonly version: number;
  readonly query: URLSearchParams;
}) {
  const named = query.get("key");
  const key = named === null || !/^(0x)?([0-9a-f]{2})*$/.test(named) ? undefined : named.replace("0x", "");
  const filter = FILTERS.find(([one]) => one === query.get("history"))?.[0] ?? "all";
  return (
    <Panel title={key === undefined ? "History" : "History of a key"}>
      {key === undefined
        ? (
          <div class="filter">
            <Choice
              label="Which events"
              options={FILTERS}
              value={filter}
              onChange={(one) => setQuery({ history: one === "all" ? undefined : one })}
            />
          </div>
        )
        : (
          <p class="spread of-key">
            <span>
              Values of <Visible text={textOf(key)} limit={120} />
            </span>
            <button type="button" class="small" onClick={() => setQuery({ key: undefined })}>
              Everything of the token
            </button>
          </p>
        )}
      <Entries key={`${filter} ${key}`} tokenId={tokenId} filter={filter} keyHex={key} version={version} />
    </Panel>
  );
}

/** One list of entries; for another filter or key it is another one, so that none shows entries of the list before it. */
function Entries({ tokenId, filter, keyHex: key, version }: {
  readonly tokenId: string;
  readonly filter: Filter;
  /** The key whose history it is, in hexadecimal; undefined: of all keys. */
  readonly keyHex: string | undefined;
  readonly version: number;
}) {
  const list = usePages<HistoryPage>(
    (cursor, signal) => readPage(tokenId, { filter, key, cursor, signal }),
    ({ next }) => next,
    [tokenId, filter, key],
  );
  const { data } = list;
  useEffect(() => {
    if (version > 0) void data.reload();
  }, [version]);
  return (
    <Loaded data={data}>
      {({ entries }) => (
        <>
          {entries.length === 0
            ? (
              <Empty
                title={key === undefined ? "Nothing of this kind has happened" : "The key never had a value"}
              />
            )
            : (
              <TimelineList
                label="History"
                busy={data.loading}
                items={grouped(entries).map((group) => itemOf(group, key))}
              />
            )}
          <Pager
            label="History"
            previous={list.previous}
            next={list.next}
            {...(list.previous || list.next ? { text: `Page ${list.page + 1}` } : {})}
          />
        </>
      )}
    </Loaded>
  );
}

/** Changes of one group that are shown at once. */
const SHOWN = 12;

function itemOf(group: readonly Entry[], key: string | undefined): TimelineItem {
  const first = elementAt(group, 0);
  const { type, slot, txHash, owner, outputRefId } = first;
  const tone = TONES[type];
  return {
    key: `${type} ${txHash} ${outputRefId} ${slot}`,
    title: titleOf(type, group.length),
    time: <SlotAgo slot={slot} />,
    ...(tone === undefined ? {} : { tone }),
    body: (
      <>
        {group.slice(0, SHOWN).map((entry) =>
          entry.change && <ChangeLine key={entry.outputRefId} entry={entry} isOfKey={key !== undefined} />
        )}
        {group.length > SHOWN && <p class="note">and {group.length - SHOWN} more</p>}
        <p class="note timeline-more">
          {type === "booted" || type === "transferred"
            ? (
              <span>
                owner <Id value={owner} name="owner's key hash" ends={4} />
              </span>
            )
            : type !== "ended" && group.length === 1 && (
              <span>
                by <Id value={owner} name="requester's key hash" ends={4} />
              </span>
            )}
          {type === "requested" && first.lovelace !== undefined && (
            <span>
              deposit <Ada lovelace={first.lovelace} />
            </span>
          )}
          {txHash !== null && (
            <span>
              transaction <Tx hash={txHash} />
            </span>
          )}
        </p>
      </>
    ),
  };
}

function ChangeLine({ entry: { change }, isOfKey }: { readonly entry: Entry; readonly isOfKey: boolean }) {
  if (change === undefined) return null;
  const shown = changeFromHex(change);
  return (
    <>
      <p class="change-line">
        <ChangeText
          change={shown}
          {...(isOfKey ? {} : { onKey: () => setQuery({ key: change.key === "" ? "0x" : change.key }) })}
        />
      </p>
      <WholeChange change={shown} />
    </>
  );
}

function titleOf(type: Kind, n: number): string {
  const requests = n === 1 ? "a request" : `${n} requests`;
  switch (type) {
    case "booted":
      return "Booted";
    case "requested":
      return n === 1 ? "Requested a change" : `Requested ${n} changes`;
    case "applied":
      return `Applied ${requests}`;
    case "refused":
      return `Refused ${requests}`;
    case "retracted":
      return `Took back ${requests}`;
    case "transferred":
      return "Transferred to another owner";
    case "ended":
      return "Ended";
  }
}
