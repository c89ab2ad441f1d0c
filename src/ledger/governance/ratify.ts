/**
 * Rule RATIFY: which actions take force at the next boundary, and which end there.
 *
 * The ledger counts votes, stake and representatives as of one boundary and applies the outcome at the next one. What is
 * decided depends on nothing in between, so it is decided at once, and the outcome waits (`Governance.decided`).
 */
import { mustGet } from "#src/base/maps.ts";
import type { Action } from "#src/cardano/conway/governance.ts";
import type { Parameters, Ratio } from "#src/cardano/parameters.ts";
import { NEWEST_MAJOR } from "#src/ledger/epoch/hardFork.ts";
import { less, share } from "#src/ledger/epoch/ratio.ts";
import { poolStake, stakeOf } from "#src/ledger/epoch/snapshot.ts";
import {
  governanceOf,
  inOrder,
  previousOf,
  proposalOf,
  purposeOf,
  tallies,
  type Tally,
} from "#src/ledger/governance/actions.ts";
import { enact, type EnactState } from "#src/ledger/governance/enact.ts";
import { protocolParameters } from "#src/ledger/governance/parameters.ts";
import {
  committeeThreshold,
  drepThreshold,
  isActive,
  isBootstrap,
  poolThreshold,
  type Threshold,
  type ThresholdTerms,
} from "#src/ledger/governance/thresholds.ts";
import type { Governance, Proposed } from "#src/ledger/governance/types.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";
import { credentialKey, type LedgerState, type StakeSnapshot } from "#src/ledger/state.ts";

/** Actions are tried in this order, then in that in which they were proposed (ledger: `actionPriority`). */
const PRIORITIES: readonly Action["kind"][] = [
  "no confidence",
  "committee",
  "constitution",
  "hard fork",
  "parameters",
  "treasury",
  "info",
];
/** After one of these, nothing else takes force at the same boundary (ledger: `delayingAction`). */
const DELAYING: ReadonlySet<Action["kind"]> = new Set(["no confidence", "hard fork", "committee", "constitution"]);

/** Lovelace that votes, as of a boundary. */
interface VotingStake {
  /** By representative: the key of a credential, `abstain` or `no confidence`. */
  readonly dreps: ReadonlyMap<string, bigint>;
  /** By pool. */
  readonly pools: ReadonlyMap<string, bigint>;
}

type Tables = Pick<LedgerState, "accounts" | "pools" | "dreps" | "committee" | "proposals" | "votes" | "governance">;

/** What an election sees. */
export interface Election extends Tables {
  readonly utxo: LedgerState["utxo"];
  /** The stake of pools, of this boundary. */
  readonly snapshot: StakeSnapshot;
  readonly parameters: Parameters;
  /** Lovelace in the treasury. */
  readonly treasury: bigint;
  /** The epoch that begins. */
  readonly epoch: number;
}

/** Decides about all actions that are voted on. */
export function ratify(election: Election): Governance["decided"] {
  const proposed = inOrder(election.proposals);
  if (proposed.length === 0) return { enacted: [], expired: [] };
  const { epoch, committee, parameters } = election;
  const stake = votingStake(election, proposed);
  const tally = tallies(election.votes);
  const enacted: string[] = [];
  const expired: string[] = [];
  let state: EnactState = {
    governance: governanceOf(election),
    parameters,
    committee: new Map([...committee.entries()]),
    treasury: election.treasury,
    payments: [],
  };
  let delayed = false;
  const rank = ([, one]: readonly [string, Proposed]) => PRIORITIES.indexOf(proposalOf(one).action.kind);
  for (const [key, one] of proposed.toSorted((a, b) => rank(a) - rank(b))) {
    const { action } = proposalOf(one);
    if (!delayed && canFollow(action, state, election) && isAccepted(action, tally(key), state, stake, election)) {
      state = enact(state, key, action);
      delayed = DELAYING.has(action.kind);
      enacted.push(key);
    } else if (one.expiresAfter < epoch) expired.push(key);
  }
  return { enacted, expired };
}

/** Whether an action follows what is in force, and can be carried out. */
function canFollow(action: Action, { governance, parameters, treasury }: EnactState, election: Election): boolean {
  const purpose = purposeOf(action);
  if (purpose !== undefined && previousOf(action) !== governance.enacted[purpose]) return false;
  switch (action.kind) {
    case "committee": {
      const last = BigInt(election.epoch + protocolParameters(parameters).committeeMaxTerm);
      return action.added.every(({ until }) => until <= last);
    }
    case "treasury":
      return action.payments.reduce((sum, [, lovelace]) => sum + lovelace, 0n) <= treasury;
    case "hard fork":
      // there are no rules here beyond it
      return action.version.major <= BigInt(NEWEST_MAJOR);
    default:
      return true;
  }
}

