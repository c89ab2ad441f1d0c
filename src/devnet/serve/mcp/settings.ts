/**
 * What the MCP server works with. The services of the process are a port that the application fills: their apps, which are called
 * without a network.
 */
import type { Log } from "#src/base/log.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import type { MeasureRedeemers } from "#src/plutus/types.ts";

/** The HTTP API of a service of this process; a Hono app is one. */
export interface LocalApi {
  fetch(request: Request): Response | Promise<Response>;
}

export interface McpSettings {
  readonly devnet: Devnet;
  /** The devnet's own API (`devnetApp`): faucet, time, snapshots, rollbacks, outputs. */
  readonly api: LocalApi;
  /** Measures the redeemers of a transaction, in a thread. */
  readonly measure: MeasureRedeemers;
  readonly log: Log;
  /** The token service's API, for facts; without it there are no such tools. */
  readonly tokens?: LocalApi | undefined;
  /** The operator service's API, for actors and their history; it must accept requests without a token. */
  readonly operators?: LocalApi | undefined;
}

/** The loopback port at which clients are served. */
export interface McpListener {
  readonly host: string;
  readonly port: number;
  stop(): Promise<void>;
}
