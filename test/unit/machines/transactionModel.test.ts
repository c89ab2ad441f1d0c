/**
 * The transaction's machine, driven through the runtime's fold by random commands, outcomes and inputs, compared with a
 * plain model: states, context, replies, effects and rows.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isWellFormed } from "#src/base/bytes.ts";
import { transactionActor, type TransactionActorOptions } from "#actors/transaction.ts";
import { type EffectEnd, type EntityState, fold, type TurnItem } from "#src/runtime/turns/fold.ts";
import { hydrate, SNAPSHOT_BYTES, stateName } from "#src/runtime/turns/machine.ts";
import type { Event } from "#src/runtime/types.ts";
import { cases } from "../../support/base/longTests.ts";

// Effects are returned and never run here.
const kind = transactionActor({} as TransactionActorOptions);
const entity = { kind: "transaction", id: "ab".repeat(32) };
const RUNS = cases(600, 3_000);

interface Failure {
  readonly name: string;
  readonly message: string;
}

/** The possible next events; numbers select among them. */
type Step =
  | { readonly is: "submit"; readonly id: string; readonly validTo: number | null; readonly wallet: string | null }
  | { readonly is: "answer"; readonly pick: number; readonly failures: readonly Failure[] | undefined }
  | { readonly is: "no outcome"; readonly pick: number }
  | { readonly is: "late answer"; readonly attempt: number; readonly failures: readonly Failure[] | undefined }
  | { readonly is: "in ledger"; readonly slot: number; readonly valid: boolean }
  | { readonly is: "expired"; readonly slot: number }
  | { readonly is: "rolled back"; readonly slot: number }
  | { readonly is: "parent lost" }
  | { readonly is: "check" }
  | { readonly is: "forget"; readonly wallet: string | null };

/** The life cycle of a transaction according to its description, without a statechart. */
class Model {
  state: "created" | "submitting" | "pending" | "in_ledger" | "expired" | "refused" | "forgotten" = "created";
  version = 0;
  attempt = 0;
  validTo: number | null = null;
  waiting: string[] = [];
  failures: readonly Failure[] = [];
  place: { slot: number; block: string; height: number; valid: boolean } | undefined;
  taken = false;
  forgotten = false;
  wallets: string[] = [];
  status: { status: string; lapsed_until: number | null } | undefined;
  /** Queries to the network without an answer yet, by attempt. */
  openAttempts: number[] = [];
  /** As `World.queries`. */
  readonly queries = new Map<number, boolean>();
  /** How often those that depend on it were informed. */
  losses = 0;
  openUntil: number | null | undefined;
  kept = false;
  /** Replies by command, each at most once. */
  readonly replies = new Map<string, "taken" | "refused" | "not possible" | "in ledger">();
  /** Whether an effect found the transaction in the ledger, so that the log will report it. */
  noticed = false;

  submit(id: string, validTo: number | null, fits: boolean, wallet: string | null): void {
    if (this.state === "submitting") {
      if (!fits) return void this.replies.set(id, "not possible");
      this.waiting.push(id);
    } else if (this.state === "pending" || this.state === "in_ledger") this.replies.set(id, "taken");
    else {
      this.state = "submitting";
      this.validTo = validTo;
      this.failures = [];
      this.waiting.push(id);
      this.forgotten = false;
      if (wallet !== null) this.openUntil = validTo;
      this.status = { status: "pending", lapsed_until: null };
      this.kept = true;
      this.ask();
    }
    if (wallet !== null && this.state !== "in_ledger" && !this.wallets.includes(wallet)) this.wallets.push(wallet);
    this.version++;
  }

  forget(id: string, wallet: string | null): void {
    if (this.state === "in_ledger") {
      this.version++;
      return void this.replies.set(id, "in ledger");
    }
    const can = this.state === "pending" || this.state === "expired" || (this.state === "refused" && this.taken);
    if (!can) return void this.replies.set(id, "not possible");
    this.version++;
    this.replies.set(id, "taken");
    if (wallet !== null && this.wallets.some((one) => one !== wallet)) {
      this.wallets = this.wallets.filter((one) => one !== wallet);
      return;
    }
    this.state = "forgotten";
    this.forgotten = true;
    this.failures = [];
    this.openUntil = undefined;
    this.unlist();
  }

  private unlist(): void {
    this.wallets = [];
    this.taken = false;
    this.status = undefined;
  }

