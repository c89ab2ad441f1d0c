import { Worker } from "node:worker_threads";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { evaluateIn } from "#src/plutus/jobs.ts";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { createLog, silentLog } from "#src/base/log.ts";
import type { Builders } from "#src/threads/builders.ts";
import { startBuilders } from "#src/app/threads/builders.ts";
import { packFacts } from "../../support/contract/packedFacts.ts";
import { buildBoot } from "#src/contract/transactions/boot.ts";
import { bucketOf, cutOf, neededBuckets } from "#src/forestry/cut.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import { mainnetParameters as parameters } from "#src/ledger/parameters.ts";
import { measure, ModelToken, op, Outputs, published, slots } from "../../support/contract/contractLedger.ts";
import { coin, person } from "../../support/wallets/person.ts";

const alice = person("alice");
const soon = (ms = 20_000) => ({ deadline: Date.now() + ms });
let builders: Builders | undefined;

afterEach(async () => {
  await builders?.stop();
  builders = undefined;
});

describe("real threads", () => {
  const lines: string[] = [];
  let builders: Builders;
  // one thread for all tests: it loads what the jobs need
  beforeAll(() => {
    builders = startBuilders({ threads: 1, log: createLog("error", {}, (line) => lines.push(line)) });
  });
  afterAll(() => builders.stop());

  test("they build a token's transactions as this thread does", async () => {
    await builders.warm();
    const outputs = new Outputs(coin(alice.base, 30_000_000n));
    const boot = await builders.run("boot", outputs.input(alice.base), soon());
    expect(boot).toEqual(buildBoot(outputs.input(alice.base), measure));
    if (!boot.ok) throw new Error(boot.error.message);
    const token = new ModelToken(boot.value.token, outputs.apply(boot.value, alice).created[0]!);
    const result = await builders.run(
      "request",
      { ...outputs.input(alice.base), token: token.token, key: utf8("k"), operation: op.insert("v") },
      soon(),
    );
    if (!result.ok) throw new Error(result.error.message);
    const request = outputs.apply(result.value, alice).created[0]!;
    const updated = await builders.run(
      "update",
      { ...outputs.input(alice.base), state: token.state, requests: [request], facts: packFacts([]) },
      { ...soon(), affinity: token.token },
    );
    if (!updated.ok) throw new Error(updated.error.message);
    token.follow(outputs.apply(updated.value, alice).created[0]!, [request]);
    expect(toHex(token.facts.root)).toBe(updated.value.root);
    const retract = await builders.run("retract", { ...outputs.input(alice.base), request }, soon());
    expect(retract.ok).toBe(true);
    const stranger = await builders.run("end", { ...outputs.input(person("bob").base), state: token.state }, soon());
    expect(stranger).toMatchObject({ ok: false, error: { code: "not_owner" } });
    const end = await builders.run("end", { ...outputs.input(alice.base), state: token.state }, soon());
    if (!end.ok) throw new Error(end.error.message);
    const run = await evaluateIn(builders)({
      transaction: end.value.transaction,
      utxos: [...outputs.all(), published],
      parameters,
      slots,
    });
    expect(run).toMatchObject({ ok: true, redeemers: { length: 2 } });
    outputs.apply(end.value, alice);
  });

  test("facts are sent to threads in packed form", async () => {
    const leaves = Array.from({ length: 1000 }, (_, i) => leafOf(utf8(`key ${i}`), utf8(`value ${i}`)));
    const facts = packFacts(leaves);
    const root = toHex(Forestry.from(leaves).root);
    expect(await builders.run("root", facts, soon())).toEqual({ ok: true, value: root });
    const cut = await builders.run("cut", facts, soon());
    if (!cut.ok) throw new Error(cut.error.message);
    expect(cut.value).toEqual({ root, cut: cutOf(Forestry.from(leaves)) });
    const path = leafOf(utf8("key 7"), utf8("")).path;
    const buckets = neededBuckets(cut.value.cut, [path]);
    const few = leaves.filter((leaf) => buckets.includes(bucketOf(leaf.path)));
    const part = packFacts(few, { hashes: cut.value.cut, buckets });
    expect(few.length).toBeLessThan(20);
    expect(await builders.run("root", part, soon())).toEqual({ ok: true, value: root });
    const torn = await builders.run("root", { ...part, leaves: part.leaves.subarray(64) }, soon());
    expect(torn).toMatchObject({ ok: false, error: { code: "cut_mismatch" } });
  });

  test("a job that throws is `crashed`, is logged, and the thread continues", async () => {
    const broken = await builders.run("root", null as never, soon());
    expect(broken).toMatchObject({ ok: false, error: { code: "crashed" } });
    expect(lines.join()).toContain("a builder job failed");
    expect((await builders.run("root", packFacts([]), soon())).ok).toBe(true);
  });
});

