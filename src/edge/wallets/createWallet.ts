/** How wallets of any kind come to be: by CREATE, which waits for a DELETE of the same wallet that is not done yet. */
import { sleep } from "#src/base/clock.ts";
import type { Json } from "#src/base/json.ts";
import type { Failure, Result } from "#src/base/result.ts";
import { HttpFailure } from "#src/edge/errors.ts";
import { isGone, LONGEST_MS, type WalletService } from "#src/edge/wallets/service.ts";
import { refusal } from "#src/edge/wallets/status.ts";
import type { EntityRef } from "#src/runtime/types.ts";

/** Milliseconds between two tries. */
const AGAIN_MS = 100;

/**
 * Puts CREATE to a wallet's actor. One that is being deleted has no row any more and is told to begin anew once it is gone; throws 503
 * where that takes longer than a call may. `not_possible` is left for a wallet that is there.
 */
export async function create(
  { ask }: Pick<WalletService, "ask">,
  entity: EntityRef,
  command: { readonly type: "CREATE"; readonly [name: string]: Json },
  isThere: () => Promise<boolean>,
  longestMs = LONGEST_MS,
): Promise<Result<Json, Failure>> {
  for (const end = performance.now() + longestMs;;) {
    const answer = await ask(entity, command, { deadlineMs: Math.max(1, Math.ceil(end - performance.now())) });
    if (answer.ok || !isGone(answer.error) || await isThere()) return answer;
    if (performance.now() + AGAIN_MS > end) {
      throw refusal({
        code: "unavailable",
        message: `The wallet with the id ${entity.id} is still being deleted: try again in a moment.`,
      });
    }
    await sleep(AGAIN_MS);
  }
}

/**
 * Throws what a command is refused with that failed; not where it only takes longer than a call may, as great pools do, and what it is to bring
 * about is there already and goes on.
 */
export async function refuseUnlessThere(failure: Failure, isThere: () => Promise<boolean>): Promise<void> {
  const refused = refusal(failure);
  if (!(refused instanceof HttpFailure && refused.status === 503 && await isThere())) throw refused;
}
