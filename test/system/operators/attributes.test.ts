/** Actors listed by their search attributes, over HTTP and in code, while turns change them. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import * as api from "#src/operators/api/operator.ts";
import { findActors } from "#src/runtime/operations/findActors.ts";
import { prune, RETENTION_HOURS } from "#src/runtime/operations/retention.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import { migrate } from "#src/store/migrations.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";
import { jobKind } from "../../support/runtime/job.ts";
import { type LocalRuntime, startLocalRuntime } from "../../support/runtime/localRuntime.ts";
import { type OperatorClient, startOperator } from "../../support/runtime/operatorService.ts";

const DAY = 86_400_000;
const numbers = ({ context }: { readonly context: { readonly [name: string]: unknown } }) =>
  context.requested as number;
const kind: ActorKind = jobKind(async () => undefined, {
  attributes: {
    parity: { type: "text", of: (view) => numbers(view) === 0 ? undefined : numbers(view) % 2 === 0 ? "even" : "odd" },
    requested: { type: "number", of: (view) => numbers(view) % 5 === 0 ? undefined : numbers(view) },
    large: { type: "number", of: (view) => 10n ** 20n + BigInt(numbers(view)) },
    due: { type: "time", of: (view) => numbers(view) * DAY },
  },
});
const plain = jobKind(async () => undefined, { kind: "plain" });

let runtime: LocalRuntime;
let operator: OperatorClient;
beforeAll(async () => {
  runtime = await startLocalRuntime();
  await migrate(runtime.store, migrationsOf("chain/index"));
  operator = await startOperator({ ...runtime, ask: runtime.ask }, [kind, plain]);
});
afterEach(() => runtime.stopWorkers());
afterAll(async () => {
  await operator?.stop();
  await runtime?.stop();
});

const run = async (id: string, times: number, kind = "job") => {
  for (let n = 0; n < times; n++) {
    expect(await runtime.ask.ask({ kind, id }, { type: "RUN", key: "k", n })).toEqual({ ok: true, value: null });
  }
};
const stored = (id: string) =>
  runtime.store
    .sql`select name, coalesce(text, number::text) as value from actor_attribute where id = ${id} order by name`
    .then((rows) => Object.fromEntries(rows.map(({ name, value }) => [name, value])));
/** The ids of all pages of a list. */
const ids = async (query: string, limit = 2) => {
  const found: string[] = [];
  for (let after = "";;) {
    const { actors, next }: { actors: { id: string }[]; next: string | null } = await operator.read(
      `/actors?kind=job&limit=${limit}&${query}${after}`,
      api.actors,
    );
    found.push(...actors.map(({ id }) => id));
    if (next === null) return found;
    after = `&after=${encodeURIComponent(next)}`;
  }
};
const refused = async (query: string) => (await operator.get(`/actors?${query}`)).body;

test("actors are listed by equality, by range and in both orders, page by page", async () => {
  await runtime.start([kind, plain]);
  await Promise.all([1, 2, 3, 4, 6, 7].map((n) => run(`j${n}`, n)));
  expect(await ids("attribute=requested")).toEqual(["j1", "j2", "j3", "j4", "j6", "j7"]);
  expect(await ids("attribute=requested&order=desc&from=2&before=7")).toEqual(["j6", "j4", "j3", "j2"]);
  expect(await ids("attribute=parity&equals=odd")).toEqual(["j1", "j3", "j7"]);
  expect(await ids("attribute=due&from=1970-01-05T00:00:00Z")).toEqual(["j4", "j6", "j7"]);
  expect(await ids(`attribute=due&before=${3 * DAY}&state=open&paused=false`)).toEqual(["j1", "j2"]);
  expect(await ids("attribute=large&equals=100000000000000000006")).toEqual(["j6"]);
  const page = await operator.read("/actors?kind=job&attribute=requested&equals=6", api.actors);
  expect(page.actors).toMatchObject([{
    id: "j6",
    version: 6,
    attributes: { parity: "even", requested: 6, due: "1970-01-07T00:00:00.000Z" },
  }]);
  expect((await operator.read("/actors/job/j6", api.actor)).attributes).toMatchObject({ parity: "even", requested: 6 });
  const { kinds } = await operator.read("/kinds", api.kinds);
  expect(kinds.map(({ attributes }) => attributes)).toEqual([
    { parity: "text", requested: "number", large: "number", due: "time" },
    undefined,
  ]);
});

