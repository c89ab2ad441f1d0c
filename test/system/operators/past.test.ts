/** An actor's state at any version, computed from its history: equal to what the actor was, for random lives of all kinds. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "#src/base/json.ts";
import { schemaMigrations } from "#src/app/schema.ts";
import { createPartitions, partitionOf } from "#src/runtime/placement/partitions.ts";
import { readPast } from "#src/runtime/operations/past.ts";
import { prune, RETENTION_HOURS } from "#src/runtime/operations/retention.ts";
import { type EntityState, fold, type TurnItem } from "#src/runtime/turns/fold.ts";
import { hydrate, stateName } from "#src/runtime/turns/machine.ts";
import { createWriter } from "#src/runtime/turns/writer.ts";
import type { ActorKind, Event } from "#src/runtime/types.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { delegationInputs, delegationMachine } from "#machines/delegation.ts";
import { sharedWalletCommands, sharedWalletMachine } from "#machines/sharedWallet.ts";
import { tokenInputs, tokenMachine } from "#machines/token.ts";
import {
  transactionCommands,
  transactionInputs,
  transactionMachine,
  transactionOutcomes,
} from "#machines/transaction.ts";
import { walletCommands, walletInputs, walletMachine, walletOutcomes } from "#machines/wallet.ts";
import { vaultAdoption } from "#src/wallets/vault/tables.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";

let infra: Infra;
let store: Store;
beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl, { max: 4 });
  await migrate(store, schemaMigrations);
  await createPartitions(store, 4);
  await store.sql`update partition set epoch = 5, checked = 5, owner = 'me', expires = now() + interval '1 hour'`;
});
afterAll(async () => {
  await store?.close();
  await infra?.stop();
});

type Source = "command" | "input" | "outcome" | "reminder";
/** An event of one type, from a source. */
const from = (source: Source, type: string, members: { [name: string]: fc.Arbitrary<unknown> } = {}) =>
  fc.record({ source: fc.constant(source), event: fc.record({ type: fc.constant(type), ...members }) });
const hex = (digits: number) => fc.integer({ min: 0, max: 15 }).map((n) => n.toString(16).repeat(digits));
const slot = fc.integer({ min: 1, max: 30 });
const text = fc.string({ minLength: 1, maxLength: 8, unit: "grapheme-ascii" });
const lovelace = fc.bigInt({ min: 0n, max: 10n ** 12n }).map(String);
const orNull = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: null });
const wide = fc.oneof(fc.constant("w1"), fc.constant("w2"));

const caged = { slot, owner: hex(56), root: hex(64), ref: hex(64).map((hash) => `${hash}#0`) };
const token = fc.oneof(
  from("input", "BOOTED", caged),
  from("input", "UPDATED", { ...caged, applied: slot }),
  from("input", "REQUESTED", { slot, request: caged.ref }),
  from("input", "RETRACTED", { slot, request: caged.ref }),
  from("input", "ENDED", { slot }),
  from("input", "QUARANTINED", { slot, reason: text }),
  from("input", "RELEASED", { slot }),
  from("input", "ROLLED_BACK", {
    slot,
    to: fc.constantFrom("absent", "live", "ended", "quarantined"),
    owner: orNull(caged.owner),
    root: orNull(caged.root),
    ref: orNull(caged.ref),
    reason: orNull(text),
  }),
);

const epoch = fc.integer({ min: 0, max: 6 });
const whom = { pool: orNull(hex(56)), drep: orNull(fc.constantFrom("abstain", "no_confidence")) };
const account = { slot, epoch, registered: fc.boolean(), deposit: orNull(lovelace) };
const whole = { ...account, history: fc.array(fc.record({ epoch, ...whom }), { maxLength: 4 }), rewards: lovelace };
const delegation = fc.oneof(
  from("input", "CERTIFIED", { ...account, ...whom }),
  from("input", "EPOCH", { slot, epoch }),
  from("input", "REWARDED", { slot, epoch, rewards: lovelace }),
  from("input", "TOLD", whole),
  from("input", "ROLLED_BACK", whole),
);

