/**
 * The content of events: what a transition says to subscribers beyond its states. It is the part of the machine's event
 * that a schema of the kind names, so that it can be read from the log at any later time.
 */
import { z } from "zod";
import { utf8 } from "#src/base/bytes.ts";
import { type Json, toJson } from "#src/base/json.ts";

/** Schemas of content, by event type of the machine; members that a schema does not name are left out. */
export type ContentSchemas = { readonly [type: string]: z.ZodObject };

/** How a kind's events describe themselves. */
export interface KindContent {
  readonly schemas: ContentSchemas;
  /** Whether only readers with rights get it: guests get such a kind's transitions without content. */
  readonly guarded?: boolean;
}

/** What it reads of a machine's event. */
interface TypedEvent {
  readonly type: string;
}

/** Most bytes of an event's content as JSON. */
export const CONTENT_BYTES = 8_000;
/** Version of the schemas of content: greater after a change that is more than an addition. */
export const CONTENT_VERSION = 1;

/** The content of an event, or "large": more than `CONTENT_BYTES`, to be read in the actor's history. */
export type EventContent = { readonly [name: string]: Json } | "large";

/** Reads the content of events of all kinds. */
export interface Contents {
  /** The content of a machine's event; `undefined` when its kind names none, or an older release wrote another form. */
  of(kind: string, event: Json | TypedEvent | undefined): EventContent | undefined;
  isGuarded(kind: string): boolean;
}

/** The reader for some kinds. */
export function contentsOf(kinds: Iterable<{ readonly kind: string; readonly content?: KindContent }>): Contents {
  const known = new Map([...kinds].map(({ kind, content }) => [kind, content]));
  return {
    of: (kind, event) => contentOf(known.get(kind), event),
    isGuarded: (kind) => known.get(kind)?.guarded === true,
  };
}

/** The content of one event of a kind, as `Contents.of`. */
export function contentOf(
  content: KindContent | undefined,
  event: Json | TypedEvent | undefined,
): EventContent | undefined {
  const members = wholeContentOf(content, event);
  if (members === undefined) return undefined;
  return utf8(toJson(members)).length > CONTENT_BYTES ? "large" : members;
}

/** The content of one event of a kind, of any size; `undefined` as `Contents.of`. */
export function wholeContentOf(
  content: KindContent | undefined,
  event: Json | TypedEvent | undefined,
): { readonly [name: string]: Json } | undefined {
  if (content === undefined || !isEvent(event) || !Object.hasOwn(content.schemas, event.type)) return undefined;
  const parsed = content.schemas[event.type]?.safeParse(event);
  if (parsed === undefined || !parsed.success) return undefined;
  return contentMembers.parse(parsed.data);
}

const contentMembers = z.record(z.string(), z.custom<Json>());

function isEvent(event: Json | TypedEvent | undefined): event is TypedEvent {
  return typeof event === "object" && event !== null && "type" in event && typeof event.type === "string";
}

/** The reader where no kind has content. */
export const NO_CONTENTS: Contents = contentsOf([]);
