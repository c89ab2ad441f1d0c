/** Addresses within the page. */
import type { Prefix } from "./service.ts";

/** The address of a wallet's view: `walletPath(wallet, "send")`. */
export const walletPath = (
  { prefix, id }: { readonly prefix: Prefix; readonly id: string },
  ...rest: readonly string[]
): string => ["", prefix, id, ...rest.map(encodeURIComponent)].join("/");
