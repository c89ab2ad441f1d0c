/**
 * `GET /attention`: what an operator should look at, each with what to do about it.
 *
 * It repeats what other endpoints and the metrics know, in one place and in sentences. What repairs itself within
 * seconds, such as an effect that failed once, is left out.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { z } from "zod";
import * as api from "#src/operators/api/operator.ts";
import { memo } from "#src/http/memo.ts";
import type { Places } from "#src/operators/http/places.ts";
import { endpoint } from "#src/http/route.ts";
import { readProblemCounts } from "#src/runtime/operations/counts.ts";
import type { DeadLetters } from "#src/runtime/operations/deadLetters.ts";
import { readFailingEffects } from "#src/runtime/operations/failing.ts";
import { readRebuild } from "#src/runtime/events/rebuild.ts";
import { readIncompleteStreams } from "#src/runtime/events/streamRecord.ts";
import { listWebhooks } from "#src/runtime/webhooks/rows.ts";
import type { EntityRef } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

export type AttentionItem = z.infer<typeof api.attentionItem>;
type Item = Omit<AttentionItem, "detail" | "actors" | "count" | "nextAttempt"> & Partial<AttentionItem>;

export interface AttentionOptions {
  readonly store: Store;
  readonly places: Places;
  readonly letters: Pick<DeadLetters, "count">;
  /** Number of paused actors. */
  readonly paused: () => Promise<number>;
  readonly sources: AttentionSources;
}

/** What only the process knows. */
export interface AttentionSources {
  readonly quarantined?: () => Promise<readonly { readonly tokenId: string; readonly reason: string }[]>;
  /** Checks of this process that fail. */
  readonly failingChecks?: () => Promise<readonly { readonly name: string; readonly why: string }[]>;
}

/** Longest use of an answer, in milliseconds; and for so many times as long as finding it took. */
const FRESH_MS = 2_000;
const SPARED = 10;
/** Failed attempts from which an effect is listed, after about 2 s, and from which it is bad, after about 30 s. */
const ATTEMPTS = { warning: 5, bad: 9 };
/** Most groups of effects, and most tokens. */
const LISTED = 20;
/** Age of waiting work, in milliseconds. */
const WAITING = { warning: 10_000, bad: 60_000 };
/** Longest time that an effect may be due: an attempt takes up to 30 s. */
const DUE = { warning: 60_000, bad: 300_000 };
/** Blocks that the index may be behind the network. */
const BEHIND = { warning: 3, bad: 20 };
/** Difference of two clocks, in milliseconds. */
const SKEW = { warning: 1_000, bad: 10_000 };

/** The severity of a value; undefined where it is below both limits. */
function severity(value: number, limits: { readonly warning: number; readonly bad: number }) {
  return value >= limits.bad ? "bad" as const : value >= limits.warning ? "warning" as const : undefined;
}

/** Adds `/attention`. */
export function attentionEndpoint(app: OpenAPIHono, options: AttentionOptions): void {
  const find = memo(FRESH_MS, async () => {
    const found = await Promise.all([
      checks(options.sources),
      places(options),
      effects(options.store),
      waiting(options.places),
      quarantines(options.sources),
      deadLetters(options.letters),
      webhooks(options.store),
      streams(options.store),
      pauses(options.paused),
    ]);
    const items = found.flat().map((item): AttentionItem => ({
      detail: null,
      actors: [],
      count: 1,
      nextAttempt: null,
      ...item,
    }));
    return items.sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
  }, SPARED);

  endpoint(app, "get", "/attention", {
    summary: "What needs the attention of an operator, with what to do about it",
    description: "Conditions that repair themselves within seconds are not listed.",
    answer: api.attention,
  }, async () => {
    const items = await find();
    return { count: items.filter((item) => item.severity !== "notice").length, items };
  });
}

const ORDER: readonly AttentionItem["severity"][] = ["bad", "warning", "notice"];

async function checks({ failingChecks }: AttentionSources): Promise<Item[]> {
  // The partitions have an item of their own.
  const failing = (await failingChecks?.() ?? []).filter(({ name }) => name !== "partitions");
  return failing.map(({ name, why }): Item => ({
    id: `check ${name}`,
    category: "check",
    severity: "bad",
    title: `The check "${name}" of this process fails.`,
    detail: why,
    advice: "Requests that depend on it are answered with 503 until it succeeds. Correct what the reason names.",
    page: "/ui/workers",
  }));
}

