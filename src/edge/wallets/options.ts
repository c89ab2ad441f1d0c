/** What the wallet service needs of the rest of the house. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Clock } from "#src/base/clock.ts";
import type { Log } from "#src/base/log.ts";
import type { Builders } from "#src/builders/builders.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { Ask } from "#src/runtime/bus/ask.ts";
import type { EventLog } from "#src/runtime/events/eventLog.ts";
import type { Presence } from "#src/runtime/placement/presence.ts";
import type { EntityRef } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";
import type { Vault } from "#src/vault/vault.ts";
import type { FetchOptions } from "#src/wallet/outside/fetch.ts";
import type { PoolBook } from "#src/wallet/pools/book.ts";

export interface WalletEdgeOptions {
  readonly store: Store;
  /** Network id of the addresses that are accepted. */
  readonly networkId: 0 | 1;
  readonly networkMagic: number;
  /** Puts a command to an actor. */
  readonly ask: Ask["ask"];
  /** Has actors read their input logs, after the commit. */
  readonly ring: (entities: readonly EntityRef[]) => void;
  /** Asks an actor for a build. */
  readonly build: Ask["build"];
  readonly port: ChainPort;
  readonly vault: Vault;
  /** For stretching and derivation: secrets go to local threads alone. */
  readonly builders: Builders;
  /** Transitions as they happen, for streams. */
  readonly events: EventLog;
  /** That this process is there, and whether others are. */
  readonly presence: Presence;
  /** So far behind, in seconds, a wallet counts as ready. */
  readonly toleranceS: number;
  /** By which it is known what slot it is, and when something happened. */
  readonly clock: Clock;
  /** Whether the network makes blocks by the clock, so that a tip of long ago means that the node is behind. */
  readonly clocked: boolean;
  /** Server of token metadata; none is asked where undefined. */
  readonly tokenMetadata?: string;
  /** How servers of others are asked, whose addresses people and pools name. */
  readonly outside: Pick<FetchOptions, "allowPrivate" | "ca" | "timeoutMs">;
  /** The book of pools that this process shares with who keeps their metadata; one of its own unless given. */
  readonly book?: PoolBook;
  /** Names that it answers to beside those of this machine and addresses. */
  readonly hosts?: readonly string[];
  /** The follower's doorbell. */
  readonly wake: () => void;
  /** Adds what says whether this process lives and is ready. */
  readonly health: (app: OpenAPIHono) => void;
  readonly log: Log;
}