  answer(attempt: number, failures: readonly Failure[] | undefined): void {
    if (attempt !== this.attempt) return;
    if (this.state === "refused" && this.taken && failures === undefined) {
      this.version++;
      this.state = "pending";
      this.reopen();
      return;
    }
    if (this.state !== "submitting" && this.state !== "pending") return;
    this.version++;
    if (failures === undefined) {
      if (this.state === "submitting") this.openUntil = this.validTo;
      this.state = "pending";
      this.taken = true;
      this.reply("taken");
    } else {
      this.state = "refused";
      this.failures = failures;
      this.reply("refused");
      this.openUntil = undefined;
      if (this.taken) {
        this.status = { status: "expired", lapsed_until: this.validTo };
        this.losses++;
      } else {
        this.unlist();
        this.status = { status: "refused", lapsed_until: null };
      }
    }
  }

  inLedger(slot: number, block: string, height: number, valid: boolean): void {
    this.version++;
    const again = this.state === "in_ledger";
    this.state = "in_ledger";
    this.place = { slot, block, height, valid };
    if (again) return;
    this.reply("taken");
    this.taken = true;
    this.openUntil = undefined;
    this.status = { status: "in_ledger", lapsed_until: null };
  }

  expired(): void {
    if (this.state !== "pending") return;
    this.version++;
    this.state = "expired";
    this.openUntil = undefined;
    this.status = { status: "expired", lapsed_until: this.validTo };
    this.losses++;
  }

  parentLost(): void {
    if (this.state !== "pending") return;
    this.version++;
    this.ask();
  }

  rolledBack(slot: number): void {
    if (this.state === "in_ledger" && this.place!.slot > slot) {
      this.version++;
      this.place = undefined;
      if (this.forgotten) {
        this.state = "forgotten";
        this.unlist();
        return;
      }
    } else if (
      (this.state === "expired" || this.state === "refused") && this.taken &&
      (this.validTo === null || this.validTo > slot)
    ) this.version++;
    else return;
    this.state = "pending";
    this.reopen();
    this.ask();
  }

  check(id: string): void {
    if (this.state !== "pending" && !(this.state === "refused" && this.taken)) {
      return void this.replies.set(id, "not possible");
    }
    this.replies.set(id, "taken");
    this.version++;
    this.ask();
  }

  private reopen(): void {
    this.openUntil = this.validTo;
    this.status = { status: "pending", lapsed_until: null };
  }

  private ask(): void {
    this.noticed = false;
    this.openAttempts.push(++this.attempt);
    this.queries.set(this.attempt, this.taken);
  }

  private reply(how: "taken" | "refused"): void {
    for (const id of this.waiting) this.replies.set(id, how);
    this.waiting = [];
  }
}

/** What the runtime stores for an entity in addition to its snapshot, as the turns' rows leave it. */
class World {
  held: EntityState = { snapshot: undefined, version: 0, inputSeq: 0 };
  seq = 0;
  now = 1_000_000;
  readonly effects = new Map<number, number>();
  losses = 0;
  /** Whether the network had accepted the transaction before a query, by attempt. */
  readonly queries = new Map<number, boolean>();
  readonly effectNumbers = new Set<number>();
  readonly rows = new Map<string, { readonly [column: string]: unknown }>();
  readonly replies = new Map<string, unknown>();
  readonly open = new Set<string>();

  turn(items: readonly (TurnItem | EffectEnd)[]): void {
    const folded = fold(kind, entity, this.held, items, this.now);
    expect(folded.failed).toEqual([]);
    for (const n of folded.ended) expect(this.effects.delete(n)).toBe(true);
    for (const { n, name, input } of folded.effects) {
      expect(this.effectNumbers.has(n)).toBe(false);
      this.effectNumbers.add(n);
      if (name === "lost") {
        expect(input).toEqual({ hash: entity.id });
        this.losses++;
        continue;
      }
      expect(name).toBe("submit");
      this.effects.set(n, (input as { attempt: number }).attempt);
      const { attempt, taken } = input as { attempt: number; taken: boolean };
      expect(input).toEqual({ hash: entity.id, attempt, taken });
      this.queries.set(attempt, taken);
    }
    expect(folded.reminders.size).toBe(0);
    for (const { table, key, values, remove } of folded.ownRows) {
      const place = `${table} ${key.map((column) => values[column]).join(" ")}`;
      if (remove) this.rows.delete(place);
      else this.rows.set(place, values);
    }
    for (const [id, result] of folded.results) {
      expect(this.replies.has(id) || this.open.has(id)).toBe(false);
      if (result === undefined) this.open.add(id);
      else this.replies.set(id, result);
    }
    for (const [id, result] of folded.answers) {
      expect(this.open.delete(id)).toBe(true);
      this.replies.set(id, result);
    }
    if (folded.text === undefined) {
      this.held = { ...folded.next };
      return;
    }
    expect(new TextEncoder().encode(folded.text).length).toBeLessThanOrEqual(SNAPSHOT_BYTES);
    // As in a worker that took over the entity.
    this.held = { ...folded.next, snapshot: hydrate(kind, JSON.parse(folded.text), kind.version) };
  }
}

