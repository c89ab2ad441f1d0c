/// <reference lib="dom" />
/** The overview: the last hour, actors by state, workers, backlogs, and each transition as it happens. */
import { useMemo, useRef } from "preact/hooks";
import { count } from "../kit/amounts.tsx";
import { Bars } from "../kit/charts.tsx";
import { type Data, isAway, Loaded, useData } from "../kit/data.tsx";
import { Heading, Panel, Stat, Stats } from "../kit/parts.tsx";
import { span } from "../kit/span.ts";
import { Feed, useFeed } from "./feed.tsx";
import { placeOf } from "./kinds.ts";
import { useAtMostEvery, useTransitions } from "./live.ts";
import { get } from "./service.ts";
import { LogPanel } from "./logPanel.tsx";
import { Settled } from "./shared.tsx";
import type { Activity, Attention, KindCounts, Lags, Overview, RecentTransitions } from "./types.ts";

/** Transitions that are there when the page is opened. */
const RECENT = 50;

export function OverviewView() {
  const overview = useData((signal) => get<Overview>("/overview", signal), [], {
    everyMs: 5_000,
    remember: "overview",
  });
  const activity = useData((signal) => get<Activity>("/activity", signal), [], {
    everyMs: 5_000,
    remember: "activity",
  });
  const attention = useData((signal) => get<Attention>("/attention", signal), [], {
    everyMs: 5_000,
    remember: "attention",
  });
  const recent = useData((signal) => get<RecentTransitions>("/transitions", signal, { limit: RECENT }), [], {
    remember: "transitions",
  });
  const feed = useFeed(recent.value?.transitions);
  const soon = useAtMostEvery(() => {
    void overview.reload();
    void activity.reload();
  }, 2_000);
  useTransitions({}, {
    onOpen: () => {
      soon();
      void recent.reload();
    },
    onEvents: (events) => {
      feed.add(events);
      soon();
    },
  });
  return (
    <Settled data={[overview, activity, recent]}>
      <Heading title="Overview">Overview</Heading>
      <Numbers overview={overview} attention={attention} />
      <div class="overview">
        <div class="column">
          <LastHour data={activity} />
          <Panel title="Actors by kind and state">
            <Loaded data={overview} rows={6}>{({ kinds }) => <Kinds kinds={kinds} />}</Loaded>
          </Panel>
          <Panel title="Work that waits">
            <Loaded data={overview} rows={5}>{({ lags }) => <Waiting lags={lags} />}</Loaded>
          </Panel>
          <LogPanel />
        </div>
        <Feed feed={feed} data={recent} />
      </div>
    </Settled>
  );
}

function Numbers({ overview, attention }: { readonly overview: Data<Overview>; readonly attention: Data<Attention> }) {
  const { value, error } = overview;
  const away = error !== undefined && isAway(error);
  const perSecond = value?.rates.transitionsPerSecond;
  const sum = (of: (kind: KindCounts) => number) => value?.kinds.reduce((total, kind) => total + of(kind), 0);
  const [actors, paused] = [sum((kind) => kind.actors), sum((kind) => kind.paused)];
  const [worst] = attention.value?.items ?? [];
  const urgent = attention.value?.count;
  const notices = (attention.value?.items.length ?? 0) - (urgent ?? 0);
  return (
    <Stats>
      <Stat
        name="Needs attention"
        note={
          <a href="/ui/attention">
            {urgent
              ? "see what to do"
              : notices === 0
              ? "all checks"
              : notices === 1
              ? "1 notice"
              : `${count(notices)} notices`}
          </a>
        }
        {...(urgent ? { tone: worst?.severity === "bad" ? "bad" as const : "warn" as const } : {})}
      >
        {urgent === undefined ? "–" : urgent > 0 ? count(urgent) : notices > 0 ? "Nothing urgent" : "Nothing"}
      </Stat>
      <Stat name="Transitions per second" note="over the last minute">
        {perSecond === undefined ? "–" : perSecond >= 100 ? count(Math.round(perSecond)) : perSecond.toFixed(1)}
      </Stat>
      <Stat
        name="Actors"
        note={paused
          ? <a href="/ui/actors?paused=true">{`${count(paused)} paused`}</a>
          : <a href="/ui/actors">none paused</a>}
      >
        {actors === undefined ? "–" : count(actors)}
      </Stat>
      <Stat
        name="Workers"
        // a service that does not answer does not report its workers
        note={<a href="/ui/workers">{away ? "no answer" : value?.workers === 0 ? "no worker runs" : "alive"}</a>}
        {...(!away && value?.workers === 0 ? { tone: "bad" as const } : {})}
      >
        {value === undefined || away ? "–" : count(value.workers)}
      </Stat>
      <Stat
        name="Dead letters"
        note={<a href="/ui/dead-letters">{value?.deadLetters ? "wait for a decision" : "none"}</a>}
        {...(value?.deadLetters ? { tone: "bad" as const } : {})}
      >
        {value === undefined ? "–" : count(value.deadLetters)}
      </Stat>
    </Stats>
  );
}

