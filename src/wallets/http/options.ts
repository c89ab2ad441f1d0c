/** What the wallet service depends on. */
import type { Clock } from "#src/base/clock.ts";
import type { NtpClock } from "#src/base/ntpClock.ts";
import type { Builders } from "#src/wallets/builds/jobs.ts";
import type { ChainPort } from "#src/chain/provider/port.ts";
import type { NetworkId } from "#src/cardano/address.ts";
import type { ServiceOptions } from "#src/http/service.ts";
import type { Presence } from "#src/runtime/placement/presence.ts";
import type { EntityRef } from "#src/runtime/types.ts";
import type { Vault } from "#src/wallets/vault/vault.ts";
import type { FetchOptions } from "#src/base/outsideFetch.ts";
import type { PoolBook } from "#src/wallets/pools/book.ts";

export interface WalletEdgeOptions extends ServiceOptions {
  /** Network id of the addresses that are accepted. */
  readonly networkId: NetworkId;
  readonly networkMagic: number;
  /** Notifies actors of new rows in their input logs, after the commit. */
  readonly ring: (entities: readonly EntityRef[]) => void;
  readonly port: ChainPort;
  readonly vault: Vault;
  /** Threads for key derivation: secrets go to local threads only. */
  readonly builders: Builders;
  /** Presence of this process, and of others. */
  readonly presence: Presence;
  /** A wallet at most so many seconds behind is ready. */
  readonly toleranceS: number;
  /** The clock for slots and timestamps. */
  readonly clock: Clock;
  /** Whether the network makes blocks by the clock: an old tip then means that the node is behind. */
  readonly clocked: boolean;
  /** The clock of this machine against NTP servers. */
  readonly ntp: NtpClock;
  /** URL of the token metadata server; there is none where undefined. */
  readonly tokenMetadata?: string | undefined;
  /** Options of requests to metadata servers, whose addresses people and pools choose. */
  readonly outside: Pick<FetchOptions, "allowPrivate" | "ca" | "ipfs" | "timeoutMs">;
  /** The pool book that this process shares with the keeper of pool metadata; a new one where undefined. */
  readonly book?: PoolBook;
  /** Accepted host names beside those of this machine and addresses. */
  readonly hosts?: readonly string[];
  /** Port of the devnet of this process, whose faucet and explorer the page uses; undefined where there is none. */
  readonly devnet?: number | undefined;
  /** Wakes the follower. */
  readonly wake: () => void;
}
