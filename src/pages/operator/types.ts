/** The service's answers as the pages read them: types alone. */
import type { z } from "zod";
import type * as api from "#src/operators/api/operator.ts";
import type * as hooks from "#src/operators/api/webhooks.ts";

export type Machine = z.output<typeof api.machine>;
export type Kinds = z.output<typeof api.kinds>;
export type KindCounts = z.output<typeof api.kindCounts>;
export type Overview = z.output<typeof api.overview>;
export type Activity = z.output<typeof api.activity>;
export type RecentTransitions = z.output<typeof api.recentTransitions>;
export type Attention = z.output<typeof api.attention>;
export type AttentionItem = z.output<typeof api.attentionItem>;
export type Lags = z.output<typeof api.lags>;
export type TokenLog = z.output<typeof api.tokenLog>;
export type ActorLine = z.output<typeof api.actorLine>;
export type Actors = z.output<typeof api.actors>;
export type Actor = z.output<typeof api.actor>;
export type PastState = z.output<typeof api.past>;
export type Cause = z.output<typeof api.cause>;
export type Transition = z.output<typeof api.transition>;
export type History = z.output<typeof api.history>;
export type Search = z.output<typeof api.search>;
export type Worker = z.output<typeof api.worker>;
export type Workers = z.output<typeof api.workers>;
export type PartitionLine = z.output<typeof api.partitionLine>;
export type Partitions = z.output<typeof api.partitions>;
export type Leases = z.output<typeof api.leases>;
export type DeadLetter = z.output<typeof api.deadLetter>;
export type DeadLetters = z.output<typeof api.deadLetters>;
export type Webhook = z.output<typeof hooks.webhook>;
export type WebhookMade = z.output<typeof hooks.webhookMade>;
export type Webhooks = z.output<typeof hooks.webhooks>;
export type Deliveries = z.output<typeof hooks.deliveries>;

/** The body of a transition's message. */
export type { TransitionEvent } from "#src/operators/api/events.ts";
