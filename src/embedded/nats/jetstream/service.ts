/**
 * JetStream's API to read streams, over a log of messages (`StreamSource`).
 *
 * Assumptions: streams are read only, and everything that would change one is refused with an error of JetStream's.
 * Guests are not trusted: a guest reads the streams for guests with consumers of its own, which end with its connection,
 * and gets messages only on its own inboxes. Its requests are answered one after the other.
 */
import { Buffer } from "node:buffer";
import { isObject, type Json, toJson } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { elementAt } from "#src/base/present.ts";
import { bodyOf, configOf, offsetOf, PUBLIC, streamToken, typeOf } from "#src/embedded/nats/jetstream/apiRequest.ts";
import type { Consumer } from "#src/embedded/nats/jetstream/consumer.ts";
import { Consumers } from "#src/embedded/nats/jetstream/consumers.ts";
import type { Durables } from "#src/embedded/nats/jetstream/durables.ts";
import * as errors from "#src/embedded/nats/jetstream/errors.ts";
import { BOUNDS, DEFAULT_LIMITS, GUEST_BOUNDS, type JetStreamLimits } from "#src/embedded/nats/jetstream/limits.ts";
import { Outlet } from "#src/embedded/nats/jetstream/outlet.ts";
import { StreamReader } from "#src/embedded/nats/jetstream/reader.ts";
import type { ServedStream } from "#src/embedded/nats/jetstream/source.ts";
import { messageOf, streamInfo } from "#src/embedded/nats/jetstream/streamAnswers.ts";
import { Gate } from "#src/embedded/nats/jetstream/turns.ts";
import type { ClientConnection, EndpointService } from "#src/embedded/nats/clientConnection.ts";
import type { EndpointHub } from "#src/embedded/nats/endpoint.ts";
import type { PublishedMessage } from "#src/embedded/nats/hub.ts";
import { overlap } from "#src/embedded/nats/subjects.ts";

const API = "$JS.API.";
/** Names and consumers in one answer, as a server's. */
const NAMES_PAGE = 1_024;
const LIST_PAGE = 256;
/** How often abandoned consumers are looked for, in milliseconds. */
const TICK_MS = 250;
/** How often the state of the streams is read, whether or not there are clients: a long log is numbered in time. */
const NUMBER_MS = 60_000;

export interface JetStreamOptions {
  readonly streams: readonly ServedStream[];
  /** Stores durable consumers; without it there are none. */
  readonly durables?: Durables;
  readonly log: Log;
  readonly limits?: Partial<JetStreamLimits>;
}

/** A request to the API. */
interface ApiRequest {
  readonly from: ClientConnection;
  readonly outlet: Outlet;
  /** After `$JS.API.`. */
  readonly tokens: readonly string[];
  readonly body: Buffer;
  readonly reply: string;
}

interface GuestState {
  readonly outlet: Outlet;
  waiting: number;
  last: Promise<void>;
}

export class JetStreamService implements EndpointService {
  private readonly limits: JetStreamLimits;
  private readonly readers: readonly StreamReader[];
  private readonly members: Outlet;
  private readonly guests = new Map<ClientConnection, GuestState>();
  private readonly consumers: Consumers;
  /** For whole requests of guests. One that runs may wait for the gate of guests' consumers, so it is another gate. */
  private readonly requestGate: Gate;
  private readonly timer: ReturnType<typeof setInterval>;
  private readonly numbering: ReturnType<typeof setInterval>;
  private wakingAll = false;
  private stopped = false;

  private constructor(private readonly hub: EndpointHub, private readonly options: JetStreamOptions) {
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.members = new Outlet(hub, undefined);
    this.consumers = new Consumers(this.limits, options.durables, options.log);
    this.requestGate = new Gate(this.limits.guestJobs);
    this.readers = options.streams.map((stream) =>
      new StreamReader(
        stream,
        options.log,
        () => this.consumers.wake((consumer) => consumer.options.reader.stream === stream),
      )
    );
    this.timer = setInterval(() => this.consumers.removeAbandoned(), TICK_MS);
    this.numbering = setInterval(() => this.number(), NUMBER_MS);
    this.number();
  }

