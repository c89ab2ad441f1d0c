/**
 * Every form of an actor that is stored or sent: found by driving each machine through the runtime's fold with sample
 * events, from every situation that they lead to.
 */
import { describe, expect, it } from "vitest";
import { z, type ZodType } from "zod";
import { delegationActor } from "#actors/delegation.ts";
import { actorKinds } from "#actors/kinds.ts";
import { sharedWalletActor } from "#actors/sharedWallet.ts";
import { tokenActor } from "#actors/token.ts";
import { transactionActor } from "#actors/transaction.ts";
import { walletActor } from "#actors/wallet.ts";
import { cloudEvent, eventSubject } from "#src/runtime/events/transition.ts";
import { type EntityState, fold, type TurnItem } from "#src/runtime/turns/fold.ts";
import { eventsOf, graphOf } from "#src/runtime/operations/graph.ts";
import { hydrate, stateName } from "#src/runtime/turns/machine.ts";
import type { ActorKind, Event } from "#src/runtime/types.ts";
import { expectFrozenJson, Shape } from "../../support/base/frozenFiles.ts";
import { notCalled } from "../../support/service/walletEdge.ts";

// deno-lint-ignore no-explicit-any
type Context = any;
type Sample = readonly [from: "command" | "input" | "outcome" | "intent", event: (context: Context) => Event];

const AT = 1_700_000_000_000;
const hex = (byte: string, bytes: number) => byte.repeat(bytes);
const key = (n: number) => n.toString(16).padStart(128, "0");
const slotAfter = (context: Context) => (context.slot ?? 0) + 1;

