/** Requests to JetStream's API: what their subjects and bodies say. */
import type { Buffer } from "node:buffer";
import { isObject, type Json, readJson } from "#src/base/json.ts";
import { type ConsumerConfig, parseConfig } from "#src/embedded/nats/jetstream/config.ts";
import * as errors from "#src/embedded/nats/jetstream/errors.ts";

/** Requests of guests that name no stream. */
export const PUBLIC = new Set(["INFO", "STREAM.NAMES", "STREAM.LIST"]);

/** Where the tokens of a request that guests may send name the stream; `undefined` for others. */
export function streamToken([area, action, third, ...rest]: readonly string[]): number | undefined {
  if (area === "STREAM") {
    if (action === "INFO" && third !== undefined) return 2;
    return action === "MSG" && third === "GET" && rest.length === 1 ? 3 : undefined;
  }
  if (area !== "CONSUMER") return undefined;
  if (action === "MSG" && third === "NEXT") return 3;
  if (action === "DURABLE" && third === "CREATE") return 3;
  return ["CREATE", "NAMES", "LIST", "INFO", "DELETE"].includes(action ?? "") ? 2 : undefined;
}

/** The type of an answer, without its prefix and `_response`. */
export function typeOf(tokens: readonly string[]): string {
  const [area = "", action = "", third = ""] = tokens;
  if (area === "INFO") return "account_info";
  const kind = area.toLowerCase();
  if (action === "MSG") return `${kind}_msg_${third.toLowerCase()}`;
  return action === "DURABLE" ? `${kind}_create` : `${kind}_${action.toLowerCase()}`;
}

/** The body of a request as JSON; `undefined` when it is empty. @throws ApiError when it is malformed. */
export function bodyOf(body: Buffer): Json | undefined {
  if (body.length === 0 || body.toString("latin1").trim() === "") return undefined;
  const json = readJson(body);
  if (json === undefined) throw errors.invalidJson();
  return json;
}

/** Where the page of a list begins. */
export function offsetOf(json: Json | undefined): number {
  const offset = isObject(json) ? json.offset : 0;
  return typeof offset === "number" && offset > 0 ? Math.floor(offset) : 0;
}

/** A request to create a consumer, as its subject says it. */
interface CreateSubject {
  readonly stream: string | undefined;
  readonly name: string | undefined;
  /** A single filter; empty for none. */
  readonly filter: string;
  /** Whether it is the request for durable consumers. */
  readonly durable: boolean;
}

/** The configuration in a request to create a consumer. @throws ApiError where it is none, or contradicts the subject */
export function configOf(
  { stream, name, filter, durable }: CreateSubject,
  json: Json | undefined,
): { readonly given: ConsumerConfig; readonly action: Json | undefined } {
  if (!isObject(json)) throw errors.invalidJson();
  if (json.stream_name !== stream) throw errors.streamMismatch();
  const given = parseConfig(json.config ?? {});
  if (durable && given.durable_name === undefined) throw errors.durableNotSet();
  if (name === undefined && given.durable_name !== undefined) throw errors.durableInRequest();
  if (name !== undefined && (given.durable_name ?? name) !== name) throw errors.durableMismatch();
  if (filter !== "" && given.filter_subjects !== undefined) {
    throw new errors.ApiError(400, 10_137, "consumer with multiple subject filters cannot use subject based API");
  }
  if (filter !== "" && given.filter_subject !== filter) throw errors.filterMismatch();
  return { given: name === undefined || durable ? given : { ...given, name }, action: json.action };
}
