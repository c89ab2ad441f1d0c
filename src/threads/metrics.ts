/** Metrics of the builder threads. */
import { metrics } from "#src/base/metrics.ts";

export const threads = metrics.gauge("arbor_builder_threads", "Builder threads.");
export const busy = metrics.gauge("arbor_builder_busy", "Builder threads that are busy or being replaced.");
export const waiting = metrics.gauge("arbor_builder_waiting", "Jobs queued for a builder thread.");
export const slicesWaiting = metrics.gauge(
  "arbor_builder_slices_waiting",
  "Slices of long jobs queued for a builder thread.",
);
export const jobs = metrics.counter("arbor_builder_jobs_total", "Jobs of builder threads, by outcome.", [
  "job",
  "outcome",
]);
export const jobSeconds = metrics.histogram("arbor_builder_job_seconds", "A job's time in its thread, in seconds.", [
  "job",
]);
export const waitSeconds = metrics.histogram("arbor_builder_wait_seconds", "A job's time in the queue, in seconds.", [
  "job",
]);
export const restarts = metrics.counter(
  "arbor_builder_restarts_total",
  "Builder threads that died or hung and were replaced.",
);
