/** What the kinds of actors depend on in a process. */
import { actorKinds } from "#actors/kinds.ts";
import { byronMagic } from "#src/cardano/magic.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import { deriveCredentialsInThreads, deriveSliceInThreads } from "#src/wallets/builds/credentials.ts";
import { createVault } from "#src/wallets/vault/vault.ts";
import { type AppContext, appendTouched, notifyTouched, tokenBuildOptions } from "#src/app/context.ts";

/** The kinds of actors. */
export function kindsOf(context: AppContext): ActorKind[] {
  const { store, bus, builders, options: { networkMagic } } = context;
  return actorKinds({
    ...tokenBuildOptions(context),
    byronMagic: byronMagic(networkMagic),
    derive: deriveCredentialsInThreads(builders),
    deriveSlice: deriveSliceInThreads(builders),
    vault: createVault({ store, builders }),
    append: appendTouched,
    ring: notifyTouched(bus),
  });
}
