/** The shared wallet's machine, driven through the runtime's fold by random histories, compared with a plain model. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sharedWalletCommands, sharedWalletMachine } from "#machines/sharedWallet.ts";
import { walletInputs, walletOutcomes } from "#machines/wallet.ts";
import { parseJson } from "#src/base/json.ts";
import { type EffectEnd, type EntityState, fold, type TurnItem } from "#src/runtime/turns/fold.ts";
import { hydrate, SNAPSHOT_BYTES, stateName } from "#src/runtime/turns/machine.ts";
import type { ActorKind, Event } from "#src/runtime/types.ts";
import { validateTemplates } from "#src/wallets/shared/validate.ts";

const kind: ActorKind = {
  kind: "shared-wallet",
  version: 1,
  machine: sharedWalletMachine,
  commands: sharedWalletCommands,
  inputs: walletInputs,
  outcomes: walletOutcomes,
  tables: {
    wallet: { table: "wallet", key: ["id"] },
    shared: { table: "shared_wallet", key: ["id"] },
    adoption: { table: "vault_adoption", key: ["wallet"] },
  },
  effects: { begin: () => Promise.resolve(undefined), end: () => Promise.resolve(undefined) },
};
const entity = { kind: "shared-wallet", id: "ab".repeat(20) };

const key = (n: number) => n.toString(16).padStart(128, "0");
/** The wallet's own key. */
const OWN = key(0);
const NAMES = ["cosigner#0", "cosigner#1", "cosigner#2"];

type Keys = Record<string, string>;
interface Given {
  readonly names: readonly string[];
  readonly keys: Keys;
}
const textOf = ({ names }: Given) => JSON.stringify({ all: names });

type Step =
  | {
    readonly is: "create";
    readonly payment: Given;
    readonly delegation: Given | null;
    readonly attempt: string | null;
  }
  | { readonly is: "add"; readonly credential: "payment" | "delegation"; readonly keys: Keys }
  | { readonly is: "rename"; readonly name: string }
  | { readonly is: "delete" }
  | { readonly is: "outcome"; readonly pick: number }
  | { readonly is: "late"; readonly type: "BEGUN" | "ENDED"; readonly life: number }
  | { readonly is: "chain"; readonly type: "RESTORED" | "ROLLED_BACK" };

/** The life cycle of a shared wallet according to its description, without a statechart. */
class Model {
  state = "absent";
  life = 0;
  payment: Given | null = null;
  delegation: Given | null = null;
  name = "";
  attempt: string | null = null;
  /** The command whose answer is open. */
  open: string | undefined;
  readonly replies = new Map<string, string>();
  /** Effects that have not ended, in order. */
  effects: { name: "begin" | "end"; life: number }[] = [];

  get complete(): boolean {
    return [this.payment, this.delegation].every((one) => one === null || one.names.every((name) => name in one.keys));
  }

  begin(id: string): void {
    this.state = "beginning";
    this.open = id;
    this.effects.push({ name: "begin", life: this.life });
  }

  create(id: string, step: Extract<Step, { is: "create" }>): void {
    if (this.state !== "absent" && this.state !== "deleted") return void this.replies.set(id, "not_possible");
    this.life++;
    Object.assign(this, { payment: step.payment, delegation: step.delegation, name: "w", attempt: step.attempt });
    if (this.complete) return this.begin(id);
    this.state = "incomplete";
    this.replies.set(id, "ok");
  }

  add(id: string, credential: "payment" | "delegation", keys: Keys): void {
    if (["beginning", "restoring", "live"].includes(this.state)) {
      return void this.replies.set(id, "shared_wallet_active");
    }
    if (this.state !== "incomplete") return void this.replies.set(id, "not_possible");
    const template = this[credential];
    if (!template) return void this.replies.set(id, "shared_wallet_no_delegation_template");
    const next = { ...template.keys };
    for (const [name, added] of Object.entries(keys)) {
      const code = next[name] === OWN
        ? "cannot_update_key"
        : !template.names.includes(name)
        ? "no_such_cosigner"
        : Object.values(next).includes(added)
        ? "key_already_exists"
        : undefined;
      if (code) return void this.replies.set(id, `shared_wallet_${code}`);
      next[name] = added;
    }
    this[credential] = { ...template, keys: next };
    if (this.complete) this.begin(id);
    else this.replies.set(id, "ok");
  }

  rename(id: string, name: string): void {
    if (!["incomplete", "beginning", "restoring", "live"].includes(this.state)) {
      return void this.replies.set(id, "not_possible");
    }
    this.name = name;
    this.replies.set(id, "ok");
  }

  delete(id: string): void {
    if (!["incomplete", "beginning", "restoring", "live"].includes(this.state)) {
      return void this.replies.set(id, "not_possible");
    }
    if (this.open !== undefined) this.replies.set(this.open, "no_such_wallet");
    this.state = "deleting";
    this.open = id;
    this.effects.push({ name: "end", life: this.life });
  }

