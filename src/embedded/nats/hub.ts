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

/** A service inside this process that answers clients of the endpoint. */
export interface EndpointService {
  /** Whether a guest may publish to a subject. */
  allows(guest: ClientConnection, subject: string): boolean;
  /** Handles a message; false if it is not for the service. The body is valid only during the call. */
  publish(from: ClientConnection, message: PublishedMessage): boolean;
  /** To be called when a client has subscribed to a subject that the service may deliver to. */
  subscribed(): void;
  /** To be called when a client is gone. */
  left(connection: ClientConnection): void;
}

/** A published message; `body` begins with `headerLength` bytes of headers. */
export interface PublishedMessage {
  readonly subject: string;
  readonly reply: string;
  readonly headerLength: number;
  readonly body: Buffer;
}
