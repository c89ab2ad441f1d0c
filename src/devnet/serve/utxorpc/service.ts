/**
 * UTxO RPC of a devnet (https://utxorpc.org): gRPC, gRPC-Web and Connect on one port, in version v1alpha.
 *
 * Messages have the form of version 0.18 of its specification, or that of 0.17 with integers; clients of one cannot read the other.
 */
import type { Log } from "#src/base/log.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import type { MeasureRedeemers } from "#src/plutus/types.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";

export interface UtxorpcSettings {
  readonly devnet: Devnet;
  readonly store: Store;
  readonly bus: Pick<Bus, "subscribe">;
  /** Measures the redeemers of a transaction, in a thread. */
  readonly measure: MeasureRedeemers;
  readonly log: Log;
  /** Whether quantities are integers, as before version 0.18 of the messages; false by default. */
  readonly integers?: boolean;
  /** Whether the devnet keeps the index of its chain; true by default. Without it some searches are not implemented. */
  readonly index?: boolean;
  /** Milliseconds after which the chain is read without an announcement; 1,000 by default. */
  readonly pollMs?: number;
}

/** An address at which clients are served. */
export interface UtxorpcListener {
  readonly host: string;
  readonly port: number;
  /** Ends all streams and connections. */
  stop(): Promise<void>;
}

/** UTxO RPC, which can be served at several addresses. */
export interface UtxorpcService {
  /** Serves clients at an address; port 0 takes a free one. Rejects with code `EADDRINUSE` where it is taken. */
  listen(address: { readonly host: string; readonly port: number }): Promise<UtxorpcListener>;
  /** Stops at all addresses. */
  close(): Promise<void>;
}

/** UTxO RPC of the devnet of this process. Nothing is loaded before it listens. */
export function utxorpcService(
  { integers = false, index: indexed = true, pollMs = 1_000, ...of }: UtxorpcSettings,
): UtxorpcService {
  const listeners = new Set<UtxorpcListener>();
  return {
    listen: async (address) => {
      const { serveUtxorpc } = await import("#src/devnet/serve/utxorpc/server.ts");
      const listener = await serveUtxorpc({ ...of, indexed, pollMs }, integers, address);
      listeners.add(listener);
      return listener;
    },
    close: async () => {
      await Promise.all([...listeners].map((listener) => listener.stop()));
      listeners.clear();
    },
  };
}