function isAccepted(
  action: Action,
  tally: Tally,
  { governance, parameters, committee }: EnactState,
  stake: VotingStake,
  election: Election,
): boolean {
  const terms = { governance, parameters, committee, epoch: election.epoch };
  return reaches(committeeThreshold(action, terms), () => committeeRatio(tally, terms)) &&
    reaches(poolThreshold(action, terms), () => poolRatio(action, tally, stake, election, parameters)) &&
    reaches(drepThreshold(action, terms), () => drepRatio(action, tally, stake, election));
}

function reaches(threshold: Threshold, ratio: () => Ratio): boolean {
  if (threshold === "never") return false;
  return threshold === "none" || threshold.numerator === 0n || !less(ratio(), threshold);
}

/** The share of members that agree, of those that vote and do not abstain (ledger: `committeeAcceptedRatio`). */
function committeeRatio({ committee: votes }: Tally, { committee, epoch }: ThresholdTerms): Ratio {
  let yes = 0n;
  let all = 0n;
  for (const [, member] of committee.entries()) {
    if (!isActive(member, epoch)) continue;
    const vote = votes.get(member.hot);
    if (vote === "abstain") continue;
    all++;
    if (vote === "yes") yes++;
  }
  return share(yes, all);
}

/** The share of the stake of pools that agrees (ledger: `spoAcceptedRatio`). */
function poolRatio(
  action: Action,
  { pool: votes }: Tally,
  { pools: stakes }: VotingStake,
  { pools, accounts }: Election,
  parameters: Parameters,
): Ratio {
  let yes = 0n;
  let all = 0n;
  for (const [pool, lovelace] of stakes) {
    const vote = votes.get(pool) ?? defaultVote(action, pool, { pools, accounts }, parameters);
    if (vote !== "abstain") all += lovelace;
    if (vote === "yes") yes += lovelace;
  }
  return share(yes, all);
}

/** The vote of a pool that has not voted: its reward account's delegation decides (ledger: `defaultStakePoolVote`). */
function defaultVote(
  { kind }: Action,
  pool: string,
  { pools, accounts }: Pick<Election, "pools" | "accounts">,
  parameters: Parameters,
): "yes" | "no" | "abstain" {
  if (kind === "hard fork") return "no";
  if (isBootstrap(parameters)) return "abstain";
  const registered = pools.get(pool);
  const account = registered && accounts.get(credentialKey(poolTerms(registered.certificate).account.credential));
  if (account?.drep === "abstain") return "abstain";
  return account?.drep === "no confidence" && kind === "no confidence" ? "yes" : "no";
}

/** The share of the stake of active representatives that agrees (ledger: `dRepAcceptedRatio`). */
function drepRatio(
  { kind }: Action,
  { drep: votes }: Tally,
  { dreps: stakes }: VotingStake,
  { dreps, epoch }: Election,
): Ratio {
  let yes = 0n;
  let all = 0n;
  for (const [drep, lovelace] of stakes) {
    if (drep === "abstain") continue;
    if (drep === "no confidence") {
      all += lovelace;
      if (kind === "no confidence") yes += lovelace;
      continue;
    }
    const vote = votes.get(drep);
    const registered = dreps.get(drep);
    if (!registered || epoch > (registered.expiry ?? Infinity) || vote === "abstain") continue;
    all += lovelace;
    if (vote === "yes") yes += lovelace;
  }
  return share(yes, all);
}

/**
 * The stake of representatives and pools: outputs and rewards of those who delegate, with the deposits of their proposals
 * (ledger: `computeDRepDistr`).
 */
function votingStake(
  { utxo, accounts, dreps, snapshot }: Election,
  proposed: readonly (readonly [string, Proposed])[],
): VotingStake {
  const deposits = new Map<string, bigint>();
  for (const [, one] of proposed) {
    const { deposit, account } = proposalOf(one);
    const key = credentialKey(account.credential);
    deposits.set(key, (deposits.get(key) ?? 0n) + deposit);
  }
  const pools = new Map([...snapshot.pools].map(([pool, of]) => [pool, poolStake(of)]));
  const delegated = new Map<string, string>();
  for (const [key, { drep, pool }] of accounts.entries()) {
    if (drep !== undefined && (drep === "abstain" || drep === "no confidence" || dreps.get(drep))) {
      delegated.set(key, drep);
    }
    const deposit = deposits.get(key);
    const stake = pool === undefined ? undefined : pools.get(pool);
    if (deposit !== undefined && pool !== undefined && stake !== undefined) pools.set(pool, stake + deposit);
  }
  const stakes = new Map<string, bigint>();
  for (const [key, lovelace] of stakeOf({ utxo, accounts }, delegated.keys())) {
    const drep = mustGet(delegated, key);
    stakes.set(drep, (stakes.get(drep) ?? 0n) + lovelace + (deposits.get(key) ?? 0n));
  }
  return { dreps: stakes, pools };
}
