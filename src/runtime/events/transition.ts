/**
 * Transitions and their messages: subject `arbor.event.<kind>.<id>.<transition>`, body CloudEvents 1.0. Content that
 * guests may not read is in a second message, at `arbor.content.<kind>.<id>.<transition>`.
 *
 * An id becomes one NATS token: letters, digits, `_` and `-` stay, every other byte of its UTF-8 becomes `%` and two
 * hexadecimal digits (`decodeURIComponent` reverses it). `<transition>` is the machine's event in kebab case.
 */
import { utf8 } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import { CONTENT_VERSION, type Contents, type EventContent } from "#src/runtime/events/content.ts";
import { entityKey } from "#src/runtime/placement/partitions.ts";
import type { EntityRef } from "#src/runtime/types.ts";

/** One applied event, as it is published. */
export interface Transition {
  readonly entity: EntityRef;
  /** Number of events applied to the entity, including this one: 1, 2, 3 … without gaps. */
  readonly version: number;
  readonly from: string;
  readonly to: string;
  /** The machine's event, `SUBMIT`. */
  readonly type: string;
  /** Id of the command, or `input:<seq>`, `reminder:<name>` or `effect:<kind>/<id>:<n>`. */
  readonly cause: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** What it says to subscribers; missing where its kind says nothing more. */
  readonly content?: EventContent | undefined;
  /** Id of the generation of the log that it was written in; missing or empty for the first. */
  readonly generation?: string | undefined;
}

/** The published columns of a row of `outbox`. */
export interface TransitionRow {
  kind: string;
  id: string;
  version: bigint;
  from_state: string;
  to_state: string;
  type: string;
  cause: string;
  at: Date;
  /** The machine's event. */
  body: Json;
  generation: string;
}

/** Decodes a row of `outbox`. */
export function transitionOf(row: TransitionRow, contents: Contents): Transition {
  const { kind, id, from_state: from, to_state: to, type, cause, body, generation } = row;
  const content = contents.of(kind, body);
  return {
    entity: { kind, id },
    version: Number(row.version),
    from,
    to,
    type,
    cause,
    at: row.at.getTime(),
    ...(content !== undefined && { content }),
    ...(generation !== "" && { generation }),
  };
}

/** An id as one token of a NATS subject. */
export function subjectToken(id: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(id)) return id;
  let token = "";
  for (const byte of utf8(id)) {
    const char = String.fromCharCode(byte);
    token += /[A-Za-z0-9_-]/.test(char) ? char : "%" + byte.toString(16).toUpperCase().padStart(2, "0");
  }
  return token;
}

/** Kebab case: `rolled-back` of `ROLLED_BACK` or `rolledBack`. */
export function kebab(type: string): string {
  return type.replace(/([a-z0-9])([A-Z])/g, "$1-$2").replace(/[^A-Za-z0-9]+/g, "-").toLowerCase();
}

/** The NATS subject of a transition. */
export function eventSubject(transition: Transition): string {
  return `arbor.event.${subjectEnd(transition)}`;
}

/** The NATS subject of a transition with content that guests may not read. */
export function contentSubject(transition: Transition): string {
  return `arbor.content.${subjectEnd(transition)}`;
}

function subjectEnd({ entity: { kind, id }, type }: Transition): string {
  return `${kind}.${subjectToken(id)}.${kebab(type)}`;
}

/**
 * `<kind>/<id>:<version>`, and after a restore `@<generation>` behind it: the same each time a transition is published, and
 * never that of another one.
 */
export function eventId({ entity, version, generation }: Transition): string {
  return `${entityKey(entity)}:${version}${generation ? `@${generation}` : ""}`;
}

/** The headers of a message: its id, and after a restore the database's generation, so that readers see that it changed. */
export function eventHeaders(id: string, generation: string): Record<string, string> {
  return { "Nats-Msg-Id": id, ...(generation !== "" && { "Arbor-Generation": generation }) };
}

/** A message that publishes a transition. */
export interface EventMessage {
  readonly subject: string;
  readonly body: { [name: string]: Json };
  /** `Nats-Msg-Id`: the same each time. */
  readonly id: string;
}

/** The messages of a transition: one, and where guests may not read its content a second one with it. */
export function eventMessages(transition: Transition, contents: Contents): readonly EventMessage[] {
  const guarded = contents.isGuarded(transition.entity.kind);
  const id = eventId(transition);
  const message = { subject: eventSubject(transition), body: cloudEvent(transition, !guarded), id };
  if (!guarded || transition.content === undefined) return [message];
  return [message, { subject: contentSubject(transition), body: cloudEvent(transition), id }];
}

/** The message body of a transition: a CloudEvent, with the transition's content or without. */
export function cloudEvent(transition: Transition, withContent = true): { [name: string]: Json } {
  const { entity, version, from, to, cause, content, generation } = transition;
  return {
    specversion: "1.0",
    id: eventId(transition),
    source: `/arbor/${entity.kind}/${subjectToken(entity.id)}`,
    type: `arbor.${entity.kind}.${kebab(transition.type)}`,
    time: new Date(transition.at).toISOString(),
    datacontenttype: "application/json",
    ...(generation && { generation }),
    dataschema: `urn:arbor:event:${entity.kind}.${kebab(transition.type)}:${CONTENT_VERSION}`,
    data: {
      entity: { kind: entity.kind, id: entity.id },
      version,
      from,
      to,
      cause,
      ...(withContent && contentMember(entity, version, content)),
    },
  };
}

function contentMember(
  { kind, id }: EntityRef,
  version: number,
  content: EventContent | undefined,
): { [name: string]: Json } {
  if (content === undefined) return {};
  if (content !== "large") return { content };
  return { contentReference: `/actors/${kind}/${encodeURIComponent(id)}/history?before=${version + 1}&limit=1` };
}
