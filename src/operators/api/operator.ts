/** Requests and answers of the operator service; safe in a browser, shared by edge, pages and client. */
import { z } from "zod";
import { kindText as kind, pageLimit as limit, plainText as text, timeText as time } from "#src/http/textSchemas.ts";

const id = text(200).describe("Id of an actor, unique within its kind.");
const state = text(500).meta({
  description: "Name of a state; nested states are written like `live.syncing`.",
  example: "live",
});
const ms = z.number().describe("Milliseconds.");
const version = z.int().describe("Number of events applied.");
const partition = z.int().min(0).describe("Partition of the actor; the worker that owns it runs the actor.");
const owner = z.string().nullable().describe("Id of the worker that owns it; null if no worker does.");
const next = z.string().nullable().describe("Cursor of the next page; null on the last page.");
const flag = z.enum(["true", "false"]).transform((value) => value === "true").meta({
  type: "boolean",
  description: "Only actors that are (`true`) or are not (`false`) in this condition.",
});
const after = z.string().min(1).max(2_000).optional().describe("`next` of the previous page.");

export const kindPath = { kind };
export const actorPath = { kind, id };

/** Kinds and counts. */
export const kindCounts = z.object({
  kind,
  machineVersion: z.int().nullable().describe("Null if this process does not know the kind."),
  actors: z.int(),
  paused: z.int(),
  states: z.array(z.object({ state, actors: z.int() })).describe("States with at least one actor."),
  attributes: z.record(z.string(), z.enum(["text", "number", "time"])).optional().describe(
    "Types of the search attributes, by name; absent if the kind has none.",
  ),
}).meta({ id: "KindCounts" });
export const kinds = z.object({ kinds: z.array(kindCounts) }).meta({ id: "Kinds" });

export const machineNode = z.object({
  id: z.string().describe("Name of the state, as in an actor's `state`."),
  parent: z.string().nullable(),
  label: z.string(),
  type: z.enum(["atomic", "compound", "parallel", "final", "history"]),
  initial: z.boolean().describe("Whether it is the initial state of its parent or of the machine."),
}).meta({ id: "MachineNode" });
export const machineEdge = z.object({
  from: z.string().describe("Name of a state; `*` for a transition of the machine in every state."),
  to: z.string().describe("Name of a state; equal to `from` for a self-transition."),
  event: z.string().describe("The event; empty for a transition without an event."),
  guard: z.string().nullable().describe("Name of the guard, or null."),
  intent: z.literal(true).optional().describe(
    "Present for an intent: a build is refused where it has no transition, and no event of this type is ever applied.",
  ),
}).meta({ id: "MachineEdge" });
export const machine = z.object({
  kind,
  machineVersion: z.int(),
  initial: z.string().describe("Name of the initial state; `*` if the machine starts in several states at once."),
  nodes: z.array(machineNode),
  edges: z.array(machineEdge),
}).meta({ id: "Machine" });

/** Lists of actors. */
const moment = z.iso.datetime({ offset: true }).transform((value) => Date.parse(value)).meta({
  type: "string",
  format: "date-time",
});
const attributeText = text(200).optional();
export const actorsQuery = {
  kind: kind.optional(),
  attribute: text(64).optional().describe(
    "A search attribute of the kind, which is required with it: lists only actors that have a value, in the order of the " +
      "values.",
  ),
  equals: attributeText.describe("The value of the attribute. Times are ISO 8601 or milliseconds since 1970."),
  from: attributeText.describe("The least value of the attribute."),
  before: attributeText.describe("The values of the attribute end before this one."),
  sort: z.enum(["id", "changed"]).default("id").describe(
    "`changed`: by the time of the last change, of all kinds together.",
  ),
  order: z.enum(["asc", "desc"]).optional().describe(
    "Order of the attribute's values, or of the times of `sort=changed`; `asc` by default.",
  ),
  failing: flag.optional().describe(
    "Only actors that have (`true`) or do not have (`false`) a failed attempt of an open effect or a dead letter.",
  ),
  changedSince: moment.optional().describe("The last change was at this time (ISO 8601) or later."),
  changedBefore: moment.optional().describe("The last change was before this time (ISO 8601)."),
  state: state.optional(),
  paused: flag.optional(),
  q: text(200).optional().describe("Prefix of the id."),
  limit,
  after,
};
const attributes = z.record(z.string(), z.union([z.string(), z.number(), z.bigint()])).describe(
  "Search attributes of the actor, by name; times are ISO 8601.",
);
export const actorLine = z.object({
  kind,
  id,
  state,
  version,
  paused: z.boolean(),
  changed: time,
  partition,
  owner,
  attributes: attributes.optional().describe("Present in a list by an attribute."),
}).meta({ id: "ActorLine" });
export const actors = z.object({ actors: z.array(actorLine), next }).meta({ id: "Actors" });

