/** What callers of one healthy runtime see. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { appendInputs, ring } from "#src/runtime/inputs.ts";
import { readActor } from "#src/runtime/read.ts";
import { type Cluster, settled, startCluster, until } from "../../support/runtime.ts";

let cluster: Cluster;
const account = (id: string) => ({ kind: "account", id });

beforeAll(async () => {
  cluster = await startCluster();
  const workers = await Promise.all([cluster.start("one"), cluster.start("two")]);
  await settled(workers);
});
afterAll(() => cluster?.stop());

describe("commands", () => {
  test("change an entity, and give their answer again when asked again", async () => {
    const { ask } = cluster.ask;
    const first = await ask(account("a"), { type: "ADD", amount: 5 }, { commandId: "a-1" });
    expect(first).toEqual({ ok: true, value: { balance: 5, adds: 1 } });
    expect(await ask(account("a"), { type: "ADD", amount: 7 })).toEqual({ ok: true, value: { balance: 12, adds: 2 } });
    expect(await ask(account("a"), { type: "ADD", amount: 5 }, { commandId: "a-1" })).toEqual(first);
    expect(await readActor(cluster.store, account("a"))).toMatchObject({
      state: "open",
      version: 2,
      context: { balance: 12 },
    });
    const rows = await cluster.store.sql`select balance from test_balance where account = 'a'`;
    expect(rows[0]!.balance).toBe(12n);
  });
});
