/** Spans of the runtime. Attributes hold entity ids, never values of commands or rows. */
import { type Span, startSpan, type TraceRef, tracing } from "#src/base/trace.ts";
import type { EntityRef } from "#src/runtime/types.ts";

const entityAttributes = ({ kind, id }: EntityRef) => ({ "arbor.kind": kind, "arbor.entity": id });

/** The span of a turn: a child of the first request in it, linked to the others. */
export function turnSpan(
  entity: EntityRef,
  entries: readonly {
    readonly trace?: TraceRef | undefined;
    readonly callers: readonly { readonly trace?: TraceRef | undefined }[];
  }[],
): Span | undefined {
  if (!tracing()) return undefined;
  const from: TraceRef[] = [];
  for (const { trace, callers } of entries) {
    if (trace !== undefined) from.push(trace);
    for (const caller of callers) if (caller.trace !== undefined) from.push(caller.trace);
  }
  const [parent, ...others] = from;
  return startSpan(`turn ${entity.kind}`, "consumer", parent, {
    ...entityAttributes(entity),
    "arbor.entries": entries.length,
  }, others);
}

/** The span of the statement that writes some turns: a child of the first turn, linked to the others. */
export function statementSpan(turns: readonly { readonly trace?: TraceRef | undefined }[]): Span | undefined {
  if (!tracing()) return undefined;
  const [parent, ...others] = turns.flatMap(({ trace }) => trace ?? []);
  return startSpan("write turns", "client", parent, {
    "db.system.name": "postgresql",
    "db.query.summary": "write turns",
    "db.operation.batch.size": turns.length,
  }, others);
}

/** The span of one attempt of an effect: a child of the turn that requested it, where that is known. */
export function effectSpan(
  effect: { entity: EntityRef; n: number; name: string; attempts: number; trace?: TraceRef | undefined },
): Span | undefined {
  if (!tracing()) return undefined;
  const { entity, n, name, attempts, trace } = effect;
  return startSpan(`effect ${name}`, "internal", trace, {
    ...entityAttributes(entity),
    "arbor.effect": name,
    "arbor.effect.n": n,
    "arbor.effect.attempt": attempts + 1,
  });
}

/** The span of publishing some transitions: a child of the first of their turns, linked to the others. */
export function publishSpan(count: number, turns: () => Iterable<TraceRef | undefined>): Span | undefined {
  if (!tracing()) return undefined;
  const [parent, ...others] = [...new Set(turns())].filter((turn) => turn !== undefined);
  return startSpan("publish", "producer", parent, {
    "messaging.system": "nats",
    "messaging.operation.name": "publish",
    "messaging.batch.message_count": count,
  }, others);
}

/** The span of a request in the caller's process, from the first attempt to the reply. */
export function askSpan(
  request:
    & { entity: EntityRef; id: string; cause?: string }
    & (
      | { ask: "command"; event: { type: string } }
      | { ask: "build"; name: string }
    ),
  parent: TraceRef | undefined,
): Span | undefined {
  if (!tracing()) return undefined;
  const { entity, id, cause } = request;
  const what = request.ask === "command" ? request.event.type : request.name;
  return startSpan(`ask ${entity.kind}`, "client", parent, {
    ...entityAttributes(entity),
    "messaging.system": "nats",
    "messaging.operation.name": "request",
    "arbor.ask": request.ask,
    "arbor.what": what,
    "arbor.command": id,
    ...(cause === undefined ? {} : { "arbor.request": cause }),
  });
}

/** The span of a build in its worker. */
export function buildSpan(entity: EntityRef, name: string, parent: TraceRef | undefined): Span | undefined {
  if (!tracing()) return undefined;
  return startSpan(`build ${entity.kind}`, "server", parent, { ...entityAttributes(entity), "arbor.build": name });
}
