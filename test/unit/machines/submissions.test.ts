/**
 * Submitted transactions: their machine and their projection together, compared with the store of submissions of other
 * wallets: a plain model of which transactions are pending, in the ledger and expired as the tip moves forward and
 * back.
 *
 * Actors lag behind the chain: the log's events reach them some blocks later. The comparison is made after they have
 * read all of it.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { initialTransition, type SnapshotFrom, transition } from "xstate";
import { type TransactionEvent, transactionMachine } from "#machines/transaction.ts";
import type { ScannedBlock } from "#src/cardano/block.ts";
import { askedKey, type Row, type RowQuery, type Rows, type Touched } from "#src/chain/index/projection.ts";
import { transactionProjection } from "#src/chain/index/transactions.ts";
import { cases } from "../../support/base/longTests.ts";

const RUNS = cases(600, 3_000);
const NAMES = ["t0", "t1", "t2"];

type Kept =
  | { readonly is: "in submission"; readonly expires: number }
  | { readonly is: "in ledger"; readonly expires: number; readonly accepted: number }
  | { readonly is: "expired"; readonly expires: number };

/** The store according to its description: a tip, a finality, and the state of each transaction. */
class Store {
  tip = 0;
  finality = 0;
  readonly kept = new Map<string, Kept>();

  add(name: string, expires: number): void {
    if (expires > this.tip && !this.kept.has(name)) this.kept.set(name, { is: "in submission", expires });
  }

  moveToLedger(name: string, accepted: number): void {
    const one = this.kept.get(name);
    if (one?.is === "in submission" && this.tip < accepted && accepted <= one.expires) {
      this.kept.set(name, { is: "in ledger", expires: one.expires, accepted });
    }
  }

  moveTip(tip: number): void {
    this.tip = tip;
    this.finality = Math.min(tip, this.finality);
    for (const [name, one] of this.kept) {
      const open = one.is === "in ledger" && one.accepted <= tip ? undefined : one.expires;
      if (open !== undefined) this.kept.set(name, { is: open <= tip ? "expired" : "in submission", expires: open });
    }
  }

  moveFinality(slot: number): string[] {
    this.finality = Math.max(this.finality, Math.min(slot, this.tip));
    const dropped = [...this.kept].filter(([, one]) =>
      one.is === "in ledger" ? one.accepted <= this.finality : one.is === "expired" && one.expires <= this.finality
    ).map(([name]) => name);
    for (const name of dropped) this.kept.delete(name);
    return dropped;
  }

  forget(name: string): void {
    this.kept.delete(name);
  }
}

type Snapshot = SnapshotFrom<typeof transactionMachine>;
type Table = Map<string, Record<string, unknown>>;

/** A chain with its projection, the rows that turns write, and an actor for each transaction. */
class World {
  readonly chain: { slot: number; holds: readonly string[] }[] = [{ slot: 0, holds: [] }];
  readonly tables = new Map<string, Table>();
  readonly actors = new Map<string, Snapshot>();
  /** Events of the log that actors have not read. */
  readonly log: Touched[] = [];
  readonly questions: { name: string; attempt: number }[] = [];
  private commands = 0;

  get tip(): number {
    return this.chain.at(-1)!.slot;
  }

  holder(name: string): number | undefined {
    return this.chain.find(({ holds }) => holds.includes(name))?.slot;
  }

  table(name: string): Table {
    let table = this.tables.get(name);
    if (!table) this.tables.set(name, table = new Map());
    return table;
  }

  status(name: string): string | undefined {
    return this.table("submission_status").get(name)?.status as string | undefined;
  }

  block(slot: number, holds: readonly string[]): void {
    const transactions = holds.map((hash, index) => ({ hash, index, valid: true }));
    const block = { slot, hash: `b${slot}`, height: this.chain.length, transactions } as unknown as ScannedBlock;
    const folded = transactionProjection.fold(block, this.answer(transactionProjection.keys(block)), false);
    if (folded.type !== "done") throw new Error("it requests more");
    this.log.push(...folded.touched);
    this.chain.push({ slot, holds });
  }

