/** Under which paths kinds of wallets are served, and how one of each is found. */
import type { WalletService } from "#src/edge/wallets/service.ts";
import type { Path } from "#src/wallet/keys/types.ts";

/** A kind of wallets as the endpoints have it. */
export interface Served {
  /** First part of the path: `wallets`, `byron-wallets`, `shared-wallets`. */
  readonly prefix: string;
  /** What stands in the names of operations: `list<named>Assets`. */
  readonly named: "" | "Byron" | "Shared";
  /** Kind of its actors. */
  readonly actor: "wallet" | "shared-wallet";
  /** Path of a wallet's stake, where it is not that of sequential wallets. */
  stakePath?(id: string): Promise<Path>;
  /** Throws 404 where there is no such wallet of this kind, 403 where it holds nothing yet. */
  found(id: string): Promise<unknown>;
}

/** Sequential wallets, and those of the first era. */
export function servedKinds(service: Pick<WalletService, "wallet">): readonly [shelley: Served, byron: Served] {
  return [
    { prefix: "wallets", named: "", actor: "wallet", found: (id) => service.wallet(id, "shelley") },
    { prefix: "byron-wallets", named: "Byron", actor: "wallet", found: (id) => service.wallet(id, "random") },
  ];
}
