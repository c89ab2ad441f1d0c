/** What the kinds of actors depend on in a process. */
import { actorKinds } from "#actors/kinds.ts";
import { byronMagic } from "#src/cardano/magic.ts";
import { deriveCredentialsInThreads, deriveSliceInThreads } from "#src/wallets/builds/credentials.ts";
import { createVault } from "#src/wallets/vault/vault.ts";
import {
  type AppContext,
  appendTouched,
  type Connections,
  notifyTouched,
  tokenBuildOptions,
} from "#src/app/context.ts";

/** A process's connections with the kinds of actors that work over them. */
export function withKinds(connections: Connections): Omit<AppContext, "restores"> {
  const { store, bus, builders, options: { networkMagic } } = connections;
  const vault = createVault({ store, builders });
  const kinds = actorKinds({
    ...tokenBuildOptions(connections),
    byronMagic: byronMagic(networkMagic),
    derive: deriveCredentialsInThreads(builders),
    deriveSlice: deriveSliceInThreads(builders),
    vault,
    append: appendTouched,
    ring: notifyTouched(bus),
  });
  return { ...connections, vault, kinds };
}
