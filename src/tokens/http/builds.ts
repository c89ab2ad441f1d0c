/** Unsigned transactions over HTTP: each is built for an address, which pays and signs. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import { z, type ZodType } from "zod";
import * as api from "#src/tokens/api/tokens.ts";
import { fromHex, isHex } from "#src/base/bytes.ts";
import { bytesOf, bytesText } from "#src/contract/text.ts";
import { HttpFailure } from "#src/http/failure.ts";
import { check } from "#src/http/route.ts";
import { BUILDING, building, GONE, timeOf, type TokenService } from "#src/tokens/http/service.ts";
import { answered } from "#src/tokens/http/status.ts";
import { withSummary } from "#src/tokens/http/describe.ts";
import { refRow } from "#src/tokens/http/view.ts";

const MAX_REQUESTS = 200;
const address = { address: api.addressText };
/** Texts that encode bytes: lone surrogates that spell valid UTF-8 would read back as another text. */
const writable = z.record(
  z.string(),
  z.string().refine((text) => bytesOf(text) !== undefined, "a sequence of lone surrogates must not be valid UTF-8"),
);
/** Texts in hexadecimal, as texts that encode bytes. */
const inHex = z.record(
  z.string(),
  z.string().refine((text) => isHex(text), "expected hexadecimal").transform((text) => bytesText(fromHex(text))),
);
const ofToken = { ...address, tokenId: api.tokenId };
/** The wallet of the address, where it pays with all of its coins. */
const paying = { wallet: api.payingWallet.optional() };

/** Refusals where a wallet is to pay. */
const PAYING = { 403: "`foreign_address`", 404: "`no_such_wallet`" };
const GONE_PAYING = { 404: `${GONE[404]}, ${PAYING[404]}` };

/** Query of the builds of requests. */
const requestQuery = {
  ...paying,
  encoding: api.encoding,
  strict: api.flag.optional().meta({
    type: "boolean",
    description:
      "Whether a request that conflicts with an open or pending one for its key is refused; by default it is built, with a warning.",
  }),
};

/** A change that a request asks for. */
interface RequestBody {
  readonly key: string;
  readonly newValue?: string;
  readonly oldValue?: string;
}

/** Who pays: the address in the path, with the wallet that is named. */
const payer = (
  { requester }: TokenService,
  { address }: { readonly address: string },
  { wallet }: { readonly wallet?: string | undefined },
) => ({ address: requester(address), wallet: wallet ?? null });

/** Adds `/transaction/{address}/…`. */
export function buildRoutes(app: OpenAPIHono, service: TokenService): void {
  const build = building(service);
  build(app, "get", "/transaction/:address/boot-token", {
    summary: "Build the transaction that creates a token",
    params: address,
    query: paying,
    answer: api.unsignedBoot,
    refusals: { ...PAYING, ...BUILDING },
  }, async ({ params, query, context }) => {
    const deadline = Date.now() + timeOf(context);
    const from = payer(service, params, query);
    return await withSummary(service, answered(await service.boot(from, deadline)), {
      deadline,
      address: from.address,
    });
  });

  requestRoutes(app, service);
  updateRoute(app, service);
  ownerRoutes(app, service);
}

/** Requests to change a fact, and their retraction. */
function requestRoutes(app: OpenAPIHono, service: TokenService): void {
  const { buildable, tokenOf, built } = service;
  const build = building(service);
  const requests:
    readonly (readonly [type: "insert" | "update" | "delete", body: ZodType<RequestBody>, summary: string])[] = [
      ["insert", api.insertBody, "Build a request to add a fact"],
      ["update", api.updateBody, "Build a request to change a fact"],
      ["delete", api.deleteBody, "Build a request to remove a fact"],
    ];
  for (const [type, schema, summary] of requests) {
    build(app, "post", `/transaction/:address/request-${type}/:tokenId`, {
      summary,
      params: ofToken,
      query: requestQuery,
      body: schema,
      answer: api.unsignedRequest,
      refusals: {
        ...PAYING,
        ...GONE_PAYING,
        ...BUILDING,
        409: "`token_quarantined`, `token_pending`, `paused`; with `strict` `request_conflicts`, with the open request",
      },
    }, async ({ params, query, body, context }) => {
      const from = payer(service, params, query);
      const texts = check(query.encoding === "hex" ? inHex : writable, body, "body");
      await buildable(params.tokenId);
      return await built(context, params.tokenId, "request", {
        ...from,
        type,
        strict: query.strict ?? false,
        ...texts,
      });
    });
  }

  build(app, "get", "/transaction/:address/retract-change/:outputRef", {
    summary: "Build the transaction that retracts a request",
    params: { ...address, outputRef: api.outputRef },
    query: paying,
    answer: api.unsigned,
    refusals: {
      403: "`not_owner`, `foreign_address`",
      404: "`request_unknown`, `no_such_wallet`",
      ...BUILDING,
      409: "`request_pending`, `paused`",
    },
  }, async ({ params, query, context }) => {
    const from = payer(service, params, query);
    const request = refRow(params.outputRef);
    return await built(context, await tokenOf(request), "retract", { ...from, request });
  });
}