/** One actor. */
export const reminder = z.object({ name: z.string(), at: time, event: z.string() }).meta({ id: "Reminder" });
export const openEffect = z.object({
  n: z.int(),
  name: z.string(),
  attempts: z.int().describe("Number of failed attempts."),
  nextAttempt: time,
  error: z.string().nullable().describe("Error of the last failed attempt."),
}).meta({ id: "OpenEffect" });
export const actor = z.object({
  entity: z.object({ kind, id }),
  machineVersion: z.int().describe("Version of the machine that wrote the snapshot."),
  state,
  context: z.record(z.string(), z.unknown()),
  version,
  inputSeq: z.int().describe("Last row of the input log that the actor has applied; 0 for none."),
  paused: z.boolean(),
  changed: time,
  allowed: z.array(z.string()).describe("Events for which the current state has a transition."),
  intents: z.array(z.string()).describe("Intents of builds for which the current state has a transition."),
  reminders: z.array(reminder),
  effects: z.array(openEffect).describe("Effects that are not completed."),
  unreadInputs: z.int(),
  attributes: attributes.optional().describe("Absent if the kind has none."),
  partition,
  owner,
  epoch: z.int().describe("Ownership epoch: how many times the partition has changed its owner."),
  mailbox: z.object({
    depth: z.int().describe("Commands and other events queued for the actor."),
    resident: z.boolean().describe("Whether the actor is in its worker's memory."),
    inTurn: z.boolean(),
  }).nullable().describe("Null if the actor's worker does not respond."),
}).meta({ id: "Actor" });

export const historyQuery = {
  before: z.string().min(1).max(200).optional().describe("`next` of the previous page, or a version."),
  limit,
};
const slot = z.int().describe("Slot of the block.");
const blockHash = z.string().nullable().describe("Null if the index no longer has the block.");
const height = z.int().nullable();
export const cause = z.discriminatedUnion("type", [
  z.object({ type: z.literal("command"), id: z.string().describe("Id of the command.") }),
  z.object({ type: z.literal("block"), seq: z.int(), slot, height, hash: blockHash }),
  z.object({ type: z.literal("rollback"), seq: z.int(), slot, height, hash: blockHash }).describe(
    "Blocks after this one were rolled back.",
  ),
  z.object({ type: z.literal("input"), seq: z.int() }).describe("An event of the input log without a block."),
  z.object({ type: z.literal("reminder"), name: z.string() }),
  z.object({
    type: z.literal("effect"),
    kind,
    id,
    n: z.int(),
    name: z.string().nullable().describe("Null if the effect's row was deleted."),
    href: z.string().describe("The actor that ran it."),
  }),
]).meta({ id: "Cause" });
export const link = z.object({
  rel: z.enum(["transaction", "request", "token", "wallet", "block"]),
  kind: z.string().describe("Kind of an actor, `request` or `block`."),
  id: z.string(),
  href: z.string().nullable().describe("The actor; null if there is none."),
}).meta({ id: "Link" });
export const transition = z.object({
  version,
  from: state,
  to: state,
  event: z.string(),
  cause: z.string().describe("Id of the command, `input:<seq>`, `reminder:<name>` or `effect:<kind>/<id>:<n>`."),
  at: time,
  payload: z.record(z.string(), z.unknown()).nullable().describe(
    "Content of the event, as subscribers get it, of any size; null if the kind has none for this event.",
  ),
  causes: z.array(cause).describe("The cause, explained as far as rows still exist."),
  links: z.array(link).describe("What the event concerns, at most 50."),
}).meta({ id: "Transition" });
export const pastQuery = {
  version: z.string().regex(/^[1-9]\d{0,14}$/, "expected a version").transform(Number).meta({
    type: "integer",
    minimum: 1,
    description: "Number of events applied, from 1.",
  }),
};
export const past = z.object({
  entity: z.object({ kind, id }),
  version,
  state,
  context: z.record(z.string(), z.unknown()),
  at: time.nullable().describe("When the version was reached; null if the transition's row was deleted."),
}).meta({ id: "PastState" });

