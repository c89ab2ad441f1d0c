/**
 * Encoding of job inputs for a thread: a wallet's coins (`funds.coins`) are packed into a few arrays, and long arrays
 * boxed. A structured clone of 10,000 coin objects blocks the sender's event loop for some 200 ms, a clone of these
 * arrays for a few ms.
 */
import { elementAt } from "#src/base/present.ts";
import { walkOutput } from "#src/cardano/output.ts";
import { Walk } from "#src/cardano/walk.ts";
import type { JobInput, JobName } from "#src/threads/jobs.ts";
import { box, unbox } from "#src/threads/messages.ts";
import type { OwnCoin } from "#src/wallets/builds/types.ts";
import { StoredCoin } from "#src/wallets/index/storedCoins.ts";

interface CarriesCoins {
  readonly funds: { readonly coins: readonly OwnCoin[] | PackedCoins };
}

const carriesCoins = (input: unknown): input is CarriesCoins =>
  typeof input === "object" && input !== null && "funds" in input &&
  typeof input.funds === "object" && input.funds !== null && "coins" in input.funds;

/** Encodes an input. */
export function encodeJobInput(input: unknown): unknown {
  if (!carriesCoins(input)) return box(input);
  const { coins } = input.funds;
  return box({ ...input, funds: { ...input.funds, coins: "count" in coins ? coins : packCoins(coins) } });
}

/** Decodes an input that `encodeJobInput` encoded; the sender states its type. */
export function decodeJobInput<J extends JobName>(message: unknown): JobInput<J> {
  const sent = unbox(message);
  if (!carriesCoins(sent)) return sent as JobInput<J>;
  const { coins } = sent.funds;
  return { ...sent, funds: { ...sent.funds, coins: "count" in coins ? unpackCoins(coins) : coins } } as JobInput<J>;
}

/** Coins, packed. */
export interface PackedCoins {
  readonly count: number;
  /** Transaction hashes, 64 digits each. */
  readonly hashes: string;
  /** Per coin: output index, priority, end of its CBOR in `outputs`, end of its path in `paths`. */
  readonly numbers: Float64Array;
  readonly outputs: Uint8Array;
  readonly paths: Uint32Array;
}

const NUMBERS = 4;

/** Packs coins. Stored ones are not decoded for it. */
export function packCoins(coins: readonly OwnCoin[]): PackedCoins {
  const flat = coins.map((coin) => {
    const { ref, raw } = coin instanceof StoredCoin ? coin : { ref: coin.utxo.ref, raw: coin.utxo.output.raw };
    return { ref, raw, path: coin.path, preference: coin.preference ?? 0 };
  });
  const numbers = new Float64Array(flat.length * NUMBERS);
  const outputs = new Uint8Array(flat.reduce((sum, { raw }) => sum + raw.length, 0));
  const paths = new Uint32Array(flat.reduce((sum, { path }) => sum + path.length, 0));
  let hashes = "";
  let at = 0;
  let step = 0;
  let place = 0;
  for (const { ref, raw, path, preference } of flat) {
    hashes += ref.txHash;
    outputs.set(raw, at);
    at += raw.length;
    for (const index of path) paths[step++] = index;
    numbers[place++] = ref.index;
    numbers[place++] = preference;
    numbers[place++] = at;
    numbers[place++] = step;
  }
  return { count: coins.length, hashes, numbers, outputs, paths };
}

/**
 * The coins that were packed.
 *
 * @throws CborError where the bytes of an output are malformed.
 */
export function unpackCoins({ count, hashes, numbers, outputs, paths }: PackedCoins): OwnCoin[] {
  const coins: OwnCoin[] = [];
  let at = 0;
  let step = 0;
  for (let i = 0, place = 0; i < count; i++, place += NUMBERS) {
    const path: number[] = [];
    while (step < elementAt(numbers, place + 3)) path.push(elementAt(paths, step++));
    coins.push({
      utxo: {
        ref: { txHash: hashes.slice(64 * i, 64 * (i + 1)), index: elementAt(numbers, place) },
        output: walkOutput(new Walk(outputs, at)),
      },
      preference: elementAt(numbers, place + 1),
      path,
    });
    at = elementAt(numbers, place + 2);
  }
  return coins;
}
