/** What the operations of the Blockfrost API work with. */
import type { Log } from "#src/base/log.ts";
import type { PageOptions } from "#src/http/pageBundle.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import type { MeasureRedeemers } from "#src/plutus/types.ts";
import type { Store } from "#src/store/store.ts";

export interface BlockfrostService {
  readonly devnet: Devnet;
  readonly store: Pick<Store, "sql">;
  /** Measures the redeemers of a transaction, in a thread. */
  readonly measure: MeasureRedeemers;
  readonly log: Log;
  /** What bundles the API page, and the folder of the start page; without it there are none. */
  readonly page?: Pick<PageOptions, "builders" | "log" | "pages">;
}