  /** Attaches the service to an endpoint, with the durable consumers that are stored. */
  static async attach(
    attach: (make: (hub: EndpointHub) => EndpointService) => void,
    options: JetStreamOptions,
  ): Promise<JetStreamService> {
    const stored = await options.durables?.read() ?? [];
    const made: JetStreamService[] = [];
    attach((hub) => {
      const service = new JetStreamService(hub, options);
      made.push(service);
      return service;
    });
    const service = elementAt(made, 0);
    for (const consumer of stored) {
      const reader = service.readers.find(({ name }) => name === consumer.stream);
      if (reader !== undefined) service.consumers.restore(consumer, reader, service.members);
    }
    return service;
  }

  /** Ends the consumers, and writes how far the durable ones have come. */
  async stop(): Promise<void> {
    if (this.stopped) return;
    this.stopped = true;
    clearInterval(this.timer);
    clearInterval(this.numbering);
    for (const reader of this.readers) reader.watch(false);
    await this.consumers.stop();
  }

  allows(guest: ClientConnection, subject: string): boolean {
    const tokens = subject.split(".");
    const [root, kind, ...rest] = tokens;
    if (root !== "$JS") return false;
    if (kind === "ACK" || kind === "FC") return this.consumerOf(guest, rest[0], rest[1]) !== undefined;
    if (kind !== "API") return false;
    const place = streamToken(rest);
    return place === undefined ? PUBLIC.has(rest.join(".")) : this.readerFor(guest, rest[place]) !== undefined;
  }

  publish(from: ClientConnection, message: PublishedMessage): boolean {
    const { subject, reply } = message;
    if (!subject.startsWith("$JS.")) return reply !== "" && this.refuseMessage(from, subject, reply);
    // What a client asks for goes only where it may listen itself.
    if (!from.rights.guest && reply !== "" && !from.mayReceive(reply)) return true;
    const outlet = this.outletOf(from);
    const body = Buffer.from(message.body.subarray(message.headerLength));
    if (subject.startsWith(API)) {
      void this.answer({ from, outlet, tokens: subject.slice(API.length).split("."), body, reply });
      return true;
    }
    const tokens = subject.split(".");
    const [, kind, stream, name] = tokens;
    if (kind !== "ACK" && kind !== "FC") return false;
    const consumer = this.consumerOf(from, stream, name);
    if (consumer === undefined) return false;
    if (this.readerFor(from, stream) === undefined) return false;
    if (kind === "FC") consumer.flow(subject);
    else if (tokens.length === 9) this.acknowledge(consumer, tokens, reply, body);
    return true;
  }

  /** A message to a subject of a stream whose sender wants to know that it is stored. */
  private refuseMessage(from: ClientConnection, subject: string, reply: string): boolean {
    if (from.rights.guest) return false;
    const tokens = subject.split(".");
    const stream = this.options.streams.find((one) => overlap(one.subject.split("."), tokens));
    if (stream === undefined) return false;
    const answer = toJson({ error: errors.sealed().shown(), stream: stream.name, seq: 0 });
    // after the message was delivered, as a server does
    queueMicrotask(() => this.members.answer(reply, answer));
    return true;
  }

  private acknowledge(consumer: Consumer, tokens: readonly string[], reply: string, body: Buffer): void {
    const [seq, dseq] = [Number(tokens[5]), Number(tokens[6])];
    if (!Number.isSafeInteger(seq) || !Number.isSafeInteger(dseq)) return;
    if (!consumer.acknowledge(seq, dseq, reply, body) || reply === "") return;
    const { durables } = this.options;
    const { outlet } = consumer.options;
    if (!consumer.isDurable || durables === undefined) return outlet.answer(reply, "");
    // The sender may rely on it: it is answered when it is stored.
    void durables.flush().then(() => outlet.answer(reply, ""), () => {});
  }

