/** Files that run on one service. */
export interface Group {
  /** Milliseconds between blocks, for all of them; 0: only on request. */
  readonly blockMs?: number;
  /** Paths below test/system, without `.test.ts`. */
  readonly files: readonly string[];
}

/** What the files of test/system/together run; see together.ts. */
export const TOGETHER = {
  blocks: {
    files: [
      "tokens/life",
      "tokens/batches",
      "tokens/binary",
      "tokens/summaries",
      "tokens/clientModule",
      "wallets/forged",
      "cli/walletKeyExport",
    ],
  },
  // the first two list all wallets
  onRequest: {
    blockMs: 0,
    files: [
      "scenarios/wallets",
      "scenarios/random",
      "scenarios/accounts",
      "scenarios/addresses",
      "scenarios/blaze",
      "scenarios/coinControl",
      "scenarios/consolidation",
      "scenarios/errors",
      "scenarios/pending",
      "scenarios/plutus",
      "scenarios/selection",
      "scenarios/transactions",
      "tokens/overlay",
      "tokens/pending",
      "tokens/rebuild",
      "tokens/watching",
      "tokens/lostChains",
    ],
  },
} as const satisfies Record<string, Group>;
