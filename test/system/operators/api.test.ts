/** The operator's endpoints over HTTP, in front of two worker processes. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import * as api from "#src/operators/api/operator.ts";
import { indexLookups } from "#src/operators/http/lookups.ts";
import { partitionOf } from "#src/runtime/placement/partitions.ts";
import { migrate } from "#src/store/migrations.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";
import { accountKind, wire } from "../../support/runtime/account.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { type OperatorClient, startOperator } from "../../support/runtime/operatorService.ts";
import { type Cluster, startCluster, type WorkerProcess } from "../../support/runtime/cluster.ts";
import { until } from "../../support/base/until.ts";

let cluster: Cluster;
let operator: OperatorClient;
let guarded: OperatorClient;
let workers: WorkerProcess[];
const TOKEN = "0123456789abcdef";

beforeAll(async () => {
  cluster = await startCluster(await sharedInfra());
  await migrate(cluster.store, migrationsOf("chain/index"));
  workers = await Promise.all([cluster.start("one"), cluster.start("two")]);
  await cluster.settled(workers);
  const schemas = { ADD: z.object({ amount: z.number() }), NOTE: z.object({ text: z.string() }) };
  const kinds = [{ ...accountKind(wire(cluster.store)), content: { schemas } }];
  operator = await startOperator(cluster, kinds);
  guarded = await startOperator(cluster, kinds, { loopback: false, token: TOKEN });
});
afterAll(async () => {
  await operator?.stop();
  await guarded?.stop();
  await cluster?.stop();
});

const ask = (id: string, event: { type: string; [member: string]: unknown }, commandId?: string) =>
  cluster.ask.ask({ kind: "account", id }, event, commandId === undefined ? {} : { commandId });

describe("lists", () => {
  const MANY = 20_000;
  const bulk = (i: number) => `b${String(i).padStart(5, "0")}`;

  beforeAll(async () => {
    await cluster.store.sql`
      insert into actor (kind, id, partition, version, input_seq, snapshot, state, machine_version, paused)
      select 'bulk', 'b' || lpad(i::text, 5, '0'), i % 16, 1, 0, '{"value":"x","context":{}}',
        (array['idle', 'busy', 'done'])[1 + i % 3], 1, i % 1000 = 7
      from generate_series(0, ${MANY - 1}) i`;
    await cluster.store.sql`
      insert into actor (kind, id, partition, version, input_seq, snapshot, state, machine_version)
      select 'aside', 'a' || i, 0, 1, 0, '{"value":"x","context":{}}', 'idle', 1 from generate_series(0, 9) i`;
  });
  afterAll(async () => {
    await cluster.store.sql`delete from actor where kind in ('bulk', 'aside')`;
  });

  /** Every actor of a query, page by page. */
  const all = async (query: string, limit: number) => {
    const found: string[] = [];
    let pages = 0;
    for (let after: string | null = ""; after !== null; pages++) {
      const path = `/actors?limit=${limit}&${query}${after === "" ? "" : `&after=${encodeURIComponent(after)}`}`;
      const page: { actors: { kind: string; id: string }[]; next: string | null } = await operator.read(
        path,
        api.actors,
      );
      found.push(...page.actors.map(({ kind, id }) => `${kind}/${id}`));
      after = page.next;
    }
    return { found, pages };
  };

  test("20,000 actors come page by page, each exactly once and in order, while their states change", async () => {
    let stop = false;
    const changes = (async () => {
      for (let i = 0; !stop; i = (i + 37) % MANY) {
        await cluster.store.sql`update actor set state = 'moved', changed = now() where kind = 'bulk' and id = ${
          bulk(i)
        }`;
      }
    })();
    const begun = performance.now();
    const { found, pages } = await all("kind=bulk", 500);
    console.log(`20,000 actors in ${pages} pages: ${Math.round(performance.now() - begun)} ms`);
    stop = true;
    await changes;
    expect(found).toEqual(Array.from({ length: MANY }, (_, i) => `bulk/${bulk(i)}`));
    await cluster.store.sql`
      update actor set state = (array['idle', 'busy', 'done'])[1 + substr(id, 2)::int % 3] where kind = 'bulk'`;
  });

  test("filters by state, pause and beginning of the id, over all kinds and within one", async () => {
    const ids = (pick: (i: number) => boolean) =>
      Array.from({ length: MANY }, (_, i) => i).filter(pick).map((i) => `bulk/${bulk(i)}`);
    expect((await all("kind=bulk&state=busy", 500)).found).toEqual(ids((i) => i % 3 === 1));
    expect((await all("kind=bulk&paused=true", 7)).found).toEqual(ids((i) => i % 1000 === 7));
    expect((await all("kind=bulk&paused=true&state=done", 3)).found)
      .toEqual(ids((i) => i % 1000 === 7 && i % 3 === 2));
    expect((await all("kind=bulk&q=b0012", 4)).found).toEqual(ids((i) => i >= 120 && i < 130));
    expect((await all("kind=bulk&q=b00%25", 4)).found).toEqual([]);
    expect((await all("paused=true", 7)).found).toEqual(ids((i) => i % 1000 === 7));
    const idle = await all("state=idle", 500);
    expect(idle.found).toEqual([...Array.from({ length: 10 }, (_, i) => `aside/a${i}`), ...ids((i) => i % 3 === 0)]);
    const nothing = { actors: [], next: null };
    for (const path of ["/actors?kind=account&state=paying&q=nobody", "/actors?kind=account&state=closed"]) {
      expect(await operator.read(path, api.actors), path).toEqual(nothing);
    }
  });

  test("sorts by the time of the last change, over all kinds, page by page, and filters by it and by failures", async () => {
    const { sql } = cluster.store;
    const changed = (i: number) => new Date(Date.UTC(2020, 0, 1) + i);
    const some = [3, 14, 15, 92, 65];
    for (const i of some) await sql`update actor set changed = ${changed(i)} where kind = 'bulk' and id = ${bulk(i)}`;
    await sql`update actor set changed = ${changed(15)} where kind = 'aside' and id = 'a0'`;
    const range = "changedSince=2020-01-01T00:00:00Z&changedBefore=2020-01-01T00:00:00.065Z";
    const oldest = ["bulk/b00003", "bulk/b00014", "aside/a0", "bulk/b00015"];
    for (const limit of [1, 2, 3, 50]) {
      expect((await all(`sort=changed&${range}`, limit)).found).toEqual(oldest);
      expect((await all(`sort=changed&order=desc&${range}`, limit)).found).toEqual([...oldest].reverse());
    }
    expect((await all(`kind=bulk&state=done&${range}`, 1)).found).toEqual(["bulk/b00014"]);
    await sql`insert into effect (kind, id, n, partition, name, input, attempts, next_attempt)
      select 'bulk', unnest(${
      sql.array([bulk(3), bulk(14)])
    }::text[]), 1, 0, 'x', '{}', unnest(array[1, 0]), now() + interval '1 hour'`;
    await sql`insert into dead_letter (kind, id, source, cause, event, error)
      values ('bulk', ${bulk(15)}, 'command', 'c', '{}', 'e')`;
    expect((await all("kind=bulk&failing=true", 1)).found).toEqual(["bulk/b00003", "bulk/b00015"]);
    expect((await all(`failing=false&sort=changed&${range}`, 2)).found).toEqual(["bulk/b00014", "aside/a0"]);
    await sql`delete from effect where kind = 'bulk'`;
    await sql`delete from dead_letter where kind = 'bulk'`;
  });

  test("counts kinds and their states, those without actors as well", async () => {
    await until("the counts are new", async () => {
      const { kinds } = await operator.read("/kinds", api.kinds);
      return kinds.some(({ kind, states }) => kind === "bulk" && states.length === 3);
    });
    const { kinds } = await operator.read("/kinds", api.kinds);
    expect(kinds.find(({ kind }) => kind === "bulk")).toEqual({
      kind: "bulk",
      machineVersion: null,
      actors: MANY,
      paused: MANY / 1000,
      states: [{ state: "busy", actors: 6_667 }, { state: "done", actors: 6_666 }, { state: "idle", actors: 6_667 }],
    });
    expect(kinds.find(({ kind }) => kind === "account")).toMatchObject({ machineVersion: 1 });
    const { partitions } = await operator.read("/partitions", api.partitions);
    expect(partitions).toHaveLength(16);
    expect(partitions.reduce((sum, { actors }) => sum + actors, 0)).toBeGreaterThanOrEqual(MANY);
  });
});

