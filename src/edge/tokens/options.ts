/** What the token service needs of the rest of the house. */
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
  /** Whether facts come with slots unless asked otherwise. */
  readonly factSlots?: boolean;
  /** Puts a command to an actor. */
  readonly ask: Ask["ask"];
  /** Asks an actor for a build. */
  readonly build: Ask["build"];
  /** Builds what has no entity yet. `address` is bytes in hexadecimal. */
  boot(address: string, deadline: number): Promise<Result<Json, Failure>>;
  /** For proofs and summaries. */
  readonly builders: Pick<Builders, "run">;
  /** Adds what says whether this process lives and is ready. */
  readonly health: (app: OpenAPIHono) => void;
  /** Names that it answers to, and pages that may call it; all where undefined. */
  readonly sites?: Sites;
  /** How much one client may ask; as much as it likes where undefined. */
  readonly rateLimit?: RateLimit;
  readonly log: Log;
  /** How long a wait for blocks may take, in ms. */
  readonly longestWaitMs?: number;
}
