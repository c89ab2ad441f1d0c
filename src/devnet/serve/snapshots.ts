/** Snapshots on request of another process, over the bus. */
import { z } from "zod";
import { snapshotName as name } from "#src/devnet/api/devnet.ts";
import { messaged } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Tip } from "#src/cardano/block.ts";
import { unavailable } from "#src/devnet/blocks/submission.ts";
import { SNAPSHOT_SUBJECT } from "#src/devnet/serve/subjects.ts";
import type { SaveOptions, Snapshot } from "#src/devnet/snapshots/snapshots.ts";
import { type Bus, BusError } from "#src/runtime/bus/bus.ts";

const CODES = ["snapshot_unknown", "snapshot_exists", "too_many_snapshots", "devnet_unavailable"] as const;

export type SnapshotFailure = Failure<typeof CODES[number] | "mempool_full">;

/** What can be done with the snapshots of a running devnet. */
export interface SnapshotOperations {
  /** Saves the newest block and the mempool under a name. */
  save(name: string, options: SaveOptions): Promise<Result<Snapshot, SnapshotFailure>>;
  /** Goes to the block of a snapshot; gives it. */
  restore(name: string): Promise<Result<Tip, SnapshotFailure>>;
  delete(name: string): Promise<Result<void, SnapshotFailure>>;
}

const request = z.discriminatedUnion("action", [
  z.object({ action: z.literal("save"), name, replace: z.boolean() }),
  z.object({ action: z.literal("restore"), name }),
  z.object({ action: z.literal("delete"), name }),
]);

type SnapshotRequest = z.output<typeof request>;

/** Answers requests until the returned function is called. */
export function serveSnapshots(bus: Bus, operations: SnapshotOperations, log: Log): () => void {
  const work = (asked: SnapshotRequest): Promise<Result<unknown, Failure>> =>
    asked.action === "save"
      ? operations.save(asked.name, asked)
      : asked.action === "restore"
      ? operations.restore(asked.name)
      : operations.delete(asked.name);
  return bus.subscribe(SNAPSHOT_SUBJECT, (body, respond) => {
    const read = request.safeParse(body);
    if (!read.success) {
      respond?.(fail("invalid", "The request is not one of save, restore and delete with the name of a snapshot."));
      return;
    }
    work(read.data).then((done) => respond?.(messaged(done))).catch((error) => {
      log.error("an operation on a snapshot failed", { action: read.data.action, reason: reason(error) });
      respond?.(unavailable());
    });
  });
}

const tip = z.object({ slot: z.number(), hash: z.string(), height: z.number() });
const snapshot = tip.extend({ name: z.string(), transactions: z.number(), saved: z.number() });
const nothing = z.unknown().optional().transform(() => undefined);
const failure = z.object({
  ok: z.literal(false),
  error: z.object({ code: z.enum(CODES), message: z.string(), details: z.unknown().optional() }),
});

/** Milliseconds that a restore may take. */
const SNAPSHOT_MS = 60_000;

/** The operations of the devnet that runs on this bus. They fail with `devnet_unavailable` if there is none. */
export function remoteSnapshots(bus: Bus): SnapshotOperations {
  const ask = async <T>(body: SnapshotRequest, value: z.ZodType<T>): Promise<Result<T, SnapshotFailure>> => {
    try {
      const answer = await bus.request(SNAPSHOT_SUBJECT, body, SNAPSHOT_MS);
      const refused = failure.safeParse(answer);
      return refused.success ? refused.data : ok(z.object({ value }).parse(answer).value);
    } catch (error) {
      if (!(error instanceof BusError)) throw error;
      if (error.code === "no_responders") return fail("devnet_unavailable", "No devnet is running; try again.");
      return fail("devnet_unavailable", "The devnet did not respond in time; the operation may have happened.");
    }
  };
  return {
    save: (name, { replace }) => ask({ action: "save", name, replace }, snapshot),
    restore: (name) => ask({ action: "restore", name }, tip),
    delete: (name) => ask({ action: "delete", name }, nothing),
  };
}
