/** Requests and answers of the operator service; safe in a browser, shared by edge, pages and client. */
import { z } from "zod";
import { kindText as kind, pageLimit as limit, plainText as text, timeText as time } from "#src/api/text.ts";

const id = text(200).meta({ description: "Id of an actor among those of its kind." });
const state = text(500).meta({
  description: "Name of a state; `live.syncing` where states are nested.",
  example: "live",
});
const ms = z.number().meta({ description: "Milliseconds." });
const version = z.int().meta({ description: "Events applied so far." });
const partition = z.int().min(0).meta({ description: "Partition, which decides who owns the actor." });
const owner = z.string().nullable().meta({ description: "Id of a worker; null while nobody owns it." });
const next = z.string().nullable().meta({ description: "Where the next page begins; null at the end." });
const flag = z.enum(["true", "false"]).transform((value) => value === "true").meta({
  type: "boolean",
  description: "Only those that are (`true`) or are not (`false`).",
});
const after = z.string().min(1).max(2_000).optional().meta({ description: "`next` of the page before." });

export const kindPath = { kind };
export const actorPath = { kind, id };

/** Kinds and counts. */
export const kindCounts = z.object({
  kind,
  machineVersion: z.int().nullable().meta({ description: "Null where this service does not know the kind." }),
  actors: z.int(),
  paused: z.int(),
  states: z.array(z.object({ state, actors: z.int() })).meta({ description: "States that some actor is in." }),
}).meta({ id: "KindCounts" });
export const kinds = z.object({ kinds: z.array(kindCounts) }).meta({ id: "Kinds" });

export const machineNode = z.object({
  id: z.string().meta({ description: "The state's name, as actors in it show it." }),
  parent: z.string().nullable(),
  label: z.string(),
  type: z.enum(["atomic", "compound", "parallel", "final", "history"]),
  initial: z.boolean().meta({ description: "Whether its parent, or the machine, begins in it." }),
}).meta({ id: "MachineNode" });
export const machineEdge = z.object({
  from: z.string().meta({ description: "Name of a state; `*` for what the machine takes in every state." }),
  to: z.string().meta({ description: "Name of a state; the same as `from` where the transition stays." }),
  event: z.string().meta({ description: "The event; empty where none is needed." }),
  guard: z.string().nullable().meta({ description: "Name of the condition, where there is one." }),
}).meta({ id: "MachineEdge" });
export const machine = z.object({
  kind,
  machineVersion: z.int(),
  initial: z.string().meta({
    description: "Name of the state in which an actor begins; `*` where in several at once.",
  }),
  nodes: z.array(machineNode),
  edges: z.array(machineEdge),
}).meta({ id: "Machine" });

/** Lists of actors. */
export const actorsQuery = {
  kind: kind.optional(),
  state: state.optional(),
  paused: flag.optional(),
  q: text(200).optional().meta({ description: "How the id begins." }),
  limit,
  after,
};
export const actorLine = z.object({
  kind,
  id,
  state,
  version,
  paused: z.boolean(),
  changed: time,
  partition,
  owner,
}).meta({ id: "ActorLine" });
export const actors = z.object({ actors: z.array(actorLine), next }).meta({ id: "Actors" });

/** One actor. */
export const reminder = z.object({ name: z.string(), at: time, event: z.string() }).meta({ id: "Reminder" });
export const openEffect = z.object({
  n: z.int(),
  name: z.string(),
  attempts: z.int().meta({ description: "How often it failed." }),
  nextAttempt: time,
  error: z.string().nullable().meta({ description: "Why it failed the last time." }),
}).meta({ id: "OpenEffect" });
export const actor = z.object({
  entity: z.object({ kind, id }),
  machineVersion: z.int().meta({ description: "Version of the machine that wrote the snapshot." }),
  state,
  context: z.record(z.string(), z.unknown()),
  version,
  inputSeq: z.int().meta({ description: "Last row of the input log that it has read; 0 for none." }),
  paused: z.boolean(),
  changed: time,
  allowed: z.array(z.string()).meta({ description: "Events that its state has transitions for." }),
  reminders: z.array(reminder),
  effects: z.array(openEffect).meta({ description: "Effects that have not ended." }),
  unreadInputs: z.int(),
  partition,
  owner,
  epoch: z.int().meta({ description: "Count of the partition's owners." }),
  mailbox: z.object({
    depth: z.int().meta({ description: "Commands and the like that wait for its next turn." }),
    resident: z.boolean().meta({ description: "Whether its worker holds it in memory." }),
    inTurn: z.boolean(),
  }).nullable().meta({ description: "Null where its worker does not answer." }),
}).meta({ id: "Actor" });

export const historyQuery = {
  before: z.string().min(1).max(200).optional().meta({ description: "`next` of the page before." }),
  limit,
};
export const transition = z.object({
  version,
  from: state,
  to: state,
  event: z.string(),
  cause: z.string().meta({
    description: "Id of the command, `input:<seq>`, `reminder:<name>` or `effect:<kind>/<id>:<n>`.",
  }),
  at: time,
}).meta({ id: "Transition" });
export const history = z.object({ transitions: z.array(transition), next }).meta({
  id: "History",
  description: "Newest first.",
});

export const paused = z.object({ paused: z.boolean() }).meta({ id: "Paused" });
export const passivated = z.object({
  passivated: z.boolean().meta({ description: "False where it was not in memory, or is in the middle of a turn." }),
}).meta({ id: "Passivated" });
export const reminderPath = { ...actorPath, name: text(200) };
export const fired = z.object({ fired: z.boolean() }).meta({ id: "Fired" });

