/** Requests and commands while the NATS server is dead or frozen. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Ask, createAsk } from "#src/runtime/bus/ask.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import { createPartitions } from "#src/runtime/placement/partitions.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { type Infra, sharedInfra } from "../../../support/infra/infra.ts";
import { type NatsServer, startEndpointProcess } from "../../../support/infra/natsServer.ts";

let infra: Infra;
let server: NatsServer;
let store: Store;
let bus: Bus;
let ask: Ask;

beforeAll(async () => {
  [infra, server] = await Promise.all([sharedInfra(), startEndpointProcess()]);
  store = openStore(infra.databaseUrl, { max: 2 });
  await createPartitions(store, 1);
  await store.sql`update partition set owner = 'elsewhere', expires = now() + interval '1 hour'`;
  bus = await connectBus({ url: server.url, token: server.token });
  ask = createAsk({ bus, store });
  bus.serve("test.here", (body, respond) => respond?.(body));
  await bus.flush();
});
afterAll(async () => {
  ask?.close();
  await bus?.close();
  await Promise.all([server?.stop(), store?.close()]);
  await infra?.stop();
});

const command = () => ask.ask({ kind: "account", id: "a" }, { type: "ADD", amount: 1 }, { deadlineMs: 30_000 });
const refused = { ok: false, error: { code: "unavailable", message: expect.stringMatching(/^NATS/) } };

test("a frozen server: commands end before their deadline with the reason; what this process serves is answered", async () => {
  server.signal("SIGSTOP");
  try {
    expect(await command()).toMatchObject(refused);
    expect(await bus.request("test.here", "x", 1_000)).toBe("x");
  } finally {
    server.signal("SIGCONT");
  }
});

test("a dead server: the same", async () => {
  await server.kill();
  await expect(bus.request("test.nobody", null, 30_000)).rejects.toMatchObject({ code: "unreachable" });
  expect(await command()).toMatchObject(refused);
  expect(await bus.request("test.here", "x", 1_000)).toBe("x");
});
