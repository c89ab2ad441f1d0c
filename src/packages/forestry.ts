/** Merkle Patricia Forestry: the trie, its proofs, and their verifier; compatible with Aiken's library. */
export * from "#src/forestry/cut.ts";
export { digest, digestPair, EMPTY, EMPTY_TREES, initHash } from "#src/forestry/hash.ts";
export * from "#src/forestry/json.ts";
export * from "#src/forestry/leafSet.ts";
export * from "#src/forestry/proof.ts";
export * from "#src/forestry/topBranch.ts";
export * from "#src/forestry/trie.ts";
export * from "#src/forestry/verify.ts";
export { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
export type { Failure, Result } from "#src/base/result.ts";
