/** Which actions are ratified, by the votes and the stake as of a boundary, in the plain model (rules RATIFY and ENACT). */
import { isBootstrap, isPredefined } from "./certificates.ts";
import { isOfSecurity } from "./transactions.ts";
import {
  type Action,
  type Committee,
  type InForce,
  type Kind,
  NUMBERS,
  type PlainProposal,
  type Poll,
  previousOf,
  purposeOf,
  type Ratio,
  type RewardAccount,
  type Role,
  type Vote,
  whole,
} from "./types.ts";

/** A voter that counts: its weight is stake, or 1 for a committee member. */
interface Counted {
  readonly voter: string;
  readonly weight: bigint;
  readonly vote: Vote;
}

/** What one of the three bodies has to say of an action. */
export interface Requirement {
  readonly role: Role;
  /** Which threshold it is: `drep 5`, by its place in the list of the grammar, `committee quorum`. */
  readonly name: string;
  /** None: the action cannot be ratified at all. */
  readonly threshold: Ratio | undefined;
  readonly counted: readonly Counted[];
  readonly isMet: boolean;
}

/** The outcome for one action. */
export interface Verdict {
  readonly proposal: PlainProposal;
  /** Whether it follows what is in force, can be carried out, and nothing before it delays it. */
  readonly isReady: boolean;
  readonly requirements: readonly Requirement[];
  readonly outcome: "enacted" | "expired" | "kept";
}

/** What takes force at the next boundary. */
export interface Outcome {
  readonly verdicts: readonly Verdict[];
  readonly inForce: InForce;
  readonly payments: readonly { readonly account: RewardAccount; readonly lovelace: bigint }[];
}

const PRIORITY: readonly Kind[] = [
  "no confidence",
  "committee",
  "constitution",
  "hard fork",
  "parameters",
  "treasury",
  "info",
];
const DELAYING: readonly Kind[] = ["no confidence", "committee", "constitution", "hard fork"];

/** Decides about all actions of a poll, in the order of their kinds, then in that of their proposals. */
export function ratify(poll: Poll): Outcome {
  const { parameters, version, committee, constitution, roots, treasury } = poll;
  let inForce: InForce = { parameters, version, committee, constitution, roots, treasury };
  const payments: { account: RewardAccount; lovelace: bigint }[] = [];
  const verdicts: Verdict[] = [];
  let isDelayed = false;
  for (const kind of PRIORITY) {
    for (const proposal of poll.proposals.filter(({ action }) => action.kind === kind)) {
      const { action } = proposal;
      const isReady = !isDelayed && isPossible(action, inForce, poll);
      const requirements = requirementsOf(proposal, inForce, poll);
      const isEnacted = isReady && requirements.every(({ isMet }) => isMet);
      const isOver = proposal.expiresAfter < poll.epoch;
      verdicts.push({ proposal, isReady, requirements, outcome: isEnacted ? "enacted" : isOver ? "expired" : "kept" });
      if (!isEnacted) continue;
      inForce = enact(proposal, inForce);
      if (action.kind === "treasury") payments.push(...action.payments);
      isDelayed = DELAYING.includes(kind);
    }
  }
  return { verdicts, inForce, payments };
}

const paid = ({ payments }: Extract<Action, { kind: "treasury" }>) =>
  payments.reduce((sum, { lovelace }) => sum + lovelace, 0n);

function isPossible(action: Action, inForce: InForce, { epoch, newestMajor }: Poll): boolean {
  const purpose = purposeOf(action);
  if (purpose !== undefined && previousOf(action) !== inForce.roots[purpose]) return false;
  switch (action.kind) {
    case "committee": {
      const longest = epoch + Number(whole(inForce, "committeeMaxTerm"));
      return [...action.added.values()].every((until) => until <= longest);
    }
    case "treasury":
      return paid(action) <= inForce.treasury;
    case "hard fork":
      return action.version[0] <= newestMajor;
    default:
      return true;
  }
}

