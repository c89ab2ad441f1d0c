/** What the API answers about a stream: its configuration and state, and single messages. */
import { isObject, type Json } from "#src/base/json.ts";
import * as errors from "#src/embedded/nats/jetstream/errors.ts";
import type { StreamReader } from "#src/embedded/nats/jetstream/reader.ts";
import type { SourceState, StoredMessage } from "#src/embedded/nats/jetstream/source.ts";
import { isSubscription, isWithin } from "#src/embedded/nats/subjects.ts";

const MILLISECOND = 1e6;
/** Messages that are read at a time to count them by subject. */
const COUNTED = 1_024;

/** A request for what a stream has. */
interface StreamInfoRequest {
  /** The number of the stream's consumers that the client may know. */
  readonly consumers: () => number;
  /** Subjects that are counted at most, where `json` wants that. */
  readonly mostSubjects: number;
  readonly json?: Json | undefined;
}

/** A stream as the API shows it. @throws ApiError where more subjects are to be counted than may be */
export async function streamInfo(reader: StreamReader, request: StreamInfoRequest): Promise<object> {
  const { stream, source } = reader;
  const state = await reader.refresh();
  const { first, last } = state;
  const oldest = await nextOf(reader, first, last, stream.subject);
  const newest = first <= last ? (await source.last(first, last, [stream.subject])) : undefined;
  const messages = stream.hasGaps ? await source.count(first, last, [stream.subject]) : last - first + 1;
  return {
    config: {
      name: stream.name,
      description: stream.description,
      subjects: [stream.subject],
      retention: "limits",
      max_consumers: -1,
      max_msgs: -1,
      max_bytes: -1,
      max_age: stream.maxAgeMs * MILLISECOND,
      max_msgs_per_subject: -1,
      max_msg_size: -1,
      discard: "old",
      storage: "file",
      num_replicas: 1,
      duplicate_window: 120_000 * MILLISECOND,
      sealed: false,
      deny_delete: true,
      deny_purge: true,
      allow_rollup_hdrs: false,
      allow_direct: false,
      mirror_direct: false,
      metadata: stream.metadata,
    },
    created: new Date(stream.created).toISOString(),
    state: {
      messages,
      bytes: 0,
      first_seq: first,
      first_ts: timeOf(oldest),
      last_seq: last,
      last_ts: timeOf(newest),
      ...(stream.hasGaps ? { num_deleted: last - first + 1 - messages } : {}),
      ...(await subjectCounts(reader, state, request)),
      consumer_count: request.consumers(),
    },
    ts: new Date().toISOString(),
  };
}

/** The number of messages of each subject, where a request wants it. */
async function subjectCounts(
  reader: StreamReader,
  state: SourceState,
  { json, mostSubjects }: StreamInfoRequest,
): Promise<object> {
  const filter = isObject(json) ? json.subjects_filter : undefined;
  if (typeof filter !== "string" || filter === "") return {};
  const subjects: { [subject: string]: number } = {};
  // no message has a subject that no subscription can have
  if (!isSubscription(filter)) return { num_subjects: 0, subjects };
  const { first, last } = state;
  for (let from = first; from <= last;) {
    const { found, to } = await reader.source.find(from, last, [filter], COUNTED);
    for (const { subject } of found) subjects[subject] = (subjects[subject] ?? 0) + 1;
    if (Object.keys(subjects).length > mostSubjects) throw errors.insufficientResources();
    from = to + 1;
  }
  return { num_subjects: Object.keys(subjects).length, subjects };
}

/** The message that a request names, as the API shows it. @throws ApiError where there is none, or the request is malformed */
export async function messageOf(reader: StreamReader, json: Json | undefined): Promise<object> {
  if (!isObject(json)) throw json === undefined ? errors.badRequest() : errors.invalidJson();
  const text = (value: Json | undefined) => typeof value === "string" ? value : "";
  const seq = Number(typeof json.seq === "number" || typeof json.seq === "bigint" ? json.seq : 0);
  const [lastFor, nextFor] = [text(json.last_by_subj), text(json.next_by_subj)];
  if ((seq > 0 && lastFor !== "") || (seq <= 0 && lastFor === "" && nextFor === "")) throw errors.badRequest();
  if (lastFor !== "" && nextFor !== "") throw errors.badRequest();
  const { first, last } = await reader.current();
  let message: StoredMessage | undefined;
  if (nextFor !== "") message = await nextOf(reader, Math.max(first, seq), last, nextFor);
  else if (lastFor !== "") {
    message = isSubscription(lastFor) ? await reader.source.last(first, last, [lastFor]) : undefined;
  } else if (seq >= first && seq <= last) message = await reader.message(seq);
  if (message === undefined) throw errors.noMessage();
  return shown(message);
}

async function nextOf(
  reader: StreamReader,
  first: number,
  last: number,
  filter: string,
): Promise<StoredMessage | undefined> {
  if (!isSubscription(filter)) return undefined;
  if (!reader.stream.hasGaps && isWithin(reader.stream.subject, filter)) {
    return (await reader.source.read(first, last, 1))[0];
  }
  for (let from = first; from <= last;) {
    const { found, to } = await reader.source.find(from, last, [filter], 1);
    for (const message of found) return message;
    from = to + 1;
  }
  return undefined;
}

/** When a message was stored, as the API shows it. */
function timeOf(message: StoredMessage | undefined): string {
  return message === undefined ? "0001-01-01T00:00:00Z" : new Date(message.storedAt).toISOString();
}

/** A message as the API shows it. */
function shown(message: StoredMessage): object {
  const { subject, seq, headerLength, body } = message;
  return {
    subject,
    seq,
    ...(headerLength > 0 ? { hdrs: body.toString("base64", 0, headerLength) } : {}),
    data: body.toString("base64", headerLength),
    time: timeOf(message),
  };
}
