/** Exact JSON over HTTP: bounded bodies, integers with all digits. */
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { fromUtf8, joined } from "#src/base/bytes.ts";
import { inTime } from "#src/base/clock.ts";
import { type Json, parseJson, RepeatedMember, toJson } from "#src/base/json.ts";
import { EventLoopPacer } from "#src/base/eventLoop.ts";
import { HttpFailure } from "#src/http/failure.ts";

/** Limits of a request's body. */
export interface BodyLimits {
  /** Bytes; 64 kB by default. */
  readonly bytes?: number;
  /** Nesting of arrays and objects; 32 by default. */
  readonly depth?: number;
  /** Whether the body is optional. */
  readonly optional?: boolean;
  /** Time limits; `BODY_TIME` by default. */
  readonly time?: BodyTime;
}

/** Time limits of a body. */
export interface BodyTime {
  /** For the whole body, in milliseconds. */
  readonly longestMs: number;
  /** Lowest average rate so far, in bytes a second. */
  readonly rate: number;
  /** Time before the rate counts, in milliseconds: connections stall. */
  readonly graceMs: number;
}

export const BODY_TIME: BodyTime = { longestMs: 30_000, rate: 1_000, graceMs: 5_000 };

/** Answers with a value as JSON; a `bigint` becomes a number with all digits. */
export function respond(c: Context, status: ContentfulStatusCode, value: unknown): Response {
  return c.body(toJson(value), status, { "content-type": JSON_TYPE });
}

export const JSON_TYPE = "application/json; charset=utf-8";

/** Elements written between two checks of the time. */
const AT_ONCE = 16;

/** A long list as JSON: writing it yields to the event loop. */
export class JsonList {
  private readonly pieces: string[] = [];
  private readonly pace = new EventLoopPacer();

  /** Adds items, each as `view` gives it. */
  async add<T>(items: readonly T[], view: (one: T) => unknown): Promise<void> {
    for (let from = 0; from < items.length; from += AT_ONCE) {
      this.pieces.push(toJson(items.slice(from, from + AT_ONCE).map(view)).slice(1, -1));
      await this.pace.step();
    }
  }

  toString(): string {
    return `[${this.pieces.join(",")}]`;
  }
}

/** Answers with a list, written in steps that yield to the event loop; `view` gives the JSON of an element. */
export async function respondList<T>(
  c: Context,
  items: readonly T[],
  view: (one: T) => unknown,
): Promise<Response> {
  const list = new JsonList();
  await list.add(items, view);
  return c.body(list.toString(), 200, { "content-type": JSON_TYPE });
}

/** Why the bytes of a body are no JSON that a service accepts. */
export type JsonFault = "not_utf8" | "empty" | "too_deep" | "repeated" | "malformed";

/** The refusal of such a body; `depth` is the limit of its nesting. */
export type JsonRefusal = (fault: JsonFault, depth: number) => HttpFailure;

/** The refusals of the token, devnet and operator services. */
export const malformedJson: JsonRefusal = (fault, depth) => {
  const messages: Readonly<Record<JsonFault, string>> = {
    not_utf8: "The body is not UTF-8.",
    empty: "The body is empty; expected JSON.",
    too_deep: `The body is nested more than ${depth} levels deep.`,
    repeated: "An object of the body has two members of one name, with different values.",
    malformed: "The body is not JSON.",
  };
  return new HttpFailure(400, "malformed_json", messages[fault]);
};

/**
 * The JSON of a request's body, whatever content type it claims; `undefined` for an empty optional body.
 *
 * @throws {HttpFailure} 413 when too large, 408 when too slow, `refusal` when it is no JSON.
 */
export async function readJson(
  request: Request,
  limits: BodyLimits = {},
  refusal: JsonRefusal = malformedJson,
): Promise<Json | undefined> {
  const { depth = 32 } = limits;
  const text = fromUtf8(await readBytes(request, limits.bytes ?? 65_536, limits.time));
  if (text === undefined) throw refusal("not_utf8", depth);
  if (text.trim() === "" && limits.optional) return undefined;
  if (text.trim() === "") throw refusal("empty", depth);
  if (depthOf(text) > depth) throw refusal("too_deep", depth);
  try {
    return parseJson(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw refusal(error instanceof RepeatedMember ? "repeated" : "malformed", depth);
  }
}

/**
 * The bytes of a request's body.
 *
 * @throws {HttpFailure} 413 as soon as there are more than `limit`; 408 when they come too slowly; 400 when they end
 * early.
 */
export async function readBytes(request: Request, limit: number, time: BodyTime = BODY_TIME): Promise<Uint8Array> {
  const tooLarge = () => new HttpFailure(413, "body_too_large", `The body is larger than ${limit} bytes.`, { limit });
  const announced = request.headers.get("content-length");
  if (Number(announced ?? 0) > limit) throw tooLarge();
  const begun = performance.now();
  /** Waits for the next bytes, as long as `bytes` may take so far. */
  const soon = async <T>(arriving: Promise<T>, bytes: number): Promise<T> => {
    const most = Math.min(time.longestMs, time.graceMs + bytes / time.rate * 1_000);
    const arrived = await inTime(arriving.catch(cutOff), begun + most - performance.now());
    if (arrived === undefined) throw new HttpFailure(408, "body_too_slow", "The body was not received in time.");
    return arrived;
  };
  // The server reads no more than Content-Length; a stream costs ten times as much.
  if (announced !== null && !request.headers.has("transfer-encoding")) {
    const bytes = new Uint8Array(await soon(request.arrayBuffer(), Number(announced)));
    if (bytes.length > limit) throw tooLarge();
    return bytes;
  }
  const parts: Uint8Array[] = [];
  let length = 0;
  // A reader and not `for await`: leaving a loop early would wait for the client.
  const reader = request.body?.getReader();
  try {
    while (reader) {
      const { done, value } = await soon(reader.read(), length);
      if (done) break;
      length += value.length;
      if (length > limit) throw tooLarge();
      parts.push(value);
    }
  } catch (error) {
    void reader?.cancel().catch(() => {});
    throw error;
  }
  return joined(parts);
}

/** The client broke the connection within the body: no error of the service. */
function cutOff(): never {
  throw new HttpFailure(400, "body_incomplete", "The body is incomplete.");
}

/** Nesting depth of brackets outside of strings; the JSON parser recurses as deep. */
export function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (quoted) {
      if (character === "\\") i++;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === "[" || character === "{") deepest = Math.max(deepest, ++depth);
    else if (character === "]" || character === "}") depth--;
  }
  return deepest;
}
