/**
 * The boundary between two epochs (rule NEWEPOCH): a pure function of the state, and what it changes as data.
 *
 * In the order of the ledger: rewards are paid (`applyRUpd`), the stake is counted (SNAP), pools change and retire (POOLREAP),
 * what was decided at the last boundary takes force and other actions end (ENACT), donations go to the treasury (EPOCH), a hard fork brings other
 * parameters (HARDFORK), and it is decided what takes force at the next boundary (RATIFY). Hypotheses: rewards are computed at the boundary, from what
 * the ledger takes some time before it and which does not change in between; the parameters of now serve for the epoch rewarded.
 */
import { each, finish, type Steps } from "#src/base/steps.ts";
import { type Change, type RegistryChanges, write, writeInSteps, writeRegistry } from "#src/ledger/delta.ts";
import { decide, takeForce } from "#src/ledger/epoch/governance.ts";
import { enterVersion, type HardFork, withPlanned } from "#src/ledger/epoch/hardFork.ts";
import { rank, rankingOf } from "#src/ledger/epoch/ranking.ts";
import { adoptPools, reapPools } from "#src/ledger/epoch/reap.ts";
import { type EpochTerms, type Reward, rewardUpdate } from "#src/ledger/epoch/rewards.ts";
import { heldStake, snapshotOf, takeSnapshot, takeSnapshotInSteps } from "#src/ledger/epoch/snapshot.ts";
import { countVoting } from "#src/ledger/governance/voting.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { type Registry, registryChanges, registryOver } from "#src/ledger/registry.ts";
import {
  blocksKey,
  type LedgerState,
  type MutableLedgerState,
  type Pots,
  RANKING,
  type Ranking,
  type StakeSnapshot,
} from "#src/ledger/state.ts";

/** What an epoch's end changes. It holds what it takes to undo it. All of it is plain data. */
export interface EpochDelta extends RegistryChanges {
  /** The epoch that begins; the one before it ends. */
  readonly epoch: number;
  readonly snapshots: readonly Change<StakeSnapshot>[];
  readonly blocks: readonly Change<number>[];
  readonly ranking: readonly Change<Ranking>[];
  readonly pots: { readonly before: Readonly<Pots>; readonly after: Readonly<Pots> };
  /** Undefined where they stay. */
  readonly parameters?: { readonly before: Parameters; readonly after: Parameters } | undefined;
  /** What was earned, accounts that are gone included: theirs fell to the treasury. */
  readonly rewards: readonly Reward[];
}

/** What a boundary depends on beside the state. */
export type BoundaryTerms = EpochTerms & { readonly hardFork?: HardFork | undefined };

/** Ends the epoch of a state: gives what that changes, to be applied with `applyEpoch`; the state stays as it is. */
export function passEpoch(state: LedgerState, terms: BoundaryTerms): EpochDelta {
  return finish(passEpochInSteps(state, terms));
}

/** `passEpoch` in steps; the state must not change meanwhile. */
export function* passEpochInSteps(state: LedgerState, { hardFork, ...terms }: BoundaryTerms): Steps<EpochDelta> {
  const { parameters, epoch: ending, pots } = state;
  const epoch = ending + 1;
  const stake = snapshotOf(state, ending - 2);
  const { fees } = snapshotOf(state, ending);
  const blocks = blocksOf(state, ending - 1);
  const { reserves } = pots;
  const update = yield* rewardUpdate({ parameters, terms, reserves, stake, blocks, fees });
  const after = {
    ...pots,
    treasury: pots.treasury + update.treasury,
    reserves: reserves + update.reserves,
    fees: pots.fees - fees,
    donations: 0n,
  };
  const registry = registryOver(state);
  const { snapshot, next } = yield* passRegistry({
    state,
    registry,
    pots: after,
    rewards: update.rewards,
    epoch,
    hardFork,
  });
  const oldest = String(epoch - 3);
  const circulation = terms.maxSupply - reserves;
  const before = rankingOf(state);
  return {
    ...yield* registryChanges(registry, state),
    epoch,
    snapshots: [
      { key: String(epoch), after: snapshot },
      ...(state.snapshots.get(oldest) ? [{ key: oldest, before: state.snapshots.get(oldest) }] : []),
    ],
    blocks: [...blocks].map(([pool, count]) => ({ key: blocksKey(ending - 1, pool), before: count })),
    ranking: [{
      key: RANKING,
      before: state.ranking.get(RANKING),
      after: yield* rank(before, { stake, blocks, terms, circulation, pot: update.pot }),
    }],
    pots: { before: { ...pots }, after },
    ...(next === parameters ? {} : { parameters: { before: parameters, after: next } }),
    rewards: update.rewards,
  };
}

