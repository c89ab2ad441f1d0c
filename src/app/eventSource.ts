/** The log of transitions as a stream that JetStream clients read: the messages that are published live. */
import { Buffer } from "node:buffer";
import { toJson } from "#src/base/json.ts";
import type { ServedStream, StoredMessage, StreamSource } from "#src/embedded/nats/jetstream/source.ts";
import { type Contents, contentsOf, type KindContent } from "#src/runtime/events/content.ts";
import type { EventLog } from "#src/runtime/events/eventLog.ts";
import type { Generation } from "#src/runtime/events/generation.ts";
import { CONTENT_STREAM, CONTENT_SUBJECT, SERVED_FROM_LOG, STREAM, SUBJECT } from "#src/runtime/events/jetStream.ts";
import {
  countNumbered,
  findNumbered,
  lastNumbered,
  lastOfEach,
  numberAt,
  type NumberedFilter,
  type NumberedTransition,
  readLogState,
  readNumbered,
} from "#src/runtime/events/sequence.ts";
import { eventHeaders, eventMessages, subjectToken } from "#src/runtime/events/transition.ts";
import type { Store } from "#src/store/store.ts";

/** A kind of actors whose events are in the log. */
export interface LoggedKind {
  readonly kind: string;
  readonly content?: KindContent;
}

/** The message of a transition in one of the streams; `undefined` when the stream has none. */
function messageOf(
  { seq, transition, storedAt }: NumberedTransition,
  contents: Contents,
  prefix: string,
  generation: string,
): StoredMessage | undefined {
  const message = eventMessages(transition, contents).find(({ subject }) => subject.startsWith(prefix));
  if (message === undefined) return undefined;
  const { subject, id, body } = message;
  const lines = Object.entries(eventHeaders(id, generation)).map(([name, value]) => `${name}: ${value}\r\n`);
  const headers = `NATS/1.0\r\n${lines.join("")}\r\n`;
  return {
    seq,
    subject,
    headerLength: Buffer.byteLength(headers),
    body: Buffer.from(headers + toJson(body)),
    storedAt,
  };
}

/** The transitions whose subjects match a subject with wildcards; `undefined` when none can. */
function filterOf(subject: string, area: string): NumberedFilter | undefined {
  const tokens = subject.split(".");
  const parts = ["arbor", area, undefined, undefined, undefined].map((known, i) => {
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

/** The log as the source of a stream; with `only`, of the transitions that pass it. */
function eventSource(
  store: Store,
  events: EventLog,
  contents: Contents,
  area: "event" | "content",
  generation: string,
  only?: readonly NumberedFilter[],
): StreamSource {
  const messages = (found: readonly NumberedTransition[]) =>
    found.map((one) => messageOf(one, contents, `arbor.${area}.`, generation)).filter((message) =>
      message !== undefined
    );
  const filters = (subjects: readonly string[]): NumberedFilter[] =>
    subjects.map((subject) => filterOf(subject, area)).filter((filter) => filter !== undefined).flatMap((filter) =>
      only === undefined ? [filter] : only
        .filter(({ kind }) => filter.kind === undefined || filter.kind === kind)
        .map(({ kind, types }) => ({ ...filter, kind, types }))
    );
  return {
    state: () => readLogState(store),
    read: async (from, last, limit) => messages(await readNumbered(store, contents, from, last, limit)),
    find: async (from, last, subjects, limit) => {
      const { found, to } = await findNumbered(store, contents, from, last, filters(subjects), limit);
      return { found: messages(found), to };
    },
    count: (from, last, subjects) => countNumbered(store, from, last, filters(subjects)),
    last: async (first, last, subjects) => {
      const newest = await lastNumbered(store, contents, first, last, filters(subjects));
      return newest === undefined ? undefined : messages([newest])[0];
    },
    lastOfEach: (first, last, subjects, most) => lastOfEach(store, first, last, filters(subjects), most),
    numberAt: (at, last) => numberAt(store, at, last),
    watch: (changed, signal) => {
      void (async () => {
        for await (const _ of events.follow("now", {}, signal)) changed();
      })();
    },
  };
}

/** The streams of an embedded endpoint: all transitions, and the content that guests may not read. */
export function eventStreams(
  store: Store,
  events: EventLog,
  kinds: readonly LoggedKind[],
  maxAgeMs: number,
  generation?: Generation,
): ServedStream[] {
  const contents = contentsOf(kinds);
  const guarded = kinds.flatMap(({ kind, content }) =>
    content?.guarded === true && Object.keys(content.schemas).length > 0
      ? [{ kind, types: Object.keys(content.schemas) }]
      : []
  );
  const id = generation?.id ?? "";
  // Clients that know a stream by its time see that another one took its place.
  const created = id === "" ? 0 : generation?.began ?? 0;
  const shared = { metadata: Object.fromEntries([SERVED_FROM_LOG]), created, maxAgeMs };
  return [
    {
      ...shared,
      name: STREAM,
      subject: SUBJECT,
      description: "Events of Arbor, from its database; read only",
      forGuests: true,
      hasGaps: false,
      source: eventSource(store, events, contents, "event", id),
    },
    {
      ...shared,
      name: CONTENT_STREAM,
      subject: CONTENT_SUBJECT,
      description: "Events of Arbor with content that guests may not read, from its database; read only",
      forGuests: false,
      hasGaps: true,
      source: eventSource(store, events, contents, "content", id, guarded),
    },
  ];
}
