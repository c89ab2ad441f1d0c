/** What a block changes beside outputs, gathered in order: one change for each row, which holds what it takes to undo it. */
import type { Parameters } from "#src/cardano/parameters.ts";
import type { Applied, Change } from "#src/ledger/delta.ts";
import type { EpochDelta } from "#src/ledger/epoch/pass.ts";
import type { LedgerState, MutableLedgerState, Pots, Table } from "#src/ledger/state.ts";

/** Tables that transactions change. */
const REGISTRY = ["accounts", "pools", "dreps", "committee"] as const;
/** Tables that the end of an epoch changes. */
const TABLES = [...REGISTRY, "snapshots", "blocks", "ranking"] as const;

export type TableKind = typeof TABLES[number];
/** The pots, the number of the epoch and the parameters are one row each, with an empty key; parameters have none before they first change. */
export type Kind = TableKind | "pots" | "epoch" | "parameters";

/** A row of one kind before and after; undefined where there is none. */
export interface EntryChange extends Change<unknown> {
  readonly kind: Kind;
}

export class ChangeSet {
  readonly #changes = new Map<string, EntryChange>();
  readonly #before: Readonly<Pots>;
  #pots: Pots;
  readonly #epochBefore: number;
  #epoch: number;
  #potsChanged = false;
  #parameters: EpochDelta["parameters"];

  /** The state as it is before everything that is gathered. */
  constructor({ pots, epoch }: Pick<LedgerState, "pots" | "epoch">) {
    this.#before = { ...pots };
    this.#pots = { ...pots };
    this.#epochBefore = this.#epoch = epoch;
  }

  /** The end of an epoch. */
  pass(delta: EpochDelta): void {
    for (const kind of TABLES) for (const change of delta[kind]) this.add(kind, change);
    this.#pots = { ...delta.pots.after };
    this.#potsChanged = true;
    this.#epoch = delta.epoch;
    if (delta.parameters) {
      this.#parameters = { before: this.#parameters?.before ?? delta.parameters.before, after: delta.parameters.after };
    }
  }

  /** A transaction of the block. */
  apply(applied: Applied): void {
    for (const kind of REGISTRY) for (const change of applied[kind]) this.add(kind, change);
    this.#pots.fees += applied.fee;
    this.#pots.deposits += applied.deposits;
    this.#pots.donations += applied.donation;
    this.#potsChanged = true;
  }

  /** A row of a table. */
  add(kind: TableKind, change: Change<unknown>): void {
    const name = `${kind} ${change.key}`;
    const earlier = this.#changes.get(name);
    const merged = { kind, key: change.key, before: earlier ? earlier.before : change.before, after: change.after };
    // What came and went within the block was never there.
    if (merged.before === undefined && merged.after === undefined) this.#changes.delete(name);
    else this.#changes.set(name, merged);
  }

  /** All of it. */
  list(): EntryChange[] {
    const all = [...this.#changes.values()];
    if (this.#potsChanged) all.push({ kind: "pots", key: "", before: this.#before, after: { ...this.#pots } });
    if (this.#epoch !== this.#epochBefore) {
      all.push({ kind: "epoch", key: "", before: this.#epochBefore, after: this.#epoch });
    }
    if (this.#parameters) all.push({ kind: "parameters", key: "", ...this.#parameters });
    return all;
  }
}

/** Writes one side of changes into a state. */
export function writeEntries(
  state: MutableLedgerState,
  changes: readonly EntryChange[],
  side: "before" | "after",
): void {
  for (const { kind, key, [side]: value } of changes) {
    if (kind === "pots") Object.assign(state.pots, value);
    else if (kind === "epoch") state.epoch = value as number;
    else if (kind === "parameters") state.parameters = value as Parameters;
    else if (value === undefined) state[kind].delete(key);
    else (state[kind] as Table<unknown>).set(key, value);
  }
}