/** What the tables of a boundary depend on. `registry` lies on top of `state`; it and the pots are changed. */
interface RegistryBoundary {
  readonly state: LedgerState;
  readonly registry: Registry;
  readonly pots: Pots;
  readonly rewards: readonly Reward[];
  readonly epoch: number;
  readonly hardFork: HardFork | undefined;
}

/** Changes the tables and the pots; gives the stake snapshot and the parameters of the epoch that begins. */
function* passRegistry(
  { state, registry, pots, rewards, epoch, hardFork }: RegistryBoundary,
): Steps<{ readonly snapshot: StakeSnapshot; readonly next: Parameters }> {
  const { parameters, utxo } = state;
  const { accounts, pools } = registry;
  yield* each(rewards, ({ account: key, amount }) => {
    const account = accounts.get(key);
    if (!account) pots.treasury += amount;
    else if (amount > 0n) accounts.set(key, { ...account, balance: account.balance + amount });
  });
  const held = yield* heldStake(utxo);
  const counted = yield* takeSnapshotInSteps({ utxo, held, accounts, pools, pots });
  yield* adoptPools(registry);
  const { refunded, unclaimed } = yield* reapPools(registry, epoch);
  pots.deposits -= refunded + unclaimed;
  pots.treasury += unclaimed;
  const next = withPlanned(yield* takeForce({ registry, parameters, pots, epoch }), hardFork, epoch);
  pots.treasury += state.pots.donations;
  const { major } = next.protocolVersion;
  if (major !== parameters.protocolVersion.major) yield* enterVersion(major, registry);
  const voting = yield* countVoting({ ...registry, utxo, held, snapshot: counted });
  const snapshot = { ...counted, voting, ...(next === parameters ? {} : { parametersBefore: parameters }) };
  yield* decide({ ...registry, snapshot, parameters: next, treasury: pots.treasury, epoch });
  return { snapshot, next };
}

/** Changes a state by the end of its epoch. */
export function applyEpoch(state: MutableLedgerState, delta: EpochDelta): void {
  finish(applyEpochInSteps(state, delta));
}

/** `applyEpoch` in steps; between them the state is neither of the epoch before nor of the one after. */
export function* applyEpochInSteps(state: MutableLedgerState, delta: EpochDelta): Steps<void> {
  yield* writeSide(state, delta, "after");
  state.epoch = delta.epoch;
}

/** Undoes `applyEpoch`, after whatever came later was undone. */
export function undoEpoch(state: MutableLedgerState, delta: EpochDelta): void {
  finish(writeSide(state, delta, "before"));
  state.epoch = delta.epoch - 1;
}

function* writeSide(state: MutableLedgerState, delta: EpochDelta, side: "before" | "after"): Steps<void> {
  yield* writeRegistry(state, delta, side);
  write(state.snapshots, delta.snapshots, side);
  yield* writeInSteps(state.blocks, delta.blocks, side);
  write(state.ranking, delta.ranking, side);
  Object.assign(state.pots, delta.pots[side]);
  if (delta.parameters) state.parameters = delta.parameters[side];
}

/** How many blocks each pool made in an epoch: this one or the last. */
export function blocksOf({ blocks }: Pick<LedgerState, "blocks">, epoch: number): Map<string, number> {
  const prefix = blocksKey(epoch, "");
  return new Map(
    [...blocks.entries()].flatMap(([key, count]) =>
      key.startsWith(prefix) ? [[key.slice(prefix.length), count] as const] : []
    ),
  );
}

/** A pool made a block in the epoch of a state: the change of `blocks` (ledger: `incrBlocks`). */
export function blockMade({ blocks, epoch }: Pick<LedgerState, "blocks" | "epoch">, pool: string): Change<number> {
  const key = blocksKey(epoch, pool);
  const before = blocks.get(key);
  return { key, before, after: (before ?? 0) + 1 };
}

/**
 * The snapshots of a chain that begins with stake: as if it had stood like this for the last three epochs, so that pools of a
 * genesis may make blocks at once and earn with the first.
 */
export function firstSnapshots(state: LedgerState): Change<StakeSnapshot>[] {
  const stake = takeSnapshot(state);
  const snapshot = { ...stake, voting: finish(countVoting({ ...state, snapshot: stake })) };
  return [2, 1, 0].map((ago) => ({ key: String(state.epoch - ago), after: snapshot }));
}
