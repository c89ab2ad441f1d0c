/**
 * System tests of half a minute or more on a slow machine: with kills, random cases, many processes, or a part of the
 * product that others test as well. `deno task test:long` runs them, `deno task test` does not.
 */
export const ONLY_LONG: readonly string[] = [
  "test/system/app/{devnet_parts,in_memory,named_networks,postgres_away,roles}.test.ts",
  "test/system/chain/{blockfrost,newerNetwork,providers}.test.ts",
  "test/system/chain/index/{splitWrites,watchedAddresses}.test.ts",
  "test/system/cli/cardanoWallet.test.ts",
  "test/system/devnet/{blockfrost_oracle,blockfrost_scripts,epochs,explorer_oracle,random}.test.ts",
  "test/system/embedded/{accounts,hostile,jetstream_log}.test.ts",
  "test/system/node/states.test.ts",
  "test/system/packages/devnet.test.ts",
  "test/system/runtime/events/{sequence,transition}.test.ts",
  "test/system/runtime/placement/placement.test.ts",
  "test/system/runtime/load.test.ts",
  "test/system/scenarios/{byron,delegation,events,history,mainnet,next_address,pools,seen,snapshots,spending}.test.ts",
  "test/system/signer/{disorder,kills}.test.ts",
  "test/system/store/lost.test.ts",
  "test/system/tokens/{devnetWallet,fuzz,histories,hostile,odd-encodings,pending_property,replica}.test.ts",
  "test/system/wallets/{atomic,dreps,fresh,index,kills,large_gaps,once,pools,seen,seen_devnet}.test.ts",
];
