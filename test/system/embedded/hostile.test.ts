/** The NATS endpoint with hostile clients: it does not end, its memory does not grow, and other clients are served. */
import { connect } from "nats";
import { randomBytes } from "node:crypto";
import process from "node:process";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sleep } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { type NatsEndpoint, startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { DEFAULT_LIMITS } from "#src/embedded/nats/limits.ts";
import { type Raw, raw } from "./raw.ts";

const TOKEN = "a-token-of-the-test";
const HELLO = `CONNECT {"auth_token":"${TOKEN}","verbose":false,"headers":true}\r\n`;
const MEGABYTE = 1024 * 1024;

let endpoint: NatsEndpoint;
const raws: Raw[] = [];

async function client(hello: string): Promise<Raw> {
  const one = await raw(endpoint.port);
  raws.push(one);
  one.send(hello);
  return one;
}

/** Memory in bytes of this process, which runs the endpoint. */
function memory(): number {
  return process.memoryUsage().rss;
}

beforeEach(async () => {
  endpoint = await startNatsEndpoint({ port: 0, token: TOKEN, log: silentLog });
});
afterEach(async () => {
  for (const { socket } of raws.splice(0)) socket.destroy();
  await endpoint.stop();
});

/** A seeded generator of numbers below a bound, so that failures are reproducible. */
function dice(seed: number): (bound: number) => number {
  return (bound) => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) % bound;
}

test("garbage of every kind, cut anywhere, with and without the token, does not affect others", async () => {
  const observer = await connect({ servers: endpoint.url, token: TOKEN });
  observer.subscribe("echo", { callback: (_error, message) => void message.respond(message.data) });
  const roll = dice(20_260_101);
  const pieces = [
    "PUB a 5\r\n",
    "PUB a r 1048577\r\n",
    "HPUB a 9 3\r\n",
    "SUB arbor.event.> 1\r\n",
    "SUB > 1\r\n",
    "\r\n",
    "\0",
  ];
  pieces.push(
    "CONNECT {}\r\n",
    "CONNECT [\r\n",
    'CONNECT {"auth_token":{}}\r\n',
    "PING\r\n",
    "-ERR\r\n",
    "UNSUB 1 9\r\n",
  );
  pieces.push("MSG a 1 1\r\nx\r\n", `SUB ${"*.".repeat(900)}> 2\r\n`, `PUB ${"a.".repeat(1_900)}a 0\r\n\r\n`, HELLO);
  for (let round = 0; round < 150; round++) {
    const one = await client(roll(2) ? HELLO : "");
    const parts = Array.from({ length: 1 + roll(12) }, () => {
      const choice = roll(3);
      return choice ? Buffer.from(pieces[roll(pieces.length)]!, "latin1") : randomBytes(1 + roll(3_000));
    });
    const stream = Buffer.concat(parts);
    for (let from = 0; from < stream.length;) {
      const until = Math.min(stream.length, from + 1 + roll(roll(2) ? 8 : 2_000));
      one.send(stream.subarray(from, until));
      from = until;
      if (from > 200 && roll(4)) break;
    }
    const farewell = roll(3);
    if (farewell === 0) one.socket.destroy();
    if (farewell === 1) one.socket.end();
    if (round % 10 === 0) {
      const answer = await observer.request("echo", new Uint8Array([round]), { timeout: 5_000 });
      expect([...answer.data]).toEqual([round]);
    }
  }
  for (const { socket } of raws) socket.destroy();
  await expect.poll(() => endpoint.stats().connections, { timeout: 10_000 }).toBe(1);
  expect(endpoint.stats().subscriptions).toBeLessThanOrEqual(2);
  await observer.close();
});

test("announcing payloads without sending them costs no memory", async () => {
  const before = memory();
  const many = await Promise.all(Array.from({ length: 100 }, () => client(HELLO)));
  for (const one of many) one.send("PUB a 1048576\r\nx");
  await sleep(300);
  expect(memory() - before).toBeLessThan(60 * MEGABYTE);
  expect(endpoint.stats().connections).toBe(100);
});

test("guests that publish without end, are refused, and never read are disconnected", async () => {
  const before = memory();
  const flood = Buffer.from("PUB arbor.event.x 0\r\n\r\nSUB > 1\r\nPING\r\n".repeat(2_000));
  const many = await Promise.all(Array.from({ length: 4 }, () => client("CONNECT {}\r\n")));
  for (const one of many) {
    one.socket.pause();
    const pour = () => {
      while (!one.socket.destroyed && one.socket.write(flood));
    };
    one.socket.on("drain", pour);
    pour();
  }
  await expect.poll(() => endpoint.stats().slowConsumers, { timeout: 60_000 }).toBe(4);
  await expect.poll(() => endpoint.stats().connections).toBe(0);
  expect(memory() - before).toBeLessThan(250 * MEGABYTE);
});