const attempt = fc.integer({ min: 1, max: 4 });
const transaction = fc.oneof(
  from("command", "SUBMIT", {
    cbor: hex(200),
    inputs: fc.array(caged.ref, { maxLength: 2 }),
    addresses: fc.array(text, { maxLength: 2 }),
    validTo: orNull(slot),
    by: fc.record({ wallet: wide, slot, height: slot }),
  }),
  from("command", "FORGET", { wallet: orNull(wide) }),
  from("command", "CHECK"),
  from("outcome", "ACCEPTED", { attempt }),
  from("outcome", "REFUSED", {
    attempt,
    failures: fc.array(fc.record({ name: text, message: text }), { maxLength: 3 }),
  }),
  from("input", "IN_LEDGER", { slot, block: hex(64), height: slot, valid: fc.boolean() }),
  from("input", "EXPIRED", { slot }),
  from("input", "ROLLED_BACK", { slot }),
);

const life = fc.integer({ min: 1, max: 3 });
const passphrase = fc.record({
  at: fc.integer({ min: 0, max: 10 ** 12 }),
  method: fc.constantFrom("scrypt", "argon2id-v2"),
});
const key = hex(128);
const creation = {
  name: text,
  gap: fc.integer({ min: 10, max: 99 }),
  key,
  attempt: orNull(fc.constantFrom("a1", "a2")),
  passphrase: orNull(passphrase),
  birth: fc.record({ slot, hash: hex(64) }),
  oneChange: fc.boolean(),
  selection: fc.constantFrom("per-output", "round-robin"),
};
const common = [
  from("command", "RENAME", { name: text }),
  from("reminder", "RENAME", { name: text }),
  from("command", "SETTINGS", { oneChange: fc.boolean() }),
  from("command", "PASSPHRASE_CHANGED", { attempt: fc.constantFrom("a1", "a2"), passphrase }),
  from("input", "PASSPHRASE_CHANGED", { attempt: fc.constantFrom("a1", "a2"), passphrase }),
  from("command", "DELETE"),
  from("outcome", "BEGUN", { life }),
  from("outcome", "ENDED", { life }),
  from("input", "RESTORED", { slot, life }),
  from("input", "TRANSACTION", {
    slot,
    hash: hex(64),
    direction: fc.constantFrom("incoming", "outgoing"),
    amount: lovelace,
    life,
  }),
  from("input", "ROLLED_BACK", { slot }),
];
const wallet = fc.oneof(
  from("command", "CREATE", { ...creation, kind: fc.constantFrom("shelley", "random"), policyKey: orNull(key) }),
  from("command", "POLICY_KEY_SET", { key }),
  ...common,
);
const template = fc.record({
  script: fc.constant('"x"'),
  names: fc.constant(["cosigner#0", "cosigner#1"]),
  keys: fc.oneof(fc.record({ "cosigner#0": key }), fc.record({ "cosigner#0": key, "cosigner#1": key })),
});
const shared = fc.oneof(
  from("command", "CREATE", {
    ...creation,
    account: fc.constant(0),
    payment: template,
    delegation: orNull(template),
  }),
  from("command", "ADD_KEYS", {
    credential: fc.constantFrom("payment", "delegation"),
    keys: fc.record({ "cosigner#1": key }),
  }),
  ...common,
);

