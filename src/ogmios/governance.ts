/** Proposals and votes of Conway, and the updates of the eras before, in Ogmios' JSON. */
import { fromHex } from "#src/base/bytes.ts";
import { type Json, jsonInteger } from "#src/base/json.ts";
import type { Credential } from "#src/cardano/address.ts";
import { as, asInt, CborError, decode, type Encodable, encode, Encoded, type Item, raw } from "#src/cardano/cbor.ts";
import {
  type Action,
  type ActionId,
  type Proposal,
  readProposal,
  type Vote,
  type Voter,
} from "#src/cardano/conway/governance.ts";
import { rewardAccountOf } from "#src/cardano/conway/strict.ts";
import { encodableProposal } from "#src/cardano/encodeProposal.ts";
import { encodeVotes } from "#src/cardano/encodeVotes.ts";

import type { Ratio } from "#src/cardano/parameters.ts";
import { Walk } from "#src/cardano/walk.ts";
import { amountOf, hexOf, isGiven, type JsonObject, listOf, objectOf, OgmiosFormError } from "#src/ogmios/form.ts";
import { parameterChangesJson, readParameterChangesJson, walkParameterChanges } from "#src/ogmios/parameters.ts";
import {
  adaJson,
  addressJson,
  anchorJson,
  idJson,
  poolJson,
  ratioText,
  readAda,
  readAddressJson,
  readAnchor,
  readId,
  readPoolId,
  readRatio,
  readRef,
  refJson,
} from "#src/ogmios/values.ts";

/** A proposal as a transaction makes it. */
export function proposalJson(
  { deposit, account, anchor, action }: Pick<Proposal, "deposit" | "account" | "anchor" | "action">,
): JsonObject {
  return {
    deposit: adaJson(deposit),
    returnAccount: addressJson(account.hex),
    metadata: anchorJson(anchor),
    action: actionJson(action),
  };
}

/**
 * Reads a proposal of a block. Test networks hold changes of parameters that later decoders refuse, such as numbers out of their range.
 *
 * @throws CborError
 */
export function readStoredProposal(item: Item): Proposal {
  try {
    return readProposal(item);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    const [deposit, account, action, anchor] = as(item, "array").value;
    const [kind, previous, changes, policy] = as(action, "array").value;
    if (!deposit || !account || !anchor || !previous || !changes || !policy || asInt(kind) !== 0n) throw error;
    const part = (of: Item) => new Encoded(raw(of));
    const rest = encode([part(deposit), part(account), [0, part(previous), new Map(), part(policy)], part(anchor)]);
    const read = readProposal(decode(rest));
    if (read.action.kind !== "parameters") throw error;
    return { ...read, action: { ...read.action, changes: walkParameterChanges(new Walk(raw(changes))) } };
  }
}

const guardrails = (hash: string | undefined) => ({ guardrails: hash === undefined ? null : { hash } });
const ancestor = (previous: ActionId | undefined) => previous ? { ancestor: refJson(previous) } : {};

/** What is proposed. */
function actionJson(action: Action): { [name: string]: Json } {
  switch (action.kind) {
    case "parameters":
      return {
        type: "protocolParametersUpdate",
        ...ancestor(action.previous),
        parameters: parameterChangesJson(action.changes) as Json,
        ...guardrails(action.policy),
      };
    case "hard fork": {
      const { major, minor } = action.version;
      return {
        type: "hardForkInitiation",
        ...ancestor(action.previous),
        version: { major: jsonInteger(major), minor: jsonInteger(minor) },
      };
    }
    case "treasury":
      return {
        type: "treasuryWithdrawals",
        withdrawals: Object.fromEntries(
          action.payments.map(([{ hex }, lovelace]) => [addressJson(hex), adaJson(lovelace)]),
        ),
        ...guardrails(action.policy),
      };
    case "no confidence":
      return { type: "noConfidence", ...ancestor(action.previous) };
    case "committee":
      return {
        type: "constitutionalCommittee",
        ...ancestor(action.previous),
        members: {
          added: action.added.map(({ member, until }) => ({
            ...idJson(member),
            mandate: { epoch: jsonInteger(until) },
          })),
          removed: action.removed.map(idJson),
        },
        quorum: ratioText(action.quorum),
      };
    case "constitution":
      return {
        type: "constitution",
        ...ancestor(action.previous),
        metadata: anchorJson(action.anchor),
        ...guardrails(action.script),
      };
    case "info":
      return { type: "information" };
  }
}

/** The inverse of `actionJson`. @throws OgmiosFormError, or CborError for an account that is none */
function readAction(json: Json | undefined): Action {
  const action = objectOf(json, "the action");
  const previous = isGiven(action.ancestor) ? { previous: readRef(action.ancestor) } : {};
  const script = isGiven(action.guardrails)
    ? hexOf(objectOf(action.guardrails, "guardrails").hash, "the guardrails' hash", 28)
    : undefined;
  const policy = script === undefined ? {} : { policy: script };
  switch (action.type) {
    case "protocolParametersUpdate":
      return { kind: "parameters", ...previous, changes: readParameterChangesJson(action.parameters), ...policy };
    case "hardForkInitiation": {
      const { major, minor } = objectOf(action.version, "version");
      return {
        kind: "hard fork",
        ...previous,
        version: { major: amountOf(major, "major"), minor: amountOf(minor, "minor") },
      };
    }
    case "treasuryWithdrawals":
      return {
        kind: "treasury",
        payments: Object.entries(objectOf(action.withdrawals, "withdrawals")).map(([account, amount]) => [
          rewardAccountOf(fromHex(readAddressJson(account))),
          readAda(amount),
        ]),
        ...policy,
      };
    case "noConfidence":
      return { kind: "no confidence", ...previous };
    case "constitutionalCommittee": {
      const { added, removed } = objectOf(action.members, "members");
      return {
        kind: "committee",
        ...previous,
        removed: listOf(removed, "removed").map((member) => readId(objectOf(member, "a member"))),
        added: listOf(added, "added").map((member) => {
          const of = objectOf(member, "a member");
          return { member: readId(of), until: amountOf(objectOf(of.mandate, "mandate").epoch, "epoch") };
        }),
        quorum: readRatio(action.quorum) as Ratio,
      };
    }
    case "constitution": {
      const anchor = readAnchor(action.metadata);
      if (!anchor) throw new OgmiosFormError("a constitution without metadata");
      return { kind: "constitution", ...previous, ...(script === undefined ? {} : { script }), anchor };
    }
    case "information":
      return { kind: "info" };
    default:
      throw new OgmiosFormError("no type of an action");
  }
}

