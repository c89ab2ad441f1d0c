/** Jobs that hold root keys, and those that derive many keys. */
import { deriveCredentials } from "#src/wallet/keys/bulk.ts";
import { sharedCredentials } from "#src/wallet/shared/credentials.ts";
import { openRoot, publicKeys, reseal, signMessages } from "#src/wallet/keys/root.ts";

/** Handlers by job name. */
export const walletKeyJobs = { openRoot, signMessages, reseal, publicKeys, deriveCredentials, sharedCredentials };
