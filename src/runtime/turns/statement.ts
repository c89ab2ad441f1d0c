/**
 * The one SQL statement that writes the turns of several entities. It does, in this order:
 *
 * 1. lock the partition rows at their epochs;
 * 2. skip every entity of which a command already has a result, or an effect or a reminder is already consumed;
 * 3. of the rest, write the snapshot if the row is at the expected version and the entity is not paused;
 * 4. for the entities written in step 3 only, write everything else.
 *
 * Each part answers an observed fault. Without the row lock a write of a former owner committed after a takeover. With
 * `on conflict do nothing` instead of the anti-join an effect was applied twice. A statement whose connection was lost
 * may still be running: the next one waits for it at the actor's row, and then finds another version.
 *
 * Its plan is kept, and may have been made when the tables were empty: so rows of large tables are found by their whole
 * keys, by subqueries (`offset 0`) that leave the planner no choice. With joins it read all rows of `effect` for each turn.
 */
import { type Json, toJson } from "#src/base/json.ts";
import type { Failure, Result } from "#src/base/result.ts";
import type { TraceRef } from "#src/base/trace.ts";
import { type Column, StatementBuilder } from "#src/runtime/turns/statementBuilder.ts";
import type { RequestedEffect, TurnRows } from "#src/runtime/turns/fold.ts";
import { writeOwnRows } from "#src/runtime/turns/ownRows.ts";
import type { EntityRef } from "#src/runtime/types.ts";

/** A turn to write. */
export interface TurnWrite {
  readonly entity: EntityRef;
  readonly partition: number;
  readonly epoch: number;
  /** Version before the turn. */
  readonly was: number;
  /** Position in the input log before the turn. A retry of a dead letter may have moved it back (`deadLetters.ts`). */
  readonly seen: number;
  readonly machineVersion: number;
  readonly at: number;
  readonly rows: TurnRows;
  /** The turn's span. */
  readonly trace?: TraceRef | undefined;
}

/** The only row that the statement returns. A place is the position in the list of turns, from 1. */
export interface StatementResult {
  readonly written: number[];
  readonly owned: number[];
  readonly known: { place: number; command: string; result: Result<Json, Failure> | null }[] | null;
  readonly gone: { place: number; effect: number | null; reminder: string | null; n: number | null }[] | null;
}

/** A row of a turn, with the place of the turn. */
type Placed<T> = readonly [place: number, row: T];
/** Collects some rows of all turns. */
type Collect = <T>(pick: (rows: TurnRows) => Iterable<T>) => Placed<T>[];
/** The columns of a row that become parameters. */
type Columns<T> = Readonly<Record<string, readonly [type: Column[1], pick: (row: T) => unknown]>>;

/** The rows as the relation `x`, with the place of their turns as its first column. */
function relation<T>(sql: StatementBuilder, placed: readonly Placed<T>[], columns: Columns<T>): string {
  return sql.rows(
    ["place", "int", placed.map(([place]) => place)],
    ...Object.entries(columns).map(([name, [type, pick]]): Column => [name, type, placed.map(([, row]) => pick(row))]),
  );
}

/**
 * Adds a clause that writes rows of the turns, unless there are none. `write` makes it from the relation of the rows
 * (`x`) joined with the turns that are written (`w`).
 */
function writeRows<T>(
  sql: StatementBuilder,
  name: string,
  placed: readonly Placed<T>[],
  columns: Columns<T>,
  write: (source: string) => string,
): void {
  if (placed.length > 0) sql.write(name, write(`${relation(sql, placed, columns)} join w using (place)`));
}

