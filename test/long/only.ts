/**
 * System tests of half a minute or more on a slow machine: with kills, random cases, many processes, or a part of the
 * product that others test as well. `deno task test:long` runs them, `deno task test` does not.
 */
export const ONLY_LONG: readonly string[] = [
  "test/system/app/{devnet_parts,in_memory,postgres_away,roles}.test.ts",
  "test/system/chain/{blockfrost,newerNetwork,providers}.test.ts",
  "test/system/chain/index/{splitWrites,watchedAddresses}.test.ts",
  "test/system/cli/cardanoWallet.test.ts",
  "test/system/devnet/{blockfrost_oracle,blockfrost_scripts,epochs,random}.test.ts",
  "test/system/embedded/{hostile,jetstream_log}.test.ts",
  "test/system/node/states.test.ts",
  "test/system/packages/devnet.test.ts",
  "test/system/runtime/events/{sequence,transition}.test.ts",
  "test/system/runtime/placement/placement.test.ts",
  "test/system/runtime/load.test.ts",
  "test/system/scenarios/{addresses,byron,coin_control,events,history,mainnet,next_address,pending,pools,seen}.test.ts",
  "test/system/scenarios/{snapshots,spending,transactions}.test.ts",
  "test/system/signer/{disorder,kills}.test.ts",
  "test/system/tokens/{devnetWallet,fuzz,histories,hostile,odd-encodings,pending_property,replica}.test.ts",
  "test/system/wallets/{atomic,dreps,fresh,index,kills,large_gaps,once,seen,seen_devnet}.test.ts",
];
