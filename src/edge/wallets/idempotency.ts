/** `Idempotency-Key`: a request that spends, asked twice, spends once. */
import type { Context } from "hono";
import { z } from "zod";
import { utf8 } from "#src/base/bytes.ts";
import { inTime, sleep } from "#src/base/clock.ts";
import { toJson } from "#src/base/json.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { HttpFailure } from "#src/edge/errors.ts";
import type { Desk } from "#src/edge/wallets/context.ts";
import { isRetryable, type Queries } from "#src/store/store.ts";
import {
  ABANDONED_MS,
  type Attempt,
  claimRequest,
  dropRequest,
  holdRequest,
  storeTransaction,
} from "#src/wallet/requests.ts";

const KEY = "Idempotency-Key";

/** The header, for the document. */
export const onceHeader = {
  "idempotency-key": z.string().min(1).max(200).optional().meta({
    description:
      "Names the request: asked again with the same key within a day, it is not done again and gets the same transaction.",
  }),
};
/** What such a request may be answered with besides. */
export const ONCE = { 409: "`request_in_progress`, `idempotency_key_reused`" };

/** Whether a request has a key of its own. */
export const isNamed = (context: Context): boolean => context.req.header(KEY) !== undefined;

const SECRET = new Set(["passphrase"]);
/** How long the answer to a failed request waits for its key to be free, in milliseconds; it is freed afterwards all the same. */
const RELEASE_MS = 1_000;
/** Time between two tries to free a key, in milliseconds. */
const RELEASE_AGAIN_MS = 250;

/**
 * The signed transaction of a request: made now, or the one that was made when the key came first. `body` is what the request asks for;
 * its passphrase is not looked at.
 */
export async function madeOnce(
  { store, presence }: Pick<Desk, "store" | "presence">,
  context: Context,
  scope: string,
  body: object,
  make: () => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const key = context.req.header(KEY);
  if (key === undefined) return await make();
  if (!/^[\x21-\x7e]{1,200}$/.test(key)) {
    throw new HttpFailure(400, "bad_request", `${KEY} has 1 to 200 printable characters of ASCII.`);
  }
  const open = Object.fromEntries(Object.entries(body).filter(([name]) => !SECRET.has(name)));
  const fingerprint = hash256(utf8(toJson([context.req.method, context.req.path, plain(open)])));
  const mine = { scope, key, attempt: crypto.randomUUID() };
  const claim = { ...mine, fingerprint, holder: presence.name };
  // Also while the claim is on its way: it may be written although its answer is lost.
  let mayBeMine = true;
  try {
    let claimed = await claimRequest(store.sql, claim);
    // nobody waits for a process that ended while it worked on it
    if (claimed.state === "busy" && claimed.holder !== null && await presence.isGone(claimed.holder)) {
      claimed = await claimRequest(store.sql, { ...claim, gone: claimed.attempt });
    }
    mayBeMine = claimed.state === "begun";
    switch (claimed.state) {
      case "made":
        return claimed.transaction;
      case "busy":
        throw new HttpFailure(
          409,
          "request_in_progress",
          "The request with this key is being done: ask again in a moment.",
        );
      case "other":
        throw new HttpFailure(409, "idempotency_key_reused", `This ${KEY} came with another request before.`);
    }
    const transaction = await held(store.sql, mine, make);
    if (await storeTransaction(store.sql, mine, transaction)) return transaction;
  } catch (error) {
    if (mayBeMine) await inTime(release(store.sql, mine), RELEASE_MS);
    throw error;
  }
  throw new HttpFailure(409, "request_in_progress", "The request with this key was taken over: ask again in a moment.");
}

/** Does the work of an attempt and keeps others from taking the request over meanwhile: signing many transactions takes long. */
async function held<T>(sql: Queries, mine: Attempt, work: () => Promise<T>): Promise<T> {
  const holding = setInterval(() => void holdRequest(sql, mine).catch(() => {}), ABANDONED_MS / 4);
  try {
    return await work();
  } finally {
    clearInterval(holding);
  }
}

/**
 * Frees the key of an attempt that failed. Where the database is away it is freed once that is back: until then the row names a process that
 * lives, which nobody takes over for `ABANDONED_MS`. Never rejects.
 */
async function release(sql: Queries, mine: Attempt): Promise<void> {
  for (const end = performance.now() + ABANDONED_MS; performance.now() < end; await sleep(RELEASE_AGAIN_MS)) {
    try {
      return await dropRequest(sql, mine);
    } catch (error) {
      if (!isRetryable(error)) return;
    }
  }
}

/** A value with bytes and maps as JSON has them. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Array.from(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}
