/** The HTTP status of every failure code that the operator service may answer with. */
import { answeredBy, refusalOf } from "#src/http/errors.ts";

/** A failure as what is thrown to answer with it. */
export const refusal = refusalOf({
  bad_attribute: 400,
  bad_cursor: 400,
  bad_id: 400,
  bad_kind: 400,
  bad_state: 400,
  bad_transition: 400,
  bad_request: 400,
  actor_unknown: 404,
  kind_unknown: 404,
  letter_unknown: 404,
  partition_unknown: 404,
  reminder_unknown: 404,
  token_ended: 404,
  token_unknown: 404,
  version_unknown: 404,
  worker_unknown: 404,
  lapsed: 409,
  no_other_worker: 409,
  no_stream: 409,
  not_explained: 409,
  not_possible: 409,
  out_of_order: 409,
  paused: 409,
  rebuild_running: 409,
  rollback_impossible: 409,
  superseded: 409,
  history_foreign: 409,
  version_far: 409,
  history_pruned: 410,
  failed: 422,
  invalid: 422,
  no_devnet: 422,
  too_large: 422,
  unknown_kind: 422,
  devnet_unavailable: 503,
  newer_version: 503,
  not_moved: 503,
  overloaded: 503,
  stream_unavailable: 503,
  unavailable: 503,
});

/** The value of a good answer; throws what another is answered with. */
export const answered = answeredBy(refusal);