/** The statement for some turns. Turns that write to the same tables give the same text, so that its plan is reused. */
export function turnStatement(turns: readonly TurnWrite[]): { text: string; parameters: unknown[] } {
  const sql = new StatementBuilder(turns.length === 1);
  const collect: Collect = <T>(pick: (rows: TurnRows) => Iterable<T>) => {
    const placed: Placed<T>[] = [];
    turns.forEach((turn, i) => {
      for (const row of pick(turn.rows)) placed.push([i + 1, row]);
    });
    return placed;
  };
  ownership(sql, turns);
  const skipped = [...knownCommands(sql, collect), ...consumed(sql, collect)];
  actors(sql, skipped);
  commands(sql, collect);
  transitions(sql, collect);
  checkpoints(sql, turns);
  effects(sql, collect, turns.some(({ rows }) => rows.limited));
  reminders(sql, collect);
  inputs(sql, collect);
  deadLetters(sql, collect);
  writeOwnRows(sql, collect((rows) => rows.ownRows));
  attributes(sql, collect);
  const list = (name: string) =>
    `${skipped.includes(name) ? `(select json_agg(s) from ${name} s)` : "null::json"} as ${name}`;
  const text = sql.select([
    "(select coalesce(array_agg(place), '{}') from w) as written",
    "(select coalesce(array_agg(id), '{}') from own) as owned",
    list("known"),
    list("gone"),
  ]);
  return { text, parameters: sql.parameters };
}

/** Relations `e`: the turns; `own`: the partitions still at their epochs, locked there until the statement ends. */
function ownership(sql: StatementBuilder, turns: readonly TurnWrite[]): void {
  const rows = sql.rows(
    ["place", "int", turns.map((_, i) => i + 1)],
    ["kind", "text", turns.map((turn) => turn.entity.kind)],
    ["id", "text", turns.map((turn) => turn.entity.id)],
    ["partition", "int", turns.map((turn) => turn.partition)],
    ["epoch", "bigint", turns.map((turn) => turn.epoch)],
    ["was", "bigint", turns.map((turn) => turn.was)],
    ["seen", "bigint", turns.map((turn) => turn.seen)],
    ["version", "bigint", turns.map((turn) => turn.rows.next.version)],
    ["input_seq", "bigint", turns.map((turn) => turn.rows.next.inputSeq)],
    ["snapshot", "text", turns.map((turn) => turn.rows.text ?? null)],
    ["state", "text", turns.map((turn) => turn.rows.transitions.at(-1)?.to ?? null)],
    ["machine_version", "int", turns.map((turn) => turn.machineVersion)],
    ["light", "int", turns.map(({ rows }) => Number(isLight(rows)))],
  );
  sql.read("e", `select * from ${rows}`);
  const epochs = [...new Map(turns.map((turn) => [`${turn.partition}:${turn.epoch}`, turn])).values()];
  const held = sql.rows(
    ["id", "int", epochs.map((turn) => turn.partition)],
    ["epoch", "bigint", epochs.map((turn) => turn.epoch)],
  );
  sql.read(
    "own",
    `select p.id, p.epoch from partition p join ${held} on p.id = x.id and p.epoch = x.epoch for key share of p`,
  );
}

/**
 * Whether a turn does not write the actor's row: it only refuses commands. A turn that consumes a reminder or an effect,
 * or stores a dead letter, still checks the version: an earlier turn whose response was lost may have led to a state that
 * accepts what this one refuses, or may set that reminder again.
 */
function isLight({ text, inputs, fired, ended, failed }: TurnRows): boolean {
  return text === undefined && inputs.length + fired.length + ended.length + failed.length === 0;
}

/** Relations `c`: the commands; `known`: those that already have a result row. */
function knownCommands(sql: StatementBuilder, collect: Collect): string[] {
  const rows = collect((rows) => rows.results);
  if (rows.length === 0) return [];
  const commands = relation(sql, rows, {
    command: ["text", ([id]) => id],
    result: ["text", ([, result]) => (result === undefined ? null : toJson(result))],
  });
  sql.read("c", `select x.place, e.kind, e.id, x.command, x.result from ${commands} join e using (place)`);
  sql.read(
    "known",
    `select c.place, c.command, r.result from c
      join command_result r on r.kind = c.kind and r.id = c.id and r.command = c.command`,
  );
  return ["known"];
}