export const searchQuery = {
  q: text(200).describe("At least two characters: part of a name, an id or its beginning, an address, a hash."),
};
export const search = z.object({
  results: z.array(z.object({
    kind: z.string().describe("Kind of an actor, or `request`."),
    id: z.string(),
    label: z.string(),
    why: z.enum(["id", "name", "owner", "transaction", "address"]).describe("What of it the text is."),
    href: z.string().nullable().describe("The actor; null if there is none."),
  })),
  more: z.boolean().describe("Whether there are more results than are listed."),
}).meta({ id: "Search" });

export const history = z.object({ transitions: z.array(transition), next }).meta({
  id: "History",
  description: "Sorted from newest to oldest.",
});

export const paused = z.object({ paused: z.boolean() }).meta({ id: "Paused" });
export const passivated = z.object({
  passivated: z.boolean().describe("False if the actor was not in memory or is executing a turn."),
}).meta({ id: "Passivated" });
export const reminderPath = { ...actorPath, name: text(200) };
export const fired = z.object({ fired: z.boolean() }).meta({ id: "Fired" });

/** Workers, partitions and leases. */
export const worker = z.object({
  id: z.string(),
  seen: time,
  alive: z.boolean(),
  suspect: z.boolean().describe("Whether recent requests to the worker got no response."),
  draining: z.boolean(),
  outdated: z.boolean().describe(
    "Whether workers with later versions of the actors took partitions: this one takes no more.",
  ),
  partitions: z.array(partition),
  resident: z.int().describe("Actors in memory."),
  waiting: z.int().describe("Commands and other events queued in all mailboxes of the worker."),
  turns: z.int(),
  events: z.int(),
  fenced: z.int().describe("Stale writes rejected by fencing."),
  effects: z.int().describe("Effects that are running or queued."),
  clockAheadMs: z.int().describe("How far the clock of its machine is ahead of the database's, in milliseconds."),
}).meta({ id: "Worker", description: "Counts are since the worker's start; 0 if the worker does not respond." });
export const workers = z.object({ workers: z.array(worker) }).meta({ id: "Workers" });

export const partitionLine = z.object({
  id: partition,
  owner,
  epoch: z.int(),
  expiresInMs: ms.describe("Remaining time of the lease in milliseconds; zero or negative if it has expired."),
  actors: z.int(),
}).meta({ id: "Partition" });
export const partitions = z.object({ partitions: z.array(partitionLine) }).meta({ id: "Partitions" });
export const partitionPath = {
  id: z.string().regex(/^\d{1,6}$/, "expected a whole number").transform(Number).meta({ type: "integer" }),
};
export const moveBody = z.object({
  to: text(64).optional().describe("Id of a worker. Default: the worker with the fewest partitions."),
}).optional().meta({ id: "MoveRequest" });
export const moved = z.object({ partition, owner }).meta({ id: "Moved" });

export const lease = z.object({ name: z.string(), owner, epoch: z.int(), expiresInMs: ms }).meta({ id: "Lease" });
export const leases = z.object({ leases: z.array(lease) }).meta({ id: "Leases" });

const oldest = ms.nullable().describe("Age of the oldest entry in milliseconds; null if there is none.");
export const lags = z.object({
  outbox: z.object({ unpublished: z.int(), oldestMs: oldest }),
  inputs: z.object({ unread: z.int(), oldestMs: oldest }),
  effects: z.object({
    open: z.int(),
    failing: z.int(),
    queued: z.int().describe("Those of them in the queues of limits."),
    oldestMs: ms.nullable().describe(
      "How long the most overdue effect outside of the queues has been due, in milliseconds; null if there is none.",
    ),
  }),
  reminders: z.object({
    pending: z.int(),
    overdue: z.int(),
    overdueMs: ms.nullable().describe("How long the most overdue reminder has been due; null if none is overdue."),
  }),
  follower: z.object({ slot: z.int(), tipSlot: z.int(), height: z.int(), tipHeight: z.int() }).nullable().describe(
    "The index of the chain; null where the instance has none.",
  ),
}).meta({ id: "Lags", description: "Backlogs. Counts are capped at 100000." });

