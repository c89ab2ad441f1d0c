/** Metrics of the runtime. Labels are kinds, event types, outcomes, and names of effects, builds and leases. */
import { metrics } from "#src/base/metrics.ts";
import type { CommandAnswer } from "#src/runtime/turns/queue.ts";

export const turns = metrics.counter("arbor_turns_total", "Turns written: events of one entity in one commit.", [
  "kind",
]);
export const events = metrics.counter("arbor_events_total", "Events applied to entities.", ["kind", "event"]);
const FOLDED = [0, 1, 2, 4, 8, 16, 32, 64];
export const turnEvents = metrics.histogram("arbor_turn_events", "Events folded into one turn.", ["kind"], FOLDED);
export const turnSeconds = metrics.histogram(
  "arbor_turn_seconds",
  "From the start of a turn to the answer of its commit, in seconds.",
  ["kind"],
);
export const repeated = metrics.counter(
  "arbor_turns_repeated_total",
  "Turns that were not written and are done again: something was known already, the version was stale, the database did not answer or refused the rows.",
  ["reason"],
);
export const fenced = metrics.counter("arbor_fenced_total", "Writes of a former owner that the epoch stopped.");
export const dead = metrics.counter("arbor_dead_letters_total", "Events set aside because they failed.", ["kind"]);

export const commands = metrics.counter(
  "arbor_commands_total",
  "Commands answered by a worker, by what became of them: ok, not_owner or the code of the refusal (overloaded among them).",
  ["kind", "command", "outcome"],
);
export const commandSeconds = metrics.histogram(
  "arbor_command_seconds",
  "From a command's arrival at its worker to its answer, in seconds.",
  ["kind", "command"],
);
export const builds = metrics.counter("arbor_builds_total", "Builds answered by a worker, by what became of them.", [
  "kind",
  "build",
  "outcome",
]);
export const buildSeconds = metrics.histogram(
  "arbor_build_seconds",
  "From a build's arrival at its worker to its answer, in seconds.",
  ["kind", "build"],
);
export const askSeconds = metrics.histogram(
  "arbor_ask_seconds",
  "From a question to its answer where it was asked, over the bus and all its tries, in seconds.",
  ["kind", "ask"],
);
export const askedAgain = metrics.counter(
  "arbor_asked_again_total",
  "Questions put once more, because of the bus, or because the worker did not own the entity or did not answer.",
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
export const waiting = metrics.gauge("arbor_mailbox_waiting", "Commands and other items that wait for a turn.");

export const effects = metrics.counter("arbor_effects_total", "Attempts of effects: done, failed or left to others.", [
  "kind",
  "effect",
  "outcome",
]);
export const effectSeconds = metrics.histogram("arbor_effect_seconds", "Duration of one attempt, in seconds.", [
  "kind",
  "effect",
]);
export const effectsRunning = metrics.gauge("arbor_effects_running", "Effects that run or wait to, in this process.");

export const published = metrics.counter(
  "arbor_published_total",
  "Transitions told to subscribers, repetitions included.",
);
export const publishFailures = metrics.counter("arbor_publish_failures_total", "Tries to tell that failed.");

export const partitions = metrics.gauge("arbor_partitions_owned", "Partitions served by this process.");
export const moves = metrics.counter(
  "arbor_partition_moves_total",
  "Partitions taken, given back, lost to another owner or run out of time.",
  ["move"],
);
export const leases = metrics.gauge("arbor_lease_held", "Whether this process holds a named lease.", ["lease"]);
export const leaseMoves = metrics.counter("arbor_lease_moves_total", "Named leases taken, lost and given back.", [
  "lease",
  "move",
]);

export const disconnects = metrics.counter("arbor_bus_disconnects_total", "Connections to NATS lost.");
export const reconnects = metrics.counter("arbor_bus_reconnects_total", "Connections to NATS that came back.");

/** Label of an answer: `ok`, `not_owner` or the error code. */
export function outcomeOf(answer: CommandAnswer): string {
  if (answer === "not_owner") return answer;
  return answer.ok ? "ok" : answer.error.code;
}