function enact({ id, action }: PlainProposal, before: InForce): InForce {
  const purpose = purposeOf(action);
  const inForce = { ...before, roots: { ...before.roots, ...(purpose === undefined ? {} : { [purpose]: id }) } };
  switch (action.kind) {
    case "parameters":
      return { ...inForce, parameters: new Map([...inForce.parameters, ...action.changes]) };
    case "hard fork":
      return { ...inForce, version: action.version };
    case "treasury":
      return { ...inForce, treasury: inForce.treasury - paid(action) };
    case "no confidence":
      return { ...inForce, committee: undefined };
    case "committee":
      return { ...inForce, committee: elect(inForce.committee, action) };
    case "constitution": {
      const { url, script } = action;
      return { ...inForce, constitution: script === undefined ? { url } : { url, script } };
    }
    case "info":
      return inForce;
  }
}

function elect(before: Committee | undefined, action: Extract<Action, { kind: "committee" }>): Committee {
  const members = new Map(before?.members ?? []);
  for (const cold of action.removed) members.delete(cold);
  for (const [cold, until] of action.added) members.set(cold, until);
  return { members, quorum: action.quorum };
}

/** What each body that has a say has to reach. */
function requirementsOf(proposal: PlainProposal, inForce: InForce, poll: Poll): Requirement[] {
  const requirements: Requirement[] = [];
  const add = (role: Role, name: string, threshold: Ratio | undefined, counted: readonly Counted[]) =>
    requirements.push({ role, name: `${role} ${name}`, threshold, counted, isMet: reaches(counted, threshold) });
  const { action } = proposal;
  if (action.kind !== "no confidence" && action.kind !== "committee") {
    const { committee } = inForce;
    const members = countMembers(proposal, committee, poll);
    const isEnough = isBootstrap(inForce) || countActive(committee, poll) >= Number(whole(inForce, "committeeMinSize"));
    const quorum = action.kind !== "info" && committee && isEnough ? committee.quorum : undefined;
    add("committee", "quorum", quorum, members);
  }
  const place = poolThreshold(action, inForce);
  const pools = countPools(proposal, inForce, poll);
  if (place === "never") add("pool", "never", undefined, pools);
  else if (place !== "no say") add("pool", String(place), thresholds(inForce, "poolThresholds")[place], pools);
  const { name, threshold } = drepThreshold(action, inForce);
  add("drep", name, threshold, countDReps(proposal, poll));
  return requirements;
}

/** The weight of those that agree, and of all that count and do not abstain. */
export function tally(counted: readonly Counted[]): { readonly yes: bigint; readonly all: bigint } {
  const sum = (votes: readonly Vote[]) =>
    counted.reduce((sum, { vote, weight }) => sum + (votes.includes(vote) ? weight : 0n), 0n);
  return { yes: sum(["yes"]), all: sum(["yes", "no"]) };
}

/** Whether those that agree reach a threshold. Without anyone who counts, only zero is reached. */
export function reaches(counted: readonly Counted[], threshold: Ratio | undefined): boolean {
  if (!threshold) return false;
  if (threshold[0] === 0n) return true;
  const { yes, all } = tally(counted);
  return all > 0n && yes * threshold[1] >= threshold[0] * all;
}

/** Whether those that agree are just as many as a threshold asks. */
export function isExact(counted: readonly Counted[], [above, below]: Ratio): boolean {
  const { yes, all } = tally(counted);
  return above > 0n && all > 0n && yes * below === above * all;
}

function thresholds({ parameters }: InForce, name: "poolThresholds" | "drepThresholds"): readonly Ratio[] {
  return parameters.get(NUMBERS[name]) as readonly Ratio[];
}

/** The place of a threshold in the list of the pools' ones. */
function poolThreshold(action: Action, { committee }: InForce): number | "no say" | "never" {
  switch (action.kind) {
    case "no confidence":
      return 0;
    case "committee":
      return committee ? 1 : 2;
    case "hard fork":
      return 3;
    case "parameters":
      return isOfSecurity(action.changes) ? 4 : "no say";
    case "info":
      return "never";
    case "constitution":
    case "treasury":
      return "no say";
  }
}

/** Places of the groups' thresholds in the list, and the parameters of each group (CIP-1694). */
const GROUPS: readonly (readonly [place: number, numbers: readonly number[]])[] = [
  [5, [2, 3, 4, 20, 21, 22, 24]],
  [6, [0, 1, 5, 6, 10, 11, 16, 17, 19, 33]],
  [7, [7, 8, 9, 18, 23]],
  [8, [25, 26, 27, 28, 29, 30, 31, 32]],
];

