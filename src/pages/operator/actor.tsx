/// <reference lib="dom" />
/**
 * One actor: why it waits, its statechart that moves while one watches, its state at any version, and its history.
 *
 * The stream is opened first and the state read once it is open; a transition that is not newer than the state that was
 * read is dropped. What a transition does not contain (context, reminders, effects) is read again soon after it, and from
 * time to time.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "#src/client/http.ts";
import { count } from "../kit/amounts.tsx";
import { Loaded, useData } from "../kit/data.tsx";
import { Id } from "../kit/Id.tsx";
import { Badge, Chip, Facts, Heading, Panel } from "../kit/parts.tsx";
import { pathOf, setQuery, type ViewProps } from "../kit/router.ts";
import { Empty, Failure } from "../kit/states.tsx";
import { Ago } from "../kit/time.tsx";
import { LongText } from "../kit/values.tsx";
import { type Entry, HistoryPanel, useHistory } from "./history.tsx";
import { useAtMostEvery, useTransitions } from "./live.ts";
import { StatePanel, usePast } from "./past.tsx";
import { get, lessThanWanted, send } from "./service.ts";
import { ActorLink, Asking, Settled } from "./shared.tsx";
import { TimelinePanel } from "./timeline.tsx";
import { Statechart } from "./Statechart.tsx";
import type { Actor, Lags, Machine } from "./types.ts";
import { type Reason, reasonsOf } from "./why.ts";

/** Between two moves of the statechart, in milliseconds; a burst of more moves is not shown step by step. */
const MOVE_MS = 450;
const BURST = 6;

export function ActorView({ params: { kind = "", id = "" }, query }: ViewProps) {
  const entity = { kind, id };
  const at = `/actors${pathOf(kind, id)}`;
  const wanted = Number(query.get("version") ?? NaN);
  const version = Number.isSafeInteger(wanted) && wanted > 0 ? wanted : undefined;
  const machine = useData((signal) => get<Machine>(`/kinds${pathOf(kind)}/machine`, signal), [kind], {
    remember: `machine ${kind}`,
  });
  const actor = useData((signal) => get<Actor>(at, signal), [at], { everyMs: 5_000 });
  const lags = useData(
    async (signal) => kind === "transaction" ? await get<Lags>("/lags", signal) : undefined,
    [kind],
    { everyMs: 5_000 },
  );
  const quietMs = useUnchanged(lags.value?.follower?.tipSlot);
  const history = useHistory(at, machine.value);
  const past = usePast(at, version);
  const soon = useAtMostEvery(() => void actor.reload(), 400);
  useTransitions(entity, {
    onOpen: () => {
      soon();
      void history.reload();
    },
    onEvents: (events) => {
      history.add(events);
      soon();
    },
  });
  const choose = (next: number | undefined) => setQuery({ version: next === undefined ? undefined : String(next) });
  const unknown = actor.value === undefined && actor.error instanceof ApiError && actor.error.status === 404;
  return (
    <Settled data={[actor, machine, { value: history.loaded || undefined, error: undefined }]}>
      <p class="above">
        <a href={`/ui/actors?${new URLSearchParams({ kind })}`}>{kind}</a>
      </p>
      <Heading
        title={`${kind} ${id}`}
        aside={actor.value && <Actions actor={actor.value} at={at} after={actor.reload} />}
      >
        <Id value={id} full name={`id of the ${kind}`} />
      </Heading>
      <p class="badges" role="status">
        {actor.value && (
          <>
            <Chip>{actor.value.state}</Chip>
            {actor.value.paused && <Badge tone="warn">paused</Badge>}
            <NameOf actor={actor.value} />
          </>
        )}
      </p>
      {actor.error !== undefined && !unknown && (
        <Failure error={actor.error} retry={actor.reload} stale={actor.value !== undefined} />
      )}
      {actor.value && <Why reasons={reasonsOf(actor.value, lags.value, lags.error === undefined ? quietMs : 0)} />}
      <div class="actor">
        <div class="column">
          <Panel title="Statechart">
            <Loaded data={machine} rows={6}>
              {(machine) => <MovingChart machine={machine} actor={actor.value} history={history} past={past.value} />}
            </Loaded>
          </Panel>
          {actor.value && <TimelinePanel actor={actor.value} entries={history.entries} />}
          {actor.value
            ? <StatePanel actor={actor.value} past={past} version={version} choose={choose} />
            : unknown && <NoTransition />}
          {actor.value && <Pending actor={actor.value} at={at} after={actor.reload} />}
        </div>
        <div class="column">
          <HistoryPanel history={history} actor={at} entity={entity} chosen={version} choose={choose} />
          {actor.value && <Now actor={actor.value} />}
          <Related entries={history.entries} />
        </div>
      </div>
    </Settled>
  );
}

