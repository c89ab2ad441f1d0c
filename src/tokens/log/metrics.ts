/** Metrics of the process that appends to the log of tokens, and of witnesses. */
import { metrics } from "#src/base/metrics.ts";

export const cosignatures = metrics.counter(
  "arbor_log_cosignatures_total",
  "Signatures of witnesses under checkpoints of the log of tokens.",
  ["witness"],
);
export const refusals = metrics.counter(
  "arbor_log_refusals_total",
  "Requests to witnesses of the log of tokens that gave no signature, by reason.",
  ["witness", "reason"],
);
export const appendSeconds = metrics.histogram(
  "arbor_log_append_seconds",
  "Transactions that append to the log of tokens, in seconds.",
);
export const witnessAnswers = metrics.counter(
  "arbor_witness_answers_total",
  "Answers of this instance as a witness of other logs.",
  ["answer"],
);
