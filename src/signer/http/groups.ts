/** Groups of the signing service's own operations; the others are those of the token service. */
import { TOKEN_GROUPS } from "#src/tokens/http/groups.ts";
import type { Group } from "#src/http/groups.ts";

export const SIGNER_GROUPS: readonly Group[] = [
  [
    "Signing service",
    /^\/(wallet|token$|request\/|token\/\{tokenId\}(\/request)?$)/,
    "Changes that this service builds, signs and submits with its own wallet.",
  ],
  ...TOKEN_GROUPS,
];
