/** The NATS endpoint with a real client library and with raw clients. */
import { connect, createInbox, Events, headers, type NatsConnection, StringCodec } from "nats";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { type NatsEndpoint, type NatsEndpointOptions, startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { type Raw, raw } from "./raw.ts";

const TOKEN = "a-token-of-the-test";
const { encode, decode } = StringCodec();
const HELLO = `CONNECT {"auth_token":"${TOKEN}","verbose":false,"headers":true,"no_responders":true}\r\nPING\r\n`;

let endpoint: NatsEndpoint;
const connections: NatsConnection[] = [];
const raws: Raw[] = [];

async function restart(options: Partial<NatsEndpointOptions>): Promise<void> {
  await endpoint.stop();
  endpoint = await startNatsEndpoint({ port: 0, token: TOKEN, log: silentLog, ...options });
}

/** A client of the library with the token. */
async function member(options: Record<string, unknown> = {}): Promise<NatsConnection> {
  const connection = await connect({ servers: endpoint.url, token: TOKEN, reconnect: false, ...options });
  connections.push(connection);
  return connection;
}

/** A client of the library without it. */
async function guest(): Promise<NatsConnection> {
  const connection = await connect({ servers: endpoint.url, reconnect: false });
  connections.push(connection);
  return connection;
}

/** A raw connection. Unless stated otherwise it has authenticated with the token. */
async function bytes(hello = HELLO): Promise<Raw> {
  const client = await raw(endpoint.port);
  raws.push(client);
  if (hello) {
    client.send(hello);
    await client.until("PONG\r\n");
  }
  return client;
}

beforeEach(async () => {
  endpoint = await startNatsEndpoint({ port: 0, token: TOKEN, log: silentLog });
});
afterEach(async () => {
  for (const { socket } of raws.splice(0)) socket.destroy();
  await Promise.all(connections.splice(0).map((connection) => connection.close()));
  await endpoint.stop();
});

describe("a client with the token", () => {
  test("publishes and subscribes, with wildcards, headers and any text", async () => {
    const [a, b] = await Promise.all([member(), member()]);
    const subscription = b.subscribe("one.*.>", { max: 2 });
    await b.flush();
    const fields = headers();
    fields.append("Kind", "first");
    fields.append("Kind", "grüße");
    a.publish("one.two", encode("does not match"));
    a.publish("one.two.three", encode("with headers"), { headers: fields });
    a.publish("one.two.thrée.four", encode("ünïcode ∀"));
    const got: string[] = [];
    for await (const { subject, data, headers } of subscription) {
      got.push(`${subject} ${decode(data)} ${headers?.values("Kind").join("|") ?? ""}`.trim());
    }
    expect(got).toEqual(["one.two.three with headers first|grüße", "one.two.thrée.four ünïcode ∀"]);
  });

  test("gets answers to requests; one without subscribers fails with 503 at once", async () => {
    const [a, b] = await Promise.all([member(), member()]);
    b.subscribe("double", {
      callback: (_error, message) => void message.respond(encode(decode(message.data).repeat(2))),
    });
    await b.flush();
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, i) => a.request("double", encode(`${i}.`), { timeout: 5_000 })),
    );
    expect(answers.map(({ data }) => decode(data))).toEqual(Array.from({ length: 200 }, (_, i) => `${i}.${i}.`));
    await expect(a.request("nobody", encode(""), { timeout: 60_000 })).rejects.toMatchObject({ code: "503" });
    // a subscriber that has gone does not count
    await b.close();
    await expect.poll(() => endpoint.stats().connections).toBe(1);
    await expect(a.request("double", encode(""), { timeout: 60_000 })).rejects.toMatchObject({ code: "503" });
  });

  test("shares a queue group's messages: each goes to one member, and all get some", async () => {
    const clients = await Promise.all([member(), member(), member()]);
    const counts = [0, 0, 0];
    const seen = new Set<string>();
    let plain = 0;
    for (const [i, client] of clients.entries()) {
      client.subscribe("work.>", {
        queue: "workers",
        callback: (_error, message) => {
          counts[i]!++;
          seen.add(decode(message.data));
        },
      });
      await client.flush();
    }
    clients[0]!.subscribe("work.*", { callback: () => void plain++ });
    for (let i = 0; i < 300; i++) clients[0]!.publish("work.x", encode(String(i)));
    await expect.poll(() => counts.reduce((sum, n) => sum + n, 0)).toBe(300);
    expect(seen.size).toBe(300);
    expect(Math.min(...counts)).toBeGreaterThan(30);
    expect(plain).toBe(300);
  });

  test("does not get its own messages if it said so, not even in a queue group", async () => {
    const quiet = await bytes(HELLO.replace('"verbose"', '"echo":false,"verbose"'));
    const other = await bytes();
    other.send("SUB x workers 1\r\nPING\r\n");
    await expect.poll(() => other.received().split("PONG").length).toBe(3);
    quiet.send("SUB x workers 1\r\nSUB x 2\r\n" + "PUB x 1\r\na\r\n".repeat(20) + "PUB only.me r 0\r\n\r\nPING\r\n");
    await expect.poll(() => quiet.received().split("PONG").length).toBe(3);
    expect(quiet.received()).not.toContain("MSG x");
    await expect.poll(() => other.received().split("MSG x 1 1\r\na\r\n").length).toBe(21);
  });

  test("gets +OK if it said so, and errors for invalid subjects", async () => {
    const client = await bytes("");
    client.send(`CONNECT {"auth_token":"${TOKEN}","verbose":true,"pedantic":true}\r\n`);
    client.send("SUB a.b 1\r\nPUB a.b 2\r\nhi\r\nUNSUB 1\r\nSUB a..b 2\r\nSUB a.>.b 3\r\nPUB a.* 0\r\n\r\nPING\r\n");
    const got = (await client.until("PONG")).split("\r\n").slice(1);
    expect(got.filter((line) => line === "+OK")).toHaveLength(4);
    expect(got.filter((line) => line.startsWith("-ERR"))).toEqual([
      "-ERR 'Invalid Subject'",
      "-ERR 'Invalid Subject'",
      "-ERR 'Invalid Publish Subject'",
    ]);
    expect(client.received()).toContain("MSG a.b 1 2\r\nhi\r\n");
  });

  test("gets as many messages as its UNSUB allows, counted from the subscription", async () => {
    const client = await bytes();
    client.send("SUB a 1\r\n" + "PUB a 0\r\n\r\n".repeat(2) + "UNSUB 1 3\r\n" + "PUB a 0\r\n\r\n".repeat(5));
    client.send(
      "SUB b 2\r\nPUB b 0\r\n\r\nUNSUB 2 1\r\nPUB b 0\r\n\r\nSUB a 1\r\nPUB a 1\r\n!\r\nUNSUB nope\r\nPING\r\n",
    );
    await expect.poll(() => client.received().split("PONG").length).toBe(3);
    expect(client.received().split("MSG a 1 0\r\n").length - 1).toBe(3);
    expect(client.received().split("MSG b 2 0\r\n").length - 1).toBe(1);
    expect(client.received()).toContain("MSG a 1 1\r\n!\r\n");
    expect(endpoint.stats().subscriptions).toBe(1);
  });

  test("without header support gets only the body, and may send no headers", async () => {
    const [plain, other] = await Promise.all([bytes(HELLO.replace(/,"headers".*?}/, "}")), bytes()]);
    plain.send("SUB a 1\r\nPING\r\n");
    await expect.poll(() => plain.received().split("PONG").length).toBe(3);
    other.send("HPUB a r 12 14\r\nNATS/1.0\r\n\r\nhi\r\n");
    expect(await plain.until("MSG")).toContain("MSG a 1 r 2\r\nhi\r\n");
    plain.send("HPUB a 12 12\r\nNATS/1.0\r\n\r\n\r\n");
    expect(await plain.ended).toContain("-ERR 'Message Headers Not Supported'");
  });

  test("may send payloads up to the limit, and is disconnected above it", async () => {
    await restart({ maxPayload: 70_000 });
    const [a, b] = await Promise.all([member(), bytes()]);
    expect(a.info?.max_payload).toBe(70_000);
    const subscription = a.subscribe("large", { max: 1 });
    await a.flush();
    b.send("PUB large 70000\r\n" + "x".repeat(70_000) + "\r\n");
    for await (const message of subscription) expect(message.data.length).toBe(70_000);
    b.send("PUB large 70001\r\n");
    expect(await b.ended).toContain("-ERR 'Maximum Payload Violation'");
    const c = await bytes();
    c.send("SUB " + "a".repeat(5_000));
    expect(await c.ended).toContain("-ERR 'Maximum Control Line Exceeded'");
  });

  test("is understood byte by byte", async () => {
    const client = await bytes("");
    const stream = HELLO + "SUB in.* 1\r\nHPUB in.x r 12 14\r\nNATS/1.0\r\n\r\nhi\r\nPUB nobody in.y 0\r\n\r\nPING\r\n";
    client.socket.setNoDelay(true);
    for (const byte of stream) {
      client.send(byte);
      await sleep(0);
    }
    await expect.poll(() => client.received().split("PONG").length).toBe(3);
    expect(client.received()).toContain("HMSG in.x 1 r 12 14\r\nNATS/1.0\r\n\r\nhi\r\n");
    expect(client.received()).toContain("HMSG in.y 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\n");
  });

  test("reconnects by itself when the endpoint comes back", async () => {
    const client = await member({ reconnect: true, reconnectTimeWait: 20, maxReconnectAttempts: -1 });
    const subscription = client.subscribe("again", { max: 1 });
    await client.flush();
    await restart({ port: endpoint.port });
    for await (const status of client.status()) if (status.type === Events.Reconnect) break;
    await client.flush();
    client.publish("again", encode("here"));
    for await (const message of subscription) expect(decode(message.data)).toBe("here");
  });
});

