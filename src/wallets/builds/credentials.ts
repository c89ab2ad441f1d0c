/**
 * Credentials for the wallets' index, derived in the builder threads in short jobs, so that a pool of 100,000 delays no
 * other job.
 */
import { toHex } from "#src/base/bytes.ts";
import type { Failure, Result } from "#src/base/result.ts";
import type { Builders } from "#src/wallets/builds/jobs.ts";
import { CREDENTIAL_KINDS } from "#src/wallets/index/credential.ts";
import type {
  CredentialRange,
  DeriveCredentials,
  DeriveHashes,
  SequentialWallet,
  WalletKind,
} from "#src/wallets/index/types.ts";
import { icarusAccountOf } from "#src/cardano/keys/icarusAccount.ts";
import type { DerivedHashes } from "#src/cardano/keys/types.ts";
import { templateOf } from "#src/wallets/shared/script.ts";

/** Keys of one job: it takes about a fifth of a second. */
const JOB_KEYS = 2_000;
const JOB_MS = 60_000;
const HASH_BYTES = 28;

/**
 * Derives the credentials that the wallets' index requests: of Shelley and icarus wallets from their account's public
 * key, of a shared wallet from its payment template. Rejects if the threads cannot do it now.
 */
export function deriveCredentialsInThreads(builders: Pick<Builders, "run">): DeriveCredentials {
  return async (order) => {
    const credentials: string[] = [];
    const kind = sequential(order.kind);
    while (credentials.length < order.count) {
      const count = Math.min(JOB_KEYS, order.count - credentials.length);
      const derived = await job(builders, { ...order, from: order.from + credentials.length, count });
      if (!derived.ok) throw new Error(`no credentials: ${derived.error.message}`);
      const { hashes } = derived.value;
      for (let at = 0; at < hashes.length; at += HASH_BYTES) {
        credentials.push(`${CREDENTIAL_KINDS[kind]}-${toHex(hashes.subarray(at, at + HASH_BYTES))}`);
      }
    }
    return credentials;
  };
}

/** Derives slices of large pools, as hashes, in the background. Rejects if the threads cannot do it now. */
export function deriveSliceInThreads(builders: Pick<Builders, "run">): DeriveHashes {
  return async (order) => {
    const derived = await job(builders, order, true);
    if (!derived.ok) throw new Error(`no credentials: ${derived.error.message}`);
    return derived.value.hashes;
  };
}

function job(
  builders: Pick<Builders, "run">,
  order: CredentialRange,
  slice = false,
): Promise<Result<DerivedHashes, Failure>> {
  const { account, role, from, count } = order;
  const until = { deadline: Date.now() + JOB_MS, slice };
  switch (sequential(order.kind)) {
    case "shared":
      return builders.run("sharedCredentials", { template: templateOf(account), role, from, count }, until);
    case "icarus":
      return builders.run("deriveCredentials", { ...icarusAccountOf(account), role, from, count }, until);
    case "shelley":
      if (typeof account !== "string") throw new TypeError("an account that is no public key");
      return builders.run("deriveCredentials", { account, role, from, count }, until);
  }
}

function sequential(kind: WalletKind): SequentialWallet["kind"] {
  if (kind === "random") throw new TypeError("a random wallet has no addresses to derive");
  return kind;
}
