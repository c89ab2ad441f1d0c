/** What the token service depends on. */
import type { TokenPayer } from "#src/tokens/builds/tokenFunds.ts";
import type { Json } from "#src/base/json.ts";
import type { Builders } from "#src/tokens/builds/jobs.ts";
import type { Failure, Result } from "#src/base/result.ts";
import type { RateLimit } from "#src/http/rateLimit.ts";
import type { NetworkId } from "#src/cardano/address.ts";
import type { ServiceOptions } from "#src/http/service.ts";
import type { Sites } from "#src/http/sites.ts";
import type { LogSettings } from "#src/tokens/log/settings.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { UtxoRootReads } from "#src/chain/utxoRoot/reads.ts";

export interface TokenEdgeOptions extends ServiceOptions {
  /** Network id of the addresses that are accepted. */
  readonly networkId: NetworkId;
  readonly networkMagic: number;
  readonly port: Pick<ChainPort, "inMempool" | "network" | "parameters" | "tip" | "transactionCbor" | "utxosByRef">;
  /** Wakes the follower, so that it reads the outputs of addresses that were not watched before. */
  wake(): void;
  /** Why the service answers nothing but health checks; undefined: it works. */
  readonly off?: string;
  /** Whether facts come with slots when the query does not say. */
  readonly factSlots?: boolean;
  /** Whether open requests have what they change at their top as well: those of a signing service do. */
  readonly changesAtTop?: boolean;
  /** Builds the transaction that creates a token, which has no actor yet. */
  boot(from: TokenPayer, deadline: number): Promise<Result<Json, Failure>>;
  /** For proofs and summaries. */
  readonly builders: Pick<Builders, "run">;
  /** URL of the entry file of the client for browsers. */
  readonly client: string;
  /** Accepted host names and origins of pages; all where undefined. */
  readonly sites?: Sites;
  /** Reads with the root of all unspent outputs; undefined where the instance keeps none. */
  readonly utxoRoot?: UtxoRootReads | undefined;
  /** The log of the instance. */
  readonly tokenLog: LogSettings;
  /** Limits of one client; none where undefined. */
  readonly rateLimit?: RateLimit;
  /** Port at which the page finds the development wallet of the deployment's own devnet; undefined: it has none. */
  readonly devnetWallet?: number | undefined;
  /** URLs of other instances that the page may read roots from. */
  readonly pageConnect?: readonly string[];
  /** Longest wait for blocks, in milliseconds. */
  readonly longestWaitMs?: number;
}
