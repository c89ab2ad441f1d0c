/** Events that fail become dead letters, and are replayed in the way in which they arrived. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { assign, setup } from "xstate";
import { z } from "zod";
import * as api from "#src/operators/api/operator.ts";
import { createLog } from "#src/base/log.ts";
import { turnActions } from "#src/base/turn.ts";
import { type Ask, createAsk } from "#src/runtime/bus/ask.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import { appendInputs, notifyInputs } from "#src/runtime/inputLog.ts";
import type { ActorKind, WorkerStage } from "#src/runtime/types.ts";
import { startWorker, type Worker } from "#src/runtime/worker.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";
import { type OperatorClient, startOperator } from "../../support/runtime/operatorService.ts";
import { readActor } from "../../support/runtime/readActor.ts";
import { until } from "../../support/base/until.ts";

const note = z.object({ type: z.literal("NOTE"), text: z.string() });
const command = z.discriminatedUnion("type", [
  note,
  z.object({ type: z.literal("CLOSE") }),
  z.object({ type: z.literal("OPEN") }),
  z.object({ type: z.literal("CALL") }),
  z.object({ type: z.literal("REMEMBER"), at: z.number(), text: z.string() }),
]);
const told = z.object({ type: z.literal("TOLD"), n: z.number() });
const called = z.object({ type: z.literal("CALLED"), n: z.number() });

/** The events of these types throw in the machine. */
const broken = new Set<string>();
let calls = 0;

type Events =
  & (z.infer<typeof command> | z.infer<typeof told> | z.infer<typeof called> | { type: "WOKEN"; text: string })
  & { turn: { command?: string } };
interface Context {
  notes: string[];
  asked: string;
}
const done = { type: "reply" as const, params: ({ context }: { context: Context }) => ({ ok: context.notes.length }) };
const fragile = setup({
  types: { context: {} as Context, events: {} as Events },
  actions: {
    ...turnActions,
    keep: assign(({ context, event }) => {
      if (broken.has(event.type)) throw new Error(`${event.type} is broken`);
      const text = "text" in event ? event.text : "n" in event ? `${event.type} ${event.n}` : event.type;
      return { notes: [...context.notes, text] };
    }),
  },
}).createMachine({
  context: { notes: [], asked: "" },
  initial: "open",
  on: { TOLD: { actions: "keep" }, WOKEN: { actions: "keep" } },
  states: {
    open: {
      on: {
        NOTE: { actions: ["keep", done] },
        CLOSE: { target: "closed", actions: ["keep", done] },
        CALL: {
          actions: [assign({ asked: ({ event }) => event.turn.command ?? "" }), {
            type: "effect",
            params: { name: "call", input: null },
          }],
        },
        CALLED: {
          actions: ["keep", { type: "reply", params: ({ context }) => ({ to: context.asked, ok: "called" }) }],
        },
        REMEMBER: {
          actions: [{
            type: "remind",
            params: ({ event }) => ({ name: "wake", at: event.at, event: { type: "WOKEN", text: event.text } }),
          }, done],
        },
      },
    },
    closed: { on: { OPEN: { target: "open", actions: ["keep", done] } } },
  },
});
const kind: ActorKind = {
  kind: "fragile",
  version: 1,
  machine: fragile,
  commands: command,
  inputs: told,
  outcomes: called,
  effects: { call: async () => ({ type: "CALLED", n: ++calls }) },
};

let infra: Infra;
let store: Store;
let bus: Bus;
let ask: Ask;
let operator: OperatorClient;
let worker: Worker | undefined;
let onStep: ((step: WorkerStage) => void | Promise<void>) | undefined;
const lines: Record<string, unknown>[] = [];
const log = createLog("error", {}, (line) => void lines.push(JSON.parse(line)));
const entity = (id: string) => ({ kind: "fragile", id });
const notes = async (id: string) => (await readActor(store, entity(id)))?.context.notes;
const say = (id: string, text: string, commandId?: string) =>
  ask.ask(entity(id), { type: "NOTE", text }, commandId === undefined ? {} : { commandId });
