/**
 * Rights of clients, as one suite for every server that Arbor runs on: the embedded endpoint and a nats-server with the
 * shipped configuration.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type Raw, raw } from "../../system/embedded/raw.ts";

/** Fields of a CONNECT line. */
export type Credentials = Readonly<Record<string, string>>;

export interface RightsServer {
  readonly port: number;
  /** Credentials of Arbor's processes. */
  readonly service: Credentials;
  /** A user that may subscribe to `arbor.event.>`, `arbor.content.>` and `_INBOX_reader.>`. */
  readonly reader: Credentials;
  /**
   * A user that may subscribe to `shop.>` except `shop.secret.>`, and to `open.*`; and publish to `shop.*.order` except
   * `shop.x.order`.
   */
  readonly shop: Credentials;
  stop(): Promise<void>;
}

/** Credentials that a server refuses, by what is wrong with them. */
const WRONG: readonly [string, Credentials][] = [
  ["a wrong token", { auth_token: "wrong" }],
  ["a wrong password", { user: "reader", pass: "wrong" }],
  ["no password", { user: "reader" }],
  ["no user", { pass: "reader-password" }],
  ["an unknown user", { user: "root", pass: "reader-password" }],
  ["another user's password", { user: "shop", pass: "reader-password" }],
  ["a hash as password", { user: "shop", pass: "$2b$04$abcdefghijklmnopqrstuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuuu" }],
  ["a password with more after it", { user: "reader", pass: "reader-password " }],
];

/** Wildcard subjects that match content, in the ways that the pattern of events might be mistaken for. */
const CONTENT = [
  ">",
  "*.>",
  "arbor.>",
  "arbor.*.>",
  "arbor.*.wallet.>",
  "arbor.*.wallet.w1.live",
  "*.content.>",
  "*.*.wallet.*.*",
  "*.*.*.*.*",
  "arbor.content",
  "arbor.content.>",
  "arbor.content.wallet.w1.live",
  "arbor.content.*.*.*",
  "arbor.event*.>",
];

