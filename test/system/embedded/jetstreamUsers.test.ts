/** JetStream's API for users of the users file: streams that their rights cover, and no message in another's name. */
import { connect, type NatsConnection } from "nats";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hash } from "@node-rs/bcrypt";
import type { Transition } from "#src/runtime/events/transition.ts";
import { until } from "../../support/base/until.ts";
import { temporaryFiles } from "../../support/infra/tlsCertificates.ts";
import { eventDatabase, insertTransitions, serveDatabase, type ServedEndpoint } from "../../support/infra/jetStream.ts";

const TOKEN = "a-token-of-the-test";
const PASSWORD = "correct horse";
const EVERY_API = { allow: ["$JS.API.>", "$JS.ACK.>"] };

let database: Awaited<ReturnType<typeof eventDatabase>>;
let served: ServedEndpoint;
let files: Awaited<ReturnType<typeof temporaryFiles<"users">>>;
let member: NatsConnection;
const connections: NatsConnection[] = [];

beforeAll(async () => {
  const password = await hash(PASSWORD, 4);
  const of = (user: string, subjects: readonly string[], deny: readonly string[] = []) => ({
    user,
    password,
    subscribe: { allow: [...subjects, `_INBOX_${user}.>`], deny },
    publish: EVERY_API,
  });
  const users = [
    of("events", ["arbor.event.>"]),
    of("both", ["arbor.event.>", "arbor.content.>"]),
    of("part", ["arbor.event.>", "arbor.content.>"], ["arbor.content.wallet.>"]),
  ];
  files = await temporaryFiles({ users: JSON.stringify(users) });
  database = await eventDatabase();
  served = await serveDatabase(database.store, TOKEN, { users: files.users });
  const row: Transition = {
    entity: { kind: "token", id: "a" },
    version: 1,
    from: "a",
    to: "b",
    type: "UPDATED",
    cause: "test",
    at: 1_700_000_000_000,
  };
  await insertTransitions(database.store, [row]);
  member = await connect({ servers: served.endpoint.url, token: TOKEN });
  connections.push(member);
});
afterAll(async () => {
  for (const one of connections) await one.close();
  await served?.stop();
  await database?.drop();
});

async function client(user: string): Promise<NatsConnection> {
  const inboxPrefix = `_INBOX_${user}`;
  const one = await connect({ servers: served.endpoint.url, user, pass: PASSWORD, inboxPrefix, reconnect: false });
  connections.push(one);
  return one;
}

test.each([
  ["events", ["ARBOR_EVENTS"]],
  ["both", ["ARBOR_CONTENT", "ARBOR_EVENTS"]],
  ["part", ["ARBOR_EVENTS"]],
])("%s reads the streams of which it may get every message", async (user, streams) => {
  const manager = await (await client(user)).jetstreamManager();
  expect(await manager.streams.names().next()).toEqual(streams);
  // a transition is in the stream once no transaction of the server that began before it is open
  const first = await until(
    "the transition is in the stream",
    () => manager.streams.getMessage("ARBOR_EVENTS", { seq: 1 }).catch(() => undefined),
  );
  expect(first.subject).toBe("arbor.event.token.a.updated");
  const content = manager.consumers.add("ARBOR_CONTENT", { ack_policy: "none" as never });
  if (streams.length === 2) expect(await content).toMatchObject({ stream_name: "ARBOR_CONTENT" });
  else await expect(content).rejects.toMatchObject({ api_error: { err_code: 10_059 } });
});

test("no answer and no stored message goes where the user may not receive", async () => {
  const heard: string[] = [];
  member.subscribe("arbor.worker.one", { callback: (_, message) => void heard.push(message.string()) });
  await member.flush();
  const user = await client("both");
  user.publish("$JS.API.INFO", "", { reply: "arbor.worker.one" });
  user.publish("$JS.API.STREAM.INFO.ARBOR_EVENTS", "", { reply: "arbor.worker.one" });
  const config = { deliver_subject: "arbor.worker.one", ack_policy: "none", deliver_policy: "all" };
  const made = await user.request(
    "$JS.API.CONSUMER.CREATE.ARBOR_EVENTS",
    JSON.stringify({ stream_name: "ARBOR_EVENTS", config }),
  );
  expect(made.json()).toMatchObject({ error: { err_code: 10_012 } });
  const own = { ...config, deliver_subject: "_INBOX_both.events" };
  const received = user.subscribe(own.deliver_subject, { max: 1 });
  await user.request(
    "$JS.API.CONSUMER.CREATE.ARBOR_EVENTS",
    JSON.stringify({ stream_name: "ARBOR_EVENTS", config: own }),
  );
  for await (const message of received) expect(message.subject).toBe("arbor.event.token.a.updated");
  await member.flush();
  expect(heard).toEqual([]);
});