const passphrase = (at: number) => ({ at, method: "argon2id-v2" });
const creation = (attempt: string | null) => ({
  type: "CREATE",
  name: "w",
  gap: 20,
  key: key(1),
  attempt,
  passphrase: attempt && passphrase(AT),
  birth: { slot: -1, hash: "" },
  oneChange: false,
  selection: "per-output",
});
const whole = {
  slot: 5,
  block: { slot: 5, hash: hex("cd", 32) },
  lovelace: "9",
  assets: { [hex("ef", 28)]: "3" },
  following: 1,
  stake: `key-${hex("12", 28)}`,
};
const common: readonly Sample[] = [
  ["command", () => ({ type: "RENAME", name: "x" })],
  ["command", () => ({ type: "SETTINGS", oneChange: true })],
  ["command", () => ({ type: "PASSPHRASE_CHANGED", attempt: "a", passphrase: passphrase(AT + 1) })],
  ["input", () => ({ type: "PASSPHRASE_CHANGED", attempt: "a", passphrase: passphrase(AT + 1) })],
  ["command", () => ({ type: "DELETE" })],
  ["outcome", ({ life }) => ({ type: "BEGUN", life: Math.max(1, life) })],
  ["outcome", ({ life }) => ({ type: "ENDED", life: Math.max(1, life) })],
  ["input", ({ life }) => ({ type: "RESTORED", slot: 5, life: Math.max(1, life) })],
  ["input", () => ({ type: "TRANSACTION", slot: 6, hash: hex("ab", 32), direction: "incoming", amount: "7" })],
  ["input", ({ life }) => ({
    type: "TRANSACTION",
    slot: 6,
    hash: hex("ab", 32),
    direction: "incoming",
    amount: "7",
    block: { slot: 6, hash: hex("cd", 32), height: 3 },
    lovelace: "9",
    fee: "1",
    depositTaken: "2",
    depositReturned: "2",
    withdrawal: "2",
    received: [{ address: "addr_test1", lovelace: "9", assets: { [hex("ef", 28)]: "3" } }],
    receivedLeftOut: 1,
    assets: { [hex("ef", 28)]: "3" },
    following: 1,
    life: Math.max(1, life),
  })],
  ["input", ({ life }) => ({
    type: "ASSETS",
    slot: 6,
    assets: { [hex("ef", 28)]: "-3" },
    following: 1,
    life: Math.max(1, life),
  })],
  ["input", ({ life }) => ({
    type: "GOVERNED",
    slot: 6,
    hash: hex("ab", 32),
    block: { slot: 6, hash: hex("cd", 32), height: 3 },
    certificates: [
      { kind: "register_drep", credential: `key-${hex("ef", 28)}`, deposit: "2" },
      { kind: "authorize", credential: `key-${hex("ef", 28)}`, hot: `script-${hex("ef", 28)}` },
    ],
    votes: [{ role: "drep", credential: `key-${hex("ef", 28)}`, action: `${hex("ab", 32)}#0`, vote: "yes" }],
    proposals: [{ action: `${hex("ab", 32)}#0`, kind: "info", deposit: "2", account: `key-${hex("ef", 28)}` }],
    leftOut: 1,
    life: Math.max(1, life),
  })],
  ["input", () => ({ type: "ROLLED_BACK", slot: 5 })],
  ["input", ({ life }) => ({ type: "ROLLED_BACK", ...whole, life: Math.max(1, life) })],
  ["input", ({ life }) => ({ type: "RESTORED", ...whole, life: Math.max(1, life) })],
  ["input", () => ({
    type: "SEEN",
    hash: hex("ab", 32),
    direction: "incoming",
    amount: "7",
    assets: {},
    addresses: ["addr_test1"],
    cut: true,
    validTo: 9,
    at: { slot: 5, height: 5 },
  })],
  ["input", () => ({ type: "WITHDRAWN", hash: hex("ab", 32), reason: "left" })],
];
const template = (known: Record<string, string>) => ({
  script: '{"all":["cosigner#0","cosigner#1"]}',
  names: ["cosigner#0", "cosigner#1"],
  keys: known,
});
const first = { "cosigner#0": key(1) };
const both = { ...first, "cosigner#1": key(2) };
const shared = (attempt: string | null, known: Record<string, string>, delegation: boolean) => ({
  ...creation(attempt),
  account: 2 ** 31 - 1,
  payment: template(known),
  delegation: delegation ? template(known) : null,
});
const caged = { owner: hex("cd", 28), root: hex("00", 32), ref: `${hex("ef", 32)}#0` };
const placed = { transaction: hex("12", 32), block: hex("34", 32), height: 1 };
const change = {
  request: `${hex("ab", 32)}#0`,
  requester: hex("cd", 28),
  key: "k",
  operation: "update",
  oldValue: { hex: "00" },
  newValue: { size: 3_000, digest: hex("56", 32), href: "/token/t/requests/r" },
};
const applied = [change];
const gone = { owner: null, root: null, ref: null, reason: null };
const submit = (more: object) => ({
  type: "SUBMIT",
  cbor: "84a0",
  inputs: [`${hex("ef", 32)}#0`],
  addresses: ["60" + hex("cd", 28)],
  validTo: 200,
  ...more,
});
const by = (wallet: string) => ({ by: { wallet, slot: 90, height: 9 } });
const outcomes: readonly (readonly [pool: string | null, drep: string | null])[] = [
  [null, null],
  [hex("11", 28), null],
  [null, "abstain"],
  [hex("11", 28), `key-${hex("22", 28)}`],
];
const certified = (context: Context) => ({
  slot: slotAfter(context),
  epoch: context.epoch,
  registered: true,
  deposit: "2000000",
});
const block = { block: { slot: 9, hash: hex("cd", 32), height: 3 } };
const source = { ...block, transactions: [hex("ab", 32)] };