test("a subscriber that stops reading is disconnected, and neither the publisher nor other subscribers wait for it", async () => {
  await endpoint.stop();
  endpoint = await startNatsEndpoint({
    port: 0,
    token: TOKEN,
    log: silentLog,
    limits: { guestBacklog: 128 * MEGABYTE, stallMs: 2_000 },
  });
  const lazy = await client("SUB arbor.event.> 1\r\n");
  lazy.socket.pause();
  const stalled = await client("SUB arbor.event.small 1\r\n");
  stalled.socket.pause();
  const [publisher, reader] = await Promise.all([
    connect({ servers: endpoint.url, token: TOKEN }),
    connect({ servers: endpoint.url }),
  ]);
  let heard = 0;
  reader.subscribe("arbor.event.>", { callback: () => void heard++ });
  await reader.flush();
  const body = new Uint8Array(100_000);
  for (let i = 0; i < 600; i++) {
    publisher.publish("arbor.event.large", body);
    if (i % 10 === 0) await publisher.flush();
  }
  await expect.poll(() => heard, { timeout: 20_000 }).toBe(600);
  await expect.poll(() => endpoint.stats().slowConsumers).toBe(1);
  // little data waits for this client, but it does not read
  for (let i = 0; i < 200; i++) publisher.publish("arbor.event.small", body);
  await publisher.flush();
  await expect.poll(() => endpoint.stats().slowConsumers, { timeout: 20_000 }).toBe(2);
  await expect.poll(() => endpoint.stats().connections).toBe(2);
  await Promise.all([publisher.close(), reader.close()]);
});

test("a client that closed its side and does not read is disconnected soon", async () => {
  const one = await client(HELLO + "SUB a 1\r\n");
  one.socket.pause();
  for (let i = 0; i < 20; i++) one.send("PUB a 1000000\r\n" + "x".repeat(1_000_000) + "\r\n");
  await expect.poll(() => endpoint.stats().messagesOut, { timeout: 10_000 }).toBe(20);
  one.socket.end();
  await expect.poll(() => endpoint.stats().subscriptions, { timeout: 10_000 }).toBe(0);
  await expect.poll(() => endpoint.stats().connections, { timeout: 10_000 }).toBe(0);
});

test("all guests together hold no more than their share", async () => {
  await endpoint.stop();
  endpoint = await startNatsEndpoint({
    port: 0,
    token: TOKEN,
    log: silentLog,
    limits: { guestBacklog: 8 * MEGABYTE, stallMs: 60_000 },
  });
  const lazy = await Promise.all(Array.from({ length: 5 }, () => client("SUB arbor.event.> 1\r\n")));
  for (const { socket } of lazy) socket.pause();
  const publisher = await connect({ servers: endpoint.url, token: TOKEN });
  await expect.poll(() => endpoint.stats().subscriptions).toBe(5);
  const body = new Uint8Array(500_000);
  for (let i = 0; i < 30; i++) publisher.publish("arbor.event.large", body);
  await publisher.flush();
  await expect.poll(() => endpoint.stats().slowConsumers, { timeout: 10_000 }).toBe(5);
  // one each: the next would be sent after the answer to the PING that follows
  expect(endpoint.stats().bytesOut).toBeLessThan(5 * 500_000 + 100_000);
  await publisher.close();
});

test("guests that subscribe hundreds of times and never read cost no events and little memory, and are disconnected", async () => {
  await endpoint.stop();
  endpoint = await startNatsEndpoint({ port: 0, token: TOKEN, log: silentLog, limits: { stallMs: 1_000 } });
  const [publisher, member, guest] = await Promise.all([
    connect({ servers: endpoint.url, token: TOKEN }),
    connect({ servers: endpoint.url, token: TOKEN }),
    connect({ servers: endpoint.url }),
  ]);
  const heard = { member: 0, guest: 0 };
  member.subscribe("arbor.event.>", { callback: () => void heard.member++ });
  guest.subscribe("arbor.event.>", { callback: () => void heard.guest++ });
  await Promise.all([member.flush(), guest.flush()]);
  const before = memory();
  const subscriptions = Array.from({ length: 250 }, (_, i) => `SUB arbor.event.> ${i}\r\n`).join("");
  const lazy = await Promise.all(Array.from({ length: 200 }, () => client(subscriptions)));
  for (const { socket } of lazy) socket.pause();
  // of each event as many copies as one message may match
  await expect.poll(() => endpoint.stats().subscriptions, { timeout: 30_000 }).toBe(2 + 200 * 4);
  const sentBefore = endpoint.stats().bytesOut;
  const body = new Uint8Array(600);
  const EVENTS = 2_000;
  for (let i = 0; i < EVENTS; i++) {
    publisher.publish("arbor.event.wallet.x.changed", body);
    if (i % 50 === 49) {
      await publisher.flush();
      await sleep(1);
    }
  }
  await expect.poll(() => heard, { timeout: 60_000 }).toEqual({ member: EVENTS, guest: EVENTS });
  // clients that do not read get at most a window and the message that exceeds it
  const others = 2 * EVENTS * 700;
  expect(endpoint.stats().bytesOut - sentBefore - others).toBeLessThan(200 * (DEFAULT_LIMITS.guestWindow + 10_000));
  expect(memory() - before).toBeLessThan(128 * MEGABYTE);
  await expect.poll(() => endpoint.stats().slowConsumers, { timeout: 60_000 }).toBe(200);
  await expect.poll(() => endpoint.stats().connections).toBe(3);
  await Promise.all([publisher.close(), member.close(), guest.close()]);
});

