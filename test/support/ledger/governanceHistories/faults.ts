/** Operations that are wrong on purpose, each in one way. */
import {
  type Certificate,
  KINDS,
  type Operation,
  type PlainState,
  type ProposalDraft,
  purposeOf,
  type Role,
  whole,
} from "../plainGovernance/types.ts";
import { ACCOUNTS, COLD, DREPS, GUARDRAILS, HOT, noTransaction, POOLS, STRANGER } from "./cast.ts";
import type { Dice } from "./dice.ts";
import { proposalOf, randomAction, voters } from "./operations.ts";

type Fault = (plain: PlainState, dice: Dice) => Operation | undefined;

/** An action that was never proposed. */
const nothing = `${noTransaction(7)}#0`;

/** A proposal whose parts were changed. */
const proposal =
  (change: (draft: ProposalDraft, plain: PlainState, dice: Dice) => ProposalDraft | undefined): Fault =>
  (plain, dice) => {
    const changed = change(proposalOf(plain, dice, randomAction(plain, dice, dice.pick(KINDS))), plain, dice);
    return changed && { proposals: [changed] };
  };

const payment = (
  change: (plain: PlainState, dice: Dice) => { network: number; credential: string; lovelace: bigint },
) =>
  proposal((draft, plain, dice) => {
    const action = randomAction(plain, dice, "treasury");
    if (action.kind !== "treasury") return undefined;
    const { network, credential, lovelace } = change(plain, dice);
    return { ...draft, action: { ...action, payments: [{ account: { network, credential }, lovelace }] } };
  });

const someone = (plain: PlainState, dice: Dice) => dice.pick([...plain.accounts.keys()]);

const wrongPrevious = proposal((draft, plain, dice) => {
  const purpose = purposeOf(draft.action);
  if (purpose === undefined) return undefined;
  const others = plain.proposals.filter(({ action }) => purposeOf(action) !== purpose).map(({ id }) => id);
  const previous = dice.pick([nothing, ...others, undefined]);
  const { previous: _, ...action } = draft.action as { previous?: string };
  return {
    ...draft,
    action: { ...action, ...(previous === undefined ? {} : { previous }) } as ProposalDraft["action"],
  };
});

const PROPOSALS: readonly Fault[] = [
  proposal((draft, _, dice) => ({ ...draft, deposit: draft.deposit + (dice.chance(0.5) ? 1n : -1n) })),
  proposal((draft) => ({ ...draft, account: { network: 0, credential: STRANGER.id } })),
  proposal((draft) => ({ ...draft, account: { ...draft.account, network: 1 } })),
  wrongPrevious,
  wrongPrevious,
  proposal((draft, plain, dice) => {
    const action = randomAction(plain, dice, "hard fork");
    if (action.kind !== "hard fork") return undefined;
    const [major, minor] = action.version;
    return {
      ...draft,
      action: { ...action, version: dice.pick([[major, minor + 1], [major + 1, 1], [major, Math.max(minor - 1, 0)]]) },
    };
  }),
  proposal((draft, plain, dice) => {
    const action = randomAction(plain, dice, "parameters");
    if (action.kind !== "parameters") return undefined;
    const number = dice.pick([0, 2, 3, 4, 5, 6, 8, 8, 8, 17, 17, 17, 22, 23, 28, 29, 30, 31, 32]);
    // a change to zero that is allowed would stop later histories
    const isAllowed = [0, 5, 32].includes(number) || (number === 17 && plain.version[0] < 10) ||
      (number === 8 && plain.version[0] < 11);
    return { ...draft, action: { ...action, changes: new Map(isAllowed || dice.chance(0.2) ? [] : [[number, 0n]]) } };
  }),
  proposal((draft, plain, dice) => {
    const action = randomAction(plain, dice, dice.pick(["parameters", "treasury"]));
    const { policy: before, ...rest } = action as { policy?: string };
    const policy = before === undefined ? { policy: GUARDRAILS[0]!.id } : {};
    return { ...draft, action: { ...rest, ...policy } as ProposalDraft["action"] };
  }),
  payment((plain, dice) => ({ network: 0, credential: someone(plain, dice), lovelace: 0n })),
  payment((plain, dice) => ({ network: 1, credential: someone(plain, dice), lovelace: 5n })),
  payment(() => ({ network: 0, credential: STRANGER.id, lovelace: 5n })),
  proposal((draft, plain, dice) => {
    const action = randomAction(plain, dice, "committee");
    if (action.kind !== "committee") return undefined;
    const [cold] = [...action.added.keys()];
    if (dice.chance(0.5)) return { ...draft, action: { ...action, removed: [...action.removed, cold!] } };
    return {
      ...draft,
      action: { ...action, added: new Map([...action.added, [cold!, plain.epoch - dice.between(0, 1)]]) },
    };
  }),
];

const vote = (
  change: (plain: PlainState, dice: Dice) => { role: Role; voter: string | undefined; action: string | undefined },
): Fault =>
(plain, dice) => {
  const { role, voter, action } = change(plain, dice);
  return voter === undefined || action === undefined ? undefined : { votes: [{ role, voter, action, vote: "yes" }] };
};

const anyRole = (dice: Dice) => dice.pick<Role>(["committee", "drep", "pool"]);
const everyVoter = { committee: HOT, drep: DREPS, pool: POOLS };

