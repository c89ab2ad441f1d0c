/** Votes that bring actions to their thresholds, or one voter short of them. */
import { passBoundary } from "../plainGovernance/boundary.ts";
import { isExact, ratify, reaches, type Requirement, type Verdict } from "../plainGovernance/elections.ts";
import { type Ballot, copyOf, type PlainState, type Role, type Vote } from "../plainGovernance/types.ts";
import type { Dice } from "./dice.ts";
import { voters } from "./operations.ts";

/** What is to become of an action: it passes by as few votes as it takes, or one body is one voter short; or chance decides. */
export type Goal = "pass" | "chance" | { readonly short: Role };

/**
 * Ballots by which the poll of the next boundary decides as the goals say. Some voters stay away: pools then vote by default, and
 * representatives expire. The plain model itself foresees the stake and the voters that will count at the boundary.
 */
export function campaign(plain: PlainState, goals: ReadonlyMap<string, Goal>, dice: Dice): Ballot[] {
  const some = (role: Role, share: number) =>
    voters(plain, role).filter(() => dice.chance(share)).map((voter) => `${role} ${voter}`);
  const share = dice.pick([0.6, 1, 1, 1]);
  const awake = new Set([
    ...some("committee", share),
    ...some("drep", share),
    ...some("pool", dice.pick([0.4, 0.7, 1, 1])),
  ]);
  return foresee(plain, awake).flatMap(({ proposal: { id, expiresAfter }, requirements }) => {
    const goal = goals.get(id);
    if (goal === undefined || expiresAfter < plain.epoch) return [];
    return requirements.flatMap((requirement) => {
      if (requirement.role === "drep" && plain.version[0] === 9) return [];
      const isShort = typeof goal === "object" && goal.short === requirement.role;
      return ballots(requirement, awake, goal === "chance" ? "chance" : isShort ? "short" : "pass", dice)
        .map((ballot) => ({ ...ballot, action: id }));
    });
  });
}

/** The verdicts of the next boundary if only the representatives that are awake voted until then: to vote is to be active. */
function foresee(plain: PlainState, awake: ReadonlySet<string>): readonly Verdict[] {
  const next = copyOf(plain);
  for (const [id, drep] of next.dreps) if (awake.has(`drep ${id}`)) drep.expiry = Math.max(drep.expiry, next.epoch + 1);
  passBoundary(next);
  return ratify(next.poll!).verdicts;
}

type Choice = ReadonlyMap<string, Vote>;

function ballots(
  { role, counted, threshold }: Requirement,
  awake: ReadonlySet<string>,
  goal: "pass" | "short" | "chance",
  dice: Dice,
): Omit<Ballot, "action">[] {
  const canVote = [...new Set(counted.map(({ voter }) => voter))].filter((voter) => awake.has(`${role} ${voter}`));
  const written = (choice: Choice) => [...choice].map(([voter, vote]) => ({ role, voter, vote }));
  if (goal === "chance" || !threshold) {
    const some = canVote.filter(() => dice.chance(0.6));
    return written(new Map(some.map((voter) => [voter, dice.pick<Vote>(["yes", "yes", "no", "abstain"])])));
  }
  const after = (choice: Choice) => counted.map((one) => ({ ...one, vote: choice.get(one.voter) ?? one.vote }));
  const attempts = Array.from(
    { length: goal === "pass" ? 12 : 1 },
    () => approach(dice.shuffle(canVote), goal, (choice) => reaches(after(choice), threshold), dice),
  );
  const exact = attempts.find((choice) => isExact(after(choice), threshold));
  return written(exact ?? attempts[0]!);
}

/** As few voters agree as it takes; or, to stay short, as many as are not enough. */
function approach(
  order: readonly string[],
  goal: "pass" | "short",
  isReached: (choice: Choice) => boolean,
  dice: Dice,
): Choice {
  const choice = new Map<string, Vote>(order.map((voter) => [voter, dice.chance(0.1) ? "abstain" : "no"]));
  for (const voter of order) {
    if (isReached(choice)) break;
    const before = choice.get(voter)!;
    choice.set(voter, "yes");
    // who would reach the threshold stays with no
    if (goal === "short" && isReached(choice)) choice.set(voter, before);
  }
  return choice;
}
