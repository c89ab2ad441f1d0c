/** A worker process for tests of the runtime: runs accounts, and dies or stops where a test requests it. */
import process from "node:process";
import { createLog } from "#src/base/log.ts";
import type { Json } from "#src/base/json.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import type { EffectRun, WorkerStage } from "#src/runtime/types.ts";
import { startWorker } from "#src/runtime/worker.ts";
import { openStore } from "#src/store/store.ts";
import { accountKind, wire } from "./account.ts";
import type { Fault, WorkerSettings } from "./cluster.ts";
import { callOf, jobKind, limitedBy } from "./job.ts";

const settings = JSON.parse(process.env.ARBOR_TEST_WORKER!) as WorkerSettings;
if (settings.skewMs !== 0) {
  const now = Date.now;
  Date.now = () => now() + settings.skewMs;
}
const store = openStore(settings.databaseUrl, { max: 8, application: settings.id });
const leaseStore = openStore(settings.databaseUrl, { max: 1, application: `${settings.id}-leases` });
const bus = await connectBus({
  url: settings.natsUrl,
  ...(settings.natsToken === undefined ? {} : { token: settings.natsToken }),
});
const faults: Fault[] = [];
function struck({ at, causes }: WorkerStage): void | Promise<void> {
  const i = faults.findIndex((fault) => fault.at === at && causes.some((cause) => cause.includes(fault.cause)));
  if (i < 0) return;
  const [fault] = faults.splice(i, 1);
  bus.publish("test.struck", { worker: settings.id, at, cause: fault!.cause });
  return bus.flush().then(() => void process.kill(process.pid, fault!.signal));
}
const call: EffectRun = async (input, { id }) => {
  await bus.request("test.call", { ...callOf(input), worker: settings.id, id }, 20_000);
  return { type: "DONE", n: callOf(input).n };
};
const worker = await startWorker({
  id: settings.id,
  store,
  leaseStore,
  bus,
  kinds: [settings.jobs === undefined ? accountKind(wire(store)) : jobKind(call, limitedBy(settings.jobs))],
  log: createLog(settings.level ?? "error"),
  leaseMs: settings.leaseMs,
  sweepMs: settings.sweepMs,
  partitions: settings.partitions,
  ...(settings.plain ? {} : { onStep: struck }),
});
bus.subscribe(`test.arm.${settings.id}`, (body, respond) => {
  faults.push(body as unknown as Fault);
  respond?.(null);
});
bus.subscribe(`test.state.${settings.id}`, (_, respond) => respond?.(worker.state() as unknown as Json));
process.on("SIGTERM", async () => {
  await worker.stop();
  await Promise.all([bus.close(), store.close(), leaseStore.close()]);
  process.exit(0);
});
