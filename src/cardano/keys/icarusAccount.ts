/** The account of an icarus wallet, as the index stores it. */
import { z } from "zod";
import type { Json } from "#src/base/json.ts";
import type { Xpub } from "#src/cardano/keys/types.ts";

/** What the addresses of an icarus wallet are derived from. */
export interface IcarusAccount {
  readonly account: Xpub;
  /** As in `DeriveInput`. */
  readonly byron: { readonly magic?: number };
}

/**
 * An account in the index's JSON.
 *
 * @throws ZodError where it is not one.
 */
export function icarusAccountOf(json: Json): IcarusAccount {
  return icarusAccount.parse(json);
}
const icarusAccount = z.object({ account: z.string(), byron: z.object({ magic: z.int().exactOptional() }) });
