/** The conventions of the wallet service: its errors, headers and path prefix. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { walletError } from "#src/wallets/api/error.ts";
import type { Log } from "#src/base/log.ts";
import { HttpFailure } from "#src/http/failure.ts";
import type { JsonFault } from "#src/http/json.ts";
import { type AddEndpoint, addEndpoint, type Conventions } from "#src/http/route.ts";
import { serviceApp } from "#src/http/service.ts";
import { malformed } from "#src/wallets/http/malformed.ts";

/** Prefix of all paths. */
export const PREFIX = "/v2";

const CONVENTIONS: Conventions = {
  prefix: PREFIX,
  error: walletError,
  refusals: {
    400: "`bad_request`",
    406: "`not_acceptable`",
    500: "`unexpected_error`",
    503: "`unavailable`, `overloaded`, `newer_version`, `deadline`, `network_unreachable`",
  },
  // thousands of addresses are imported in one body
  limits: { bytes: 4_194_304, depth: 128 },
  headers: (c, { consumes, status }) => {
    // cardano-wallet does not look at what a client accepts where it answers with nothing
    if (status !== 204) accepts(c);
    if (consumes !== undefined) isOfType(c, consumes);
  },
  malformedJson: (fault) => new HttpFailure(400, "bad_request", NOT_JSON[fault]),
  malformed,
};

/** Adds an endpoint of the wallet service. */
export const route: AddEndpoint = (app, method, path, spec, handler) => {
  const refusals = {
    ...(spec.params && "walletId" in spec.params ? { 404: "`no_such_wallet`" } : {}),
    ...(String(spec.refusals?.[403]).includes("wrong_encryption_passphrase")
      ? { 429: "`too_many_wrong_passphrases`" }
      : {}),
    ...(spec.body ? { 413: "`body_too_large`, `too_large`", 415: "`unsupported_media_type`" } : {}),
    ...spec.refusals,
  };
  addEndpoint(CONVENTIONS, app, method, path, { ...spec, refusals }, handler);
};

/** An app with these conventions and no endpoints yet. */
export function newWalletApp(log: Log): OpenAPIHono {
  return serviceApp("wallets", log, {
    body: ({ code, message, details }) => {
      // messages are one line, whatever they contain
      const said = {
        code: code === "internal_error" ? "unexpected_error" : code,
        message: message.replace(/\s*\n\s*/g, " "),
      };
      return details === undefined ? said : { ...said, info: details };
    },
    missing,
  });
}

/** The refusal of a path without an endpoint, or without one for the method. */
function missing(_: Context, allowed: readonly string[]): HttpFailure {
  if (allowed.length > 0) {
    return new HttpFailure(
      405,
      "method_not_allowed",
      "You've reached a known endpoint but I don't know how to handle the HTTP method specified. Please double-check both the endpoint and " +
        "the method: one of them is likely to be incorrect (for example: POST instead of PUT, or GET instead of POST...).",
    );
  }
  return new HttpFailure(
    404,
    "not_found",
    "I couldn't find the requested endpoint. If the endpoint contains path parameters, please ensure they are well-formed, otherwise I " +
      "won't be able to route them correctly.",
  );
}

const JSON_TYPE = "application/json";

function accepts({ req }: Context): void {
  const accept = req.header("accept");
  if (accept === undefined || accept.trim() === "") return;
  const ranges = accept.split(",").map((range) => range.replace(/;.*$/s, "").trim().toLowerCase());
  if (ranges.some((range) => ["*/*", "application/*", JSON_TYPE].includes(range) || OTHERS.has(range))) return;
  throw new HttpFailure(
    406,
    "not_acceptable",
    `It seems as though you don't accept '${JSON_TYPE}', but unfortunately I only speak '${JSON_TYPE}'! Please double-check your 'Accept' ` +
      `request header and make sure it's set to '${JSON_TYPE}'.`,
  );
}

/** Content types of answers other than JSON. */
const OTHERS = new Set(["text/event-stream", "application/octet-stream"]);

function isOfType({ req }: Context, type: string): void {
  const [given] = (req.header("content-type") ?? "").toLowerCase().split(";").map((part) => part.trim());
  if (given === type) return;
  throw new HttpFailure(
    415,
    "unsupported_media_type",
    `I'm really sorry but I only understand '${type}'. I need you to tell me what language you're speaking in order for me to understand ` +
      `your message. Please double-check your 'Content-Type' request header and make sure it's set to '${type}'.`,
  );
}

const NOT_JSON: Readonly<Record<JsonFault, string>> = {
  not_utf8: "Error in $: the body is not UTF-8",
  empty: "Unexpected end-of-input, expecting JSON value",
  too_deep: "Error in $: the body is nested too deep",
  repeated: "Error in $: an object of the body has two members of one name",
  malformed: "Error in $: the body is no JSON",
};
