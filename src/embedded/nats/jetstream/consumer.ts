/**
 * A consumer of a stream: sends its messages, from some number on, to clients that pull them, or to one subject.
 *
 * One loop does all work of a consumer, in slices of `SLICE_MS`; between two slices others run. It holds at most a few
 * hundred messages of its own, and sends nothing to a client that has no room for it.
 */
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { sleep } from "#src/base/clock.ts";
import { readJson } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { memberOf } from "#src/base/member.ts";
import { type AckPolicy, Acks, type AckState } from "#src/embedded/nats/jetstream/acks.ts";
import { type ConsumerConfig, filtersOf } from "#src/embedded/nats/jetstream/config.ts";
import type { Outlet } from "#src/embedded/nats/jetstream/outlet.ts";
import { parseRequest, PullRequests, requestRefusal } from "#src/embedded/nats/jetstream/pullRequests.ts";
import type { StreamReader } from "#src/embedded/nats/jetstream/reader.ts";
import type { StoredMessage } from "#src/embedded/nats/jetstream/source.ts";
import { type Gate, SLICE_MS, type Turns } from "#src/embedded/nats/jetstream/turns.ts";
import { overlap } from "#src/embedded/nats/subjects.ts";

const MILLISECOND = 1e6;
/** Messages found at a time for a consumer with filters. */
const FOUND = 256;
/** A consumer with filters reads the shared pages when it is so near to the end of the stream. */
const NEAR = 2_048;
/** Bytes in flight under flow control, at first and at most. */
const FLOW_START = 2 * 1024 * 1024;
const FLOW_MOST = 32 * 1024 * 1024;
/** How long a consumer without a name of its own is kept while no client uses it, in milliseconds. */
const INACTIVE_MS = 5_000;
/** Pause after a failed read, in milliseconds. */
const RETRY_MS = 1_000;

/** Where a new consumer begins. */
export interface StartPlace {
  /** The first number. */
  readonly from: number;
  /** With the policy `last_per_subject`: the messages to deliver before `from`. */
  readonly first: readonly number[];
}

export interface ConsumerOptions {
  readonly reader: StreamReader;
  readonly name: string;
  readonly created: number;
  readonly config: ConsumerConfig;
  readonly start: StartPlace;
  readonly outlet: Outlet;
  readonly turns: Turns;
  readonly gate: Gate;
  readonly log: Log;
  /** Called when the state of a durable consumer has changed. */
  readonly changed: (consumer: Consumer) => void;
}

/** What a slice of work ended with. */
type Outcome =
  | "again"
  /** Nothing to send to, or nothing to send, or too many open messages. */
  | "idle"
  | "end"
  | "stalled"
  | { readonly load: number; readonly repeat: boolean }
  | "full";

export class Consumer {
  readonly name: string;
  readonly created: number;
  readonly acks: Acks;
  readonly requests: PullRequests;
  config: ConsumerConfig;
  private subjects: readonly string[] = [];
  private filters: readonly (readonly string[])[] = [];
  /** Messages read ahead: those of `ahead` from `aheadAt` on, complete up to the number `aheadTo`. */
  private ahead: readonly StoredMessage[] = [];
  private aheadAt = 0;
  private aheadTo = 0;
  /** A message read to be delivered again; without `message` when it is deleted. */
  private repeated: { readonly seq: number; readonly message: StoredMessage | undefined } | undefined;
  private skip: readonly number[];
  private skipAt = 0;
  /** With filters: how many messages from the next one up to `countedTo` pass. */
  private matching = 0;
  private countedTo: number;
  private closed = false;
  private signalled = false;
  private signal = () => {};
  private readonly room = () => this.wake();
  private usedAt = performance.now();
  private lastDelivery: number | undefined;
  private lastAck: number | undefined;
  private heartbeatAt = Infinity;
  /** Flow control: the window, the bytes in flight, the open request and the bytes that it covers. */
  private window: number;
  private inFlight = 0;
  private flowReply = "";
  private covered = 0;