  subscribed(): void {
    if (this.wakingAll) return;
    this.wakingAll = true;
    queueMicrotask(() => {
      this.wakingAll = false;
      this.consumers.wake(({ isPush }) => isPush);
    });
  }

  left(connection: ClientConnection): void {
    if (this.guests.delete(connection)) this.consumers.left(connection);
  }

  private number(): void {
    for (const reader of this.readers) {
      // The next request shows a failure.
      void reader.refresh().catch(() => {});
    }
  }

  private guestState(guest: ClientConnection): GuestState {
    let state = this.guests.get(guest);
    if (state === undefined) {
      state = { outlet: new Outlet(this.hub, guest), waiting: 0, last: Promise.resolve() };
      this.guests.set(guest, state);
    }
    return state;
  }

  private readerFor(from: ClientConnection, name: string | undefined): StreamReader | undefined {
    return this.readersFor(from).find((reader) => reader.name === name);
  }

  /** The streams that a client may read. */
  private readersFor(from: ClientConnection): readonly StreamReader[] {
    return this.readers.filter(({ stream }) => from.rights.guest ? stream.forGuests : from.mayReceive(stream.subject));
  }

  private outletOf(from: ClientConnection): Outlet {
    return from.rights.guest ? this.guestState(from).outlet : this.members;
  }

  /** A consumer that a client may use: a guest one of its own, others one that is no guest's. */
  private consumerOf(from: ClientConnection, stream?: string, name?: string): Consumer | undefined {
    return this.consumers.get(this.outletOf(from), stream, name);
  }

  private async answer(request: ApiRequest): Promise<void> {
    const { from, reply, outlet } = request;
    if (!from.rights.guest) return await this.answerNow(request);
    const state = this.guestState(from);
    if (state.waiting >= this.limits.guestRequests) return;
    state.waiting++;
    state.last = state.last.then(async () => {
      // Answers that a guest does not read are not produced.
      while (from.isOpen && !outlet.hasRoom(reply, "", () => {})) {
        await new Promise<void>((resolve) => void (from.takes(resolve) && resolve()));
      }
      if (from.isOpen) await this.answerNow(request);
      state.waiting--;
    });
    await state.last;
  }

  private async answerNow(request: ApiRequest): Promise<void> {
    const { tokens, reply, outlet, from, body } = request;
    if (tokens[0] === "CONSUMER" && tokens[1] === "MSG" && tokens[2] === "NEXT" && tokens.length === 5) {
      const consumer = this.readerFor(from, tokens[3]) && this.consumerOf(from, tokens[3], tokens[4]);
      if (consumer !== undefined) return consumer.pull(reply, body);
      return outlet.status(reply, "503");
    }
    let members: object;
    try {
      const work = () => this.perform(request);
      members = from.rights.guest ? await this.requestGate.run(work) : await work();
    } catch (error) {
      if (!(error instanceof errors.ApiError)) {
        this.options.log.warn("a request to JetStream's API failed", { reason: reason(error) });
      }
      members = { error: (error instanceof errors.ApiError ? error : errors.insufficientResources()).shown() };
    }
    if (reply === "" || this.stopped) return;
    outlet.answer(reply, toJson({ type: `io.nats.jetstream.api.v1.${typeOf(tokens)}_response`, ...members }));
  }