const kinds: readonly (readonly [ActorKind, readonly Sample[]])[] = [
  [tokenActor(notCalled("token")), [
    ["input", () => ({ type: "BOOTED", slot: 1, ...caged })],
    ["input", () => ({ type: "UPDATED", slot: 2, ...caged, applied: 1 })],
    ["input", () => ({ type: "APPLIED", slot: 2, ...placed, part: 1, parts: 2, changes: applied })],
    ["input", () => ({ type: "UPDATED", slot: 2, ...caged, ...placed, applied: 2, parts: 2, changes: applied })],
    [
      "input",
      () => ({ type: "UPDATED", slot: 2, ...caged, ...placed, applied: 1, changes: applied, unexplained: true }),
    ],
    ["input", () => ({ type: "REQUESTED", slot: 2, request: `${hex("ab", 32)}#0` })],
    ["input", () => ({ type: "REQUESTED", slot: 2, ...placed, ...change, lovelace: "2000000" })],
    ["input", () => ({ type: "RETRACTED", slot: 3, request: `${hex("ab", 32)}#0` })],
    ["input", () => ({ type: "REFUSED", slot: 3, request: `${hex("ab", 32)}#0` })],
    ["input", () => ({ type: "ENDED", slot: 4 })],
    ["input", () => ({ type: "QUARANTINED", slot: 4, reason: "not explained" })],
    ["input", () => ({ type: "RELEASED", slot: 5 })],
    ["input", () => ({ type: "ROLLED_BACK", slot: 1, to: "absent", ...gone })],
    ["input", () => ({ type: "ROLLED_BACK", slot: 1, to: "live", ...caged, reason: null })],
    ["input", () => ({ type: "ROLLED_BACK", slot: 1, to: "ended", ...gone })],
    ["input", () => ({ type: "ROLLED_BACK", slot: 1, to: "quarantined", ...caged, reason: "not explained" })],
    ["intent", () => ({ type: "REQUEST" })],
    ["intent", () => ({ type: "UPDATE" })],
    ["intent", () => ({ type: "END" })],
  ]],
  [transactionActor(notCalled("transaction")), [
    ["command", () => submit({})],
    ["command", () => submit({ validTo: null })],
    ["command", () => submit(by("w1"))],
    ["command", () => submit(by("w2"))],
    ["command", () => ({ type: "FORGET", wallet: null })],
    ["command", () => ({ type: "FORGET", wallet: "w1" })],
    ["command", () => ({ type: "CHECK" })],
    ["outcome", ({ attempt }) => ({ type: "ACCEPTED", attempt: Math.max(1, attempt) })],
    ["outcome", ({ attempt }) => ({
      type: "REFUSED",
      attempt: Math.max(1, attempt),
      failures: [{ name: "BadInputsUTxO", message: "spent", inputs: [] }],
      causes: [{ name: "BadInputsUTxO", message: "spent" }],
    })],
    ["input", () => ({ type: "IN_LEDGER", slot: 100, block: hex("ab", 32), height: 10, valid: true })],
    ["input", () => ({ type: "EXPIRED", slot: 200 })],
    ["input", () => ({ type: "ROLLED_BACK", slot: 50 })],
    ["input", () => ({ type: "PARENT_LOST", transaction: hex("cd", 32) })],
  ]],
  [walletActor(notCalled("wallet")), [
    ["command", () => ({ ...creation("a"), kind: "shelley", policyKey: null })],
    ["command", () => ({ ...creation("a"), kind: "random", policyKey: null })],
    ["command", () => ({ ...creation(null), kind: "shelley", policyKey: key(3) })],
    ["command", () => ({ type: "POLICY_KEY_SET", key: key(3) })],
    ...common,
  ]],
  [sharedWalletActor(notCalled("shared wallet")), [
    ["command", () => shared("a", first, true)],
    ["command", () => shared(null, first, false)],
    ["command", () => shared("a", both, true)],
    ["command", () => ({ type: "ADD_KEYS", credential: "payment", keys: { "cosigner#1": key(2) } })],
    ["command", () => ({ type: "ADD_KEYS", credential: "delegation", keys: { "cosigner#1": key(2) } })],
    ["command", () => ({ type: "ADD_KEYS", credential: "payment", keys: { "cosigner#0": key(2) } })],
    ["command", () => ({ type: "ADD_KEYS", credential: "payment", keys: { "cosigner#7": key(2) } })],
    ["command", () => ({ type: "ADD_KEYS", credential: "payment", keys: { "cosigner#1": key(1) } })],
    ...common,
  ]],
  [delegationActor(), [
    ...outcomes.map(([pool, drep]): Sample => [
      "input",
      (context) => ({ type: "CERTIFIED", ...certified(context), pool, drep, ...(pool === null ? {} : source) }),
    ]),
    ...outcomes.flatMap(([pool, drep]) =>
      (["TOLD", "ROLLED_BACK"] as const).map((type): Sample => [
        "input",
        (context) => ({
          type,
          ...certified(context),
          rewards: "5",
          history: [{ epoch: context.epoch, pool, drep }],
          ...(pool === null ? {} : block),
        }),
      ])
    ),
    ["input", (context) => ({ type: "EPOCH", slot: slotAfter(context), epoch: context.epoch + 1 })],
    ["input", (context) => ({ type: "REWARDED", slot: slotAfter(context), epoch: context.epoch, rewards: "5" })],
    ["input", (context) => ({
      type: "REWARDED",
      slot: slotAfter(context),
      epoch: context.epoch,
      rewards: "5",
      withdrawn: "2",
      ...source,
    })],
    // from a wallet that is read at an earlier point than others
    ["input", (context) => ({ type: "CERTIFIED", ...certified(context), slot: -1, pool: null, drep: null })],
    ["input", (context) => ({ type: "EPOCH", slot: -1, epoch: context.epoch })],
    ["input", (context) => ({ type: "REWARDED", slot: -1, epoch: context.epoch, rewards: "5" })],
    ["intent", () => ({ type: "JOIN", pool: hex("11", 28) })],
    ["intent", () => ({ type: "JOIN", pool: hex("33", 28) })],
    ["intent", () => ({ type: "CAST", drep: "abstain" })],
    ["intent", () => ({ type: "QUIT", withdrawing: true })],
  ]],
];