/** The log of tokens. */
export const tokenLog = z.object({
  log: z.object({
    origin: z.string().describe("Name of the log."),
    vkey: z.string(),
    size: z.int().describe("Number of entries."),
    checkpointMs: ms.nullable().describe("Age of the newest checkpoint in milliseconds; null before the first."),
    unlogged: z.int().describe("States of tokens that are final and not in the log yet, capped at 100000."),
    witnesses: z.array(z.object({
      url: z.string(),
      size: z.int().describe("Entries of the last checkpoint that it signed."),
      signedAt: time.nullable(),
      refusedAt: time.nullable().describe("The last request without a signature."),
      refusal: z.string().nullable().describe("Why there was none."),
    })),
  }).nullable().describe("Null where the instance has no log."),
}).meta({ id: "TokenLog" });

/** Limits of effects. */
export const limitsQuery = { kind: kind.optional(), limit };
export const limits = z.object({
  limits: z.array(z.object({
    kind,
    effect: z.string(),
    key: z.string().describe("Effects with equal keys share the limit."),
    atOnce: z.int().nullable().describe("Most attempts at the same time; null without such a limit."),
    rate: z.object({ count: z.int(), perMs: ms }).nullable().describe(
      "Most attempts that start within an interval; null without such a limit.",
    ),
    waiting: z.int().describe("Effects that wait, also for their next attempt or because their actor is paused."),
    since: time.nullable().describe("When the first of them was requested; null if none waits."),
    next: z.array(id).describe("The first actors in the queue, at most 20."),
    running: z.array(z.object({ id, n: z.int(), since: time, worker: z.string() })).describe(
      "Effects that have a slot, at most 20.",
    ),
  })),
}).meta({ id: "Limits", description: "Queues with effects, the longest first." });

/** The streams of transitions. */
export const rebuildBody = z.object({
  stream: z.boolean().default(true).describe(
    "False: the NATS server has no JetStream any more, on purpose; transitions go over core NATS from now on.",
  ),
}).prefault({}).meta({ id: "RebuildRequest" });
export const rebuildState = z.object({
  status: z.enum(["none", "running", "done", "failed"]),
  stored: z.int().describe("Transitions written so far."),
  total: z.int().describe("Transitions in the database at the start of the rebuild."),
  reason: z.string().nullable().describe("Why it failed."),
}).meta({ id: "Rebuild", description: "The last rebuild of the streams of transitions." });

/** The generation of the log of transitions. */
export const restoredBody = z.object({
  since: z.iso.datetime({ offset: true }).optional().describe(
    "When the restored database was first used: transitions written from then on belong to the new generation.",
  ),
}).prefault({}).meta({ id: "RestoredRequest" });
export const logGeneration = z.object({
  generation: z.string().describe(
    "Part of the ids of its events; empty for that of a database that was never restored.",
  ),
  n: z.int().describe("0 for the first."),
  reason: z.string().describe("Why it began."),
  began: z.iso.datetime(),
  restoredTo: z.string().describe("Positions of earlier generations are valid up to this one."),
  streamsDue: z.boolean().describe("Whether the streams of transitions are still to be written again."),
}).meta({
  id: "LogGeneration",
  description: "The generation of the log of transitions; one begins with each restore.",
});

/** Dead letters. */
export const deadLettersQuery = { kind: kind.optional(), id: id.optional(), limit, after };
export const deadLetter = z.object({
  n: z.int(),
  kind,
  id,
  source: z.enum(["command", "input", "reminder", "outcome"]).describe("Source of the event."),
  cause: z.string(),
  event: z.looseObject({ type: z.string() }),
  error: z.string(),
  at: time,
}).meta({ id: "DeadLetter" });
export const deadLetters = z.object({ deadLetters: z.array(deadLetter), next }).meta({
  id: "DeadLetters",
  description: "Sorted from newest to oldest.",
});
export const letterPath = {
  n: z.string().regex(/^\d{1,15}$/, "expected a whole number").transform(Number).meta({ type: "integer" }),
};
export const retried = z.object({
  retried: z.boolean(),
  result: z.unknown().optional().describe(
    "The machine's reply if the dead letter was a command: `{ ok, value }` or `{ ok, error }`.",
  ),
}).meta({ id: "Retried" });
export const dropped = z.object({ dropped: z.boolean() }).meta({ id: "Dropped" });