/** Long texts that shrink by their length. */
const long = (least: number, most: number) =>
  fc.tuple(fc.constantFrom("x", "\u0001", "語", "😀"), fc.integer({ min: least, max: most })).map(([unit, length]) =>
    unit.repeat(length)
  );
const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 20 }) },
  { weight: 1, arbitrary: long(300, 3_000) },
);
const failures = fc.option(fc.array(fc.record({ name: text, message: text }), { maxLength: 20, size: "max" }), {
  nil: undefined,
});
const slot = fc.nat(1_000);
const wallet = fc.option(fc.constantFrom("w1", "w2", "w3"), { nil: null });
const idText = fc.oneof(
  { weight: 2, arbitrary: fc.uuid() },
  { weight: 2, arbitrary: fc.constant("c") },
  { weight: 1, arbitrary: long(80, 95) },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ is: fc.constant("submit" as const), id: idText, validTo: fc.option(slot), wallet }),
  },
  { weight: 5, arbitrary: fc.record({ is: fc.constant("answer" as const), pick: fc.nat(9), failures }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant("no outcome" as const), pick: fc.nat(9) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constant("late answer" as const),
      attempt: fc.integer({ min: 1, max: 9 }),
      failures,
    }),
  },
  { weight: 2, arbitrary: fc.record({ is: fc.constant("in ledger" as const), slot, valid: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant("expired" as const), slot }) },
  { weight: 2, arbitrary: fc.record({ is: fc.constant("rolled back" as const), slot }) },
  { weight: 1, arbitrary: fc.constant({ is: "parent lost" as const }) },
  { weight: 3, arbitrary: fc.constant({ is: "check" as const }) },
  { weight: 2, arbitrary: fc.record({ is: fc.constant("forget" as const), wallet }) },
);

/** Turns of one to several steps; long sequences of submissions test the limits. */
const turns = fc.array(
  fc.oneof(
    { weight: 14, arbitrary: fc.array(step, { minLength: 1, maxLength: 5 }) },
    {
      weight: 1,
      arbitrary: fc.tuple(idText, fc.integer({ min: 10, max: 80 })).map(([id, count]) =>
        Array.from({ length: count }, () => ({ is: "submit" as const, id, validTo: null, wallet: null }))
      ),
    },
  ),
  { maxLength: 12 },
);

/** Applies a turn's steps to both; the selected items existed before the turn. */
function play(world: World, model: Model, steps: readonly Step[], unique: () => string): void {
  world.now += 1_000;
  const items: (TurnItem | EffectEnd)[] = [];
  const ended = new Set<number>();
  const effects = [...world.effects.keys()];
  const input = (event: Event): TurnItem => ({ from: "input", seq: ++world.seq, event });
  for (const one of steps) {
    if (one.is === "submit") {
      const id = one.id + unique();
      items.push({
        from: "command",
        id,
        event: {
          type: "SUBMIT",
          cbor: "80",
          inputs: ["i#0"],
          addresses: ["aa"],
          validTo: one.validTo,
          ...(one.wallet === null ? {} : { by: { wallet: one.wallet, slot: 7, height: 3 } }),
        },
      });
      const units = model.waiting.reduce((sum, other) => sum + other.length, id.length);
      model.submit(id, one.validTo, model.waiting.length < 64 && units <= 2_400, one.wallet);
    } else if (one.is === "answer" || one.is === "late answer" || one.is === "no outcome") {
      const n = effects[("pick" in one ? one.pick : 0) % Math.max(1, effects.length)];
      if (n === undefined || ended.has(n)) continue;
      ended.add(n);
      const attempt = one.is === "late answer" ? one.attempt : world.effects.get(n)!;
      model.openAttempts = model.openAttempts.filter((other) => other !== world.effects.get(n)!);
      if (one.is === "no outcome") {
        // The effect found it in the ledger, and requested an event of the log.
        items.push({ from: "ended", n });
        model.noticed = true;
        continue;
      }
      items.push({
        from: "outcome",
        n,
        event: one.failures === undefined
          ? { type: "ACCEPTED", attempt }
          : { type: "REFUSED", attempt, failures: one.failures },
      });
      model.answer(attempt, one.failures);
      // No actor answers for another attempt than the requested one: the query is gone, which is no error of the
      // machine.
      if (one.is === "late answer") model.noticed = true;
    } else if (one.is === "in ledger") {
      items.push(input({ type: "IN_LEDGER", slot: one.slot, block: "cc", height: one.slot, valid: one.valid }));
      model.inLedger(one.slot, "cc", one.slot, one.valid);
    } else if (one.is === "expired") {
      items.push(input({ type: "EXPIRED", slot: one.slot }));
      model.expired();
    } else if (one.is === "rolled back") {
      items.push(input({ type: "ROLLED_BACK", slot: one.slot }));
      model.rolledBack(one.slot);
    } else if (one.is === "parent lost") {
      items.push(input({ type: "PARENT_LOST", transaction: "cd".repeat(32) }));
      model.parentLost();
    } else if (one.is === "check") {
      const id = `check${unique()}`;
      items.push({ from: "command", id, event: { type: "CHECK" } });
      model.check(id);
    } else {
      const id = `forget${unique()}`;
      items.push({ from: "command", id, event: { type: "FORGET", wallet: one.wallet } });
      model.forget(id, one.wallet);
    }
  }
  if (items.length > 0) world.turn(items);
}

