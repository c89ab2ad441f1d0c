/** Cancellation of effects: running ones, waiting ones, over moves and restarts, and against their outcomes. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Json } from "#src/base/json.ts";
import type { EffectRun } from "#src/runtime/types.ts";
import { until } from "../../../support/base/until.ts";
import { type Call, callOf, jobKind } from "../../../support/runtime/job.ts";
import { type LocalRuntime, startLocalRuntime } from "../../../support/runtime/localRuntime.ts";
import { readActor } from "../../../support/runtime/readActor.ts";

let runtime: LocalRuntime;
beforeAll(async () => {
  runtime = await startLocalRuntime();
});
afterEach(() => runtime.stopWorkers());
afterAll(() => runtime?.stop());

const job = (id: string) => ({ kind: "job", id });
const run = (id: string, n: number) => runtime.ask.ask(job(id), { type: "RUN", key: id, n });
const stop = (id: string, call?: Call) =>
  runtime.ask.ask(job(id), { type: "STOP", ...(call === undefined ? {} : { call: { ...call } }) });
const rows = (id: string) =>
  runtime.store.sql<{ done: boolean; error: string | null; attempts: number }[]>`
    select done, error, attempts from effect where kind = 'job' and id = ${id} order by n`.then((found) => [...found]);
const doneBy = async (id: string) => (await readActor(runtime.store, job(id)))!.context.done as Json;

/** Calls that end when the test ends them; what happened to each, by number. */
function calls() {
  const said: string[] = [];
  const ends = new Map<number, (event: { type: string; n: number } | Error) => void>();
  const call: EffectRun = (input, { signal, attempt }) => {
    const { n } = callOf(input);
    said.push(`${n} starts ${attempt}`);
    return new Promise((resolve, reject) => {
      ends.set(n, (event) => event instanceof Error ? reject(event) : resolve(event));
      signal.addEventListener("abort", () => said.push(`${n} aborted: ${(signal.reason as Error).message}`));
    });
  };
  return {
    said,
    call,
    end: (n: number) => ends.get(n)!({ type: "DONE", n }),
    fail: (n: number) => ends.get(n)!(new Error("no")),
  };
}

test("a running attempt is aborted, a late outcome is not applied, and no attempt follows", async () => {
  const { said, call, end } = calls();
  await runtime.start([jobKind(call)]);
  await run("running", 1);
  await run("running", 2);
  await until("both run", async () => said.length === 2);
  expect(await stop("running", { key: "running", n: 1 })).toEqual({ ok: true, value: [] });
  await until("the first is aborted", async () => said.length === 3);
  end(1);
  end(2);
  await until("the second is done", async () => (await rows("running")).every(({ done }) => done));
  expect(await rows("running")).toEqual([
    { done: true, error: "cancelled", attempts: 0 },
    { done: true, error: null, attempts: 0 },
  ]);
  expect(await doneBy("running")).toEqual([2]);
  await runtime.stopWorkers();
  await runtime.start([jobKind(call)]);
  await run("running", 3);
  await until("the third runs", async () => said.length === 4);
  expect(said).toEqual(["1 starts 1", "2 starts 1", "1 aborted: the effect was cancelled", "3 starts 1"]);
  end(3);
  await until("the third is done", async () => (await rows("running"))[2]!.done);
});

test("an effect that waits for its next attempt is cancelled, also by the next owner", async () => {
  const { said, call, end, fail } = calls();
  await runtime.start([jobKind(call)]);
  await run("waiting", 1);
  await until("it runs", async () => said.length === 1);
  // Its next attempt would be due in half an hour.
  await runtime.store.sql`update effect set next_attempt = now() where id = 'waiting'`;
  fail(1);
  await until("it failed", async () => (await rows("waiting"))[0]!.attempts === 1);
  await runtime.stopWorkers();
  await runtime.store.sql`update effect set next_attempt = now() + interval '1 hour' where id = 'waiting'`;
  await runtime.start([jobKind(call)]);
  expect(await stop("waiting")).toEqual({ ok: true, value: [] });
  expect(await rows("waiting")).toEqual([{ done: true, error: "cancelled", attempts: 1 }]);
  await runtime.store.sql`update effect set next_attempt = now() where id = 'waiting'`;
  await run("waiting", 2);
  await until("the second runs", async () => said.length === 2);
  expect(said).toEqual(["1 starts 1", "2 starts 1"]);
  end(2);
  await until("the second is done", async () => (await rows("waiting"))[1]!.done);
});

test("of an outcome and a cancellation the first to be committed counts", async () => {
  const { said, call, end } = calls();
  let open = () => {};
  let held = new Promise<void>((resolve) => open = resolve);
  let at = "";
  await runtime.start([jobKind(call)], {
    // Holds a turn, so that what arrives meanwhile is in the next one, in that order.
    onStep: ({ at: step, causes }) => {
      if (step !== "before-commit" || !causes.includes("hold")) return;
      at = step;
      return held;
    },
  });
  const hold = () => runtime.ask.ask(job("race"), { type: "STOP", call: { key: "none", n: 0 } }, { commandId: "hold" });
  const waiting = (n: number) => until("it waits", async () => runtime.workers()[0]!.state().waiting === n);

  // The cancellation first, then the outcome, in one turn.
  await run("race", 1);
  await until("it runs", async () => said.length === 1);
  const first = hold();
  await until("a turn is held", async () => at !== "");
  const stopped = stop("race");
  await waiting(1);
  end(1);
  await waiting(2);
  open();
  expect([await first, await stopped]).toEqual([{ ok: true, value: [] }, { ok: true, value: [] }]);
  await until("it is over", async () => (await rows("race"))[0]!.done);
  expect([await rows("race"), await doneBy("race")]).toEqual([
    [{ done: true, error: "cancelled", attempts: 0 }],
    [],
  ]);

  // The outcome first.
  held = Promise.resolve();
  await runtime.stopWorkers();
  await runtime.start([jobKind(call)]);
  await run("race", 2);
  await until("it runs", async () => said.length === 2);
  end(2);
  await until("it is over", async () => (await rows("race"))[1]!.done);
  expect(await stop("race")).toEqual({ ok: true, value: [2] });
  expect((await rows("race"))[1]).toEqual({ done: true, error: null, attempts: 0 });
  expect(said).toEqual(["1 starts 1", "2 starts 1"]);
});
