/**
 * A consumer of a stream: sends its messages, from some number on, to clients that pull them, or to one subject.
 *
 * One loop does all work of a consumer, in slices of `SLICE_MS`; between two slices others run. It holds at most a few
 * hundred messages of its own, and sends nothing to a client that has no room for it.
 */
import { Buffer } from "node:buffer";
import { sleep } from "#src/base/clock.ts";
import { type Log, reason } from "#src/base/log.ts";
import { ackPolicyOf, Acks, type AckState } from "#src/embedded/nats/jetstream/acks.ts";
import { Backlog } from "#src/embedded/nats/jetstream/backlog.ts";
import type { ConsumerConfig } from "#src/embedded/nats/jetstream/config.ts";
import { delayOf } from "#src/embedded/nats/jetstream/delay.ts";
import { FlowControl } from "#src/embedded/nats/jetstream/flowControl.ts";
import type { Outlet } from "#src/embedded/nats/jetstream/outlet.ts";
import {
  parseRequest,
  type PullRequest,
  PullRequests,
  requestRefusal,
} from "#src/embedded/nats/jetstream/pullRequests.ts";
import type { StreamReader } from "#src/embedded/nats/jetstream/reader.ts";
import { type StoredMessage, withoutBody } from "#src/embedded/nats/jetstream/source.ts";
import type { StartPlace } from "#src/embedded/nats/jetstream/startPlace.ts";
import { type Gate, SLICE_MS, type Turns } from "#src/embedded/nats/jetstream/turns.ts";

const MILLISECOND = 1e6;
/** How long a consumer without a name of its own is kept while no client uses it, in milliseconds. */
const INACTIVE_MS = 5_000;
/** Pause after a failed read, in milliseconds. */
const RETRY_MS = 1_000;

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
  /** A message read to be delivered again; without `message` when it is deleted. */
  private repeated: { readonly seq: number; readonly message: StoredMessage | undefined } | undefined;
  private closed = false;
  private signalled = false;
  private signal = () => {};
  private readonly room = () => this.wake();
  private usedAt = performance.now();
  private lastDelivery: number | undefined;
  private lastAck: number | undefined;
  private heartbeatAt = Infinity;
  private readonly backlog: Backlog;
  private readonly flowControl: FlowControl;

  constructor(readonly options: ConsumerOptions) {
    const { name, created, config, start, outlet, reader, gate } = options;
    this.name = name;
    this.created = created;
    this.config = config;
    this.requests = new PullRequests(outlet, () => this.config.max_waiting ?? 0);
    this.acks = new Acks(ackPolicyOf(config), start.from);
    if (start.first[0] !== undefined) this.acks.ackedStream = start.first[0] - 1;
    this.backlog = new Backlog(reader, gate, start.first);
    this.flowControl = new FlowControl(config.flow_control === true, `$JS.FC.${reader.name}.${name}`);
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
    this.acks.rules = ackPolicyOf(config);
    this.backlog.filter(config, this.acks.sseq);
    this.wake();
  }

  /** Continues where a durable consumer stopped. */
  restore(state: AckState): void {
    this.acks.restore(state);
    this.backlog.beginAt(state.sseq);
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

  private take(request: PullRequest): void {
    if (!this.requests.add(request)) {
      // Requests without a subscriber make room.
      this.checkRequests(false);
      if (!this.requests.add(request)) return this.options.outlet.status(request.reply, "409 Exceeded MaxWaiting");
    }
    this.wake();
  }

  /** A request that does not wait: there must be enough messages for it and for those before it. */
  private async pullNow(request: PullRequest): Promise<void> {
    let pending: number;
    try {
      await this.options.reader.current();
      await this.backlog.count();
      pending = this.backlog.size(this.acks.sseq) + this.acks.toRepeat;
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
    const isNext = word.startsWith("+NXT");
    if (word === "" || word === "+ACK" || word === "+OK" || word.startsWith("+TERM") || isNext) acks.ack(seq, dseq);
    else if (word.startsWith("-NAK")) acks.nak(seq, dseq, delayOf(body.subarray("-NAK".length)), now);
    else if (word === "+WPI") acks.progress(seq, now);
    if (isNext) this.pull(reply, body.subarray("+NXT".length));
    this.options.changed(this);
    this.wake();
    return !isNext;
  }

  /** Takes the answer to a flow control request. */
  flow(reply: string): void {
    if (this.flowControl.answered(reply)) this.wake();
  }

  /** As the API shows it. */
  async info(): Promise<object> {
    await this.options.reader.current();
    await this.backlog.count();
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
      num_pending: this.backlog.size(acks.sseq),
      ...(this.isBound() ? { push_bound: true } : {}),
      ts: new Date().toISOString(),
    };
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
      ...(this.flowControl.request === "" ? {} : { "Nats-Consumer-Stalled": this.flowControl.request }),
    });
  }

  private async load(seq: number, repeat: boolean): Promise<void> {
    const { reader, gate } = this.options;
    if (repeat) this.repeated = { seq, message: await gate.run(() => reader.message(seq)) };
    else await this.backlog.load(seq);
  }

  /** Sends messages until there is nothing to do or the time is over. */
  private slice(): Outcome {
    const until = performance.now() + SLICE_MS;
    this.acks.check(Date.now(), this.options.reader.state.first);
    for (let n = 0;; n++) {
      if (n % 16 === 15 && performance.now() > until) return "again";
      const { deliver_subject: to } = this.config;
      if (to === undefined ? this.requests.size === 0 : this.flowControl.isFull) return "idle";
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
    const { first } = this.backlog;
    if (first !== undefined) {
      if (this.repeated?.seq !== first) return { load: first, repeat: true };
      const { message } = this.repeated;
      if (message !== undefined) return { message, delivery: 1 };
      this.backlog.skipFirst();
      return this.next();
    }
    const { message, load, next } = this.backlog.next(acks.sseq);
    acks.sseq = next;
    if (message !== undefined) return { message, delivery: 1 };
    return load === undefined ? "end" : { load, repeat: false };
  }

  /** Delivers a message; gives an outcome when it was not delivered. */
  private deliver(message: StoredMessage, delivery: number): Outcome | undefined {
    const { acks, options: { outlet, reader } } = this;
    const { seq, subject, storedAt } = message;
    const { deliver_subject: subjectTo, deliver_group: group = "" } = this.config;
    const now = performance.now();
    const skipped = delivery === 1 && this.backlog.first !== undefined;
    const isNew = delivery === 1 && !skipped;
    const pending = isNew ? this.backlog.after(seq) : Math.max(0, this.backlog.size(acks.sseq) - (skipped ? 1 : 0));
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
    if (skipped) this.backlog.skipFirst();
    else if (isNew) {
      acks.sseq = seq + 1;
      this.backlog.delivered();
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
    const reply = this.flowControl.sent(size);
    if (reply === undefined) return;
    const body = Buffer.from("NATS/1.0 100 FlowControl Request\r\n\r\n");
    this.options.outlet.send(to, { subject: to, reply, headerLength: body.length, body }, group);
  }
}
