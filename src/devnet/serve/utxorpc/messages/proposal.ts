/** Messages of proposals of governance actions. Votes have no message. */
import type { cardano } from "@utxorpc/spec/lib/index.mjs";
import { fromHex } from "#src/base/bytes.ts";
import type { Action, ActionId, Proposal } from "#src/cardano/conway/governance.ts";
import type { Form } from "#src/devnet/serve/utxorpc/messages/form.ts";
import { changesMessage } from "#src/devnet/serve/utxorpc/messages/parameters.ts";
import { anchorMessage, credentialMessage, ratioMessage } from "#src/devnet/serve/utxorpc/messages/values.ts";
import type { Draft } from "#src/devnet/serve/utxorpc/messages/draft.ts";

type ActionMessage = NonNullable<Draft<cardano.GovernanceAction>["governanceAction"]>;

/** Largest number of an epoch in a message, and of a protocol version. */
const MAX_WORD32 = 2n ** 32n - 1n;

/** A proposal. */
export function proposalMessage(
  { deposit, account, action, anchor }: Proposal,
  form: Form,
): Draft<cardano.GovernanceActionProposal> {
  return {
    deposit: form.quantity(deposit),
    rewardAccount: fromHex(account.hex),
    govAction: { governanceAction: actionMessage(action, form) },
    anchor: anchorMessage(anchor),
  };
}

function actionMessage(action: Action, form: Form): ActionMessage {
  switch (action.kind) {
    case "parameters":
      return {
        case: "parameterChangeAction",
        value: {
          ...previous(action),
          protocolParamUpdate: changesMessage(action.changes, form),
          ...policy(action),
        },
      };
    case "hard fork":
      return {
        case: "hardForkInitiationAction",
        value: {
          ...previous(action),
          protocolVersion: { major: word32(action.version.major), minor: word32(action.version.minor) },
        },
      };
    case "treasury":
      return {
        case: "treasuryWithdrawalsAction",
        value: {
          withdrawals: action.payments.map(([{ hex }, lovelace]) => ({
            rewardAccount: fromHex(hex),
            coin: form.quantity(lovelace),
          })),
          ...policy(action),
        },
      };
    case "no confidence":
      return { case: "noConfidenceAction", value: previous(action) };
    case "committee":
      return {
        case: "updateCommitteeAction",
        value: {
          ...previous(action),
          removeCommitteeCredentials: action.removed.map(credentialMessage),
          newCommitteeCredentials: action.added.map(({ member, until }) => ({
            committeeColdCredential: credentialMessage(member),
            expiresEpoch: word32(until),
          })),
          newCommitteeThreshold: ratioMessage(action.quorum),
        },
      };
    case "constitution":
      return {
        case: "newConstitutionAction",
        value: {
          ...previous(action),
          constitution: {
            anchor: anchorMessage(action.anchor),
            ...(action.script === undefined ? {} : { hash: fromHex(action.script) }),
          },
        },
      };
    case "info":
      return { case: "infoAction", value: 6 };
  }
}

function previous({ previous: id }: { readonly previous?: ActionId }) {
  return id ? { govActionId: { transactionId: fromHex(id.txHash), governanceActionIndex: id.index } } : {};
}

function policy({ policy: hash }: { readonly policy?: string }) {
  return hash === undefined ? {} : { policyHash: fromHex(hash) };
}

function word32(value: bigint): number {
  return Number(value > MAX_WORD32 ? MAX_WORD32 : value);
}
