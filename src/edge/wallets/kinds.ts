/** The kinds of wallets under their paths. */
import type { WalletService } from "#src/edge/wallets/service.ts";
import { stakePath } from "#src/wallet/keys/paths.ts";
import type { Path } from "#src/wallet/keys/types.ts";

/** A kind of wallets, for the endpoints that several kinds share. */
export interface ServedKind {
  /** First part of the path: `wallets`, `byron-wallets`, `shared-wallets`. */
  readonly prefix: string;
  /** Part of operation ids: `list<named>Assets`. */
  readonly named: "" | "Byron" | "Shared";
  /** Kind of its actors. */
  readonly actor: "wallet" | "shared-wallet";
  /** Path of a wallet's stake key; a Byron wallet has none. */
  stakePath?(id: string): Promise<Path>;
  /** Requires a wallet: throws 404 where there is none of this kind, 403 where it is incomplete. */
  require(id: string): Promise<unknown>;
}

/** Sequential and random wallets. */
export function servedKinds(service: Pick<WalletService, "wallet">): readonly [shelley: ServedKind, byron: ServedKind] {
  return [
    {
      prefix: "wallets",
      named: "",
      actor: "wallet",
      stakePath: async (id) => stakePath((await service.wallet(id, "shelley")).account),
      require: (id) => service.wallet(id, "shelley"),
    },
    { prefix: "byron-wallets", named: "Byron", actor: "wallet", require: (id) => service.wallet(id, "random") },
  ];
}
