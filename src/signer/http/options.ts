/** What the signing service depends on. */
import type { WalletBuilds } from "#src/wallets/walletBuildCalls.ts";
import type { Faucet } from "#src/signer/http/faucet.ts";
import type { TokenEdgeOptions } from "#src/tokens/http/options.ts";
import type { Presence } from "#src/runtime/placement/presence.ts";
import type { SigningServices } from "#src/wallets/vault/walletSigning.ts";
import type { Vault } from "#src/wallets/vault/vault.ts";
import type { WalletRow } from "#src/wallets/rows.ts";

/** What it works with, whatever its wallet. */
export interface SignerOptions extends TokenEdgeOptions, Pick<SigningServices, "countSpending"> {
  readonly vault: Vault;
  readonly builds: Pick<WalletBuilds, "decode">;
  /** Presence of this process, and of others. */
  readonly presence: Presence;
  /** Source of ada; undefined where the network has none. */
  readonly faucet?: Faucet | undefined;
  /** Bearer token of every request but health checks; undefined on loopback. */
  readonly token?: string | undefined;
  /** Accepted host names beside those of this machine and addresses. */
  readonly hosts: readonly string[];
}

/** The wallet that signs. */
export interface SigningWallet {
  /** The wallet actor's id. */
  readonly id: string;
  /** The first address, bytes in hexadecimal: transactions are built for it. */
  readonly address: string;
  /** Hash of that address' payment key, which owns the wallet's tokens. */
  readonly owner: string;
  /**
   * The wallet's row, once its actor exists with its root key; creates it first where it does not.
   *
   * @throws {HttpFailure} 409 `wallet_passphrase_differs` where the database has the wallet under another passphrase;
   * 503 where the actor or the database is away.
   */
  open(): Promise<WalletRow>;
  /** A transaction with all signatures that the wallet owes it. @throws {HttpFailure} */
  sign(transaction: Uint8Array): Promise<Uint8Array>;
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
