/// <reference lib="dom" />
/** An actor's transitions, the newest first: read in pages from the rows, and added to as they come. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "#src/client/http.ts";
import { Loaded, useData } from "../kit/data.tsx";
import { Id } from "../kit/Id.tsx";
import { Panel } from "../kit/parts.tsx";
import { Alert } from "../kit/states.tsx";
import { Clock, DateTime } from "../kit/time.tsx";
import { JsonTree } from "../kit/values.tsx";
import { kebab } from "./kebab.ts";
import { get } from "./service.ts";
import { ActorLink, Step } from "./shared.tsx";
import type { Cause, History, Machine, Transition, TransitionEvent } from "./types.ts";

const PAGE = 50;
/** Rows that a page left open keeps. */
const ROWS = 1_000;

/** A transition; one that came over the stream has no details yet. */
export type Entry =
  & Pick<Transition, "version" | "from" | "to" | "event" | "cause" | "at">
  & Partial<Pick<Transition, "payload" | "causes" | "links">>;

interface Loading {
  readonly entries: readonly Entry[];
  /** Cursor of the older transitions; null where there are none. */
  readonly next: string | null;
  /** Whether the oldest were let go, so that there is no reading on behind them. */
  readonly cut: boolean;
  readonly error: unknown;
  readonly loaded: boolean;
}

export interface HistoryState extends Loading {
  readonly older: () => Promise<void>;
  /** Reads the newest transitions again. */
  readonly reload: () => Promise<void>;
  readonly add: (events: readonly TransitionEvent[]) => void;
}

const EMPTY: Loading = { entries: [], next: null, cut: false, error: undefined, loaded: false };

/** The history of the actor at a path; grows at its top as transitions are added. */
export function useHistory(actor: string, machine: Machine | undefined): HistoryState {
  const [state, set] = useState(EMPTY);
  const left = useRef(new AbortController());
  const names = new Map(machine?.edges.map(({ event }) => [kebab(event), event]));
  const read = (before: string | undefined) =>
    get<History>(`${actor}/history`, left.current.signal, { limit: PAGE, before });
  const failed = (error: unknown) => left.current.signal.aborted || set((now) => ({ ...now, error, loaded: true }));
  const reload = async () => {
    try {
      const page = await read(undefined);
      const newest = page.transitions[0]?.version ?? 0;
      const oldest = page.transitions.at(-1)?.version ?? 0;
      set((now) => {
        // What was loaded before is kept where the new page reaches it; else there would be a gap.
        const reaches = now.entries.some(({ version }) => version <= newest && version >= oldest - 1);
        const kept = reaches ? now.entries : now.entries.filter(({ version }) => version > newest);
        return trimmed({
          entries: merged(kept, page.transitions),
          next: reaches && now.loaded ? now.next : page.next,
          cut: reaches && now.cut,
          error: undefined,
          loaded: true,
        });
      });
    } catch (error) {
      failed(error);
    }
  };
  // before the browser draws: the request does not wait for a frame
  useLayoutEffect(() => {
    left.current = new AbortController();
    set(EMPTY);
    void reload();
    return () => left.current.abort();
  }, [actor]);
  return {
    ...state,
    reload,
    older: async () => {
      if (state.cut) {
        set(EMPTY);
        return await reload();
      }
      try {
        const page = await read(state.next ?? undefined);
        set((now) =>
          trimmed({ ...now, entries: merged(now.entries, page.transitions), next: page.next, error: undefined })
        );
      } catch (error) {
        failed(error);
      }
    },
    add: (events) =>
      set((now) =>
        trimmed({
          ...now,
          entries: merged(
            events.map(({ type, time, data: { version, from, to, cause } }): Entry => {
              const event = type.slice(type.lastIndexOf(".") + 1);
              return { version, from, to, cause, event: names.get(event) ?? event, at: time };
            }),
            now.entries,
          ),
        })
      ),
  };
}

/** By version, newest first; of the same version the latter. */
function merged(some: readonly Entry[], others: readonly Entry[]): Entry[] {
  const by = new Map([...some, ...others].map((entry) => [entry.version, entry]));
  return [...by.values()].sort((a, b) => b.version - a.version);
}

function trimmed(state: Loading): Loading {
  return state.entries.length <= ROWS ? state : { ...state, entries: state.entries.slice(0, ROWS), cut: true };
}

export function HistoryPanel({ history, actor, entity, chosen, choose }: {
  readonly history: HistoryState;
  /** Path of the actor. */
  readonly actor: string;
  readonly entity: { readonly kind: string; readonly id: string };
  /** Version whose state is shown; undefined for the newest. */
  readonly chosen: number | undefined;
  readonly choose: (version: number) => void;
}) {
  const { entries, next, cut, error, loaded, older } = history;
  const [busy, setBusy] = useState(false);
  const more = async () => {
    setBusy(true);
    try {
      await older();
    } finally {
      setBusy(false);
    }
  };
  const unknown = error instanceof ApiError && error.status === 404;
  return (
    <Panel title="History" class="history">
      {!unknown && <Alert error={error} />}
      {entries.length === 0 && (error === undefined || unknown) && (
        <p class="nothing">{loaded ? "No transitions yet." : "Loading"}</p>
      )}
      <ol class="timeline" aria-label="Transitions, newest first">
        {entries.map((entry) => (
          <Row
            key={entry.version}
            entry={entry}
            actor={actor}
            entity={entity}
            chosen={entry.version === chosen}
            choose={choose}
          />
        ))}
      </ol>
      {next !== null && (
        <button type="button" class="small more" disabled={busy} onClick={() => void more()}>
          {cut ? "Show the newest again" : "Load older transitions"}
        </button>
      )}
    </Panel>
  );
}

