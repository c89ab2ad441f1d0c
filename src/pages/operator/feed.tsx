/// <reference lib="dom" />
/** Every transition as it happens, as a list that can be held. */
import { useEffect, useRef, useState } from "preact/hooks";
import { count } from "../kit/amounts.tsx";
import { type Data, Loaded } from "../kit/data.tsx";
import { Panel } from "../kit/parts.tsx";
import { Clock } from "../kit/time.tsx";
import { kebab } from "./kebab.ts";
import { ActorLink, Step } from "./shared.tsx";
import type { RecentTransitions, TransitionEvent } from "./types.ts";

type Row = Omit<RecentTransitions["transitions"][number], "cause"> & { readonly key: string; readonly fresh?: boolean };
type Grip = "button" | "pointer" | "focus";

/** Rows that are kept. */
const ROWS = 80;
/** Above this many transitions in a second they are no longer read out one by one. */
const SPOKEN = 3;
/** Between two redraws, in milliseconds. */
const DRAW_MS = 250;

export interface FeedState {
  readonly rows: readonly Row[];
  readonly held: Readonly<Record<Grip, boolean>>;
  /** Transitions that came while the list was held. */
  readonly waiting: number;
  readonly skipped: number;
  /** Whether there are too many to be read out. */
  readonly flood: boolean;
  readonly add: (events: readonly TransitionEvent[]) => void;
  readonly grip: (by: Grip, on: boolean) => void;
}

const keyOf = ({ kind, id }: { readonly kind: string; readonly id: string }, version: number) =>
  `${kind}/${id}:${version}`;

/** The newest rows, each once. */
function merged(newer: readonly Row[], older: readonly Row[]): Row[] {
  const by = new Map<string, Row>();
  for (const row of [...newer, ...older]) if (!by.has(row.key)) by.set(row.key, row);
  return [...by.values()].slice(0, ROWS);
}

/** The list of transitions: those from before, and those that are added, with at most four redraws a second. */
export function useFeed(recent: RecentTransitions["transitions"] | undefined): FeedState {
  const [state, set] = useState<{ rows: readonly Row[]; waiting: number; skipped: number; flood: boolean }>({
    rows: [],
    waiting: 0,
    skipped: 0,
    flood: false,
  });
  const [held, setHeld] = useState<Record<Grip, boolean>>({ button: false, pointer: false, focus: false });
  const work = useRef({
    waiting: [] as Row[],
    skipped: 0,
    last: 0,
    held,
    timer: undefined as ReturnType<typeof setTimeout> | undefined,
  }).current;
  useEffect(() => () => clearTimeout(work.timer), []);
  useEffect(() => {
    if (recent === undefined) return;
    const rows = recent.map((one): Row => ({ ...one, key: keyOf(one.entity, one.version) }));
    // What came while they were read is newer.
    set((before) => ({
      ...before,
      rows: merged([...before.rows, ...rows].sort((a, b) => Date.parse(b.at) - Date.parse(a.at)), []),
    }));
  }, [recent]);
  const isHeld = () => work.held.button || work.held.pointer || work.held.focus;
  const draw = () => {
    work.timer = undefined;
    const now = Date.now();
    const each = work.waiting.length / Math.max(DRAW_MS / 1_000, (now - work.last) / 1_000);
    work.last = now;
    const fresh = work.waiting.reverse();
    const { skipped } = work;
    work.waiting = [];
    work.skipped = 0;
    set((before) => ({ rows: merged(fresh, before.rows), waiting: 0, skipped, flood: each > SPOKEN }));
  };
  return {
    ...state,
    held,
    grip: (by, on) => {
      work.held = { ...work.held, [by]: on };
      setHeld(work.held);
      if (isHeld()) {
        clearTimeout(work.timer);
        work.timer = undefined;
      } else if (work.timer === undefined) draw();
    },
    add: (events) => {
      work.waiting.push(...events.map(({ type, time, data: { entity, from, to, version } }): Row => ({
        key: keyOf(entity, version),
        entity,
        version,
        from,
        to,
        event: type.slice(type.lastIndexOf(".") + 1),
        at: time,
        fresh: true,
      })));
      if (work.waiting.length > ROWS) {
        work.skipped += work.waiting.length - ROWS;
        work.waiting = work.waiting.slice(-ROWS);
      }
      if (isHeld()) set((before) => ({ ...before, waiting: work.waiting.length + work.skipped }));
      else work.timer ??= setTimeout(draw, Math.max(0, work.last + DRAW_MS - Date.now()));
    },
  };
}

export function Feed({ feed, data }: { readonly feed: FeedState; readonly data: Data<RecentTransitions> }) {
  const { rows, held, waiting, skipped, flood, grip } = feed;
  const isHeld = held.button || held.pointer || held.focus;
  const note = isHeld
    ? waiting > 0 ? `Held: ${count(waiting)} new.` : "Held."
    : skipped > 0
    ? `${count(skipped)} more not shown.`
    : "";
  return (
    <Panel
      title="Transitions"
      class="feed-panel"
      aside={
        <>
          <span class="note">{note}</span>
          <button
            type="button"
            class="small"
            aria-pressed={held.button}
            onClick={() => grip("button", !held.button)}
          >
            {held.button ? "Continue" : "Hold"}
          </button>
        </>
      }
    >
      <Loaded data={data} rows={8}>
        {() =>
          rows.length === 0
            ? <p class="nothing">No transition yet. They appear here as they happen.</p>
            : (
              <div role="log" aria-live={flood ? "off" : "polite"} aria-label="Transitions as they happen">
                <ol
                  class="feed"
                  onPointerEnter={(event) => event.pointerType === "mouse" && grip("pointer", true)}
                  onPointerLeave={() => grip("pointer", false)}
                  onFocusIn={() => grip("focus", true)}
                  onFocusOut={({ relatedTarget, currentTarget }) => {
                    if (!(relatedTarget instanceof Node) || !currentTarget.contains(relatedTarget)) {
                      grip("focus", false);
                    }
                  }}
                >
                  {rows.map(({ key, entity, version, from, to, event, at, fresh }) => (
                    <li key={key} class={fresh ? "fresh" : ""}>
                      <Clock at={at} />
                      <span class="event">{kebab(event)}</span>
                      <ActorLink kind={entity.kind} id={entity.id} ends={4} />
                      <Step from={from} to={to} />
                      <span class="version" title="Number of the actor's transition">{`v${version}`}</span>
                    </li>
                  ))}
                </ol>
              </div>
            )}
      </Loaded>
    </Panel>
  );
}
