/** Facts that are verified without a network, under a policy of logs and witnesses. */
export type { Failure, Result } from "#src/base/result.ts";
export * from "#src/client/offlineProof.ts";
