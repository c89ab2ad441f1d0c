/** Rows of an epoch that begins, and of the rewards that are paid at its boundary. */
import { each, type Steps } from "#src/base/steps.ts";
import { messaged } from "#src/base/json.ts";
import type { Parameters } from "#src/cardano/parameters.ts";
import { parametersToJson } from "#src/devnet/genesis/parametersJson.ts";
import { parseRefKey } from "#src/cardano/output.ts";
import type { IndexChanges, IndexRows } from "#src/devnet/index/rows.ts";
import type { EpochBoundary } from "#src/devnet/ledger/epoch.ts";
import { activeStake } from "#src/ledger/epoch/snapshot.ts";
import { poolTerms } from "#src/ledger/poolTerms.ts";
import { credentialKey, type Pots, type StakeSnapshot } from "#src/ledger/state.ts";

/** Epochs from the one in which blocks are made to the one at whose beginning their rewards are paid. */
const UNTIL_PAID = 2;

/** Adds a boundary that the block at a height crosses. */
export function* addBoundary(changes: IndexChanges, height: number, boundary: EpochBoundary): Steps<void> {
  const { delta: { epoch, rewards, accounts, pools, snapshots, pots }, parameters, leaders } = boundary;
  addEpoch(changes, height, { epoch, parameters, pots: pots.after, leaders });
  yield;
  addOutcomes(changes, height, boundary.delta);
  const [{ after: snapshot } = {}] = snapshots;
  if (snapshot) yield* addStake(changes, height, epoch + 1, snapshot);
  // an account that is paid changes; one that does not exist has no change
  const changed = new Set<string>();
  yield* each(accounts, ({ key }) => changed.add(key));
  yield* each(rewards, ({ account: credential, pool, kind, amount }) => {
    if (amount === 0n) return;
    changes.rows.reward.push({
      earned: epoch - UNTIL_PAID,
      spendable: epoch,
      credential,
      pool,
      kind,
      amount,
      paid: changed.has(credential),
      height,
    });
  });
  for (const { key: pool, before, after } of pools) {
    if (!before || after || before.deposit === 0n) continue;
    const credential = credentialKey(poolTerms(before.future ?? before.certificate).account.credential);
    changes.rows.reward.push({
      earned: epoch,
      spendable: epoch,
      credential,
      pool,
      kind: "pool_deposit_refund",
      amount: before.deposit,
      paid: changed.has(credential),
      height,
    });
  }
}

/** Adds what a boundary means for actions: those that it ratifies, and those that it ends. */
function addOutcomes(
  { rows }: IndexChanges,
  height: number,
  { epoch, proposals, governance: [change] }: EpochBoundary["delta"],
): void {
  const add = (key: string, outcome: IndexRows["outcome"][number]["outcome"]) => {
    const { txHash, index } = parseRefKey(key);
    rows.outcome.push({ height, action_tx: txHash, action_index: index, outcome, epoch });
  };
  const enacted = new Set(change?.before?.decided.enacted);
  for (const { key, after } of proposals) if (!after) add(key, enacted.has(key) ? "enacted" : "dropped");
  const { decided } = change?.after ?? {};
  for (const key of decided?.enacted ?? []) add(key, "ratified");
  for (const key of decided?.expired ?? []) add(key, "expired");
}

/** The beginning of an epoch. */
interface EpochStart {
  readonly epoch: number;
  readonly parameters: Parameters;
  readonly pots: Pots;
  /** The snapshot that counts for block production in the epoch. */
  readonly leaders: StakeSnapshot;
}

/** Adds an epoch that begins with the block at a height. */
export function addEpoch(
  { rows }: IndexChanges,
  height: number,
  { epoch, parameters, pots, leaders }: EpochStart,
): void {
  const active = activeStake(leaders);
  rows.epoch.push({
    epoch,
    height,
    parameters: parametersToJson(parameters),
    pots: messaged(pots),
    ...(active > 0n ? { active_stake: active } : {}),
  });
}

/** Adds the stake that counts for block production in an epoch. */
export function* addStake(
  { rows }: IndexChanges,
  height: number,
  epoch: number,
  { pools }: StakeSnapshot,
): Steps<void> {
  for (const [pool, { members }] of pools) {
    yield* each(members, ([credential, lovelace]) => rows.stake.push({ epoch, pool, credential, lovelace, height }));
  }
}