/** The owner's answer to requests. */
function updateRoute(app: OpenAPIHono, service: TokenService): void {
  const { buildable, built } = service;
  const build = building(service);
  build(app, "get", "/transaction/:address/update-token/:tokenId", {
    summary: "Build the transaction that applies requests",
    description:
      "Applies the named requests, all or none; without names, as many open requests as are applicable and fit, the oldest " +
      "first. Of conflicting requests, the oldest on the chain is applied, and the others refer to it. " +
      "The requests named by `refuse` are refused: each gets its whole deposit back, and its change is not made (from version " +
      "3.0.0 of the token's contract on). " +
      "A dry run returns which requests an update would apply, refuse and leave open, without a transaction to sign.",
    params: ofToken,
    query: {
      ...paying,
      request: z.array(api.outputRef).max(MAX_REQUESTS).default([]),
      refuse: z.array(api.outputRef).max(MAX_REQUESTS).default([]),
      onlyNamed: api.flag.optional().meta({
        type: "boolean",
        description:
          "Whether no other request than the named ones is applied, also where none is named: the update then only refuses.",
      }),
      dryRun: api.flag.optional(),
    },
    answer: z.union([api.unsignedUpdate, api.updateDryRun]),
    refusals: {
      403: "`not_owner`, `foreign_address`",
      ...GONE_PAYING,
      ...BUILDING,
      409:
        "`requests_fail`, with a reason for each; `nothing_to_apply`, `version_without_refusals`, `token_pending`, " +
        "`token_quarantined`, `paused`",
    },
  }, async ({ params, query, context }) => {
    const from = payer(service, params, query);
    const [named, refuse] = [query.request, query.refuse].map((refs) => [...new Set(refs)].map(refRow)) as [
      string[],
      string[],
    ];
    const both = named.find((one) => refuse.includes(one));
    if (both !== undefined) {
      throw new HttpFailure(400, "bad_request", `The request ${both.replace("#", "-")} is to be applied and refused.`);
    }
    await buildable(params.tokenId);
    return await built(context, params.tokenId, "update", {
      ...from,
      dryRun: query.dryRun ?? false,
      partial: false,
      requests: named.length > 0 || query.onlyNamed ? named : null,
      refuse,
    });
  });
}

/** What an owner does with a whole token: transfer it, or end it. */
function ownerRoutes(app: OpenAPIHono, service: TokenService): void {
  const { requester, buildable, built } = service;
  const build = building(service);
  build(app, "get", "/transaction/:address/transfer-token/:tokenId", {
    summary: "Build the transaction that transfers a token to another owner",
    description: "Both owners must sign: the contract requires the consent of the new owner.",
    params: ofToken,
    query: { ...paying, to: api.addressText },
    answer: api.unsignedTransfer,
    refusals: {
      403: "`not_owner`, `foreign_address`",
      ...GONE_PAYING,
      ...BUILDING,
      409: "`owner_unchanged`, `token_pending`, `token_quarantined`, `paused`",
    },
  }, async ({ params, query, context }) => {
    const [from, to] = [payer(service, params, query), requester(query.to)];
    await buildable(params.tokenId);
    return await built(context, params.tokenId, "transfer", { ...from, to });
  });

  build(app, "get", "/transaction/:address/end-token/:tokenId", {
    summary: "Build the transaction that ends a token",
    description:
      "In a block, it burns the token and spends its state: there are no facts any more (404 `token_ended`), and no contract can refer to " +
      "them. What the ledger has recorded stays: the token's history, timeline and open requests can still be read, and the requests retracted.",
    params: ofToken,
    query: paying,
    answer: api.unsigned,
    refusals: {
      403: "`not_owner`, `foreign_address`",
      ...GONE_PAYING,
      ...BUILDING,
      409: "`token_pending`, `paused`",
    },
  }, async ({ params, query, context }) => {
    const from = payer(service, params, query);
    await buildable(params.tokenId);
    return await built(context, params.tokenId, "end", from);
  });
}
