/** The runner of effects beside reads of their rows, which may be older than what the runner knows. */
import { expect, test } from "vitest";
import { setup } from "xstate";
import { z } from "zod";
import { createLog } from "#src/base/log.ts";
import { turnActions } from "#src/base/turn.ts";
import { createEffects } from "#src/runtime/effects/effects.ts";
import type { OpenEffect } from "#src/runtime/effects/openRows.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import { openStore } from "#src/store/store.ts";

const effect: OpenEffect = {
  entity: { kind: "door", id: "front" },
  partition: 1,
  n: 1,
  name: "ring",
  input: null,
  attempts: 0,
};

/** A runner whose effect counts its runs, and ends when `end` is called. */
function runner() {
  let runs = 0;
  let end = () => {};
  const ended = new Promise<undefined>((resolve) => end = () => resolve(undefined));
  const door: ActorKind = {
    kind: "door",
    version: 1,
    machine: setup({ actions: turnActions }).createMachine({ initial: "open", states: { open: {} } }),
    commands: z.never(),
    inputs: z.never(),
    outcomes: z.never(),
    effects: {
      ring: async () => {
        runs++;
        return await ended;
      },
    },
  };
  const effects = createEffects({
    // Nothing is written: the effect does not fail.
    store: openStore("postgres://127.0.0.1:1/none", { max: 1, application: "test" }),
    kinds: new Map([["door", door]]),
    epochOf: () => 1,
    deliver: async () => true,
    log: createLog("error"),
  });
  return { effects, end, runs: () => runs };
}

test("an effect whose row was read before its end, but started after it, does not run again", async () => {
  const { effects, end, runs } = runner();
  effects.start([effect]);
  await effects.resume(async () => {
    end();
    while (effects.count() > 0) await Promise.resolve();
    return [effect];
  });
  expect([runs(), effects.count()]).toEqual([1, 0]);
});

test("an effect that is open in its row runs, once while it runs already", async () => {
  const { effects, end, runs } = runner();
  await effects.resume(async () => [effect]);
  await effects.resume(async () => [effect]);
  expect([runs(), effects.count()]).toEqual([1, 1]);
  end();
  while (effects.count() > 0) await Promise.resolve();
  await effects.resume(async () => [effect]);
  expect(runs()).toBe(2);
});