const tell = async (id: string, ...ns: number[]) => {
  await store.sql.begin((sql) =>
    appendInputs(sql, ns.map((n) => ({ entity: entity(id), event: { type: "TOLD", n } })))
  );
  notifyInputs(bus, [entity(id)]);
};
const letters = async (id: string) =>
  (await operator.read(`/dead-letters?kind=fragile&id=${id}`, api.deadLetters)).deadLetters;
const letter = async (id: string) => {
  await until("there is a letter", async () => (await letters(id)).length > 0);
  return (await letters(id))[0]!;
};
const retry = (n: number) => operator.post(`/dead-letters/${n}/retry`);

async function start(): Promise<void> {
  worker = await startWorker({
    id: `w${Math.random().toString(36).slice(2)}`,
    store,
    bus,
    kinds: [kind],
    log,
    partitions: 4,
    leaseMs: 600,
    sweepMs: 50,
    onStep: (step) => onStep?.(step),
  });
  await until("it serves", async () => worker!.state().owned.length === 4);
}

beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl, { max: 8 });
  await migrate(store, migrationsOf("runtime", "chain/index"));
  bus = await connectBus({ url: infra.natsUrl, ...(infra.natsToken === undefined ? {} : { token: infra.natsToken }) });
  ask = createAsk({ bus, store });
  operator = await startOperator({ store, bus, ask }, [kind]);
  await start();
});
beforeEach(() => {
  broken.clear();
  lines.length = 0;
});
afterEach(() => {
  onStep = undefined;
});
afterAll(async () => {
  await operator?.stop();
  await worker?.stop();
  ask?.close();
  await bus?.close();
  await store?.close();
  await infra?.stop();
});

