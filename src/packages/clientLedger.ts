/** Complete answers about tokens that are verified against the ledger's root of another instance. */
export type { Failure, Result } from "#src/base/result.ts";
export * from "#src/client/ledgerAnswers.ts";
export * from "#src/client/ledgerRoot.ts";
export { initHash } from "#src/cardano/hash.ts";
