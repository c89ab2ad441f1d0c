/** Requests to workers and their replies over the bus. Workers check every request against its schema. */
import { z } from "zod";
import { isStorable } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import { memberOf } from "#src/base/member.ts";
import type { Failure, Result } from "#src/base/result.ts";
import type { EntityRef, Event } from "#src/runtime/types.ts";

/** NATS subject of the requests to a worker. */
export function workerSubject(worker: string): string {
  return `arbor.worker.${worker}`;
}

/** Longest id of an entity or a command, in UTF-16 units. */
const LONGEST = 200;
const id = z.string().min(1).max(LONGEST).refine(isStorable, "no plain text");

export const entitySchema = z.object({ kind: z.string().min(1).max(64), id });
export const idSchema = id;

const common = {
  id,
  entity: entitySchema,
  /** How long the caller waits, in milliseconds after sending: the clocks of two machines need not agree. */
  deadline: z.number(),
  /** How long this attempt lasts, in milliseconds after sending. */
  until: z.number(),
  cause: z.string().max(LONGEST).optional(),
  /** `traceparent` of the caller's span (W3C Trace Context); a malformed one is dropped. */
  traceparent: z.string().max(LONGEST).optional().catch(undefined),
};

const event = z.looseObject({ type: z.string() });
const json = z.custom<Json>(() => true);

export const workerRequestSchema = z.discriminatedUnion("ask", [
  z.object({ ask: z.literal("command"), ...common, event }),
  z.object({ ask: z.literal("build"), ...common, name: z.string(), input: json }),
]);

/** A request as a worker receives it. */
export type WorkerRequest = z.infer<typeof workerRequestSchema>;

/** A request in the caller's process: its `deadline` is in milliseconds since 1970. */
export type PendingRequest = {
  id: string;
  entity: EntityRef;
  deadline: number;
  cause?: string;
  traceparent?: string;
} & ({ ask: "command"; event: Event } | { ask: "build"; name: string; input: Json });

/** The reply of a worker: a result, or that another worker owns the entity. */
export type WorkerReply = Result<Json, Failure> | { readonly again: "not_owner" };

/** Whether the body of a reply is one that a worker sends. */
export function isWorkerReply(body: unknown): body is WorkerReply {
  const ok = memberOf(body, "ok");
  if (ok === true) return memberOf(body, "value") !== undefined;
  const error = memberOf(body, "error");
  if (ok === false) {
    return typeof memberOf(error, "code") === "string" && typeof memberOf(error, "message") === "string";
  }
  return memberOf(body, "again") === "not_owner";
}
