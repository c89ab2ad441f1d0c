/** The NATS endpoint as real client libraries and strangers meet it. */
import { connect, headers, type NatsConnection, StringCodec } from "nats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { type NatsEndpoint, startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";

const TOKEN = "a-token-of-the-test";
const { encode, decode } = StringCodec();

let endpoint: NatsEndpoint;
const connections: NatsConnection[] = [];

/** A client with the token. */
async function member(options: Record<string, unknown> = {}): Promise<NatsConnection> {
  const connection = await connect({ servers: endpoint.url, token: TOKEN, reconnect: false, ...options });
  connections.push(connection);
  return connection;
}

/** A client without it. */
async function guest(options: Record<string, unknown> = {}): Promise<NatsConnection> {
  const connection = await connect({ servers: endpoint.url, reconnect: false, ...options });
  connections.push(connection);
  return connection;
}

beforeAll(async () => {
  endpoint = await startNatsEndpoint({ port: 0, token: TOKEN, log: silentLog });
});
afterAll(async () => {
  await Promise.all(connections.map((connection) => connection.close()));
  await endpoint.stop();
});

describe("a client with the token", () => {
  test("publishes and subscribes, wildcards and headers included", async () => {
    const [a, b] = await Promise.all([member(), member()]);
    const subscription = b.subscribe("one.*.>", { max: 2 });
    await b.flush();
    const fields = headers();
    fields.append("Kind", "first");
    fields.append("Kind", "grüße");
    a.publish("one.two", encode("does not match"));
    a.publish("one.two.three", encode("with headers"), { headers: fields });
    a.publish("one.two.three.four", encode("ünïcode ∀"));
    const got: string[] = [];
    for await (const message of subscription) {
      got.push(`${message.subject} ${decode(message.data)} ${message.headers?.values("Kind").join("|") ?? ""}`.trim());
    }
    expect(got).toEqual(["one.two.three with headers first|grüße", "one.two.three.four ünïcode ∀"]);
  });

  test("requests and is answered; a request that nobody listens for fails with 503 at once", async () => {
    const [a, b] = await Promise.all([member(), member()]);
    b.subscribe("double", {
      callback: (_error, message) => void message.respond(encode(decode(message.data).repeat(2))),
    });
    await b.flush();
    expect(decode((await a.request("double", encode("ab"), { timeout: 2_000 })).data)).toBe("abab");
    const began = performance.now();
    await expect(a.request("nobody", encode(""), { timeout: 5_000 })).rejects.toMatchObject({ code: "503" });
    expect(performance.now() - began).toBeLessThan(2_000);
  });
});

describe("a client without the token", () => {
  test("hears events and nothing else", async () => {
    const [a, b] = await Promise.all([member(), guest()]);
    const subscription = b.subscribe("arbor.event.token.*.>", { max: 1 });
    await b.flush();
    a.publish("arbor.event.token.id1.boot", encode("x"));
    for await (const message of subscription) expect(message.subject).toBe("arbor.event.token.id1.boot");
  });
});