async function places({ store, places: { workers } }: AttentionOptions): Promise<Item[]> {
  const [all, { unserved }] = await Promise.all([workers(), readProblemCounts(store)]);
  const page = "/ui/workers";
  const items: Item[] = all.flatMap(({ id, alive, suspect, clockAheadMs }): Item[] => {
    if (!alive) {
      return [{
        id: `worker ${id}`,
        category: "worker",
        severity: "warning",
        title: `The worker ${id} is gone.`,
        advice:
          "The others take over its partitions within seconds. If it was not stopped on purpose, read the end of " +
          "its log and start it again.",
        page,
      }];
    }
    const ahead = severity(Math.abs(clockAheadMs), SKEW);
    const clock: Item[] = ahead === undefined ? [] : [{
      id: `clock ${id}`,
      category: "clock",
      severity: ahead,
      title: `The clock of the worker ${id} is ${Math.round(Math.abs(clockAheadMs) / 100) / 10} s ${
        clockAheadMs > 0 ? "ahead of" : "behind"
      } the clock of the database.`,
      advice: "Set both clocks by NTP. Due times use the database's clock, but validity intervals of transactions, " +
        "certificates and logs depend on these clocks.",
      page,
    }];
    const silent: Item[] = !suspect ? [] : [{
      id: `worker ${id}`,
      category: "worker",
      severity: "warning",
      title: `The worker ${id} does not answer requests.`,
      advice: "Check its log, its load and its connection to NATS. If that lasts, restart it: the others take over.",
      page,
    }];
    return [...clock, ...silent];
  });
  if (unserved > 0) {
    items.push({
      id: "partitions",
      category: "partition",
      severity: "bad",
      title: `${unserved} ${unserved === 1 ? "partition has" : "partitions have"} no worker.`,
      advice: "The actors in them accept no commands. Start a process with the role worker, or wait for the takeover.",
      page,
      count: unserved,
    });
  }
  return items;
}

async function effects(store: Store): Promise<Item[]> {
  const groups = await readFailingEffects(store, { attempts: ATTEMPTS.warning, limit: LISTED });
  return groups.map(({ kind, name, error, actors, attempts, nextAttempt, some }): Item => ({
    id: `effect ${kind} ${name} ${error}`,
    category: "effect",
    severity: severity(attempts, ATTEMPTS) ?? "warning",
    title: `The effect ${name} of ${actors === 1 ? "an actor" : `${actors} actors`} of the kind ${kind} fails.`,
    detail: error,
    advice: "It is attempted again, at most 30 s apart, until it succeeds. Correct what the error names.",
    page: pageOf(some[0]) ?? "/ui/actors",
    actors: [...some],
    count: actors,
    nextAttempt: nextAttempt.toISOString(),
  }));
}

async function waiting({ lags }: Places): Promise<Item[]> {
  const { outbox, inputs, effects, reminders, follower } = await lags();
  const behind = follower ? follower.tipHeight - follower.height : 0;
  const lag = (
    id: string,
    level: Item["severity"] | undefined,
    title: string,
    advice: string,
    page = "/ui/workers",
  ): Item[] => level === undefined ? [] : [{ id: `lag ${id}`, category: "lag", severity: level, title, advice, page }];
  return [
    ...lag(
      "follower",
      severity(behind, BEHIND),
      `The index of the chain is ${behind} blocks behind the network.`,
      "It catches up after a restart or a long rollback. If the number does not fall, check that a process with the " +
        "role follower runs and that its network provider answers.",
      "/",
    ),
    ...lag(
      "inputs",
      severity(inputs.oldestMs ?? 0, WAITING),
      inputs.unread === 1
        ? `1 event of the chain waits for its actor, for ${seconds(inputs.oldestMs)}.`
        : `${inputs.unread} events of the chain wait for their actors, the oldest for ${seconds(inputs.oldestMs)}.`,
      "Events of paused actors wait until the actors are resumed. Otherwise the workers are overloaded or missing.",
      "/ui/actors?paused=true",
    ),
    ...lag(
      "outbox",
      severity(outbox.oldestMs ?? 0, WAITING),
      `Transitions are not published: ${outbox.unpublished}, the oldest for ${seconds(outbox.oldestMs)}.`,
      "Subscribers get them late; none is lost. Check that the workers reach NATS, and that its streams have a quorum and " +
        "space on the disk: the logs of the workers and of NATS have the reason.",
    ),
    ...lag(
      "effects",
      severity(effects.oldestMs ?? 0, DUE),
      `An effect has been due for ${seconds(effects.oldestMs)} and was not attempted.`,
      "Its partition has no worker, or the workers have more effects than they can run. Add a worker.",
    ),
    ...lag(
      "reminders",
      reminders.overdue > 0 && reminders.overdueMs !== null ? severity(reminders.overdueMs, WAITING) : undefined,
      `Reminders are overdue: ${reminders.overdue}, the oldest for ${seconds(reminders.overdueMs)}.`,
      "Those of paused actors wait until the actors are resumed. Otherwise the workers are overloaded or missing.",
      "/ui/actors?paused=true",
    ),
  ];
}