function NoTransition() {
  return (
    <Panel title="State">
      <Empty title="This actor has no transition yet.">
        It is shown as soon as its first one happens; this page stays connected. Check the id if you expected one.
      </Empty>
    </Panel>
  );
}

const TONES = { bad: "bad", warning: "warn", waits: "quiet", good: "good" } as const;

function Why({ reasons }: { readonly reasons: readonly Reason[] }) {
  if (reasons.length === 0) return null;
  const has = (...tones: Reason["tone"][]) => reasons.some(({ tone }) => tones.includes(tone));
  const title = has("bad", "warning") ? "Why it is stuck" : has("waits") ? "What it waits for" : "Where it stands";
  return (
    <Panel title={title} class="why">
      <ul>
        {reasons.map(({ tone, text, detail, next, advice }) => (
          <li key={text} class={tone}>
            <p>
              <Badge tone={TONES[tone]}>{NAMES[tone]}</Badge> <b>{text}</b>
              {next !== undefined && <NextAttempt at={next} />}
            </p>
            {detail !== undefined && <LongText text={detail} />}
            {advice !== undefined && <p class="note">{advice}</p>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const NextAttempt = ({ at }: { readonly at: string }) => (
  <>
    {" Next attempt "}
    <Ago at={at} />.
  </>
);

const NAMES = { bad: "Error", warning: "Warning", waits: "Waits", good: "Done" } as const;

/** The statechart, which shows transitions one after the other, at a pace that an eye can follow. */
function MovingChart({ machine, actor, history, past }: {
  readonly machine: Machine;
  readonly actor: Actor | undefined;
  readonly history: ReturnType<typeof useHistory>;
  readonly past: ReturnType<typeof usePast>["value"];
}) {
  const newest = Math.max(history.entries[0]?.version ?? 0, actor?.version ?? 0);
  const [last, show] = useState(newest);
  // The first one is shown at once, so that nothing moves on the page after it has appeared.
  const shown = last === 0 || newest < last || newest - last > BURST ? newest : last;
  useEffect(() => {
    if (shown !== last) return show(shown);
    if (shown === newest) return;
    const timer = setTimeout(() => show(shown + 1), MOVE_MS);
    return () => clearTimeout(timer);
  }, [last, shown, newest]);
  if (past !== undefined) return <Statechart machine={machine} state={past.state.state} taken={past.transitions} />;
  const taken = history.entries.filter(({ version }) => version <= shown);
  const state = taken[0]?.version === shown ? taken[0].to : actor?.state;
  return <Statechart machine={machine} state={state} taken={taken[0]?.version === shown ? taken : []} />;
}

function Actions({ actor, at, after }: {
  readonly actor: Actor;
  readonly at: string;
  readonly after: () => Promise<void>;
}) {
  const { entity: { kind, id }, paused } = actor;
  const quarantined = kind === "token" && actor.context.quarantine !== null && actor.context.quarantine !== undefined;
  return (
    <>
      {quarantined && (
        <Asking
          name="Release"
          done="Released."
          after={after}
          question={{
            title: "Release this token from quarantine?",
            text:
              "All its ledger data is replayed. If the result matches its state on the ledger, its facts are served " +
              "again. Otherwise nothing changes.",
            run: async () => {
              const { status, reason } = await send<{ status: string; reason?: string }>(
                "POST",
                `/tokens${pathOf(id)}/release`,
              );
              if (status !== "live") throw lessThanWanted(reason ?? "It was quarantined again.");
            },
          }}
        />
      )}
      {paused
        ? (
          <Asking
            key="pause"
            name="Resume"
            done="Resumed."
            after={after}
            question={{
              title: `Resume this ${kind}?`,
              text: "It accepts commands again and continues with the chain events where it stopped.",
              run: () => send("POST", `${at}/resume`),
            }}
          />
        )
        : (
          <Asking
            key="pause"
            name="Pause"
            done="Paused."
            after={after}
            question={{
              title: `Pause this ${kind}?`,
              text: "Commands are rejected and chain events wait until the actor is resumed. Reads continue.",
              run: () => send("POST", `${at}/pause`),
            }}
          />
        )}
      <Asking
        name="Passivate"
        done="Passivated."
        after={after}
        question={{
          title: `Remove this ${kind} from memory?`,
          text: "Its worker loads it from the database again for the next event.",
          run: async () => {
            const { passivated } = await send<{ passivated: boolean }>("POST", `${at}/passivate`);
            if (!passivated) throw lessThanWanted("It was not in memory, or is executing a turn.");
          },
        }}
      />
    </>
  );
}

function Now({ actor }: { readonly actor: Actor }) {
  const { mailbox, owner, unreadInputs, allowed, intents } = actor;
  return (
    <Panel title="Now">
      <Facts
        pairs={[
          ["Version", count(actor.version)],
          ["Changed", <Ago key="at" at={actor.changed} />],
          ["Worker", owner === null ? <Badge key="none" tone="bad">none</Badge> : <bdi key="id">{owner}</bdi>],
          ["Partition", `${actor.partition}, epoch ${actor.epoch}`],
          [
            "Queue",
            mailbox === null
              ? <Badge key="silent" tone="warn">its worker does not respond</Badge>
              : `${count(mailbox.depth)} waiting, ${
                mailbox.inTurn ? "in a turn" : mailbox.resident ? "in memory" : "not in memory"
              }`,
          ],
          [
            "Chain events",
            unreadInputs > 0
              ? <Badge key="unread" tone="warn">{`${count(unreadInputs)} unread`}</Badge>
              : actor.inputSeq === 0
              ? "none so far"
              : `read to ${count(actor.inputSeq)}`,
          ],
          ["Machine", `version ${actor.machineVersion}`],
          [
            "Accepts",
            allowed.length === 0 ? "nothing: its state is final" : (
              <details>
                <summary>{`${allowed.length} events`}</summary>
                <ul class="chips">{allowed.map((event) => <li key={event} class="chip">{event}</li>)}</ul>
              </details>
            ),
          ],
          ...(intents.length === 0 ? [] : [["Permits builds", intents.join(", ")] as const]),
        ]}
      />
    </Panel>
  );
}

/** Most related actors that are shown. */
const RELATED = 6;

/** What the newest transitions concern, those first that are actors here. */
function Related({ entries }: { readonly entries: readonly Entry[] }) {
  const links = new Map(
    entries.flatMap(({ links = [] }) => links).filter(({ rel }) => rel !== "block").map((link) =>
      [`${link.kind}/${link.id}`, link] as const
    ),
  );
  if (links.size === 0) return null;
  const sorted = [...links.values()].sort((a, b) => Number(a.href === null) - Number(b.href === null));
  return (
    <Panel title="Related">
      <ul class="links">
        {sorted.slice(0, RELATED).map(({ kind, id, href }) => (
          <li key={`${kind}/${id}`}>
            <ActorLink kind={kind} id={id} href={href === null ? null : `/ui${href}`} />
          </li>
        ))}
      </ul>
      {links.size > RELATED && (
        <p class="note">{`and ${count(links.size - RELATED)} more in the details of the transitions`}</p>
      )}
    </Panel>
  );
}

function Pending({ actor, at, after }: {
  readonly actor: Actor;
  readonly at: string;
  readonly after: () => Promise<void>;
}) {
  const { entity: { kind }, reminders, effects } = actor;
  if (reminders.length + effects.length === 0) return null;
  return (
    <Panel title="Reminders and open effects">
      <ul class="rows">
        {reminders.map(({ name, at: due, event }) => (
          <li key={`r ${name}`}>
            <span class="mono">{name}</span>
            <span class="note">
              reminder: {event} <Ago at={due} />
            </span>
            <Asking
              name="Fire"
              label={`Fire the reminder ${name}`}
              small
              done="Fired."
              after={after}
              question={{
                title: "Fire this reminder now?",
                text: `The ${kind} gets ${event} at once instead of at its time.`,
                run: async () => {
                  const { fired } = await send<{ fired: boolean }>("POST", `${at}/reminders${pathOf(name)}/fire`);
                  if (!fired) throw lessThanWanted("The reminder no longer exists.");
                },
              }}
            />
          </li>
        ))}
        {effects.map(({ n, name, attempts, nextAttempt, error }) => (
          <li key={`e ${n}`}>
            <span class="mono">{`${name} #${n}`}</span>
            <span class="note">
              {"effect: "}
              {attempts > 0 && `failed ${count(attempts)}×, `}next attempt <Ago at={nextAttempt} />
            </span>
            {error !== null && (
              <div class="reason error">
                <LongText text={error} />
              </div>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

/** The name that its owner gave to a wallet. */
function NameOf({ actor: { context } }: { readonly actor: Actor }) {
  const { name } = (context.record ?? {}) as { readonly name?: unknown };
  return typeof name === "string" && name !== "" ? <bdi class="given-name">{name}</bdi> : null;
}

/** Milliseconds since a value was last seen to change, while the view is open. */
function useUnchanged(value: unknown): number {
  const seen = useRef({ value, at: Date.now() });
  if (seen.current.value !== value) seen.current = { value, at: Date.now() };
  return Date.now() - seen.current.at;
}