describe("a client without the token", () => {
  test("gets events, with any narrower subscription", async () => {
    const [a, b] = await Promise.all([member(), guest()]);
    const all: string[] = [];
    b.subscribe("arbor.event.>", { callback: (_error, message) => void all.push(message.subject) });
    const subscription = b.subscribe("arbor.event.token.*.boot", { max: 1 });
    await b.flush();
    a.publish("arbor.event.transaction.1.accepted", encode("x"));
    a.publish("arbor.other", encode("x"));
    a.publish("arbor.event.token.1.boot", encode("x"));
    for await (const message of subscription) expect(message.subject).toBe("arbor.event.token.1.boot");
    expect(all).toEqual(["arbor.event.transaction.1.accepted", "arbor.event.token.1.boot"]);
  });

  test("may subscribe to nothing else and stays connected", async () => {
    const client = await bytes("PING\r\n");
    const refused = [">", "*", "arbor.>", "arbor.*.token", "*.event.>", "arbor.event", "_INBOX.>", "w.1.cmd", "$SYS.>"];
    for (const [i, subject] of refused.entries()) client.send(`SUB ${subject} ${i}\r\n`);
    client.send("SUB secret workers 99\r\nSUB arbor.event.> 100\r\n");
    await client.until('Subscription to "secret" using queue "workers"');
    for (const subject of refused) {
      expect(client.received()).toContain(`-ERR 'Permissions Violation for Subscription to "${subject}"'\r\n`);
    }
    await expect.poll(() => endpoint.stats().subscriptions).toBe(1);
    const sender = await bytes();
    for (const subject of ["a", "arbor.x", "arbor.event", "_INBOX.x", "w.1.cmd", "secret", "arbor.event.token.x"]) {
      sender.send(`PUB ${subject} 3\r\n<${subject.length % 10}>\r\n`);
    }
    await client.until("MSG arbor.event.token.x 100 3\r\n");
    expect(client.received().match(/MSG /g)).toHaveLength(1);
    expect(endpoint.stats().refused).toBe(refused.length + 1);
  });

  test("may publish nothing, not even to its own subscription, and the library reports that", async () => {
    const [a, b] = await Promise.all([member(), guest()]);
    let heard = 0;
    a.subscribe(">", { callback: () => void heard++ });
    await a.flush();
    const statuses: string[] = [];
    (async () => {
      for await (const status of b.status()) statuses.push(JSON.stringify(status));
    })();
    b.publish("arbor.event.token.forged.boot", encode("forged"));
    b.publish("w.1.cmd", encode("x".repeat(100_000)), { reply: createInbox() });
    await b.flush();
    await a.flush();
    expect(heard).toBe(0);
    expect(b.isClosed()).toBe(false);
    await expect.poll(() => statuses.join()).toContain("PERMISSIONS_VIOLATION");
    const client = await bytes("PING\r\n");
    client.send(
      "SUB arbor.event.> 1\r\nPUB arbor.event.x 2\r\nhi\r\nHPUB arbor.event.x 12 12\r\nNATS/1.0\r\n\r\n\r\nPING\r\n",
    );
    await expect.poll(() => client.received().split("PONG").length).toBe(3);
    expect(client.received().split(`-ERR 'Permissions Violation for Publish to "arbor.event.x"'`)).toHaveLength(3);
    expect(client.received()).not.toContain("MSG");
    expect(heard).toBe(0);
  });

  test("takes nothing from a queue group of clients with the token", async () => {
    const [a, b] = await Promise.all([member(), guest()]);
    const heard = { a: 0, b: 0 };
    a.subscribe("arbor.event.>", { queue: "audit", callback: () => void heard.a++ });
    b.subscribe("arbor.event.>", { queue: "audit", callback: () => void heard.b++ });
    await Promise.all([a.flush(), b.flush()]);
    for (let i = 0; i < 100; i++) a.publish("arbor.event.x");
    await expect.poll(() => heard).toEqual({ a: 100, b: 100 });
  });

  test("is refused with a wrong token or with credentials of another kind", async () => {
    for (const token of ["wrong", TOKEN + "x", TOKEN.slice(1), " "]) {
      await expect(connect({ servers: endpoint.url, token, reconnect: false })).rejects.toMatchObject({
        code: "AUTHORIZATION_VIOLATION",
      });
    }
    await expect(connect({ servers: endpoint.url, user: "root", pass: TOKEN, reconnect: false })).rejects.toMatchObject(
      {
        code: "AUTHORIZATION_VIOLATION",
      },
    );
    for (const auth of ["true", "1", "{}", "[]"]) {
      const client = await bytes("");
      client.send(`CONNECT {"auth_token":${auth}}\r\nSUB > 1\r\n`);
      expect(await client.ended).toContain("-ERR 'Authorization Violation'");
    }
    expect(endpoint.stats().subscriptions).toBe(0);
  });

  test("may have a bounded number of subscriptions and connections", async () => {
    await restart({ limits: { guestSubscriptions: 3, maxGuests: 2, maxConnections: 4 } });
    const first = await bytes('CONNECT {"verbose":false}\r\nPING\r\n');
    for (let i = 0; i < 5; i++) first.send(`SUB arbor.event.${i} ${i}\r\n`);
    await expect.poll(() => first.received().split("maximum subscriptions exceeded").length).toBe(3);
    await bytes("CONNECT {}\r\nPING\r\n");
    const third = await bytes("");
    third.send("CONNECT {}\r\n");
    expect(await third.ended).toContain("-ERR 'maximum connections exceeded'");
    await expect.poll(() => endpoint.stats().connections).toBe(2);
    await Promise.all([bytes(), bytes()]);
    const fifth = await bytes("");
    fifth.send(`CONNECT {"auth_token":"${TOKEN}"}\r\n`);
    expect(await fifth.ended).toContain("-ERR 'maximum connections exceeded'");
  });
});