/** The types of the events that a schema accepts. */
const typesOf = (schema: ZodType) =>
  schema instanceof z.ZodDiscriminatedUnion
    ? schema.options.map((one) => String((one as z.ZodObject<{ type: z.ZodLiteral }>).shape.type.value))
    : [];

const schemaOf = (schema: ZodType) => z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
const sorted = <T>(map: ReadonlyMap<string, T>) => Object.fromEntries([...map].sort(([a], [b]) => a < b ? -1 : 1));

/** A situation without quantities: numbers without their values, lists up to two elements. */
function situation(text: string): string {
  return JSON.stringify(
    JSON.parse(text, (_, value) => typeof value === "number" ? "n" : Array.isArray(value) ? value.slice(0, 2) : value),
  );
}

/** The forms found for a kind. */
class Found {
  /** Transitions of the machine, as it holds them, that a sample took or an intent was permitted by. */
  readonly taken = new Set<unknown>();
  readonly snapshots = new Map<string, Shape>();
  readonly transitions = new Map<string, Set<string>>();
  readonly history = new Map<string, Shape>();
  readonly event = new Shape();
  readonly effects = new Map<string, Shape>();
  readonly reminders = new Map<string, Shape>();
  readonly rows = new Map<string, Shape>();
  readonly removed = new Map<string, Shape>();
  readonly replies = new Shape();
  readonly errors = new Map<string, Shape>();
}

function shapeOf(map: Map<string, Shape>, name: string): Shape {
  let shape = map.get(name);
  if (shape === undefined) map.set(name, shape = new Shape());
  return shape;
}

/** Drives a kind with its samples until they lead to no new situation. */
function explore(kind: ActorKind, samples: readonly Sample[]): Found {
  const found = new Found();
  const entity = { kind: kind.kind, id: "id" };
  const start: EntityState = { snapshot: undefined, version: 0, inputSeq: 0 };
  const initial = kind.machine.getInitialSnapshot({} as never, entity) as EntityState["snapshot"];
  const seen = new Set<string>();
  for (let edge: EntityState[] = [start]; edge.length > 0;) {
    const next: EntityState[] = [];
    for (const held of edge) {
      const before = held.snapshot ?? initial!;
      for (const [from, make] of samples) {
        const event = make(before.context);
        const name = `${stateName(before.value)} ${event.type}`;
        const full = { ...event, turn: { at: AT } };
        for (const one of kind.machine.getTransitionData(before, full) ?? []) found.taken.add(one);
        if (from === "intent") {
          // only asked for, never applied
          if (before.can(full)) note(found, name, "(possible)");
          continue;
        }
        const parsed = kind[`${from}s`].parse(event);
        const item = {
          event: parsed,
          from,
          ...(from === "command" ? { id: "c" } : from === "input" ? { seq: held.inputSeq + 1 } : { n: 1 }),
        } as TurnItem;
        const folded = fold(kind, entity, held, [item], AT);
        expect(folded.failed).toEqual([]);
        const { text, transitions, bodies, results, answers, effects, reminders, ownRows } = folded;
        for (const result of [...results.values(), ...answers.values()]) {
          if (result?.ok) found.replies.add(result.value);
          else if (result) shapeOf(found.errors, result.error.code).add(result.error.details ?? null);
        }
        if (text === undefined) continue;
        const persisted = JSON.parse(text);
        const after = hydrate(kind, persisted, kind.version);
        const state = stateName(after.value);
        note(found, name, state);
        shapeOf(found.snapshots, state).add(persisted);
        for (const body of bodies) shapeOf(found.history, event.type).add(JSON.parse(body));
        for (const transition of transitions) {
          found.event.add(cloudEvent(transition));
          expect(eventSubject(transition).split(".").slice(0, 4)).toEqual(["arbor", "event", kind.kind, "id"]);
        }
        for (const effect of effects) shapeOf(found.effects, effect.name).add(effect.input);
        for (const [reminder, set] of reminders) if (set) shapeOf(found.reminders, reminder).add(set.event);
        for (const { table, values, remove } of ownRows) {
          shapeOf(remove ? found.removed : found.rows, table).add(JSON.parse(JSON.stringify(values)));
        }
        const key = situation(text);
        if (seen.has(key)) continue;
        seen.add(key);
        next.push({ ...folded.next, snapshot: after });
      }
    }
    expect(seen.size).toBeLessThan(5_000);
    edge = next;
  }
  return found;
}

