/** Rule MEMPOOL: what is checked of a transaction when it is submitted, and not when a block holds it. */
import type { Credential } from "#src/cardano/address.ts";
import type { Body } from "#src/cardano/conway/body.ts";
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { Inputs } from "#src/ledger/inputs.ts";
import { unelectedVoters } from "#src/ledger/rules/gov.ts";
import type { LedgerState } from "#src/ledger/state.ts";

const ALL_SPENT = "All inputs are spent. Transaction has probably already been included";

/**
 * Checks that one of the inputs is unspent. If none is, the transaction is in a block or in the mempool, or another one with
 * its inputs is; the ledger does not compare hashes, and checks no other rule.
 */
export function checkSubmission({ found }: Inputs): LedgerFailure[] {
  return found.length > 0 ? [] : [{ name: "ConwayMempoolFailure", message: ALL_SPENT }];
}

/**
 * Checks that only members of the enacted committee vote as such: until protocol version 10 a submission alone is refused, a
 * block may hold such votes (ledger: `mempoolTransition`); later rule GOV refuses both.
 */
export function checkSubmittedVotes(
  { voters }: Body,
  { committee, parameters }: Pick<LedgerState, "committee" | "parameters">,
): LedgerFailure[] {
  if (parameters.protocolVersion.major > 10) return [];
  const members = unelectedVoters(voters, committee);
  if (members.length === 0) return [];
  const message = `Unelected committee members are not allowed to cast votes: [${members.map(shown).join()}]`;
  return [{ name: "ConwayMempoolFailure", message }];
}

/** A credential as the Haskell ledger prints it. */
function shown({ kind, hash }: Credential): string {
  return kind === "script" ? `ScriptHashObj (ScriptHash "${hash}")` : `KeyHashObj (KeyHash {unKeyHash = "${hash}"})`;
}
