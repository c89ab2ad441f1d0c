/** What a script is run for: the item of the transaction that a redeemer points to. */
import type { Certificate } from "#src/cardano/conway/certificate.ts";
import type { Body } from "#src/cardano/conway/body.ts";
import type { Proposal, Voter } from "#src/cardano/conway/governance.ts";
import type { RewardAccount } from "#src/cardano/conway/strict.ts";
import { type Constr, constr, type Data } from "#src/cardano/data.ts";
import type { RedeemerPointer } from "#src/cardano/failure.ts";
import type { OutRef } from "#src/cardano/output.ts";
import { policyOf } from "#src/cardano/value.ts";
import { credentialData, stakingHash } from "#src/plutus/context/address.ts";
import { dCert, txCert } from "#src/plutus/context/certificates.ts";
import { Untranslatable } from "#src/plutus/context/error.ts";
import { bytes, maybe } from "#src/plutus/context/forms.ts";
import { proposalData, voterData } from "#src/plutus/context/governance.ts";
import { plainId, refData, wrappedId } from "#src/plutus/context/output.ts";

/** The item that a redeemer points to. */
export type Target =
  | { readonly purpose: "spend"; readonly ref: OutRef }
  | { readonly purpose: "mint"; readonly policy: string }
  | { readonly purpose: "cert"; readonly index: number; readonly certificate: Certificate }
  | { readonly purpose: "reward"; readonly account: RewardAccount }
  | { readonly purpose: "vote"; readonly voter: Voter }
  | { readonly purpose: "propose"; readonly index: number; readonly proposal: Proposal };

/** Finds what redeemers of a transaction point to. The function throws `Untranslatable` for a pointer to nothing. */
export function targets(body: Body): (pointer: RedeemerPointer) => Target {
  const policies = [...new Set([...body.mint.keys()].map(policyOf))].sort();
  return ({ purpose, index }) => {
    const target = targetOf(body, policies, purpose, index);
    if (!target) throw new Untranslatable("RedeemerPointerPointsToNothing", `the redeemer for ${purpose} ${index}`);
    return target;
  };
}

function targetOf(
  body: Body,
  policies: readonly string[],
  purpose: RedeemerPointer["purpose"],
  index: number,
): Target | undefined {
  switch (purpose) {
    case "spend": {
      const ref = body.inputs[index];
      return ref && { purpose, ref };
    }
    case "mint": {
      const policy = policies[index];
      return policy === undefined ? undefined : { purpose, policy };
    }
    case "cert": {
      const certificate = body.certificates[index];
      return certificate && { purpose, index, certificate };
    }
    case "reward": {
      const account = body.withdrawals[index]?.account;
      return account && { purpose, account };
    }
    case "vote": {
      const voter = body.voters[index];
      return voter && { purpose, voter };
    }
    case "propose": {
      const proposal = body.proposals[index];
      return proposal && { purpose, index, proposal };
    }
  }
}

/** `ScriptPurpose` of Plutus V1 and V2, which have no votes and proposals: a transaction with such is not translated for them. */
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

/** `ScriptInfo` of Plutus V3: the purpose, and in a spend the datum of the output, where it has one. */
export function scriptInfo(target: Target, protocolMajor: number, datum: Data | undefined): Constr {
  const purpose = purposeV3(target, protocolMajor);
  return target.purpose === "spend" ? constr(1, purpose.fields[0]!, maybe(datum)) : purpose;
}
