/**
 * `GET /asyncapi.json`: the events that subscribers get over NATS, as server-sent events and at webhooks, as an
 * AsyncAPI 3.0 document.
 *
 * It is derived from the events' schemas (`src/operators/api`) and from the machines of this process, so that it names the
 * transitions and states of each kind as they are.
 */
import { VERSION } from "#src/base/version.ts";
import type { Context } from "hono";
import { z, type ZodType } from "zod";
import { eventsQuery, resetEvent, transitionEventOf } from "#src/operators/api/events.ts";
import { testEvent, webhookHeaders } from "#src/operators/api/webhooks.ts";
import type { OperatorPart } from "#src/operators/http/app.ts";
import { respond } from "#src/http/json.ts";
import examples from "#src/operators/http/eventExamples.json" with { type: "json" };
import { transitionsOf } from "#src/operators/http/selection.ts";
import { endpoint } from "#src/http/route.ts";
import { kebab } from "#src/runtime/events/transition.ts";
import { statesOf } from "#src/runtime/operations/graph.ts";
import { CONTENT_STREAM, STREAM } from "#src/runtime/events/jetStream.ts";
import type { ActorKind } from "#src/runtime/types.ts";

export interface AsyncApiOptions {
  /** The kinds that workers of this version run. */
  readonly kinds: readonly Pick<ActorKind, "kind" | "machine" | "content">[];
  /** Whether the service wants its token. */
  readonly withToken: boolean;
}

type Part = { readonly [name: string]: unknown };

/** The endpoint. */
export function asyncApi(options: AsyncApiOptions): OperatorPart {
  let document: Part | undefined;
  return (app) =>
    endpoint(app, "get", "/asyncapi.json", {
      summary: "The events for subscribers, as an AsyncAPI 3.0 document",
      answer: z.looseObject({ asyncapi: z.literal("3.0.0") }),
    }, async ({ context }: { context: Context }) => respond(context, 200, document ??= asyncApiDocument(options)));
}

/** What the document says of a kind. */
const describedKind = ({ kind, machine, content }: AsyncApiOptions["kinds"][number]) => ({
  kind,
  guarded: content?.guarded === true,
  contents: Object.values(content?.schemas ?? {}),
  byTransition: Object.entries(content?.schemas ?? {}).map(([type, schema]) => [kebab(type), schema] as const),
  states: statesOf(machine),
  transitions: transitionsOf({ machine, content }),
});

type DescribedKind = ReturnType<typeof describedKind>;

/** Members of an object, one for each kind. */
const membersOf = <T>(known: readonly DescribedKind[], value: (one: DescribedKind) => readonly [string, T]) =>
  Object.fromEntries(known.map(value));

const message = (name: string) => ref("components", "messages", name);

/** The document. */
export function asyncApiDocument({ kinds, withToken }: AsyncApiOptions): Part {
  const known = kinds.map(describedKind);
  const security = withToken ? { security: [ref("components", "securitySchemes", "operator")] } : {};
  return {
    asyncapi: "3.0.0",
    info: {
      title: "Arbor events",
      version: VERSION,
      description:
        "Every transition of every actor, delivered at least once, in the order of each actor's versions. Load an actor " +
        "after you have subscribed, and drop events that are not newer than its version.",
    },
    defaultContentType: "application/json",
    servers: {
      nats: {
        host: "{server}",
        protocol: "nats",
        description: "Clients without credentials may subscribe to `arbor.event.>` and may not publish.",
        variables: { server: { default: "127.0.0.1:4222", description: "Address of the NATS server." } },
      },
      operator: {
        host: "{server}",
        protocol: "http",
        description: "The operator service.",
        variables: { server: { default: "127.0.0.1:8091", description: "Address of the operator service." } },
        ...security,
      },
    },
    channels: channels(known),
    operations: operations(known),
    components: components(known, withToken),
  };
}

/** Where events are sent. */
function channels(known: readonly DescribedKind[]): Part {
  return {
    ...membersOf(known, ({ kind, transitions }) => [kind, {
      address: `arbor.event.${kind}.{id}.{transition}`,
      title: `Transitions of every ${kind}`,
      servers: [ref("servers", "nats")],
      parameters: parametersOf(transitions),
      messages: { [kind]: message(kind) },
      "x-jetstream": { stream: STREAM, deduplicatedBy: "Nats-Msg-Id" },
    }]),
    ...Object.fromEntries(
      known.filter(({ guarded }) => guarded).map(({ kind, transitions }) => [`${kind}-content`, {
        address: `arbor.content.${kind}.{id}.{transition}`,
        title: `Transitions of every ${kind}, with content`,
        description: "Only clients with the token, or with rights of their own, may subscribe.",
        servers: [ref("servers", "nats")],
        parameters: parametersOf(transitions),
        messages: { [kind]: message(kind) },
        "x-jetstream": { stream: CONTENT_STREAM, deduplicatedBy: "Nats-Msg-Id" },
      }]),
    ),
    events: {
      address: "/events",
      title: "Transitions as server-sent events",
      description:
        "`event` is the type of the message; `id` is a position in commit order. To resume, a client sends it " +
        "in the header Last-Event-ID.",
      servers: [ref("servers", "operator")],
      messages: { ...membersOf(known, ({ kind }) => [kind, message(kind)]), reset: message("reset") },
    },
    webhooks: {
      address: null,
      title: "Transitions to webhooks",
      description: "POST to the URL of the webhook. A status from 200 to 299 acknowledges the message.",
      messages: {
        ...membersOf(known, ({ kind }) => [kind, message(`webhook-${kind}`)]),
        test: message("webhook-test"),
      },
    },
  };
}

