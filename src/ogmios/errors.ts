/** Errors of Ogmios that are about no rule of the ledger: requests and transactions that cannot be read. */
import type { Json } from "#src/base/json.ts";
import type { OgmiosVersion } from "#src/ogmios/form.ts";

/** The `error` of an answer. */
export interface OgmiosError {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
}

/** An error, without `data` where it has none. */
export function ogmiosError(code: number, message: string, data?: Json): OgmiosError {
  return data === undefined ? { code, message } : { code, message, data };
}

/** Eras in whose form each version tries to read a transaction. */
const ERAS = {
  6: ["shelley", "allegra", "mary", "alonzo", "babbage", "conway"],
  7: ["alonzo", "babbage", "conway", "dijkstra"],
} as const;

/** -32602: bytes that are no transaction. `reason` says why; it stands for every era, as each reader fails on the bytes. */
export function undecodableError(reason: string, version: OgmiosVersion): OgmiosError {
  return ogmiosError(
    -32602,
    "Invalid transaction; it is not well-formed in any era.",
    Object.fromEntries(ERAS[version].map((era) => [era, reason])),
  );
}

/** -32600: a request that cannot be served; `why` becomes a sentence after "Invalid request: ". */
export function invalidRequest(why: string): OgmiosError {
  return ogmiosError(-32600, `Invalid request: ${why}`);
}