test("silent connections keep out neither clients with the token nor other guests", async () => {
  await Promise.all(Array.from({ length: 2 * DEFAULT_LIMITS.maxSilent }, () => client("")));
  for (const token of [TOKEN, undefined]) {
    const one = await connect({ servers: endpoint.url, reconnect: false, ...(token === undefined ? {} : { token }) });
    await one.flush();
    await one.close();
  }
  expect(endpoint.stats().connections).toBeLessThanOrEqual(DEFAULT_LIMITS.maxSilent + 2);
});

test("a guest that floods its connection with commands is read at its share, and others are served", async () => {
  const churn = Buffer.from("SUB arbor.event.a 1\r\nUNSUB 1\r\n".repeat(1_000));
  const flooder = await client('CONNECT {"verbose":false}\r\n');
  let poured = 0;
  const pour = () => {
    while (!flooder.socket.destroyed && poured < 32 * MEGABYTE) {
      poured += churn.length;
      if (!flooder.socket.write(churn)) return;
    }
  };
  flooder.socket.on("drain", pour);
  pour();
  const member = await connect({ servers: endpoint.url, token: TOKEN });
  const begun = performance.now();
  while (performance.now() - begun < 3_000) {
    await member.flush();
    await sleep(10);
  }
  const seconds = (performance.now() - begun) / 1_000;
  // a chunk may exceed a share, and the excess is deducted later
  expect(endpoint.stats().bytesIn).toBeLessThan((seconds + 2) * DEFAULT_LIMITS.guestsInput + MEGABYTE);
  expect(endpoint.stats().bytesIn).toBeGreaterThan(DEFAULT_LIMITS.guestsInput);
  await member.close();
});

test("guests get no guarded content, whatever they subscribe to, in whatever order", async () => {
  const roll = dice(20_261_123);
  const words = ["arbor", "event", "content", "wallet", "w1", "live", "*", ">", "*", "Arbor", "CONTENT", "."];
  const subject = () => Array.from({ length: 1 + roll(6) }, () => words[roll(words.length)]!).join(".");
  const hellos = [
    "",
    "CONNECT {}\r\n",
    'CONNECT {"user":"","pass":""}\r\n',
    'CONNECT {"verbose":false,"echo":false}\r\n',
  ];
  const guests = await Promise.all(Array.from({ length: 20 }, () => client("")));
  for (const one of guests) {
    for (let i = 0; i < 200; i++) {
      const queue = roll(4) ? "" : "workers ";
      one.send(`SUB ${subject()} ${queue}${roll(50)}\r\n`);
      if (roll(5) === 0) one.send(`UNSUB ${roll(50)} ${roll(3)}\r\n`);
      if (roll(20) === 0) one.send(hellos[roll(hellos.length)]!);
    }
    for (const wide of [">", "arbor.>", "arbor.*.>", "*.content.>", "arbor.*.wallet.w1.live", "arbor.content.>"]) {
      one.send(`SUB ${wide} 60\r\nSUB ${wide} workers 61\r\n`);
    }
    one.send("UNSUB 99\r\nSUB arbor.event.> 99\r\nPING\r\n");
  }
  const [publisher, reader] = await Promise.all([
    connect({ servers: endpoint.url, token: TOKEN }),
    connect({ servers: endpoint.url, token: TOKEN }),
  ]);
  let content = 0;
  reader.subscribe("arbor.content.>", { queue: "workers", callback: () => void content++ });
  await reader.flush();
  await expect.poll(() => guests.every((one) => one.received().includes("PONG")), { timeout: 30_000 }).toBe(true);
  for (let i = 0; i < 50; i++) publisher.publish("arbor.content.wallet.w1.live", new TextEncoder().encode("guarded"));
  publisher.publish("arbor.event.wallet.w1.live", new TextEncoder().encode("public"));
  await publisher.flush();
  for (const one of guests) await one.until("public");
  expect(content).toBe(50);
  for (const one of guests) expect(one.received()).not.toMatch(/guarded|MSG arbor\.content/);
  await Promise.all([publisher.close(), reader.close()]);
});
