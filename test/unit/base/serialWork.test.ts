import { expect, it } from "vitest";
import { SerialWork } from "#src/base/serialWork.ts";
import { until } from "../../support/base/until.ts";

/** A promise that a test resolves; Node 20 has no `Promise.withResolvers`. */
function gate() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => resolve = done);
  return { promise, resolve: () => resolve() };
}

it("runs one after the other in the order of requests, each once", async () => {
  const serial = new SerialWork();
  const log: string[] = [];
  const gates = new Map(["a", "b", "c"].map((name) => [name, gate()]));
  const ask = (name: string, ms: number) =>
    serial.advance(name, async () => {
      log.push(`${name} begins`);
      await gates.get(name)!.promise;
      log.push(`${name} ends`);
    }, ms);
  expect(await ask("a", 1)).toBe(false);
  expect(await ask("b", 60_000)).toBe(false);
  expect(await ask("c", 60_000)).toBe(false);
  expect(await ask("a", 1)).toBe(false);
  expect(log).toEqual(["a begins"]);
  const again = ask("a", 60_000);
  gates.get("a")!.resolve();
  expect(await again).toBe(true);
  gates.get("b")!.resolve();
  gates.get("c")!.resolve();
  await until("c is done", () => ask("c", 60_000));
  // Work that ended without a waiter may run again.
  expect(log.slice(0, 6)).toEqual(["a", "b", "c"].flatMap((name) => [`${name} begins`, `${name} ends`]));
});

it("starts the next one when the first has moved on, and ends each", async () => {
  const serial = new SerialWork();
  const opened = gate();
  const first = serial.advance("a", async (_, pass) => {
    pass();
    await opened.promise;
  }, 60_000);
  expect(await serial.advance("b", () => Promise.resolve(), 60_000)).toBe(true);
  opened.resolve();
  expect(await first).toBe(true);
});

it("rejects if the work does, and starts it again on the next request", async () => {
  const serial = new SerialWork();
  let tries = 0;
  const ask = () =>
    serial.advance("a", () => ++tries === 1 ? Promise.reject(new Error("failed")) : Promise.resolve(), 60_000);
  await expect(ask()).rejects.toThrow("failed");
  expect(await ask()).toBe(true);
});

it("drops work whose requests were all cancelled", async () => {
  const serial = new SerialWork(40);
  const left = gate();
  const hang = (signal: AbortSignal) =>
    new Promise<void>((_, reject) => {
      signal.addEventListener("abort", () => {
        left.resolve();
        reject(signal.reason);
      });
    });
  expect(await serial.advance("left", hang, 1)).toBe(false);
  expect(await serial.advance("never begun", () => Promise.reject(new Error("started")), 1)).toBe(false);
  await left.promise;
  await until("the next one is done", () => serial.advance("next", () => Promise.resolve(), 60_000));
});
