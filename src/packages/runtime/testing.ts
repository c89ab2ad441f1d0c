/** A runtime in memory for tests of actors, with the actors' own types. */
import type { Json } from "#src/base/json.ts";
import type { Failure, Result } from "#src/base/result.ts";
import type { Actor, CommandOf, ContextOf } from "#src/packages/runtime/actor.ts";
import { createTestRuntime as createRuntime } from "#src/runtime/testing/testing.ts";

/** Options of `createTestRuntime`. */
export interface TestRuntimeOptions {
  readonly actors: readonly Actor[];
  /** The time at the start, in milliseconds since 1970; by default 2026-01-01T00:00:00Z. */
  readonly now?: number;
  /** Seed of the jitter of retries and of the ids of commands that are given none; 1 by default. */
  readonly seed?: number;
  /** Timeout of one attempt of an effect, in milliseconds; 30,000 by default. */
  readonly effectMs?: number;
}

/** A stage of the work of a process, at which it can crash. */
export type CrashStage = "before-commit" | "after-commit" | "before-effect" | "after-effect" | "before-reply";

/** An actor after its last turn. */
export interface TestState<Context = Json> {
  readonly state: string;
  readonly context: Context;
  /** Number of events applied so far. */
  readonly version: number;
}

/** An applied event. */
export interface TestEvent {
  readonly version: number;
  readonly type: string;
  readonly from: string;
  readonly to: string;
  /** Id of the command, `effect:<kind>/<id>:<n>` or `reminder:<name>`. */
  readonly cause: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** A runtime in memory. */
export interface TestRuntime {
  /** The time, in milliseconds since 1970. It moves by `advance` alone. */
  now(): number;
  /** Sends a command, as `Runtime.ask`. A crash does not end it: the next process gets it with the same id. */
  ask<A extends Actor>(
    actor: A,
    id: string,
    command: CommandOf<A>,
    options?: { readonly commandId?: string },
  ): Promise<Result<Json, Failure>>;
  /** Runs a build of an actor. */
  build(actor: Actor, id: string, name: string, input: Json): Promise<Result<Json, Failure>>;
  /** The state of an actor; `undefined` before its first event. */
  read<A extends Actor>(actor: A, id: string): TestState<ContextOf<A>> | undefined;
  /** The applied events of an actor, oldest first. */
  events(actor: Actor, id: string): readonly TestEvent[];
  /** Rows of an own table, by its name in the database. */
  rows(table: string): readonly { readonly [column: string]: Json }[];
  /** Reminders that have not fired, and effects without an outcome, with when they are due. */
  pending(): {
    readonly reminders: readonly { readonly id: string; readonly name: string; readonly at: number }[];
    readonly effects: readonly {
      readonly id: string;
      readonly name: string;
      readonly input: Json;
      readonly attempts: number;
      readonly at: number;
    }[];
  };
  /** Moves the clock, stopping wherever a reminder, a retry or a timeout is due. */
  advance(ms: number): Promise<void>;
  /** Waits for all turns, and for effects that do not wait for something outside of the process. */
  settled(): Promise<void>;
  /** Waits for all turns and effects, however long they take. */
  idle(): Promise<void>;
  /**
   * Crashes the process, now or when its work reaches a stage, and starts another one; resolves once that has taken over.
   * What was committed stays; running effects are aborted and run again.
   */
  crash(at?: CrashStage): Promise<void>;
  /** Aborts what runs. */
  stop(): void;
}

/**
 * Creates a runtime in memory: no database, no port, a clock that the test moves. Turns and effects run the code that runs
 * in production.
 *
 * @throws {TypeError} where an actor cannot be run; the message says why
 *
 * @example
 * ```ts
 * const runtime = await createTestRuntime({ actors: [door] });
 * await runtime.ask(door, "front", { type: "OPEN", key: "4711" });
 * await runtime.advance(60_000);
 * console.log(runtime.read(door, "front")?.state);
 * ```
 */
export async function createTestRuntime(options: TestRuntimeOptions): Promise<TestRuntime> {
  const runtime = await createRuntime(options);
  return {
    now: () => runtime.now(),
    ask: ({ kind }, id, command, asked) => runtime.ask({ kind, id }, command, asked),
    build: ({ kind }, id, name, input) => runtime.build({ kind, id }, name, input),
    read: <A extends Actor>({ kind }: A, id: string) => {
      const found = runtime.read({ kind, id });
      if (found === undefined) return undefined;
      const { state, context, version } = found;
      // the machine wrote the context: its type is that of the machine
      return { state, version, context } as TestState<ContextOf<A>>;
    },
    events: ({ kind }, id) =>
      runtime.transitions({ kind, id }).map(({ version, type, from, to, cause, at }) => (
        { version, type, from, to, cause, at }
      )),
    rows: (table) => runtime.rows(table),
    pending: () => {
      const { reminders, effects } = runtime.pending();
      return {
        reminders: reminders.map(({ entity: { id }, name, at }) => ({ id, name, at })),
        effects: effects.map(({ entity: { id }, name, input, attempts, at }) => ({ id, name, input, attempts, at })),
      };
    },
    advance: (ms) => runtime.advance(ms),
    settled: () => runtime.settled(),
    idle: () => runtime.idle(),
    crash: (at) => runtime.crash(at && { at }),
    stop: () => runtime.stop(),
  };
}
