/** Values that the connections of a NATS endpoint share: messages and counts. */
import type { Buffer } from "node:buffer";

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

/** A published message; `body` begins with `headerLength` bytes of headers. */
export interface PublishedMessage {
  readonly subject: string;
  readonly reply: string;
  readonly headerLength: number;
  readonly body: Buffer;
}