const VOTES: readonly Fault[] = [
  // voters that are not registered, on actions and on nothing
  vote((plain, dice) => {
    const role = anyRole(dice);
    const voter = dice.maybe(everyVoter[role].map(({ id }) => id).filter((id) => !voters(plain, role).includes(id)));
    return { role, voter, action: dice.pick([...plain.proposals.map(({ id }) => id), nothing]) };
  }),
  vote((plain, dice) => {
    const role = anyRole(dice);
    return { role, voter: dice.maybe(voters(plain, role)), action: nothing };
  }),
  vote((plain, dice) => {
    const role = anyRole(dice);
    const late = plain.proposals.filter(({ expiresAfter }) => expiresAfter < plain.epoch);
    return { role, voter: dice.maybe(voters(plain, role)), action: dice.maybe(late)?.id };
  }),
  vote((plain, dice) => {
    const role = dice.pick<Role>(["committee", "pool"]);
    return { role, voter: dice.maybe(voters(plain, role)), action: dice.maybe(plain.proposals)?.id };
  }),
];

const certificate = (make: (plain: PlainState, dice: Dice) => Certificate | undefined): Fault => (plain, dice) => {
  const made = make(plain, dice);
  return made && { certificates: [made] };
};

const unregisteredDRep = (plain: PlainState, dice: Dice) => {
  return dice.maybe(DREPS.map(({ id }) => id).filter((id) => !plain.dreps.has(id)));
};
const closed = (plain: PlainState, dice: Dice) => {
  return dice.maybe(ACCOUNTS.map(({ id }) => id).filter((id) => !plain.accounts.has(id)));
};

const CERTIFICATES: readonly Fault[] = [
  certificate((plain, dice) => {
    const credential = dice.maybe([...plain.dreps.keys()]);
    return credential ? { kind: "register drep", credential, deposit: whole(plain, "drepDeposit") } : undefined;
  }),
  certificate((plain, dice) => {
    const credential = unregisteredDRep(plain, dice);
    return credential ? { kind: "register drep", credential, deposit: whole(plain, "drepDeposit") + 1n } : undefined;
  }),
  certificate((plain, dice) => {
    const credential = unregisteredDRep(plain, dice);
    if (!credential) return undefined;
    return dice.chance(0.5) ? { kind: "update drep", credential } : { kind: "unregister drep", credential, refund: 1n };
  }),
  certificate((plain, dice) => {
    const found = dice.maybe([...plain.dreps]);
    return found && { kind: "unregister drep", credential: found[0], refund: found[1].deposit + 1n };
  }),
  certificate((_, dice) => {
    const cold = dice.pick(COLD).id;
    return dice.chance(0.5) ? { kind: "resign", cold } : { kind: "authorize", cold, hot: dice.pick(HOT).id };
  }),
  certificate((plain, dice) => {
    const [cold] = dice.maybe([...plain.hot].filter(([, hot]) => hot === "resigned")) ?? [];
    return cold ? { kind: "authorize", cold, hot: dice.pick(HOT).id } : undefined;
  }),
  certificate((plain, dice) => {
    return { kind: "register", credential: someone(plain, dice), deposit: whole(plain, "keyDeposit") };
  }),
  certificate((plain, dice) => {
    const credential = closed(plain, dice);
    return credential ? { kind: "register", credential, deposit: whole(plain, "keyDeposit") + 1n } : undefined;
  }),
  certificate((plain, dice) => {
    const credential = closed(plain, dice);
    return credential ? { kind: "unregister", credential, refund: 1n } : undefined;
  }),
  certificate((plain, dice) => {
    const credential = someone(plain, dice);
    return { kind: "unregister", credential, refund: plain.accounts.get(credential)!.deposit + 1n };
  }),
  certificate((plain, dice) => {
    const found = dice.maybe([...plain.accounts].filter(([, { balance }]) => balance > 0n));
    return found && { kind: "unregister", credential: found[0], refund: found[1].deposit };
  }),
  certificate((plain, dice) => {
    const credential = someone(plain, dice);
    const pool = dice.maybe(POOLS.map(({ id }) => id).filter((id) => !plain.pools.has(id)));
    const drep = unregisteredDRep(plain, dice);
    return dice.chance(0.5) && pool
      ? { kind: "delegate", credential, pool }
      : drep && plain.version[0] > 9
      ? { kind: "delegate", credential, drep }
      : { kind: "delegate", credential: STRANGER.id, drep: "abstain" };
  }),
  certificate((plain, dice) => {
    const pool = dice.pick(POOLS).id;
    const epoch = plain.epoch + (plain.pools.has(pool) ? dice.pick([0, 60]) : 1);
    return { kind: "retire pool", pool, epoch };
  }),
];

const ALL = [...PROPOSALS, ...PROPOSALS, ...VOTES, ...VOTES, ...VOTES, ...CERTIFICATES];

/** Something that the ledger refuses in most cases; sometimes two such things at once. */
export function randomFault(plain: PlainState, dice: Dice): Operation | undefined {
  const first = dice.pick(ALL)(plain, dice);
  if (!first || !dice.chance(0.25)) return first;
  const second = dice.pick([...PROPOSALS, ...VOTES])(plain, dice);
  return {
    ...first,
    proposals: [...first.proposals ?? [], ...second?.proposals ?? []],
    votes: [...first.votes ?? [], ...second?.votes ?? []],
  };
}
