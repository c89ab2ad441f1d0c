/** Options of a devnet, and what it works with. */
import type { Clock } from "#src/base/clock.ts";
import type { Log } from "#src/base/log.ts";
import type { MiningMode } from "#src/devnet/blocks/mining.ts";
import type { ReferenceScript } from "#src/devnet/faucet/publish.ts";
import type { GenesisOptions } from "#src/devnet/genesis/genesis.ts";
import type { Evaluate } from "#src/plutus/types.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";

/** Options of a start. Those of `GenesisOptions` only apply when a devnet is created. */
export interface DevnetOptions extends Partial<GenesisOptions> {
  /** When blocks are made without a request: `interval` by default. */
  readonly mining?: MiningMode;
  /** Milliseconds between blocks in the mode `interval`; 0: the mode is `manual`. 1,000 by default. */
  readonly blockMs?: number;
  /** Whether blocks are produced while the mempool is empty, as on real networks. True by default. */
  readonly emptyBlocks?: boolean;
  /** Size limit of the mempool in bytes; 4 MB by default. */
  readonly mempoolBytes?: number;
  /** Most lovelace of one faucet payment; a million ada by default. */
  readonly faucetLimit?: bigint;
  /** Whether scripts run in transactions whose validity has a bound past the horizon of the era history. False by default. */
  readonly pastHorizon?: boolean;
  /** Whether the index of the chain (`devnet_index_*`) is kept. True by default. */
  readonly index?: boolean;
  /** Whether the tree over the unspent outputs (`devnet_utxo_tree`) and its roots are kept. True by default. */
  readonly utxoRoot?: boolean;
  /** Outputs up to which a lost tree of them is built before blocks go on; 20,000 by default. */
  readonly treeAtOnce?: number;
  /** Reference scripts to publish at addresses, unless they are there already. */
  readonly publish?: readonly ReferenceScript[];
  /** Milliseconds until the lease of a killed devnet expires; 4,000 by default. */
  readonly leaseMs?: number;
  /** Milliseconds to wait for another devnet on the same database to stop; 30,000 by default. */
  readonly waitMs?: number;
}

export interface DevnetSettings {
  readonly store: Store;
  readonly bus: Bus;
  readonly evaluate: Evaluate;
  readonly log: Log;
  readonly clock?: Clock;
  readonly options?: DevnetOptions;
}
