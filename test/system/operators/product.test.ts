/**
 * Events of the whole product for its subscribers: over NATS, as server-sent events and to a webhook, as CloudEvents
 * and according to its AsyncAPI document.
 */
import { CloudEvent, HTTP } from "cloudevents";
import { connect, type NatsConnection } from "nats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Arbor } from "../../support/service/arbor.ts";
import { validatorOf } from "../../support/docs/asyncApi.ts";
import { readSse } from "../../support/runtime/subscribers.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { type OperatorClient, operatorClient } from "../../support/runtime/operatorService.ts";
import { type Receiver, startReceiver } from "../../support/runtime/webhookReceiver.ts";
import { fund, http, land, User } from "../../support/service/user.ts";
import { until } from "../../support/base/until.ts";

/** A received message: its text, its headers and its channel. */
interface Heard {
  readonly text: string;
  readonly headers?: Record<string, string>;
  readonly subject?: string;
}
type Way = "NATS" | "SSE" | "webhook";

describe("subscribers of the product", () => {
  let infra: Infra;
  let arbor: Arbor;
  let operator: OperatorClient;
  let nats: NatsConnection;
  let receiver: Receiver;
  let webhook: string;
  const ended = new AbortController();
  const heard: Record<Way, Heard[]> = { NATS: [], SSE: [], webhook: [] };
  const ids = (way: Way) => [...new Set(heard[way].map(({ text }) => JSON.parse(text).id as string))].sort();

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await Arbor.start({ infra, mining: "submit", env: { ARBOR_WEBHOOKS_PRIVATE: "true" } });
    operator = operatorClient(arbor.operator);
    nats = await connect({ servers: infra.natsUrl });
    nats.subscribe("arbor.event.>", {
      callback: (_, message) => void heard.NATS.push({ text: message.string(), subject: message.subject }),
    });
    await nats.flush();
    receiver = await startReceiver();
    const made = await operator.post("/webhooks", { url: receiver.url });
    expect(made).toMatchObject({ status: 200, body: { status: "active" } });
    const { id, secret } = made.body as { id: string; secret: string };
    webhook = id;
    receiver.secret = secret;
    const stream = await fetch(`${arbor.operator}/events?from=start`, { signal: ended.signal });
    void (async () => {
      for await (const { event, data } of readSse(stream, ended.signal)) {
        if (event === "transition") heard.SSE.push({ text: data! });
      }
    })().catch(() => {});
    const user = new User();
    await fund(arbor.devnet, arbor.tokens, user);
    const built = await http(arbor.tokens, "GET", `/transaction/${user.address}/boot-token`);
    await land(arbor.tokens, user.sign(built.body.unsignedTransaction));
    await until("the token's and the transaction's transitions", async () => {
      for (const { text, headers } of receiver.messages) {
        if (!heard.webhook.some((one) => one.text === text)) heard.webhook.push({ text, headers });
      }
      const all = ids("NATS");
      return all.some((id) => id.startsWith("token/")) && all.filter((id) =>
            id.startsWith("transaction/")
          ).length >= 3 &&
        (["SSE", "webhook"] as const).every((way) => ids(way).length === all.length);
    });
  });
  afterAll(async () => {
    ended.abort();
    await nats?.close();
    await arbor?.end();
    await receiver?.stop();
    await infra?.stop();
  });

  it("get the same events, each in its format", () => {
    expect(ids("SSE")).toEqual(ids("NATS"));
    expect(ids("webhook")).toEqual(ids("NATS"));
    expect(receiver.forged).toBe(0);
  });

  it.each(["NATS", "SSE", "webhook"] as const)("get CloudEvents 1.0, strictly, over %s", (way) => {
    for (const { text, headers } of heard[way]) {
      const event = headers === undefined
        ? new CloudEvent(JSON.parse(text), true)
        : HTTP.toEvent({ headers, body: text }) as CloudEvent<unknown>;
      expect(event).toBeInstanceOf(CloudEvent);
      expect(event.validate()).toBe(true);
      expect(event.specversion).toBe("1.0");
    }
  });

  it.each(["NATS", "SSE", "webhook"] as const)(
    "get events over %s that conform to the AsyncAPI document",
    async (way) => {
      const { status, headers, body } = await operator.get("/asyncapi.json");
      expect([status, headers["content-type"]]).toEqual([200, "application/json; charset=utf-8"]);
      const document = body as Parameters<typeof validatorOf>[0] & { channels: Record<string, { address: string }> };
      const faults = validatorOf(document);
      const kinds = new Set<string>();
      for (const { text, headers, subject } of heard[way]) {
        const event = JSON.parse(text);
        const { kind } = event.data.entity;
        kinds.add(kind);
        expect(faults(way === "webhook" ? `webhook-${kind}` : kind, event), text).toEqual([]);
        for (const wrong of [{ ...event, type: "x" }, { ...event, data: { ...event.data, to: "x" } }]) {
          expect(faults(kind, wrong)).not.toEqual([]);
        }
        if (subject !== undefined) {
          const form = document.channels[kind]!.address.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^.]+");
          expect(subject).toMatch(new RegExp(`^${form}$`));
        }
        if (headers === undefined) continue;
        const given = Object.fromEntries(
          Object.entries(headers).filter(([name]) => /^(webhook-.*|content-type|user-agent)$/.test(name)),
        );
        expect(faults(`webhook-${kind}`, given, "headers")).toEqual([]);
        expect(faults(`webhook-${kind}`, { ...given, "webhook-signature": "v1,x" }, "headers")).not.toEqual([]);
      }
      expect([...kinds].sort()).toEqual(["token", "transaction"]);
    },
  );

  it("get the test event of a webhook that conforms to the document", async () => {
    const before = receiver.messages.length;
    expect(await operator.post(`/webhooks/${webhook}/test`)).toMatchObject({ status: 200, body: { delivered: true } });
    const sent = receiver.messages.slice(before).find(({ text }) => text.includes("arbor.webhook.test"))!;
    const faults = validatorOf((await operator.get("/asyncapi.json")).body as Parameters<typeof validatorOf>[0]);
    expect(faults("webhook-test", JSON.parse(sent.text))).toEqual([]);
  });

  it("may not start at a position in the future, nor filter by invalid text", async () => {
    const ahead = "9000000000000000000";
    for (
      const [path, code] of [
        [`/events?from=${ahead}`, "bad_position"],
        [`/events?from=${ahead}.token.1.x`, "bad_position"],
        ["/events?from=5.token.1.%2500", "bad_position"],
        ["/events?kind=token&id=%00", "bad_request"],
        [`/actors?after=${Buffer.from('{"kind":"token","id":"\\u0000"}').toString("base64url")}`, "bad_cursor"],
        ["/events?kind=token&id=zz", "bad_id"],
        ["/events?id=zz", "bad_id"],
        ["/events?kind=token&transition=submit", "bad_transition"],
        ["/dead-letters?kind=token&id=zz", "bad_id"],
        ["/actors?kind=token&state=in_ledger", "bad_state"],
        ["/actors/token/%00", "bad_request"],
        ["/actors?q=%00", "bad_request"],
      ] as const
    ) expect(await operator.get(path), path).toMatchObject({ status: 400, body: { code } });
    const url = receiver.url;
    expect(await operator.post("/webhooks", { url, from: ahead })).toMatchObject({ status: 400 });
    expect(await operator.post("/webhooks", { url, id: "\0" })).toMatchObject({ status: 400 });
    expect(await operator.post("/webhooks", { url, kind: "token", id: "zz" })).toMatchObject({
      status: 400,
      body: { code: "bad_id" },
    });
    expect(await operator.post("/webhooks", { url, id: "\ud800" })).toMatchObject({ status: 400 });
    const resumed = await operator.call("GET", "/events?from=now", undefined, { "last-event-id": ahead });
    expect(resumed).toMatchObject({ status: 400, body: { code: "bad_position" } });
  });
});