describe("one actor", () => {
  test("shows its state, its possible events, what waits for it, and its owner", async () => {
    const at = Date.now() + 3_600_000;
    await ask("whole", { type: "ADD", amount: 10 });
    await ask("whole", { type: "REMEMBER", at });
    const paying = ask("whole", { type: "PAY", amount: 4, slowly: true }, "whole-pay");
    await until("it pays", async () => {
      const { state, effects } = await operator.read("/actors/account/whole", api.actor);
      return state === "paying" && effects.length === 1;
    });
    const actor = await operator.read("/actors/account/whole", api.actor);
    const partition = partitionOf({ kind: "account", id: "whole" }, 16);
    const states = await Promise.all(workers.map((worker) => worker.state()));
    expect(actor).toMatchObject({
      entity: { kind: "account", id: "whole" },
      machineVersion: 1,
      state: "paying",
      context: { id: "whole", balance: 6, asked: "whole-pay" },
      version: 3,
      inputSeq: 0,
      paused: false,
      allowed: ["PAID", "SEEN", "WOKEN"],
      reminders: [{ name: "wake", at: new Date(at).toISOString(), event: "WOKEN" }],
      effects: [{ name: "wire", attempts: 0, error: null }],
      unreadInputs: 0,
      partition,
      owner: workers[states.findIndex(({ owned }) => owned.includes(partition))]!.id,
      mailbox: { depth: 0, resident: true, inTurn: false },
    });
    expect(actor.epoch).toBeGreaterThan(0);
    expect(Math.abs(Date.parse(actor.changed) - Date.now())).toBeLessThan(60_000);
    void paying;
  });

  test("returns its history with times and causes, newest first, page by page", async () => {
    for (let i = 0; i < 7; i++) await ask("told", { type: "ADD", amount: 1 }, `told-${i}`);
    const first = await operator.read("/actors/account/told/history?limit=3", api.history);
    expect(first.transitions.map(({ at: _, ...rest }) => rest)).toEqual([7, 6, 5].map((version) => ({
      version,
      from: "open",
      to: "open",
      event: "ADD",
      cause: `told-${version - 1}`,
      payload: { amount: 1 },
      causes: [{ type: "command", id: `told-${version - 1}` }],
      links: [],
    })));
    const seen = first.transitions.map(({ version }) => version);
    for (let before = first.next; before !== null;) {
      const page: { transitions: { version: number; at: string }[]; next: string | null } = await operator.read(
        `/actors/account/told/history?limit=3&before=${before}`,
        api.history,
      );
      seen.push(...page.transitions.map(({ version }) => version));
      before = page.next;
    }
    expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1]);
    expect(Math.abs(Date.parse(first.transitions[0]!.at) - Date.now())).toBeLessThan(60_000);
  });

  test("has the whole content of each event, causes as data, and the states of all versions", async () => {
    const text = "x".repeat(12_000);
    await ask("said", { type: "ADD", amount: 10 }, "said-add");
    await ask("said", { type: "NOTE", text }, "said-note");
    await ask("said", { type: "PAY", amount: 4 }, "said-pay");
    await until("it is paid", async () => (await operator.read("/actors/account/said", api.actor)).version === 4);
    const { transitions } = await operator.read("/actors/account/said/history", api.history);
    expect(transitions.map(({ event, payload, causes }) => ({ event, payload, causes }))).toEqual([
      {
        event: "PAID",
        payload: null,
        causes: [{
          type: "effect",
          kind: "account",
          id: "said",
          n: 192,
          name: "wire",
          href: "/actors/account/said",
        }],
      },
      { event: "PAY", payload: null, causes: [{ type: "command", id: "said-pay" }] },
      { event: "NOTE", payload: { text }, causes: [{ type: "command", id: "said-note" }] },
      { event: "ADD", payload: { amount: 10 }, causes: [{ type: "command", id: "said-add" }] },
    ]);
    const at = async (version: number) => {
      const { state, context } = await operator.read(`/actors/account/said/at?version=${version}`, api.past);
      return [state, context.balance, context.note === text, context.payments, context.asked];
    };
    expect([await at(1), await at(2), await at(3), await at(4)]).toEqual([
      ["open", 10, false, 0, ""],
      ["open", 10, true, 0, ""],
      ["paying", 6, true, 0, "said-pay"],
      ["open", 6, true, 1, "said-pay"],
    ]);
    await cluster.store.sql`delete from outbox where id = 'said' and version < 3`;
    const { status, body } = await operator.get("/actors/account/said/at?version=3");
    expect([status, body]).toMatchObject([410, { code: "history_pruned", details: { oldest: 4 } }]);
  });

  test("is found with any characters in its id", async () => {
    for (const id of ["a/b", "%41", "ü 🌳", "a?b#c", ".."]) {
      await ask(id, { type: "ADD", amount: 1 });
      const path = `/actors/account/${encodeURIComponent(id).replaceAll(".", "%2E")}`;
      // A client resolves dots before it sends the request, in any notation.
      if (id !== "..") expect((await operator.read(path, api.actor)).entity.id).toBe(id);
      const { actors } = await operator.read(`/actors?kind=account&q=${encodeURIComponent(id)}`, api.actors);
      expect(actors.map((actor) => actor.id)).toEqual([id]);
    }
  });

  test("is evicted by its worker until it is needed", async () => {
    await ask("sleepy", { type: "ADD", amount: 5 });
    expect((await operator.read("/actors/account/sleepy", api.actor)).mailbox).toMatchObject({ resident: true });
    expect((await operator.post("/actors/account/sleepy/passivate")).body).toEqual({ passivated: true });
    expect((await operator.read("/actors/account/sleepy", api.actor)).mailbox).toMatchObject({ resident: false });
    expect((await operator.post("/actors/account/sleepy/passivate")).body).toEqual({ passivated: false });
    expect(await ask("sleepy", { type: "ADD", amount: 1 })).toEqual({ ok: true, value: { balance: 6, adds: 2 } });
  });

  test("has a reminder applied now, and once", async () => {
    await ask("early", { type: "REMEMBER", at: Date.now() + 3_600_000 });
    expect((await operator.post("/actors/account/early/reminders/wake/fire")).body).toEqual({ fired: true });
    const actor = await operator.read("/actors/account/early", api.actor);
    expect(actor).toMatchObject({ version: 2, context: { woken: 1 }, reminders: [] });
    expect(await operator.post("/actors/account/early/reminders/wake/fire")).toMatchObject({
      status: 404,
      body: { code: "reminder_unknown" },
    });
    const { transitions } = await operator.read("/actors/account/early/history", api.history);
    expect(transitions[0]).toMatchObject({ event: "WOKEN", cause: "reminder:wake" });
  });
});