  constructor(readonly options: ConsumerOptions) {
    const { name, created, config, start, outlet } = options;
    this.name = name;
    this.created = created;
    this.config = config;
    this.requests = new PullRequests(outlet, () => this.config.max_waiting ?? 0);
    this.skip = start.first;
    this.acks = new Acks(rulesOf(config), start.from);
    if (start.first[0] !== undefined) this.acks.ackedStream = start.first[0] - 1;
    this.countedTo = start.from - 1;
    this.window = config.flow_control ? FLOW_START : 0;
    this.update(config);
  }

  get isPush(): boolean {
    return this.config.deliver_subject !== undefined;
  }

  get isDurable(): boolean {
    return this.config.durable_name !== undefined;
  }

  get guest() {
    return this.options.outlet.guest;
  }

  /** Begins to deliver. */
  start(): void {
    if (this.isPush) this.beat(performance.now());
    void this.run();
  }

  /** Replaces the configuration. */
  update(config: ConsumerConfig): void {
    this.config = config;
    const { stream } = this.options.reader;
    const filters = filtersOf(config);
    const all = filters.length === 0 || filters.some((filter) => filter === stream.subject || filter === ">");
    // In a stream with gaps the messages must be counted, whatever the filter.
    this.subjects = all ? stream.hasGaps ? [stream.subject] : [] : filters;
    this.filters = this.subjects.map((filter) => filter.split("."));
    this.acks.rules = rulesOf(config);
    this.ahead = [];
    this.aheadTo = 0;
    this.matching = 0;
    this.countedTo = this.acks.sseq - 1;
    this.wake();
  }

  /** Continues where a durable consumer stopped. */
  restore(state: AckState): void {
    this.acks.restore(state);
    this.countedTo = state.sseq - 1;
  }

  /** Has the loop look again: there is something new. */
  wake(): void {
    this.signalled = true;
    this.signal();
  }

  /** Ends the consumer; with a status for those who wait. */
  close(status?: string): void {
    if (this.closed) return;
    this.closed = true;
    const { outlet } = this.options;
    const { deliver_subject: to } = this.config;
    if (status !== undefined) {
      this.requests.end(status);
      if (to !== undefined) outlet.status(to, status);
    }
    this.wake();
  }

  /** Whether a push consumer has a subscriber. */
  isBound(): boolean {
    const { deliver_subject: to, deliver_group: group } = this.config;
    return to !== undefined && this.options.outlet.hasInterest(to, group);
  }

  /** Whether it must be removed: it was not used for its `inactive_threshold`. */
  isAbandoned(now: number): boolean {
    if (!this.isPush) this.checkRequests(false);
    if (this.isPush ? this.isBound() : this.requests.size > 0) this.usedAt = now;
    const { inactive_threshold: threshold } = this.config;
    if (this.isDurable && threshold === undefined) return false;
    return now - this.usedAt > (threshold === undefined ? INACTIVE_MS : threshold / MILLISECOND);
  }

  /** Takes a request for messages. */
  pull(reply: string, body: Buffer): void {
    const now = performance.now();
    this.usedAt = now;
    if (reply === "") return;
    const { outlet } = this.options;
    if (this.isPush) return outlet.status(reply, "409 Consumer is push based");
    const request = parseRequest(reply, body, now);
    if (typeof request === "string") return outlet.status(reply, `400 Bad Request - ${request}`);
    const refusal = requestRefusal(request, this.config, now);
    if (refusal !== undefined) return outlet.status(reply, refusal);
    if (request.noWait) return void this.pullNow(request);
    this.take(request);
  }

  private take(request: Parameters<PullRequests["add"]>[0]): void {
    if (!this.requests.add(request)) {
      // Requests without a subscriber make room.
      this.checkRequests(false);
      if (!this.requests.add(request)) return this.options.outlet.status(request.reply, "409 Exceeded MaxWaiting");
    }
    this.wake();
  }

