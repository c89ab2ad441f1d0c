/** The kinds of actors, all in one list. A new kind is a machine, a file beside this one, and a line here. */
import type { ActorKind } from "#src/runtime/types.ts";
import { delegationActor } from "#actors/delegation.ts";
import { sharedWalletActor, type SharedWalletActorOptions } from "#actors/sharedWallet.ts";
import { tokenActor } from "#actors/token.ts";
import type { TokenBuildOptions } from "#src/tokens/builds/reservedBuild.ts";
import { transactionActor, type TransactionActorOptions } from "#actors/transaction.ts";
import { walletActor, type WalletActorOptions } from "#actors/wallet.ts";

/** What the kinds depend on. */
export type KindOptions =
  & TokenBuildOptions
  & TransactionActorOptions
  & WalletActorOptions
  & SharedWalletActorOptions;

/** Every kind, bound to what it depends on. */
export function actorKinds(options: KindOptions): ActorKind[] {
  return [
    transactionActor(options),
    tokenActor(options),
    walletActor(options),
    sharedWalletActor(options),
    delegationActor(),
  ];
}
