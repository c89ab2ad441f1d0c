/** Answers of services of MPFS v2 that are verified against the ledger's root of another service. */
export type { Failure, Result } from "#src/base/result.ts";
export * from "#src/client/mpfsV2.ts";
export type { ChainPoint, RootRefusal, RootSources, TrustedRoot } from "#src/client/ledgerRoot.ts";
export { initHash } from "#src/cardano/hash.ts";