const nothing = () => Promise.resolve(undefined);
const none = transactionInputs;
const walletTables = {
  wallet: { table: "wallet", key: ["id"] },
  adoption: { ...vaultAdoption, table: "past_adoption" },
};
const walletEffects = { begin: nothing, end: nothing };
const kinds: readonly (readonly [ActorKind, fc.Arbitrary<{ source: Source; event: Event }>])[] = [
  [{ kind: "token", version: 1, machine: tokenMachine, commands: none, inputs: tokenInputs, outcomes: none }, token],
  [
    {
      kind: "delegation",
      version: 1,
      machine: delegationMachine,
      commands: none,
      inputs: delegationInputs,
      outcomes: none,
    },
    delegation,
  ],
  [{
    kind: "transaction",
    version: 2,
    machine: transactionMachine,
    commands: transactionCommands,
    inputs: transactionInputs,
    outcomes: transactionOutcomes,
    unlogged: { SUBMIT: ["cbor"] },
    tables: {
      submission: { table: "submission", key: ["hash"] },
      open: { table: "submission_open", key: ["hash"] },
      status: { table: "submission_status", key: ["hash"] },
      link: { table: "submission_wallet", key: ["hash", "wallet"] },
    },
    effects: { submit: nothing },
  }, transaction],
  [{
    kind: "wallet",
    version: 1,
    machine: walletMachine,
    commands: walletCommands,
    inputs: walletInputs,
    outcomes: walletOutcomes,
    tables: walletTables,
    effects: walletEffects,
  }, wallet],
  [{
    kind: "shared-wallet",
    version: 1,
    machine: sharedWalletMachine,
    commands: sharedWalletCommands,
    inputs: walletInputs,
    outcomes: walletOutcomes,
    tables: { ...walletTables, shared: { table: "shared_wallet", key: ["id"] } },
    effects: walletEffects,
  }, shared],
];

interface Lived {
  readonly id: string;
  /** State and context by version. */
  readonly at: ReadonlyMap<number, { state: string; context: Json; at: number }>;
  readonly newest: number;
}

let lives = 0;
/** Lives an actor's life: turns of several events, written as a worker writes them, with its snapshot read back. */
async function live(kind: ActorKind, turns: readonly (readonly { source: Source; event: Event }[])[]): Promise<Lived> {
  const id = (++lives).toString(16).padStart(64, "0");
  const entity = { kind: kind.kind, id };
  const write = createWriter(store);
  const at = new Map<number, { state: string; context: Json; at: number }>();
  let held: EntityState = { snapshot: undefined, version: 0, inputSeq: 0 };
  let n = 0;
  for (const events of turns) {
    n++;
    const time = 1_700_000_000_000 + n * 1_237;
    const items = events.map(({ source, event }): TurnItem => {
      n++;
      if (source === "command") return { from: source, id: `c-${n}`, event };
      if (source === "input") return { from: source, seq: n, event };
      return source === "outcome" ? { from: source, n, event } : { from: source, name: `r${n}`, n, event };
    });
    // One event after the other gives the states between; the turn is written as a whole.
    let between = held;
    for (const item of items) {
      const one = fold(kind, entity, between, [item], time);
      if (one.next.version > between.version) {
        const { context } = JSON.parse(one.text!);
        at.set(one.next.version, { state: stateName(one.next.snapshot!.value), context, at: time });
      }
      between = one.next;
    }
    // Effects and reminders of which no row exists: the anti-join would take them for consumed.
    const rows = { ...fold(kind, entity, held, items, time), ended: [], fired: [] };
    const turn = { entity, partition: partitionOf(entity, 4), epoch: 5, was: held.version, seen: held.inputSeq };
    expect(await write({ ...turn, machineVersion: kind.version, at: time, rows })).toEqual({ is: "written" });
    const [row] = await store.sql<{ snapshot: Json }[]>`
      select snapshot from actor where kind = ${entity.kind} and id = ${id}`;
    held = row === undefined ? rows.next : { ...rows.next, snapshot: hydrate(kind, row.snapshot, kind.version) };
  }
  return { id, at, newest: held.version };
}

/** Every version of a life is computed exactly; gives how many there are. */
async function isExact(kind: ActorKind, { id, at, newest }: Lived): Promise<number> {
  expect(at.size).toBe(newest);
  for (const [version, was] of at) {
    const past = await readPast(store, kind, { kind: kind.kind, id }, version);
    expect(past).toEqual({ ok: true, value: { ...was, version, at: new Date(was.at) } });
  }
  return newest;
}

