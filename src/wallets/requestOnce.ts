/** A request that spends, carried out once under the key that its client gave it (`Idempotency-Key`). */
import { inTime, sleep } from "#src/base/clock.ts";
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { Presence } from "#src/runtime/placement/presence.ts";
import { isRetryable, type Queries } from "#src/store/store.ts";
import {
  ABANDONED_MS,
  type Attempt,
  claimRequest,
  dropRequest,
  holdRequest,
  storeTransaction,
} from "#src/wallets/requests.ts";

/** A request with its client's key. */
interface KeyedRequest {
  /** The wallet that the key belongs to, or another name. */
  readonly scope: string;
  readonly key: string;
  /** A hash of the request without its secrets: the key must not come with another request. */
  readonly fingerprint: string;
}

export type RequestFailure = Failure<"busy" | "taken_over" | "key_reused">;

/**
 * How long the answer to a failed request waits for its key to be free, in milliseconds; the key is freed afterwards in
 * any case.
 */
const RELEASE_MS = 1_000;
/** Time between two attempts to free a key, in milliseconds. */
const RELEASE_AGAIN_MS = 250;

/**
 * The signed transaction of a request: from `make`, or the stored one where the key came before. `busy`: another
 * process works on the request; `taken_over`: another process took it over from this one; `key_reused`: the key came
 * with another request. Rejects as `make` does.
 */
export async function makeOnce(
  sql: Queries,
  presence: Pick<Presence, "name" | "isGone">,
  { scope, key, fingerprint }: KeyedRequest,
  make: () => Promise<Uint8Array>,
): Promise<Result<Uint8Array, RequestFailure>> {
  const attempt = { scope, key, attempt: crypto.randomUUID() };
  const claim = { ...attempt, fingerprint, holder: presence.name };
  // True while the claim is on its way as well: it may be written although its answer is lost.
  let mayBeOurs = true;
  try {
    let claimed = await claimRequest(sql, claim);
    if (claimed.state === "busy" && claimed.holder !== null && await presence.isGone(claimed.holder)) {
      claimed = await claimRequest(sql, { ...claim, gone: claimed.attempt });
    }
    mayBeOurs = claimed.state === "begun";
    if (claimed.state === "made") return ok(claimed.transaction);
    if (claimed.state === "busy") return fail("busy", "Another process is executing the request with this key.");
    if (claimed.state === "other") return fail("key_reused", "The key was already used for a different request.");
    const transaction = await whileHolding(sql, attempt, make);
    if (await storeTransaction(sql, attempt, transaction)) return ok(transaction);
  } catch (error) {
    if (mayBeOurs) await inTime(release(sql, attempt), RELEASE_MS);
    throw error;
  }
  return fail("taken_over", "The request with this key was taken over.");
}

/**
 * Does the work of an attempt and keeps other processes from taking the request over: signing many transactions takes
 * long.
 */
async function whileHolding<T>(sql: Queries, attempt: Attempt, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => void holdRequest(sql, attempt).catch(() => {}), ABANDONED_MS / 4);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/**
 * Frees the key of an attempt that failed, once the database answers: until then the row names a live process, which no
 * other takes over for `ABANDONED_MS`. Never rejects.
 */
async function release(sql: Queries, attempt: Attempt): Promise<void> {
  for (const end = performance.now() + ABANDONED_MS; performance.now() < end; await sleep(RELEASE_AGAIN_MS)) {
    try {
      return await dropRequest(sql, attempt);
    } catch (error) {
      if (!isRetryable(error)) return;
    }
  }
}
