/** What the endpoints of the token service share: its dependencies, look-ups of tokens, and builds. */
import type { Context } from "hono";
import { readNewestToken, readPendingRequestToken } from "#src/tokens/pendingTokens.ts";
import * as api from "#src/tokens/api/tokens.ts";
import type { Json } from "#src/base/json.ts";
import { parseAddress } from "#src/cardano/address.ts";
import { readRequest, readToken } from "#src/tokens/index/read.ts";
import { atPoint } from "#src/chain/pending/spendable.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { buildLimit } from "#src/http/rateLimit.ts";
import { type AddEndpoint, check, endpoint } from "#src/http/route.ts";
import type { TokenEdgeOptions } from "#src/tokens/http/options.ts";
import { answered, refusal } from "#src/tokens/http/status.ts";
import { withSummary } from "#src/tokens/http/describe.ts";

export interface TokenService extends TokenEdgeOptions {
  /** Runs a build of a client, within the client's limit of concurrent builds; throws 429 `too_many_builds`. */
  limited<T>(context: Context, build: () => Promise<T>): Promise<T>;
  /** Bytes (hexadecimal) of an address with a payment key; throws 400 `bad_address`. */
  requester(text: string): string;
  /** Requires a live token, or one that a pending transaction creates; throws 404 `token_unknown`, `token_ended`. */
  buildable(token: string): Promise<void>;
  /** The token of an open or pending request (`refKey`); throws 404 `request_unknown`. */
  tokenOf(request: string): Promise<string>;
  /** A build of a token's actor, with the summary of its transaction; throws the build's refusal. */
  built(
    context: Context,
    token: string,
    name: string,
    input: { readonly address: string } & { [name: string]: Json },
  ): Promise<Json>;
}

/** Longest time for a submission or a build, in milliseconds. */
const LONGEST_MS = 30_000;
/** Header in which a client says how long it waits. */
const TIMEOUT = "arbor-timeout";

/** That header for the document. */
export const timeHeader = { [TIMEOUT]: api.timeLimit.optional() };

/** Refusals of every endpoint of one token. */
export const GONE = { 404: "`token_unknown`, `token_ended`" };
/** Refusals of every build. */
export const BUILDING = {
  400: "`bad_request`, `malformed_json`, `bad_address`",
  422: "`not_enough_money`, `too_large`, `script_refused`, `not_evaluated`",
  503: "`overloaded`, `unavailable`, `newer_version`, `index_behind`, `network_unreachable`, `deadline`, `crashed`",
};

/** Time limit of a call in milliseconds: the client's header, at most `LONGEST_MS`. */
export function timeOf(context: Context): number {
  const given = context.req.header(TIMEOUT);
  return given === undefined ? LONGEST_MS : Math.min(check(api.timeLimit, given, `header ${TIMEOUT}`), LONGEST_MS);
}

/** The refusal for a token that is not alive. */
export function tokenGone(token: string, status: "unknown" | "ended"): HttpFailure {
  return status === "unknown"
    ? new HttpFailure(404, "token_unknown", `No token ${token} exists.`)
    : new HttpFailure(404, "token_ended", `Token ${token} has ended.`);
}

/** The refusal where the indexed facts may differ from those under the token's root. */
export function factsQuarantined(reason: string | undefined): HttpFailure {
  return new HttpFailure(
    409,
    "token_quarantined",
    "The token is quarantined: its indexed facts are not verified against its root.",
    {
      reason: reason ?? null,
    },
  );
}

export function createTokenService(options: TokenEdgeOptions): TokenService {
  const { sql } = options.store;
  return {
    ...options,
    limited: options.rateLimit ? buildLimit(options.rateLimit) : (_, make) => make(),
    requester(text) {
      const address = answered(parseAddress(text, options.networkId));
      if ((address.kind !== "base" && address.kind !== "enterprise") || address.payment.kind !== "key") {
        throw refusal({
          code: "bad_address",
          message: "The address must be a base or enterprise address with a payment key.",
          details: { reason: "kind" },
        });
      }
      return address.hex;
    },
    async buildable(token) {
      if ("state" in await readToken(sql, token)) return;
      // at one point: a block that comes between two reads would make a pending token unknown to both
      const { value } = await atPoint(options.store, (sql) => readNewestToken(sql, token, options.networkId));
      const { after, transaction } = value;
      if (!("state" in after) && transaction === undefined) throw tokenGone(token, after.status);
    },
    async tokenOf(request) {
      // at one point: a rollback that comes between two reads would make an open request unknown to both
      const { value: token } = await atPoint(
        options.store,
        async (at) => (await readRequest(at, request))?.token ?? await readPendingRequestToken(at, request),
      );
      if (token !== undefined) return token;
      throw new HttpFailure(404, "request_unknown", `No open request ${request.replace("#", "-")} exists.`);
    },
    async built(context, token, name, input) {
      const deadlineMs = timeOf(context);
      const deadline = Date.now() + deadlineMs;
      const answer = answered(await options.build({ kind: "token", id: token }, name, input, { deadlineMs }));
      return await withSummary(options, answer, { deadline, address: input.address });
    },
  };
}

/**
 * Adds endpoints that build, with the timeout header and the client's limit of concurrent builds. A request counts once
 * its body is read.
 */
export const building =
  ({ limited }: Pick<TokenService, "limited">): AddEndpoint => (app, method, path, spec, handler) =>
    endpoint(
      app,
      method,
      path,
      { ...spec, headers: timeHeader },
      (request) => limited(request.context, () => handler(request)),
    );