/** Relations `ended` and `fired`: the effects and reminders that the turns consume; `gone`: those already consumed. */
function consumed(sql: StatementBuilder, collect: Collect): string[] {
  const ended = collect((rows) => rows.ended);
  const fired = collect((rows) => rows.fired);
  if (ended.length + fired.length === 0) return [];
  const effects = relation(sql, ended, { n: ["bigint", (n) => n] });
  sql.read("ended", `select x.place, e.kind, e.id, x.n from ${effects} join e using (place)`);
  const reminders = relation(sql, fired, { name: ["text", ({ name }) => name], n: ["bigint", ({ n }) => n] });
  sql.read("fired", `select x.place, e.kind, e.id, x.name, x.n from ${reminders} join e using (place)`);
  sql.read(
    "gone",
    `select place, n as effect, null::text as reminder, null::bigint as n from ended where
        (select f.done from effect f where f.kind = ended.kind and f.id = ended.id and f.n = ended.n) is not false
      union all select place, null, name, n from fired where n is distinct from
        (select r.n from reminder r where r.kind = fired.kind and r.id = fired.id and r.name = fired.name)`,
  );
  return ["gone"];
}

/** Relations `good`: the turns that may be written; `w`: those that are, by the version of the actor's row. */
function actors(sql: StatementBuilder, skipped: readonly string[]): void {
  const conditions = skipped.map((name) => `not exists (select 1 from ${name} s where s.place = e.place)`);
  sql.read(
    "good",
    `select e.* from e join own on own.id = e.partition and own.epoch = e.epoch
      ${conditions.length === 0 ? "" : `where ${conditions.join(" and ")}`}`,
  );
  sql.write(
    "changed",
    `update actor a set version = g.version, input_seq = g.input_seq, changed = now(),
        snapshot = coalesce(g.snapshot::jsonb, a.snapshot), state = coalesce(g.state, a.state),
        since = case when coalesce(g.state, a.state) = a.state then a.since else now() end,
        machine_version = case when g.snapshot is null then a.machine_version else g.machine_version end
      from good g where g.was > 0 and g.light = 0 and a.kind = g.kind and a.id = g.id
        and a.version = g.was and a.input_seq = g.seen and not a.paused
      returning g.place`,
  );
  sql.write(
    "created",
    `insert into actor (kind, id, partition, version, input_seq, snapshot, state, machine_version)
      select kind, id, partition, version, input_seq, snapshot::jsonb, state, machine_version from good where was = 0 and version > 0
      on conflict do nothing returning kind, id`,
  );
  sql.read(
    "w",
    `select place, kind, id, partition from good where place in (select place from changed)
      or (kind, id) in (select kind, id from created) or (version = 0 or light = 1) and not exists
        (select 1 from actor a where a.kind = good.kind and a.id = good.id and (a.paused or good.light = 0))`,
  );
}

function commands(sql: StatementBuilder, collect: Collect): void {
  if (collect((rows) => rows.results).length > 0) {
    sql.write(
      "results",
      `insert into command_result (kind, id, command, result)
        select c.kind, c.id, c.command, c.result::jsonb from c join w using (place)`,
    );
  }
  writeRows(sql, "answers", collect((rows) => rows.answers), {
    command: ["text", ([id]) => id],
    result: ["text", ([, result]) => toJson(result)],
  }, (source) =>
    `update command_result r set result = x.result::jsonb
      from (select w.kind, w.id, x.command, x.result from ${source} offset 0) x
      where r.kind = x.kind and r.id = x.id and r.command = x.command and r.result is null`);
}

function transitions(sql: StatementBuilder, collect: Collect): void {
  const events = collect((rows) => rows.transitions.map((event, i) => ({ ...event, body: rows.bodies[i] })));
  writeRows(
    sql,
    "log",
    events,
    {
      version: ["bigint", ({ version }) => version],
      from_state: ["text", ({ from }) => from],
      to_state: ["text", ({ to }) => to],
      type: ["text", ({ type }) => type],
      cause: ["text", ({ cause }) => cause],
      body: ["text", ({ body }) => body],
      at: ["float8", ({ at }) => at],
    },
    (source) =>
      `insert into outbox (kind, id, partition, version, from_state, to_state, type, cause, body, at, published)
      select w.kind, w.id, w.partition, x.version, x.from_state, x.to_state, x.type, x.cause, x.body::jsonb,
        to_timestamp(x.at / 1000.0), true from ${source} returning kind, id, version, partition`,
  );
  if (events.length === 0) return;
  sql.write(
    "queued",
    `insert into outbox_unpublished (kind, id, version, partition) select kind, id, version, partition from log`,
  );
}

