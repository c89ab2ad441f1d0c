/** What the views of a wallet share. */
import type { WalletSummary } from "./service.ts";

/** What each view of a wallet receives. */
export interface WalletTab {
  readonly wallet: WalletSummary;
  /** Reads the wallet again now. */
  readonly reload: () => Promise<void>;
  /** The rest of the address: a transaction's hash. */
  readonly item?: string | undefined;
  readonly query: URLSearchParams;
}
