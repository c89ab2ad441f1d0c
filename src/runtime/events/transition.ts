/**
 * Transitions and their messages: subject `arbor.event.<kind>.<id>.<transition>`, body CloudEvents 1.0.
 *
 * An id becomes one NATS token: letters, digits, `_` and `-` stay, every other byte of its UTF-8 becomes `%` and two
 * hexadecimal digits (`decodeURIComponent` reverses it). `<transition>` is the machine's event in kebab case.
 */
import { utf8 } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
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
}

/** Decodes a row of `outbox`. */
export function transitionOf(row: TransitionRow): Transition {
  const { kind, id, from_state: from, to_state: to, type, cause } = row;
  return { entity: { kind, id }, version: Number(row.version), from, to, type, cause, at: row.at.getTime() };
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
  const { kind, id } = transition.entity;
  return `arbor.event.${kind}.${subjectToken(id)}.${kebab(transition.type)}`;
}

/** `<kind>/<id>:<version>`: the same each time a transition is published. */
export function eventId(transition: Transition): string {
  return `${entityKey(transition.entity)}:${transition.version}`;
}

/** The message body of a transition: a CloudEvent. */
export function cloudEvent(transition: Transition): { [name: string]: Json } {
  const { entity, version, from, to, cause } = transition;
  return {
    specversion: "1.0",
    id: eventId(transition),
    source: `/arbor/${entity.kind}/${subjectToken(entity.id)}`,
    type: `arbor.${entity.kind}.${kebab(transition.type)}`,
    time: new Date(transition.at).toISOString(),
    datacontenttype: "application/json",
    data: { entity: { kind: entity.kind, id: entity.id }, version, from, to, cause },
  };
}
