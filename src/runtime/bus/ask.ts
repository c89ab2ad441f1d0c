/**
 * Sends commands and builds to entities. A request goes to the worker that owns the entity's partition. When that
 * worker does not reply, or no longer owns the partition, the same request with the same id goes to the next owner,
 * until the deadline.
 */
import { sleep } from "#src/base/clock.ts";
import type { Json } from "#src/base/json.ts";
import { type Log, silentLog } from "#src/base/log.ts";
import { requestId } from "#src/base/request.ts";
import { fail, type Failure, type Result } from "#src/base/result.ts";
import { activeSpan, endSpan, refOf, traceparentOf } from "#src/base/trace.ts";
import { type Bus, BusError } from "#src/runtime/bus/bus.ts";
import { createOwners } from "#src/runtime/placement/owners.ts";
import { askedAgain, askSeconds, outcomeOf } from "#src/runtime/metrics.ts";
import { entityKey, partitionOf } from "#src/runtime/placement/partitions.ts";
import {
  entitySchema,
  idSchema,
  isWorkerReply,
  type PendingRequest,
  type WorkerReply,
  workerSubject,
} from "#src/runtime/bus/protocol.ts";
import { createFailureDetector } from "#src/runtime/placement/failureDetector.ts";
import { askSpan } from "#src/runtime/spans.ts";
import type { EntityRef, Event } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

export interface AskOptions {
  /** Id of the command, random by default. A command repeated with the same id gets the first reply. */
  readonly commandId?: string;
  /**
   * How long the caller waits, in milliseconds; 10,000 by default. A command whose turn has not begun by then is dropped:
   * nothing is applied for a caller that is gone.
   */
  readonly deadlineMs?: number;
  /** Cause, for logs and traces; by default the id of the HTTP request being served. */
  readonly cause?: string;
}

export interface Ask {
  /**
   * Has an entity apply an event. Resolves to the reply of its machine, or to a failure with the machine's code or a
   * `RuntimeCode`.
   *
   * @example
   * ```ts
   * const result = await ask({ kind: "account", id: "a" }, { type: "ADD", amount: 5 }, { commandId: "payment-1" });
   * if (!result.ok && result.error.code === "unavailable") {
   *   // The command may have been applied: repeat it with the same id.
   * }
   * ```
   */
  ask(entity: EntityRef, event: Event, options?: AskOptions): Promise<Result<Json, Failure>>;
  /**
   * Runs the build `name` of an entity in its worker, outside its turns. It may run twice.
   *
   * @example
   * ```ts
   * const plan = await build({ kind: "door", id: "front" }, "plan", { doors: 2 }, { deadlineMs: 5_000 });
   * ```
   */
  build(
    entity: EntityRef,
    name: string,
    input: Json,
    options?: { readonly deadlineMs?: number; readonly cause?: string },
  ): Promise<Result<Json, Failure>>;
  close(): void;
}

/** Timeout of one attempt, in milliseconds; the next one goes to the worker that owns the entity by then. */
const ATTEMPT_MS = 1_500;

/** Error codes given without checking whether the command was applied before. */
const UNCHECKED = new Set(["paused", "newer_version", "unavailable"]);
/** Pause before repeating a request that an overloaded worker may already have, in milliseconds. */
const OVERLOADED_MS = 100;

/** What a caller without a reply must know of a command. */
function doubt({ ask }: PendingRequest): string {
  return ask === "build" ? "" : " The command may still be applied; the same command id returns its result.";
}

