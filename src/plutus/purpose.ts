/** The purpose of a script run: the item of the transaction that a redeemer points to. */
import type { Credential } from "#src/cardano/address.ts";
import { type Certificate, certificateWitness } from "#src/cardano/conway/certificate.ts";
import type { Body } from "#src/cardano/conway/body.ts";
import { policyOfAction, type Proposal, type Voter } from "#src/cardano/conway/governance.ts";
import type { RewardAccount } from "#src/cardano/conway/strict.ts";
import { type Constr, constr, type Data } from "#src/cardano/data.ts";
import type { RedeemerPointer } from "#src/cardano/failure.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import { policyOf } from "#src/cardano/value.ts";
import { credentialData, paymentCredential, stakingHash } from "#src/plutus/context/address.ts";
import { dCert, txCert } from "#src/plutus/context/certificates.ts";
import { Untranslatable } from "#src/plutus/context/error.ts";
import { bytes, maybe } from "#src/plutus/context/forms.ts";
import { proposalData, voterData } from "#src/plutus/context/governance.ts";
import { plainId, refData, type Resolved, wrappedId } from "#src/plutus/context/output.ts";

/** The item that a redeemer points to. */
export type Target =
  | { readonly purpose: "spend"; readonly ref: OutRef }
  | { readonly purpose: "mint"; readonly policy: string }
  | { readonly purpose: "cert"; readonly index: number; readonly certificate: Certificate }
  | { readonly purpose: "reward"; readonly account: RewardAccount }
  | { readonly purpose: "vote"; readonly voter: Voter }
  | { readonly purpose: "propose"; readonly index: number; readonly proposal: Proposal };

/** Every item of a body that may require a script, with its pointer, in the ledger's order. */
export function allTargets(body: Body): readonly (readonly [RedeemerPointer, Target])[] {
  const lists: readonly (readonly Target[])[] = [
    body.inputs.map((ref) => ({ purpose: "spend", ref })),
    body.withdrawals.map(({ account }) => ({ purpose: "reward", account })),
    body.certificates.map((certificate, index) => ({ purpose: "cert", index, certificate })),
    [...new Set([...body.mint.keys()].map(policyOf))].sort().map((policy) => ({ purpose: "mint", policy })),
    body.voters.map((voter) => ({ purpose: "vote", voter })),
    body.proposals.map((proposal, index) => ({ purpose: "propose", index, proposal })),
  ];
  return lists.flatMap((list) => list.map((target, index) => [{ purpose: target.purpose, index }, target] as const));
}

/** Hash of the script that a target requires; undefined if it requires none (ledger: `getConwayScriptsNeeded`). */
export function scriptHashOf(target: Target, resolved: Resolved): string | undefined {
  switch (target.purpose) {
    case "mint":
      return target.policy;
    case "propose":
      return policyOfAction(target.proposal.action);
    default: {
      const credential = credentialOf(target, resolved);
      return credential?.kind === "script" ? credential.hash : undefined;
    }
  }
}

function credentialOf(
  target: Exclude<Target, { purpose: "mint" | "propose" }>,
  resolved: Resolved,
): Credential | undefined {
  switch (target.purpose) {
    case "spend": {
      const output = resolved.get(refKey(target.ref));
      return output && paymentCredential(output.address);
    }
    case "cert":
      return certificateWitness(target.certificate);
    case "reward":
      return target.account.credential;
    case "vote":
      return target.voter.credential;
  }
}

/**
 * Finds the targets of redeemers.
 *
 * @throws {Untranslatable} by the returned function, for a pointer to nothing.
 */
export function targets(body: Body): (pointer: RedeemerPointer) => Target {
  const known = new Map(allTargets(body).map(([{ purpose, index }, target]) => [`${purpose} ${index}`, target]));
  return ({ purpose, index }) => {
    const target = known.get(`${purpose} ${index}`);
    if (!target) throw new Untranslatable("RedeemerPointerPointsToNothing", `the redeemer for ${purpose} ${index}`);
    return target;
  };
}

/** `ScriptPurpose` of Plutus V1 and V2. They have no votes or proposals; a transaction with those is not translated for them. */
export function purposeV1(target: Target): Constr {
  switch (target.purpose) {
    case "spend":
      return constr(1, refData(target.ref, wrappedId));
    case "mint":
      return constr(0, bytes(target.policy));
    case "cert":
      return constr(3, dCert(target.certificate));
    case "reward":
      return constr(2, stakingHash(target.account.credential));
    case "vote":
    case "propose":
      throw new TypeError(`Plutus V1 and V2 have no purpose "${target.purpose}"`);
  }
}

/** `ScriptPurpose` of Plutus V3. */
export function purposeV3(target: Target, protocolMajor: number): Constr {
  switch (target.purpose) {
    case "spend":
      return constr(1, refData(target.ref, plainId));
    case "mint":
      return constr(0, bytes(target.policy));
    case "cert":
      return constr(3, BigInt(target.index), txCert(target.certificate, protocolMajor));
    case "reward":
      return constr(2, credentialData(target.account.credential));
    case "vote":
      return constr(4, voterData(target.voter));
    case "propose":
      return constr(5, BigInt(target.index), proposalData(target.proposal));
  }
}

/** `ScriptInfo` of Plutus V3: the purpose and, for a spend, the output's datum if it has one. */
export function scriptInfo(target: Target, protocolMajor: number, datum: Data | undefined): Constr {
  if (target.purpose === "spend") return constr(1, refData(target.ref, plainId), maybe(datum));
  return purposeV3(target, protocolMajor);
}
