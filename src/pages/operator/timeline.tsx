/** How long an actor was in its states, its effects took, and what it caused: lanes over one time, and the same as a table. */
import { count } from "../kit/amounts.tsx";
import { useData } from "../kit/data.tsx";
import { Panel } from "../kit/parts.tsx";
import { Table } from "../kit/Table.tsx";
import { Clock, DateTime, now, span } from "../kit/time.tsx";
import { effectOf, effectSpans, type Span, stateSpans, type Sum, sumsOf } from "./durations.ts";
import type { Entry } from "./history.tsx";
import { get } from "./service.ts";
import { ActorLink } from "./shared.tsx";
import type { Actor, History } from "./types.ts";
import { pathOf } from "../kit/router.ts";

/** Most other actors with a lane. */
const LANES = 5;
/** Colours in the styles. */
const COLOURS = 6;

interface Caused {
  readonly kind: string;
  readonly id: string;
  readonly transitions: History["transitions"];
}

/** Actors that transitions concern, with their newest transitions. */
async function readCaused(actors: readonly { kind: string; id: string }[], signal: AbortSignal): Promise<Caused[]> {
  return await Promise.all(actors.map(async ({ kind, id }) => {
    const { transitions } = await get<History>(`/actors${pathOf(kind, id)}/history`, signal, { limit: 50 })
      .catch(() => ({ transitions: [] }));
    return { kind, id, transitions };
  }));
}

export function TimelinePanel({ actor, entries }: { readonly actor: Actor; readonly entries: readonly Entry[] }) {
  const { entity } = actor;
  const links = entries.flatMap(({ links = [] }) => links).filter(({ href }) => href !== null);
  const others = [...new Map(links.map(({ kind, id }) => [`${kind}/${id}`, { kind, id }])).values()].slice(0, LANES);
  const caused = useData((signal) => readCaused(others, signal), [JSON.stringify(others), actor.version], {
    keep: true,
  });
  if (entries.length === 0) return null;
  const end = now.value;
  const states = stateSpans(entries, end);
  const effects = effectSpans(entity, entries, actor.effects, end);
  // a lane has its place before its transitions are read
  const unread = others.map((one) => ({ ...one, transitions: [] }));
  const read = caused.value?.filter(({ transitions }) => transitions.length > 0);
  const lanes = (read ?? unread).map((other) => ({
    ...other,
    spans: stateSpans(other.transitions, end),
    effects: other.transitions.filter(({ cause }) => effectOf(cause, entity) !== undefined).length,
  }));
  // a state that lasts is no reason to draw what led to it on a point
  const moments = [...states, ...effects, ...lanes.flatMap(({ spans }) => spans)]
    .flatMap(({ from, to, open }) => open ? [from] : [from, to]);
  const first = Math.min(...moments);
  const last = Math.max(...moments, ...effects.filter(({ open }) => open).map(({ to }) => to));
  const scale = { from: first, length: Math.max(1, (last - first) * 1.05) };
  const names = [...new Set(states.map(({ name }) => name))];
  return (
    <Panel title="Durations" aside={<span class="note">{`of ${count(entries.length)} transitions`}</span>}>
      <div class="lanes">
        <Lane label="States" spans={states} scale={scale} names={names} />
        {effects.length > 0 && <Lane label="Effects" spans={effects} scale={scale} />}
        {lanes.map(({ kind, id, spans, effects }) => (
          <Lane
            key={`${kind}/${id}`}
            label={
              <>
                <ActorLink kind={kind} id={id} ends={4} />
                <span class="note">{inWords(spans)}</span>
                {effects > 0 && (
                  <span class="note">{`${count(effects)} of its transitions caused by effects of this actor`}</span>
                )}
              </>
            }
            spans={spans}
            scale={scale}
          />
        ))}
        <p class="note lane-scale">
          <Clock at={first} ms />
          <span>{span(scale.length)}</span>
        </p>
      </div>
      <Sums caption="Time in states" title="State" sums={sumsOf(states)} names={names} />
      {effects.length > 0 && <Sums caption="Durations of effects" title="Effect" sums={sumsOf(effects)} />}
      <p class="note">
        {"Since "}
        <DateTime at={states[0]?.from ?? end} />. Effects last from the event that requested them to the one with their
        outcome.
      </p>
    </Panel>
  );
}

/** The newest states with their durations: `submitting 86 ms, pending 849 ms, in_ledger`. */
const inWords = (spans: readonly Span[]) =>
  spans.slice(-4).map(({ name, from, to, open }) => open ? name : `${name} ${span(to - from)}`).join(", ");

function Lane({ label, spans, scale: { from: start, length }, names }: {
  readonly label: preact.ComponentChildren;
  readonly spans: readonly Span[];
  readonly scale: { readonly from: number; readonly length: number };
  /** Names in the order of their colours. */
  readonly names?: readonly string[];
}) {
  const own = names ?? [...new Set(spans.map(({ name }) => name))];
  return (
    <div class="lane">
      <div class="lane-name">{label}</div>
      <div class="lane-track" aria-hidden="true">
        {spans.map(({ name, from, to, open }, i) => {
          const left = Math.min(1, (from - start) / length);
          const right = open ? 1 : Math.min(1, (to - start) / length);
          return (
            <span
              key={i}
              class={`c${own.indexOf(name) % COLOURS}${open ? " open" : ""}`}
              title={`${name}: ${span(to - from)}${open ? " so far" : ""}`}
              style={{ left: `${left * 100}%`, width: `max(3px, ${(right - left) * 100}%)` }}
            />
          );
        })}
      </div>
    </div>
  );
}

function Sums({ caption, title, sums, names }: {
  readonly caption: string;
  readonly title: string;
  readonly sums: readonly Sum[];
  readonly names?: readonly string[];
}) {
  return (
    <Table
      caption={caption}
      rows={sums}
      keyOf={({ name }) => name}
      columns={[
        {
          title,
          width: "40%",
          cell: ({ name, open }) => (
            <span class="row">
              {names && <i class={`swatch c${names.indexOf(name) % COLOURS}`} />}
              <span class="mono">{name}</span>
              {open && <span class="note">now</span>}
            </span>
          ),
        },
        { title: "Times", align: "right", cell: ({ times }) => count(times) },
        { title: "Total", align: "right", cell: ({ total }) => span(total) },
        { title: "Longest", align: "right", cell: ({ longest }) => span(longest) },
      ]}
    />
  );
}
