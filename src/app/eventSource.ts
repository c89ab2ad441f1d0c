/** The log of transitions as a stream that JetStream clients read: the messages that are published live. */
import { Buffer } from "node:buffer";
import { toJson } from "#src/base/json.ts";
import type { ServedStream, StoredMessage, StreamSource } from "#src/embedded/jetstream/source.ts";
import type { EventLog } from "#src/runtime/events/eventLog.ts";
import { SERVED_FROM_LOG, STREAM, SUBJECT } from "#src/runtime/events/jetStream.ts";
import type { EventFilter } from "#src/runtime/events/replay.ts";
import {
  countNumbered,
  findNumbered,
  lastNumbered,
  lastOfEach,
  numberAt,
  type NumberedTransition,
  readLogState,
  readNumbered,
} from "#src/runtime/events/sequence.ts";
import { cloudEvent, eventId, eventSubject, subjectToken } from "#src/runtime/events/transition.ts";
import type { Store } from "#src/store/store.ts";

function messageOf({ seq, transition, storedAt }: NumberedTransition): StoredMessage {
  const headers = `NATS/1.0\r\nNats-Msg-Id: ${eventId(transition)}\r\n\r\n`;
  return {
    seq,
    subject: eventSubject(transition),
    headerLength: Buffer.byteLength(headers),
    body: Buffer.from(headers + toJson(cloudEvent(transition))),
    storedAt,
  };
}

/** The transitions whose subjects match a subject with wildcards; `undefined` when none can. */
function filterOf(subject: string): EventFilter | undefined {
  const tokens = subject.split(".");
  const parts = ["arbor", "event", undefined, undefined, undefined].map((known, i) => {
    const open = tokens.indexOf(">");
    const token = open >= 0 && i >= open ? "*" : tokens[i];
    return { fits: token !== undefined && (token === "*" || known === undefined || token === known), token };
  });
  if (!parts.every(({ fits }) => fits) || tokens.length > parts.length) return undefined;
  const [, , kind, id, transition] = parts.map(({ token }) => token === "*" ? undefined : token);
  if (id === undefined) return { kind, transition };
  try {
    const decoded = decodeURIComponent(id);
    // Not valid in an id, and PostgreSQL rejects it.
    return decoded.includes("\0") || subjectToken(decoded) !== id ? undefined : { kind, id: decoded, transition };
  } catch {
    return undefined;
  }
}

function filtersOf(subjects: readonly string[]): EventFilter[] {
  return subjects.map(filterOf).filter((filter) => filter !== undefined);
}

/** The log as the source of a stream. */
export function eventSource(store: Store, events: EventLog): StreamSource {
  return {
    state: () => readLogState(store),
    read: async (from, last, limit) => (await readNumbered(store, from, last, limit)).map(messageOf),
    find: async (from, last, subjects, limit) => {
      const { found, to } = await findNumbered(store, from, last, filtersOf(subjects), limit);
      return { found: found.map(messageOf), to };
    },
    count: (from, last, subjects) => countNumbered(store, from, last, filtersOf(subjects)),
    last: async (first, last, subjects) => {
      const newest = await lastNumbered(store, first, last, filtersOf(subjects));
      return newest === undefined ? undefined : messageOf(newest);
    },
    lastOfEach: (first, last, subjects, most) => lastOfEach(store, first, last, filtersOf(subjects), most),
    numberAt: (at, last) => numberAt(store, at, last),
    watch: (changed, signal) => {
      void (async () => {
        for await (const _ of events.follow("now", {}, signal)) changed();
      })();
    },
  };
}

/** The stream of all transitions, as an embedded endpoint serves it. */
export function eventStream(store: Store, events: EventLog, maxAgeMs: number): ServedStream {
  return {
    name: STREAM,
    subject: SUBJECT,
    description: "Events of Arbor, from its database; read only",
    metadata: Object.fromEntries([SERVED_FROM_LOG]),
    forGuests: true,
    created: 0,
    maxAgeMs,
    source: eventSource(store, events),
  };
}