  rollBack(slot: number): void {
    const gone = this.chain.filter((block) => block.slot > slot);
    const way = { from: this.tip, to: slot };
    while (this.tip > slot) this.chain.pop();
    const affected: Rows = new Map([[
      "chain_transaction",
      gone.flatMap(({ holds }) => holds.map((hash) => ({ hash }))),
    ]]);
    const rows = this.answer(transactionProjection.undoKeys!(affected, way));
    this.log.push(...transactionProjection.undo({ slot, hash: "" }, affected, rows));
  }

  submit(name: string, expires: number): void {
    const command = `c${++this.commands}`;
    const by = { wallet: "w", slot: this.tip, height: this.chain.length };
    this.apply(name, { type: "SUBMIT", cbor: "80", inputs: [], addresses: [], validTo: expires, by }, command);
  }

  forget(name: string): void {
    this.apply(name, { type: "FORGET", wallet: "w" }, `c${++this.commands}`);
  }

  /**
   * Delivers the log's next event to its actor; or, if there is none, has the network answer a query. Returns whether
   * there was any.
   */
  step(): boolean {
    const event = this.log.shift();
    if (event) {
      this.apply(event.entity.id, event.event as TransactionEvent);
      return true;
    }
    const question = this.questions.shift();
    if (!question) return false;
    const { name, attempt } = question;
    const slot = this.holder(name);
    if (slot !== undefined) {
      this.log.push({
        entity: { kind: "transaction", id: name },
        event: { type: "IN_LEDGER", slot, block: "b", height: 1, valid: true },
      });
      return true;
    }
    const { validTo } = this.actors.get(name)!.context;
    this.apply(
      name,
      this.tip < validTo! ? { type: "ACCEPTED", attempt } : { type: "REFUSED", attempt, failures: [] },
    );
    return true;
  }

  private answer(queries: readonly RowQuery[]): Rows {
    const rows = new Map<string, readonly Row[]>();
    for (const query of queries) {
      const found = [...this.table(query.table).values()].filter((row) => {
        const value = row[query.column];
        if ("in" in query) return query.in.includes(value as string);
        return value !== null && Number(value) <= query.atMost && Number(value) > (query.above ?? -Infinity);
      });
      rows.set(askedKey(query), []);
      rows.set(query.table, [...rows.get(query.table) ?? [], ...found]);
    }
    return rows;
  }

  private apply(name: string, event: TransactionEvent, command?: string): void {
    const full = { ...event, turn: { at: 1_000, ...(command === undefined ? {} : { command }) } };
    const state = this.actors.get(name) ??
      initialTransition(transactionMachine, { kind: "transaction", id: name })[0];
    if (!state.can(full as never)) return;
    const [next, actions] = transition(transactionMachine, state, full as never);
    this.actors.set(name, next);
    const tables = {
      submission: "submission",
      open: "submission_open",
      status: "submission_status",
      link: "submission_wallet",
    };
    for (const { type, params } of actions as { type: string; params: Record<string, unknown> }[]) {
      if (type === "effect") this.questions.push({ name, attempt: (params.input as { attempt: number }).attempt });
      if (type !== "put" && type !== "remove") continue;
      const table = this.table(tables[params.table as keyof typeof tables]);
      if (type === "put") table.set(name, params.row as Record<string, unknown>);
      else table.delete(name);
    }
  }
}

type Step =
  | { readonly is: "submit"; readonly which: number; readonly forSlots: number }
  | { readonly is: "block"; readonly after: number; readonly holds: readonly boolean[] }
  | { readonly is: "back"; readonly by: number }
  | { readonly is: "final"; readonly below: number }
  | { readonly is: "forget"; readonly which: number }
  | { readonly is: "read"; readonly events: number };

