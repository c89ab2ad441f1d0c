/** What askers and workers say to each other over the bus. Workers check every message again. */
import { z } from "zod";
import { isWellFormed } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import type { Failure, Result } from "#src/base/result.ts";
import type { EntityRef, Event } from "#src/runtime/types.ts";

/** Where a worker listens for questions. */
export function workerSubject(worker: string): string {
  return `arbor.worker.${worker}`;
}

/** Longest id of an entity or a command, in UTF-16 units. */
const LONGEST = 200;
const id = z.string().min(1).max(LONGEST).refine((text) => !text.includes("\0") && isWellFormed(text), "no plain text");

export const entitySchema = z.object({ kind: z.string().min(1).max(64), id });
export const idSchema = id;

const common = {
  id,
  entity: entitySchema,
  /** How long somebody waits, in milliseconds from when it was sent: the clocks of two machines need not agree. */
  deadline: z.number(),
  /** How long this attempt of the asker lasts. */
  until: z.number(),
  cause: z.string().max(LONGEST).optional(),
  /** Where the asker's span stands, as W3C Trace Context has it; what is malformed is dropped. */
  traceparent: z.string().max(LONGEST).optional().catch(undefined),
};

const event = z.looseObject({ type: z.string() });
const json = z.custom<Json>(() => true);

export const workerRequestSchema = z.discriminatedUnion("ask", [
  z.object({ ask: z.literal("command"), ...common, event }),
  z.object({ ask: z.literal("build"), ...common, name: z.string(), input: json }),
]);

/** A question as a worker takes it. */
export type WorkerRequest = z.infer<typeof workerRequestSchema>;

/** A question as an asker keeps it: `deadline` in milliseconds since 1970. */
export type PendingRequest = {
  id: string;
  entity: EntityRef;
  deadline: number;
  cause?: string;
  traceparent?: string;
} & ({ ask: "command"; event: Event } | { ask: "build"; name: string; input: Json });

/** What a worker answers: a result, or that another owns the entity. */
export type WorkerReply = Result<Json, Failure> | { readonly again: "not_owner" };