/** Who sends which events. */
function operations(known: readonly DescribedKind[]): Part {
  return {
    ...membersOf(known, ({ kind }) => [`publish-${kind}`, {
      action: "send",
      channel: ref("channels", kind),
      summary: `Publishes a transition of a ${kind}, through JetStream if the server supports it.`,
    }]),
    ...Object.fromEntries(
      known.filter(({ guarded }) => guarded).map(({ kind }) => [`publish-${kind}-content`, {
        action: "send",
        channel: ref("channels", `${kind}-content`),
        summary: `Publishes a transition of a ${kind} with its content.`,
      }]),
    ),
    stream: {
      action: "send",
      channel: ref("channels", "events"),
      summary: "Streams transitions to clients.",
      bindings: { http: { method: "GET", query: schemaOf(z.object(eventsQuery)), bindingVersion: "0.3.0" } },
    },
    deliver: {
      action: "send",
      channel: ref("channels", "webhooks"),
      summary: "Delivers transitions to a webhook; failed deliveries are retried for about a day.",
      bindings: { http: { method: "POST", bindingVersion: "0.3.0" } },
    },
  };
}

/** Schemas and messages of the events. */
function components(known: readonly DescribedKind[], withToken: boolean): Part {
  return {
    schemas: {
      ...membersOf(known, (one) => [`${one.kind}-event`, schemaOf(transitionEventOf(one.kind, one))]),
      ...Object.fromEntries(
        known.flatMap(({ kind, byTransition }) =>
          byTransition.map(([transition, schema]) => [`${kind}.${transition}`, schemaOf(schema)])
        ),
      ),
      reset: schemaOf(resetEvent),
      "webhook-test": schemaOf(testEvent),
      "webhook-headers": schemaOf(webhookHeaders),
    },
    messages: {
      ...membersOf(known, ({ kind, transitions }) => [kind, {
        name: "transition",
        title: `A transition of a ${kind}`,
        payload: ref("components", "schemas", `${kind}-event`),
        ...examplesOf(kind, transitions),
      }]),
      reset: {
        name: "reset",
        title: "Transitions after the requested position were deleted",
        payload: ref("components", "schemas", "reset"),
      },
      ...membersOf(known, ({ kind }) => [`webhook-${kind}`, {
        ...sentToWebhooks,
        name: "transition",
        title: `A transition of a ${kind}`,
        payload: ref("components", "schemas", `${kind}-event`),
      }]),
      "webhook-test": {
        ...sentToWebhooks,
        name: "test",
        title: "A test of a webhook",
        payload: ref("components", "schemas", "webhook-test"),
      },
    },
    ...(withToken
      ? { securitySchemes: { operator: { type: "http", scheme: "bearer", description: "The operator's token." } } }
      : {}),
  };
}

/** An event of each transition: most of them as a service sent them. */
const sent: Part = examples;

function examplesOf(kind: string, transitions: readonly string[]): Part {
  const found = transitions.flatMap((transition) => {
    const payload = sent[`${kind}.${transition}`];
    return payload === undefined ? [] : [{ name: transition, payload }];
  });
  return found.length === 0 ? {} : { examples: found };
}

function parametersOf(transitions: readonly string[]): Part {
  return {
    id: {
      description:
        "Id of the actor. Letters, digits, `_` and `-` are unchanged; every other byte of its UTF-8 is `%` and two " +
        "hexadecimal digits; `*` for all.",
    },
    transition: { description: "Event of the machine in kebab case; `*` for all.", enum: [...transitions, "*"] },
  };
}

const sentToWebhooks = {
  contentType: "application/cloudevents+json",
  headers: { $ref: "#/components/schemas/webhook-headers" },
};

function ref(...path: readonly string[]): Part {
  return { $ref: `#/${path.join("/")}` };
}

/** A schema for AsyncAPI: JSON Schema draft 7, inlined, without the id under which OpenAPI would refer to it. */
function schemaOf(schema: ZodType): Part {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    target: "draft-7",
    override: ({ jsonSchema }) => {
      const { example } = jsonSchema;
      if (example === undefined) return;
      delete jsonSchema.example;
      jsonSchema.examples = [example];
    },
  });
  return rest;
}
