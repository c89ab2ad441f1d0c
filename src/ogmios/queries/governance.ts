/** The state of governance in Ogmios' JSON. */
import type { Json } from "#src/base/json.ts";
import type { Credential } from "#src/cardano/address.ts";
import { type OutRef, refKey } from "#src/cardano/output.ts";
import type { ActionState, CommitteeMembers } from "#src/node/queries/governance.ts";
import type { AnswerOf } from "#src/node/queries/table.ts";
import { compareDreps, type Drep } from "#src/node/queries/vocabulary.ts";
import { isGiven, type JsonObject, listOf } from "#src/ogmios/form.ts";
import { proposalJson, voterJson } from "#src/ogmios/governance.ts";
import { adaJson, anchorJson, credentialJson, idJson, ratioText, readRef, refJson } from "#src/ogmios/values.ts";

const mandate = (epoch: number) => ({ epoch });

/** The constitution. */
export function constitutionJson({ anchor, script }: AnswerOf<"constitution">): JsonObject {
  return { metadata: anchorJson(anchor), guardrails: script === undefined ? null : { hash: script } };
}

type Member = CommitteeMembers["members"][number];

/** The constitutional committee. */
export function committeeJson({ members, threshold }: CommitteeMembers): JsonObject {
  return {
    members: members.map(({ cold, hot, status, until, next }) => ({
      ...idJson(cold),
      delegate: delegateJson(hot),
      status,
      ...(until === undefined ? {} : { mandate: mandate(until) }),
      ...changeJson(next),
    })),
    quorum: threshold ? ratioText(threshold) : null,
  };
}

function delegateJson(hot: Member["hot"]): JsonObject {
  switch (hot.kind) {
    case "authorized":
      return { status: "authorized", ...idJson(hot.credential) };
    case "not authorized":
      return { status: "none" };
    case "resigned":
      return { status: "resigned", ...(hot.anchor ? { metadata: anchorJson(hot.anchor) } : {}) };
  }
}

function changeJson(next: Member["next"]): { next?: JsonObject } {
  switch (next.kind) {
    case "none":
      return {};
    case "term":
      return { next: { change: "adjustingMandate", mandate: mandate(next.until) } };
    case "enacted":
      return { next: { change: "toBeEnacted" } };
    case "removed":
      return { next: { change: "toBeRemoved" } };
    case "expired":
      return { next: { change: "expiring" } };
  }
}

/** What is known of representatives. */
export interface Representatives {
  readonly registered: AnswerOf<"drepState">;
  readonly stakes: AnswerOf<"drepStake">;
  /** Of the two that are always there. */
  readonly delegations: AnswerOf<"drepDelegations">;
}

/** The two representatives that are always there. */
export const PREDEFINED = [{ kind: "abstain" }, { kind: "no confidence" }] as const;

/** Representatives: registered ones, then the two that are always there. */
export function representativesJson({ registered, stakes, delegations }: Representatives): JsonObject[] {
  const stakeOf = (wanted: Drep) => {
    const found = stakes.find(({ drep }) => compareDreps(drep, wanted) === 0);
    return { stake: adaJson(found?.lovelace ?? 0n) };
  };
  const delegatorsJson = (delegators: readonly Credential[]) => ({ delegators: delegators.map(credentialJson) });
  return [
    ...registered.toSorted((a, b) => compareDreps(a.credential, b.credential)).map(
      ({ credential, expiry, anchor, deposit, delegators }): JsonObject => ({
        type: "registered",
        ...idJson(credential),
        mandate: mandate(expiry),
        ...(anchor ? { metadata: anchorJson(anchor) } : {}),
        deposit: adaJson(deposit),
        ...stakeOf(credential),
        ...delegatorsJson(delegators),
      }),
    ),
    ...PREDEFINED.map((drep): JsonObject => ({
      type: drep.kind === "abstain" ? "abstain" : "noConfidence",
      ...stakeOf(drep),
      ...delegatorsJson(delegations.find((one) => one.drep.kind === drep.kind)?.delegators ?? []),
    })),
  ];
}

/** Which proposals a request names; undefined: all. @throws OgmiosFormError */
export function readProposals({ proposals }: JsonObject): readonly OutRef[] | undefined {
  return isGiven(proposals) ? listOf(proposals, "field 'proposals'").map(readRef) : undefined;
}

/** Actions that are voted on, with their votes. */
export function proposalsJson(actions: readonly ActionState[], wanted: readonly OutRef[] | undefined): JsonObject[] {
  const keys = wanted && new Set(wanted.map(refKey));
  return actions.filter(({ id }) => keys === undefined || keys.has(refKey(id))).map((action): JsonObject => ({
    proposal: refJson(action.id),
    ...proposalJson(action.proposal),
    since: mandate(action.proposedIn),
    until: mandate(action.expiresAfter),
    votes: votesJson(action),
  }));
}

function votesJson({ committeeVotes, drepVotes, poolVotes }: ActionState): Json[] {
  return [
    ...committeeVotes.map(({ voter, vote }) => ({ issuer: voterJson({ role: "committee", credential: voter }), vote })),
    ...drepVotes.map(({ voter, vote }) => ({ issuer: voterJson({ role: "drep", credential: voter }), vote })),
    ...poolVotes.map(({ voter, vote }) => ({
      issuer: voterJson({ role: "pool", credential: { kind: "key", hash: voter } }),
      vote,
    })),
  ];
}
