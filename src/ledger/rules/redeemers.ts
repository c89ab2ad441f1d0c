/** Redeemers: exactly one for each thing that a Plutus script must agree to (rule UTXOW, `hasExactSetOfRedeemers`). */
import { toHex } from "#src/base/bytes.ts";
import type { LedgerFailure, RedeemerPointer } from "#src/cardano/failure.ts";
import { hash256 } from "#src/cardano/hash.ts";
import { scriptIntegrity } from "#src/cardano/integrity.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { Witnesses } from "#src/cardano/conway/witnesses.ts";
import { plutusScripts, plutusUses, type Scripts } from "#src/ledger/scripts.ts";

const name = ({ purpose, index }: RedeemerPointer) => `${purpose} ${index}`;

/** Checks that redeemers and scripts fit each other. */
export function checkRedeemers(redeemers: readonly RedeemerPointer[], scripts: Scripts): LedgerFailure[] {
  const uses = plutusUses(scripts);
  const needed = new Set(uses.map(name));
  const given = new Set(redeemers.map(name));
  const failures: LedgerFailure[] = [];
  const extra = redeemers.filter((redeemer) => !needed.has(name(redeemer)));
  if (extra.length > 0) {
    failures.push({ name: "ExtraRedeemers", redeemers: extra.map(({ purpose, index }) => ({ purpose, index })) });
  }
  const missing = uses.filter((use) => !given.has(name(use)));
  if (missing.length > 0) failures.push({ name: "MissingRedeemers", redeemers: missing });
  return failures;
}

/** Checks the script data hash that the body states (ledger: `checkScriptIntegrityHash`); from protocol version 11 on by another name. */
export function checkIntegrity(
  supplied: string | undefined,
  { rawRedeemers, rawDatums }: Witnesses,
  scripts: Scripts,
  parameters: Parameters,
): LedgerFailure[] {
  const preimage = scriptIntegrity({
    redeemers: rawRedeemers,
    datums: rawDatums,
    languages: plutusScripts(scripts).map(({ language }) => language - 1),
    parameters,
  });
  const expected = preimage && hash256(preimage);
  if (supplied === expected) return [];
  if (parameters.protocolVersion.major < 11) return [{ name: "PPViewHashesDontMatch", supplied, expected }];
  const hashed = preimage ? { preimage: toHex(preimage) } : {};
  return [{ name: "ScriptIntegrityHashMismatch", supplied, expected, ...hashed }];
}