describe("the cluster", () => {
  test("a kind's machine as nodes and arrows", async () => {
    const machine = await operator.read("/kinds/account/machine", api.machine);
    expect(machine).toMatchObject({ kind: "account", machineVersion: 1, initial: "open" });
    expect(machine.nodes.map(({ id }) => id)).toEqual(["open", "paying", "closed"]);
    expect(machine.edges).toContainEqual({ from: "paying", to: "open", event: "PAID", guard: null });
    expect(machine.edges).toContainEqual({ from: "*", to: "*", event: "WOKEN", guard: null });
    expect(machine.edges).toContainEqual({ from: "*", to: "*", event: "SEEN", guard: "(condition)" });
    expect(machine.edges).toContainEqual({ from: "open", to: "open", event: "ADD", guard: null });
  });

  test("workers, partitions, leases, lags and the overview", async () => {
    await ask("busy", { type: "ADD", amount: 1 });
    await until("the cached counts are renewed", async () => {
      const { workers: lines } = await operator.read("/workers", api.workers);
      return lines.reduce((sum, { events }) => sum + events, 0) > 0;
    });
    const { workers: lines } = await operator.read("/workers", api.workers);
    expect(lines.map(({ id, alive, suspect, draining }) => ({ id, alive, suspect, draining }))).toEqual(
      ["one", "two"].map((id) => ({ id, alive: true, suspect: false, draining: false })),
    );
    expect(lines.flatMap(({ partitions }) => partitions).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 16 }, (_, i) => i),
    );
    const { partitions } = await operator.read("/partitions", api.partitions);
    for (const { id, owner, epoch, expiresInMs } of partitions) {
      expect(lines.find((line) => line.id === owner)!.partitions).toContain(id);
      expect(epoch).toBeGreaterThan(0);
      expect(expiresInMs).toBeGreaterThan(0);
    }
    await cluster.store
      .sql`insert into lease (name, epoch, checked, owner, expires) values ('spare', 3, 3, null, '-infinity')`;
    const { leases } = await operator.read("/leases", api.leases);
    expect(leases).toEqual([{ name: "spare", owner: null, epoch: 3, expiresInMs: -86_400_000 }]);
    await cluster.store.sql`delete from lease`;
    const lags = await operator.read("/lags", api.lags);
    expect(lags).toMatchObject({ inputs: { unread: 0, oldestMs: null }, follower: null });
    expect(await indexLookups(cluster.store).position()).toMatchObject({ slot: -1, height: 0 });
    const overview = await operator.read("/overview", api.overview);
    expect(overview).toMatchObject({ workers: 2, deadLetters: 0 });
    expect(overview.rates.transitionsPerSecond).toBeGreaterThan(0);
    expect(overview.kinds.map(({ kind }) => kind)).toContain("account");
  });

  test("a partition moves to another worker, and its actors continue there", async () => {
    await ask("mover", { type: "ADD", amount: 1 });
    const id = partitionOf({ kind: "account", id: "mover" }, 16);
    const { owner } = await operator.read("/actors/account/mover", api.actor);
    const to = owner === "one" ? "two" : "one";
    expect(await operator.post(`/partitions/${id}/move`, { to })).toMatchObject({
      status: 200,
      body: { partition: id, owner: to },
    });
    expect(await ask("mover", { type: "ADD", amount: 1 })).toMatchObject({ ok: true, value: { adds: 2 } });
    const actor = await operator.read("/actors/account/mover", api.actor);
    expect(actor).toMatchObject({ owner: to, version: 2, mailbox: { resident: true } });
    expect(await operator.post(`/partitions/${id}/move`)).toMatchObject({ status: 200, body: { owner } });
  });
});

