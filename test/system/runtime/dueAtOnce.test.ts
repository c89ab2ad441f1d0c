/** Many reminders that are due at the same moment: a sweep takes up some of them, and the next one does not wait. */
import { expect, test } from "vitest";
import { setup } from "xstate";
import { z } from "zod";
import { silentLog } from "#src/base/log.ts";
import { turnActions } from "#src/base/turn.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { createPartitions, partitionOf } from "#src/runtime/placement/partitions.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import { startWorker } from "#src/runtime/worker.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore } from "#src/store/store.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";

const bell: ActorKind = {
  kind: "bell",
  version: 1,
  machine: setup({ actions: turnActions }).createMachine({
    initial: "silent",
    states: { silent: { on: { RING: "rung" } }, rung: {} },
  }),
  commands: z.never(),
  inputs: z.never(),
  outcomes: z.never(),
};

/** More than two sweeps take up. */
const BELLS = 10_500;
/** Longer than the test. */
const SWEEP_MS = 3_600_000;

test("10,500 reminders that are due at once fire without waiting for further sweeps", async () => {
  const infra = await sharedInfra();
  const store = openStore(infra.databaseUrl, { max: 4 });
  await migrate(store, migrationsOf("runtime"));
  const partitions = await createPartitions(store, 8);
  const ids = Array.from({ length: BELLS }, (_, i) => `bell-${i}`);
  await store.sql`
    insert into reminder (kind, id, name, n, partition, at, event)
    select 'bell', id, 'ring', 1, partition, now() - interval '1 minute', '{"type":"RING"}'
    from unnest(${ids}::text[], ${
    ids.map((id) => partitionOf({ kind: "bell", id }, partitions))
  }::int[]) x(id, partition)`;
  const bus = await connectBus({
    url: infra.natsUrl,
    ...(infra.natsToken === undefined ? {} : { token: infra.natsToken }),
  });
  const worker = await startWorker({ id: "w", store, bus, kinds: [bell], log: silentLog, sweepMs: SWEEP_MS });
  try {
    await until("all have rung", async () => worker.state().events === BELLS);
    expect([...await store.sql`select count(*)::int as n from reminder`]).toEqual([{ n: 0 }]);
  } finally {
    await worker.stop();
    await bus.close();
    await store.close();
    await infra.stop();
  }
});
