/** What the runtime promises, checked along a schedule and at its end. */
import type { Failure, Result } from "#src/base/result.ts";
import { isObject, type Json, toJson } from "#src/base/json.ts";
import type { MemoryDatabase } from "#src/runtime/testing/memory/database.ts";
import type { Rows } from "#src/runtime/testing/memory/table.ts";
import { startMachine, stateName, stepMachine } from "#src/runtime/turns/machine.ts";
import { effectId } from "#src/runtime/turns/fold.ts";
import type { EntityRef, Event } from "#src/runtime/types.ts";
import { accountMachine } from "../account.ts";
import type { SimulatedNats } from "./bus.ts";

/** How far a worker's idea of the database's clock may be off, in milliseconds: the time of a reading. */
const CLOCK_MS = 12;

export class Invariants {
  /** The first promise that was broken. */
  broken: string | undefined;
  private readonly payments = new Map<string, number>();
  /** Commands with the version of their entity when they were sent. */
  private readonly commands = new Map<string, { readonly event: Event; readonly version: number }>();

  constructor(private readonly db: MemoryDatabase, private readonly nats: SimulatedNats) {}

  /** An effect reached the external service. */
  paid(effect: string): void {
    this.payments.set(effect, (this.payments.get(effect) ?? 0) + 1);
  }

  /** Number of the last input that was appended. */
  appended(): number {
    return Math.max(0, ...this.inputs());
  }

  /** Numbers of all inputs, those that are read and those that are not. */
  private inputs(): number[] {
    const { input_log, outbox } = this.db.tables;
    const read = outbox.all().filter(({ type }) => type === "SEEN");
    return [...input_log.all().map(({ event }) => memberN(event)), ...read.map(({ body }) => memberN(body))];
  }

  /** Turns were written that began under some epochs. */
  written(owned: readonly { readonly id: number; readonly epoch: number }[]): void {
    for (const { id, epoch } of owned) {
      const now = this.db.tables.partition.get(id)?.epoch;
      if (now !== epoch) this.break(`turns of epoch ${epoch} of partition ${id} were written in epoch ${now}`);
    }
  }

  /** A client is about to send a command for the first time. */
  sent({ kind, id }: EntityRef, command: string, event: Event): void {
    if (this.commands.has(command)) return;
    this.commands.set(command, { event, version: this.db.tables.actor.get(kind, id)?.version ?? 0 });
  }

  /** A client got the answer to a command, which is then in the rows. */
  answered({ kind, id }: EntityRef, command: string, result: Result<Json, Failure>): void {
    const stored = this.db.tables.command_result.get(kind, id, command)?.result;
    if (!result.ok && result.error.code !== "not_possible") {
      this.break(`the command ${command} of ${id} was answered with ${result.error.code}: ${result.error.message}`);
    } else if (stored === undefined) this.break(`the command ${command} of ${id} was answered before it was stored`);
    else if (toJson(stored) !== toJson(result)) {
      this.break(
        `the command ${command} of ${id} was answered with ${toJson(result)}, and ${toJson(stored)} is stored`,
      );
    }
    const applied = this.db.tables.outbox.all().filter((row) => row.cause === command).length;
    if (!result.ok) this.checkRefusal({ kind, id }, command);
    if (applied !== (result.ok ? 1 : 0)) {
      this.break(`the answered command ${command} of ${id} was applied ${applied} times`);
    }
  }

  /** A refused command was not possible in a state that the entity had between its sending and its answer. */
  private checkRefusal(entity: EntityRef, command: string): void {
    const { event, version: from } = this.commands.get(command)!;
    const rows = this.db.tables.outbox.all().filter(({ id }) => id === entity.id).sort((a, b) => a.version - b.version);
    let [snapshot] = startMachine(accountMachine, entity);
    const isRefused = () => !snapshot.can({ ...event, turn: { at: 0 } });
    if (from === 0 && isRefused()) return;
    for (const row of rows) {
      [snapshot] = stepMachine(accountMachine, snapshot, { ...row.body as unknown as Event, turn: { at: row.at } });
      if (row.version >= from && isRefused()) return;
    }
    this.break(`the command ${command} of ${entity.id} was refused in a state that was over when it was sent`);
  }