describe("the state at a version", () => {
  beforeAll(async () => {
    await store.sql`create table past_adoption (wallet text primary key, attempt text not null)`;
  });

  test.each(kinds.map(([kind, event]) => [kind.kind, kind, event] as const))(
    "of a %s is what it was, in random lives",
    async (_, kind, event) => {
      let versions = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(event, { minLength: 1, maxLength: 12 }), { maxLength: 10 }),
          async (turns) => {
            versions += await isExact(kind, await live(kind, turns));
          },
        ),
        { numRuns: 20 },
      );
      expect(versions).toBeGreaterThan(20);
    },
    60_000,
  );

  const [kind] = kinds[0]!;
  const boot: Event = { type: "BOOTED", slot: 1, owner: "o", root: "r0", ref: "x#0" };
  const updates = (count: number) =>
    Array.from({ length: count }, (_, i) => [{
      source: "input" as const,
      event: i === 0 ? boot : { ...boot, type: "UPDATED", slot: i, root: `r${i}`, applied: 1 },
    }]);
  const past = (id: string, version: number) => readPast(store, kind, { kind: "token", id }, version);

  test("is computed from the nearest stored snapshot, of which there is one for every 64 versions", async () => {
    const lived = await live(kind, updates(150));
    const stored = await store.sql<{ version: bigint }[]>`
      select version from actor_snapshot where id = ${lived.id} order by version`;
    expect(stored.map(({ version }) => Number(version))).toEqual([64, 128]);
    // Of the first snapshot on, nothing before it is read.
    await store.sql`delete from outbox where id = ${lived.id} and version < 60`;
    expect(await past(lived.id, 64)).toMatchObject({ ok: true, value: { version: 64, context: { root: "r63" } } });
    expect(await past(lived.id, 127)).toMatchObject({ ok: true, value: { version: 127, context: { root: "r126" } } });
    expect(await past(lived.id, 150)).toMatchObject({ ok: true, value: { version: 150, context: { root: "r149" } } });
    expect(await past(lived.id, 63)).toMatchObject({
      ok: false,
      error: { code: "history_pruned", details: { oldest: 64 } },
    });
    expect(await past(lived.id, 151)).toMatchObject({
      ok: false,
      error: { code: "version_unknown", details: { newest: 150 } },
    });
    expect(await past("nobody", 1)).toMatchObject({ ok: false, error: { code: "actor_unknown" } });
  });

  test("is left where retention deletes history, from the first snapshot on that has all events after it", async () => {
    const lived = await live(kind, updates(140));
    await store.sql`delete from outbox_unpublished`;
    await store.sql`update outbox set created = now() - interval '31 days' where id <> ${lived.id} or version <= 70`;
    let deleted = 0;
    await expect.poll(async () => {
      deleted += (await prune(store, RETENTION_HOURS)).history;
      return (await store.sql`select 1 from outbox`).length;
    }, { timeout: 30_000 }).toBe(70);
    const stored = await store.sql<{ version: bigint }[]>`
      select version from actor_snapshot where id = ${lived.id} order by version`;
    expect(stored.map(({ version }) => Number(version))).toEqual([64, 128]);
    expect(await past(lived.id, 71)).toMatchObject({
      ok: false,
      error: { code: "history_pruned", details: { oldest: 128 } },
    });
    expect(await past(lived.id, 128)).toMatchObject({ ok: true, value: { context: { root: "r127" } } });
    expect(deleted).toBeGreaterThan(70);
  });

  test("is refused where the history is not the machine's", async () => {
    const lived = await live(kind, updates(5));
    await store.sql`update outbox set to_state = 'elsewhere' where id = ${lived.id} and version = 3`;
    expect(await past(lived.id, 2)).toMatchObject({ ok: true });
    expect(await past(lived.id, 4)).toMatchObject({
      ok: false,
      error: { code: "history_foreign", details: { version: 3 } },
    });
    expect(await past(lived.id, 5)).toMatchObject({ ok: true, value: { context: { root: "r4" } } });
  });
});
