/** The kinds of wallets under their paths. */
import type { WalletService } from "#src/wallets/http/service.ts";
import { stakePath } from "#src/cardano/keys/paths.ts";
import type { Path } from "#src/cardano/keys/types.ts";
import { BYRON_KINDS, type WalletRow } from "#src/wallets/rows.ts";

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
  /** Kinds of its wallets. */
  readonly kinds: readonly WalletRow["kind"][];
  /** Requires a wallet: throws 404 where there is none of this kind, 403 where it is incomplete. */
  require(id: string): Promise<unknown>;
}

/** Wallets of today and of the Byron era, each with a single owner. */
export function servedKinds(service: Pick<WalletService, "wallet">): readonly [shelley: ServedKind, byron: ServedKind] {
  const served = (of: Pick<ServedKind, "prefix" | "named" | "kinds">): ServedKind => ({
    ...of,
    actor: "wallet",
    require: (id) => service.wallet(id, ...of.kinds),
  });
  return [
    {
      ...served({ prefix: "wallets", named: "", kinds: ["shelley"] }),
      stakePath: async (id) => stakePath((await service.wallet(id, "shelley")).account),
    },
    served({ prefix: "byron-wallets", named: "Byron", kinds: BYRON_KINDS }),
  ];
}