  /** What is still to be done, and due. */
  openWork(now: number): string[] {
    const { effect, reminder, input_log, outbox_unpublished } = this.db.tables;
    const open = {
      effects: effect.all().filter(({ done }) => !done).length,
      reminders: reminder.all().filter(({ at }) => at <= now + 60_000).length,
      inputs: input_log.all().filter(({ read }) => !read).length,
      transitions: outbox_unpublished.all().length,
    };
    return Object.entries(open).filter(([, count]) => count > 0).map(([name, count]) => `${count} open ${name}`);
  }

  /** What is broken when everything is done. */
  atEnd(): string | undefined {
    const { outbox, actor, dead_letter, effect } = this.db.tables;
    const rows = [...outbox.all()].sort((a, b) => a.version - b.version);
    for (const { kind, id, version, snapshot } of actor.all()) {
      const own = rows.filter((row) => row.id === id);
      own.forEach((row, i) => {
        if (row.version !== i + 1) this.break(`${id}: version ${row.version} is in place of ${i + 1}`);
      });
      if (own.length !== version) this.break(`${id} is at version ${version} with ${own.length} transitions`);
      this.checkHistory({ kind, id }, own, snapshot);
      this.checkStream(id, own.length);
    }
    const causes = rows.map(({ cause, id }) => `${id} ${cause}`).filter((cause) => !cause.includes(" reminder:"));
    const twice = causes.find((cause, i) => causes.indexOf(cause) !== i);
    if (twice !== undefined) this.break(`${twice} was applied twice`);
    for (const { kind, id, n } of effect.all()) {
      const name = effectId({ kind, id }, n);
      if (!this.payments.has(name)) this.break(`${name} ended without having run`);
      const outcomes = rows.filter(({ cause }) => cause === name).length;
      if (outcomes !== 1) this.break(`${name} has ${outcomes} outcomes`);
    }
    const inputs = this.inputs();
    if (new Set(inputs).size !== inputs.length) this.break(`inputs were appended twice: ${inputs}`);
    for (const { cause, error } of dead_letter.all()) this.break(`${cause} failed: ${error}`);
    return this.broken;
  }

  /** The state follows from the transitions, each reminder fires once and not before its time. */
  private checkHistory(entity: EntityRef, rows: readonly Rows["outbox"][], stored: Json): void {
    let [snapshot] = startMachine(accountMachine, entity);
    let due: number | undefined;
    const seen: number[] = [];
    for (const row of rows) {
      const turn = { at: row.at, ...(/^cmd/.test(row.cause) ? { command: row.cause } : {}) };
      const [next] = stepMachine(accountMachine, snapshot, { ...row.body as { type: string }, turn });
      if (stateName(next.value) !== row.to_state) this.break(`${entity.id}: version ${row.version} leads elsewhere`);
      snapshot = next;
      if (row.type === "REMEMBER") due = Number(isObject(row.body) ? row.body.at : NaN);
      if (row.type === "FORGET") due = undefined;
      if (row.type === "SEEN") seen.push(memberN(row.body));
      if (row.type !== "WOKEN") continue;
      if (due === undefined) this.break(`${entity.id}: a reminder fired that was not set`);
      else if (row.created < due - CLOCK_MS) {
        this.break(`${entity.id}: a reminder fired ${due - row.created} ms before its time by the database's clock`);
      }
      due = undefined;
    }
    if (seen.some((n, i) => i > 0 && n <= seen[i - 1]!)) this.break(`${entity.id}: inputs were applied as ${seen}`);
    const context = isObject(stored) ? stored.context : undefined;
    if (toJson(context) !== toJson(snapshot.context)) this.break(`${entity.id}: its state is not that of its history`);
  }

  /** What a subscriber gets without repetitions is each version in order. */
  private checkStream(id: string, versions: number): void {
    const first = [...new Set(this.nats.stream.map((message) => message.id))].filter((one) =>
      one?.startsWith(`account/${id}:`)
    );
    const expected = Array.from({ length: versions }, (_, i) => `account/${id}:${i + 1}`);
    if (first.join() !== expected.join()) {
      this.break(`${id}: the stream has ${first.map((one) => one?.split(":")[1])} of ${versions} versions`);
    }
  }

  break(promise: string): void {
    this.broken ??= promise;
  }
}

function memberN(event: Json): number {
  return isObject(event) ? Number(event.n) : NaN;
}
