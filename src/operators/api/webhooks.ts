/** Requests and answers about webhooks; safe in a browser. */
import { z } from "zod";
import { eventFilter, position } from "#src/operators/api/events.ts";
import { pageLimit as limit, timeText as time } from "#src/http/textSchemas.ts";

const id = z.string().regex(/^wh_[A-Za-z0-9]{4,40}$/, "not a webhook id").meta({ example: "wh_3kTq0aVx9sBd" });

export const webhookPath = { id };

export const webhookBody = z.object({
  url: z.string().min(1).max(2_000).meta({
    description:
      "URL of the endpoint, over https. This machine and private networks require the option --webhooks-private.",
    example: "https://example.com/hooks/arbor",
  }),
  ...eventFilter,
  from: position.optional().describe("`now` (default), `start`, or a position from GET /events."),
}).strict().meta({ id: "WebhookRequest" });

export const webhook = z.object({
  id,
  url: z.string(),
  filter: z.object({ kind: z.string().nullable(), id: z.string().nullable(), transition: z.string().nullable() }),
  status: z.enum(["active", "failing", "disabled"]).describe(
    "`failing`: the last attempt failed and will be retried. `disabled`: no attempts until the webhook is resumed.",
  ),
  reason: z.string().nullable().describe("Reason for `failing` or `disabled`."),
  position: z.string().describe("Position up to which deliveries have been created from transitions."),
  pending: z.int().describe("Number of deliveries that have not succeeded."),
  created: time,
}).meta({ id: "Webhook" });
export const webhooks = z.object({ webhooks: z.array(webhook) }).meta({ id: "Webhooks" });
export const webhookMade = webhook.extend({
  secret: z.string().describe(
    "Signing key, `whsec_` and base64, as defined by Standard Webhooks. It is returned only once.",
  ),
}).meta({ id: "WebhookMade" });
export const webhookRemoved = z.object({ removed: z.boolean() }).meta({ id: "WebhookRemoved" });

export const deliveriesQuery = {
  status: z.enum(["pending", "delivered"]).optional(),
  limit,
  after: z.string().regex(/^\d{1,15}$/).optional().describe("`next` of the previous page."),
};
export const delivery = z.object({
  n: z.int().describe("Number of the webhook's delivery; the header `webhook-id` is `<webhook>_<n>`."),
  event: z.string().describe("Id of the CloudEvent, `<kind>/<id>:<version>`."),
  status: z.enum(["pending", "delivered"]),
  attempts: z.int(),
  nextAttempt: time.nullable(),
  code: z.int().nullable().describe("HTTP status of the last response."),
  error: z.string().nullable(),
  answer: z.string().nullable().describe("The first 1,024 bytes of the last unsuccessful response."),
  created: time,
  delivered: time.nullable(),
}).meta({ id: "Delivery" });
export const deliveries = z.object({ deliveries: z.array(delivery), next: z.string().nullable() }).meta({
  id: "Deliveries",
});

export const webhookTested = z.object({
  delivered: z.boolean(),
  code: z.int().nullable(),
  error: z.string().nullable(),
  answer: z.string().nullable(),
}).meta({ id: "WebhookTested" });

/** The headers of every message to a webhook. */
export const webhookHeaders = z.object({
  "content-type": z.literal("application/cloudevents+json; charset=utf-8"),
  "webhook-id": z.string().describe("`<webhook>_<n>`, the same for every attempt; use it to detect duplicates."),
  "webhook-timestamp": z.string().regex(/^[0-9]+$/).describe(
    "Time of this attempt in seconds since 1970. Reject messages older than a few minutes.",
  ),
  "webhook-signature": z.string().regex(/^v1,[A-Za-z0-9+/]{43}=$/).describe(
    "`v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` with the bytes of " +
      "the webhook's secret as key, as defined by Standard Webhooks 1.0.",
  ),
  "user-agent": z.literal("arbor-webhooks"),
});

/** What POST /webhooks/{id}/test sends. */
export const testEvent = z.object({
  specversion: z.literal("1.0"),
  id: z.string(),
  source: z.string().meta({ description: "`/arbor/webhooks/<id>`.", format: "uri-reference" }),
  type: z.literal("arbor.webhook.test"),
  time,
  datacontenttype: z.literal("application/json"),
  data: z.object({ webhook: id }),
}).describe("Sent once for each test of a webhook.");
export type TestEvent = z.infer<typeof testEvent>;