const seconds = (ms: number | null) => `${Math.round((ms ?? 0) / 1_000)} s`;

async function quarantines({ quarantined }: AttentionSources): Promise<Item[]> {
  const tokens = await quarantined?.() ?? [];
  return tokens.slice(0, LISTED).map(({ tokenId, reason }): Item => ({
    id: `quarantine ${tokenId}`,
    category: "quarantine",
    severity: "bad",
    title: "A token is quarantined: its facts are not served with proofs.",
    detail: reason,
    advice: "Open the token and release it: its history is replayed and compared with the ledger. If that fails, the " +
      "ledger's data is of a contract that this release does not know.",
    page: pageOf({ kind: "token", id: tokenId }) ?? "/",
    actors: [{ kind: "token", id: tokenId }],
  }));
}

async function deadLetters(letters: Pick<DeadLetters, "count">): Promise<Item[]> {
  const count = await letters.count();
  return count === 0 ? [] : [{
    id: "dead letters",
    category: "dead-letter",
    severity: "bad",
    title: `${count} ${count === 1 ? "event" : "events"} could not be applied.`,
    advice: "Each waits for your decision: retry it once the cause of its error is corrected, or drop it.",
    page: "/ui/dead-letters",
    count,
  }];
}

async function webhooks(store: Store): Promise<Item[]> {
  const all = await listWebhooks(store);
  return all.flatMap(({ id, url, status, reason, pending }): Item[] =>
    status === "active" ? [] : [{
      id: `webhook ${id}`,
      category: "webhook",
      severity: status === "disabled" ? "bad" : "warning",
      title: status === "disabled"
        ? `The webhook to ${new URL(url).host} is disabled, ${pending} deliveries wait.`
        : `Deliveries of the webhook to ${new URL(url).host} fail, ${pending} wait.`,
      detail: reason,
      advice: status === "disabled"
        ? "Correct the receiver, send it a test, and resume the webhook; or remove it."
        : "They are attempted again for about a day. Check the receiver, and send it a test.",
      page: "/ui/webhooks",
      count: pending,
    }]
  );
}

async function streams(store: Store): Promise<Item[]> {
  const [incomplete, rebuild] = await Promise.all([readIncompleteStreams(store), readRebuild(store)]);
  const item = (title: string, detail: string | null): Item => ({
    id: "stream",
    category: "stream",
    severity: "bad",
    title,
    detail,
    advice: "`arbor events rebuild` writes the streams of transitions again from the database.",
    page: "/ui/workers",
  });
  if (rebuild?.status === "failed") {
    return [
      item(
        "A rebuild of the streams of transitions has failed; transitions may wait until one succeeds.",
        rebuild.reason,
      ),
    ];
  }
  if (incomplete.length === 0) return [];
  const [subject, verb] = incomplete.length === 1 ? ["stream", "lacks"] : ["streams", "lack"];
  return [item(`The ${subject} ${incomplete.join(" and ")} ${verb} transitions that were published before.`, null)];
}

async function pauses(paused: () => Promise<number>): Promise<Item[]> {
  const count = await paused();
  return count === 0 ? [] : [{
    id: "paused",
    category: "paused",
    severity: "notice",
    title: `${count} ${count === 1 ? "actor is" : "actors are"} paused.`,
    advice: "A paused actor accepts no commands and reads nothing of the chain until an operator resumes it.",
    page: "/ui/actors?paused=true",
    count,
  }];
}

/** The page of an actor. */
function pageOf(entity: EntityRef | undefined): string | undefined {
  return entity && `/ui/actors/${entity.kind}/${encodeURIComponent(entity.id)}`;
}