describe("time", () => {
  test("ends a silent connection, and one that no longer answers, but not one that does", async () => {
    await restart({ limits: { connectMs: 300, pingMs: 300 } });
    const [silent, dead, alive] = await Promise.all([bytes(""), bytes(), member({ pingInterval: 100_000 })]);
    expect(await silent.ended).toContain("-ERR 'Authentication Timeout'");
    expect(await dead.ended).toMatch(/PING\r\nPING\r\n-ERR 'Stale Connection'/);
    await sleep(1_500);
    await alive.flush();
    expect(endpoint.stats().connections).toBe(1);
  });

  test("sends buffered output at a stop, and ends every connection", async () => {
    const client = await bytes();
    client.send("SUB a 1\r\nPUB a 2\r\nhi\r\nPING\r\n");
    await expect.poll(() => client.received().split("PONG").length).toBe(3);
    await Promise.all([endpoint.stop(), endpoint.stop()]);
    expect(await client.ended).toContain("MSG a 1 2\r\nhi");
    await expect(connect({ servers: endpoint.url, reconnect: false, timeout: 1_000 })).rejects.toThrow();
  });

  test("a taken port is named in the error message", async () => {
    const { port } = endpoint;
    await expect(startNatsEndpoint({ port, token: TOKEN, log: silentLog })).rejects.toMatchObject({
      code: "port_taken",
      message:
        `Port ${port} for the NATS endpoint is used by another program; stop that program or choose another port with --nats-port.`,
    });
  });
});

test("counts messages, clients and refusals", async () => {
  const client = await bytes();
  client.send("SUB a 1\r\nSUB a 2\r\nPUB a 2\r\nhi\r\nPING\r\n");
  await expect.poll(() => client.received().split("PONG").length).toBe(3);
  const stats = endpoint.stats();
  expect(stats).toMatchObject({ connections: 1, subscriptions: 2, messagesIn: 1, messagesOut: 2, refused: 0 });
  expect(stats.bytesOut).toBe(client.received().length);
});
