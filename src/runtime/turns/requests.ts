/** Questions that reach a worker: checked, put to the entity's mailbox or its builds, answered, counted. */
import type { Json } from "#src/base/json.ts";
import { type Log, reason } from "#src/base/log.ts";
import { fail } from "#src/base/result.ts";
import { endSpan, parseTraceparent, within } from "#src/base/trace.ts";
import { type createBuilds, issues } from "#src/runtime/turns/builds.ts";
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
  /** How many partitions there are. */
  readonly partitions: number;
  readonly mailboxes: Pick<Mailboxes, "ask">;
  readonly builds: ReturnType<typeof createBuilds>;
  readonly log: Log;
}

/** A function that takes questions as the bus brings them; never throws. */
export function createRequestHandler(
  { kinds, partitions, mailboxes, builds, log }: RequestHandlerOptions,
): (body: Json, respond: Respond | undefined) => void {
  const debug = log.on("debug");
  const said = (message: string, fields: Record<string, unknown>, outcome: string, begun: number) =>
    log[outcome === "failed" ? "warn" : "debug"](message, {
      ...fields,
      outcome,
      ms: Math.round((performance.now() - begun) * 10) / 10,
    });
  const answer = (respond: Respond | undefined, told: CommandAnswer) => {
    if (respond === undefined) return;
    const body: WorkerReply = told === "not_owner" ? { again: "not_owner" } : told;
    try {
      respond(body as unknown as Json);
    } catch (error) {
      // Nothing here may end the entity's turns: who hears nothing asks again.
      const instead = error instanceof BusError
        ? fail("too_large", `The answer does not fit into a message. ${error.message}`)
        : fail("failed", "The answer cannot be sent.");
      if (!(error instanceof BusError)) log.error("an answer was not sent", { reason: reason(error) });
      try {
        respond(instead as unknown as Json);
      } catch (again) {
        log.error("an answer was not sent", { reason: reason(again) });
      }
    }
  };
  return (body, respond) => {
    const parsed = workerRequestSchema.safeParse(body);
    if (!parsed.success) return answer(respond, fail("invalid", "No question.", issues(parsed.error.issues)));
    const question: WorkerRequest = parsed.data;
    const { entity, id, cause: request } = question;
    const now = Date.now();
    const deadline = now + question.deadline;
    const trace = parseTraceparent(question.traceparent);
    const begun = performance.now();
    const kind = kinds.get(entity.kind);
    if (kind === undefined) return answer(respond, fail("unknown_kind", `There is no kind "${entity.kind}".`));
    if (question.ask === "build") {
      const wanted = { kind, entity, partition: partitionOf(entity, partitions) };
      const name = Object.hasOwn(kind.builds ?? {}, question.name) ? question.name : "unknown";
      const span = buildSpan(entity, name, trace);
      within(span, () => builds(wanted, id, question.name, question.input, deadline)).then((told) => {
        answer(respond, told);
        const outcome = measure.outcomeOf(told);
        endSpan(span, outcome === "ok" ? undefined : outcome);
        said("a build was answered", { entity: entityKey(entity), build: name, request }, outcome, begun);
      });
      return;
    }
    const event = kind.commands.safeParse(question.event);
    if (!event.success) {
      const message = `This is no command that a ${kind.kind} takes.`;
      return answer(respond, fail("invalid", message, issues(event.error.issues)));
    }
    const { type } = event.data;
    mailboxes.ask(kind, entity, id, event.data, deadline, {
      until: now + question.until,
      trace,
      request,
      respond: (told) => {
        answer(respond, told);
        const outcome = measure.outcomeOf(told);
        measure.commands.of(kind.kind, type, outcome).inc();
        measure.commandSeconds.of(kind.kind, type).since(begun);
        if (debug || outcome === "failed") {
          said(
            "a command was answered",
            { entity: entityKey(entity), command: id, event: type, request },
            outcome,
            begun,
          );
        }
      },
    });
  };
}
