/**
 * Webhooks over HTTP: registered, listed, tested, resumed, removed. The holder of the webhooks' lease delivers them.
 */
import { randomBytes } from "node:crypto";
import * as api from "#src/operators/api/webhooks.ts";
import { givenPosition } from "#src/http/eventStream.ts";
import { HttpFailure } from "#src/http/failure.ts";
import type { OperatorPart } from "#src/operators/http/app.ts";
import { knownSelection, type SelectableKind } from "#src/operators/http/selection.ts";
import { endpoint } from "#src/http/route.ts";
import type { Bus } from "#src/runtime/bus/bus.ts";
import { type Position, positionText, START } from "#src/runtime/events/position.ts";
import { positionStatus } from "#src/runtime/events/generation.ts";
import { currentPosition } from "#src/runtime/events/settledPosition.ts";
import { resolveTarget } from "#src/base/targetAddress.ts";
import { REFUSED, webhookUrlProblem } from "#src/runtime/webhooks/url.ts";
import { WEBHOOKS } from "#src/runtime/webhooks/deliverer.ts";
import { sendEvent } from "#src/runtime/webhooks/endpoint.ts";
import * as rows from "#src/runtime/webhooks/rows.ts";
import { newSecret, secretText } from "#src/runtime/webhooks/sign.ts";
import type { Store } from "#src/store/store.ts";

export interface WebhookRouteOptions {
  readonly store: Store;
  readonly bus: Bus;
  /** The kinds of actors. */
  readonly kinds: readonly SelectableKind[];
  /** Whether webhooks may lead to this machine and to private networks, and over http. */
  readonly allowPrivate: boolean;
  /** Certificates to trust instead of the usual ones, PEM. */
  readonly ca?: string;
}

/** The part of the operator service about webhooks. */
export function webhookRoutes(options: WebhookRouteOptions): OperatorPart {
  const { store, bus, kinds, allowPrivate } = options;
  const ring = () => bus.publish(WEBHOOKS, null);
  const known = async (id: string): Promise<rows.Webhook> => {
    const found = await rows.findWebhook(store, id);
    if (found === undefined) throw unknown(id);
    return found;
  };
  return (app) => {
    endpoint(app, "get", "/webhooks", { summary: "All webhooks", answer: api.webhooks }, async () => ({
      webhooks: (await rows.listWebhooks(store)).map(view),
    }));
    endpoint(app, "post", "/webhooks", {
      summary: "Create a webhook that sends transitions to a URL",
      body: api.webhookBody,
      answer: api.webhookMade,
      refusals: {
        400: "`bad_kind`, `bad_id`, `bad_transition`",
        409: "`too_many_webhooks`",
        422: "`bad_url`: the target of the URL is not allowed",
      },
    }, async ({ body: { url, from, ...filter } }) => {
      knownSelection(filter, kinds);
      await mayBeSentTo(url, allowPrivate);
      const position = await beginning(store, from);
      const secret = newSecret();
      const made = await rows.addWebhook(store, { url: new URL(url).href, filter, position, secret });
      if (made === undefined) {
        throw new HttpFailure(409, "too_many_webhooks", `The limit of ${rows.MOST_WEBHOOKS} webhooks is reached.`);
      }
      ring();
      return { ...view(made), secret: secretText(secret) };
    });
    const one = { params: api.webhookPath, refusals: { 404: "`webhook_unknown`" } };
    endpoint(app, "get", "/webhooks/:id", {
      ...one,
      summary: "A webhook",
      answer: api.webhook,
    }, async ({ params }) => view(await known(params.id)));
    endpoint(app, "delete", "/webhooks/:id", {
      ...one,
      summary: "Delete a webhook with its pending deliveries",
      answer: api.webhookRemoved,
    }, async ({ params }) => {
      if (!(await rows.removeWebhook(store, params.id))) throw unknown(params.id);
      ring();
      return { removed: true };
    });
    endpoint(app, "post", "/webhooks/:id/resume", {
      ...one,
      summary: "Resume a webhook, also a disabled one, and attempt its pending deliveries now",
      answer: api.webhook,
    }, async ({ params }) => {
      if (!(await rows.resumeWebhook(store, params.id))) throw unknown(params.id);
      ring();
      return view(await known(params.id));
    });
    endpoint(app, "get", "/webhooks/:id/deliveries", {
      ...one,
      summary: "Deliveries of a webhook, newest first",
      query: api.deliveriesQuery,
      answer: api.deliveries,
    }, async ({ params, query: { status, limit, after } }) => {
      await known(params.id);
      const before = after === undefined ? undefined : Number(after);
      const found = await rows.listDeliveries(store, params.id, { status, before, limit });
      const [last] = found.length < limit ? [] : found.slice(-1);
      return { deliveries: found, next: last === undefined ? null : String(last.n) };
    });
    endpoint(app, "post", "/webhooks/:id/test", {
      ...one,
      summary: "Send one test event now",
      answer: api.webhookTested,
    }, async ({ params: { id } }) => await sendTest(options, await known(id)));
  };
}

/** Sends a test event to a webhook, and gives what became of it. */
async function sendTest(options: WebhookRouteOptions, webhook: rows.Webhook) {
  const { id } = webhook;
  const secret = await rows.webhookSecret(options.store, id);
  if (secret === undefined) throw unknown(id);
  const messageId = `test_${randomBytes(12).toString("hex")}`;
  const { ok: delivered, code, error, answer } = await sendEvent(
    options,
    webhook,
    secret,
    messageId,
    testEvent(id, messageId),
  );
  return { delivered, code, error, answer };
}

function testEvent(webhook: string, id: string): api.TestEvent {
  return {
    specversion: "1.0",
    id,
    source: `/arbor/webhooks/${webhook}`,
    type: "arbor.webhook.test",
    time: new Date().toISOString(),
    datacontenttype: "application/json",
    data: { webhook },
  };
}

async function mayBeSentTo(url: string, allowPrivate: boolean): Promise<void> {
  const fault = webhookUrlProblem(url, allowPrivate);
  if (fault !== undefined) throw new HttpFailure(422, "bad_url", fault);
  const target = await resolveTarget(new URL(url), allowPrivate, REFUSED);
  // A name that does not resolve now may resolve later: its address is checked before each delivery.
  if (!target.ok && target.error.code === "refused") throw new HttpFailure(422, "bad_url", target.error.message);
}

async function beginning(store: Store, from = "now"): Promise<Position> {
  if (from === "now") return await currentPosition(store);
  if (from === "start") return START;
  const position = await givenPosition({ status: (one) => positionStatus(store, one) }, from, "start");
  if (position === undefined) {
    throw new HttpFailure(400, "bad_position", "The position is not one of this service.");
  }
  return position;
}

function view({ filter, position, ...rest }: rows.Webhook) {
  const { kind = null, id = null, transition = null } = filter;
  return { ...rest, filter: { kind, id, transition }, position: positionText(position) };
}

function unknown(id: string): HttpFailure {
  return new HttpFailure(404, "webhook_unknown", `No webhook ${id} exists.`);
}