/** Creates the caller's side of requests. One function, because its parts share the owners and the failure detector. */
export function createAsk({ bus, store, log = silentLog }: { bus: Bus; store: Store; log?: Log }): Ask {
  const owners = createOwners({ store, bus, log });
  const detector = createFailureDetector({ store, bus, log });

  /**
   * Sends a request to a worker; `undefined` when the partition moves meanwhile or the worker is gone: it may have the
   * request.
   */
  const attempt = (
    owner: string,
    partition: number,
    body: object,
    timeoutMs: number,
  ): Promise<WorkerReply | undefined> =>
    new Promise<WorkerReply | undefined>((resolve, reject) => {
      const leave = () => {
        end();
        resolve(undefined);
      };
      const ends = [owners.watch(partition, leave), detector.watch(owner, leave)];
      const end = () => {
        for (const one of ends) one();
      };
      bus.request(workerSubject(owner), body, timeoutMs).then((reply) => {
        end();
        detector.answered(owner);
        if (isWorkerReply(reply)) resolve(reply);
        else reject(new BusError("closed", "the reply is not one of a worker"));
      }, (error) => {
        end();
        if (error instanceof BusError && error.code === "no_responders") detector.missed(owner);
        reject(error);
      });
    });

  const send = async (request: PendingRequest): Promise<Result<Json, Failure>> => {
    const { entity, deadline } = request;
    if (!entitySchema.safeParse(entity).success || !idSchema.safeParse(request.id).success) {
      return fail("invalid", "The id of the entity or of the command is invalid.");
    }
    // Whether a worker may have the command although it has not replied.
    let taken = false;
    for (;;) {
      const rest = deadline - Date.now();
      if (rest <= 0) break;
      if (owners.count() === 0) await owners.refresh();
      const partition = owners.count() === 0 ? 0 : partitionOf(entity, owners.count());
      const owner = owners.of(partition);
      if (owner === undefined) {
        await owners.refresh();
        continue;
      }
      const timeoutMs = Math.min(rest, ATTEMPT_MS);
      try {
        const body = { ...request, deadline: deadline - Date.now(), until: timeoutMs };
        const reply = await attempt(owner, partition, body, timeoutMs);
        if (reply === undefined) {
          taken = true;
          continue;
        }
        if (taken && !("again" in reply) && !reply.ok && reply.error.code === "overloaded") {
          // "overloaded" would tell the caller that the command was not accepted, but an earlier attempt may have been.
          await sleep(Math.min(OVERLOADED_MS, rest));
          continue;
        }
        // An earlier attempt may have been applied; this reply was given without checking that.
        if (taken && request.ask === "command" && !("again" in reply) && !reply.ok && UNCHECKED.has(reply.error.code)) {
          break;
        }
        if (!("again" in reply)) return reply;
        askedAgain.of("not_owner").inc();
      } catch (error) {
        if (!(error instanceof BusError)) throw error;
        if (error.code === "too_large") return fail("too_large", error.message);
        if (error.code === "unreachable") {
          return fail("unavailable", `NATS, over which workers get requests, does not answer.${doubt(request)}`, {
            id: request.id,
            reason: "nats",
          });
        }
        taken ||= error.code !== "no_responders";
        askedAgain.of(error.code).inc();
        log.debug("a request is sent again", {
          entity: entityKey(entity),
          id: request.id,
          worker: owner,
          reason: error.message,
        });
      }
      await owners.refresh();
    }
    const message = `No worker responded for this ${entity.kind} in time.${doubt(request)}`;
    return fail("unavailable", message, { id: request.id });
  };

  const sendMeasured = async (request: PendingRequest): Promise<Result<Json, Failure>> => {
    const start = performance.now();
    const span = askSpan(request, refOf(activeSpan()));
    const traceparent = traceparentOf(refOf(span));
    const result = await send(traceparent === undefined ? request : { ...request, traceparent });
    askSeconds.of(request.entity.kind, request.ask).since(start);
    endSpan(span, result.ok ? undefined : outcomeOf(result));
    return result;
  };

  const common = (entity: EntityRef, id: string, options: { deadlineMs?: number; cause?: string }) => {
    const deadline = Date.now() + (options.deadlineMs ?? 10_000);
    const cause = options.cause ?? requestId();
    return { id, entity, deadline, ...(cause === undefined ? {} : { cause }) };
  };

  return {
    ask: (entity, event, options = {}) =>
      sendMeasured({ ask: "command", ...common(entity, options.commandId ?? crypto.randomUUID(), options), event }),
    build: (entity, name, input, options = {}) =>
      sendMeasured({ ask: "build", ...common(entity, crypto.randomUUID(), options), name, input }),
    close: owners.close,
  };
}