const ERRORS = [
  ["Failed attempts of effects", "failedEffects"],
  ["Refused by the network", "refused"],
  ["Dead letters", "deadLetters"],
] as const;

/** Made once: each use of `toLocaleTimeString` with options makes a formatter. */
const minuteOfDay = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

function LastHour({ data }: { readonly data: Data<Activity> }) {
  return (
    <Panel title="The last hour">
      <Loaded data={data} rows={6}>{({ minutes }) => <Hour minutes={minutes} />}</Loaded>
    </Panel>
  );
}

/** Transitions and errors by minute. */
function Hour({ minutes }: Activity) {
  // Not drawn again with each transition of the list at its side.
  return useMemo(() => {
    const kinds = [...new Set(minutes.flatMap(({ transitions }) => Object.keys(transitions)))]
      .sort((a, b) => placeOf(a) - placeOf(b) || (a < b ? -1 : 1));
    const labels = minutes.map(({ at }) => minuteOfDay.format(new Date(at)));
    const total = minutes.reduce(
      (sum, { transitions }) => Object.values(transitions).reduce((a, b) => a + b, sum),
      0,
    );
    const errors = ERRORS.map(([name, key]) => ({ name, values: minutes.map((minute) => minute[key]) }));
    const failed = errors.reduce((sum, { values }) => values.reduce((a, b) => a + b, sum), 0);
    const since = labels[0] ?? "";
    return (
      <>
        <h3>
          {count(total)} {total === 1 ? "transition" : "transitions"} since {since}
        </h3>
        <Bars
          label={`Transitions per minute by kind: ${count(total)} since ${since}.`}
          series={kinds.map((kind) => ({
            name: kind,
            colour: placeOf(kind),
            values: minutes.map(({ transitions }) => transitions[kind] ?? 0),
          }))}
          labels={labels}
          height={120}
          unit="transitions"
        />
        <h3 class={failed > 0 ? "failed" : ""}>
          {failed === 0 ? "No errors" : `${count(failed)} ${failed === 1 ? "error" : "errors"}`} since {since}
        </h3>
        {failed > 0 && (
          <div class="errors">
            <Bars
              label={`Errors per minute: ${count(failed)} since ${since}.`}
              series={errors.filter(({ values }) => values.some((value) => value > 0))}
              labels={labels}
              height={80}
              unit="errors"
            />
          </div>
        )}
      </>
    );
  }, [minutes]);
}

