/** System tests of half a minute or more, with kills or random cases: `deno task test:long` runs them, `deno task test` does not. */
export const ONLY_LONG: readonly string[] = [
  "test/system/devnet/random.test.ts",
  "test/system/embedded/jetstream_log.test.ts",
  "test/system/runtime/events/transition.test.ts",
  "test/system/scenarios/{byron,mainnet,seen}.test.ts",
  "test/system/tokens/replica.test.ts",
  "test/system/wallets/kills.test.ts",
];
