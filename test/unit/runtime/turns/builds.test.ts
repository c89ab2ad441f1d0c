import { expect, it } from "vitest";
import { z } from "zod";
import { metrics } from "#src/base/metrics.ts";
import { silentLog } from "#src/base/log.ts";
import { createBuilds } from "#src/runtime/turns/builds.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import { exposition } from "../../../support/runtime/prometheusText.ts";

it("a build that is requested again while it runs is made and counted once", async () => {
  let runs = 0;
  const slow = {
    input: z.object({}),
    run: async () => {
      runs++;
      await new Promise((resolve) => setTimeout(resolve, 5));
      return { ok: true as const, value: runs };
    },
  };
  const kind = { kind: "counted-once", builds: { slow } } as unknown as ActorKind;
  const wanted = { kind, entity: { kind: kind.kind, id: "a" }, partition: 0 };
  const builds = createBuilds({
    load: () => Promise.reject(new Error("it is resident")),
    // Builds of this kind do not read it.
    resident: () => ({ snapshot: { value: "live", context: {}, can: () => true } as never, version: 1, inputSeq: 0 }),
    epochOf: () => 1,
    stopping: new AbortController().signal,
    log: silentLog,
  });
  const deadline = Date.now() + 300_000;
  const ask = () => builds(wanted, "once", "slow", {}, deadline);
  expect(await Promise.all([ask(), ask(), ask()])).toEqual(Array(3).fill({ ok: true, value: 1 }));
  await builds(wanted, "none", "no such build", {}, deadline);
  const counted = exposition(await metrics.text()).get("arbor_builds_total")!.samples
    .filter(({ labels }) => labels.kind === kind.kind);
  expect(counted.map(({ labels, value }) => [labels.build, labels.outcome, value])).toEqual([
    ["slow", "ok", 1],
    ["unknown", "unknown_kind", 1],
  ]);
});
