/** Proposals and votes as transactions of the devnet's own: the faucet pays, the devnet's keys sign. */
import { fail, type Failure, ok, type Result } from "#src/base/result.ts";
import { rewardAddress } from "#src/cardano/address.ts";
import type { Anchor } from "#src/cardano/certificates.ts";
import { type Action, type ActionId, policyOfAction, type Vote } from "#src/cardano/conway/governance.ts";
import { encodeProposal } from "#src/cardano/encodeProposal.ts";
import { encodeVotes } from "#src/cardano/encodeVotes.ts";
import { parseRefKey } from "#src/cardano/output.ts";
import type { OwnPayer, OwnTransaction } from "#src/devnet/blocks/admission.ts";
import type { SubmissionUnavailable } from "#src/devnet/blocks/submission.ts";
import { balanceFor, signedBy } from "#src/devnet/faucet/payment.ts";
import { guardrailsOf } from "#src/devnet/governance/guardrails.ts";
import { type OwnVoter, ownVoters } from "#src/devnet/governance/voters.ts";
import type { Genesis } from "#src/devnet/genesis/genesis.ts";
import { actionKey, governanceOf, proposalOf, purposeOf } from "#src/ledger/governance/actions.ts";
import { hasSay, isBootstrap, votesInBootstrap } from "#src/ledger/governance/thresholds.ts";
import { credentialKey, type LedgerState, parseCredentialKey } from "#src/ledger/state.ts";
import type { Skeleton } from "#src/transaction/balance.ts";
import type { Measure } from "#src/transaction/evaluation.ts";

/** An action to propose; what it follows and the policy are filled in. */
export interface ProposalRequest {
  readonly action: Action;
  readonly anchor: Anchor;
  /** Whether `action` names what it follows; otherwise that is the last enacted action of its purpose. */
  readonly follows: boolean;
  /** Reward account that the deposit returns to, its bytes in hexadecimal; by default one that the genesis registers. */
  readonly account?: string | undefined;
}

/** Votes to cast. */
export interface VoteRequest {
  readonly action: ActionId;
  readonly vote: Vote["vote"];
  readonly anchor?: Anchor | undefined;
  /** Roles or ids of voters; by default all of the devnet's own that have a say. */
  readonly as?: readonly string[] | undefined;
}

/** The votes that were cast. */
export interface CastVotes {
  readonly txHashes: readonly string[];
  readonly voters: readonly Pick<OwnVoter, "role" | "id">[];
}

/**
 * Why governance did nothing. Details of `not_accepted`: `failures`, the ledger's; of `voter_without_key`: `voter`.
 */
export type GoverningFailure = Failure<
  | "action_unknown"
  | "no_account"
  | "no_voter"
  | "voter_without_key"
  | "guardrails_unknown"
  | "faucet_empty"
  | "not_accepted"
>;

/** Makes a transaction of the devnet's own. */
type MakeOwn = <E>(
  build: (payer: OwnPayer) => Result<Uint8Array, E>,
) => Promise<Result<OwnTransaction, E | SubmissionUnavailable>>;

type Made<T> = Promise<Result<T, GoverningFailure | SubmissionUnavailable>>;

/** Votes of one transaction at most: each has a signature of its own. */
const VOTES_OF_TRANSACTION = 50;

/** Proposes an action. */
export async function propose(make: MakeOwn, genesis: Genesis, request: ProposalRequest): Made<ActionId> {
  const made = await make((payer) => {
    const { view, parameters } = payer;
    const account = request.account ?? registeredAccount(genesis, view);
    if (account === undefined) {
      return fail("no_account", "No account of the genesis is registered: name the one that the deposit returns to.");
    }
    const action = completed(request, view);
    const script = policyOfAction(action);
    const guardrails = script === undefined ? undefined : guardrailsOf(script);
    if (script !== undefined && !guardrails) {
      return fail(
        "guardrails_unknown",
        `The devnet does not have the guardrails script ${script} of the constitution.`,
      );
    }
    const deposit = parameters.govActionDeposit;
    const proposals = [encodeProposal({ deposit, account, action, anchor: request.anchor })];
    return signed(payer, { proposals, deposits: deposit, ...guardrails?.witness }, [], guardrails?.measure);
  });
  const accepted = acceptedOf(made);
  return accepted.ok ? ok({ txHash: accepted.value, index: 0 }) : accepted;
}

