/** The bus of a simulation: messages are delayed, lost, repeated and overtake each other; a stream stores transitions. */
import { isObject, type Json, parseWritten, toJson } from "#src/base/json.ts";
import { type Body, type Bus, BusError, type Respond } from "#src/runtime/bus/bus.ts";
import type { Faults } from "./faults.ts";
import type { Process, World } from "./world.ts";

interface Subscription {
  readonly subject: string;
  readonly process: Process;
  readonly handle: (body: Json, respond: Respond | undefined, subject: string) => void;
}

/** A message in a stream. */
export interface StoredMessage {
  readonly subject: string;
  readonly body: Json;
  readonly id: string | undefined;
}

const copy = (body: unknown): Json => parseWritten(toJson(body));

export class SimulatedNats {
  readonly stream: StoredMessage[] = [];
  private readonly nats: Process;
  private readonly subscriptions = new Set<Subscription>();
  private readonly configs = new Map<string, Json>();
  /** Whether the stream drops a message that it has. */
  private readonly isUnique: boolean;

  constructor(private readonly world: World, private readonly faults: Faults) {
    this.nats = world.spawn("nats");
    this.isUnique = world.chance(0.5);
  }

  connect(process: Process): Bus {
    const { world, faults } = this;
    const listeners = new Set<() => void>();
    const reconnect = () => {
      if (faults.occurs(0.2)) { for (const listener of [...listeners]) listener(); }
      world.after(world.between(500, 4_000), process, reconnect);
    };
    world.after(world.between(500, 4_000), process, reconnect);
    const subscribe: Bus["subscribe"] = (subject, handle) => {
      const subscription = { subject, process, handle };
      this.subscriptions.add(subscription);
      return () => void this.subscriptions.delete(subscription);
    };
    const request: Bus["request"] = (subject, body, timeoutMs, headers) =>
      new Promise((resolve, reject) => {
        const sent = copy(body);
        const late = world.after(timeoutMs, process, () => reject(new BusError("timeout", `no reply on ${subject}`)));
        const reply = (settle: () => void) => {
          if (faults.occurs(0.02)) return;
          world.after(faults.delay(), process, () => {
            late();
            settle();
          });
        };
        if (faults.bug === "a row marked as published before its confirmation" && subject.startsWith("arbor.event.")) {
          resolve({ stream: "ARBOR_EVENTS", seq: 0 });
        }
        if (faults.occurs(0.02)) return;
        world.after(faults.delay(), this.nats, () => {
          const stored = this.answer(subject, sent, headers?.["Nats-Msg-Id"]);
          const receivers = this.receivers(subject);
          if (stored !== undefined) reply(() => resolve(stored));
          else if (receivers.length === 0) reply(() => reject(new BusError("no_responders", `nothing on ${subject}`)));
          for (const receiver of receivers) {
            const respond: Respond = (answer) => {
              const answered = copy(answer);
              reply(() => resolve(answered));
            };
            this.deliver(receiver, sent, respond, subject);
            if (faults.occurs(0.02)) this.deliver(receiver, sent, respond, subject);
          }
        });
      });
    return {
      request,
      subscribe,
      serve: subscribe,
      publish: (subject, body) => {
        const sent: Json = copy(body);
        for (let times = faults.occurs(0.02) ? 0 : faults.occurs(0.02) ? 2 : 1; times > 0; times--) {
          world.after(faults.delay(), this.nats, () => {
            for (const receiver of this.receivers(subject)) this.deliver(receiver, sent, undefined, subject);
          });
        }
      },
      flush: () => new Promise((resolve) => void world.after(faults.delay(), process, resolve)),
      permits: async () => true,
      maxPayload: () => 1_048_576,
      clustered: () => false,
      hasJetStream: () => true,
      onReconnect: (listener) => {
        listeners.add(listener);
        return () => void listeners.delete(listener);
      },
      lost: new Promise(() => {}),
      close: async () => {},
    };
  }

  private receivers(subject: string): Subscription[] {
    return [...this.subscriptions].filter((one) => one.process.alive && one.subject === subject);
  }

  private deliver({ process, handle }: Subscription, body: Json, respond: Respond | undefined, subject: string): void {
    this.world.after(this.faults.delay(), process, () => handle(body, respond, subject));
  }

  /** The reply of JetStream: of its API, or to a message that a stream stores. */
  private answer(subject: string, body: Json, id: string | undefined): Json | undefined {
    if (subject === "$JS.API.STREAM.MSG.GET.ARBOR_EVENTS") {
      const message = this.stream[Number(isObject(body) ? body.seq : 0) - 1];
      if (message === undefined) return { error: { code: 404, err_code: 10_037, description: "no message found" } };
      return { message: { subject: message.subject, data: btoa(toJson(message.body)) } };
    }
    const [, call, name] = /^\$JS\.API\.STREAM\.(\w+)\.(\w+)$/.exec(subject) ?? [];
    if (call === "CREATE" || call === "UPDATE") this.configs.set(name!, body);
    if (call !== undefined) {
      const config = this.configs.get(name!);
      if (config === undefined) return { error: { code: 404, err_code: 10_059, description: "stream not found" } };
      return { config, created: "then", state: { last_seq: this.stream.length } };
    }
    if (!subject.startsWith("arbor.event.")) return undefined;
    const known = this.isUnique ? this.stream.findIndex((one) => one.id === id) : -1;
    if (known >= 0) return { stream: "ARBOR_EVENTS", seq: known + 1, duplicate: true };
    return { stream: "ARBOR_EVENTS", seq: this.stream.push({ subject, body, id }) };
  }
}

export type { Body };
