/**
 * `GET /metrics`: metrics of this process, and backlogs of the database, read at the time of the request.
 *
 * Database metrics are the same at every edge of one database: aggregate them with `max`, never with `sum`.
 */
import { z } from "zod";
import { inTime } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { type Gauge, metrics, METRICS_TYPE } from "#src/base/metrics.ts";
import type { OperatorPart } from "#src/operators/http/app.ts";
import type { IndexPosition, Lookups } from "#src/operators/http/lookups.ts";
import { memo } from "#src/http/memo.ts";
import { endpoint } from "#src/http/route.ts";
import { readBacklog, readProblemCounts } from "#src/runtime/operations/counts.ts";
import type { TokenLogReads } from "#src/operators/http/tokenLog.ts";
import type { LogCounts } from "#src/tokens/log/status.ts";
import type { Store } from "#src/store/store.ts";

const gauge = (name: string, help: string): Gauge => metrics.gauge(name, `${help} Counted in the whole database.`).of();
const rows = {
  unpublished: gauge("arbor_outbox_unpublished", "Transitions not yet published to subscribers."),
  unpublishedAge: gauge("arbor_outbox_oldest_seconds", "Age of the oldest unpublished transition, in seconds."),
  unread: gauge("arbor_inputs_unread", "Rows of the chain log that their actors have not applied."),
  unreadAge: gauge(
    "arbor_inputs_oldest_seconds",
    "Age of the oldest row of the chain log that is not applied, in seconds.",
  ),
  open: gauge("arbor_effects_open", "Effects that are not completed."),
  failing: gauge("arbor_effects_failing", "Effects that failed and will be retried."),
  queued: gauge("arbor_effects_queued", "Effects in the queues of limits, those that run included."),
  openAge: gauge("arbor_effects_oldest_seconds", "How long the most overdue effect has been due, in seconds."),
  pending: gauge("arbor_reminders_pending", "Reminders that have not fired."),
  overdue: gauge("arbor_reminders_overdue", "Reminders that are overdue."),
  deadLetters: gauge("arbor_dead_letters", "Dead letters that are neither retried nor deleted."),
  unserved: gauge("arbor_partitions_unserved", "Partitions without a worker."),
  slot: gauge("arbor_follower_slot", "Slot of the last indexed block."),
  lagSlots: gauge("arbor_follower_lag_slots", "Slots between the last indexed block and the network's tip."),
  logEntries: gauge("arbor_log_entries", "Entries of the log of tokens."),
  logAge: gauge("arbor_log_checkpoint_seconds", "Age of the newest checkpoint of the log of tokens, in seconds."),
  logBehind: gauge("arbor_log_unlogged", "States of tokens that are final and not in the log yet."),
  lagBlocks: gauge("arbor_follower_lag_blocks", "Blocks between the last indexed block and the network's tip."),
};
const reachable = gauge("arbor_database_reachable", "Whether the database could be queried: 1 or 0.");

/** How long rows are used, and how long a scrape waits for them, in milliseconds. */
const FRESH_MS = 5_000;
const PATIENCE_MS = 1_000;

type Rows = readonly [
  Awaited<ReturnType<typeof readBacklog>>,
  Awaited<ReturnType<typeof readProblemCounts>>,
  IndexPosition | undefined,
  LogCounts | undefined,
];

function setRows([backlog, troubles, index, tokenLog]: Rows): void {
  const { outbox, inputs, effects, reminders } = backlog;
  rows.unpublished.set(outbox.unpublished);
  rows.unpublishedAge.set((outbox.oldestMs ?? 0) / 1_000);
  rows.unread.set(inputs.unread);
  rows.unreadAge.set((inputs.oldestMs ?? 0) / 1_000);
  rows.open.set(effects.open);
  rows.failing.set(effects.failing);
  rows.queued.set(effects.queued);
  rows.openAge.set((effects.oldestMs ?? 0) / 1_000);
  rows.pending.set(reminders.pending);
  rows.overdue.set(reminders.overdue);
  rows.deadLetters.set(troubles.deadLetters);
  rows.unserved.set(troubles.unserved);
  rows.slot.set(index?.slot ?? NaN);
  rows.lagSlots.set(index ? Math.max(0, index.tipSlot - index.slot) : NaN);
  rows.lagBlocks.set(index ? Math.max(0, index.tipHeight - index.height) : NaN);
  rows.logEntries.set(tokenLog?.size ?? NaN);
  rows.logAge.set((tokenLog?.checkpointMs ?? NaN) / 1_000);
  rows.logBehind.set(tokenLog?.unlogged ?? NaN);
}

interface MetricsOptions {
  readonly store: Store;
  readonly log: Log;
  /** The index of the chain; without it its metrics are `NaN`. */
  readonly index?: Pick<Lookups, "position">;
  /** The log of tokens; without it its metrics are `NaN`. */
  readonly tokenLog?: Pick<TokenLogReads, "counts">;
}

/**
 * Adds the endpoint. Where the rows cannot be read in time, the metrics of the database are `NaN`; those of the process
 * are there.
 */
export function metricsRoutes({ store, log, index, tokenLog }: MetricsOptions): OperatorPart {
  const rowsOf = memo(
    FRESH_MS,
    (): Promise<Rows> =>
      Promise.all([readBacklog(store), readProblemCounts(store), index?.position(), tokenLog?.counts()]),
    10,
  );
  const read = async () => {
    try {
      const found = await inTime(rowsOf(), PATIENCE_MS);
      if (found === undefined) throw new Error("the database did not respond in time");
      setRows(found);
      reachable.set(1);
    } catch (error) {
      log.warn("cannot query the database for metrics", { reason: reason(error) });
      for (const one of Object.values(rows)) one.set(NaN);
      reachable.set(0);
    }
  };
  return (app) => {
    endpoint(app, "get", "/metrics", {
      summary: "Metrics for Prometheus",
      description: "Metrics in the Prometheus text format.",
      produces: "text/plain",
      answer: z.string(),
    }, async ({ context }) => {
      await read();
      return context.body(await metrics.text(), 200, { "content-type": METRICS_TYPE });
    });
  };
}