/** Casts votes, in as many transactions as they need. */
export async function vote(make: MakeOwn, genesis: Genesis, request: VoteRequest): Made<CastVotes> {
  const { action, vote, anchor } = request;
  const txHashes: string[] = [];
  const cast: OwnVoter[] = [];
  let more = true;
  while (more) {
    let batch: readonly OwnVoter[] = [];
    const made = await make((payer) => {
      const chosen = chosenVoters(genesis, payer.view, request);
      if (!chosen.ok) return chosen;
      batch = chosen.value.slice(cast.length, cast.length + VOTES_OF_TRANSACTION);
      more = chosen.value.length > cast.length + batch.length;
      const votes = [{ action, vote, ...(anchor ? { anchor } : {}) }];
      return signed(
        payer,
        { votes: encodeVotes(batch.map(({ role, credential }) => ({ role, credential, votes }))) },
        batch,
      );
    });
    const accepted = acceptedOf(made);
    if (!accepted.ok) return accepted;
    txHashes.push(accepted.value);
    cast.push(...batch);
  }
  return ok({ txHashes, voters: cast.map(({ role, id }) => ({ role, id })) });
}

/** The voters that a request names. */
function chosenVoters(
  genesis: Genesis,
  view: LedgerState,
  { action: id, as }: VoteRequest,
): Result<readonly OwnVoter[], GoverningFailure> {
  const proposed = view.proposals.get(actionKey(id));
  if (!proposed) return fail("action_unknown", "No open governance action has this id.");
  const { action } = proposalOf(proposed);
  const { parameters, committee, epoch } = view;
  const terms = { parameters, governance: governanceOf(view), committee, epoch };
  const own = ownVoters(genesis, view);
  const stranger = as?.find((name) => !own.some(({ role, id }) => name === role || name === id));
  if (stranger !== undefined) {
    return fail("voter_without_key", `The devnet has no voter ${stranger} whose key it has.`, { voter: stranger });
  }
  const chosen = as
    ? own.filter(({ role, id }) => as.includes(role) || as.includes(id))
    : own.filter(({ role }) =>
      hasSay(role, action, terms) && (!isBootstrap(parameters) || votesInBootstrap(role, action))
    );
  if (chosen.length > 0) return ok(chosen);
  return fail("no_voter", "The devnet has the key of no voter that has a say on this action.");
}

/** The action with what it follows, and with the constitution's policy where it needs one. */
function completed({ action, follows }: ProposalRequest, view: LedgerState): Action {
  const { enacted, constitution: { script } } = governanceOf(view);
  const purpose = purposeOf(action);
  const last = purpose === undefined ? undefined : enacted[purpose];
  const previous = follows || last === undefined ? {} : { previous: parseRefKey(last) };
  const policy = (action.kind === "parameters" || action.kind === "treasury") && script !== undefined
    ? { policy: script }
    : {};
  return { ...action, ...previous, ...policy };
}

/** The first reward account that the genesis names and that is still registered: of its voters, then of its pools. */
function registeredAccount({ governance, pools, network }: Genesis, { accounts }: LedgerState): string | undefined {
  const credentials = [
    ...(governance?.delegations.map(({ credential }) => credential) ?? []),
    ...pools.map(({ registered }) => parseCredentialKey(registered.owner.key)),
  ];
  const found = credentials.find((credential) => accounts.get(credentialKey(credential)));
  return found && rewardAddress(network.id, found).hex;
}

/** A transaction that the faucet pays, signed by it and by voters. */
function signed(
  payer: OwnPayer,
  parts: Partial<Skeleton>,
  voters: readonly OwnVoter[],
  measure?: Measure,
): Result<Uint8Array, GoverningFailure> {
  const signers = voters.map(({ credential: { hash } }) => hash);
  const balanced = balanceFor(payer, { signers, ...parts }, measure);
  if (balanced.ok) return ok(signedBy(balanced.value, payer.key, ...voters.map(({ key }) => key)));
  const { message, details } = balanced.error;
  return fail("faucet_empty", `The faucet cannot pay for this. ${message}`, details);
}

function acceptedOf<E>(made: Result<OwnTransaction, E>): Result<string, E | Failure<"not_accepted">> {
  if (!made.ok) return made;
  const { txHash, submission } = made.value;
  if (submission.outcome === "accepted") return ok(txHash);
  const { failures } = submission;
  return fail("not_accepted", `The ledger refuses it: ${failures.map(({ name }) => name).join(", ")}.`, { failures });
}
