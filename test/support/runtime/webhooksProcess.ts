/** A process that delivers webhooks while it holds the lease, for tests that kill it. */
import process from "node:process";
import { createLog } from "#src/base/log.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { createEventLog } from "#src/runtime/events/eventLog.ts";
import { startWebhooks } from "#src/runtime/webhooks/deliverer.ts";
import { openStore } from "#src/store/store.ts";

const { databaseUrl, natsUrl, natsToken, owner } = JSON.parse(process.env.ARBOR_TEST_WEBHOOKS!) as {
  databaseUrl: string;
  natsUrl: string;
  natsToken: string | undefined;
  owner: string;
};
const log = createLog("error");
const store = openStore(databaseUrl, { max: 4, application: owner });
const bus = await connectBus({ url: natsUrl, ...(natsToken === undefined ? {} : { token: natsToken }) });
const events = createEventLog({ store, bus, log });
startWebhooks({
  store,
  bus,
  events,
  owner,
  ttlMs: 1_000,
  log,
  allowPrivate: true,
  retries: { most: 50, firstMs: 50, longestMs: 500 },
});