const which = fc.nat(NAMES.length - 1);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ is: fc.constant("submit" as const), which, forSlots: fc.integer({ min: -1, max: 12 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      is: fc.constant("block" as const),
      after: fc.integer({ min: 1, max: 4 }),
      holds: fc.array(fc.boolean(), { minLength: NAMES.length, maxLength: NAMES.length }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ is: fc.constant("back" as const), by: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant("final" as const), below: fc.nat(12) }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant("forget" as const), which }) },
  { weight: 5, arbitrary: fc.record({ is: fc.constant("read" as const), events: fc.integer({ min: 1, max: 6 }) }) },
);

describe("submissions", () => {
  it(`have the states of the plain store, through ${RUNS} histories of blocks, rollbacks and submissions`, () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const world = new World();
        const store = new Store();
        /** Entries that the store has dropped for good: our history keeps them. */
        const dropped = new Set<string>();
        const settle = () => {
          for (let i = 0; world.step(); i++) if (i > 1_000) throw new Error("it does not end");
        };
        for (const one of steps) {
          if (one.is === "submit") {
            settle();
            const name = NAMES[one.which]!;
            const expires = store.kept.get(name)?.expires ?? Math.max(0, world.tip + one.forSlots);
            if (dropped.has(name) || world.holder(name) !== undefined) continue;
            store.add(name, expires);
            world.submit(name, expires);
            // the store adds what the network has accepted
            settle();
          } else if (one.is === "block") {
            const slot = world.tip + one.after;
            // a ledger includes a valid transaction that the network has, also a forgotten one
            const holds = NAMES.filter((name, i) => {
              const actor = world.actors.get(name);
              const expires = actor?.context.validTo;
              const given = store.kept.has(name) || actor?.context.forgotten;
              return one.holds[i] && given && expires != null && slot < expires && world.holder(name) === undefined;
            });
            for (const name of holds) store.moveToLedger(name, slot);
            store.moveTip(slot);
            world.block(slot, holds);
          } else if (one.is === "back") {
            const slot = Math.max(store.finality, world.tip - one.by);
            const to = world.chain.findLast((block) => block.slot <= slot)!.slot;
            if (to < store.finality || to === world.tip) continue;
            store.moveTip(to);
            world.rollBack(to);
          } else if (one.is === "final") {
            settle();
            for (const name of store.moveFinality(world.tip - one.below)) dropped.add(name);
            for (const row of world.table("submission_status").values()) {
              if (row.lapsed_until !== null && Number(row.lapsed_until) <= store.finality) row.lapsed_until = null;
            }
          } else if (one.is === "forget") {
            settle();
            const name = NAMES[one.which]!;
            if (world.status(name) === "in_ledger" || dropped.has(name)) continue;
            store.forget(name);
            world.forget(name);
          } else for (let i = 0; i < one.events; i++) world.step();
        }
        settle();
        for (const name of NAMES.filter((name) => !dropped.has(name))) {
          const kept = store.kept.get(name);
          const actor = world.actors.get(name);
          if (kept === undefined) {
            // the chain may contain a forgotten transaction
            const there = world.holder(name) !== undefined && actor?.value === "in_ledger";
            const status = actor?.value === "refused" ? "refused" : undefined;
            expect(there ? status : world.status(name)).toBe(status);
            expect(world.table("submission_open").has(name)).toBe(false);
            continue;
          }
          seen.add(kept.is);
          const status = { "in submission": "pending", "in ledger": "in_ledger", expired: "expired" }[kept.is];
          expect([name, world.status(name)]).toEqual([name, status]);
          expect(world.table("submission_open").has(name)).toBe(kept.is === "in submission");
          if (kept.is === "in ledger") expect(actor!.context.slot).toBe(kept.accepted);
        }
      }),
      { numRuns: RUNS },
    );
    expect([...seen].sort()).toEqual(["expired", "in ledger", "in submission"]);
  });
});
