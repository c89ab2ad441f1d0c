/** The HTTP status of every failure code that the token service may answer with. */
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { BuildFailure } from "#src/contract/transactions/common.ts";
import { answeredBy, refusalOf } from "#src/http/errors.ts";

/** A failure as what is thrown to answer with it. */
export const refusal = refusalOf(
  {
    bad_request: 400,
    bad_address: 400,
    undecodable: 400,
    not_owner: 403,
    foreign_address: 403,
    no_such_wallet: 404,
    transaction_unknown: 404,
    token_unknown: 404,
    token_ended: 404,
    request_unknown: 404,
    requests_fail: 409,
    version_without_refusals: 409,
    nothing_to_apply: 409,
    owner_unchanged: 409,
    token_quarantined: 409,
    token_pending: 409,
    request_pending: 409,
    request_conflicts: 409,
    fact_exists: 409,
    fact_missing: 409,
    fact_differs: 409,
    not_possible: 409,
    paused: 409,
    not_enough_money: 422,
    too_large: 422,
    script_refused: 422,
    not_evaluated: 422,
    refused_by_ledger: 422,
    wait_too_long: 503,
    index_behind: 503,
    utxo_root_unavailable: 503,
    network_unreachable: 503,
    newer_version: 503,
    overloaded: 503,
    deadline: 503,
    crashed: 503,
    unavailable: 503,
  } satisfies Record<string, ContentfulStatusCode> & Record<BuildFailure["code"], ContentfulStatusCode>,
);

/** The value of a good answer; throws what another is answered with. */
export const answered = answeredBy(refusal);