  outcome(type: "BEGUN" | "ENDED", life: number): void {
    const to = { BEGUN: ["beginning", "restoring"], ENDED: ["deleting", "deleted"] }[type] as [string, string];
    if (this.state !== to[0] || life !== this.life) return;
    this.state = to[1];
    this.answer();
  }

  chain(type: "RESTORED" | "ROLLED_BACK"): void {
    if (type !== "RESTORED" || !["beginning", "restoring"].includes(this.state)) return;
    this.state = "live";
    this.answer();
  }

  private answer(): void {
    if (this.open !== undefined) this.replies.set(this.open, "ok");
    this.open = undefined;
  }
}

/** What the runtime stores for the entity in addition to its snapshot. */
class World {
  held: EntityState = { snapshot: undefined, version: 0, inputSeq: 0 };
  seq = 0;
  readonly effects = new Map<number, { name: string; life: number }>();
  readonly rows = new Map<string, { readonly [column: string]: unknown }>();
  readonly replies = new Map<string, string>();

  turn(items: readonly (TurnItem | EffectEnd)[]): void {
    const folded = fold(kind, entity, this.held, items, 1_000);
    expect(folded.failed).toEqual([]);
    for (const n of folded.ended) expect(this.effects.delete(n)).toBe(true);
    for (const { n, name, input } of folded.effects) {
      this.effects.set(n, { name, life: (input as { life: number }).life });
    }
    for (const { table, values, remove } of folded.ownRows) {
      if (remove) this.rows.delete(table);
      else this.rows.set(table, values);
    }
    for (const [id, result] of [...folded.results, ...folded.answers]) {
      if (result === undefined) continue;
      expect(this.replies.has(id)).toBe(false);
      this.replies.set(id, result.ok ? "ok" : result.error.code);
    }
    if (folded.text === undefined) {
      this.held = { ...folded.next };
      return;
    }
    this.held = { ...folded.next, snapshot: hydrate(kind, JSON.parse(folded.text), kind.version) };
  }
}

const someKeys = fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES, "cosigner#7"), fc.nat(4).map(key)), {
  maxLength: 3,
  selector: ([name]) => name,
}).map((pairs) => Object.fromEntries(pairs));
const given: fc.Arbitrary<Given> = fc.tuple(
  fc.uniqueArray(fc.constantFrom(...NAMES.slice(1)), { maxLength: 2 }),
  fc.boolean(),
).map(([others, known]) => ({
  names: ["cosigner#0", ...others],
  keys: { "cosigner#0": OWN, ...(known && others.length === 2 ? { [others[0]!]: key(9) } : {}) },
}));
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      is: fc.constant("create" as const),
      payment: given,
      delegation: fc.option(given),
      attempt: fc.option(fc.constantFrom("a1", "a2")),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      is: fc.constant("add" as const),
      credential: fc.constantFrom("payment" as const, "delegation" as const),
      keys: someKeys,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ is: fc.constant("rename" as const), name: fc.string({ minLength: 1, maxLength: 9 }) }),
  },
  { weight: 2, arbitrary: fc.constant({ is: "delete" as const }) },
  { weight: 4, arbitrary: fc.record({ is: fc.constant("outcome" as const), pick: fc.nat(3) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      is: fc.constant("late" as const),
      type: fc.constantFrom("BEGUN" as const, "ENDED" as const),
      life: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      is: fc.constant("chain" as const),
      type: fc.constantFrom("RESTORED" as const, "ROLLED_BACK" as const),
    }),
  },
);

const common = {
  name: "w",
  gap: 20,
  key: OWN,
  passphrase: null,
  birth: { slot: -1, hash: "" },
  oneChange: false,
  selection: "per-output",
  account: 0,
};
const template = (one: Given) => ({ script: textOf(one), names: one.names, keys: one.keys });

