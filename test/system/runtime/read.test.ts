/** Reads of an actor's state without a turn. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { createControl } from "#src/runtime/operations/control.ts";
import { createReader } from "#src/runtime/read.ts";
import { type LocalRuntime, startLocalRuntime } from "../../support/runtime/localRuntime.ts";
import { tally1, tally2 } from "../../support/runtime/tally.ts";

let runtime: LocalRuntime;
let read: ReturnType<typeof createReader>;
beforeAll(async () => {
  runtime = await startLocalRuntime();
  read = createReader({ store: runtime.store, build: runtime.ask.build });
});
afterAll(() => runtime?.stop());

test("gives what was acknowledged, from the owner and from the database, also of a paused actor", async () => {
  const worker = await runtime.start([tally1]);
  expect(await read(tally1, "a")).toEqual({ ok: true, value: undefined });
  expect(await read(tally1, "a", { from: "database" })).toEqual({ ok: true, value: undefined });
  for (let n = 1; n <= 20; n++) {
    await runtime.ask.ask({ kind: "tally", id: "a" }, { type: "ADD" });
    expect(await read(tally1, "a")).toEqual({ ok: true, value: { state: "open", context: { n }, version: n } });
  }
  const { turns } = worker.state();
  const stored = await read(tally1, "a", { from: "database" });
  // Typed by the machine of the kind.
  const count: number | undefined = stored.ok ? stored.value?.context.n : undefined;
  expect([count, worker.state().turns]).toEqual([20, turns]);
  await createControl({ ...runtime }).pause({ kind: "tally", id: "a" }, true);
  expect(await read(tally1, "a")).toMatchObject({ ok: true, value: { version: 20 } });
  // Another version of the kind reads the row by its conversion.
  expect(await read(tally2, "a", { from: "database" })).toMatchObject({ ok: true, value: { context: { total: 20 } } });
});

test("without a worker the database answers, and the owner is unavailable", async () => {
  await runtime.stopWorkers();
  expect(await read(tally1, "a", { deadlineMs: 200 })).toMatchObject({ ok: false, error: { code: "unavailable" } });
  expect(await read(tally1, "a", { from: "database" })).toMatchObject({ ok: true, value: { version: 20 } });
  await runtime.store.sql`update actor set machine_version = 9 where id = 'a'`;
  expect(await read(tally1, "a", { from: "database" })).toMatchObject({ error: { code: "newer_version" } });
});
