/** Rights on the embedded endpoint and on a nats-server with the shipped configuration: one suite for both. */
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { hash } from "@node-rs/bcrypt";
import { connect, type NatsConnection } from "nats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { temporaryFiles } from "../../support/infra/tlsCertificates.ts";
import { testRights } from "../../support/infra/natsRights.ts";
import { hasNatsServer, startNatsServer } from "../../support/infra/natsServer.ts";

const TOKEN = "a-token-of-the-test";
const READER = { user: "reader", pass: "reader-password" };
const SHOP = { user: "shop", pass: "shop-password" };
const SHOP_RIGHTS = {
  subscribe: { allow: ["shop.>", "open.*"], deny: ["shop.secret.>"] },
  publish: { allow: ["shop.*.order"], deny: ["shop.x.order"] },
};

testRights("the embedded endpoint", false, async () => {
  const users = JSON.stringify([
    {
      user: READER.user,
      password: await hash(READER.pass, 4),
      subscribe: { allow: ["arbor.event.>", "arbor.content.>", "_INBOX_reader.>"] },
    },
    { user: SHOP.user, token: `sha256:${createHash("sha256").update(SHOP.pass).digest("hex")}`, ...SHOP_RIGHTS },
  ]);
  const files = await temporaryFiles({ users });
  const endpoint = await startNatsEndpoint({ port: 0, token: TOKEN, log: silentLog, users: files.users });
  return {
    port: endpoint.port,
    service: { auth_token: TOKEN },
    reader: READER,
    // this user has a token
    shop: { auth_token: SHOP.pass },
    stop: async () => {
      await endpoint.stop();
      await files.remove();
    },
  };
});

const CONFIGURATION = fileURLToPath(new URL("../../../src/app/nats-server.conf", import.meta.url));
const installed = hasNatsServer();

/** Starts a nats-server with the shipped configuration and one more user, which has what the example does not have. */
async function startShipped() {
  const shipped = await readFile(CONFIGURATION, "utf8");
  const more = `{ user: ${SHOP.user}, password: "${await hash(SHOP.pass, 4)}", permissions: ${
    JSON.stringify(SHOP_RIGHTS)
  } }`;
  const configuration = shipped.replace("users = [", `users = [\n${more}`);
  const files = await temporaryFiles({ configuration: "" });
  await writeFile(files.configuration, configuration);
  const passwords = { SERVICE_PASSWORD: TOKEN, READER_PASSWORD: READER.pass };
  const server = await startNatsServer(true, ["-c", files.configuration], passwords);
  return {
    url: server.url,
    stop: async () => {
      await server.stop();
      await files.remove();
    },
  };
}

testRights("a nats-server with the shipped configuration", !installed, async () => {
  const { url, stop } = await startShipped();
  const port = Number(new URL(url).port);
  return { port, service: { user: "arbor", pass: TOKEN }, reader: READER, shop: SHOP, stop };
});

describe.skipIf(!installed)("JetStream of a nats-server with the shipped configuration", () => {
  let server: Awaited<ReturnType<typeof startShipped>>;
  let service: NatsConnection;
  const connections: NatsConnection[] = [];

  const client = async (options: Record<string, unknown> = {}) => {
    const one = await connect({ servers: server.url, reconnect: false, ...options });
    connections.push(one);
    return one;
  };

  beforeAll(async () => {
    server = await startShipped();
    service = await client({ user: "arbor", pass: TOKEN });
    const { streams } = await service.jetstreamManager();
    await streams.add({ name: "ARBOR_EVENTS", subjects: ["arbor.event.>"], allow_direct: true });
    await streams.add({ name: "ARBOR_CONTENT", subjects: ["arbor.content.>"], allow_direct: true });
    const stream = service.jetstream();
    for (const subject of ["arbor.event.wallet.w1.live", "arbor.content.wallet.w1.live"]) {
      await stream.publish(subject, new TextEncoder().encode(subject));
    }
  });
  afterAll(async () => {
    await Promise.all(connections.map((one) => one.close()));
    await server?.stop();
  });

  test("a guest reads the stream of events message by message, and changes nothing", async () => {
    const guest = await client();
    const { streams, consumers } = await guest.jetstreamManager({ domain: "arbor" });
    const direct = async (name: string, body: string) => {
      const request = new TextEncoder().encode(body);
      return (await guest.request(`$JS.arbor.API.DIRECT.GET.${name}`, request, { timeout: 20_000 })).string();
    };
    expect((await streams.info("ARBOR_EVENTS")).state.messages).toBe(1);
    const subject = "arbor.event.wallet.w1.live";
    expect((await streams.getMessage("ARBOR_EVENTS", { seq: 1 })).string()).toBe(subject);
    expect(await direct("ARBOR_EVENTS", '{"seq":1}')).toBe(subject);
    expect(await direct(`ARBOR_EVENTS.${subject}`, "")).toBe(subject);
    const refused = [
      streams.info("ARBOR_CONTENT"),
      streams.getMessage("ARBOR_CONTENT", { seq: 1 }),
      direct("ARBOR_CONTENT", '{"seq":1}'),
      streams.delete("ARBOR_EVENTS"),
      streams.purge("ARBOR_EVENTS"),
      streams.deleteMessage("ARBOR_EVENTS", 1),
      streams.add({ name: "MINE", subjects: ["mine.>"] }),
      consumers.add("ARBOR_EVENTS", { deliver_subject: "arbor.worker.one" }),
      consumers.add("ARBOR_EVENTS", { durable_name: "mine" }),
    ];
    for (const one of await Promise.allSettled(refused)) {
      expect(one).toMatchObject({ status: "rejected", reason: { code: "PERMISSIONS_VIOLATION" } });
    }
  });

  test("no answer to a guest reaches a subject of Arbor's account", async () => {
    const heard: string[] = [];
    const own = service.subscribe(">", { callback: (_, { subject }) => void heard.push(subject) });
    await service.flush();
    const guest = await client();
    for (const reply of ["arbor.worker.one", "arbor.event.token.forged.boot", "arbor.content.wallet.w1.live"]) {
      for (const request of ["STREAM.INFO", "STREAM.MSG.GET", "DIRECT.GET"]) {
        guest.publish(`$JS.arbor.API.${request}.ARBOR_EVENTS`, new TextEncoder().encode('{"seq":1}'), { reply });
      }
    }
    // the requests before it have been answered when this one is
    await guest.request("$JS.arbor.API.STREAM.INFO.ARBOR_EVENTS", undefined, { timeout: 20_000 });
    await service.flush();
    own.unsubscribe();
    expect(heard.filter((subject) => subject.startsWith("$JS.API.STREAM.MSG.GET."))).toHaveLength(3);
    expect(heard.filter((subject) => subject.startsWith("arbor."))).toEqual([]);
  });

  test("the user that reads everything has consumers of both streams, and may not change them", async () => {
    const reader = await client({ ...READER, inboxPrefix: "_INBOX_reader" });
    for (const [stream, subject] of [["ARBOR_EVENTS", "event"], ["ARBOR_CONTENT", "content"]] as const) {
      const consumer = await reader.jetstream().consumers.get(stream);
      const message = await consumer.next({ expires: 20_000 });
      expect(message?.subject).toBe(`arbor.${subject}.wallet.w1.live`);
    }
    const { streams } = await reader.jetstreamManager();
    for (const one of await Promise.allSettled([streams.delete("ARBOR_CONTENT"), streams.purge("ARBOR_EVENTS")])) {
      expect(one).toMatchObject({ status: "rejected", reason: { code: "PERMISSIONS_VIOLATION" } });
    }
  });
});