  /** A request that does not wait: there must be enough messages for it and for those before it. */
  private async pullNow(request: Parameters<PullRequests["add"]>[0]): Promise<void> {
    let pending: number;
    try {
      await this.options.reader.current();
      await this.count();
      pending = this.pending() + this.acks.toRepeat;
    } catch {
      return this.options.outlet.status(request.reply, "503 Service Unavailable");
    }
    if (this.closed) return this.options.outlet.status(request.reply, "409 Consumer Deleted");
    if (pending === 0 && request.expires === undefined) {
      return this.options.outlet.status(request.reply, "404 No Messages");
    }
    this.checkRequests(false);
    if (pending > 0 && pending < this.requests.wanted()) {
      return this.options.outlet.status(request.reply, "408 Requests Pending");
    }
    this.take(request);
  }

  /** Takes an acknowledgement, `dseq` of the message `seq`. True when the sender may be answered. */
  acknowledge(seq: number, dseq: number, reply: string, body: Buffer): boolean {
    const word = body.toString("latin1");
    const now = Date.now();
    this.usedAt = performance.now();
    this.lastAck = now;
    const { acks } = this;
    let answers = true;
    if (word === "" || word === "+ACK" || word === "+OK" || word.startsWith("+TERM")) acks.ack(seq, dseq);
    else if (word.startsWith("+NXT")) {
      acks.ack(seq, dseq);
      this.pull(reply, body.subarray("+NXT".length));
      answers = false;
    } else if (word.startsWith("-NAK")) acks.nak(seq, dseq, delayOf(body.subarray("-NAK".length)), now);
    else if (word === "+WPI") acks.progress(seq, now);
    this.options.changed(this);
    this.wake();
    return answers;
  }

  /** Takes the answer to a flow control request. */
  flow(reply: string): void {
    if (reply !== this.flowReply) return;
    this.window = Math.min(FLOW_MOST, 2 * this.window);
    this.inFlight = Math.max(0, this.inFlight - this.covered);
    this.flowReply = "";
    this.covered = 0;
    this.wake();
  }

  /** As the API shows it. */
  async info(): Promise<object> {
    await this.options.reader.current();
    await this.count();
    this.acks.check(Date.now(), this.options.reader.state.first);
    if (!this.isPush) this.checkRequests(false);
    const { acks, lastDelivery, lastAck } = this;
    const time = (at: number | undefined) => at === undefined ? {} : { last_active: new Date(at).toISOString() };
    return {
      stream_name: this.options.reader.name,
      name: this.name,
      created: new Date(this.created).toISOString(),
      config: this.config,
      delivered: { consumer_seq: acks.dseq - 1, stream_seq: acks.sseq - 1, ...time(lastDelivery) },
      ack_floor: { consumer_seq: acks.ackedConsumer, stream_seq: acks.ackedStream, ...time(lastAck) },
      num_ack_pending: acks.open.size,
      num_redelivered: acks.redelivered,
      num_waiting: this.requests.size,
      num_pending: this.pending(),
      ...(this.isBound() ? { push_bound: true } : {}),
      ts: new Date().toISOString(),
    };
  }

  /** The number of messages to deliver, without those that are delivered again. */
  private pending(): number {
    const { first, last } = this.options.reader.state;
    const rest = this.filters.length > 0 ? this.matching : Math.max(0, last - Math.max(this.acks.sseq, first) + 1);
    return rest + Math.max(0, this.skip.length - this.skipAt);
  }

  /** With filters: counts messages that were added since the last count. */
  private async count(): Promise<void> {
    const { reader, gate } = this.options;
    const { first, last } = reader.state;
    const before = this.countedTo;
    if (this.filters.length === 0 || before >= last) return;
    const from = Math.max(before + 1, first);
    await gate.run(async () => {
      const more = last - from < NEAR
        ? await this.countNear(from, last)
        : await reader.source.count(from, last, this.subjects);
      // Another count may have ended meanwhile.
      if (this.countedTo !== before) return;
      this.matching += more;
      this.countedTo = last;
    });
  }