describe("a command that fails", () => {
  test("is set aside, reported once without its values, and blocks no other command", async () => {
    await say("c", "first");
    broken.add("NOTE");
    const answers = await Promise.all([say("c", "secret-42", "c-1"), ask.ask(entity("c"), { type: "CLOSE" })]);
    expect(answers).toMatchObject([{ ok: false, error: { code: "failed" } }, { ok: true }]);
    expect(await say("c", "secret-42", "c-1")).toEqual(answers[0]);
    expect(await letters("c")).toEqual([{
      n: expect.any(Number),
      kind: "fragile",
      id: "c",
      source: "command",
      cause: "c-1",
      event: { type: "NOTE", text: "secret-42" },
      error: "NOTE is broken",
      at: expect.stringMatching(/^\d{4}-.*Z$/),
    }]);
    expect(lines).toEqual([
      expect.objectContaining({ level: "error", entity: "fragile/c", cause: "c-1", event: "NOTE" }),
    ]);
    expect(JSON.stringify(lines)).not.toContain("secret-42");
  });

  test("is applied once for any number of concurrent requests, and its letter is removed", async () => {
    broken.add("NOTE");
    await say("d", "again");
    const { n } = await letter("d");
    broken.clear();
    const said = await Promise.all(Array.from({ length: 5 }, () => retry(n)));
    expect(said.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    for (const { status, body } of said) {
      if (status === 200) expect(body).toEqual({ retried: true, result: { ok: true, value: 1 } });
      else expect({ status, body }).toMatchObject({ status: 404, body: { code: "letter_unknown" } });
    }
    expect(await notes("d")).toEqual(["again"]);
    expect(await letters("d")).toEqual([]);
    const { transitions } = await operator.read("/actors/fragile/d/history", api.history);
    expect(transitions).toMatchObject([{ event: "NOTE", cause: `dead-letter:${n}:0` }]);
  });

  test("that fails again leaves one new letter instead of the old one", async () => {
    broken.add("NOTE");
    await say("e", "still");
    const { n } = await letter("e");
    expect(await retry(n)).toMatchObject({ status: 422, body: { code: "failed" } });
    const again = await letters("e");
    expect(again).toMatchObject([{ source: "command", cause: `dead-letter:${n}:0`, event: { text: "still" } }]);
    expect(again[0]!.n).toBeGreaterThan(n);
    broken.clear();
    expect(await retry(again[0]!.n)).toMatchObject({ status: 200 });
    expect(await notes("e")).toEqual(["still"]);
  });

  test("that is not possible now stays until it is", async () => {
    broken.add("NOTE");
    await say("f", "later");
    broken.clear();
    await ask.ask(entity("f"), { type: "CLOSE" });
    const { n } = await letter("f");
    expect(await retry(n)).toMatchObject({ status: 409, body: { code: "not_possible", details: { state: "closed" } } });
    expect(await retry(n)).toMatchObject({ status: 409, body: { code: "not_possible" } });
    await ask.ask(entity("f"), { type: "OPEN" });
    expect(await retry(n)).toMatchObject({ status: 200 });
    expect(await notes("f")).toEqual(["CLOSE", "OPEN", "later"]);
  });

  test("stays while the entity is paused, or no worker answers, and is then applied once", async () => {
    await say("g", "row");
    broken.add("NOTE");
    await say("g", "wait");
    broken.clear();
    const { n } = await letter("g");
    await operator.post("/actors/fragile/g/pause");
    expect(await retry(n)).toMatchObject({ status: 409, body: { code: "paused" } });
    await operator.post("/actors/fragile/g/resume");
    await worker!.stop();
    const late = await retry(n);
    expect(late).toMatchObject({ status: 503, body: { code: "unavailable" } });
    expect(late.headers["retry-after"]).toBe("1");
    await start();
    expect(await retry(n)).toMatchObject({ status: 200 });
    expect(await notes("g")).toEqual(["row", "wait"]);
  });

  test("is dropped on request", async () => {
    broken.add("NOTE");
    await say("h", "unwanted");
    const { n } = await letter("h");
    expect(await operator.call("DELETE", `/dead-letters/${n}`)).toMatchObject({ status: 200, body: { dropped: true } });
    expect(await operator.call("DELETE", `/dead-letters/${n}`)).toMatchObject({ status: 404 });
    expect(await retry(n)).toMatchObject({ status: 404, body: { code: "letter_unknown" } });
  });
});

describe("an event of the input log that failed", () => {
  test("is applied in its place if no later one was read", async () => {
    await say("i", "begun");
    broken.add("TOLD");
    await tell("i", 1);
    const { n, source, cause } = await letter("i");
    expect({ source, cause }).toMatchObject({ source: "input", cause: expect.stringMatching(/^input:\d+$/) });
    broken.clear();
    expect(await retry(n)).toMatchObject({ status: 200, body: { retried: true } });
    await until("it is applied", async () => (await notes("i") as string[]).length === 2);
    await tell("i", 2);
    await until("the next one is too", async () => (await notes("i") as string[]).length === 3);
    expect(await notes("i")).toEqual(["begun", "TOLD 1", "TOLD 2"]);
    expect(await letters("i")).toEqual([]);
    expect(await retry(n)).toMatchObject({ status: 404 });
  });

  test("comes before waiting events, even if their turn is about to be written", async () => {
    await say("j", "begun");
    broken.add("TOLD");
    await tell("j", 1);
    const { n } = await letter("j");
    broken.clear();
    let open = () => {};
    const gate = new Promise<void>((resolve) => open = resolve);
    let reached = false;
    onStep = ({ at, causes }) => {
      if (reached || at !== "before-commit" || !causes.some((cause) => cause.startsWith("input:"))) return;
      reached = true;
      return gate;
    };
    await tell("j", 2);
    await until("the next one is about to be written", async () => reached);
    expect(await retry(n)).toMatchObject({ status: 200 });
    open();
    await until("both are applied", async () => (await notes("j") as string[]).length === 3);
    expect(await notes("j")).toEqual(["begun", "TOLD 1", "TOLD 2"]);
  });

  test("is refused after later events, and if its row is deleted", async () => {
    await say("k", "begun");
    broken.add("TOLD");
    await tell("k", 1);
    const first = await letter("k");
    broken.clear();
    await tell("k", 2);
    await until("the next one is applied", async () => (await notes("k") as string[]).length === 2);
    expect(await retry(first.n)).toMatchObject({ status: 409, body: { code: "out_of_order" } });
    expect(await letters("k")).toHaveLength(1);
    await say("l", "begun");
    broken.add("TOLD");
    await tell("l", 1);
    const { n } = await letter("l");
    await store.sql`delete from input_log where kind = 'fragile' and id = 'l'`;
    expect(await retry(n)).toMatchObject({ status: 409, body: { code: "lapsed" } });
    expect(await letters("l")).toHaveLength(1);
  });

  test("may be the first event of an entity", async () => {
    broken.add("TOLD");
    await tell("m", 1);
    const { n } = await letter("m");
    expect(await readActor(store, entity("m"))).toBeUndefined();
    broken.clear();
    expect(await retry(n)).toMatchObject({ status: 200 });
    await until("it is applied", async () => await notes("m") !== undefined);
    expect(await notes("m")).toEqual(["TOLD 1"]);
  });

  test("that fails again leaves a new letter", async () => {
    await say("n", "begun");
    broken.add("TOLD");
    await tell("n", 1);
    const { n } = await letter("n");
    expect(await retry(n)).toMatchObject({ status: 200 });
    await until("it failed again", async () => (await letters("n")).some((one) => one.n > n));
    expect(await letters("n")).toHaveLength(1);
    expect(await notes("n")).toEqual(["begun"]);
  });
});

describe("a reminder that fails", () => {
  test("is due again, unless a later one of its name is set", async () => {
    broken.add("WOKEN");
    await ask.ask(entity("r"), { type: "REMEMBER", at: Date.now(), text: "one" });
    const { n, source, cause } = await letter("r");
    expect({ source, cause }).toEqual({ source: "reminder", cause: "reminder:wake" });
    broken.clear();
    await ask.ask(entity("r"), { type: "REMEMBER", at: Date.now() + 3_600_000, text: "two" });
    expect(await retry(n)).toMatchObject({ status: 409, body: { code: "superseded" } });
    expect(await operator.post("/actors/fragile/r/reminders/wake/fire")).toMatchObject({ body: { fired: true } });
    expect(await retry(n)).toMatchObject({ status: 200, body: { retried: true } });
    await until("it is applied", async () => (await notes("r") as string[]).length === 2);
    expect(await notes("r")).toEqual(["two", "one"]);
    expect(await letters("r")).toEqual([]);
  });
});

describe("the outcome of an effect that fails", () => {
  test("results from running the effect again, and the caller gets the answer", async () => {
    broken.add("CALLED");
    const before = calls;
    const asked = ask.ask(entity("o"), { type: "CALL" }, { commandId: "o-call", deadlineMs: 20_000 });
    const { n, source, event } = await letter("o");
    expect({ source, event }).toEqual({ source: "outcome", event: { type: "CALLED", n: before + 1 } });
    broken.clear();
    expect(await retry(n)).toMatchObject({ status: 200, body: { retried: true } });
    expect(await asked).toEqual({ ok: true, value: "called" });
    expect(await notes("o")).toEqual([`CALLED ${before + 2}`]);
    expect(await letters("o")).toEqual([]);
  });

  test("is refused if the effect's row is deleted", async () => {
    broken.add("CALLED");
    void ask.ask(entity("q"), { type: "CALL" }, { deadlineMs: 1_000 });
    const { n } = await letter("q");
    await store.sql`delete from effect where kind = 'fragile' and id = 'q'`;
    expect(await retry(n)).toMatchObject({ status: 409, body: { code: "lapsed" } });
  });
});

test("letters come page by page, newest first", async () => {
  broken.add("NOTE");
  for (let i = 0; i < 7; i++) await say("p", `p${i}`);
  const found: number[] = [];
  for (let after: string | null = ""; after !== null;) {
    const page: { deadLetters: { n: number }[]; next: string | null } = await operator.read(
      `/dead-letters?kind=fragile&id=p&limit=3${after === "" ? "" : `&after=${after}`}`,
      api.deadLetters,
    );
    found.push(...page.deadLetters.map(({ n }) => n));
    after = page.next;
  }
  expect(found).toHaveLength(7);
  expect(found).toEqual([...found].sort((a, b) => b - a));
  await until("they are counted", async () => {
    const { deadLetters } = await operator.read("/overview", api.overview);
    return deadLetters === (await operator.read("/dead-letters?limit=500", api.deadLetters)).deadLetters.length;
  });
});
