import { expect, it } from "vitest";
import { VirtualClock } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { Mailboxes } from "#src/runtime/turns/mailboxes.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import { until } from "../../../support/base/until.ts";

it("entities that no command, event or build used for a minute leave memory as others arrive", async () => {
  const clock = new VirtualClock(0);
  const kind = { kind: "counter" } as unknown as ActorKind;
  const mailboxes = new Mailboxes({
    partitions: 1,
    epochOf: () => 1,
    onFenced: () => {},
    onCancelled: () => {},
    load: () =>
      Promise.resolve({ state: { snapshot: {} as never, version: 1, inputSeq: 0 }, paused: false, unread: false }),
    readInputs: () => Promise.resolve([]),
    write: () => Promise.reject(new Error("nothing is to be written")),
    onCommitted: () => {},
    onUnpublished: () => Promise.resolve(),
    clock,
    log: silentLog,
  });
  const use = async (id: string) => {
    mailboxes.refresh(kind, { kind: "counter", id });
    await until("no turn runs", async () => !mailboxes.view({ kind: "counter", id }).inTurn, 5_000, 1);
  };
  for (let n = 0; n < 100; n++) await use(`early ${n}`);
  clock.advance(59_000);
  await use("late");
  expect(mailboxes.counts().resident).toBe(101);
  // a build reads the state of an entity without a turn
  mailboxes.resident({ kind: "counter", id: "early 7" });
  clock.advance(2_000);
  for (let n = 0; n < 50; n++) await use("late");
  expect(mailboxes.counts().resident).toBe(2);
  expect(mailboxes.view({ kind: "counter", id: "early 7" }).resident).toBe(true);
});
