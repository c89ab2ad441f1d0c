/**
 * JetStream's API to read streams, over a log of messages (`StreamSource`).
 *
 * Assumptions: streams are read only, and everything that would change one is refused with an error of JetStream's.
 * Guests are not trusted: a guest reads the streams for guests with consumers of its own, which end with its connection,
 * and gets messages only on its own inboxes. Its requests are answered one after the other.
 */
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { isObject, type Json, readJson, toJson } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { elementAt } from "#src/base/present.ts";
import {
  checkedConfig,
  checkUpdate,
  type ConfigBounds,
  type ConsumerConfig,
  filtersOf,
  parseConfig,
} from "#src/embedded/nats/jetstream/config.ts";
import { Consumer, type StartPlace } from "#src/embedded/nats/jetstream/consumer.ts";
import type { Durables } from "#src/embedded/nats/jetstream/durables.ts";
import * as errors from "#src/embedded/nats/jetstream/errors.ts";
import { Outlet } from "#src/embedded/nats/jetstream/outlet.ts";
import { StreamReader } from "#src/embedded/nats/jetstream/reader.ts";
import type { ServedStream, SourceState, StoredMessage } from "#src/embedded/nats/jetstream/source.ts";
import { Gate, Turns } from "#src/embedded/nats/jetstream/turns.ts";
import type { ClientConnection, EndpointService } from "#src/embedded/nats/clientConnection.ts";
import type { EndpointHub } from "#src/embedded/nats/endpoint.ts";
import type { PublishedMessage } from "#src/embedded/nats/hub.ts";
import { isSubscription, isWithin, overlap } from "#src/embedded/nats/subjects.ts";

const API = "$JS.API.";
const MILLISECOND = 1e6;
const MINUTE = 60_000 * MILLISECOND;

/** Bounds of the service. */
export interface JetStreamLimits {
  /** Consumers of clients with rights; of these, durable ones. */
  readonly consumers: number;
  readonly durables: number;
  /** Consumers of one guest, and of all guests. */
  readonly guestConsumers: number;
  readonly guestsConsumers: number;
  /** Requests of one guest that wait for their answer; later ones get none. */
  readonly guestRequests: number;
  /** Jobs in the database at a time, for clients with rights and for guests. */
  readonly jobs: number;
  readonly guestJobs: number;
  /** Subjects of a consumer with the policy `last_per_subject`. */
  readonly subjects: number;
}

const DEFAULT_LIMITS: JetStreamLimits = {
  consumers: 1_024,
  durables: 256,
  guestConsumers: 8,
  guestsConsumers: 1_024,
  guestRequests: 64,
  jobs: 6,
  guestJobs: 2,
  subjects: 65_536,
};

const BOUNDS: ConfigBounds = { maxWaiting: 4_096, maxAckPending: 100_000, inactiveThreshold: Infinity };
const GUEST_BOUNDS: ConfigBounds = { maxWaiting: 32, maxAckPending: 1_000, inactiveThreshold: 60 * MINUTE };
/** Pause between two shares of time for guests, in milliseconds. */
const GUEST_PAUSE_MS = 15;
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

