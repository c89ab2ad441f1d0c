/**
 * The consumers of all streams and clients: made, changed, and removed when they are deleted, abandoned, or their guest
 * has left.
 *
 * Assumptions: a guest's consumers are known to that guest alone; those of clients with rights to all such clients.
 */
import { randomBytes } from "node:crypto";
import { type Json, toJson } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { checkedConfig, checkUpdate, type ConsumerConfig } from "#src/embedded/nats/jetstream/config.ts";
import { Consumer } from "#src/embedded/nats/jetstream/consumer.ts";
import type { Durables, StoredConsumer } from "#src/embedded/nats/jetstream/durables.ts";
import * as errors from "#src/embedded/nats/jetstream/errors.ts";
import { BOUNDS, GUEST_BOUNDS, type JetStreamLimits } from "#src/embedded/nats/jetstream/limits.ts";
import type { Outlet } from "#src/embedded/nats/jetstream/outlet.ts";
import type { StreamReader } from "#src/embedded/nats/jetstream/reader.ts";
import { startOf, type StartPlace } from "#src/embedded/nats/jetstream/startPlace.ts";
import { Gate, Turns } from "#src/embedded/nats/jetstream/turns.ts";
import type { ClientConnection } from "#src/embedded/nats/clientConnection.ts";

/** Pause between two shares of time for guests, in milliseconds. */
const GUEST_PAUSE_MS = 15;

/** A client's request for a new consumer. */
interface CreateRequest {
  readonly from: ClientConnection;
  readonly outlet: Outlet;
  readonly reader: StreamReader;
  /** Without a name it gets one. */
  readonly name: string | undefined;
  readonly given: ConsumerConfig;
  /** `create`, `update`, or none for either. */
  readonly action: Json | undefined;
}

export class Consumers {
  /** By owner, stream and name: the names of a guest's consumers are its own. */
  private readonly consumers = new Map<string, Consumer>();
  private readonly turns = new Turns(0);
  private readonly guestTurns = new Turns(GUEST_PAUSE_MS);
  private readonly gate: Gate;
  private readonly guestGate: Gate;
  private stopped = false;

  constructor(
    private readonly limits: JetStreamLimits,
    private readonly durables: Durables | undefined,
    private readonly log: Log,
  ) {
    this.gate = new Gate(limits.jobs);
    this.guestGate = new Gate(limits.guestJobs);
  }

  /** The consumer of an owner: a guest's outlet, or that of all clients with rights. */
  get(owner: Outlet, stream = "", name = ""): Consumer | undefined {
    return this.consumers.get(keyOf(owner, stream, name));
  }

  /** The consumers of a stream and an owner, by name. */
  of(owner: Outlet, reader: StreamReader): Consumer[] {
    return [...this.consumers.values()]
      .filter((one) => one.options.reader === reader && one.guest === owner.guest)
      .sort((a, b) => a.name < b.name ? -1 : 1);
  }

  /** Has consumers look for something to do. */
  wake(which: (consumer: Consumer) => boolean): void {
    for (const consumer of this.consumers.values()) if (which(consumer)) consumer.wake();
  }

  /** Continues a durable consumer as it was stored. */
  restore({ name, config, state, created }: StoredConsumer, reader: StreamReader, outlet: Outlet): void {
    const consumer = this.make(reader, name, config, { from: state.sseq, first: [] }, outlet, created);
    consumer.restore(state);
    this.add(consumer);
  }

  /**
   * Creates a consumer, or changes the one that has its name, and gives it as the API shows it.
   *
   * @throws ApiError where it is refused
   */
  async create({ from, outlet, reader, name, given, action }: CreateRequest): Promise<object> {
    const { guest } = outlet;
    const config = checkedConfig(given, reader.stream.subject, guest === undefined ? BOUNDS : GUEST_BOUNDS);
    const { deliver_subject: to } = config;
    if (guest === undefined && to !== undefined && !from.mayReceive(to)) {
      throw errors.consumerFailed("the deliver subject is not permitted");
    }
    const existing = name === undefined ? undefined : this.get(outlet, reader.name, name);
    if (existing !== undefined) return await this.change(existing, config, action);
    if (action === "update") throw errors.consumerMissing();
    this.checkRoom(config, guest);
    const start = await startOf(reader, config, this.limits.subjects);
    if (guest?.isOpen === false) throw errors.consumerNotFound();
    const own = name ?? randomBytes(6).toString("base64url").replaceAll(/[-_]/g, "x");
    // Another request may have made one meanwhile.
    const made = this.get(outlet, reader.name, own);
    if (made !== undefined) return await this.change(made, config, action);
    this.checkRoom(config, guest);
    const consumer = this.make(reader, own, config, start, outlet, Date.now());
    this.consumers.set(keyOfConsumer(consumer), consumer);
    try {
      if (consumer.isDurable) await this.durables?.put(consumer);
    } catch (error) {
      this.consumers.delete(keyOfConsumer(consumer));
      throw error;
    }
    // As the server does, the answer tells what there was before the first delivery.
    const info = await consumer.info();
    // Its guest may have left, or another request may have deleted it, meanwhile.
    if (this.consumers.get(keyOfConsumer(consumer)) !== consumer) throw errors.consumerNotFound();
    this.add(consumer);
    return info;
  }

  /** Takes a request for a consumer that exists. */
  private async change(existing: Consumer, config: ConsumerConfig, action: Json | undefined): Promise<object> {
    if (!sameJson(existing.config, config)) {
      if (action === "create") throw errors.consumerExists();
      checkUpdate(existing.config, config);
      if (existing.config.deliver_subject !== config.deliver_subject && existing.isBound()) {
        throw errors.consumerNameUsed();
      }
      existing.update(config);
      if (existing.isDurable) await this.durables?.put(existing);
    }
    return await existing.info();
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
        if (this.durables === undefined || durable >= this.limits.durables) throw errors.maximumConsumers();
      }
      if (all.length - theirs.length >= this.limits.consumers) throw errors.maximumConsumers();
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
      log: this.log,
      changed: (consumer) => consumer.isDurable && this.durables?.note(consumer),
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

  /** Deletes a consumer that a client no longer wants. */
  async delete(consumer: Consumer): Promise<void> {
    this.remove(consumer, "409 Consumer Deleted");
    if (consumer.isDurable) await this.durables?.remove(consumer);
  }

  /** Removes consumers that were not used for too long. */
  removeAbandoned(): void {
    const now = performance.now();
    for (const consumer of [...this.consumers.values()]) {
      if (!consumer.isAbandoned(now)) continue;
      this.remove(consumer);
      if (!consumer.isDurable) continue;
      void this.durables?.remove(consumer).catch((error) =>
        this.log.warn("a durable consumer could not be deleted", { consumer: consumer.name, reason: reason(error) })
      );
    }
  }

  /** Removes the consumers of a guest. */
  left(guest: ClientConnection): void {
    for (const consumer of this.consumers.values()) if (consumer.guest === guest) this.remove(consumer);
  }

  /** Ends the consumers, and writes how far the durable ones have come. */
  async stop(): Promise<void> {
    this.stopped = true;
    for (const consumer of this.consumers.values()) consumer.close();
    await this.durables?.stop();
  }
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
