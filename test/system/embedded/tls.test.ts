/** NATS over TLS: the embedded endpoint, and Arbor's own connection to it and to a nats-server. */
import { rename, writeFile } from "node:fs/promises";
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { connect, type NatsConnection } from "nats";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLog, silentLog } from "#src/base/log.ts";
import { type NatsEndpoint, type NatsEndpointOptions, startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { EncryptedSide } from "#src/embedded/nats/tls.ts";
import { type Bus, type BusTls, connectBus } from "#src/runtime/bus/bus.ts";
import * as certificates from "../../support/infra/tlsCertificates.ts";
import { hasNatsServer, type NatsServer, startNatsServer } from "../../support/infra/natsServer.ts";
import { type Raw, raw } from "./raw.ts";

const { CA, CLIENT, CLIENT_KEY, OTHER, OTHER_KEY, SERVER, SERVER_KEY } = certificates;
const TOKEN = "a-token-of-the-test";
const patience = { timeout: 30_000 };
const contents = { cert: SERVER, key: SERVER_KEY, ca: CA };

let files: Awaited<ReturnType<typeof certificates.temporaryFiles<keyof typeof contents>>>;
let endpoint: NatsEndpoint;
const connections: NatsConnection[] = [];
const buses: Bus[] = [];
const raws: Raw[] = [];

async function start(options: Partial<NatsEndpointOptions> = {}): Promise<void> {
  const tls = { cert: files.cert, key: files.key };
  endpoint = await startNatsEndpoint({ port: 0, token: TOKEN, log: silentLog, tls, ...options });
}

async function client(options: Record<string, unknown> = {}): Promise<NatsConnection> {
  const one = await connect({ servers: endpoint.url, tls: { ca: CA }, reconnect: false, ...options });
  connections.push(one);
  return one;
}

async function bus(url: string, tls: BusTls, token: string | undefined = TOKEN): Promise<Bus> {
  const one = await connectBus({ url, tls, token, log: silentLog });
  buses.push(one);
  return one;
}

async function plain(port = endpoint.port): Promise<Raw> {
  const one = await raw(port);
  raws.push(one);
  return one;
}

/** A raw connection after the handshake. */
async function handshake(): Promise<{ socket: TLSSocket; received: () => string }> {
  const one = await plain();
  one.socket.removeAllListeners("data");
  const socket = connectTls({ socket: one.socket, ca: CA, servername: "localhost" });
  await new Promise((resolve, reject) => socket.once("secureConnect", resolve).once("error", reject));
  let received = "";
  socket.on("data", (chunk: Buffer) => received += chunk.toString("latin1"));
  return { socket, received: () => received };
}

beforeEach(async () => {
  files = await certificates.temporaryFiles(contents);
});
afterEach(async () => {
  for (const { socket } of raws.splice(0)) socket.destroy();
  await Promise.all(buses.splice(0).map((one) => one.close()));
  await Promise.all(connections.splice(0).map((one) => one.close()));
  await endpoint?.stop();
  await files.remove();
});

describe("the embedded endpoint with TLS", () => {
  test("says so in INFO, and serves clients of a library with any rights", async () => {
    await start();
    expect(endpoint.url).toBe(`tls://127.0.0.1:${endpoint.port}`);
    expect(JSON.parse((await plain()).received().slice("INFO ".length))).toMatchObject({ tls_required: true });
    const [member, guest] = await Promise.all([client({ token: TOKEN }), client()]);
    const got: number[] = [];
    guest.subscribe("arbor.event.>", { callback: (_, { data }) => void got.push(data.length) });
    await guest.flush();
    for (const size of [0, 1, 16_384, 16_385, 1_000_000]) member.publish("arbor.event.x", new Uint8Array(size));
    await expect.poll(() => got, patience).toEqual([0, 1, 16_384, 16_385, 1_000_000]);
  });

  test("refuses clients without TLS: nothing that they send is read", async () => {
    await start();
    const one = await plain();
    const before = one.received();
    one.send(`CONNECT {"auth_token":"${TOKEN}","verbose":true}\r\nSUB > 1\r\nPING\r\n`);
    expect(await one.ended).not.toMatch(/\+OK|PONG/);
    expect(one.received().slice(before.length)).toBe("");
    expect(endpoint.stats().subscriptions).toBe(0);
  });

  test("is not accepted by a client that trusts another signer, or that expects another name", async () => {
    await start();
    await expect(client({ tls: { ca: OTHER } })).rejects.toThrow();
    await expect(client({ tls: {} })).rejects.toThrow();
    await expect(client({ servers: `tls://127.0.0.2:${endpoint.port}` })).rejects.toThrow();
  });

  test("with certificates of clients refuses those without a valid one", async () => {
    await start({ tls: { cert: files.cert, key: files.key, ca: files.ca } });
    const one = await client({ token: TOKEN, tls: { ca: CA, cert: CLIENT, key: CLIENT_KEY } });
    await one.flush();
    for (const tls of [{ ca: CA }, { ca: CA, cert: OTHER, key: OTHER_KEY }]) {
      await expect(client({ token: TOKEN, tls })).rejects.toThrow();
    }
    expect(endpoint.stats().subscriptions).toBe(0);
    await expect.poll(() => endpoint.stats().connections, patience).toBe(1);
  });

  test("its own process connects to another port of this machine, which serves nobody without the token", async () => {
    const user = { user: "a", token: `sha256:${"0".repeat(64)}`, subscribe: { allow: [">"] } };
    const more = await certificates.temporaryFiles({ users: JSON.stringify([user]) });
    await start({ users: more.users, host: "127.0.0.1" });
    const { port } = new URL(endpoint.ownUrl);
    expect(endpoint.ownUrl).toBe(`nats://127.0.0.1:${port}`);
    expect(Number(port)).not.toBe(endpoint.port);
    const own = await connectBus({ url: endpoint.ownUrl, token: TOKEN });
    buses.push(own);
    await own.flush();
    for (const line of ["CONNECT {}", "SUB arbor.event.> 1", 'CONNECT {"user":"a","pass":"b"}']) {
      const one = await plain(Number(port));
      one.send(`${line}\r\n`);
      expect((await one.ended).split("\r\n").slice(1)).toEqual(["-ERR 'Authorization Violation'", ""]);
    }
    await more.remove();
  });

  test("new clients get a certificate that replaces the first one; one that is not valid does not replace it", async () => {
    const log: string[] = [];
    await start({ log: createLog("error", {}, (line) => void log.push(line)) });
    const replace = async (name: "cert" | "key", text: string) => {
      await writeFile(`${files[name]}.new`, text, { mode: 0o600 });
      await rename(`${files[name]}.new`, files[name]);
    };
    const one = await client({ token: TOKEN });
    await replace("cert", OTHER);
    await expect.poll(() => log.join(), patience).toContain("it is not the key of the certificate");
    await (await client({ token: TOKEN })).flush();
    await replace("key", OTHER_KEY);
    const connects = () => client({ token: TOKEN }).then(() => "connected", () => "refused");
    await expect.poll(connects, patience).toBe("refused");
    await one.flush();
    expect(log.join()).not.toContain("PRIVATE");
  });

  test.each([
    [
      "a missing certificate",
      { cert: "/nowhere/cert.pem" },
      /^\/nowhere\/cert\.pem cannot be used: there is no such file \(ENOENT\)/,
    ],
    ["a certificate that is none", { cert: "key" }, /cannot be used/],
    ["a key that is none", { key: "cert" }, /cannot be used/],
    ["signers that are none", { ca: "key" }, /cannot be used/],
  ])("%s ends the start with a message", async (_, wrong, message) => {
    const named = Object.fromEntries(
      Object.entries(wrong).map(([name, file]) => [name, file.startsWith("/") ? file : files[file as "cert"]]),
    );
    const starting = start({ tls: { cert: files.cert, key: files.key, ...named } });
    await expect(starting).rejects.toMatchObject({ code: "bad_file", message: expect.stringMatching(message) });
  });

  test("ends handshakes that do not come to an end, and serves others in the meantime", async () => {
    await start({ limits: { connectMs: 1_000, maxSilent: 20 } });
    const hello = Buffer.from("16030102000100", "hex");
    const slow = await Promise.all(Array.from({ length: 60 }, async (_, i) => {
      const socket = connectSocket(endpoint.port, "127.0.0.1");
      const closed = new Promise((resolve) => socket.once("close", resolve));
      socket.on("error", () => {});
      socket.on("data", () => {});
      await new Promise((resolve) => socket.once("connect", resolve));
      if (i % 3 > 0) socket.write(hello.subarray(0, i % 3 === 1 ? 3 : hello.length));
      return { socket, closed };
    }));
    const one = await client({ token: TOKEN });
    await Promise.all(slow.map(({ closed }) => closed));
    await one.flush();
    await expect.poll(() => endpoint.stats().connections, patience).toBe(1);
  });

  test("garbage instead of a handshake, or after it, ends that connection only", async () => {
    await start();
    const member = await client({ token: TOKEN });
    for (let i = 0; i < 30; i++) {
      const garbage = Buffer.from(Array.from({ length: 1 + i * 37 }, (_, at) => (at * 31 + i * 7) % 256));
      const one = await plain();
      one.send(i % 2 ? garbage : Buffer.concat([Buffer.from("1603010200", "hex"), garbage]));
      if (i % 3 === 0) one.socket.destroy();
      else one.socket.end();
    }
    const inner = await handshake();
    inner.socket.write("GARBAGE\r\n");
    await expect.poll(inner.received, patience).toContain("-ERR 'Unknown Protocol Operation'");
    await member.flush();
    await expect.poll(() => endpoint.stats().connections, patience).toBe(1);
  });

  test("a guest that floods is read at its share, and one that does not read is disconnected", async () => {
    await start({ limits: { guestsInput: 64 * 1024, stallMs: 1_000 } });
    const member = await client({ token: TOKEN });
    const flooder = await handshake();
    flooder.socket.on("error", () => {});
    const churn = Buffer.from("SUB arbor.event.a 1\r\nUNSUB 1\r\n".repeat(1_000));
    const begun = performance.now();
    for (let i = 0; i < 300; i++) flooder.socket.write(churn);
    await expect.poll(() => endpoint.stats().bytesIn, patience).toBeGreaterThan(256 * 1024);
    const seconds = (performance.now() - begun) / 1_000;
    expect(endpoint.stats().bytesIn).toBeLessThan((seconds + 2) * 64 * 1024 + 256 * 1024);
    flooder.socket.destroy();
    const lazy = await handshake();
    lazy.socket.write("SUB arbor.event.large 1\r\nPING\r\n");
    await expect.poll(lazy.received, patience).toContain("PONG");
    lazy.socket.pause();
    for (let i = 0; i < 100; i++) member.publish("arbor.event.large", new Uint8Array(100_000));
    await member.flush();
    await expect.poll(() => endpoint.stats().slowConsumers, patience).toBe(1);
    await member.flush();
  });
});

test("the encrypted side of a connection reads nothing while it is held, and everything afterwards", async () => {
  const SIZE = 32 * 1024 * 1024;
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const accepted = new Promise<Socket>((resolve) => server.once("connection", resolve));
  const client = connectSocket((server.address() as AddressInfo).port, "127.0.0.1");
  const socket = await accepted;
  const side = new EncryptedSide(socket);
  let read = 0;
  side.on("data", (chunk: Buffer) => {
    read += chunk.length;
    if (read === chunk.length) side.hold();
  });
  let sent = false;
  client.write(Buffer.alloc(SIZE), () => sent = true);
  await expect.poll(() => read, patience).toBeGreaterThan(0);
  const before = read;
  for (let turns = 0; turns < 2_000; turns++) await new Promise((resolve) => setImmediate(resolve));
  expect(read).toBe(before);
  expect(socket.bytesRead).toBeLessThan(1024 * 1024);
  expect(sent).toBe(false);
  side.release();
  await expect.poll(() => read, patience).toBe(SIZE);
  client.destroy();
  side.destroy();
  await new Promise((resolve) => server.close(resolve));
});

describe("the bus", () => {
  test("connects to the endpoint with a certificate file's signer, and sends nothing without TLS", async () => {
    await start();
    const one = await bus(endpoint.url, { ca: CA });
    one.serve("double", (body, respond) => respond?.(`${body}${body}`));
    await one.flush();
    const other = await bus(endpoint.url, { ca: CA });
    expect(await other.request("double", "ab", 20_000)).toBe("abab");
    await endpoint.stop();
    await start({ tls: undefined });
    const log: string[] = [];
    const url = `tls://127.0.0.1:${endpoint.port}`;
    const writer = createLog("warn", {}, (line) => void log.push(line));
    const connecting = connectBus({ url, token: TOKEN, tls: { ca: CA }, log: writer });
    void connecting.then((late) => buses.push(late));
    await expect.poll(() => log.join(), patience).toContain("no connection with TLS to the NATS server yet");
    expect(endpoint.stats().bytesIn).toBe(0);
    // it waits for a server with TLS that it trusts at this address
    await endpoint.stop();
    await start({ port: endpoint.port });
    const late = await connecting;
    await late.flush();
  });
});

describe.skipIf(!hasNatsServer())("the bus on a nats-server with TLS", () => {
  let server: NatsServer;

  test("connects with the signer of its certificate, and with a certificate of its own where that is required", async () => {
    const more = await certificates.temporaryFiles({ configuration: "" });
    await writeFile(
      more.configuration,
      `tls { cert_file: "${files.cert}", key_file: "${files.key}", ca_file: "${files.ca}", verify: true }`,
    );
    server = await startNatsServer(false, ["-c", more.configuration], {}, {
      tls: { ca: CA, cert: CLIENT, key: CLIENT_KEY },
    });
    const url = server.url.replace("nats:", "tls:");
    const one = await bus(url, { ca: CA, cert: CLIENT, key: CLIENT_KEY }, undefined);
    one.serve("double", (body, respond) => respond?.(`${body}${body}`));
    await one.flush();
    expect(await one.request("double", "ab", 20_000)).toBe("abab");
    await server.stop();
    await more.remove();
  });
});