test("code combines conditions, and names an attribute that does not exist", async () => {
  const where = [{ attribute: "parity", equals: "odd" }, { attribute: "requested", from: 2 }];
  const found = await findActors(runtime.store, { kind, where, order: "due", descending: true, limit: 10 });
  expect(found.map(({ id, attributes }) => [id, attributes.due, attributes.large])).toEqual([
    ["j7", 7 * DAY, 100_000_000_000_000_000_007n],
    ["j3", 3 * DAY, 100_000_000_000_000_000_003n],
  ]);
  const [first] = found;
  const rest = await findActors(runtime.store, {
    kind,
    where,
    order: "due",
    descending: true,
    after: first!.place,
    limit: 10,
  });
  expect(rest.map(({ id }) => id)).toEqual(["j3"]);
  await expect(findActors(runtime.store, { kind, where: [{ attribute: "colour" }], limit: 1 })).rejects.toThrow(
    RangeError,
  );
});

test("what cannot be searched is refused with what can", async () => {
  expect(await refused("kind=job&attribute=colour")).toMatchObject({
    code: "bad_attribute",
    details: { attributes: ["due", "large", "parity", "requested"] },
  });
  expect(await refused("kind=plain&attribute=colour")).toMatchObject({ code: "bad_attribute" });
  expect(await refused("attribute=parity")).toMatchObject({ code: "bad_attribute" });
  expect(await refused("kind=job&equals=1")).toMatchObject({ code: "bad_attribute" });
  expect(await refused("kind=other&attribute=parity")).toMatchObject({ code: "bad_kind" });
  expect(await refused("kind=job&attribute=requested&from=many")).toMatchObject({ code: "bad_attribute" });
  expect(await refused("kind=job&attribute=due&from=yesterday")).toMatchObject({ code: "bad_attribute" });
  expect(await refused("kind=job&attribute=due&after=e30")).toMatchObject({ code: "bad_cursor" });
});

test("a turn writes what it changes; a value that ends has no row; a new attribute comes with the next turn", async () => {
  await runtime.start([jobKind(async () => undefined)]);
  await run("old", 4);
  expect(await stored("old")).toEqual({});
  await runtime.stopWorkers();
  await runtime.start([kind, plain]);
  await run("old", 1);
  expect(await stored("old")).toEqual({ parity: "odd", large: "100000000000000000005", due: String(5 * DAY) });
  await run("old", 1);
  expect(await stored("old")).toMatchObject({ parity: "even", requested: "6" });
  await run("old", 4);
  expect(Object.keys(await stored("old"))).toEqual(["due", "large", "parity"]);
  await run("none", 3, "plain");
  expect(await stored("none")).toEqual({});
});

test("an event whose attributes cannot be stored is a dead letter, and the actor continues", async () => {
  const odd = jobKind(async () => undefined, {
    kind: "odd",
    attributes: { requested: { type: "number", of: (view) => numbers(view) === 2 ? NaN : numbers(view) } },
  });
  await runtime.start([odd]);
  await run("o", 1, "odd");
  expect(await runtime.ask.ask({ kind: "odd", id: "o" }, { type: "RUN", key: "k", n: 2 })).toMatchObject({
    error: { code: "failed", message: expect.stringContaining('the attribute "requested" is not a number') },
  });
  expect(await stored("o")).toEqual({ requested: "1" });
});

test("attributes are deleted with their actor", async () => {
  const { store } = runtime;
  await store.sql`
    insert into actor (kind, id, partition, version, input_seq, snapshot, state, machine_version, since, changed)
    select 'transaction', 't', 0, 1, 0, '{}', 'expired', 1, day, day from (select now() - interval '1 day' as day) x`;
  await store.sql`insert into actor_attribute (kind, id, name, text) values ('transaction', 't', 'of', 'x')`;
  const ended = {
    which: (sql: typeof store.sql) => sql`a.kind = 'transaction' and a.state = 'expired'`,
    hours: 1,
    release: (_: unknown, ids: readonly string[]) => Promise.resolve(ids),
  };
  expect((await prune(store, RETENTION_HOURS, undefined, [ended as never])).actors).toBe(1);
  expect(await stored("t")).toEqual({});
});
