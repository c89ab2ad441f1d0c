/** Refusals in Kupo's form: `{ hint, details? }`. */
import type { RefusalFormat } from "#src/http/errors.ts";
import { HttpFailure } from "#src/http/failure.ts";

const refusal = (status: 400 | 404 | 406, hint: string, details?: unknown) =>
  new HttpFailure(status, "kupo", hint, details);

/** Refusals of requests. */
export const refused = {
  pattern: () =>
    refusal(
      400,
      "Invalid pattern. A pattern is '*', an address, 'credential/credential', 'policy.asset' or 'index@transaction', " +
        "where '*' may stand for one of the two parts.",
    ),
  labelPattern: () => refusal(400, "A pattern of a metadata label is for indexing; matches cannot be fetched by it."),
  status: () =>
    refusal(400, "Invalid filter: give either the flag '?spent' or the flag '?unspent', once and without a value."),
  resolve: () => refusal(400, "Invalid flag: '?resolve_hashes' has no value."),
  order: () => refusal(400, "Invalid 'order': give 'most_recent_first' or 'oldest_first', once."),
  filter: () =>
    refusal(
      400,
      "Invalid or incomplete filter: 'policy_id' alone or with 'asset_name', or 'transaction_id' alone or with " +
        "'output_index', each once, in base16 except for the index.",
    ),
  range: () =>
    refusal(
      400,
      "Invalid range: one of 'created_after' and 'spent_after', and one of 'created_before' and 'spent_before', each " +
        "a slot or 'slot.header_hash'.",
    ),
  foreignPoint: (ancestor: { slot_no: number; header_hash: string } | null) =>
    refusal(400, "The point is not on the chain; 'ancestor' is the nearest block before it.", { ancestor }),
  activePattern: () =>
    refusal(400, "The pattern overlaps an active one. Remove the active pattern first, then delete its matches."),
  tooManyPatterns: (most: number) => refusal(400, `There can be at most ${most} patterns, removed ones included.`),
  strict: () => refusal(400, "Invalid query: this endpoint accepts only the flag '?strict', once and without a value."),
  slot: () => refusal(400, "The path must end with an absolute slot number: an integer from 0 on."),
  datumHash: () => refusal(400, "A datum hash is a blake2b-256 digest in base16: 64 hexadecimal digits."),
  scriptHash: () => refusal(400, "A script hash is a blake2b-224 digest in base16: 56 hexadecimal digits."),
  rollback: () =>
    refusal(
      400,
      "The body must be JSON with 'rollback_to', an object with 'slot_no' and optionally 'header_hash'; 'limit', " +
        "where given, is 'within_safe_zone' or 'unsafe_allow_beyond_safe_zone'.",
    ),
  patterns: () => refusal(400, "The body must have 'patterns': a list of at least one valid pattern."),
  unsafeRollback: () =>
    refusal(
      400,
      "The point is further back than the longest rollback (36 hours). Pass 'unsafe_allow_beyond_safe_zone' as 'limit' " +
        "to roll back to it.",
    ),
  unknownPoint: () => refusal(400, "The point is unknown; give one that is on the chain."),
  metadataFilter: () => refusal(400, "Invalid filter: 'transaction_id' is 64 hexadecimal digits, given once."),
  ancestor: () => refusal(400, "There is no block at or after this slot."),
  head: () => refusal(406, "No endpoint has the method HEAD; they have GET."),
  contentType: () => refusal(400, "Unsupported content type: accept 'application/json' or 'text/plain'."),
} as const satisfies Readonly<Record<string, (...args: never[]) => HttpFailure>>;

/** 503: every connection is in use. */
export const noConnection = (): HttpFailure =>
  new HttpFailure(503, "unavailable", "Every connection to the database is in use; try again.");

/** The form of all refusals. */
export const kupoRefusals: RefusalFormat = {
  body: ({ message, details }) => ({ hint: message, ...(details === undefined ? {} : { details }) }),
  missing: (_, allowed) =>
    allowed.length === 0
      ? refusal(404, "There is no such endpoint.")
      : refusal(406, `This endpoint does not have that method; it has ${allowed.join(", ")}.`),
};
