/** Metrics of the runtime. Labels are kinds, event types, outcomes, and names of effects, builds and leases. */
import { metrics } from "#src/base/metrics.ts";
import type { Failure, Result } from "#src/base/result.ts";

export const turns = metrics.counter("arbor_turns_total", "Turns written: events of one entity in one commit.", [
  "kind",
]);
export const events = metrics.counter("arbor_events_total", "Events applied to entities.", ["kind", "event"]);
const FOLDED = [0, 1, 2, 4, 8, 16, 32, 64];
export const turnEvents = metrics.histogram("arbor_turn_events", "Events folded into one turn.", ["kind"], FOLDED);
export const turnSeconds = metrics.histogram(
  "arbor_turn_seconds",
  "Time from the start of a turn to the result of its commit, in seconds.",
  ["kind"],
);
export const repeated = metrics.counter(
  "arbor_turns_repeated_total",
  "Turns that were not written and are retried: duplicate, stale version, or the database was unavailable or rejected the rows.",
  ["reason"],
);
export const fenced = metrics.counter(
  "arbor_fenced_total",
  "Writes of a former owner that were rejected by its epoch.",
);
export const dead = metrics.counter("arbor_dead_letters_total", "Failed events stored as dead letters.", ["kind"]);

export const commands = metrics.counter(
  "arbor_commands_total",
  "Commands processed by a worker, by outcome: ok, not_owner or an error code such as overloaded.",
  ["kind", "command", "outcome"],
);
export const commandSeconds = metrics.histogram(
  "arbor_command_seconds",
  "Time from a command's arrival at its worker to its reply, in seconds.",
  ["kind", "command"],
);
export const builds = metrics.counter("arbor_builds_total", "Builds processed by a worker, by outcome.", [
  "kind",
  "build",
  "outcome",
]);
export const buildSeconds = metrics.histogram(
  "arbor_build_seconds",
  "Time from a build's arrival at its worker to its reply, in seconds.",
  ["kind", "build"],
);
export const askSeconds = metrics.histogram(
  "arbor_ask_seconds",
  "From a question to its answer where it was asked, over the bus and all its tries, in seconds.",
  ["kind", "ask"],
);
export const askedAgain = metrics.counter(
  "arbor_asked_again_total",
  "Requests to workers that were retried because the bus failed or the worker did not own the entity or did not respond.",
  ["reason"],
);

export const statementSeconds = metrics.histogram(
  "arbor_statement_seconds",
  "Duration of the statement that writes turns, in seconds.",
);
export const statementTurns = metrics.histogram(
  "arbor_statement_turns",
  "Turns committed together by one statement.",
  [],
  [1, 2, 4, 8, 16, 32, 64, 128],
);
export const loaded = metrics.counter("arbor_actors_loaded_total", "Entities read from their rows.", ["kind"]);
export const resident = metrics.gauge("arbor_actors_resident", "Entities in memory.");
export const waiting = metrics.gauge("arbor_mailbox_waiting", "Commands and other events queued in mailboxes.");

export const effects = metrics.counter("arbor_effects_total", "Attempts of effects: done, failed or left to others.", [
  "kind",
  "effect",
  "outcome",
]);
export const effectSeconds = metrics.histogram("arbor_effect_seconds", "Duration of one attempt, in seconds.", [
  "kind",
  "effect",
]);
export const effectWaitSeconds = metrics.histogram(
  "arbor_effect_wait_seconds",
  "Time that an attempt waited in the queue of its limit, from the request of the effect, in seconds.",
  ["kind", "effect"],
);
export const effectsRunning = metrics.gauge(
  "arbor_effects_running",
  "Effects that are running or queued in this process.",
);

export const published = metrics.counter(
  "arbor_published_total",
  "Transitions published to subscribers, including repetitions.",
);
export const publishFailures = metrics.counter(
  "arbor_publish_failures_total",
  "Failed attempts to publish transitions.",
);

export const partitions = metrics.gauge("arbor_partitions_owned", "Partitions served by this process.");
export const moves = metrics.counter(
  "arbor_partition_moves_total",
  "Partitions acquired, released, lost to another owner or expired.",
  ["move"],
);
export const leases = metrics.gauge("arbor_lease_held", "Whether this process holds a named lease.", ["lease"]);
export const leaseMoves = metrics.counter("arbor_lease_moves_total", "Named leases acquired, lost and released.", [
  "lease",
  "move",
]);

export const disconnects = metrics.counter("arbor_bus_disconnects_total", "Connections to NATS lost.");
export const reconnects = metrics.counter("arbor_bus_reconnects_total", "Connections to NATS restored.");

/** Label of an answer: `ok`, `not_owner` or the error code. */
export function outcomeOf(answer: Result<unknown, Failure> | "not_owner"): string {
  if (answer === "not_owner") return answer;
  return answer.ok ? "ok" : answer.error.code;
}
