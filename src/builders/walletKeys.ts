/** The jobs that hold root keys for a moment, and those that derive many keys. */
import { deriveCredentials } from "#src/wallet/keys/bulk.ts";
import { sharedCredentials } from "#src/wallet/shared/credentials.ts";
import { openRoot, publicKeys, reseal, signMessages } from "#src/wallet/keys/root.ts";

/** Handlers of a thread, by the names of the jobs. */
export const walletKeyJobs = { openRoot, signMessages, reseal, publicKeys, deriveCredentials, sharedCredentials };