/** Each kind with its states, in the order in which the page met them, so that none changes its place or colour. */
function Kinds({ kinds }: { readonly kinds: readonly KindCounts[] }) {
  const places = useRef(new Map<string, readonly string[]>()).current;
  return useMemo(() => (
    <div class="kinds">
      {kinds.filter(({ kind, actors }) => actors > 0 || places.has(kind)).map(({ kind, actors, states }) => {
        const known = places.get(kind) ?? [];
        const sorted = [...states].sort((a, b) => b.actors - a.actors).map(({ state }) => state);
        const all = [...known, ...sorted.filter((state) => !known.includes(state))];
        places.set(kind, all);
        const counts = new Map(states.map((one) => [one.state, one.actors]));
        return (
          <div class="kind-row" key={kind}>
            <div class="head">
              <a href={`/ui/actors?${new URLSearchParams({ kind })}`}>{kind}</a>
              <span class="total">{count(actors)}</span>
            </div>
            {actors > 0 && (
              <div class="share" aria-hidden="true">
                {all.map((state, i) => {
                  const n = counts.get(state) ?? 0;
                  return n > 0 && <span key={state} class={`c${i % 6}`} style={{ flexGrow: n }} />;
                })}
              </div>
            )}
            <ul class="states">
              {all.map((state, i) => (
                <li key={state}>
                  <a
                    href={`/ui/actors?${new URLSearchParams({ kind, state })}`}
                    class={counts.get(state) ? "" : "none"}
                  >
                    <i class={`c${i % 6}`} aria-hidden="true" />
                    {state}
                    <b>{count(counts.get(state) ?? 0)}</b>
                  </a>
                </li>
              ))}
            </ul>
          </div>
        );
      })}
      <NoActors kinds={kinds.filter(({ kind, actors }) => actors === 0 && !places.has(kind))} />
    </div>
  ), [kinds]);
}

/** Kinds of which there is no actor yet. */
function NoActors({ kinds }: { readonly kinds: readonly KindCounts[] }) {
  if (kinds.length === 0) return null;
  return <p class="note none-yet">{`No actors yet: ${kinds.map(({ kind }) => kind).join(", ")}.`}</p>;
}

interface Lag {
  readonly name: string;
  readonly value: string;
  readonly note: string;
  readonly tone: "good" | "warn" | "bad";
}

/** How far the index of the chain is behind the network. */
function indexLag({ slot, tipSlot, height, tipHeight }: NonNullable<Lags["follower"]>): Lag {
  const blocks = tipHeight - height;
  return {
    name: "Blocks to index",
    value: blocks <= 0 ? "at the tip" : `${count(blocks)} behind`,
    note: `block ${count(height)}${blocks > 0 ? ` of ${count(tipHeight)}, ${count(tipSlot - slot)} slots` : ""}`,
    tone: blocks <= 2 ? "good" : blocks < 20 ? "warn" : "bad",
  };
}

/** What waits, and whether that is bad. */
function lagsOf({ outbox, inputs, effects, reminders, follower }: Lags): Lag[] {
  const oldest = (ms: number | null) => ms === null ? "" : `oldest ${span(ms)}`;
  const tone = (ms: number | null): Lag["tone"] => ms === null || ms < 2_000 ? "good" : ms < 30_000 ? "warn" : "bad";
  return [
    ...(follower === null ? [] : [
      indexLag(follower),
      {
        name: "Chain events to read",
        value: count(inputs.unread),
        note: oldest(inputs.oldestMs),
        tone: tone(inputs.oldestMs),
      },
    ]),
    {
      name: "Open effects",
      value: count(effects.open),
      note: effects.failing ? `${count(effects.failing)} failing` : "",
      tone: effects.failing ? "bad" : "good",
    },
    {
      name: "Reminders",
      value: count(reminders.pending),
      note: reminders.overdue ? `${count(reminders.overdue)} overdue` : "",
      tone: reminders.overdue ? "warn" : "good",
    },
    {
      name: "Transitions to publish",
      value: count(outbox.unpublished),
      note: oldest(outbox.oldestMs),
      tone: tone(outbox.oldestMs),
    },
  ];
}

function Waiting({ lags }: { readonly lags: Lags }) {
  return (
    <ul class="lags">
      {lagsOf(lags).map(({ name, value, note, tone }) => (
        <li key={name} class={tone}>
          <span class="what">{name}</span>
          <span class="note">
            {note}
            {tone !== "good" && <span class="sr">{tone === "bad" ? " bad" : " watch"}</span>}
          </span>
          <span class="number">{value}</span>
        </li>
      ))}
    </ul>
  );
}