function note({ transitions }: Found, name: string, to: string): void {
  const known = transitions.get(name);
  if (known) known.add(to);
  else transitions.set(name, new Set([to]));
}

it("every kind of actor is among those that are driven here", () => {
  const known = actorKinds(notCalled("kinds")).map(({ kind }) => kind);
  expect(kinds.map(([{ kind }]) => kind).sort()).toEqual(known.sort());
});

describe.each(kinds.map(([kind, samples]) => [kind.kind, kind, samples] as const))("a %s", (name, kind, samples) => {
  const found = explore(kind, samples);

  it("is driven through every transition of its machine", () => {
    const { nodes, edges } = graphOf(kind.machine);
    const states = nodes.map(({ id }) => id);
    const all = [kind.machine.root, ...Object.values(kind.machine.root.states)].flatMap((node) =>
      [...node.transitions].flatMap(([type, branches]) =>
        branches.map((one, i) => [node.path.join(".") || "*", type, i, found.taken.has(one)] as const)
      )
    );
    expect(all.length).toBe(edges.length);
    expect(all.filter(([, , , taken]) => !taken)).toEqual([]);
    for (const { from, event } of edges) {
      const taken = (from === "*" ? states : [from]).some((state) => found.transitions.has(`${state} ${event}`));
      expect([from, event, taken]).toEqual([from, event, true]);
    }
    const initial = stateName(
      (kind.machine.getInitialSnapshot({} as never, { kind: name, id: "" }) as never as {
        value: unknown;
      }).value,
    );
    expect([...new Set([initial, ...found.snapshots.keys()])].sort()).toEqual(states.sort());
  });

  it("can be sent every event of its machine, and no intent", () => {
    const sent = [kind.commands, kind.inputs, kind.outcomes].flatMap(typesOf);
    expect([...new Set(sent)].sort()).toEqual(eventsOf(kind.machine));
    const intents = graphOf(kind.machine).edges.flatMap(({ intent, event }) => intent ? [event] : []);
    expect(intents.filter((type) => sent.includes(type))).toEqual([]);
  });

  it("is stored and sent in its frozen forms", async () => {
    await expectFrozenJson(`kinds/${name}.json`, {
      kind: name,
      version: kind.version,
      transitions: Object.fromEntries(
        [...found.transitions].sort(([a], [b]) => a < b ? -1 : 1).map((
          [from, to],
        ) => [from, [...to].sort().join(" | ")]),
      ),
      snapshots: sorted(found.snapshots),
      history: sorted(found.history),
      event: found.event,
      effects: sorted(found.effects),
      reminders: sorted(found.reminders),
      tables: kind.tables ?? {},
      rows: sorted(found.rows),
      removed: sorted(found.removed),
      replies: found.replies,
      errors: sorted(found.errors),
      commands: schemaOf(kind.commands),
      inputs: schemaOf(kind.inputs),
      outcomes: schemaOf(kind.outcomes),
      builds: Object.fromEntries(
        Object.entries(kind.builds ?? {}).map(([build, { input }]) => [build, schemaOf(input)]),
      ),
    });
  });
});
