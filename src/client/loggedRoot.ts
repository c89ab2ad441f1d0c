/**
 * A root of all unspent outputs out of a log: what the log and the witnesses of a policy signed takes the place of other
 * instances (`fetchTrustedRoot`) where an answer with a proof is verified. Runs in a browser, without a network.
 */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import type { TrustedRoot } from "#src/client/ledgerRoot.ts";
import { parseLeaf } from "#src/contract/logLeaf.ts";
import { parsePolicy } from "#src/tlog/policy.ts";
import { parseLogProof, verifyLogProof } from "#src/tlog/proofFile.ts";

/** Why a proof gives no root: `bad_policy`: the policy; `malformed`: the proof; `not_logged`: it fails under the policy. */
export type LoggedRootRefusal = Failure<"bad_policy" | "malformed" | "not_logged">;

/**
 * Verifies the proof of a snapshot, as `GET /log/snapshot.tlog-proof` gives it, under a policy. The root is trusted for answers
 * of its block alone; whether the block is still on the chain, and how old it is, is not shown.
 *
 * @example
 * ```ts
 * import { loggedRoot } from "./src/client/loggedRoot.ts";
 *
 * const trusted = loggedRoot("", "quorum none");
 * console.log(trusted.ok ? trusted.value.utxoRoot : trusted.error.code); // malformed
 * ```
 */
export function loggedRoot(proofText: string, policyText: string): Result<TrustedRoot, LoggedRootRefusal> {
  const policy = parsePolicy(policyText);
  if (!policy.ok) return policy;
  const proof = parseLogProof(proofText);
  if (!proof.ok) return fail("malformed", proof.error.message);
  const { extra } = proof.value;
  const leaf = extra && parseLeaf(extra);
  if (!extra || leaf?.kind !== "snapshot") {
    return fail("malformed", "The log's proof has no entry that is a root of the outputs.");
  }
  const logged = verifyLogProof(policy.value, extra, proof.value);
  if (!logged.ok) return fail("not_logged", logged.error.message, { reason: logged.error.code });
  const { checkpoint, witnesses } = logged.value;
  return ok({
    utxoRoot: leaf.utxo_root,
    point: { slot: leaf.slot, hash: leaf.block },
    from: [`the log ${checkpoint.origin}`, ...witnesses.map(({ name }) => `its witness ${name}`)],
  });
}