/** Workers, partitions and leases. */
export const worker = z.object({
  id: z.string(),
  seen: time,
  alive: z.boolean(),
  suspect: z.boolean().meta({ description: "Whether askers got no answer from it lately." }),
  draining: z.boolean(),
  partitions: z.array(partition),
  resident: z.int().meta({ description: "Actors in memory." }),
  waiting: z.int().meta({ description: "Commands and the like in all its mailboxes." }),
  turns: z.int(),
  events: z.int(),
  fenced: z.int().meta({ description: "Stale writes that were stopped." }),
  effects: z.int().meta({ description: "Effects that run or wait to." }),
}).meta({ id: "Worker", description: "Counts are since the worker's start, and 0 where it does not answer." });
export const workers = z.object({ workers: z.array(worker) }).meta({ id: "Workers" });

export const partitionLine = z.object({
  id: partition,
  owner,
  epoch: z.int(),
  expiresInMs: ms.meta({ description: "Milliseconds that the lease has left; not above 0 where it has none." }),
  actors: z.int(),
}).meta({ id: "Partition" });
export const partitions = z.object({ partitions: z.array(partitionLine) }).meta({ id: "Partitions" });
export const partitionPath = {
  id: z.string().regex(/^\d{1,6}$/, "a whole number").transform(Number).meta({ type: "integer" }),
};
export const moveBody = z.object({
  to: text(64).optional().meta({ description: "A worker; the one with the fewest if left out." }),
}).optional().meta({ id: "MoveRequest" });
export const moved = z.object({ partition, owner }).meta({ id: "Moved" });

export const lease = z.object({ name: z.string(), owner, epoch: z.int(), expiresInMs: ms }).meta({ id: "Lease" });
export const leases = z.object({ leases: z.array(lease) }).meta({ id: "Leases" });

const oldest = ms.nullable().meta({ description: "Age of the oldest, in milliseconds; null where there is none." });
export const lags = z.object({
  outbox: z.object({ unpublished: z.int(), oldestMs: oldest }),
  inputs: z.object({ unread: z.int(), oldestMs: oldest }),
  effects: z.object({
    open: z.int(),
    failing: z.int(),
    oldestMs: ms.nullable().meta({
      description:
        "For how long the effect that is due for the longest is due, in milliseconds; null where none is open.",
    }),
  }),
  reminders: z.object({ pending: z.int(), overdue: z.int() }),
  follower: z.object({ slot: z.int(), tipSlot: z.int(), height: z.int(), tipHeight: z.int() }),
}).meta({ id: "Lags", description: "Counts stop at 100000." });

/** Dead letters. */
export const deadLettersQuery = { kind: kind.optional(), id: id.optional(), limit, after };
export const deadLetter = z.object({
  n: z.int(),
  kind,
  id,
  source: z.enum(["command", "input", "reminder", "outcome"]).meta({ description: "Where the event came from." }),
  cause: z.string(),
  event: z.looseObject({ type: z.string() }),
  error: z.string(),
  at: time,
}).meta({ id: "DeadLetter" });
export const deadLetters = z.object({ deadLetters: z.array(deadLetter), next }).meta({
  id: "DeadLetters",
  description: "Newest first.",
});
export const letterPath = {
  n: z.string().regex(/^\d{1,15}$/, "a whole number").transform(Number).meta({ type: "integer" }),
};
export const retried = z.object({
  retried: z.boolean(),
  result: z.unknown().optional().meta({
    description: "What the machine answered, where the letter was a command: `{ ok, value }` or `{ ok, error }`.",
  }),
}).meta({ id: "Retried" });
export const dropped = z.object({ dropped: z.boolean() }).meta({ id: "Dropped" });

/** Quarantined tokens. */
const quarantineReason = z.string().meta({ description: "What the index does not understand of the token." });
export const quarantinedTokens = z.object({
  tokens: z.array(z.object({
    tokenId: z.string(),
    reason: quarantineReason,
    slot: z.int().meta({ description: "Slot of the block that the quarantine began with." }),
  })),
}).meta({ id: "QuarantinedTokens" });
export const releasePath = {
  tokenId: z.string().regex(/^[0-9a-fA-F]{64}$/, "64 hexadecimal digits").transform((value) => value.toLowerCase()),
};
export const releaseQuery = {
  wait: z.string().regex(/^\d{1,5}$/, "milliseconds, a whole number").transform(Number).pipe(z.int().max(60_000))
    .default(30_000).meta({
      type: "integer",
      maximum: 60_000,
      default: 30_000,
      description: "How long the answer may wait for the replay, in milliseconds.",
    }),
};
export const releaseState = z.object({
  tokenId: z.string(),
  status: z.enum(["live", "quarantined"]).meta({
    description: "`quarantined` where it came into quarantine anew since.",
  }),
  reason: quarantineReason.optional(),
  root: z.string(),
  facts: z.int().meta({ description: "How many." }),
}).meta({ id: "ReleasedToken" });

/** The devnet. */
export const rollbackBody = z.object({ blocks: z.int().min(1).max(100_000) }).meta({ id: "ForcedRollback" });
export const rolledBack = z.object({ height: z.int(), slot: z.int() }).meta({ id: "RolledBack" });

export const overview = z.object({
  kinds: z.array(kindCounts),
  workers: z.int().meta({ description: "Workers alive." }),
  rates: z.object({
    transitionsPerSecond: z.number().meta({ description: "Over the last minute, or since the workers' start." }),
  }),
  lags,
  deadLetters: z.int(),
}).meta({ id: "Overview" });
