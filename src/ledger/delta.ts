/** What a transaction changes, as data: applied to a state, undone, kept. */
import { each, finish, type Steps } from "#src/base/steps.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { Units } from "#src/cardano/parameters.ts";
import type { Vote } from "#src/cardano/conway/governance.ts";
import type { Governance, Proposed } from "#src/ledger/governance/types.ts";
import type { Account, CommitteeMember, DRep, MutableLedgerState, Pool, Table } from "#src/ledger/state.ts";

/** A row before and after; undefined where there is none. */
export interface Change<V> {
  readonly key: string;
  readonly before?: V | undefined;
  readonly after?: V | undefined;
}

/** What changes in the tables of certificates, withdrawals and governance. */
export interface RegistryChanges {
  readonly accounts: readonly Change<Account>[];
  readonly pools: readonly Change<Pool>[];
  readonly dreps: readonly Change<DRep>[];
  readonly committee: readonly Change<CommitteeMember>[];
  readonly proposals: readonly Change<Proposed>[];
  readonly votes: readonly Change<Vote["vote"]>[];
  readonly governance: readonly Change<Governance>[];
}

/** An accepted transaction. It holds what it takes to undo it. */
export interface Applied extends RegistryChanges {
  /** Hash of the transaction, in hexadecimal. */
  readonly hash: string;
  /** False when phase 2 failed as the transaction said: then its collateral is taken and nothing else happens. */
  readonly valid: boolean;
  /** Lovelace that goes to the fee pot: the fee, or the collateral. */
  readonly fee: bigint;
  readonly spent: readonly Utxo[];
  readonly created: readonly Utxo[];
  /** By how much deposits grow, in lovelace; negative when more is refunded. */
  readonly deposits: bigint;
  /** Lovelace given to the treasury. */
  readonly donation: bigint;
  /** What it takes of a block: bytes, units of its redeemers, bytes of reference scripts. */
  readonly size: number;
  readonly units: Units;
  readonly refScriptBytes: number;
}

/** What of `Applied` changes a state. */
type Delta = Omit<Applied, "hash" | "valid" | "size" | "units" | "refScriptBytes">;

/** Changes a state by a delta that was made against it. */
export function applyDelta(state: MutableLedgerState, delta: Delta): void {
  for (const { ref } of delta.spent) state.utxo.delete(ref);
  for (const { ref, output } of delta.created) state.utxo.set(ref, output);
  finish(writeRegistry(state, delta, "after"));
  addPots(state, delta, 1n);
}

/** Undoes `applyDelta`: the last delta applied first. */
export function undoDelta(state: MutableLedgerState, delta: Delta): void {
  for (const { ref } of delta.created) state.utxo.delete(ref);
  for (const { ref, output } of delta.spent) state.utxo.set(ref, output);
  finish(writeRegistry(state, delta, "before"));
  addPots(state, delta, -1n);
}

/** Writes one side of changes into the tables of certificates, withdrawals and governance. */
export function* writeRegistry(
  state: MutableLedgerState,
  changes: RegistryChanges,
  side: "before" | "after",
): Steps<void> {
  yield* writeInSteps(state.accounts, changes.accounts, side);
  yield* writeInSteps(state.pools, changes.pools, side);
  yield* writeInSteps(state.dreps, changes.dreps, side);
  yield* writeInSteps(state.committee, changes.committee, side);
  yield* writeInSteps(state.proposals, changes.proposals, side);
  yield* writeInSteps(state.votes, changes.votes, side);
  yield* writeInSteps(state.governance, changes.governance, side);
}

/** Writes one side of changes into a table. */
export function write<V>(table: Table<V>, changes: readonly Change<V>[], side: "before" | "after"): void {
  finish(writeInSteps(table, changes, side));
}

/** `write` in steps. */
export function writeInSteps<V>(table: Table<V>, changes: readonly Change<V>[], side: "before" | "after"): Steps<void> {
  return each(changes, (change) => {
    const value = change[side];
    if (value === undefined) table.delete(change.key);
    else table.set(change.key, value);
  });
}

function addPots({ pots }: MutableLedgerState, delta: Delta, sign: 1n | -1n): void {
  pots.fees += sign * delta.fee;
  pots.deposits += sign * delta.deposits;
  pots.donations += sign * delta.donation;
}