function compare(world: World, model: Model): void {
  const { snapshot, version } = world.held;
  expect(version).toBe(model.version);
  if (snapshot === undefined) return;
  expect(stateName(snapshot.value)).toBe(model.state);
  const { failures: kept, ...context } = snapshot.context as { failures: Failure[] };
  const place = model.place;
  expect(context).toEqual({
    hash: entity.id,
    validTo: model.validTo,
    attempt: model.attempt,
    waiting: model.waiting,
    taken: model.taken,
    forgotten: model.forgotten,
    wallets: model.wallets,
    slot: place?.slot ?? null,
    block: place?.block ?? null,
    height: place?.height ?? null,
    valid: place?.valid ?? null,
  });
  // Failures are stored up to a limit: the first ones, the last of them possibly truncated.
  kept.forEach((one, i) => {
    expect(model.failures[i]!.name.startsWith(one.name)).toBe(true);
    expect(model.failures[i]!.message.startsWith(one.message)).toBe(true);
    expect(isWellFormed(one.name) && isWellFormed(one.message)).toBe(true);
  });
  const units = model.failures.reduce((sum, { name, message }) => sum + name.length + message.length, 0);
  if (units + 20 * model.failures.length <= 1_500) expect(kept).toEqual(model.failures);
  else expect(kept.length).toBeGreaterThan(0);

  expect([...world.effects.values()].sort((a, b) => a - b)).toEqual([...model.openAttempts].sort((a, b) => a - b));
  expect(world.losses).toBe(model.losses);
  expect(world.queries).toEqual(model.queries);
  expect([...world.open].sort()).toEqual([...model.waiting].sort());
  expect([...world.replies.keys()].sort()).toEqual([...model.replies.keys()].sort());
  for (const [id, how] of model.replies) {
    const reply = world.replies.get(id);
    if (how === "taken") expect(reply).toEqual({ ok: true, value: { txHash: entity.id } });
    else {
      const code = { refused: "refused_by_ledger", "in ledger": "transaction_already_in_ledger" }[how as string] ??
        "not_possible";
      expect(reply).toMatchObject({ ok: false, error: { code } });
    }
  }
  expect(world.rows.has(`submission ${entity.id}`)).toBe(model.kept);
  expect(world.rows.get(`submission_open ${entity.id}`)?.open_until).toBe(model.openUntil);
  const status = world.rows.get(`submission_status ${entity.id}`);
  if (model.status === undefined) expect(status).toBeUndefined();
  else expect(status).toMatchObject(model.status);
  const listed = [...world.rows.keys()].filter((key) => key.startsWith("submission_wallet "));
  expect(listed.sort()).toEqual(model.wallets.map((one) => `submission_wallet ${entity.id} ${one}`).sort());
  // Every wait has a pending cause: an answer of the network or an event of the log is still to come.
  if (model.state === "submitting") expect(model.noticed || model.openAttempts.includes(model.attempt)).toBe(true);
}

describe("a transaction", () => {
  it(`follows the model through ${RUNS} random histories`, () => {
    const states = new Set<string>();
    fc.assert(
      fc.property(turns, (life) => {
        const world = new World();
        const model = new Model();
        let ids = 0;
        for (const steps of life) {
          play(world, model, steps, () => `-${++ids}`);
          compare(world, model);
          states.add(model.state);
        }
      }),
      { numRuns: RUNS },
    );
    expect([...states].sort()).toEqual([
      "created",
      "expired",
      "forgotten",
      "in_ledger",
      "pending",
      "refused",
      "submitting",
    ]);
  }, 300_000);
});
