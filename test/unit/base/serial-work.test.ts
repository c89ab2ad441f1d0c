import { expect, it } from "vitest";
import { SerialWork } from "#src/base/serialWork.ts";
import { until } from "../../support/until.ts";

/** A promise that a test resolves; Node 20 has no `Promise.withResolvers`. */
function gate() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => resolve = done);
  return { promise, resolve: () => resolve() };
}

it("does one after the other in the order in which they were asked for, each once", async () => {
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
  // What ended while nobody waited for it may be done again.
  expect(log.slice(0, 6)).toEqual(["a", "b", "c"].flatMap((name) => [`${name} begins`, `${name} ends`]));
});

it("begins the next one once the first one passes on, and ends each", async () => {
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

it("rejects as the work does, and begins it again when it is asked for again", async () => {
  const serial = new SerialWork();
  let tries = 0;
  const ask = () =>
    serial.advance("a", () => ++tries === 1 ? Promise.reject(new Error("no luck")) : Promise.resolve(), 60_000);
  await expect(ask()).rejects.toThrow("no luck");
  expect(await ask()).toBe(true);
});

it("leaves what is no longer asked for", async () => {
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
  expect(await serial.advance("never begun", () => Promise.reject(new Error("begun")), 1)).toBe(false);
  await left.promise;
  await until("the next one is done", () => serial.advance("next", () => Promise.resolve(), 60_000));
});
