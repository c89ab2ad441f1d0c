/// <reference lib="dom" />
/** The state of an actor at any version, chosen by a slider; beside it, what the version's event changed. */
import { useEffect, useState } from "preact/hooks";
import { type Data, Loaded, useData } from "../kit/data.tsx";
import { Badge, Chip, Panel } from "../kit/parts.tsx";
import { Ago, DateTime } from "../kit/time.tsx";
import { JsonTree } from "../kit/values.tsx";
import { get } from "./service.ts";
import type { Actor, History, PastState } from "./types.ts";

/** How long the slider rests before the state is read, in milliseconds. */
const RESTS_MS = 100;
/** Transitions up to a version that light the statechart. */
const WAY = 50;

/** A state of the past, the state before it, and the transitions that led to it, newest first. */
export interface Past {
  readonly state: PastState;
  readonly before: PastState | undefined;
  readonly transitions: History["transitions"];
}

/** Reads the state at a version; undefined for the newest one. */
export function usePast(actor: string, version: number | undefined): Data<Past | undefined> {
  return useData(
    async (signal) => {
      if (version === undefined) return undefined;
      await new Promise((resolve) => setTimeout(resolve, RESTS_MS));
      if (signal.aborted) return undefined;
      const at = (one: number) => get<PastState>(`${actor}/at`, signal, { version: one });
      const [state, before, { transitions }] = await Promise.all([
        at(version),
        // Its history may have been deleted.
        version > 1 ? at(version - 1).catch(() => undefined) : undefined,
        get<History>(`${actor}/history`, signal, { limit: WAY, before: version + 1 }),
      ]);
      return { state, before, transitions };
    },
    [actor, version],
    { keep: true },
  );
}

export function StatePanel({ actor, past, version, choose }: {
  readonly actor: Actor;
  readonly past: Data<Past | undefined>;
  /** Undefined for the newest one. */
  readonly version: number | undefined;
  readonly choose: (version: number | undefined) => void;
}) {
  const newest = actor.version;
  const shown = version ?? newest;
  return (
    <Panel
      title="State"
      aside={version === undefined
        ? <Badge tone="good">newest, live</Badge>
        : <button type="button" class="small" onClick={() => choose(undefined)}>Back to the newest</button>}
    >
      {newest > 1 && <Slider newest={newest} shown={shown} choose={choose} />}
      {version === undefined
        ? <StateOf state={actor.state} context={actor.context} when={<Ago at={actor.changed} />} />
        : (
          <Loaded data={past} rows={4}>
            {(value) =>
              value === undefined ? null : (
                <>
                  <Changes past={value} />
                  <StateOf
                    state={value.state.state}
                    context={value.state.context}
                    when={value.state.at === null ? "" : <DateTime at={value.state.at} />}
                  />
                </>
              )}
          </Loaded>
        )}
    </Panel>
  );
}

/** Follows the reader's hand at once; the state follows when the slider rests. */
function Slider({ newest, shown, choose }: {
  readonly newest: number;
  readonly shown: number;
  readonly choose: (version: number | undefined) => void;
}) {
  const [at, setAt] = useState(shown);
  useEffect(() => setAt(shown), [shown]);
  const move = (next: number) => {
    const version = Math.min(newest, Math.max(1, next));
    setAt(version);
    choose(version === newest ? undefined : version);
  };
  return (
    <div class="slider">
      <button type="button" class="small" aria-label="Previous version" disabled={at <= 1} onClick={() => move(at - 1)}>
        ‹
      </button>
      <input
        type="range"
        min={1}
        max={newest}
        value={at}
        aria-label="Version"
        aria-valuetext={`version ${at} of ${newest}`}
        onInput={(event) => move(Number(event.currentTarget.value))}
      />
      <button
        type="button"
        class="small"
        aria-label="Next version"
        disabled={at >= newest}
        onClick={() => move(at + 1)}
      >
        ›
      </button>
      <output>{`version ${at} of ${newest}`}</output>
    </div>
  );
}

function StateOf({ state, context, when }: {
  readonly state: string;
  readonly context: unknown;
  readonly when: preact.ComponentChildren;
}) {
  return (
    <div class="context">
      <p class="row">
        <Chip>{state}</Chip> <span class="note">since {when}</span>
      </p>
      <JsonTree value={context} />
    </div>
  );
}

/** Members of the context that differ from the version before. */
function Changes({ past: { state, before, transitions: [last] } }: { readonly past: Past }) {
  if (before === undefined) return null;
  const names = [...new Set([...Object.keys(before.context), ...Object.keys(state.context)])];
  const changed = names.map((name) => ({
    name,
    from: textOf(before.context[name]),
    to: textOf(state.context[name]),
  })).filter(({ from, to }) => from !== to);
  const by = last?.version === state.version ? last.event : "this event";
  return (
    <div class="changes">
      <h3>
        {changed.length === 0 ? "Nothing in the context was changed by " : "Changed by "}
        <span class="mono">{by}</span>
      </h3>
      {changed.length > 0 && (
        <ul>
          {changed.map(({ name, from, to }) => (
            <li key={name}>
              <b class="mono">{name}</b>
              <del class="mono">{from}</del>
              <span aria-hidden="true">→</span>
              <ins class="mono">{to}</ins>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const LONGEST = 200;

function textOf(value: unknown): string {
  const text = value === undefined
    ? "nothing"
    : JSON.stringify(value, (_, one) => typeof one === "bigint" ? String(one) : one);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
