/** Votes and proposals, which only Plutus V3 has. Anchors are left out. */
import type { Action, ActionId, Proposal, Voter } from "#src/cardano/conway/governance.ts";
import type { ParameterChanges, ParameterValue } from "#src/cardano/conway/parameterChanges.ts";
import { type Constr, constr, type Data, DataMap } from "#src/cardano/data.ts";
import type { Ratio } from "#src/cardano/parameters.ts";
import { credentialData } from "#src/plutus/context/address.ts";
import { bytes, maybe } from "#src/plutus/context/forms.ts";
import { plainId, refData } from "#src/plutus/context/output.ts";

/** `Voter`. */
export function voterData({ role, credential }: Voter): Constr {
  if (role === "pool") return constr(2, bytes(credential.hash));
  return constr(role === "committee" ? 0 : 1, credentialData(credential));
}

const VOTES = { no: 0, yes: 1, abstain: 2 } as const;

/** `Map Voter (Map GovernanceActionId Vote)`. */
export function votesData(voters: readonly Voter[]): DataMap {
  return new DataMap(
    voters.map((voter) => [
      voterData(voter),
      new DataMap(voter.votes.map(({ action, vote }) => [actionId(action), constr(VOTES[vote])])),
    ]),
  );
}

/** `GovernanceActionId`. */
function actionId(id: ActionId): Constr {
  return refData(id, plainId);
}

/** `ProposalProcedure`. */
export function proposalData({ deposit, account, action }: Proposal): Constr {
  return constr(0, deposit, credentialData(account.credential), actionData(action));
}

/** `GovernanceAction`. */
function actionData(action: Action): Constr {
  const previous = "previous" in action ? maybe(action.previous && actionId(action.previous)) : maybe(undefined);
  switch (action.kind) {
    case "parameters":
      return constr(0, previous, changedParameters(action.changes), script(action.policy));
    case "hard fork":
      return constr(1, previous, constr(0, action.version.major, action.version.minor));
    case "treasury": {
      const payments = action.payments.map(([account, amount]): [Data, Data] => [
        credentialData(account.credential),
        amount,
      ]);
      return constr(2, new DataMap(payments), script(action.policy));
    }
    case "no confidence":
      return constr(3, previous);
    case "committee": {
      const added = action.added.map(({ member, until }): [Data, Data] => [credentialData(member), until]);
      const { numerator, denominator } = reduced(action.quorum);
      return constr(
        4,
        previous,
        action.removed.map(credentialData),
        new DataMap(added),
        constr(0, numerator, denominator),
      );
    }
    case "constitution":
      return constr(5, previous, constr(0, script(action.script)));
    case "info":
      return constr(6);
  }
}

function script(hash: string | undefined): Constr {
  return maybe(hash === undefined ? undefined : bytes(hash));
}

/** `ChangedParameters`: from a parameter's number, in ascending order, to its new value. */
function changedParameters(changes: ParameterChanges): DataMap {
  return new DataMap([...changes].map(([number, value]) => [BigInt(number), valueOf(value)]));
}

/** A fraction is a list of two numbers here; the quorum of a committee, by contrast, is a constructor. */
function valueOf(value: ParameterValue): Data {
  if (typeof value === "bigint") return value;
  if ("get" in value) return new DataMap([...value]);
  if ("denominator" in value) {
    const { numerator, denominator } = reduced(value);
    return [numerator, denominator];
  }
  return value.map(valueOf);
}

/** A fraction in lowest terms, as in the ledger. */
function reduced({ numerator, denominator }: Ratio): Ratio {
  let [a, b] = [numerator, denominator];
  while (b !== 0n) [a, b] = [b, a % b];
  return { numerator: numerator / a, denominator: denominator / a };
}