/** An answer of the API: the last part of its type, and its members. */
type ApiAnswer = readonly [type: string, members: object];

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
  /** By owner, stream and name: the names of a guest's consumers are its own. */
  private readonly consumers = new Map<string, Consumer>();
  private readonly turns = new Turns(0);
  private readonly guestTurns = new Turns(GUEST_PAUSE_MS);
  private readonly gate: Gate;
  private readonly guestGate: Gate;
  /** For whole requests of guests. One that runs may wait for `guestGate`, so it is another gate. */
  private readonly requestGate: Gate;
  private readonly timer: ReturnType<typeof setInterval>;
  private readonly numbering: ReturnType<typeof setInterval>;
  private wakingAll = false;
  private stopped = false;

  private constructor(private readonly hub: EndpointHub, private readonly options: JetStreamOptions) {
    this.limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.members = new Outlet(hub, undefined);
    this.gate = new Gate(this.limits.jobs);
    this.guestGate = new Gate(this.limits.guestJobs);
    this.requestGate = new Gate(this.limits.guestJobs);
    this.readers = options.streams.map((stream) =>
      new StreamReader(stream, options.log, () => this.wake((consumer) => consumer.options.reader.stream === stream))
    );
    this.timer = setInterval(() => this.tick(), TICK_MS);
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
    for (const { stream, name, config, state, created } of stored) {
      const reader = service.readers.find((one) => one.name === stream);
      if (reader === undefined) continue;
      const consumer = service.make(reader, name, config, { from: state.sseq, first: [] }, service.members, created);
      consumer.restore(state);
      service.add(consumer);
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
    for (const consumer of this.consumers.values()) consumer.close();
    await this.options.durables?.stop();
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
      this.wake(({ isPush }) => isPush);
    });
  }

  left(connection: ClientConnection): void {
    if (!this.guests.delete(connection)) return;
    for (const consumer of this.consumers.values()) if (consumer.guest === connection) this.remove(consumer);
  }

  private wake(which: (consumer: Consumer) => boolean): void {
    for (const consumer of this.consumers.values()) if (which(consumer)) consumer.wake();
  }

  private number(): void {
    for (const reader of this.readers) {
      // The next request shows a failure.
      void reader.refresh().catch(() => {});
    }
  }

  private tick(): void {
    const now = performance.now();
    for (const consumer of [...this.consumers.values()]) {
      if (!consumer.isAbandoned(now)) continue;
      this.remove(consumer);
      void this.forget(consumer);
    }
  }

  private async forget(consumer: Consumer): Promise<void> {
    if (!consumer.isDurable) return;
    await this.options.durables?.remove(consumer).catch((error) =>
      this.options.log.warn("a durable consumer could not be deleted", {
        consumer: consumer.name,
        reason: reason(error),
      })
    );
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
    return this.readers.find(({ name: own, stream }) =>
      own === name && (from.rights.guest ? stream.forGuests : from.mayReceive(stream.subject))
    );
  }

  private outletOf(from: ClientConnection): Outlet {
    return from.rights.guest ? this.guestState(from).outlet : this.members;
  }

  /** A consumer that a client may use: a guest one of its own, others one that is no guest's. */
  private consumerOf(from: ClientConnection, stream = "", name = ""): Consumer | undefined {
    return this.consumers.get(keyOf(this.outletOf(from), stream, name));
  }

  /** The consumers of a stream that a client may know. */
  private visible(from: ClientConnection, reader: StreamReader): Consumer[] {
    return [...this.consumers.values()]
      .filter((one) => one.options.reader === reader && one.guest === (from.rights.guest ? from : undefined))
      .sort((a, b) => a.name < b.name ? -1 : 1);
  }

  private async answer(request: ApiRequest): Promise<void> {
    const { from, reply, outlet } = request;
    if (!from.rights.guest) return await this.answerNow(request);
    const state = this.guestState(from);
    if (state.waiting >= this.limits.guestRequests) return;
    state.waiting++;
    state.last = state.last.then(async () => {
      // Answers that a guest does not read are not produced.
      while (from.isOpen && !outlet.hasRoom(reply, "", noop)) {
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
    let type = `${typeOf(tokens)}_response`;
    let members: object;
    try {
      const work = () => this.perform(request);
      const [given, answered] = from.rights.guest ? await this.requestGate.run(work) : await work();
      type = given === "" ? type : given;
      members = answered;
    } catch (error) {
      if (!(error instanceof errors.ApiError)) {
        this.options.log.warn("a request to JetStream's API failed", { reason: reason(error) });
      }
      members = { error: (error instanceof errors.ApiError ? error : errors.insufficientResources()).shown() };
    }
    if (reply !== "" && !this.stopped) {
      outlet.answer(reply, toJson({ type: `io.nats.jetstream.api.v1.${type}`, ...members }));
    }
  }

  private async perform({ from, tokens, body }: ApiRequest): Promise<ApiAnswer> {
    const json = bodyOf(body);
    const [area, action, ...rest] = tokens;
    if (area === "INFO") return ["", this.account(from)];
    if (area === "STREAM") return await this.performStream(from, [action ?? "", ...rest], json);
    if (area === "DIRECT") throw errors.streamNotFound();
    if (area !== "CONSUMER") throw errors.badRequest();
    switch (action) {
      case "CREATE":
        return await this.create(from, rest[0], rest[1], rest.slice(2).join("."), json, false);
      case "DURABLE":
        if (rest[0] !== "CREATE" || rest.length !== 3) throw errors.noDurableInSubject();
        return await this.create(from, rest[1], rest[2], "", json, true);
      case "NAMES":
      case "LIST":
        return await this.list(this.consumersReader(from, rest), from, action === "LIST", offsetOf(json));
      case "INFO":
      case "DELETE": {
        const consumer = this.consumerOf(from, this.consumersReader(from, rest).name, rest[1]);
        if (consumer === undefined) throw errors.consumerNotFound();
        if (action === "INFO") return ["", await consumer.info()];
        this.remove(consumer, "409 Consumer Deleted");
        if (consumer.isDurable) await this.options.durables?.remove(consumer);
        return ["", { success: true }];
      }
      default:
        throw errors.badRequest();
    }
  }

  private consumersReader(from: ClientConnection, rest: readonly string[]): StreamReader {
    const reader = this.readerFor(from, rest[0]);
    if (reader === undefined) throw errors.streamNotFound();
    return reader;
  }

  private async performStream(
    from: ClientConnection,
    [action = "", ...rest]: readonly string[],
    json: Json | undefined,
  ): Promise<ApiAnswer> {
    const known = this.readers.filter((one) => this.readerFor(from, one.name) !== undefined);
    const reader = this.readerFor(from, action === "MSG" ? rest[1] : rest[0]);
    if (action === "NAMES" || action === "LIST") {
      const filter = isObject(json) && typeof json.subject === "string" ? json.subject.split(".") : undefined;
      const wanted = known.filter(({ stream }) => filter === undefined || overlap(filter, stream.subject.split(".")))
        .sort((a, b) => a.name < b.name ? -1 : 1);
      const offset = Math.min(offsetOf(json), wanted.length);
      const page = wanted.slice(offset);
      const limit = action === "NAMES" ? NAMES_PAGE : LIST_PAGE;
      const streams = action === "NAMES"
        ? page.map(({ name }) => name)
        : await Promise.all(page.map((one) => this.streamInfo(from, one)));
      return ["", { total: wanted.length, offset, limit, streams }];
    }
    if (action === "CREATE") {
      throw reader === undefined ? errors.maximumStreams() : errors.streamNameUsed();
    }
    if (reader === undefined) throw errors.streamNotFound();
    if (action === "INFO") return ["", await this.streamInfo(from, reader, json)];
    if (action === "MSG" && rest[0] === "GET") return ["", { message: shown(await this.message(reader, json)) }];
    throw errors.sealed();
  }

  private account(from: ClientConnection): object {
    const streams = this.readers.filter((one) => this.readerFor(from, one.name) !== undefined);
    const consumers = streams.reduce((sum, reader) => sum + this.visible(from, reader).length, 0);
    return {
      memory: 0,
      storage: 0,
      reserved_memory: 0,
      reserved_storage: 0,
      streams: streams.length,
      consumers,
      limits: {
        max_memory: -1,
        max_storage: -1,
        max_streams: streams.length,
        max_consumers: from.rights.guest ? this.limits.guestConsumers : this.limits.consumers,
        max_ack_pending: (from.rights.guest ? GUEST_BOUNDS : BOUNDS).maxAckPending,
        memory_max_stream_bytes: -1,
        storage_max_stream_bytes: -1,
        max_bytes_required: false,
      },
      api: { total: 0, errors: 0 },
    };
  }

  private async streamInfo(from: ClientConnection, reader: StreamReader, json?: Json): Promise<object> {
    const { stream, source } = reader;
    const state = await reader.refresh();
    const { first, last } = state;
    const none = "0001-01-01T00:00:00Z";
    const oldest = await nextOf(reader, first, last, stream.subject);
    const newest = first <= last ? (await source.last(first, last, [stream.subject])) : undefined;
    const messages = stream.hasGaps ? await source.count(first, last, [stream.subject]) : last - first + 1;
    const time = (message: StoredMessage | undefined) => message === undefined ? none : timeOf(message);
    return {
      config: {
        name: stream.name,
        description: stream.description,
        subjects: [stream.subject],
        retention: "limits",
        max_consumers: -1,
        max_msgs: -1,
        max_bytes: -1,
        max_age: stream.maxAgeMs * MILLISECOND,
        max_msgs_per_subject: -1,
        max_msg_size: -1,
        discard: "old",
        storage: "file",
        num_replicas: 1,
        duplicate_window: 120_000 * MILLISECOND,
        sealed: false,
        deny_delete: true,
        deny_purge: true,
        allow_rollup_hdrs: false,
        allow_direct: false,
        mirror_direct: false,
        metadata: stream.metadata,
      },
      created: new Date(stream.created).toISOString(),
      state: {
        messages,
        bytes: 0,
        first_seq: first,
        first_ts: time(oldest),
        last_seq: last,
        last_ts: time(newest),
        ...(stream.hasGaps ? { num_deleted: last - first + 1 - messages } : {}),
        ...(await this.subjects(reader, state, json)),
        consumer_count: this.visible(from, reader).length,
      },
      ts: new Date().toISOString(),
    };
  }

  /** The number of messages of each subject, where a request wants it. */
  private async subjects(reader: StreamReader, state: SourceState, json: Json | undefined): Promise<object> {
    const filter = isObject(json) ? json.subjects_filter : undefined;
    if (typeof filter !== "string" || filter === "") return {};
    const { first, last } = state;
    const subjects: { [subject: string]: number } = {};
    for (let from = first; from <= last;) {
      const { found, to } = await reader.source.find(from, last, [filter], NAMES_PAGE);
      for (const { subject } of found) subjects[subject] = (subjects[subject] ?? 0) + 1;
      if (Object.keys(subjects).length > this.limits.subjects) throw errors.insufficientResources();
      from = to + 1;
    }
    return { num_subjects: Object.keys(subjects).length, subjects };
  }

  private async message(reader: StreamReader, json: Json | undefined): Promise<StoredMessage> {
    if (!isObject(json)) throw json === undefined ? errors.badRequest() : errors.invalidJson();
    const text = (value: Json | undefined) => typeof value === "string" ? value : "";
    const seq = Number(typeof json.seq === "number" || typeof json.seq === "bigint" ? json.seq : 0);
    const [lastFor, nextFor] = [text(json.last_by_subj), text(json.next_by_subj)];
    if ((seq > 0 && lastFor !== "") || (seq <= 0 && lastFor === "" && nextFor === "")) throw errors.badRequest();
    if (lastFor !== "" && nextFor !== "") throw errors.badRequest();
    const { first, last } = await reader.current();
    let message: StoredMessage | undefined;
    if (nextFor !== "") message = await nextOf(reader, Math.max(first, seq), last, nextFor);
    else if (lastFor !== "") message = await reader.source.last(first, last, [lastFor]);
    else if (seq >= first && seq <= last) message = await reader.message(seq);
    if (message === undefined) throw errors.noMessage();
    return message;
  }

  private async list(reader: StreamReader, from: ClientConnection, whole: boolean, offset: number): Promise<ApiAnswer> {
    const all = this.visible(from, reader);
    const limit = whole ? LIST_PAGE : NAMES_PAGE;
    const page = all.slice(offset, offset + limit);
    const consumers = whole ? await Promise.all(page.map((one) => one.info())) : page.map(({ name }) => name);
    return ["", { total: all.length, offset: Math.min(offset, all.length), limit, consumers }];
  }

  private async create(
    from: ClientConnection,
    stream: string | undefined,
    name: string | undefined,
    filter: string,
    json: Json | undefined,
    durable: boolean,
  ): Promise<ApiAnswer> {
    if (!isObject(json)) throw errors.invalidJson();
    if (json.stream_name !== stream) throw errors.streamMismatch();
    const given = parseConfig(json.config ?? {});
    if (durable && given.durable_name === undefined) throw errors.durableNotSet();
    if (name === undefined && given.durable_name !== undefined) throw errors.durableInRequest();
    if (name !== undefined && (given.durable_name ?? name) !== name) throw errors.durableMismatch();
    if (filter !== "" && given.filter_subjects !== undefined) {
      throw new errors.ApiError(400, 10_137, "consumer with multiple subject filters cannot use subject based API");
    }
    if (filter !== "" && given.filter_subject !== filter) throw errors.filterMismatch();
    const reader = this.readerFor(from, stream);
    if (reader === undefined) throw errors.streamNotFound();
    const guest = from.rights.guest ? from : undefined;
    const named = name === undefined || durable ? given : { ...given, name };
    const config = checkedConfig(named, reader.stream.subject, guest === undefined ? BOUNDS : GUEST_BOUNDS);
    const { deliver_subject: to } = config;
    if (guest === undefined && to !== undefined && !from.mayReceive(to)) {
      throw errors.consumerFailed("the deliver subject is not permitted");
    }
    const existing = name === undefined ? undefined : this.consumerOf(from, reader.name, name);
    if (existing !== undefined) return await this.change(existing, config, json.action);
    if (json.action === "update") throw errors.consumerMissing();
    this.checkRoom(config, guest);
    const state = await reader.refresh();
    const start = await this.startOf(reader, state, config);
    if (!from.isOpen && guest !== undefined) throw errors.consumerNotFound();
    const outlet = this.outletOf(from);
    const own = name ?? randomBytes(6).toString("base64url").replaceAll(/[-_]/g, "x");
    // Another request may have made one meanwhile.
    const made = this.consumerOf(from, reader.name, own);
    if (made !== undefined) return await this.change(made, config, json.action);
    this.checkRoom(config, guest);
    const consumer = this.make(reader, own, config, start, outlet, Date.now());
    this.consumers.set(keyOfConsumer(consumer), consumer);
    try {
      if (consumer.isDurable) await this.options.durables?.put(consumer);
    } catch (error) {
      this.consumers.delete(keyOfConsumer(consumer));
      throw error;
    }
    // As the server does, the answer tells what there was before the first delivery.
    const info = await consumer.info();
    // Its guest may have left, or another request may have deleted it, meanwhile.
    if (this.consumers.get(keyOfConsumer(consumer)) !== consumer) throw errors.consumerNotFound();
    this.add(consumer);
    return ["", info];
  }

  /** Answers a request for a consumer that exists. */
  private async change(
    existing: Consumer,
    config: ConsumerConfig,
    action: Json | undefined,
  ): Promise<ApiAnswer> {
    if (!sameJson(existing.config, config)) {
      if (action === "create") throw errors.consumerExists();
      checkUpdate(existing.config, config);
      if (existing.config.deliver_subject !== config.deliver_subject && existing.isBound()) {
        throw errors.consumerNameUsed();
      }
      existing.update(config);
      if (existing.isDurable) await this.options.durables?.put(existing);
    }
    return ["", await existing.info()];
  }

  private checkRoom(config: ConsumerConfig, guest: ClientConnection | undefined): void {
    const all = [...this.consumers.values()];
    const theirs = all.filter((one) => one.guest !== undefined);
    if (guest !== undefined) {
      if (config.durable_name !== undefined) throw errors.consumerFailed("a durable consumer needs credentials");
      const own = theirs.filter((one) => one.guest === guest).length;
      if (own >= this.limits.guestConsumers || theirs.length >= this.limits.guestsConsumers) {
        throw errors.maximumConsumers();
      }
    } else {
      const durable = all.filter(({ isDurable }) => isDurable).length;
      if (config.durable_name !== undefined) {
        if (this.options.durables === undefined || durable >= this.limits.durables) throw errors.maximumConsumers();
      }
      if (all.length - theirs.length >= this.limits.consumers) throw errors.maximumConsumers();
    }
  }

  private async startOf(reader: StreamReader, state: SourceState, config: ConsumerConfig): Promise<StartPlace> {
    const { first, last } = state;
    const { source } = reader;
    const filters = filtersOf(config);
    const bounded = (from: number) => ({ from: Math.min(Math.max(from, first), last + 1), first: [] });
    switch (config.deliver_policy) {
      case "all":
        return bounded(first);
      case "new":
        return bounded(last + 1);
      case "by_start_sequence":
        return bounded(config.opt_start_seq ?? first);
      case "by_start_time":
        return bounded(await source.numberAt(Date.parse(config.opt_start_time ?? ""), last));
      case "last": {
        if (filters.length === 0 && !reader.stream.hasGaps) return bounded(last);
        const newest = await source.last(first, last, filters.length === 0 ? [reader.stream.subject] : filters);
        return bounded(newest?.seq ?? first);
      }
      case "last_per_subject": {
        const newest = await source.lastOfEach(first, last, filters, this.limits.subjects);
        if (newest === undefined) throw errors.insufficientResources();
        return { from: last + 1, first: newest };
      }
    }
  }

  private make(
    reader: StreamReader,
    name: string,
    config: ConsumerConfig,
    start: StartPlace,
    outlet: Outlet,
    created: number,
  ): Consumer {
    const isGuest = outlet.guest !== undefined;
    return new Consumer({
      reader,
      name,
      created,
      config,
      start,
      outlet,
      turns: isGuest ? this.guestTurns : this.turns,
      gate: isGuest ? this.guestGate : this.gate,
      log: this.options.log,
      changed: (consumer) => consumer.isDurable && this.options.durables?.note(consumer),
    });
  }

  private add(consumer: Consumer): void {
    if (this.stopped) return;
    this.consumers.set(keyOfConsumer(consumer), consumer);
    consumer.options.reader.watch(true);
    consumer.start();
  }

  private remove(consumer: Consumer, status?: string): void {
    consumer.close(status);
    if (this.consumers.get(keyOfConsumer(consumer)) === consumer) this.consumers.delete(keyOfConsumer(consumer));
    const { reader } = consumer.options;
    if (![...this.consumers.values()].some((one) => one.options.reader === reader)) reader.watch(false);
  }
}

/** Requests of guests that name no stream. */
const PUBLIC = new Set(["INFO", "STREAM.NAMES", "STREAM.LIST"]);

const noop = () => {};

/** Where the tokens of a request that guests may send name the stream; `undefined` for others. */
function streamToken([area, action, third, ...rest]: readonly string[]): number | undefined {
  if (area === "STREAM") {
    if (action === "INFO" && third !== undefined) return 2;
    return action === "MSG" && third === "GET" && rest.length === 1 ? 3 : undefined;
  }
  if (area !== "CONSUMER") return undefined;
  if (action === "MSG" && third === "NEXT") return 3;
  if (action === "DURABLE" && third === "CREATE") return 3;
  return ["CREATE", "NAMES", "LIST", "INFO", "DELETE"].includes(action ?? "") ? 2 : undefined;
}

/** The type of an answer, without its prefix and `_response`. */
function typeOf(tokens: readonly string[]): string {
  const [area = "", action = "", third = ""] = tokens;
  if (area === "INFO") return "account_info";
  const kind = area.toLowerCase();
  if (action === "MSG") return `${kind}_msg_${third.toLowerCase()}`;
  return action === "DURABLE" ? `${kind}_create` : `${kind}_${action.toLowerCase()}`;
}

/** The body of a request as JSON; `undefined` when it is empty. @throws ApiError when it is malformed. */
function bodyOf(body: Buffer): Json | undefined {
  if (body.length === 0 || body.toString("latin1").trim() === "") return undefined;
  const json = readJson(body);
  if (json === undefined) throw errors.invalidJson();
  return json;
}

function offsetOf(json: Json | undefined): number {
  const offset = isObject(json) ? json.offset : 0;
  return typeof offset === "number" && offset > 0 ? Math.floor(offset) : 0;
}

function keyOf(owner: Outlet, stream: string, name: string): string {
  return `${owner.number}.${stream}.${name}`;
}

function keyOfConsumer({ name, options: { outlet, reader } }: Consumer): string {
  return keyOf(outlet, reader.name, name);
}

function sameJson(a: object, b: object): boolean {
  const sorted = (value: object) => toJson(Object.entries(value).sort(([x], [y]) => x < y ? -1 : 1));
  return sorted(a) === sorted(b);
}

async function nextOf(
  reader: StreamReader,
  first: number,
  last: number,
  filter: string,
): Promise<StoredMessage | undefined> {
  if (!isSubscription(filter)) return undefined;
  if (!reader.stream.hasGaps && isWithin(reader.stream.subject, filter)) {
    return (await reader.source.read(first, last, 1))[0];
  }
  for (let from = first; from <= last;) {
    const { found, to } = await reader.source.find(from, last, [filter], 1);
    for (const message of found) return message;
    from = to + 1;
  }
  return undefined;
}

function timeOf({ storedAt }: StoredMessage): string {
  return new Date(storedAt).toISOString();
}

/** A message as the API shows it. */
function shown(message: StoredMessage): object {
  const { subject, seq, headerLength, body } = message;
  return {
    subject,
    seq,
    ...(headerLength > 0 ? { hdrs: body.toString("base64", 0, headerLength) } : {}),
    data: body.toString("base64", headerLength),
    time: timeOf(message),
  };
}
