/** What the token service depends on. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Json } from "#src/base/json.ts";
import type { Log } from "#src/base/log.ts";
import type { Builders } from "#src/builders/builders.ts";
import type { Failure, Result } from "#src/base/result.ts";
import type { RateLimit } from "#src/edge/rateLimit.ts";
import type { Sites } from "#src/edge/sites.ts";
import type { Ask } from "#src/runtime/bus/ask.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { EventLog } from "#src/runtime/events/eventLog.ts";
import type { Store } from "#src/store/store.ts";

export interface TokenEdgeOptions {
  readonly store: Store;
  readonly port: Pick<ChainPort, "inMempool" | "network" | "utxosByRef">;
  /** Transitions as they happen, for streams. */
  readonly events: EventLog;
  /** Network id of the addresses that are accepted. */
  readonly networkId: 0 | 1;
  /** The network's magic. */
  readonly networkMagic: number;
  /** Whether facts come with slots when the query does not say. */
  readonly factSlots?: boolean;
  /** Sends a command to an actor. */
  readonly ask: Ask["ask"];
  /** Requests a build from an actor. */
  readonly build: Ask["build"];
  /** Builds the transaction that creates a token, which has no actor yet. `address` is bytes in hexadecimal. */
  boot(address: string, deadline: number): Promise<Result<Json, Failure>>;
  /** For proofs and summaries. */
  readonly builders: Pick<Builders, "run">;
  /** Adds the health endpoints. */
  readonly health: (app: OpenAPIHono) => void;
  /** Accepted host names and origins of pages; all where undefined. */
  readonly sites?: Sites;
  /** Limits of one client; none where undefined. */
  readonly rateLimit?: RateLimit;
  readonly log: Log;
  /** Longest wait for blocks, in milliseconds. */
  readonly longestWaitMs?: number;
}
