/** A block's changes of the ledger state beside outputs: one change per row, with what is needed to undo it. */
import { each, finish, type Steps } from "#src/base/steps.ts";
import { type EntryKind, rowValue, type RowValues } from "#src/devnet/ledger/rowValues.ts";
import type { Applied, Change } from "#src/ledger/delta.ts";
import type { EpochDelta } from "#src/ledger/epoch/pass.ts";
import type { LedgerState, MutableLedgerState, Pots, Table } from "#src/ledger/state.ts";

/** Tables that transactions change. */
const REGISTRY = ["accounts", "pools", "dreps", "committee", "proposals", "votes", "governance"] as const;
/** Tables that the end of an epoch changes. */
const TABLES = [...REGISTRY, "snapshots", "blocks", "ranking"] as const;

type TableKind = typeof TABLES[number];

/** A row before and after; undefined where it does not exist. */
export interface EntryChange extends Change<unknown> {
  readonly kind: EntryKind;
}

/** A change of each row. A map for each kind: one of all rows would hold the event loop whenever it grows. */
class ChangesByRow {
  readonly #kinds = new Map<EntryKind, Map<string, EntryChange>>();

  get({ kind, key }: EntryChange): EntryChange | undefined {
    return this.#kinds.get(kind)?.get(key);
  }

  set(change: EntryChange): void {
    const { kind, key } = change;
    const of = this.#kinds.get(kind);
    if (of) of.set(key, change);
    else this.#kinds.set(kind, new Map([[key, change]]));
  }

  delete({ kind, key }: EntryChange): void {
    this.#kinds.get(kind)?.delete(key);
  }

  list(): EntryChange[] {
    return [...this.#kinds.values()].flatMap((of) => [...of.values()]);
  }
}

export class ChangeSet {
  readonly #changes = new ChangesByRow();
  readonly #before: Readonly<Pots>;
  #pots: Pots;
  readonly #epochBefore: number;
  #epoch: number;
  #potsChanged = false;
  #parameters: EpochDelta["parameters"];

  /** Starts with the state before all changes. */
  constructor({ pots, epoch }: Pick<LedgerState, "pots" | "epoch">) {
    this.#before = { ...pots };
    this.#pots = { ...pots };
    this.#epochBefore = this.#epoch = epoch;
  }

  /** Adds the end of an epoch. */
  *addEpochEnd(delta: EpochDelta): Steps<void> {
    for (const kind of TABLES) yield* each<Change<unknown>>(delta[kind], (change) => this.add(kind, change));
    this.#pots = { ...delta.pots.after };
    this.#potsChanged = true;
    this.#epoch = delta.epoch;
    if (delta.parameters) {
      this.#parameters = { before: this.#parameters?.before ?? delta.parameters.before, after: delta.parameters.after };
    }
  }

  /** Adds a transaction of the block. */
  addTransaction(applied: Applied): void {
    for (const kind of REGISTRY) for (const change of applied[kind]) this.add(kind, change);
    this.#pots.fees += applied.fee;
    this.#pots.deposits += applied.deposits;
    this.#pots.donations += applied.donation;
    this.#potsChanged = true;
  }

  /** Adds a change of a row. */
  add(kind: TableKind, change: Change<unknown>): void {
    const { key, before, after } = change;
    const earlier = this.#changes.get({ kind, key });
    const merged = { kind, key, before: earlier ? earlier.before : before, after };
    // a row that was created and deleted within the block has not changed
    if (merged.before === undefined && merged.after === undefined) this.#changes.delete(merged);
    else this.#changes.set(merged);
  }

  /** All changes. */
  list(): EntryChange[] {
    const all = this.#changes.list();
    if (this.#potsChanged) all.push({ kind: "pots", key: "", before: this.#before, after: { ...this.#pots } });
    if (this.#epoch !== this.#epochBefore) {
      all.push({ kind: "epoch", key: "", before: this.#epochBefore, after: this.#epoch });
    }
    if (this.#parameters) all.push({ kind: "parameters", key: "", ...this.#parameters });
    return all;
  }
}

/** The last change of each row. */
export function* lastChanges(changes: Iterable<EntryChange>): Steps<EntryChange[]> {
  const last = new ChangesByRow();
  yield* each(changes, (change) => last.set(change));
  return last.list();
}

/** Applies one side of changes to a state. */
export function writeEntries(
  state: MutableLedgerState,
  changes: readonly EntryChange[],
  side: "before" | "after",
): void {
  finish(writeEntriesInSteps(state, changes, side));
}

/** `writeEntries` in steps; between them the state is neither the one before nor the one after. */
export function writeEntriesInSteps(
  state: MutableLedgerState,
  changes: readonly EntryChange[],
  side: "before" | "after",
): Steps<void> {
  return each(changes, ({ kind, key, [side]: value }) => {
    if (kind === "pots") Object.assign(state.pots, value);
    else if (kind === "epoch") state.epoch = rowValue(kind, value);
    else if (kind === "parameters") state.parameters = rowValue(kind, value);
    else writeRow(state, kind, key, value);
  });
}

function writeRow<Kind extends TableKind>(
  tables: { readonly [K in Kind]: Table<RowValues[K]> },
  kind: Kind,
  key: string,
  value: unknown,
): void {
  if (value === undefined) tables[kind].delete(key);
  else tables[kind].set(key, rowValue(kind, value));
}