/** The threshold of representatives; of several groups the highest one. In the bootstrap all are zero. */
function drepThreshold(
  action: Action,
  inForce: InForce,
): { readonly name: string; readonly threshold: Ratio | undefined } {
  if (action.kind === "info") return { name: "never", threshold: undefined };
  if (isBootstrap(inForce)) return { name: "bootstrap", threshold: [0n, 1n] };
  const all = thresholds(inForce, "drepThresholds");
  const at = (place: number) => ({ name: String(place), threshold: all[place] });
  switch (action.kind) {
    case "no confidence":
      return at(0);
    case "committee":
      return at(inForce.committee ? 1 : 2);
    case "constitution":
      return at(3);
    case "hard fork":
      return at(4);
    case "treasury":
      return at(9);
    case "parameters": {
      const places = GROUPS.filter(([, numbers]) => numbers.some((one) => action.changes.has(one))).map(([at]) => at);
      return at(places.reduce((a, b) => isLess(all[a]!, all[b]!) ? b : a));
    }
  }
}

const isLess = (a: Ratio, b: Ratio) => a[0] * b[1] < b[0] * a[1];

const isSeated = (cold: string, until: number, { hot, epoch }: Poll) =>
  epoch <= until && hot.has(cold) && hot.get(cold) !== "resigned";

function countActive(committee: Committee | undefined, poll: Poll): number {
  return [...committee?.members ?? []].filter(([cold, until]) => isSeated(cold, until, poll)).length;
}

/** Members whose term runs and who have a hot credential; without a vote it is no. */
function countMembers({ votes }: PlainProposal, committee: Committee | undefined, poll: Poll): Counted[] {
  return [...committee?.members ?? []].filter(([cold, until]) => isSeated(cold, until, poll)).map(([cold]) => {
    const voter = poll.hot.get(cold)!;
    return { voter, weight: 1n, vote: votes.get(`committee ${voter}`) ?? "no" };
  });
}

/** Deposits of actions count as stake of the accounts that they return to. */
function depositsOf(credential: string, { proposals }: Poll): bigint {
  return proposals.reduce((sum, { account, deposit }) => sum + (account.credential === credential ? deposit : 0n), 0n);
}

/** Pools by the stake of the boundary; one that has not voted votes as its reward account delegates. */
function countPools({ action, votes }: PlainProposal, inForce: InForce, poll: Poll): Counted[] {
  return [...poll.poolStake].map(([pool, stake]) => {
    const deposits = [...poll.accounts].reduce(
      (sum, [credential, account]) => sum + (account.pool === pool ? depositsOf(credential, poll) : 0n),
      0n,
    );
    const vote = votes.get(`pool ${pool}`) ?? poolDefault(action, pool, inForce, poll);
    return { voter: pool, weight: stake + deposits, vote };
  });
}

function poolDefault({ kind }: Action, pool: string, inForce: InForce, { pools, accounts }: Poll): Vote {
  if (kind === "hard fork") return "no";
  if (isBootstrap(inForce)) return "abstain";
  const drep = accounts.get(pools.get(pool)?.account ?? "")?.drep;
  if (drep === "abstain") return "abstain";
  return drep === "no confidence" && kind === "no confidence" ? "yes" : "no";
}

/** Representatives that are registered and active, by what is delegated to them, and the predefined ones. */
function countDReps({ action, votes }: PlainProposal, poll: Poll): Counted[] {
  const stake = new Map<string, bigint>();
  for (const [credential, { drep, balance }] of poll.accounts) {
    if (drep === undefined) continue;
    const held = balance + (poll.outputs.get(credential) ?? 0n) + depositsOf(credential, poll);
    stake.set(drep, (stake.get(drep) ?? 0n) + held);
  }
  return [...stake].flatMap(([voter, weight]): Counted[] => {
    if (voter === "abstain") return [];
    if (isPredefined(voter)) return [{ voter, weight, vote: action.kind === "no confidence" ? "yes" : "no" }];
    const drep = poll.dreps.get(voter);
    if (!drep || drep.expiry < poll.epoch) return [];
    return [{ voter, weight, vote: votes.get(`drep ${voter}`) ?? "no" }];
  });
}