/** Quarantined tokens. */
const quarantineReason = z.string().describe("The part of the token that the index cannot interpret.");
export const quarantinedTokens = z.object({
  tokens: z.array(z.object({
    tokenId: z.string(),
    reason: quarantineReason,
    slot: z.int().describe("Slot of the block in which the quarantine started."),
  })),
}).meta({ id: "QuarantinedTokens" });
export const releasePath = {
  tokenId: z.string().regex(/^[0-9a-fA-F]{64}$/, "expected 64 hexadecimal digits").transform((value) =>
    value.toLowerCase()
  ),
};
export const releaseQuery = {
  wait: z.string().regex(/^\d{1,5}$/, "expected a whole number of milliseconds").transform(Number).pipe(
    z.int().max(60_000),
  )
    .default(30_000).meta({
      type: "integer",
      maximum: 60_000,
      default: 30_000,
      description: "Maximum time to wait for the replay, in milliseconds.",
    }),
};
export const releaseState = z.object({
  tokenId: z.string(),
  status: z.enum(["live", "quarantined"]).describe(
    "`quarantined` if the token was quarantined again after the release.",
  ),
  reason: quarantineReason.optional(),
  root: z.string(),
  facts: z.int().describe("Number of facts."),
}).meta({ id: "ReleasedToken" });

/** The devnet. */
export const rollbackBody = z.object({ blocks: z.int().min(1).max(100_000) }).meta({ id: "ForcedRollback" });
export const rolledBack = z.object({ height: z.int(), slot: z.int() }).meta({ id: "RolledBack" });

export const overview = z.object({
  kinds: z.array(kindCounts),
  workers: z.int().describe("Number of workers that are alive."),
  rates: z.object({
    transitionsPerSecond: z.number().describe(
      "Average over the last minute, or since the workers' start if that is shorter.",
    ),
  }),
  lags,
  deadLetters: z.int(),
}).meta({ id: "Overview" });

/** The last hour. */
export const activity = z.object({
  minutes: z.array(z.object({
    at: time.describe("Start of the minute."),
    transitions: z.record(z.string(), z.int()).describe(
      "Number of transitions by kind of actor; kinds without any are missing.",
    ),
    refused: z.int().describe("Transitions by which the network refused a transaction."),
    deadLetters: z.int().describe("Events that became dead letters and still are."),
    failedEffects: z.int().describe("Failed attempts of effects."),
  })).describe("The last 60 minutes, oldest first; the last one is not complete."),
}).meta({ id: "Activity" });

export const recentQuery = { limit };
export const recentTransitions = z.object({
  transitions: z.array(z.object({
    entity: z.object({ kind, id }),
    version,
    from: state,
    to: state,
    event: z.string(),
    cause: z.string().describe("Id of the command, `input:<seq>`, `reminder:<name>` or `effect:<kind>/<id>:<n>`."),
    at: time,
  })),
}).meta({ id: "RecentTransitions", description: "Sorted from newest to oldest." });

/** What needs attention. */
export const attentionItem = z.object({
  id: z.string().describe("The same as long as the condition lasts."),
  category: z.enum([
    "check",
    "clock",
    "dead-letter",
    "effect",
    "lag",
    "partition",
    "paused",
    "quarantine",
    "stream",
    "webhook",
    "worker",
  ]),
  severity: z.enum(["bad", "warning", "notice"]).describe(
    "`bad`: something does not work. `warning`: it may soon not work. `notice`: as an operator wanted it.",
  ),
  title: z.string().describe("What is wrong, in a sentence."),
  detail: z.string().nullable().describe("The error or reason, from outside."),
  advice: z.string().describe("What to do about it."),
  page: z.string().describe("Path of the operator page about it."),
  actors: z.array(z.object({ kind, id })).describe("Some of the actors concerned, at most five."),
  count: z.int().describe("Number of actors, events or deliveries concerned."),
  nextAttempt: time.nullable().describe("When it is attempted again."),
}).meta({ id: "AttentionItem" });
export const attention = z.object({
  count: z.int().describe("Number of items that are not notices."),
  items: z.array(attentionItem),
}).meta({ id: "Attention", description: "Sorted from bad to notice." });