  private async countNear(from: number, last: number): Promise<number> {
    const { reader } = this.options;
    let count = 0;
    for (let at = from; at <= last;) {
      await reader.load(at);
      const part = reader.part(at);
      if (part === undefined) continue;
      for (let i = part.at; i < part.messages.length; i++) {
        const message = part.messages[i];
        if (message !== undefined && message.seq <= last && this.passes(message)) count++;
      }
      at = part.to + 1;
    }
    return count;
  }

  private passes({ subject }: StoredMessage): boolean {
    if (this.filters.length === 0) return true;
    const tokens = subject.split(".");
    return this.filters.some((filter) => overlap(filter, tokens));
  }

  private async run(): Promise<void> {
    const { turns, log } = this.options;
    let failed = false;
    while (!this.closed) {
      this.signalled = false;
      try {
        const outcome = await turns.run(() => this.closed ? "idle" : this.slice());
        if (outcome === "again") continue;
        if (typeof outcome === "object") await this.load(outcome.load, outcome.repeat);
        else await this.rest(outcome);
        failed = false;
      } catch (error) {
        if (!failed) log.warn("a consumer could not read its stream", { consumer: this.name, reason: reason(error) });
        failed = true;
        await sleep(RETRY_MS);
      }
    }
  }

  /** Waits until there is something new, or a deadline. */
  private async rest(outcome: "idle" | "end" | "stalled" | "full"): Promise<void> {
    if (this.closed) return;
    const due = Math.min(
      this.isPush ? this.beat(performance.now()) : this.checkRequests(outcome === "end"),
      performance.now() + this.acks.checkAt - Date.now(),
    );
    if (this.signalled) return;
    await new Promise<void>((resolve) => {
      const ms = Math.min(due - performance.now(), 60_000);
      const timer = setTimeout(resolve, Math.max(1, Math.ceil(ms)));
      this.signal = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.signal = () => {};
  }

  private checkRequests(all: boolean): number {
    return this.requests.check(all, performance.now(), (reply) => this.heartbeat(reply));
  }

  /** Sends the heartbeat of a push consumer when it is due; gives when the next one is. */
  private beat(now: number): number {
    const { idle_heartbeat: interval, deliver_subject: to } = this.config;
    if (interval === undefined || to === undefined) return Infinity;
    if (this.heartbeatAt === Infinity) this.heartbeatAt = now + interval / MILLISECOND;
    if (now >= this.heartbeatAt) {
      if (this.isBound()) this.heartbeat(to);
      this.heartbeatAt = now + interval / MILLISECOND;
    }
    return this.heartbeatAt;
  }

  private heartbeat(to: string): void {
    const { dseq, sseq } = this.acks;
    this.options.outlet.status(to, "100 Idle Heartbeat", {
      "Nats-Last-Consumer": dseq - 1,
      "Nats-Last-Stream": sseq - 1,
      ...(this.flowReply === "" ? {} : { "Nats-Consumer-Stalled": this.flowReply }),
    });
  }

  private async load(seq: number, repeat: boolean): Promise<void> {
    const { reader, gate } = this.options;
    if (repeat) {
      const message = await gate.run(() => reader.message(seq));
      this.repeated = { seq, message };
      return;
    }
    await this.count();
    const last = this.filters.length === 0 ? reader.state.last : Math.min(this.countedTo, reader.state.last);
    if (seq > last) return;
    const part = reader.part(seq);
    if (part !== undefined) {
      this.hold(part.messages, part.at, part.to);
      return this.loadNext(part.to + 1, last);
    }
    await gate.run(async () => {
      if (this.filters.length === 0 || last - seq < NEAR) return await reader.load(seq);
      const { found, to } = await reader.source.find(seq, last, this.subjects, FOUND);
      this.hold(found, 0, to);
    });
    const loaded = reader.part(seq);
    if (this.aheadTo >= seq || loaded === undefined) return;
    this.hold(loaded.messages, loaded.at, loaded.to);
    this.loadNext(loaded.to + 1, last);
  }

  /** Has the next page read while one is sent. */
  private loadNext(from: number, last: number): void {
    const { reader, gate } = this.options;
    // A failure shows when the page is needed.
    if (from <= last && reader.part(from) === undefined) void gate.run(() => reader.load(from)).catch(() => {});
  }

  private hold(messages: readonly StoredMessage[], at: number, to: number): void {
    this.ahead = messages;
    this.aheadAt = at;
    this.aheadTo = to;
  }

  /** Sends messages until there is nothing to do or the time is over. */
  private slice(): Outcome {
    const until = performance.now() + SLICE_MS;
    this.acks.check(Date.now(), this.options.reader.state.first);
    for (let n = 0;; n++) {
      if (n % 16 === 15 && performance.now() > until) return "again";
      const { deliver_subject: to } = this.config;
      if (to === undefined ? this.requests.size === 0 : this.inFlight > this.window && this.window > 0) return "idle";
      const next = this.next();
      if (typeof next === "string" || "load" in next) return next;
      const outcome = this.deliver(next.message, next.delivery);
      if (outcome !== undefined) return outcome;
    }
  }

  /** The next message and the number of its delivery. */
  private next(): { readonly message: StoredMessage; readonly delivery: number } | Exclude<Outcome, "again"> {
    const { acks } = this;
    for (let repeat = acks.nextRepeat(); repeat !== undefined; repeat = acks.nextRepeat()) {
      const { seq, delivery } = repeat;
      if (this.repeated?.seq !== seq) return { load: seq, repeat: true };
      const { message } = this.repeated;
      if (message !== undefined) return { message, delivery };
      acks.ack(seq, acks.open.get(seq)?.dseq ?? 0);
      acks.open.delete(seq);
    }
    const most = this.config.max_ack_pending ?? 0;
    if (acks.rules.policy !== "none" && most > 0 && acks.open.size >= most) return "stalled";
    const first = this.skip[this.skipAt];
    if (first !== undefined) {
      if (this.repeated?.seq !== first) return { load: first, repeat: true };
      const { message } = this.repeated;
      if (message !== undefined) return { message, delivery: 1 };
      this.skipAt++;
      return this.next();
    }
    return this.nextNew();
  }

  private nextNew(): { readonly message: StoredMessage; readonly delivery: number } | Exclude<Outcome, "again"> {
    const { acks, options: { reader } } = this;
    const { first, last } = reader.state;
    if (acks.sseq < first) {
      // Messages were deleted that it has not delivered.
      acks.sseq = first;
      this.matching = 0;
      this.countedTo = first - 1;
    }
    const limit = this.filters.length === 0 ? last : Math.min(last, this.countedTo);
    for (let message = this.ahead[this.aheadAt]; message !== undefined; message = this.ahead[++this.aheadAt]) {
      if (message.seq > limit) break;
      if (message.seq < acks.sseq || !this.passes(message)) continue;
      if (message.seq > this.aheadTo) this.aheadTo = message.seq;
      return { message, delivery: 1 };
    }
    const from = Math.max(acks.sseq, Math.min(this.aheadTo, limit) + 1);
    acks.sseq = Math.max(acks.sseq, Math.min(from, limit + 1));
    if (from > last) {
      // Something that was counted can be unreadable.
      this.matching = 0;
      return "end";
    }
    return { load: from, repeat: false };
  }

  /** Delivers a message; gives an outcome when it was not delivered. */
  private deliver(message: StoredMessage, delivery: number): Outcome | undefined {
    const { acks, options: { outlet, reader } } = this;
    const { seq, subject, storedAt } = message;
    const { deliver_subject: subjectTo, deliver_group: group = "" } = this.config;
    const now = performance.now();
    const skipped = delivery === 1 && this.skipAt < this.skip.length;
    const isNew = delivery === 1 && !skipped;
    const pending = isNew
      ? this.filters.length > 0 ? Math.max(0, this.matching - 1) : Math.max(0, reader.state.last - seq)
      : Math.max(0, this.pending() - (skipped ? 1 : 0));
    const reply = `$JS.ACK.${reader.name}.${this.name}.${delivery}.${seq}.${acks.dseq}.${storedAt}000000.${pending}`;
    const { headerLength, body } = this.config.headers_only ? withoutBody(message) : message;
    const size = subject.length + reply.length + body.length;
    const to = subjectTo ?? this.requests.next(size, now)?.reply;
    if (to === undefined) return "idle";
    if (!outlet.hasRoom(to, group, this.room)) return "full";
    if (outlet.send(to, { subject, reply, headerLength, body }, group) === 0) {
      if (subjectTo !== undefined) return "idle";
      this.requests.drop();
      return undefined;
    }
    this.usedAt = now;
    this.lastDelivery = Date.now();
    acks.delivered(seq, delivery, this.lastDelivery);
    if (skipped) this.skipAt++;
    else if (isNew) {
      acks.sseq = seq + 1;
      this.aheadAt++;
      this.matching = Math.max(0, this.matching - 1);
    }
    this.options.changed(this);
    if (subjectTo === undefined) this.requests.sent(size, now);
    else {
      this.heartbeatAt = Infinity;
      this.requestFlow(subjectTo, size, group);
    }
    return undefined;
  }

  private requestFlow(to: string, size: number, group: string): void {
    if (this.window === 0) return;
    this.inFlight += size;
    if (this.flowReply !== "") {
      if (this.inFlight - this.covered >= this.window) this.covered += size;
      return;
    }
    if (this.inFlight <= this.window / 2) return;
    this.covered = this.inFlight;
    this.flowReply = `$JS.FC.${this.options.reader.name}.${this.name}.${randomBytes(4).toString("hex")}`;
    const body = Buffer.from("NATS/1.0 100 FlowControl Request\r\n\r\n");
    this.options.outlet.send(to, { subject: to, reply: this.flowReply, headerLength: body.length, body }, group);
  }
}

function rulesOf({ ack_policy: policy, ack_wait = 0, backoff = [], max_deliver = -1 }: ConsumerConfig): AckPolicy {
  return {
    policy,
    waitMs: ack_wait / MILLISECOND,
    backoffMs: backoff.map((wait) => wait / MILLISECOND),
    maxDeliver: max_deliver,
  };
}

/** The message with its size in a header instead of its body. */
function withoutBody({ body, headerLength }: StoredMessage): { headerLength: number; body: Buffer } {
  const own = headerLength > 0 ? body.toString("latin1", 0, headerLength - 2) : "NATS/1.0\r\n";
  const headers = Buffer.from(`${own}Nats-Msg-Size: ${body.length - headerLength}\r\n\r\n`, "latin1");
  return { headerLength: headers.length, body: headers };
}

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  "µs": 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

/** Longest delay in milliseconds: that of a server's 64 bits. What a durable consumer stores must be a number. */
const MAX_DELAY_MS = 2 ** 63 / MILLISECOND;

/** The delay in milliseconds of a negative acknowledgement: ` {"delay": <nanoseconds>}` or ` 1m30s`. */
function delayOf(body: Buffer): number | undefined {
  const text = body.toString("utf8").trim();
  if (text.startsWith("{")) {
    const delay = memberOf(readJson(body), "delay");
    return typeof delay === "number" || typeof delay === "bigint"
      ? Math.max(0, Math.min(Number(delay) / MILLISECOND, MAX_DELAY_MS))
      : 0;
  }
  if (!/^(\d+(\.\d+)?(ns|us|µs|ms|s|m|h))+$/.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g)) {
    ms += Number(amount) * (UNITS[unit ?? ""] ?? 0);
  }
  return Math.min(ms, MAX_DELAY_MS);
}
