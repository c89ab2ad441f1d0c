/**
 * The envelope of Ogmios' JSON-RPC: requests as text to values, answers to text.
 *
 * The `id` of a request is any JSON value and is kept as text, so that the answer has it digit by digit. That an answer
 * names its method is an extension of JSON-RPC, which clients need.
 */
import { parse, stringify } from "lossless-json";
import { isObject, type Json, parseWritten, toJson } from "#src/base/json.ts";
import type { Result } from "#src/base/result.ts";
import { depthOf } from "#src/http/json.ts";
import type { OgmiosError } from "#src/ogmios/errors.ts";
import { invalidRequest, ogmiosError } from "#src/ogmios/errors.ts";
import type { JsonObject } from "#src/ogmios/form.ts";

/** A request. */
export interface Request {
  readonly method: string;
  /** Empty where the request has none. */
  readonly params: JsonObject;
  /** JSON text. */
  readonly id: string;
}

/** A text that is no request. */
interface BadRequest {
  /** What it must be. */
  readonly why: string;
  /** JSON text. */
  readonly id: string;
}

/** What a method answers: a value, its JSON text, or an error. */
export type Answer =
  | { readonly result: unknown }
  | { readonly resultText: string }
  | { readonly error: OgmiosError };

/** Nesting of a request; native scripts in additional outputs nest. */
const DEEPEST = 200;
/** The `id` where there is none. */
const NO_ID = "null";

/** Reads a request. */
export function readRequest(text: string): Result<Request, BadRequest> {
  const refuse = (why: string, id = NO_ID) => ({ ok: false as const, error: { why, id } });
  if (depthOf(text) > DEEPEST) return refuse(`must not be nested more than ${DEEPEST} levels deep`);
  const json = parsed(text);
  if (!isObject(json)) return refuse("must be a well-formed JSON object");
  const id = idText(json.id, text);
  const { jsonrpc, method, params } = json;
  if (typeof method !== "string") return refuse("field 'method' must be present and be a string", id);
  if (jsonrpc !== "2.0") return refuse("field 'jsonrpc' must be present and be \"2.0\"", id);
  if (params !== undefined && params !== null && !isObject(params)) return refuse("'params' must be an object", id);
  return { ok: true, value: { method, params: params ?? {}, id } };
}

function parsed(text: string): Json | undefined {
  try {
    return parseWritten(text);
  } catch {
    return undefined;
  }
}

/** The text of an `id`, with numbers as they were sent. */
function idText(id: Json | undefined, request: string): string {
  if (id === undefined) return NO_ID;
  if (isPlain(id)) return toJson(id);
  const exact = parse(request);
  return (typeof exact === "object" && exact !== null && "id" in exact ? stringify(exact.id) : undefined) ?? NO_ID;
}

/** Whether all numbers of a value are integers that a `number` holds exactly. */
function isPlain(json: Json): boolean {
  if (typeof json === "number") return Number.isSafeInteger(json);
  if (typeof json !== "object" || json === null) return typeof json !== "bigint";
  return Object.values(json).every(isPlain);
}

/** The text of an answer. */
export function answerText({ method, id }: Pick<Request, "method" | "id">, answer: Answer): string {
  const content = "error" in answer
    ? `"error":${toJson(answer.error)}`
    : `"result":${"resultText" in answer ? answer.resultText : toJson(answer.result)}`;
  return `{"jsonrpc":"2.0","method":${toJson(method)},${content},"id":${id}}`;
}

/** The answer to a text that is no request, or whose parameters are not those of its method. It names no method. */
export function badRequestText({ why, id }: BadRequest): string {
  return faultText(invalidRequest(`${why.replace(/\.$/, "")}.`), id);
}

/** The answer to a request that failed by a fault of the server. */
export function internalErrorText(id: string): string {
  return faultText(ogmiosError(-32603, "Internal error; see the log of the service."), id);
}

function faultText(error: OgmiosError, id: string): string {
  return `{"jsonrpc":"2.0","error":${toJson(error)},"id":${id}}`;
}

/** The reason with which connections are closed when the devnet stops: JSON. */
export const LOST_REASON = toJson({ id: null, code: -32000, message: "Connection with the node lost or failed." });
