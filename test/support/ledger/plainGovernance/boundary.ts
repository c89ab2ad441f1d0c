/** The boundary between two epochs in the plain model (rules SNAP, POOLREAP, EPOCH and HARDFORK). */
import { type Outcome, ratify } from "./elections.ts";
import { isPredefined } from "./certificates.ts";
import { copyOf, NUMBERS, type PlainProposal, type PlainState, previousOf, purposeOf, type Ratio } from "./types.ts";

/** Actions that ended at a boundary. */
export interface Ended {
  readonly enacted: readonly PlainProposal[];
  readonly expired: readonly PlainProposal[];
  /** Those that can no longer take force, since another one did or expired. */
  readonly dropped: readonly PlainProposal[];
  /** Deposits that fell to the treasury. */
  readonly unclaimed: number;
}

/** The begin of the next epoch: what the poll of the last boundary decided takes force, and the next poll begins. */
export function passBoundary(state: PlainState): Ended {
  const { version: [major] } = state;
  state.epoch += 1;
  shareFees(state);
  const poolStake = stakeOfPools(state);
  reap(state);
  const outcome = state.poll && ratify(state.poll);
  if (outcome) takeForce(state, outcome);
  const ended = end(state, outcome);
  const members = state.committee?.members;
  for (const cold of [...state.hot.keys()]) if (!members?.has(cold)) state.hot.delete(cold);
  if (!state.proposals.some(({ expiresAfter }) => expiresAfter >= state.epoch)) state.dormant += 1;
  state.treasury += state.donations;
  state.donations = 0n;
  if (state.version[0] !== major && state.version[0] === 10) mendDelegations(state);
  const { poll: _, ...now } = copyOf(state);
  state.poll = { ...now, poolStake };
  return ended;
}

/** No pool makes blocks here: of the fees the treasury takes its share, and the remainder goes to the reserves. */
function shareFees(state: PlainState): void {
  const [above, below] = state.parameters.get(NUMBERS.treasuryGrowth) as Ratio;
  state.treasury += state.feesDue * above / below;
  state.fees -= state.feesDue;
  state.feesDue = state.fees;
}

function stakeOfPools({ accounts, outputs, pools }: PlainState): Map<string, bigint> {
  const stake = new Map([...pools.keys()].map((pool) => [pool, 0n]));
  for (const [credential, { pool, balance }] of accounts) {
    const before = pool === undefined ? undefined : stake.get(pool);
    if (pool !== undefined && before !== undefined) stake.set(pool, before + balance + (outputs.get(credential) ?? 0n));
  }
  return stake;
}

/** Pools change and retire. */
function reap(state: PlainState): void {
  for (const [id, { nextAccount, ...pool }] of [...state.pools]) {
    if (nextAccount !== undefined) state.pools.set(id, { ...pool, account: nextAccount });
  }
  for (const [id, { retiring, deposit, account }] of [...state.pools]) {
    if (retiring !== state.epoch) continue;
    state.pools.delete(id);
    refund(state, account, deposit);
    for (const delegator of state.accounts.values()) if (delegator.pool === id) delegator.pool = undefined;
  }
}

/** Returns a deposit to an account, or to the treasury where there is none; whether there is one. */
function refund(state: PlainState, credential: string, lovelace: bigint): boolean {
  const account = state.accounts.get(credential);
  state.deposits -= lovelace;
  if (account) account.balance += lovelace;
  else state.treasury += lovelace;
  return account !== undefined;
}

function takeForce(state: PlainState, { inForce, payments }: Outcome): void {
  const { treasury: _, ...rest } = inForce;
  Object.assign(state, rest);
  for (const { account: { credential }, lovelace } of payments) {
    const account = state.accounts.get(credential);
    if (!account) continue;
    account.balance += lovelace;
    state.treasury -= lovelace;
  }
}

/**
 * Removes actions that took force, those that expired and what follows these; then those that name an action before them
 * that is neither in force nor voted on any longer.
 */
function end(state: PlainState, outcome: Outcome | undefined): Ended {
  const ids = (of: "enacted" | "expired") =>
    new Set(outcome?.verdicts.filter(({ outcome }) => outcome === of).map(({ proposal }) => proposal.id));
  const enacted = ids("enacted");
  const expired = ids("expired");
  const gone = new Set([...enacted, ...expired]);
  for (let before = -1; before !== gone.size;) {
    before = gone.size;
    for (const { id, action } of state.proposals) {
      const purpose = purposeOf(action);
      if (purpose === undefined || gone.has(id)) continue;
      const previous = previousOf(action);
      const isVotedOn = state.proposals.some((one) => one.id === previous) && !gone.has(previous!);
      if (previous !== state.roots[purpose] && !isVotedOn) gone.add(id);
    }
  }
  const removed = state.proposals.filter(({ id }) => gone.has(id));
  state.proposals = state.proposals.filter(({ id }) => !gone.has(id));
  const unclaimed = removed.filter(({ account, deposit }) => !refund(state, account.credential, deposit)).length;
  return {
    enacted: removed.filter(({ id }) => enacted.has(id)),
    expired: removed.filter(({ id }) => expired.has(id)),
    dropped: removed.filter(({ id }) => !enacted.has(id) && !expired.has(id)),
    unclaimed,
  };
}

/** Version 9 allowed delegations to representatives that are not registered, and confused who delegates to one that is. */
function mendDelegations({ accounts, dreps }: PlainState): void {
  for (const { delegators } of dreps.values()) delegators.clear();
  for (const [credential, account] of accounts) {
    if (account.drep === undefined || isPredefined(account.drep)) continue;
    const drep = dreps.get(account.drep);
    if (drep) drep.delegators.add(credential);
    else account.drep = undefined;
  }
}
