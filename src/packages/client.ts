/**
 * Client of Arbor for browsers, Node and Deno: tokens with facts, wallets, operators and events; verification of proofs
 * and of transactions; keys and addresses.
 */
export * from "#src/client/browser.ts";
export type { Json } from "#src/base/json.ts";
export { parseJson, toJson } from "#src/base/json.ts";
export type { Failure, Result } from "#src/base/result.ts";
export {
  type Address,
  addressText,
  baseAddress,
  type Credential,
  enterpriseAddress,
  parseAddress,
  readAddress,
  readAddressHex,
  rewardAddress,
  scriptAddress,
} from "#src/cardano/address.ts";
export { keyHash, sign, signExtended, verify } from "#src/cardano/keys/signingKey.ts";
export { readKey, writeKey } from "#src/cardano/keys/keyText.ts";
export * from "#src/client/chain.ts";
export * from "#src/client/devnet.ts";
export { answer, call, type Query, queryText } from "#src/client/http.ts";
export * from "#src/client/operators.ts";
export * from "#src/client/sse.ts";
export type * from "#src/client/summary.ts";
export type * from "#src/client/tokenFacts.ts";
export type * from "#src/client/tokens.ts";
export * from "#src/client/wallets.ts";