describe("odd threads", () => {
  let started = 0;
  /** Jobs with the input "held" run until it is opened. */
  let gate = new Int32Array(new SharedArrayBuffer(4));
  const open = () => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  const odd = (options: { threads?: number; queueLimit?: number; graceMs?: number } = {}) => {
    started = 0;
    gate = new Int32Array(new SharedArrayBuffer(4));
    builders = startBuilders({
      threads: 1,
      graceMs: 50,
      log: silentLog,
      start: () => {
        started++;
        return new Worker(new URL("../../support/runtime/faultyThread.js", import.meta.url), {
          execArgv: [],
          workerData: { gate },
        });
      },
      ...options,
    });
    return (input: unknown, ms = 20_000, affinity = "") =>
      builders!.run("root", input as never, { deadline: Date.now() + ms, affinity });
  };

  test("a thread that hangs past its deadline is replaced, and the next job is done", async () => {
    const run = odd();
    await run("first");
    const hung = await run("hang", 200);
    expect(hung).toMatchObject({ ok: false, error: { code: "deadline" } });
    expect(await run("second")).toMatchObject({ ok: true, value: expect.stringContaining("second") });
    expect(started).toBe(2);
  });

  test.each(["die", "throw"])("a thread that dies (%s) fails its job and is replaced", async (how) => {
    const run = odd();
    await run("first");
    expect(await run(how)).toMatchObject({ ok: false, error: { code: "crashed" } });
    expect((await run("second")).ok).toBe(true);
    expect(started).toBe(2);
  });

  test("a job that breaks is `crashed` and costs no thread", async () => {
    const run = odd();
    expect(await run("break")).toMatchObject({ ok: false, error: { code: "crashed" } });
    expect((await run("second")).ok).toBe(true);
    expect(started).toBe(1);
  });

  test("one more than may wait is `overloaded`", async () => {
    const run = odd({ queueLimit: 2 });
    await run("first");
    const answers = await Promise.all([run(100), run("a"), run("b"), run("c")]);
    expect(answers.map((answer) => answer.ok || answer.error.code)).toEqual([true, true, true, "overloaded"]);
  });

  test("slices of background work let other jobs pass, and are still run while others keep arriving", async () => {
    odd();
    const done: string[] = [];
    const run = (name: string, input: unknown, slice: boolean) =>
      builders!.run("root", input as never, { ...soon(), slice }).then((answer) => {
        expect(answer.ok, name).toBe(true);
        done.push(name);
      });
    await run("warm", "warm", false);
    const all = [run("first", 100, true), run("slice", "a", true), run("job", "b", false), run("job", "c", false)];
    await Promise.all(all);
    expect(done).toEqual(["warm", "first", "job", "job", "slice"]);
    let over = false;
    const jobs = Array.from({ length: 3 }, async () => {
      while (!over) await run("job", 20, false);
    });
    for (let n = 0; n < 2; n++) await run("slice", "d", true);
    over = true;
    await Promise.all(jobs);
  });

  test("jobs run while a replacement loads, which then takes over", async () => {
    const run = odd();
    const before = await run("who");
    const long = run(300);
    const warm = builders!.warm();
    expect((await long).ok).toBe(true);
    await warm;
    const after = await run("who");
    expect([before.ok, after.ok, started]).toEqual([true, true, 2]);
    expect(after).not.toEqual(before);
  });

  test("a replacement that dies while loading leaves the thread in place", async () => {
    const workers: Worker[] = [];
    builders = startBuilders({
      threads: 1,
      log: silentLog,
      start: () => {
        const workerData = { dies: workers.length === 1 };
        const url = new URL("../../support/runtime/faultyThread.js", import.meta.url);
        workers.push(new Worker(url, { execArgv: [], workerData }));
        return workers.at(-1)!;
      },
    });
    await builders.warm();
    expect(await builders.run("root", "first" as never, soon())).toMatchObject({ ok: true });
    expect(workers).toHaveLength(2);
  });

  test("at most two jobs that stretch a passphrase run at once; others pass them", async () => {
    odd({ threads: 4 });
    await builders!.warm();
    const done: string[] = [];
    const run = async (name: string, job: "signMessages" | "root", input: string) => {
      await builders!.run(job, input as never, soon(300_000));
      done.push(name);
    };
    const stretching = [
      run("long", "signMessages", "held"),
      run("long", "signMessages", "held"),
      run("short", "signMessages", "short"),
    ];
    await run("other", "root", "other");
    expect(done).toEqual(["other"]);
    open();
    await Promise.all(stretching);
    expect(done).toEqual(["other", "long", expect.anything(), expect.anything()]);
  });

  test("a job that waits past its deadline fails, and is not run", async () => {
    const run = odd();
    await run("first");
    const held = run("held", 300_000);
    const [late, dead] = await Promise.all([run("late", 100), run("dead", -1)]);
    expect(late).toMatchObject({ error: { code: "deadline" } });
    expect(dead).toMatchObject({ error: { code: "deadline" } });
    open();
    expect((await held).ok).toBe(true);
    expect(await run("began")).toEqual({ ok: true, value: ["first", "held", "began"] });
  });

  test("a running job past its deadline is answered at once; its thread is kept if it finishes in time", async () => {
    const run = odd({ graceMs: 300_000 });
    await run("first");
    expect(await run("held", 100)).toMatchObject({ error: { code: "deadline" } });
    open();
    expect((await run("next")).ok).toBe(true);
    expect(started).toBe(1);
  });

  test("stopping answers every caller and ends the threads", async () => {
    const run = odd({ threads: 2 });
    await Promise.all([run("a"), run("b")]);
    const open = [run(60_000), run(60_000), run("waiting")];
    await builders!.stop();
    for (const answer of await Promise.all(open)) expect(answer).toMatchObject({ error: { code: "overloaded" } });
    expect(await run("later")).toMatchObject({ error: { code: "overloaded" } });
  });
});
