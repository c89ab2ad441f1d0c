/** Facts and histories of keys that are verified without a network, under a policy of logs and witnesses. */
export type { Failure, Result } from "#src/base/result.ts";
export * from "#src/client/keyHistory.ts";
export * from "#src/client/offlineProof.ts";
export * from "#src/client/loggedRoot.ts";
