/**
 * What Plutus scripts of a language cannot be shown (rule UTXOS, `CollectErrors`): a transaction with such things in it is refused,
 * whatever it says of its validity, before any script runs.
 */
import type { CollectError, LedgerFailure } from "#src/cardano/failure.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import type { Certificate } from "#src/cardano/conway/certificate.ts";
import type { Body } from "#src/cardano/conway/body.ts";
import type { Input } from "#src/ledger/inputs.ts";
import { plutusScripts, type Scripts } from "#src/ledger/scripts.ts";

/** Checks that each language that runs has a cost model and can be shown the transaction. */
export function checkTranslation(
  body: Body,
  inputs: readonly Input[],
  references: readonly Input[],
  scripts: Scripts,
  { costModels }: Parameters,
): LedgerFailure[] {
  const languages = new Set(plutusScripts(scripts).map(({ language }) => language));
  const errors = [...languages].flatMap((language): CollectError[] => {
    if (!costModels.has(language - 1)) return [{ kind: "NoCostModel", language }];
    const reason = unseen(language, body, inputs, references);
    return reason ? [{ kind: "BadTranslation", language, reason }] : [];
  });
  return errors.length === 0 ? [] : [{ name: "CollectErrors", errors }];
}

/** What a language cannot be shown of a transaction, named as the ledger names it (`ConwayContextError`); undefined when all can be. */
function unseen(
  language: 1 | 2 | 3,
  body: Body,
  inputs: readonly Input[],
  references: readonly Input[],
): string | undefined {
  const seen = [...inputs, ...references, ...body.outputs];
  if (seen.some(({ address }) => address.kind === "byron")) return "ByronTxOutInContext";
  if (language === 3) return undefined;
  if (body.voters.length > 0) return "VotingProceduresFieldNotSupported";
  if (body.proposals.length > 0) return "ProposalProceduresFieldNotSupported";
  if (body.treasury !== undefined) return "CurrentTreasuryFieldNotSupported";
  if (body.donation > 0n) return "TreasuryDonationFieldNotSupported";
  if (!body.certificates.every(isOfShelley)) return "CertificateNotSupported";
  return language === 1 && seen.some(({ output }) => output.datum) ? "InlineDatumsNotSupported" : undefined;
}

/** Whether Plutus V1 and V2 know a certificate: registrations, with or without a deposit, delegations to a pool alone, pools. */
function isOfShelley(certificate: Certificate): boolean {
  switch (certificate.kind) {
    case "register":
      return certificate.to === undefined;
    case "delegate":
      return certificate.to.drep === undefined;
    case "unregister":
    case "register pool":
    case "retire pool":
      return true;
    default:
      return false;
  }
}
