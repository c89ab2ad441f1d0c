/** The AsyncAPI document: valid by AsyncAPI's own schema, and consistent with the machines. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { Ajv, type AnySchema } from "ajv";
import { describe, expect, test } from "vitest";
import { createMachine } from "xstate";
import { actorKinds } from "#actors/kinds.ts";
import { tokenMachine } from "#machines/token.ts";
import { transactionMachine } from "#machines/transaction.ts";
import { asyncApiDocument } from "#src/operators/http/asyncapi.ts";
import { cloudEvent, kebab, type Transition } from "#src/runtime/events/transition.ts";
import { EventDocument } from "../../../support/docs/eventDocument.ts";
import { validatorOf } from "../../../support/docs/asyncApi.ts";
import { notCalled } from "../../../support/service/walletEdge.ts";

const official = JSON.parse(
  readFileSync(createRequire(import.meta.url).resolve("@asyncapi/specs/schemas/3.0.0-without-$id.json"), "utf8"),
) as AnySchema;
const isAsyncApi = new Ajv({ strict: false, validateFormats: false, logger: false }).compile(official);

const kinds = [{ kind: "token", machine: tokenMachine }, { kind: "transaction", machine: transactionMachine }];
const document = (withToken = false) => JSON.parse(JSON.stringify(asyncApiDocument({ kinds, withToken })));
const transition: Transition = {
  entity: { kind: "token", id: "ab.é" },
  version: 7,
  from: "live",
  to: "quarantined",
  type: "QUARANTINED",
  cause: "input:12",
  at: 1_700_000_000_000,
};

describe("the AsyncAPI document", () => {
  test.each([false, true])("is valid by AsyncAPI's schema (token: %s)", (withToken) => {
    isAsyncApi(document(withToken));
    expect(isAsyncApi.errors ?? []).toEqual([]);
    const broken = document();
    broken.operations.stream.action = "shout";
    expect(isAsyncApi(broken)).toBe(false);
  });

  test("has no dangling references", () => {
    const whole = document(true);
    const refs = [...JSON.stringify(whole).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path]) => path!);
    expect(refs.length).toBeGreaterThan(20);
    for (const path of refs) {
      expect(path.split("/").reduce((at, name) => at?.[name], whole), path).toBeDefined();
    }
  });

  test("names the states and transitions of the machines", () => {
    const { channels, components } = document();
    expect(Object.keys(channels)).toEqual(["token", "transaction", "events", "webhooks"]);
    expect(channels.token.address).toBe("arbor.event.token.{id}.{transition}");
    expect(channels.transaction.parameters.transition.enum).toEqual(
      expect.arrayContaining(["submit", "in-ledger", "*"]),
    );
    const { from } = components.schemas["transaction-event"].properties.data.properties;
    expect(from.enum).toEqual(["created", "submitting", "pending", "in_ledger", "expired", "refused", "forgotten"]);
  });

  test("states no states for a machine that can be in several at once", () => {
    const machine = createMachine({
      type: "parallel",
      states: { a: { initial: "x", states: { x: { on: { GO: "y" } }, y: {} } }, b: {} },
    });
    const { components } = asyncApiDocument({ kinds: [{ kind: "both", machine }], withToken: false }) as never as {
      components: { schemas: Record<string, { properties: { data: { properties: { from: object } } } }> };
    };
    expect(components.schemas["both-event"]!.properties.data.properties.from).not.toHaveProperty("enum");
  });

  const whole = actorKinds(notCalled("kinds"));
  const described = JSON.parse(JSON.stringify(asyncApiDocument({ kinds: whole, withToken: false })));

  test.each(whole.map(({ kind, content }) => [kind, content!.schemas] as const))(
    "has a valid example of each event of a %s with content",
    (kind, schemas) => {
      const document = new EventDocument(described);
      const { examples } = described.components.messages[kind] as { examples: { name: string; payload: object }[] };
      for (const { name, payload } of examples) {
        expect([name, document.faults(payload)]).toEqual([name, []]);
        expect(payload).toHaveProperty("type", `arbor.${kind}.${name}`);
      }
      const named = examples.map(({ name }) => name);
      expect(Object.keys(schemas).map(kebab).filter((name) => !named.includes(name))).toEqual([]);
    },
  );

  test("has a channel with content for kinds whose content guests may not read, and only for them", () => {
    const addresses = Object.values<{ address: string | null }>(described.channels).map(({ address }) => address);
    expect(addresses.filter((address) => address?.startsWith("arbor.content."))).toEqual([
      "arbor.content.wallet.{id}.{transition}",
      "arbor.content.shared-wallet.{id}.{transition}",
      "arbor.content.delegation.{id}.{transition}",
    ]);
    isAsyncApi(described);
    expect(isAsyncApi.errors ?? []).toEqual([]);
  });

  test("a check of an event finds content that is wrong, missing, or of another event", () => {
    const document = new EventDocument(described);
    const { payload } = described.components.messages.token.examples.find(({ name }: { name: string }) =>
      name === "booted"
    );
    const { data } = payload;
    expect(document.faults(payload)).toEqual([]);
    for (
      const wrong of [
        { ...payload, data: { ...data, content: { ...data.content, root: 1 } } },
        { ...payload, data: { ...data, content: { ...data.content, secret: "x" } } },
        { ...payload, data: { ...data, content: undefined } },
        { ...payload, dataschema: "urn:arbor:event:token.ended:1" },
        { ...payload, type: "arbor.token.retracted" },
      ]
    ) expect(document.faults(JSON.parse(JSON.stringify(wrong)))).not.toEqual([]);
  });

  test("accepts the published events and nothing else", () => {
    const faults = validatorOf(document());
    const event = cloudEvent(transition);
    expect(faults("token", event)).toEqual([]);
    const data = event.data as Record<string, unknown>;
    const wrong: Record<string, unknown>[] = [
      { ...event, specversion: "0.3" },
      { ...event, type: "arbor.token.sold" },
      { ...event, type: "arbor.transaction.submit" },
      { ...event, source: "/arbor/token/ab.é" },
      { ...event, id: "token/ab.é:0" },
      { ...event, time: "yesterday" },
      { ...event, secret: 1 },
      { ...event, data: { ...data, to: "sold" } },
      { ...event, data: { ...data, version: 0 } },
      { ...event, data: { ...data, entity: { kind: "transaction", id: "x" } } },
      { ...event, data: { ...data, more: 1 } },
      ...Object.keys(event).map((name) => ({ ...event, [name]: undefined })).map((one) =>
        JSON.parse(JSON.stringify(one))
      ),
    ];
    for (const one of wrong) expect(faults("token", one), JSON.stringify(one)).not.toEqual([]);
    expect(faults("transaction", event)).not.toEqual([]);
  });
});
