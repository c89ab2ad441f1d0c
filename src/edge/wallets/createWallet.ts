/** Creation of wallets of any kind: it waits for a deletion of the same wallet that has not ended. */
import { sleep } from "#src/base/clock.ts";
import type { Json } from "#src/base/json.ts";
import type { Failure, Result } from "#src/base/result.ts";
import { HttpFailure } from "#src/edge/errors.ts";
import { isGone, LONGEST_MS, type WalletService } from "#src/edge/wallets/service.ts";
import { refusal } from "#src/edge/wallets/status.ts";
import type { EntityRef } from "#src/runtime/types.ts";

/** Time between two attempts, in milliseconds. */
const AGAIN_MS = 100;

/**
 * Sends CREATE to a wallet's actor, again while the same wallet is being deleted (it has no row then); throws 503 where
 * that takes longer than a call may. Fails with `not_possible` for a wallet that exists.
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
 * Throws the refusal of a failed command, unless the command only takes longer than a call may, as with a great address
 * pool, and its effect is already visible.
 */
export async function refuseUnlessThere(failure: Failure, isThere: () => Promise<boolean>): Promise<void> {
  const refused = refusal(failure);
  if (!(refused instanceof HttpFailure && refused.status === 503 && await isThere())) throw refused;
}
