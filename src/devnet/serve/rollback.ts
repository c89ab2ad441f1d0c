/** Rollback of the devnet on request of another process, over the bus. */
import { z } from "zod";
import { isObject, messaged } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { fail, type Failure, type Result } from "#src/base/result.ts";
import type { Tip } from "#src/cardano/block.ts";
import { unavailable } from "#src/devnet/blocks/submission.ts";
import { ROLLBACK_SUBJECT } from "#src/devnet/serve/subjects.ts";
import { type Bus, BusError } from "#src/runtime/bus/bus.ts";

type Rollback = (to: { readonly blocks: number }) => Promise<Result<Tip, Failure>>;

/** Answers rollback requests until the returned function is called. */
export function serveRollbacks(bus: Bus, rollback: Rollback, log: Log): () => void {
  return bus.subscribe(ROLLBACK_SUBJECT, (body, respond) => {
    const blocks = isObject(body) ? body.blocks : undefined;
    if (typeof blocks !== "number" || !Number.isSafeInteger(blocks) || blocks < 0) {
      respond?.(fail("invalid", "The number of blocks is not an integer from 0 on."));
      return;
    }
    rollback({ blocks }).then((done) => respond?.(messaged(done))).catch((error) => {
      log.error("a rollback failed", { reason: reason(error) });
      respond?.(unavailable());
    });
  });
}

const answer = z.discriminatedUnion("ok", [
  z.object({ ok: z.literal(true), value: z.object({ slot: z.number(), hash: z.string(), height: z.number() }) }),
  z.object({
    ok: z.literal(false),
    error: z.object({ code: z.string(), message: z.string(), details: z.unknown().optional() }),
  }),
]);

/** Milliseconds that a rollback may take. */
const ROLLBACK_MS = 20_000;

/** Has the devnet of this bus undo its last blocks; gives its tip. Fails with `no_devnet` if none listens. */
export async function requestRollback(bus: Bus, blocks: number): Promise<Result<Tip, Failure>> {
  try {
    return answer.parse(await bus.request(ROLLBACK_SUBJECT, { blocks }, ROLLBACK_MS));
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    if (error.code === "no_responders") return fail("no_devnet", "No devnet is running that can roll back.");
    return fail("unavailable", "The devnet did not respond in time; the rollback may have happened.");
  }
}
