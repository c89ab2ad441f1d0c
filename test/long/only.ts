/**
 * System tests of half a minute or more on a slow machine: with kills, random cases, many processes, or a part of the
 * product that others test as well. `deno task test:long` runs them, `deno task test` does not.
 */
export const ONLY_LONG: readonly string[] = [
  "test/system/app/{devnetParts,inMemory,namedNetworks,postgresAway,roles}.test.ts",
  "test/system/chain/{blockfrost,newerNetwork,providers}.test.ts",
  "test/system/chain/index/{splitWrites,watchedAddresses}.test.ts",
  "test/system/cli/cardanoWallet.test.ts",
  "test/system/devnet/{blockfrostOracle,blockfrostScripts,epochs,explorerOracle,greatEpoch,random}.test.ts",
  "test/system/devnet/{kupoModel,ogmiosHostile,utxorpcHostile,utxorpcStreams}.test.ts",
  "test/system/embedded/{accounts,hostile,jetstreamLog}.test.ts",
  "test/system/examples/notary.test.ts",
  "test/system/node/states.test.ts",
  "test/system/packages/{bytes,create}.test.ts",
  "test/system/runtime/effects/{limitKills,limits}.test.ts",
  "test/system/runtime/events/{generation,sequence,transition}.test.ts",
  "test/system/runtime/placement/placement.test.ts",
  "test/system/runtime/{dueAtOnce,load}.test.ts",
  "test/system/scenarios/{byron,delegation,events,governance,history,mainnet,nextAddress,pools,seen,snapshots,spending}.test.ts",
  "test/system/signer/{disorder,kills}.test.ts",
  "test/system/store/lost.test.ts",
  "test/system/tokens/{devnetWallet,fuzz,histories,hostile,oddEncodings,pageVerification,pendingProperty,replica}.test.ts",
  "test/system/wallets/{atomic,dreps,fresh,index,kills,largeGaps,once,pools,seen,seenDevnet}.test.ts",
];
