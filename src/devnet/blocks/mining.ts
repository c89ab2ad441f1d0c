/** When the devnet makes blocks by itself: at a pace, for each submission, or never. */

/** `interval`: at a pace; `submit`: as soon as a transaction is accepted; `manual`: on request only. */
export const MINING_MODES = ["interval", "submit", "manual"] as const;

export type MiningMode = typeof MINING_MODES[number];

/** A mode, and the milliseconds between blocks of `interval`. */
export interface Mining {
  readonly mode: MiningMode;
  readonly blockMs: number;
}

/** The pace of `interval` where none is given, in ms. */
const BLOCK_MS = 1_000;

/** The mining of a start: without a mode it is `interval`, or `manual` where the milliseconds between blocks are 0. */
export function miningOf({ mining, blockMs = BLOCK_MS }: {
  readonly mining?: MiningMode | undefined;
  readonly blockMs?: number | undefined;
}): Mining {
  return { mode: blockMs === 0 && mining !== "submit" ? "manual" : mining ?? "interval", blockMs: blockMs || BLOCK_MS };
}

/** The present mining of a devnet, which may change at any time. */
export class MiningControl {
  #changed = new AbortController();

  constructor(private mining: Mining) {}

  get present(): Mining {
    return this.mining;
  }

  /** Aborts at the next change. */
  get changed(): AbortSignal {
    return this.#changed.signal;
  }

  /** Changes the mode; without a pace that of before is kept. */
  set({ mode, blockMs = this.mining.blockMs }: Pick<Mining, "mode"> & Partial<Mining>): void {
    this.mining = { mode, blockMs };
    this.#changed.abort();
    this.#changed = new AbortController();
  }
}
