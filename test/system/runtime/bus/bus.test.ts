/** Subjects that a process serves itself: its own requests need no server, those of other processes use the server. */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import type { Json } from "#src/base/json.ts";
import { type NatsEndpoint, startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { type Bus, type BusError, connectBus } from "#src/runtime/bus/bus.ts";
import { until } from "../../../support/base/until.ts";

const MAX = 4_096;
let endpoint: NatsEndpoint;
let own: Bus;
let other: Bus;
let watcher: Bus;
let overServer = 0;

beforeAll(async () => {
  endpoint = await startNatsEndpoint({ port: 0, token: "t", log: silentLog, maxPayload: MAX });
  [own, other] = await Promise.all([0, 1].map(() => connectBus({ url: endpoint.url, token: "t" }))) as [Bus, Bus];
  watcher = await connectBus({ url: endpoint.url, token: "t" });
  watcher.subscribe("test.>", () => overServer++);
  await watcher.flush();
});
afterAll(async () => {
  await Promise.all([own, other, watcher].map((bus) => bus?.close()));
  await endpoint?.stop();
});
beforeEach(() => void (overServer = 0));

/** How many requests the server has forwarded. */
const passed = async () => {
  for (const bus of [own, other, watcher]) await bus.flush();
  return overServer;
};
const codeOf = (request: Promise<Json>) => request.then(() => "answered", (error: BusError) => error.code);

test("a request of the serving process is answered without the server, with every digit and nothing shared", async () => {
  const end = own.serve("test.echo", (body, respond) => respond?.(body));
  await own.flush();
  const body = { big: 18_446_744_073_709_551_615n, list: [1, "é", null], none: undefined as unknown as Json };
  const answer = await own.request("test.echo", body, 1_000);
  expect(answer).toStrictEqual({ big: 18_446_744_073_709_551_615n, list: [1, "é", null] });
  expect((answer as typeof body).list).not.toBe(body.list);
  expect(await passed()).toBe(0);
  expect(await other.request("test.echo", body, 1_000)).toStrictEqual(answer);
  expect(await passed()).toBe(1);
  end();
});

test("a subject that is no longer served is requested over the server again", async () => {
  const end = own.serve("test.gone", (_, respond) => respond?.("here"));
  const endOther = other.subscribe("test.gone", (_, respond) => respond?.("there"));
  await Promise.all([own.flush(), other.flush()]);
  expect(await own.request("test.gone", null, 1_000)).toBe("here");
  end();
  await own.flush();
  expect(await own.request("test.gone", null, 1_000)).toBe("there");
  endOther();
});

test("limits apply nevertheless: too large a request or response, no response in time, a handler that throws", async () => {
  let threw = "";
  const ends = [
    own.serve("test.large", (_, respond) => {
      try {
        respond?.("x".repeat(MAX));
      } catch (error) {
        threw = (error as BusError).code;
        respond?.("smaller");
      }
    }),
    own.serve("test.silent", () => {}),
    own.serve("test.broken", () => {
      throw new Error("broken");
    }),
    own.serve("test.twice", (_, respond) => {
      respond?.(1);
      respond?.(2);
    }),
  ];
  expect(await codeOf(own.request("test.large", "x".repeat(MAX), 1_000))).toBe("too_large");
  expect(await own.request("test.large", null, 1_000)).toBe("smaller");
  expect(threw).toBe("too_large");
  expect(await codeOf(own.request("test.silent", null, 30))).toBe("timeout");
  expect(await codeOf(own.request("test.broken", null, 30))).toBe("timeout");
  expect(await own.request("test.twice", null, 1_000)).toBe(1);
  for (const end of ends) end();
});

test("without the server, the process still answers what it serves itself", async () => {
  const end = own.serve("test.alone", (_, respond) => respond?.("yes"));
  await endpoint.stop();
  expect(await own.request("test.alone", null, 1_000)).toBe("yes");
  end();
});

test("a token that is refused for a while is retried until it is accepted", async () => {
  const token = "t".repeat(16);
  let server = await startNatsEndpoint({ port: 0, token, log: silentLog });
  const { url, port } = server;
  await expect(connectBus({ url, token: "wrong".repeat(4) })).rejects.toThrow(/Authorization/);
  const bus = await connectBus({ url, token });
  const heard: Json[] = [];
  bus.subscribe("test.rotated", (body) => void heard.push(body));
  await server.stop();
  server = await startNatsEndpoint({ port, token: "u".repeat(16), log: silentLog });
  // Several attempts, each of them refused.
  await sleep(1_500);
  await server.stop();
  server = await startNatsEndpoint({ port, token, log: silentLog });
  await until("it is back", () => bus.flush(500).then(() => true, () => false), 60_000);
  bus.publish("test.rotated", 1);
  await until("it hears", async () => heard.length === 1, 60_000);
  await bus.close();
  await server.stop();
});
