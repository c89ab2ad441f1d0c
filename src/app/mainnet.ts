/** What differs on mainnet: the token service is off unless the options start it, and a start says where it is. */
import type { StartContext } from "#src/app/context.ts";

type Where = Pick<StartContext, "networkId" | "options">;

/** The refusal of every request to the token service while it is off. */
export const TOKENS_OFF = "The token service is off on mainnet; its operator can start it with --tokens-on-mainnet.";

/** Whether the token service works: on every test network, on mainnet only where the options say so. */
export function tokensServed({ networkId, options }: Where): boolean {
  return networkId === 0 || options.tokensOnMainnet;
}

/** Lines of a start on mainnet; none on a test network. */
export function mainnetNotice(where: Where): readonly string[] {
  if (where.networkId === 0) return [];
  return [
    "This is mainnet: transactions spend real ada. This release has met no live mainnet node; it was tested on a devnet " +
    "with mainnet's magic and addresses, and on recorded mainnet blocks.",
    ...(where.options.roles.has("edge") && !tokensServed(where) ? [TOKENS_OFF] : []),
  ];
}
