/** Many keys of one role of an account at once. */
import type { Result } from "#src/base/result.ts";
import type { Derived, DeriveInput } from "#src/wallet/keys/types.ts";

/** Hashes of a run of keys. */
export async function deriveCredentials(_input: DeriveInput): Promise<Result<Derived, never>> {
  throw new Error("not written");
}
