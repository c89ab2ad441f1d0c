/** What the connections of one NATS endpoint share. */
import type { Buffer } from "node:buffer";
import type { Log } from "#src/base/log.ts";
import type { Connection } from "#src/embedded/nats/connection.ts";
import type { Guests } from "#src/embedded/nats/guests.ts";
import type { Limits } from "#src/embedded/nats/limits.ts";
import type { Routes, Subscription } from "#src/embedded/nats/routes.ts";

/** What a connection needs of its endpoint. */
export interface Hub {
  /** Subscriptions of those who have the token. */
  readonly routes: Routes<ClientSubscription>;
  readonly guests: Guests;
  readonly limits: Limits;
  /** Bytes that may be read from a guest in a second. */
  readonly guestInput: number;
  readonly stats: Stats;
  readonly log: Log;
  isToken(candidate: string): boolean;
  /** Whether one more client with or without the token is welcome; from then on it counts as one. */
  admits(connection: Connection): boolean;
  /** Hands a message to its subscribers; how many got it. */
  route(from: Connection, message: Message): number;
  gone(connection: Connection): void;
}

/** Counts since the endpoint started, but for `connections` and `subscriptions`, which are of now. */
export interface Stats {
  connections: number;
  subscriptions: number;
  messagesIn: number;
  messagesOut: number;
  bytesIn: number;
  bytesOut: number;
  /** Clients that were cut because they read too slowly. */
  slowConsumers: number;
  /** Operations and connections refused for want of rights. */
  refused: number;
}

/** A subscription of a connection. */
export interface ClientSubscription extends Subscription {
  readonly connection: Connection;
  readonly sid: string;
  /** Of its subject. */
  readonly tokens: readonly string[];
  /** How many other subscriptions of the same guest some message may match as well. */
  overlaps: number;
  /** Where it was added. */
  readonly routes: Routes<ClientSubscription>;
  /** Messages it may still get before it lapses by itself. */
  max: number;
  delivered: number;
}

/** A published message; `body` begins with `headerLength` bytes of headers. */
export interface Message {
  readonly subject: string;
  readonly reply: string;
  readonly headerLength: number;
  readonly body: Buffer;
}
