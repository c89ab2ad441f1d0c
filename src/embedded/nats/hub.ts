/** Values that the connections of a NATS endpoint share: subscriptions, messages, counts. */
import type { Buffer } from "node:buffer";
import type { ClientConnection } from "#src/embedded/nats/clientConnection.ts";
import type { RoutedSubscription, SubscriptionRoutes } from "#src/embedded/nats/routes.ts";

/** Counts since the endpoint started; `connections` and `subscriptions` are current. */
export interface EndpointStats {
  connections: number;
  subscriptions: number;
  messagesIn: number;
  messagesOut: number;
  bytesIn: number;
  bytesOut: number;
  /** Clients disconnected because they read too slowly. */
  slowConsumers: number;
  /** Operations and connections refused for lack of rights. */
  refused: number;
}

/** A subscription of a connection. */
export interface ClientSubscription extends RoutedSubscription {
  readonly connection: ClientConnection;
  readonly sid: string;
  /** The tokens of its subject. */
  readonly tokens: readonly string[];
  /** Patterns of messages that it matches and its connection must not get. */
  readonly denied: readonly string[];
  /** How many other subscriptions of the same guest may match the same message. */
  overlaps: number;
  /** The set to which it was added. */
  readonly routes: SubscriptionRoutes<ClientSubscription>;
  /** Messages until it lapses. */
  max: number;
  delivered: number;
}

/** A published message; `body` begins with `headerLength` bytes of headers. */
export interface PublishedMessage {
  readonly subject: string;
  readonly reply: string;
  readonly headerLength: number;
  readonly body: Buffer;
}
