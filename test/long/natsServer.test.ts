/**
 * A nats-server with the shipped configuration: the permissions of a client without credentials, with the whole service
 * on it.
 */
import { connect, createInbox, type NatsConnection, StringCodec } from "nats";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fileURLToPath } from "node:url";
import { STREAM } from "#src/runtime/events/jetStream.ts";
import { Arbor } from "../support/service/arbor.ts";
import { type Infra, sharedInfra } from "../support/infra/infra.ts";
import { hasNatsServer, type NatsServer, startNatsServer } from "../support/infra/natsServer.ts";
import { until } from "../support/base/until.ts";
import { fund, http, land, User } from "../support/service/user.ts";

const CONFIGURATION = fileURLToPath(new URL("../../src/app/nats-server.conf", import.meta.url));
const TOKEN = "a-token-of-the-test";
const { encode } = StringCodec();

describe.skipIf(!hasNatsServer())("a nats-server with the shipped configuration", () => {
  let infra: Infra;
  let server: NatsServer;
  let arbor: Arbor;
  let guest: NatsConnection;
  let member: NatsConnection;

  beforeAll(async () => {
    [infra, server] = await Promise.all([
      sharedInfra(),
      startNatsServer(true, ["-c", CONFIGURATION], { SERVICE_PASSWORD: TOKEN, READER_PASSWORD: "a-password" }),
    ]);
    arbor = await Arbor.start({
      infra: { ...infra, natsUrl: server.url, natsToken: TOKEN },
      env: { NATS_USER: "arbor" },
    });
    guest = await connect({ servers: server.url, reconnect: false });
    member = await connect({ servers: server.url, user: "arbor", pass: TOKEN, reconnect: false });
  });
  afterAll(async () => {
    await Promise.all([guest?.close(), member?.close()]);
    await arbor?.end();
    await server?.stop();
    await infra?.stop();
  });

  test("serves Arbor, and a guest receives its events, which the stream keeps", async () => {
    const heard: string[] = [];
    guest.subscribe("arbor.event.>", { callback: (_, message) => void heard.push(message.subject) });
    await guest.flush();
    const user = new User();
    await fund(arbor.devnet, arbor.tokens, user);
    const built = await http(arbor.tokens, "GET", `/transaction/${user.address}/boot-token`);
    await land(arbor.tokens, user.sign(built.body.unsignedTransaction));
    await until(
      "an event",
      async () => heard.find((subject) => /^arbor\.event\.transaction\..*\.in-ledger$/.test(subject)),
    );
    const { streams } = await member.jetstreamManager();
    expect((await streams.info(STREAM)).state.messages).toBeGreaterThan(0);
  });

  test.each(["arbor.event.token.x.boot", "arbor.worker.one", "$JS.API.STREAM.DELETE.ARBOR_EVENTS", "x"])(
    "a guest may not publish to %s",
    async (subject) => {
      const heard: string[] = [];
      const subscription = member.subscribe(">", { callback: (_, message) => void heard.push(message.subject) });
      await member.flush();
      const forger = await connect({ servers: server.url, reconnect: false });
      const refused = (async () => {
        for await (const status of forger.status()) {
          if (String(status.data).includes("PERMISSIONS_VIOLATION")) return true;
        }
        return false;
      })();
      forger.publish(subject, encode("forged"));
      forger.publish(subject, encode("forged"), { reply: createInbox() });
      await forger.flush();
      expect(await refused).toBe(true);
      // Messages that the server would have forwarded have arrived by now.
      await member.flush();
      expect(heard.filter((one) => one === subject)).toEqual([]);
      subscription.unsubscribe();
      await forger.close();
    },
  );

  test.each([">", "arbor.>", "arbor.worker.>", "arbor.content.>", "$JS.>", "*.event.>"])(
    "a guest may not subscribe to %s",
    async (subject) => {
      const spy = await connect({ servers: server.url, reconnect: false });
      const refused = new Promise((resolve) => spy.subscribe(subject, { callback: (error) => resolve(error?.code) }));
      await spy.flush();
      expect(await refused).toBe("PERMISSIONS_VIOLATION");
      await spy.close();
    },
  );

  test.each([{ user: "arbor", pass: "wrong" }, { token: TOKEN }, { user: "root", pass: TOKEN }])(
    "wrong credentials are refused: %s",
    async (credentials) => {
      const opened = connect({ servers: server.url, reconnect: false, ...credentials });
      await expect(opened).rejects.toMatchObject({ code: "AUTHORIZATION_VIOLATION" });
    },
  );
});
