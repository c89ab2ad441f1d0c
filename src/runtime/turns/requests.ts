/**
 * Handles requests at a worker: checks them, passes them to the entity's mailbox or to its builds, answers and counts
 * them.
 */
import type { Json } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { fail } from "#src/base/result.ts";
import { endSpan, parseTraceparent, within } from "#src/base/trace.ts";
import { buildLabel, type createBuilds, issues } from "#src/runtime/turns/builds.ts";
import { BusError, type Respond } from "#src/runtime/bus/bus.ts";
import type { Mailboxes } from "#src/runtime/turns/mailboxes.ts";
import * as measure from "#src/runtime/metrics.ts";
import { entityKey, partitionOf } from "#src/runtime/placement/partitions.ts";
import { type WorkerReply, type WorkerRequest, workerRequestSchema } from "#src/runtime/bus/protocol.ts";
import { buildSpan } from "#src/runtime/spans.ts";
import type { ActorKind } from "#src/runtime/types.ts";
import type { CommandAnswer } from "#src/runtime/turns/queue.ts";

export interface RequestHandlerOptions {
  readonly kinds: ReadonlyMap<string, ActorKind>;
  /** Number of partitions. */
  readonly partitions: number;
  readonly mailboxes: Pick<Mailboxes, "ask">;
  readonly builds: ReturnType<typeof createBuilds>;
  readonly log: Log;
}

/** A handler of request messages; it never throws. */
export function createRequestHandler(
  { kinds, partitions, mailboxes, builds, log }: RequestHandlerOptions,
): (body: Json, respond: Respond | undefined) => void {
  const debug = log.on("debug");
  const logAnswer = (message: string, fields: Record<string, unknown>, outcome: string, start: number) =>
    log[outcome === "failed" ? "warn" : "debug"](message, {
      ...fields,
      outcome,
      ms: Math.round((performance.now() - start) * 10) / 10,
    });
  const send = (respond: Respond | undefined, answer: CommandAnswer) => {
    if (respond === undefined) return;
    const body: WorkerReply = answer === "not_owner" ? { again: "not_owner" } : answer;
    try {
      respond(body);
    } catch (error) {
      // An error here must not stop the entity's turns: a caller without a reply repeats its request.
      const instead = error instanceof BusError
        ? fail("too_large", `The reply does not fit into a message. ${error.message}`)
        : fail("failed", "The reply cannot be sent.");
      if (!(error instanceof BusError)) log.error("a reply could not be sent", { reason: reason(error) });
      try {
        respond(instead);
      } catch (again) {
        log.error("a reply could not be sent", { reason: reason(again) });
      }
    }
  };
  return (body, respond) => {
    const parsed = workerRequestSchema.safeParse(body);
    if (!parsed.success) return send(respond, fail("invalid", "No message.", issues(parsed.error.issues)));
    const message: WorkerRequest = parsed.data;
    const { entity, id, cause: request } = message;
    const now = Date.now();
    const deadline = now + message.deadline;
    const trace = parseTraceparent(message.traceparent);
    const start = performance.now();
    const kind = kinds.get(entity.kind);
    if (kind === undefined) return send(respond, fail("unknown_kind", `No kind "${entity.kind}" exists.`));
    if (message.ask === "build") {
      const target = { kind, entity, partition: partitionOf(entity, partitions) };
      const name = buildLabel(kind, message.name);
      const span = buildSpan(entity, name, trace);
      within(span, () => builds(target, id, message.name, message.input, deadline)).then((answer) => {
        send(respond, answer);
        const outcome = measure.outcomeOf(answer);
        endSpan(span, outcome === "ok" ? undefined : outcome);
        logAnswer("build completed", { entity: entityKey(entity), build: name, request }, outcome, start);
      });
      return;
    }
    const event = kind.commands.safeParse(message.event);
    if (!event.success) {
      const sentence = `This is no command that a ${kind.kind} takes.`;
      return send(respond, fail("invalid", sentence, issues(event.error.issues)));
    }
    const { type } = event.data;
    mailboxes.ask(kind, entity, id, event.data, deadline, {
      until: now + message.until,
      trace,
      request,
      respond: (answer) => {
        send(respond, answer);
        const outcome = measure.outcomeOf(answer);
        measure.commands.of(kind.kind, type, outcome).inc();
        measure.commandSeconds.of(kind.kind, type).since(start);
        if (debug || outcome === "failed") {
          logAnswer(
            "command completed",
            { entity: entityKey(entity), command: id, event: type, request },
            outcome,
            start,
          );
        }
      },
    });
  };
}
