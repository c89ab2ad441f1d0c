/**
 * System tests of half a minute or more on a slow machine: with kills, random cases, many processes, or a part of the
 * product that others test as well. `deno task test:long` runs them, `deno task test` does not.
 */
export const ONLY_LONG: readonly string[] = [
  "test/system/app/{devnet_parts,in_memory,postgres_away,roles}.test.ts",
  "test/system/chain/{blockfrost,newerNetwork,providers}.test.ts",
  "test/system/cli/cardanoWallet.test.ts",
  "test/system/devnet/{blockfrost_oracle,epochs,random}.test.ts",
  "test/system/embedded/{hostile,jetstream_log}.test.ts",
  "test/system/packages/devnet.test.ts",
  "test/system/runtime/events/transition.test.ts",
  "test/system/runtime/load.test.ts",
  "test/system/scenarios/{addresses,byron,coin_control,history,mainnet,next_address,pending,pools,seen,snapshots,spending}.test.ts",
  "test/system/signer/{disorder,kills}.test.ts",
  "test/system/tokens/{devnetWallet,fuzz,histories,hostile,odd-encodings,pending_property,replica}.test.ts",
  "test/system/wallets/{dreps,fresh,kills,large_gaps,once,seen}.test.ts",
];
