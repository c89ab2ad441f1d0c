/**
 * Asks entities, wherever they are. A question goes to the worker that owns the entity's partition; when it does not answer,
 * or owns it no more, the same question with the same id goes to the next owner, until the deadline.
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
  type PendingRequest,
  type WorkerReply,
  workerSubject,
} from "#src/runtime/bus/protocol.ts";
import { createFailureDetector } from "#src/runtime/placement/failureDetector.ts";
import { askSpan } from "#src/runtime/spans.ts";
import type { EntityRef, Event } from "#src/runtime/types.ts";
import type { Store } from "#src/store/store.ts";

export interface AskOptions {
  /** Names the command: the same id asked again gets the first answer. Random unless given. */
  readonly commandId?: string;
  /** How long the caller waits, in milliseconds from now: 10,000 unless given. */
  readonly deadlineMs?: number;
  /** What made the caller ask, for logs and traces: the id of the request that is being served, unless given. */
  readonly cause?: string;
}

export interface Ask {
  /** Has an entity apply an event; gives the reply of its machine, or why there is none (`RuntimeCode` or the machine's). */
  ask(entity: EntityRef, event: Event, options?: AskOptions): Promise<Result<Json, Failure>>;
  /** Has an entity's worker compute something beside its turns. It may be computed twice. */
  build(
    entity: EntityRef,
    name: string,
    input: Json,
    options?: { readonly deadlineMs?: number; readonly cause?: string },
  ): Promise<Result<Json, Failure>>;
  close(): void;
}

/** How long one worker is given before the question is put again (to it, or to who owns the entity by then), in milliseconds. */
const PATIENCE_MS = 1_500;

/** Answers of a worker that did not look whether a command was applied before. */
const UNKNOWING = new Set(["paused", "newer_version", "unavailable"]);
/** Between two questions to a worker whose mailbox is full while an earlier one may have the command, in milliseconds. */
const BUSY_MS = 100;

export function createAsk({ bus, store, log = silentLog }: { bus: Bus; store: Store; log?: Log }): Ask {
  const owners = createOwners({ store, bus, log });
  const suspicion = createFailureDetector({ store, bus, log });

  /** Puts a question to a worker; `undefined` when its partition moves meanwhile or the worker is gone: it may have the question. */
  const putTo = (owner: string, partition: number, body: Json, patience: number): Promise<WorkerReply | undefined> =>
    new Promise<WorkerReply | undefined>((resolve, reject) => {
      const leave = () => {
        end();
        resolve(undefined);
      };
      const ends = [owners.watch(partition, leave), suspicion.watch(owner, leave)];
      const end = () => {
        for (const one of ends) one();
      };
      bus.request(workerSubject(owner), body, patience).then((told) => {
        end();
        suspicion.answered(owner);
        resolve(told as unknown as WorkerReply);
      }, (error) => {
        end();
        if (error instanceof BusError && error.code === "no_responders") suspicion.missed(owner);
        reject(error);
      });
    });

  const put = async (question: PendingRequest): Promise<Result<Json, Failure>> => {
    const { entity, deadline } = question;
    if (!entitySchema.safeParse(entity).success || !idSchema.safeParse(question.id).success) {
      return fail("invalid", "The entity or the command has no proper id.");
    }
    // Whether a worker may have the command although it has not answered.
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
      const patience = Math.min(rest, PATIENCE_MS);
      try {
        const body = { ...question, deadline: deadline - Date.now(), until: patience } as unknown as Json;
        const told = await putTo(owner, partition, body, patience);
        if (told === undefined) {
          taken = true;
          continue;
        }
        if (taken && !("again" in told) && !told.ok && told.error.code === "overloaded") {
          // No answer yet: whoever reads "overloaded" takes it that nothing was taken.
          await sleep(Math.min(BUSY_MS, rest));
          continue;
        }
        // Another try may have been applied, of which who answers knows nothing.
        if (taken && question.ask === "command" && !("again" in told) && !told.ok && UNKNOWING.has(told.error.code)) {
          break;
        }
        if (!("again" in told)) return told;
        askedAgain.of("not_owner").inc();
      } catch (error) {
        if (!(error instanceof BusError)) throw error;
        if (error.code === "too_large") return fail("too_large", error.message);
        taken ||= error.code !== "no_responders";
        askedAgain.of(error.code).inc();
        log.debug("asked again", { entity: entityKey(entity), id: question.id, worker: owner, reason: error.message });
      }
      await owners.refresh();
    }
    const message = question.ask === "build"
      ? `Nobody answered for this ${entity.kind} in time.`
      : `Nobody answered for this ${entity.kind} in time; the command may still be applied, and tells when it is asked again.`;
    return fail("unavailable", message, { id: question.id });
  };

  const measured = async (question: PendingRequest): Promise<Result<Json, Failure>> => {
    const begun = performance.now();
    const span = askSpan(question, refOf(activeSpan()));
    const traceparent = traceparentOf(refOf(span));
    const result = await put(traceparent === undefined ? question : { ...question, traceparent });
    askSeconds.of(question.entity.kind, question.ask).since(begun);
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
      measured({ ask: "command", ...common(entity, options.commandId ?? crypto.randomUUID(), options), event }),
    build: (entity, name, input, options = {}) =>
      measured({ ask: "build", ...common(entity, crypto.randomUUID(), options), name, input }),
    close: owners.close,
  };
}
