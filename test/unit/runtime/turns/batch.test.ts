/** Group commit: when a batch starts, and with how many items. */
import { expect, test } from "vitest";
import { batched } from "#src/runtime/turns/batch.ts";

/** A batched function whose batches end when they are told to. */
function held(limits: { most: number; inFlight: number; worth?: number }) {
  const running: { readonly size: number; end(): void }[] = [];
  const call = batched<number, number>((items) =>
    new Promise((resolve) => {
      running.push({ size: items.length, end: () => resolve(items) });
    }), limits);
  return { running, sizes: () => running.map(({ size }) => size), call };
}

const moment = () => new Promise((resolve) => setTimeout(resolve));

test("calls of one moment are one batch; later ones wait for its end", async () => {
  const { running, sizes, call } = held({ most: 8, inFlight: 1 });
  const calls = [1, 2, 3].map(call);
  await moment();
  expect(sizes()).toEqual([3]);
  const more = [4, 5].map(call);
  await moment();
  expect(sizes()).toEqual([3]);
  running[0]!.end();
  expect(await Promise.all(calls)).toEqual([1, 2, 3]);
  await moment();
  expect(sizes()).toEqual([3, 2]);
  running[1]!.end();
  expect(await Promise.all(more)).toEqual([4, 5]);
});

test("where it is worth a batch, it starts before the moment ends, beside a running one", async () => {
  const { running, sizes, call } = held({ most: 8, inFlight: 2, worth: 4 });
  const calls = Array.from({ length: 11 }, (_, i) => call(i));
  // Both started within the loop; the last three are not worth a third one.
  expect(sizes()).toEqual([4, 4]);
  await moment();
  expect(sizes()).toEqual([4, 4]);
  running[1]!.end();
  await moment();
  expect(sizes()).toEqual([4, 4]);
  running[0]!.end();
  await moment();
  expect(sizes()).toEqual([4, 4, 3]);
  running[2]!.end();
  expect(await Promise.all(calls)).toEqual(Array.from({ length: 11 }, (_, i) => i));
});
