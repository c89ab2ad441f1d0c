/** Encoding of job inputs for a thread: a wallet's coins, of which there may be thousands, are packed. */
import type { JobInput, JobName } from "#src/builders/jobs.ts";
import { packCoins, type PackedCoins, unpackCoins } from "#src/wallet/build/packed.ts";
import type { OwnCoin } from "#src/wallet/build/types.ts";

/** Jobs whose input contains a wallet's coins. */
const WITH_COINS = [
  "construct",
  "fees",
  "sharedConstruct",
  "sharedFees",
  "migrate",
  "balance",
] as const satisfies readonly JobName[];
type CarriesCoins = { readonly means: { readonly coins: readonly OwnCoin[] | PackedCoins } };

function carriesCoins(job: JobName): boolean {
  return (WITH_COINS as readonly JobName[]).includes(job);
}

/** Encodes an input. */
export function encodeJobInput<J extends JobName>(job: J, input: JobInput<J>): unknown {
  if (!carriesCoins(job)) return input;
  const whole = input as JobInput<(typeof WITH_COINS)[number]>;
  return { ...whole, means: { ...whole.means, coins: packCoins(whole.means.coins) } };
}

/** Decodes an input. */
export function decodeJobInput<J extends JobName>(job: J, sent: unknown): JobInput<J> {
  if (!carriesCoins(job)) return sent as JobInput<J>;
  const { means, ...rest } = sent as CarriesCoins;
  const coins = "count" in means.coins ? unpackCoins(means.coins) : means.coins;
  return { ...rest, means: { ...means, coins } } as JobInput<J>;
}
