/** The embedded endpoint over a database in a process of its own, for the bench of replays. */
import process from "node:process";
import { silentLog } from "#src/base/log.ts";
import { eventStreams } from "#src/app/eventSource.ts";
import { JetStreamService } from "#src/embedded/nats/jetstream/service.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { createEventLog } from "#src/runtime/events/eventLog.ts";
import { openStore } from "#src/store/store.ts";

const { databaseUrl, port, token } = JSON.parse(process.env.ARBOR_TEST_NATS ?? "") as {
  databaseUrl: string;
  port: number;
  token: string;
};
const endpoint = await startNatsEndpoint({ port, token, log: silentLog });
const store = openStore(databaseUrl, { max: 12 });
const bus = await connectBus({ url: endpoint.url, token });
const events = createEventLog({ store, bus, log: silentLog });
await JetStreamService.attach(endpoint.attach, {
  streams: eventStreams(store, events, [], 86_400_000),
  log: silentLog,
});
process.on("SIGTERM", () => process.exit(0));
console.log("ready");
