/** The spans of a worker's work. Ids of entities stand in attributes, values of commands and rows nowhere. */
import { type Span, startSpan, type TraceRef, tracing } from "#src/base/trace.ts";
import type { EntityRef } from "#src/runtime/types.ts";

const about = ({ kind, id }: EntityRef) => ({ "arbor.kind": kind, "arbor.entity": id });

/** A turn, under the first question that it answers and linked to the others. */
export function turnSpan(
  entity: EntityRef,
  entries: readonly {
    readonly trace?: TraceRef | undefined;
    readonly askers: readonly { readonly trace?: TraceRef | undefined }[];
  }[],
): Span | undefined {
  if (!tracing()) return undefined;
  const from: TraceRef[] = [];
  for (const { trace, askers } of entries) {
    if (trace !== undefined) from.push(trace);
    for (const asker of askers) if (asker.trace !== undefined) from.push(asker.trace);
  }
  const [parent, ...others] = from;
  return startSpan(`turn ${entity.kind}`, "consumer", parent, {
    ...about(entity),
    "arbor.entries": entries.length,
  }, others);
}

/** The statement that writes some turns, under the first of them and linked to the others. */
export function statementSpan(turns: readonly { readonly trace?: TraceRef | undefined }[]): Span | undefined {
  if (!tracing()) return undefined;
  const [parent, ...others] = turns.flatMap(({ trace }) => trace ?? []);
  return startSpan("write turns", "client", parent, {
    "db.system.name": "postgresql",
    "db.query.summary": "write turns",
    "db.operation.batch.size": turns.length,
  }, others);
}

/** One attempt of an effect, under the turn that asked for it where that is known. */
export function effectSpan(
  effect: { entity: EntityRef; n: number; name: string; attempts: number; trace?: TraceRef | undefined },
): Span | undefined {
  if (!tracing()) return undefined;
  const { entity, n, name, attempts, trace } = effect;
  return startSpan(`effect ${name}`, "internal", trace, {
    ...about(entity),
    "arbor.effect": name,
    "arbor.effect.n": n,
    "arbor.effect.attempt": attempts + 1,
  });
}

/** Telling subscribers of some transitions, under the first turn among them and linked to the others. */
export function publishSpan(count: number, turns: () => Iterable<TraceRef | undefined>): Span | undefined {
  if (!tracing()) return undefined;
  const [parent, ...others] = [...new Set(turns())].filter((turn) => turn !== undefined);
  return startSpan("publish", "producer", parent, {
    "messaging.system": "nats",
    "messaging.operation.name": "publish",
    "messaging.batch.message_count": count,
  }, others);
}

/** A question as its asker sees it, from the first try to the answer. */
export function askSpan(
  question:
    & { entity: EntityRef; id: string; cause?: string }
    & (
      | { ask: "command"; event: { type: string } }
      | { ask: "build"; name: string }
    ),
  parent: TraceRef | undefined,
): Span | undefined {
  if (!tracing()) return undefined;
  const { entity, id, cause } = question;
  const what = question.ask === "command" ? question.event.type : question.name;
  return startSpan(`ask ${entity.kind}`, "client", parent, {
    ...about(entity),
    "messaging.system": "nats",
    "messaging.operation.name": "request",
    "arbor.ask": question.ask,
    "arbor.what": what,
    "arbor.command": id,
    ...(cause === undefined ? {} : { "arbor.request": cause }),
  });
}

/** A build in its worker. */
export function buildSpan(entity: EntityRef, name: string, parent: TraceRef | undefined): Span | undefined {
  if (!tracing()) return undefined;
  return startSpan(`build ${entity.kind}`, "server", parent, { ...about(entity), "arbor.build": name });
}
