/** Long arrays in messages between threads. */
import { isDeepStrictEqual } from "node:util";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { expect, test } from "vitest";
import { box, unbox } from "#src/threads/messages.ts";

const long = fc.integer({ min: 1_000, max: 5_000 }).map((length) => new Uint8Array(length).map((_, i) => i));
const array = fc.oneof(
  long,
  fc.uint8Array(),
  fc.float64Array({ minLength: 120, maxLength: 140, noNaN: true }),
  fc.uint32Array({ minLength: 250, maxLength: 260 }),
);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    array,
    fc.string(),
    fc.bigInt(),
    fc.constant(undefined),
    fc.array(fc.string()),
    fc.constantFrom("Uint8Array", "boxed array"),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("boxed array", "buffer")), tie("any")),
  ),
})).any;

test("are in place again after the clone, as every other value is", () => {
  fc.assert(fc.property(value, (value) => {
    expect(unbox(structuredClone(box(value)))).toEqual(structuredClone(value));
  }));
});

test("are only the bytes of a part where the array is a part", () => {
  const whole = new Uint8Array(10_000).map((_, i) => i);
  const boxed = box({ part: whole.subarray(2_000, 4_000) }) as { part: { buffer: ArrayBuffer } };
  expect(boxed.part.buffer.byteLength).toBe(2_000);
  expect(unbox(boxed)).toEqual({ part: whole.slice(2_000, 4_000) });
});

test("reach a thread and come back", async () => {
  const echo =
    `const { parentPort } = require("node:worker_threads"); parentPort.on("message", (m) => parentPort.postMessage(m));`;
  const worker = new Worker(echo, { eval: true });
  const sent = {
    job: "one",
    coins: { outputs: new Uint8Array(700_000).fill(7), numbers: new Float64Array(40_000).fill(0.5) },
  };
  const answer = new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
  worker.postMessage(box(sent));
  expect(isDeepStrictEqual(unbox(await answer), sent)).toBe(true);
  await worker.terminate();
});