/** The inverse of `proposalJson`, to be encoded. @throws OgmiosFormError */
export function readProposalJson(json: Json): Encodable {
  const proposal = objectOf(json, "the proposal");
  const anchor = readAnchor(proposal.metadata);
  if (!anchor) throw new OgmiosFormError("a proposal without metadata");
  return encodableProposal({
    deposit: readAda(proposal.deposit),
    account: readAddressJson(proposal.returnAccount),
    action: readAction(proposal.action),
    anchor,
  });
}

const ROLES = {
  committee: "constitutionalCommittee",
  drep: "delegateRepresentative",
  pool: "stakePoolOperator",
} as const;

/** Who votes. */
export function voterJson({ role, credential }: Pick<Voter, "role" | "credential">): { [name: string]: Json } {
  return role === "pool"
    ? { role: ROLES.pool, ...poolJson(credential.hash) }
    : { role: ROLES[role], ...idJson(credential) };
}

/** The inverse of `voterJson`; undefined for the delegate of a genesis key, which voted before Conway. @throws OgmiosFormError */
export function readVoter(json: Json | undefined): Pick<Voter, "role" | "credential"> | undefined {
  const voter = objectOf(json, "the voter");
  if (voter.role === "genesisDelegate") return undefined;
  const role = (["committee", "drep", "pool"] as const).find((one) => ROLES[one] === voter.role);
  if (!role) throw new OgmiosFormError("no role of a voter");
  const credential: Credential = role === "pool" ? { kind: "key", hash: readPoolId(voter.id) } : readId(voter);
  return { role, credential: { ...credential, hash: hexOf(credential.hash, "the voter", 28) } };
}

/** Votes of a transaction, by voter and then by action. */
export function votesJson(voters: readonly Voter[]): JsonObject[] {
  return voters.flatMap((voter) =>
    voter.votes.map(({ action, vote, anchor }) => ({
      proposal: refJson(action),
      issuer: voterJson(voter),
      vote,
      ...(anchor ? { metadata: anchorJson(anchor) } : {}),
    }))
  );
}

/** The inverse of `votesJson`, to be encoded; undefined where only genesis keys vote. @throws OgmiosFormError */
export function readVotesJson(json: readonly Json[]): Encodable | undefined {
  const voters = new Map<
    string,
    { readonly role: Voter["role"]; readonly credential: Credential; readonly votes: Vote[] }
  >();
  for (const one of json) {
    const { proposal, issuer, vote, metadata } = objectOf(one, "a vote");
    const voter = readVoter(issuer);
    if (!voter) continue;
    if (vote !== "yes" && vote !== "no" && vote !== "abstain") throw new OgmiosFormError("no vote");
    const anchor = readAnchor(metadata);
    const key = `${voter.role} ${voter.credential.kind} ${voter.credential.hash}`;
    const found = voters.get(key) ?? { ...voter, votes: [] };
    voters.set(key, found);
    found.votes.push({ action: readRef(proposal), vote, ...(anchor ? { anchor } : {}) });
  }
  return voters.size === 0 ? undefined : new Encoded(encodeVotes([...voters.values()]));
}

/** The votes and actions of an update before Conway (body field 6): each genesis key that proposes something votes for it. */
export function updateJson(update: Uint8Array): { readonly votes: JsonObject[]; readonly actions: JsonObject[] } {
  const walk = new Walk(update);
  return walk.within("update", 2, 2, () => {
    const votes: JsonObject[] = [];
    const actions = new Map<string, JsonObject[]>();
    const count = walk.map();
    for (let i = 0; walk.more(i, count); i++) {
      const id = walk.hex();
      votes.push({ issuer: { role: "genesisDelegate", from: "verificationKey", id }, vote: "yes" });
      const start = walk.at;
      const changes = new Map(walkParameterChanges(walk));
      const version = changes.get(14);
      changes.delete(14);
      // most often all propose the same
      const key = walk.source.subarray(start, walk.at).join();
      if (!actions.has(key)) actions.set(key, updateActions(changes, version));
    }
    walk.skip();
    return { votes, actions: [...actions.values()].flat() };
  });
}

function updateActions(
  changes: ReturnType<typeof walkParameterChanges>,
  version: ReturnType<ReturnType<typeof walkParameterChanges>["get"]>,
): JsonObject[] {
  const actions: JsonObject[] = [];
  if (version !== undefined) {
    const [major = 0n, minor = 0n] = version as readonly bigint[];
    actions.push({ type: "hardForkInitiation", version: { major: jsonInteger(major), minor: jsonInteger(minor) } });
  }
  if (changes.size > 0) {
    actions.push({
      type: "protocolParametersUpdate",
      parameters: parameterChangesJson(changes) as Json,
      guardrails: null,
    });
  }
  return actions;
}
