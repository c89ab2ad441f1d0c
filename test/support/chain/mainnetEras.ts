/** The era history of mainnet as a node of it states it. */
import type { EraBound, Eras } from "#src/cardano/eras.ts";

/** First epochs of the eras from Shelley on, and the epoch up to which the history goes. */
const FORKS = [208, 236, 251, 290, 365, 507, 700];

/** Mainnet's eras: Byron with epochs of 21,600 slots of 20 s, and from epoch 208 on epochs of 432,000 slots of 1 s. */
export function mainnetEras(): Eras {
  const bound = (epoch: number): EraBound => {
    const [byron, shelley] = [Math.min(epoch, 208), Math.max(0, epoch - 208)];
    const seconds = BigInt(byron) * 432_000n + BigInt(shelley) * 432_000n;
    return { epoch, slot: byron * 21_600 + shelley * 432_000, time: seconds * 1_000_000_000_000n };
  };
  return {
    systemStart: Date.parse("2017-09-23T21:44:51Z"),
    current: "Conway",
    history: [0, ...FORKS.slice(0, -1)].map((epoch, i) => ({
      start: bound(epoch),
      end: bound(FORKS[i]!),
      terms: i === 0
        ? { epochLength: 21_600, slotLength: 20_000, safeZone: 4_320, genesisWindow: 4_320 }
        : { epochLength: 432_000, slotLength: 1_000, safeZone: 129_600, genesisWindow: 129_600 },
    })),
  };
}
