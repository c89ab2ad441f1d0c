/** Encoding of job inputs for a thread: a wallet's coins (`means.coins`), of which there may be thousands, are packed, and long arrays boxed. */
import type { JobInput, JobName } from "#src/threads/jobs.ts";
import { box, unbox } from "#src/threads/messages.ts";
import { packCoins, type PackedCoins, unpackCoins } from "#src/wallets/builds/packed.ts";
import type { OwnCoin } from "#src/wallets/builds/types.ts";

interface CarriesCoins {
  readonly means: { readonly coins: readonly OwnCoin[] | PackedCoins };
}

const carriesCoins = (input: unknown): input is CarriesCoins =>
  typeof input === "object" && input !== null && "means" in input &&
  typeof input.means === "object" && input.means !== null && "coins" in input.means;

/** Encodes an input. */
export function encodeJobInput(input: unknown): unknown {
  if (!carriesCoins(input)) return box(input);
  const { coins } = input.means;
  return box({ ...input, means: { ...input.means, coins: "count" in coins ? coins : packCoins(coins) } });
}

/** Decodes an input that `encodeJobInput` encoded; the sender states its type. */
export function decodeJobInput<J extends JobName>(message: unknown): JobInput<J> {
  const sent = unbox(message);
  if (!carriesCoins(sent)) return sent as JobInput<J>;
  const { coins } = sent.means;
  return { ...sent, means: { ...sent.means, coins: "count" in coins ? unpackCoins(coins) : coins } } as JobInput<J>;
}