describe("refusals", () => {
  const refusals: readonly [
    what: string,
    method: string,
    path: string,
    status: number,
    code: string,
    body?: unknown,
  ][] = [
    ["an unknown path", "GET", "/nowhere", 404, "not_found"],
    ["an unknown actor", "GET", "/actors/account/nobody", 404, "actor_unknown"],
    ["the history of an unknown actor", "GET", "/actors/account/nobody/history", 404, "actor_unknown"],
    ["pausing an unknown actor", "POST", "/actors/account/nobody/pause", 404, "actor_unknown"],
    ["resuming an unknown actor", "POST", "/actors/account/nobody/resume", 404, "actor_unknown"],
    ["passivating an unknown actor", "POST", "/actors/account/nobody/passivate", 404, "actor_unknown"],
    ["firing for an unknown actor", "POST", "/actors/account/nobody/reminders/x/fire", 404, "actor_unknown"],
    ["actors of an unknown kind", "GET", "/actors?kind=nobody", 400, "bad_kind"],
    ["actors in an unknown state", "GET", "/actors?state=nowhere", 400, "bad_state"],
    ["actors of a kind in a state of another", "GET", "/actors?kind=account&state=busy", 400, "bad_state"],
    ["dead letters of an unknown kind", "GET", "/dead-letters?kind=nobody", 400, "bad_kind"],
    ["an actor of an unknown kind", "GET", "/actors/nobody/x", 404, "kind_unknown"],
    ["the history of an unknown kind", "GET", "/actors/nobody/x/history", 404, "kind_unknown"],
    ["the past of an unknown kind", "GET", "/actors/nobody/x/at?version=1", 404, "kind_unknown"],
    ["pausing an unknown kind", "POST", "/actors/nobody/x/pause", 404, "kind_unknown"],
    ["an unknown kind's machine", "GET", "/kinds/nobody/machine", 404, "kind_unknown"],
    ["a kind that is not a name", "GET", "/actors/ACCOUNT/x", 400, "bad_request"],
    ["an id with a zero", "GET", "/actors/account/a%00b", 400, "bad_request"],
    ["an order of nothing", "GET", "/actors?order=desc", 400, "bad_attribute"],
    [
      "a cursor of the list by id for the one by time",
      "GET",
      "/actors?sort=changed&after=eyJraW5kIjoiYSIsImlkIjoiYiJ9",
      400,
      "bad_cursor",
    ],
    ["a time that is none", "GET", "/actors?changedSince=yesterday", 400, "bad_request"],
    ["a filter with a zero", "GET", "/actors?q=%00", 400, "bad_request"],
    ["an id that is too long", "GET", `/actors/account/${"x".repeat(201)}`, 400, "bad_request"],
    ["a limit of zero", "GET", "/actors?limit=0", 400, "bad_request"],
    ["a limit out of range", "GET", "/actors?limit=501", 400, "bad_request"],
    ["a limit that is no number", "GET", "/actors?limit=ten", 400, "bad_request"],
    ["a pause that is neither true nor false", "GET", "/actors?paused=maybe", 400, "bad_request"],
    ["a cursor of another list", "GET", "/actors?after=MTI", 400, "bad_cursor"],
    ["a cursor made of nonsense", "GET", "/actors?after=%21%21%21", 400, "bad_cursor"],
    ["a cursor of nothing", "GET", "/actors?after=", 400, "bad_request"],
    ["an invalid position in history", "GET", "/actors/account/nobody/history?before=xyz", 400, "bad_cursor"],
    ["a letter that is not there", "POST", "/dead-letters/4711/retry", 404, "letter_unknown"],
    ["dropping a letter that is not there", "DELETE", "/dead-letters/4711", 404, "letter_unknown"],
    ["a letter without a number", "DELETE", "/dead-letters/x", 400, "bad_request"],
    ["a letter with a number out of range", "POST", "/dead-letters/99999999999999999999/retry", 400, "bad_request"],
    ["letters from nowhere", "GET", "/dead-letters?after=e30", 400, "bad_cursor"],
    ["a partition that is not there", "POST", "/partitions/99/move", 404, "partition_unknown"],
    ["a partition without a number", "POST", "/partitions/-1/move", 400, "bad_request"],
    ["a move to an unknown worker", "POST", "/partitions/1/move", 404, "worker_unknown", { to: "nobody" }],
    ["a move with nonsense", "POST", "/partitions/1/move", 400, "bad_request", { to: 7 }],
    ["a move with no JSON", "POST", "/partitions/1/move", 400, "malformed_json", "{"],
    ["a rollback without a devnet", "POST", "/devnet/rollback", 422, "no_devnet", { blocks: 1 }],
    ["a rollback of zero blocks", "POST", "/devnet/rollback", 400, "bad_request", { blocks: 0 }],
    ["a rollback without a body", "POST", "/devnet/rollback", 400, "malformed_json"],
    ["a body over the limit", "POST", "/devnet/rollback", 413, "body_too_large", "x".repeat(70_000)],
  ];
  test.each(refusals)("%s", async (_, method, path, status, code, body) => {
    const said = await operator.call(method, path, body);
    expect(said).toMatchObject({ status, body: { code, error: expect.any(String) } });
    expect(JSON.stringify(said.body)).not.toMatch(/\bat .*\.ts|node_modules/);
  });

  test("a host that is not this machine's, and an origin that is not the service's own", async () => {
    const { host } = new URL(operator.url);
    const get = (headers: Record<string, string | undefined>) => operator.call("GET", "/kinds", undefined, headers);
    for (
      const wrong of [
        "evil.example",
        `evil.example:${host.split(":")[1]}`,
        "127.0.0.1.evil.example",
        "localhost.",
        "10.0.0.1",
      ]
    ) {
      expect(await get({ host: wrong })).toMatchObject({ status: 403, body: { code: "bad_host" } });
    }
    for (const right of [host, "localhost", "LOCALHOST:9999", "[::1]:8091"]) {
      expect(await get({ host: right })).toMatchObject({ status: 200 });
    }
    for (const wrong of ["http://evil.example", "null", `https://${host}`, "http://127.0.0.1:1", "http://localhost"]) {
      expect(await get({ origin: wrong })).toMatchObject({ status: 403, body: { code: "bad_origin" } });
    }
    const own = await get({ origin: `http://${host}` });
    expect(own.status).toBe(200);
    expect(Object.keys(own.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(own.headers).toMatchObject({
      "content-security-policy": expect.stringMatching(/^default-src 'self'; frame-ancestors 'none'/),
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
    });
    const preflight = await operator.call("OPTIONS", "/actors/account/x/pause", undefined, {
      origin: "http://evil.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "arbor-operator",
    });
    expect(preflight.status).toBe(403);
  });

  test("a change without the header", async () => {
    await ask("kept", { type: "ADD", amount: 1 });
    for (const path of ["/actors/account/kept/pause", "/partitions/1/move", "/devnet/rollback"]) {
      expect(await operator.call("POST", path, undefined, { "arbor-operator": undefined })).toMatchObject({
        status: 403,
        body: { code: "header_missing" },
      });
    }
    expect(await operator.read("/actors/account/kept", api.actor)).toMatchObject({ paused: false });
  });

  test("if there is a token: everything without it, except the pages and the liveness check", async () => {
    const get = (path: string, headers: Record<string, string> = {}) => guarded.call("GET", path, undefined, headers);
    for (const authorization of ["", "Bearer", "Bearer ", "Bearer 0123456789abcdeX", "Basic abc", TOKEN]) {
      const said = await get("/kinds", { authorization });
      expect(said).toMatchObject({ status: 401, body: { code: "unauthorized" } });
      expect(said.headers["www-authenticate"]).toMatch(/^Bearer/);
    }
    expect(await get("/openapi.json")).toMatchObject({ status: 401 });
    expect(await get("/%2e%2e/kinds")).toMatchObject({ status: 401 });
    const right = { authorization: `Bearer ${TOKEN}` };
    expect(await get("/kinds", right)).toMatchObject({ status: 200 });
    expect(await get("/kinds", { ...right, host: "arbor.example" })).toMatchObject({ status: 200 });
    expect(await get("/kinds", { ...right, host: "arbor.example", origin: "https://arbor.example" }))
      .toMatchObject({ status: 200 });
    expect(await get("/kinds", { ...right, host: "arbor.example", origin: "https://evil.example" }))
      .toMatchObject({ status: 403, body: { code: "bad_origin" } });
    // No worker serves these here; the guard accepts them.
    for (const path of ["/", "/ui/assets/app.js", "/health", "/ready"]) {
      expect(await get(path)).toMatchObject({ status: 404, body: { code: "not_found" } });
    }
    expect(await guarded.call("POST", "/health", undefined)).toMatchObject({ status: 401 });
  });
});

test("the OpenAPI document has every endpoint, with the guard's requirements", async () => {
  const { status, body } = await operator.get("/openapi.json");
  expect(status).toBe(200);
  const document = body as {
    openapi: string;
    paths: Record<string, Record<string, { parameters?: { name: string }[]; responses: object }>>;
  };
  expect(document.openapi).toBe("3.1.0");
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [] }]) => {
      const header = parameters.some(({ name }) => name === "Arbor-Operator");
      expect(header).toBe(method !== "get");
      for (const name of path.matchAll(/\{(\w+)\}/g)) expect(parameters.map((one) => one.name)).toContain(name[1]);
      return `${method} ${path}`;
    })
  );
  expect(calls.sort()).toEqual([
    "delete /dead-letters/{n}",
    "get /activity",
    "get /actors",
    "get /actors/{kind}/{id}",
    "get /actors/{kind}/{id}/at",
    "get /actors/{kind}/{id}/history",
    "get /attention",
    "get /dead-letters",
    "get /kinds",
    "get /kinds/{kind}/machine",
    "get /lags",
    "get /leases",
    "get /limits",
    "get /log",
    "get /overview",
    "get /partitions",
    "get /search",
    "get /transitions",
    "get /workers",
    "post /actors/{kind}/{id}/passivate",
    "post /actors/{kind}/{id}/pause",
    "post /actors/{kind}/{id}/reminders/{name}/fire",
    "post /actors/{kind}/{id}/resume",
    "post /dead-letters/{n}/retry",
    "post /devnet/rollback",
    "post /partitions/{id}/move",
  ]);
  const withToken = await guarded.call("GET", "/openapi.json", undefined, { authorization: `Bearer ${TOKEN}` });
  expect(withToken.body).toMatchObject({
    security: [{ operator: [] }],
    components: { securitySchemes: { operator: { type: "http", scheme: "bearer" } } },
  });
});