/** Versions from one stored snapshot of an actor to the next. */
const CHECKPOINT = 64;

/** Snapshots from which the state at any later version is computed without reading all transitions before it. */
function checkpoints(sql: StatementBuilder, turns: readonly TurnWrite[]): void {
  const passed = ({ was, rows }: TurnWrite) =>
    Math.floor(rows.next.version / CHECKPOINT) > Math.floor(was / CHECKPOINT);
  if (!turns.some(passed)) return;
  sql.write(
    "checkpoints",
    `insert into actor_snapshot (kind, id, version, machine_version, snapshot)
      select g.kind, g.id, g.version, g.machine_version, g.snapshot::jsonb from good g join w using (place)
      where g.version / ${CHECKPOINT} > g.was / ${CHECKPOINT} on conflict do nothing`,
  );
}

/** `limited`: effects that end may be in the queue. */
function effects(sql: StatementBuilder, collect: Collect, limited: boolean): void {
  const requested = collect((rows) => rows.effects);
  const n = {
    n: ["bigint", ({ n }: RequestedEffect) => n],
    name: ["text", ({ name }: RequestedEffect) => name],
  } as const;
  const input = { ...n, input: ["text", ({ input }: RequestedEffect) => toJson(input)] } as const;
  const queued = requested.filter(([, { key }]) => key !== undefined);
  writeRows(
    sql,
    "effects",
    requested.filter(([, { key }]) => key === undefined),
    input,
    (source) =>
      `insert into effect (kind, id, n, partition, name, input, next_attempt)
      select w.kind, w.id, x.n, w.partition, x.name, x.input::jsonb, now() from ${source}`,
  );
  writeRows(
    sql,
    "effects_queued",
    queued,
    input,
    (source) =>
      `insert into effect (kind, id, n, partition, name, input, next_attempt, queued)
      select w.kind, w.id, x.n, w.partition, x.name, x.input::jsonb, now(), true from ${source}`,
  );
  // Ordered: that of the queue.
  writeRows(
    sql,
    "queue",
    queued,
    { ...n, key: ["text", ({ key }) => key] },
    (source) =>
      `insert into effect_queue (kind, id, n, partition, name, key)
      select w.kind, w.id, x.n, w.partition, x.name, x.key from ${source} order by place, x.n`,
  );
  const ended = collect((rows) => rows.ended).length > 0;
  const cancelled = collect((rows) => rows.cancelled);
  if (ended) {
    sql.write(
      "ends",
      `update effect f set done = true, error = null from (select x.* from ended x join w using (place) offset 0) x
      where f.kind = x.kind and f.id = x.id and f.n = x.n`,
    );
  }
  writeRows(
    sql,
    "cancelled",
    cancelled,
    {
      name: ["text", ({ name }) => name],
      input: ["text", ({ input }) => (input === undefined ? null : toJson(input))],
    },
    (source) =>
      `update effect f set done = true, error = 'cancelled'
      from (select place, w.kind, w.id, x.name, x.input from ${source} offset 0) x
      where f.kind = x.kind and f.id = x.id and f.name = x.name and not f.done
        and (x.input is null or f.input = x.input::jsonb)
        ${ended ? "and not exists (select 1 from ended d where d.place = x.place and d.n = f.n)" : ""}
      returning f.kind, f.id, f.n`,
  );
  if (!limited) return;
  if (ended) {
    sql.write(
      "ends_queued",
      `delete from effect_queue q using (select x.* from ended x join w using (place) offset 0) x
      where q.kind = x.kind and q.id = x.id and q.n = x.n`,
    );
  }
  if (cancelled.length > 0) {
    sql.write(
      "cancelled_queued",
      `delete from effect_queue q using cancelled c where q.kind = c.kind and q.id = c.id and q.n = c.n`,
    );
  }
}

