/** What the signing service depends on. */
import type { WalletBuilds } from "#actors/walletBuildCalls.ts";
import type { Faucet } from "#src/edge/signer/faucet.ts";
import type { SigningWallet } from "#src/edge/signer/wallet.ts";
import type { TokenEdgeOptions } from "#src/edge/tokens/options.ts";
import type { Presence } from "#src/runtime/placement/presence.ts";
import type { SigningServices } from "#src/vault/walletSigning.ts";
import type { Vault } from "#src/vault/vault.ts";

/** What it works with, whatever its wallet. */
export interface SignerOptions extends TokenEdgeOptions, Pick<SigningServices, "countSpending"> {
  readonly vault: Vault;
  readonly builds: Pick<WalletBuilds, "decode">;
  /** Presence of this process, and of others. */
  readonly presence: Presence;
  /** Wakes the follower: there is a new address to watch. */
  readonly wake: () => void;
  /** Source of ada; undefined where the network has none. */
  readonly faucet?: Faucet | undefined;
  /** Bearer token of every request but health checks; undefined on loopback. */
  readonly token?: string | undefined;
  /** Accepted host names beside those of this machine and addresses. */
  readonly hosts: readonly string[];
}

/** The service of one wallet. */
export interface SignerEdgeOptions extends SignerOptions {
  readonly wallet: SigningWallet;
  /**
   * Whether this process is the one that sends for the wallet, by the database: another one with the same seed file may
   * be.
   */
  readonly sends: () => Promise<boolean>;
}
