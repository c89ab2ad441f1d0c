/** What of an order is packed on its way to a thread, and unpacked there: coins of wallets, of which there may be thousands. */
import type { JobInput, JobName } from "#src/builders/jobs.ts";
import { packCoins, type PackedCoins, unpackCoins } from "#src/wallet/build/packed.ts";
import type { OwnCoin } from "#src/wallet/build/types.ts";

/** Jobs whose input has a wallet's means. */
const WITH_MEANS = [
  "construct",
  "fees",
  "sharedConstruct",
  "sharedFees",
  "migrate",
  "balance",
] as const satisfies readonly JobName[];
type WithMeans = { readonly means: { readonly coins: readonly OwnCoin[] | PackedCoins } };

function hasMeans(job: JobName): boolean {
  return (WITH_MEANS as readonly JobName[]).includes(job);
}

/** An input as it is sent. */
export function packed<J extends JobName>(job: J, input: JobInput<J>): unknown {
  if (!hasMeans(job)) return input;
  const whole = input as JobInput<(typeof WITH_MEANS)[number]>;
  return { ...whole, means: { ...whole.means, coins: packCoins(whole.means.coins) } };
}

/** The input behind what was sent. */
export function unpacked<J extends JobName>(job: J, sent: unknown): JobInput<J> {
  if (!hasMeans(job)) return sent as JobInput<J>;
  const { means, ...rest } = sent as WithMeans;
  const coins = "count" in means.coins ? unpackCoins(means.coins) : means.coins;
  return { ...rest, means: { ...means, coins } } as JobInput<J>;
}