function reminders(sql: StatementBuilder, collect: Collect): void {
  const set = collect((rows) =>
    [...rows.reminders].flatMap(([name, one]) => one === undefined ? [] : { name, ...one })
  );
  writeRows(sql, "remind", set, {
    name: ["text", ({ name }) => name],
    n: ["bigint", ({ n }) => n],
    at: ["float8", ({ at }) => at],
    event: ["text", ({ event }) => toJson(event)],
  }, (source) =>
    `insert into reminder as r (kind, id, name, n, partition, at, event)
      select w.kind, w.id, x.name, x.n, w.partition, to_timestamp(x.at / 1000.0), x.event::jsonb from ${source}
      on conflict (kind, id, name) do update set n = excluded.n, at = excluded.at, event = excluded.event`);
  const forgotten = collect((rows) => [...rows.reminders].flatMap(([name, one]) => one === undefined ? name : []));
  writeRows(
    sql,
    "forget",
    forgotten,
    { name: ["text", (name) => name] },
    (source) =>
      `delete from reminder r using (select w.kind, w.id, x.name from ${source} offset 0) x
      where r.kind = x.kind and r.id = x.id and r.name = x.name`,
  );
}

/** An input that failed stays, for the retry of its dead letter. */
function inputs(sql: StatementBuilder, collect: Collect): void {
  const read = collect((rows) => rows.inputs);
  const seq = { seq: ["bigint", ({ seq }: { readonly seq: number }) => seq] } as const;
  const failed = ([, { outcome }]: Placed<TurnRows["inputs"][number]>) => outcome === "failed";
  writeRows(
    sql,
    "inputs",
    read.filter((row) => !failed(row)),
    seq,
    (source) => `delete from input_log i using ${source} where i.seq = x.seq`,
  );
  writeRows(
    sql,
    "inputs_failed",
    read.filter(failed),
    seq,
    (source) => `update input_log i set read = true, outcome = 'failed' from ${source} where i.seq = x.seq`,
  );
}

function deadLetters(sql: StatementBuilder, collect: Collect): void {
  writeRows(sql, "dead", collect((rows) => rows.failed), {
    source: ["text", ({ from }) => from],
    cause: ["text", ({ cause }) => cause],
    event: ["text", ({ event }) => toJson(event)],
    error: ["text", ({ error }) => error.replaceAll("\0", "")],
  }, (source) =>
    `insert into dead_letter (kind, id, source, cause, event, error)
      select w.kind, w.id, x.source, x.cause, x.event::json, x.error from ${source}`);
}

/** Attributes without a value are deleted. */
function attributes(sql: StatementBuilder, collect: Collect): void {
  const rows = collect((rows) => rows.attributes);
  if (rows.length === 0) return;
  const isGone = ([, { text, number }]: Placed<TurnRows["attributes"][number]>) => text === null && number === null;
  const name = { name: ["text", ({ name }: TurnRows["attributes"][number]) => name] } as const;
  writeRows(sql, "attributes", rows.filter((row) => !isGone(row)), {
    ...name,
    text: ["text", ({ text }) => text],
    number: ["text", ({ number }) => number],
  }, (source) =>
    `insert into actor_attribute (kind, id, name, text, number)
      select w.kind, w.id, x.name, x.text, x.number::numeric from ${source}
      on conflict (kind, id, name) do update set text = excluded.text, number = excluded.number`);
  writeRows(
    sql,
    "attributes_gone",
    rows.filter(isGone),
    name,
    (source) =>
      `delete from actor_attribute a using (select w.kind, w.id, x.name from ${source} offset 0) x
      where a.kind = x.kind and a.id = x.id and a.name = x.name`,
  );
}
