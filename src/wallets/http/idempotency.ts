/** `Idempotency-Key`: a request that spends, sent twice, spends once. */
import type { Context } from "hono";
import { z } from "zod";
import { utf8 } from "#src/base/bytes.ts";
import { toJson } from "#src/base/json.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { HttpFailure } from "#src/http/failure.ts";
import type { WalletService } from "#src/wallets/http/service.ts";
import { makeOnce, type RequestFailure } from "#src/wallets/requestOnce.ts";

const KEY = "Idempotency-Key";

/** The header, for the document. */
export const onceHeader = {
  "idempotency-key": z.string().min(1).max(200).optional().describe(
    "Idempotency key: a repeated request with the same key within a day is not executed again and returns the same transaction.",
  ),
};
/** Refusals of such a request. */
export const ONCE = { 409: "`request_in_progress`, `idempotency_key_reused`" };

/** Whether a request has a key. */
export const isNamed = (context: Context): boolean => context.req.header(KEY) !== undefined;

const SECRET = new Set(["passphrase"]);

/**
 * The signed transaction of a request: made now, or the one that was made when the key came first. `body` is the
 * request without the wallet's id; its passphrase is no part of what the key stands for. Throws 400 and 409.
 */
export async function madeOnce(
  { store, presence }: Pick<WalletService, "store" | "presence">,
  context: Context,
  scope: string,
  body: object,
  make: () => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const key = context.req.header(KEY);
  if (key === undefined) return await make();
  if (!/^[\x21-\x7e]{1,200}$/.test(key)) {
    throw new HttpFailure(400, "bad_request", `${KEY} must have 1 to 200 printable ASCII characters.`);
  }
  const open = Object.fromEntries(Object.entries(body).filter(([name]) => !SECRET.has(name)));
  const fingerprint = hash256(utf8(toJson([context.req.method, context.req.path, plain(open)])));
  const made = await makeOnce(store.sql, presence, { scope, key, fingerprint }, make);
  if (made.ok) return made.value;
  throw new HttpFailure(...REFUSALS[made.error.code]);
}

/** Status, code and message of each failure. */
const REFUSALS: Readonly<Record<RequestFailure["code"], readonly [status: 409, code: string, message: string]>> = {
  busy: [409, "request_in_progress", "A request with this key is in progress; try again later."],
  taken_over: [
    409,
    "request_in_progress",
    "The request with this key was taken over by another process; try again later.",
  ],
  key_reused: [409, "idempotency_key_reused", `This ${KEY} was already used for a different request.`],
};

/** A value with bytes and maps as JSON has them. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Array.from(value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}
