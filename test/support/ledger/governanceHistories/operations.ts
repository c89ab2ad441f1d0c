/** Random operations that are usually accepted: certificates, payments, proposals and single votes. */
import type {
  Action,
  Ballot,
  Kind,
  Operation,
  PlainState,
  ProposalDraft,
  Purpose,
  Role,
} from "../plainGovernance/types.ts";
import { purposeOf, whole } from "../plainGovernance/types.ts";
import { ACCOUNTS, COLD, DREPS, GUARDRAILS, HOT, POOLS } from "./cast.ts";
import type { Dice } from "./dice.ts";
import { quorum, randomChanges, UNIT } from "./parameters.ts";
import type { RealLedger } from "./realLedger.ts";

type Make = (plain: PlainState, dice: Dice, ledger: RealLedger) => Operation | undefined;

const ids = (of: readonly { readonly id: string }[]) => of.map(({ id }) => id);

/** Whom an account may delegate its vote to. */
function anyDRep(plain: PlainState, dice: Dice): string {
  // protocol version 9 does not check that a representative is registered
  const known = plain.version[0] === 9 && dice.chance(0.5) ? ids(DREPS) : [...plain.dreps.keys()];
  return dice.weighted([[6, dice.maybe(known) ?? "abstain"], [1.5, "abstain"], [1, "no confidence"]]);
}

const delegate: Make = (plain, dice) => {
  const credential = dice.maybe([...plain.accounts.keys()]);
  const pool = dice.maybe([...plain.pools.keys()]);
  if (!credential) return undefined;
  const both = {
    ...(dice.chance(0.5) && pool ? { pool } : {}),
    ...(dice.chance(0.6) ? { drep: anyDRep(plain, dice) } : {}),
  };
  const to = Object.keys(both).length > 0 ? both : { drep: anyDRep(plain, dice) };
  return { certificates: [{ kind: "delegate", credential, ...to }] };
};

const openAccount: Make = (plain, dice) => {
  const credential = dice.maybe(ids(ACCOUNTS).filter((one) => !plain.accounts.has(one)));
  if (!credential) return undefined;
  const pool = dice.maybe([...plain.pools.keys()]);
  return {
    certificates: [
      { kind: "register", credential, deposit: whole(plain, "keyDeposit") },
      { kind: "delegate", credential, drep: anyDRep(plain, dice), ...(pool ? { pool } : {}) },
    ],
  };
};

const closeAccount: Make = (plain, dice) => {
  if (plain.accounts.size < 9) return undefined;
  const [credential, { deposit, drep, balance }] = dice.pick([...plain.accounts]);
  if (plain.version[0] >= 10 && credential.startsWith("k") && !drep && balance > 0n) return undefined;
  return {
    certificates: [{ kind: "unregister", credential, refund: deposit }],
    ...(balance > 0n ? { withdrawals: [credential] } : {}),
  };
};

const withdraw: Make = (plain, dice) => {
  const credential = dice.maybe([...plain.accounts.keys()].filter((one) => plain.accounts.get(one)!.balance > 0n));
  return credential ? { withdrawals: [credential] } : undefined;
};

const pay: Make = (_, dice) => {
  const credential = dice.pick(ids(ACCOUNTS));
  return { stake: [{ credential, lovelace: BigInt(dice.between(1, 4)) * UNIT }] };
};

const spend: Make = (_, dice, { holdings }) => {
  const [credential, of] = dice.pick([...holdings]);
  const one = dice.maybe(of);
  return one ? { stake: [{ credential, lovelace: -one.output.value.lovelace }] } : undefined;
};

const donate: Make = (_, dice) => ({ donation: BigInt(dice.between(1, 3)) * UNIT });

const url = (dice: Dice) => dice.chance(0.5) ? { url: `https://example.com/drep/${dice.between(1, 99)}` } : {};

const registerDRep: Make = (plain, dice) => {
  const credential = dice.maybe(ids(DREPS).filter((one) => !plain.dreps.has(one)));
  if (!credential) return undefined;
  return { certificates: [{ kind: "register drep", credential, deposit: whole(plain, "drepDeposit"), ...url(dice) }] };
};

const unregisterDRep: Make = (plain, dice) => {
  if (plain.dreps.size < 6) return undefined;
  const [credential, { deposit }] = dice.pick([...plain.dreps]);
  return { certificates: [{ kind: "unregister drep", credential, refund: deposit }] };
};

const updateDRep: Make = (plain, dice) => {
  const credential = dice.maybe([...plain.dreps.keys()]);
  return credential ? { certificates: [{ kind: "update drep", credential, ...url(dice) }] } : undefined;
};

const registerPool: Make = (plain, dice) => ({
  certificates: [{
    kind: "register pool",
    pool: dice.pick(ids(POOLS)),
    account: dice.pick([...plain.accounts.keys(), ...ids(ACCOUNTS)]),
  }],
});

const retirePool: Make = (plain, dice) => {
  if (plain.pools.size < 5) return undefined;
  const epoch = plain.epoch + dice.between(1, 2);
  return { certificates: [{ kind: "retire pool", pool: dice.pick([...plain.pools.keys()]), epoch }] };
};

/** Cold credentials that may name a hot one: members, and those that are proposed. */
function candidates(plain: PlainState): string[] {
  const proposed = plain.proposals.flatMap(({ action }) => action.kind === "committee" ? [...action.added.keys()] : []);
  return [...plain.committee?.members.keys() ?? [], ...proposed].filter((cold) => plain.hot.get(cold) !== "resigned");
}

const authorize: Make = (plain, dice) => {
  const cold = dice.maybe(candidates(plain));
  return cold ? { certificates: [{ kind: "authorize", cold, hot: dice.pick(ids(HOT)) }] } : undefined;
};