/** Defines the tests for a server that `start` starts. */
export function testRights(title: string, skip: boolean, start: () => Promise<RightsServer>): void {
  describe.skipIf(skip)(title, () => {
    let server: RightsServer;
    const raws: Raw[] = [];

    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server?.stop());
    afterEach(() => {
      for (const { socket } of raws.splice(0)) socket.destroy();
    });

    /** A client whose CONNECT was sent. */
    async function opened(credentials: Credentials): Promise<Raw> {
      const client = await raw(server.port);
      raws.push(client);
      client.send(`CONNECT ${JSON.stringify({ verbose: false, headers: true, ...credentials })}\r\n`);
      return client;
    }

    /** Sends lines; gives the received lines until the server has handled all of them. */
    async function exchange(client: Raw, ...lines: string[]): Promise<string[]> {
      const before = client.received().length;
      client.send([...lines, "PING", ""].join("\r\n"));
      await expect.poll(() => client.received().slice(before), { timeout: 20_000 }).toContain("PONG\r\n");
      return client.received().slice(before).split("\r\n").filter((line) => line !== "" && line !== "PONG");
    }

    /** A client that was admitted. */
    async function client(credentials: Credentials): Promise<Raw> {
      const one = await opened(credentials);
      expect(await exchange(one)).toEqual([]);
      return one;
    }

    const subscriptions = (subjects: readonly string[]) => subjects.map((subject, i) => `SUB ${subject} ${i + 1}`);
    const refused = (subjects: readonly string[]) =>
      subjects.map((subject) => `-ERR 'Permissions Violation for Subscription to "${subject}"'`);

    /** Publishes to each subject as the service; resolves when the server has handled that. */
    async function publish(...subjects: string[]): Promise<void> {
      const service = await client(server.service);
      expect(await exchange(service, ...subjects.flatMap((subject) => [`PUB ${subject} 1`, "x"]))).toEqual([]);
    }

    /** The subjects of the messages that a client has received, when it has one of `last`. */
    async function received(one: Raw, last: string): Promise<string[]> {
      const subjects = () => [...one.received().matchAll(/^MSG (\S+) /gm)].map(([, subject]) => subject!);
      await expect.poll(subjects, { timeout: 20_000 }).toContain(last);
      return subjects();
    }

    test.each(WRONG)("%s is refused, and the connection is closed", async (_, credentials) => {
      const one = await opened(credentials);
      one.send("SUB arbor.event.> 1\r\nPING\r\n");
      const answer = (await one.ended).split("\r\n").slice(1).filter(Boolean);
      expect(answer).toEqual(["-ERR 'Authorization Violation'"]);
    });

    test("empty credentials are none: the client is a guest", async () => {
      const one = await client({ user: "", pass: "", auth_token: "" });
      expect(await exchange(one, "SUB arbor.event.> 1", "SUB shop.a 2")).toEqual(refused(["shop.a"]));
    });

    test("the service may do everything", async () => {
      const one = await client(server.service);
      expect(await exchange(one, "SUB > 1", "SUB arbor.content.> workers 2")).toEqual([]);
      await publish("arbor.content.wallet.w1.live", "any.thing");
      expect(await received(one, "any.thing")).toEqual([
        "arbor.content.wallet.w1.live",
        "arbor.content.wallet.w1.live",
        "any.thing",
      ]);
    });

    test("a guest reads events, but content by no pattern; the connection stays", async () => {
      const one = await client({});
      expect(await exchange(one, ...subscriptions(CONTENT))).toEqual(refused(CONTENT));
      const queued = CONTENT.map((subject, i) => `SUB ${subject} workers ${100 + i}`);
      expect(await exchange(one, ...queued)).toEqual(
        CONTENT.map((subject) => `-ERR 'Permissions Violation for Subscription to "${subject}" using queue "workers"'`),
      );
      const allowed = ["arbor.event.>", "arbor.event.*.w1.live", "arbor.event.wallet.w1.live"];
      expect(await exchange(one, ...subscriptions(allowed))).toEqual([]);
      await publish("arbor.content.wallet.w1.live", "arbor.event.wallet.w1.live", "arbor.event.end");
      const events = Array.from(allowed, () => "arbor.event.wallet.w1.live");
      expect(await received(one, "arbor.event.end")).toEqual([...events, "arbor.event.end"]);
    });

    test("a guest gets none of the answers to Arbor's processes and users, whether it may subscribe to inboxes or not", async () => {
      const one = await client({});
      await exchange(one, "SUB _INBOX.> 1", "SUB _INBOX_reader.> 2", "SUB arbor.event.> 3");
      await publish("_INBOX.a.b", "_INBOX_reader.a.b", "arbor.event.end");
      expect(await received(one, "arbor.event.end")).toEqual(["arbor.event.end"]);
    });

    test("a guest publishes nothing, with or without a reply subject; the connection stays", async () => {
      const service = await client(server.service);
      expect(await exchange(service, "SUB > 1")).toEqual([]);
      const one = await client({});
      const subjects = [
        "arbor.event.token.t.boot",
        "arbor.content.wallet.w1.live",
        "arbor.worker.one",
        "_INBOX.x",
        "x",
      ];
      expect(await exchange(one, ...subjects.flatMap((subject) => [`PUB ${subject} 1`, "x"]))).toEqual(
        subjects.map((subject) => `-ERR 'Permissions Violation for Publish to "${subject}"'`),
      );
      expect(await exchange(one, "PUB shop.a.order arbor.event.forged 1", "x")).toEqual([
        `-ERR 'Permissions Violation for Publish to "shop.a.order"'`,
      ]);
      await publish("end");
      expect(await received(service, "end")).toEqual(["end"]);
    });

    test("a user reads the content that its rights allow, and nothing else", async () => {
      const one = await client(server.reader);
      const allowed = ["arbor.content.>", "arbor.content.wallet.*.*", "arbor.event.>", "_INBOX_reader.a.*"];
      expect(await exchange(one, ...subscriptions(allowed))).toEqual([]);
      const wider = [
        ">",
        "arbor.>",
        "arbor.*.wallet.w1.live",
        "*.content.>",
        "_INBOX.>",
        "arbor.worker.>",
        "_INBOX_reader",
      ];
      expect(await exchange(one, ...subscriptions(wider))).toEqual(refused(wider));
      expect(await exchange(one, "PUB arbor.content.wallet.w1.live 1", "x", "PUB _INBOX_reader.a.b 1", "x")).toEqual([
        `-ERR 'Permissions Violation for Publish to "arbor.content.wallet.w1.live"'`,
        `-ERR 'Permissions Violation for Publish to "_INBOX_reader.a.b"'`,
      ]);
      await publish("arbor.worker.one", "arbor.content.wallet.w1.live", "_INBOX.x.y", "arbor.event.end");
      expect(await received(one, "arbor.event.end")).toEqual([
        "arbor.content.wallet.w1.live",
        "arbor.content.wallet.w1.live",
        "arbor.event.end",
      ]);
    });

    test("a subscription that is wider than what is denied gets all but that, in a queue group too", async () => {
      const one = await client(server.shop);
      expect(await exchange(one, "SUB shop.> 1", "SUB shop.*.a 2", "SUB shop.> clerks 3")).toEqual([]);
      expect(await exchange(one, ...subscriptions(["shop.secret.>", "shop.secret.a", "shop.secret.*"]))).toEqual(
        refused(["shop.secret.>", "shop.secret.a", "shop.secret.*"]),
      );
      await publish("shop.secret.a", "shop.secret.b.c", "shop.open.a", "shop.secret", "shop.end");
      expect((await received(one, "shop.end")).filter((subject) => subject !== "shop.end")).toEqual([
        ...["shop.open.a", "shop.open.a", "shop.open.a"],
        ...["shop.secret", "shop.secret"],
      ]);
    });

    test("a subscription that is wider than what is allowed is refused", async () => {
      const one = await client(server.shop);
      const allowed = ["open.*", "open.a", "shop.*"];
      expect(await exchange(one, ...subscriptions(allowed))).toEqual([]);
      const wider = ["open", "open.a.b", "open.*.*", "*.a", "*.*", "*.>", ">", "arbor.event.>", "shop"];
      expect(await exchange(one, ...subscriptions(wider))).toEqual(refused(wider));
    });

    test("a user publishes what is allowed and not denied", async () => {
      const service = await client(server.service);
      expect(await exchange(service, "SUB shop.> 1", "SUB end 2")).toEqual([]);
      const one = await client(server.shop);
      const lines = ["shop.a.order", "shop.x.order", "shop.order", "shop.a.order.b", "arbor.event.x"];
      expect(await exchange(one, ...lines.flatMap((subject) => [`PUB ${subject} 1`, "x"]))).toEqual(
        lines.slice(1).map((subject) => `-ERR 'Permissions Violation for Publish to "${subject}"'`),
      );
      await publish("end");
      expect(await received(service, "end")).toEqual(["shop.a.order", "end"]);
    });

    test("what was sent together with CONNECT is done after the credentials were checked, in order", async () => {
      const one = await raw(server.port);
      raws.push(one);
      const hello = JSON.stringify({ verbose: false, ...server.shop });
      const answers = await exchange(
        one,
        `CONNECT ${hello}`,
        "SUB shop.> 1",
        "SUB arbor.event.> 2",
        "PUB shop.a.order 2",
        "hi",
      );
      expect(answers).toEqual([...refused(["arbor.event.>"]), "MSG shop.a.order 1 2", "hi"]);
    });
  });
}