  /** The members of an answer. @throws ApiError where the request is refused */
  private async perform({ from, outlet, tokens, body }: ApiRequest): Promise<object> {
    const json = bodyOf(body);
    const [area, action, ...rest] = tokens;
    if (area === "INFO") return this.account(from, outlet);
    if (area === "STREAM") return await this.performStream(from, outlet, [action ?? "", ...rest], json);
    if (area === "DIRECT") throw errors.streamNotFound();
    if (area !== "CONSUMER") throw errors.badRequest();
    const [stream, name] = rest;
    const create = async (stream: string | undefined, name: string | undefined, filter: string, durable: boolean) => {
      const { given, action } = configOf({ stream, name, filter, durable }, json);
      return await this.consumers.create({ from, outlet, reader: this.readerOf(from, stream), name, given, action });
    };
    switch (action) {
      case "CREATE":
        return await create(stream, name, rest.slice(2).join("."), false);
      case "DURABLE":
        if (stream !== "CREATE" || rest.length !== 3) throw errors.noDurableInSubject();
        return await create(name, rest[2], "", true);
      case "NAMES":
      case "LIST":
        return await this.list(this.consumers.of(outlet, this.readerOf(from, stream)), action, offsetOf(json));
      case "INFO":
      case "DELETE": {
        const consumer = this.consumers.get(outlet, this.readerOf(from, stream).name, name);
        if (consumer === undefined) throw errors.consumerNotFound();
        if (action === "INFO") return await consumer.info();
        await this.consumers.delete(consumer);
        return { success: true };
      }
      default:
        throw errors.badRequest();
    }
  }

  private async list(all: readonly Consumer[], action: "NAMES" | "LIST", offset: number): Promise<object> {
    const limit = action === "LIST" ? LIST_PAGE : NAMES_PAGE;
    const page = all.slice(offset, offset + limit);
    const consumers = action === "LIST"
      ? await Promise.all(page.map((one) => one.info()))
      : page.map(({ name }) => name);
    return { total: all.length, offset: Math.min(offset, all.length), limit, consumers };
  }

  /** @throws ApiError where there is no such stream, or the client may not read it */
  private readerOf(from: ClientConnection, name: string | undefined): StreamReader {
    const reader = this.readerFor(from, name);
    if (reader === undefined) throw errors.streamNotFound();
    return reader;
  }

  private async performStream(
    from: ClientConnection,
    outlet: Outlet,
    [action = "", ...rest]: readonly string[],
    json: Json | undefined,
  ): Promise<object> {
    const infoOf = (reader: StreamReader, json?: Json) =>
      streamInfo(reader, {
        consumers: () => this.consumers.of(outlet, reader).length,
        mostSubjects: this.limits.subjects,
        json,
      });
    if (action === "NAMES" || action === "LIST") {
      const filter = isObject(json) && typeof json.subject === "string" ? json.subject.split(".") : undefined;
      const wanted = this.readersFor(from)
        .filter(({ stream }) => filter === undefined || overlap(filter, stream.subject.split(".")))
        .sort((a, b) => a.name < b.name ? -1 : 1);
      const offset = Math.min(offsetOf(json), wanted.length);
      const page = wanted.slice(offset);
      const limit = action === "NAMES" ? NAMES_PAGE : LIST_PAGE;
      const streams = action === "NAMES"
        ? page.map(({ name }) => name)
        : await Promise.all(page.map((one) => infoOf(one)));
      return { total: wanted.length, offset, limit, streams };
    }
    const named = action === "MSG" ? rest[1] : rest[0];
    if (action === "CREATE") {
      throw this.readerFor(from, named) === undefined ? errors.maximumStreams() : errors.streamNameUsed();
    }
    const reader = this.readerOf(from, named);
    if (action === "INFO") return await infoOf(reader, json);
    if (action === "MSG" && rest[0] === "GET") return { message: await messageOf(reader, json) };
    throw errors.sealed();
  }

  private account(from: ClientConnection, outlet: Outlet): object {
    const streams = this.readersFor(from);
    const { guest } = from.rights;
    return {
      memory: 0,
      storage: 0,
      reserved_memory: 0,
      reserved_storage: 0,
      streams: streams.length,
      consumers: streams.reduce((sum, reader) => sum + this.consumers.of(outlet, reader).length, 0),
      limits: {
        max_memory: -1,
        max_storage: -1,
        max_streams: streams.length,
        max_consumers: guest ? this.limits.guestConsumers : this.limits.consumers,
        max_ack_pending: (guest ? GUEST_BOUNDS : BOUNDS).maxAckPending,
        memory_max_stream_bytes: -1,
        storage_max_stream_bytes: -1,
        max_bytes_required: false,
      },
      api: { total: 0, errors: 0 },
    };
  }
}