function Row({ entry, actor, entity, chosen, choose }: {
  readonly entry: Entry;
  readonly actor: string;
  readonly entity: { readonly kind: string; readonly id: string };
  readonly chosen: boolean;
  readonly choose: (version: number) => void;
}) {
  const { version, from, to, event, at } = entry;
  const [open, setOpen] = useState(false);
  return (
    <li class={`${from === to ? "stays" : "good"}${chosen ? " chosen" : ""}`}>
      <div class="line">
        <span class="event mono">{event}</span>
        <Step from={from} to={to} />
        <button
          type="button"
          class="quiet version"
          aria-pressed={chosen}
          title="Show the state at this version"
          aria-label={`v${version}: show the state at this version`}
          onClick={() => choose(version)}
        >
          {`v${version}`}
        </button>
      </div>
      <div class="note meta">
        {isToday(at) ? <Clock at={at} ms /> : <DateTime at={at} />}
        <CauseView entry={entry} entity={entity} />
      </div>
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>Details</summary>
        {open && <Details entry={entry} actor={actor} />}
      </details>
    </li>
  );
}

const isToday = (iso: string) => new Date(iso).toDateString() === new Date().toDateString();

/** What an event said, what caused it and what it concerns. */
function Details({ entry, actor }: { readonly entry: Entry; readonly actor: string }) {
  const { version, payload, causes, links } = entry;
  const whole = payload !== undefined && causes !== undefined && links !== undefined;
  const data = useData(async (signal): Promise<Partial<Entry>> => {
    if (whole) return { payload, causes, links };
    const { transitions } = await get<History>(`${actor}/history`, signal, { limit: 1, before: version + 1 });
    return transitions[0] ?? {};
  }, [whole, version]);
  return (
    <div class="details">
      <Loaded data={data} rows={2}>
        {({ payload, links = [], causes = [] }) => (
          <>
            {links.length > 0 && (
              <ul class="links" aria-label="What it concerns">
                {links.map(({ rel, kind, id, href }) => (
                  <li key={`${kind}/${id}`}>
                    {rel !== kind && <span class="note">{rel}</span>}{" "}
                    <ActorLink kind={kind} id={id} href={href === null ? null : `/ui${href}`} />
                  </li>
                ))}
              </ul>
            )}
            {payload === null || payload === undefined
              ? <p class="note">Its content is not published.</p>
              : <JsonTree value={payload} />}
            <p class="note cause">
              {"Cause: "}
              <span class="mono">{entry.cause}</span>
              {causes.map((cause) =>
                "hash" in cause && cause.hash !== null && (
                  <>
                    {" "}
                    <Id value={cause.hash} name="hash of the block" />
                  </>
                )
              )}
            </p>
          </>
        )}
      </Loaded>
    </div>
  );
}

/** What an event was caused by, in words. */
function CauseView({ entry, entity }: {
  readonly entry: Entry;
  readonly entity: { readonly kind: string; readonly id: string };
}) {
  const cause = entry.causes?.[0] ?? causeOf(entry.cause);
  switch (cause?.type) {
    case "block":
      return <span>{cause.height === null ? `block at slot ${cause.slot}` : `block ${cause.height}`}</span>;
    case "rollback":
      return <span>{`rollback to ${cause.height === null ? `slot ${cause.slot}` : `block ${cause.height}`}`}</span>;
    case "input":
      return <span>{`chain event ${cause.seq}`}</span>;
    case "reminder":
      return <span>{`reminder ${cause.name}`}</span>;
    case "effect": {
      const own = cause.kind === entity.kind && cause.id === entity.id;
      return (
        <span class="row">
          {`effect ${cause.name ?? ""} #${cause.n}`}
          {!own && <ActorLink kind={cause.kind} id={cause.id} />}
        </span>
      );
    }
    default:
      return <span class="cause mono" title={entry.cause}>{`command ${entry.cause}`}</span>;
  }
}

/** A cause as far as its text says it. */
function causeOf(text: string): Cause | undefined {
  const input = /^input:(\d+)$/.exec(text)?.[1];
  if (input !== undefined) return { type: "input", seq: Number(input) };
  const [, kind, id, n] = /^effect:([a-z0-9-]+)\/(.+):(\d+)$/s.exec(text) ?? [];
  if (kind !== undefined && id !== undefined) return { type: "effect", kind, id, n: Number(n), name: null, href: "" };
  const reminder = /^reminder:(.*)$/s.exec(text)?.[1];
  return reminder === undefined ? undefined : { type: "reminder", name: reminder };
}