const resign: Make = (plain, dice) => {
  const cold = dice.maybe(candidates(plain));
  return cold ? { certificates: [{ kind: "resign", cold }] } : undefined;
};

/** Members without a hot credential name one. */
export function authorizeAll(plain: PlainState, dice: Dice): Operation | undefined {
  const idle = [...plain.committee?.members.keys() ?? []].filter((cold) => !plain.hot.has(cold));
  if (idle.length === 0) return undefined;
  return { certificates: idle.map((cold) => ({ kind: "authorize", cold, hot: dice.pick(ids(HOT)) })) };
}

const CHANGES: readonly (readonly [number, Make])[] = [
  [4, delegate],
  [2, openAccount],
  [1, closeAccount],
  [1, withdraw],
  [2, pay],
  [1, spend],
  [1, donate],
  [3, registerDRep],
  [1, unregisterDRep],
  [2, updateDRep],
  [2, registerPool],
  [1, retirePool],
  [2, authorize],
  [0.4, resign],
];

const OF_REPRESENTATIVES: typeof CHANGES = [[3, delegate], [2, registerDRep], [2, unregisterDRep]];

/** A certificate or a payment; undefined where it is not possible now. */
export function randomChange(plain: PlainState, dice: Dice, ledger: RealLedger): Operation | undefined {
  // version 9 has rules of its own for delegations to representatives that come and go
  const changes = plain.version[0] === 9 && dice.chance(0.5) ? OF_REPRESENTATIVES : CHANGES;
  return dice.weighted(changes)(plain, dice, ledger);
}

/** The last enacted action of a purpose, or one that is voted on, in the form of an action's field. */
export function follow(plain: PlainState, dice: Dice, purpose: Purpose): { readonly previous?: string } {
  const open = plain.proposals.filter(({ action }) => purposeOf(action) === purpose).map(({ id }) => id);
  const previous = open.length > 0 && dice.chance(0.25) ? dice.pick(open) : plain.roots[purpose];
  return previous === undefined ? {} : { previous };
}

/** An action of a kind, as it may be proposed now. */
export function randomAction(plain: PlainState, dice: Dice, kind: Kind): Action {
  const policy = plain.constitution.script === undefined ? {} : { policy: plain.constitution.script };
  switch (kind) {
    case "parameters":
      return { kind, ...follow(plain, dice, kind), changes: randomChanges(dice), ...policy };
    case "hard fork":
      return randomHardFork(plain, dice);
    case "treasury": {
      const payees = dice.shuffle([...plain.accounts.keys()]).slice(0, dice.between(1, 2));
      const payment = () => dice.chance(0.05) ? plain.treasury + 1n : BigInt(dice.between(1, 3)) * UNIT;
      const payments = payees.map((credential) => ({ account: { network: 0, credential }, lovelace: payment() }));
      return { kind, payments, ...policy };
    }
    case "no confidence":
      return { kind, ...follow(plain, dice, "committee") };
    case "committee":
      return randomCommittee(plain, dice);
    case "constitution": {
      const script = dice.chance(0.4) ? { script: dice.pick(ids(GUARDRAILS)) } : {};
      return { kind, ...follow(plain, dice, kind), url: `https://example.com/${dice.between(1, 999)}`, ...script };
    }
    case "info":
      return { kind };
  }
}

function randomHardFork(plain: PlainState, dice: Dice): Action {
  const named = follow(plain, dice, "hard fork");
  const before = plain.proposals.find(({ id }) => id === named.previous)?.action;
  const [major, minor] = before?.kind === "hard fork" ? before.version : plain.version;
  return { kind: "hard fork", ...named, version: dice.chance(0.15) ? [major + 1, 0] : [major, minor + 1] };
}

function randomCommittee(plain: PlainState, dice: Dice): Action {
  const members = [...plain.committee?.members.keys() ?? []];
  // enough members for a share of them to mean something
  const removed = members.length > 4 ? dice.shuffle(ids(COLD)).slice(0, dice.between(0, 2)) : [];
  const free = ids(COLD).filter((cold) => !removed.includes(cold));
  const term = Number(whole(plain, "committeeMaxTerm"));
  // the longest term counts from the boundary that elects
  const until = () => plain.epoch + (dice.chance(0.3) ? term + dice.between(1, 2) : dice.between(4, term));
  const added = new Map(dice.shuffle(free).slice(0, dice.between(2, 5)).map((cold) => [cold, until()]));
  return { kind: "committee", ...follow(plain, dice, "committee"), removed, added, quorum: quorum(dice) };
}

/** A proposal with the deposit that is asked; it returns to an account that is registered. */
export function proposalOf(plain: PlainState, dice: Dice, action: Action): ProposalDraft {
  const credential = dice.pick([...plain.accounts.keys()]);
  return { deposit: whole(plain, "actionDeposit"), account: { network: 0, credential }, action };
}

/** All that may vote in a role. */
export function voters(plain: PlainState, role: Role): string[] {
  if (role === "drep") return [...plain.dreps.keys()];
  return role === "pool"
    ? [...plain.pools.keys()]
    : [...new Set(plain.hot.values())].filter((hot) => hot !== "resigned");
}

/** A vote, which may be one that is not allowed. */
export function randomVote(plain: PlainState, dice: Dice): Ballot | undefined {
  const role = dice.pick<Role>(["committee", "drep", "pool"]);
  const voter = dice.maybe(voters(plain, role));
  const action = dice.maybe(plain.proposals)?.id;
  if (voter === undefined || action === undefined) return undefined;
  return { role, voter, action, vote: dice.pick(["yes", "no", "abstain"]) };
}