function play(world: World, model: Model, one: Step, id: string): void {
  const command = (event: Event): TurnItem => {
    expect(sharedWalletCommands.safeParse(event).error).toBeUndefined();
    return { from: "command", id, event };
  };
  if (one.is === "create") {
    const delegation = one.delegation && template(one.delegation);
    const parts = { payment: template(one.payment), delegation, attempt: one.attempt };
    world.turn([command({ type: "CREATE", ...common, ...parts })]);
    model.create(id, one);
  } else if (one.is === "add") {
    world.turn([command({ type: "ADD_KEYS", credential: one.credential, keys: one.keys })]);
    model.add(id, one.credential, one.keys);
  } else if (one.is === "rename") {
    world.turn([command({ type: "RENAME", name: one.name })]);
    model.rename(id, one.name);
  } else if (one.is === "delete") {
    world.turn([command({ type: "DELETE" })]);
    model.delete(id);
  } else if (one.is === "chain") {
    world.turn([{ from: "input", seq: ++world.seq, event: { type: one.type, slot: 5 } }]);
    model.chain(one.type);
  } else {
    const open = [...world.effects];
    const [n, effect] = open[(one.is === "outcome" ? one.pick : 0) % Math.max(1, open.length)] ?? [];
    if (n === undefined || !effect) return;
    const answer = one.is === "late"
      ? { type: one.type, life: one.life }
      : { type: effect.name === "begin" ? "BEGUN" as const : "ENDED" as const, life: effect.life };
    world.turn([{ from: "outcome", n, event: answer }]);
    model.effects.splice(model.effects.findIndex((open) => open.name === effect.name && open.life === effect.life), 1);
    model.outcome(answer.type, answer.life);
  }
}

function compare(world: World, model: Model): void {
  if (!world.held.snapshot) return expect(model.state).toBe("absent");
  expect(stateName(world.held.snapshot.value)).toBe(model.state);
  expect(Object.fromEntries(world.replies)).toEqual(Object.fromEntries(model.replies));
  expect([...world.effects.values()]).toEqual(model.effects);
  const there = !["absent", "deleting", "deleted"].includes(model.state);
  expect([...world.rows.keys()].sort()).toEqual(
    there ? ["shared_wallet", ...(model.attempt === null ? [] : ["vault_adoption"]), "wallet"] : [],
  );
  if (!there) return;
  expect(world.rows.get("wallet")).toMatchObject({ id: entity.id, life: model.life, kind: "shared", name: model.name });
  const shared = world.rows.get("shared_wallet")!;
  expect(shared.complete).toBe(model.state !== "incomplete");
  for (const name of ["payment", "delegation"] as const) {
    const expected = model[name] && { script: { all: model[name].names }, keys: model[name].keys };
    expect(shared[name] === null ? null : parseJson(shared[name] as string)).toEqual(expected);
  }
}

describe("a shared wallet", () => {
  it("follows the model through random histories", () => {
    const states = new Set<string>();
    const replies = new Set<string>();
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (life) => {
        const world = new World();
        const model = new Model();
        life.forEach((one, i) => {
          play(world, model, one, `c${i}`);
          compare(world, model);
          states.add(model.state);
        });
        for (const reply of model.replies.values()) replies.add(reply);
      }),
      { numRuns: 700 },
    );
    expect([...states].sort()).toEqual([
      "absent",
      "beginning",
      "deleted",
      "deleting",
      "incomplete",
      "live",
      "restoring",
    ]);
    expect([...replies].sort()).toEqual([
      "no_such_wallet",
      "not_possible",
      "ok",
      "shared_wallet_active",
      "shared_wallet_cannot_update_key",
      "shared_wallet_key_already_exists",
      "shared_wallet_no_delegation_template",
      "shared_wallet_no_such_cosigner",
    ]);
  });

  it("names the cosigner that a template lacks", () => {
    const world = new World();
    const payment = template({ names: NAMES, keys: { "cosigner#0": OWN } });
    const create = { type: "CREATE", ...common, payment, delegation: null, attempt: null };
    world.turn([{ from: "command", id: "c", event: create }]);
    const add = { type: "ADD_KEYS", credential: "payment", keys: { "cosigner#7": key(1) } };
    const { results } = fold(kind, entity, world.held, [{ from: "command", id: "d", event: add }], 0);
    expect(results.get("d")).toMatchObject({
      ok: false,
      error: { details: { cosigner_index: 7, credential_type: "payment" } },
    });
  });

  it("has capacity for the largest accepted templates", () => {
    const fits = (count: number) => {
      const names = Array.from({ length: count }, (_, n) => `cosigner#${n + 100}`);
      const script = { all: names };
      const template = { script, keys: { "cosigner#100": OWN } };
      return validateTemplates({ payment: template }, OWN, "required").ok ? names : undefined;
    };
    let count = 10;
    while (fits(count + 1)) count++;
    const names = fits(count)!;
    const keys = Object.fromEntries(names.slice(1).map((name, i) => [name, key(i + 1)]));
    const payment = { script: JSON.stringify({ all: names }), names, keys: { ...keys, "cosigner#100": OWN } };
    const event = {
      type: "CREATE",
      ...common,
      name: "\u0001".repeat(255),
      payment,
      delegation: null,
      attempt: "a".repeat(100),
    };
    const { text, failed } = fold(kind, entity, new World().held, [{ from: "command", id: "c", event }], 0);
    expect(failed).toEqual([]);
    expect(new TextEncoder().encode(text).length).toBeLessThanOrEqual(SNAPSHOT_BYTES);
    expect(count).toBeGreaterThan(60);
  });
});
