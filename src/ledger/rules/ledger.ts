/** Rule LEDGER: the checks before the certificates, for a transaction that is marked valid. */
import type { LedgerFailure } from "#src/cardano/failure.ts";
import type { Body } from "#src/cardano/conway/body.ts";
import { credentialKey, type LedgerState } from "#src/ledger/state.ts";

/** Bytes of reference scripts that a transaction may refer to (ledger: `maxRefScriptSizePerTx`, no parameter). */
const MAX_REF_SCRIPT_BYTES = 204_800;

/** Checks what the rule checks by itself. */
export function checkLedger(body: Body, refScriptBytes: number, state: LedgerState): LedgerFailure[] {
  const { pots, accounts, parameters } = state;
  const failures: LedgerFailure[] = [];
  if (body.treasury !== undefined && body.treasury !== pots.treasury) {
    failures.push({ name: "ConwayTreasuryValueMismatch", supplied: body.treasury, expected: pots.treasury });
  }
  if (refScriptBytes > MAX_REF_SCRIPT_BYTES) {
    failures.push({
      name: "ConwayTxRefScriptsSizeTooBig",
      supplied: refScriptBytes,
      expected: MAX_REF_SCRIPT_BYTES,
    });
  }
  if (parameters.protocolVersion.major >= 10) {
    const keys = body.withdrawals
      .map(({ account }) => account.credential)
      .filter((credential) => credential.kind === "key" && !accounts.get(credentialKey(credential))?.drep)
      .map(({ hash }) => hash);
    if (keys.length > 0) failures.push({ name: "ConwayWdrlNotDelegatedToDRep", keys });
  }
  return failures;
}
