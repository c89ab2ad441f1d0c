/**
 * The one SQL statement that writes the turns of several entities, in this order: lock the partition rows at their epochs;
 * leave alone every entity of which a command has a result already, or an effect or a reminder is used up already; of the
 * rest write the snapshot at its version; and with it, and only with it, everything else.
 *
 * Why in this order: without the row lock a write of a former owner was seen to commit after a takeover; with `on conflict do
 * nothing` instead of the anti-join an effect was seen to be applied twice; and a statement whose connection was lost may still
 * be running, which the wait at the actor's row and its version take care of.
 */
import { toJson } from "#src/base/json.ts";
import type { Folded } from "#src/runtime/fold.ts";
import type { EntityRef } from "#src/runtime/types.ts";

/** One entity's turn on its way into the database. */
export interface TurnWrite {
  readonly entity: EntityRef;
  readonly partition: number;
  readonly epoch: number;
  /** Version before the turn. */
  readonly was: number;
  readonly machineVersion: number;
  readonly at: number;
  readonly folded: Folded;
}

/** What the statement answers in its only row. Places are those in the list of turns, from 1. */
export interface Written {
  readonly written: number[];
  readonly owned: number[];
  readonly known: { place: number; command: string; result: unknown }[] | null;
  readonly gone: { place: number; effect: number | null; reminder: string | null; n: number | null }[] | null;
}

/** The statement for some turns: its text, which repeats for turns of the same make, and its parameters. */
export function turnStatement(turns: readonly TurnWrite[]): { text: string; parameters: unknown[] } {
  const parameters: unknown[] = [];
  const ctes: string[] = [];
  const bind = (value: unknown, type: string) => `$${parameters.push(value)}::${type}`;
  /** A relation out of one array a column. */
  const relation = (columns: readonly (readonly [name: string, type: string, values: readonly unknown[]])[]) =>
    `unnest(${columns.map(([, type, values]) => bind(values, `${type}[]`)).join(", ")}) as x(${
      columns.map(([name]) => name).join(", ")
    })`;
  /** Rows of all turns, each with the place of its turn. */
  const spread = <T>(pick: (turn: TurnWrite) => Iterable<T>): (readonly [place: number, row: T, turn: TurnWrite])[] =>
    turns.flatMap((turn, i) => Array.from(pick(turn), (row) => [i + 1, row, turn] as const));

  const epochs = new Map(turns.map((turn) => [`${turn.partition}:${turn.epoch}`, turn]));
  ctes.push(`e as materialized (select * from ${
    relation([
      ["place", "int", turns.map((_, i) => i + 1)],
      ["kind", "text", turns.map((turn) => turn.entity.kind)],
      ["id", "text", turns.map((turn) => turn.entity.id)],
      ["partition", "int", turns.map((turn) => turn.partition)],
      ["epoch", "bigint", turns.map((turn) => turn.epoch)],
      ["was", "bigint", turns.map((turn) => turn.was)],
      ["version", "bigint", turns.map((turn) => turn.folded.next.version)],
      ["input_seq", "bigint", turns.map((turn) => turn.folded.next.inputSeq)],
      ["snapshot", "text", turns.map((turn) => turn.folded.text ?? null)],
      ["machine_version", "int", turns.map((turn) => turn.machineVersion)],
      // A turn that only refuses leaves the actor's row alone.
      ["light", "int", turns.map(({ folded }) => Number(folded.text === undefined && folded.inputs.length === 0))],
    ])
  })`);
  ctes.push(`own as materialized (select p.id, p.epoch from partition p join ${
    relation([
      ["id", "int", [...epochs.values()].map((turn) => turn.partition)],
      ["epoch", "bigint", [...epochs.values()].map((turn) => turn.epoch)],
    ])
  } on p.id = x.id and p.epoch = x.epoch for key share of p)`);

  const spared: string[] = [];
  const commands = spread(({ folded }) => folded.results);
  if (commands.length > 0) {
    ctes.push(`c as materialized (select x.place, e.kind, e.id, x.command, x.result from ${
      relation([
        ["place", "int", commands.map(([place]) => place)],
        ["command", "text", commands.map(([, [id]]) => id)],
        ["result", "text", commands.map(([, [, result]]) => (result === undefined ? null : toJson(result)))],
      ])
    } join e using (place))`);
    ctes.push(`known as materialized (select c.place, c.command, r.result from c
      join command_result r on r.kind = c.kind and r.id = c.id and r.command = c.command)`);
    spared.push("known");
  }
  const ended = spread(({ folded }) => folded.ended);
  const fired = spread(({ folded }) => folded.fired);
  if (ended.length + fired.length > 0) {
    ctes.push(
      `ended as materialized (select x.place, e.kind, e.id, x.n from ${
        relation([[
          "place",
          "int",
          ended.map(([place]) => place),
        ], ["n", "bigint", ended.map(([, n]) => n)]])
      } join e using (place))`,
    );
    ctes.push(`fired as materialized (select x.place, e.kind, e.id, x.name, x.n from ${
      relation([
        ["place", "int", fired.map(([place]) => place)],
        ["name", "text", fired.map(([, { name }]) => name)],
        ["n", "bigint", fired.map(([, { n }]) => n)],
      ])
    } join e using (place))`);
    ctes.push(`gone as materialized (
      select place, n as effect, null::text as reminder, null::bigint as n from ended where not exists
        (select 1 from effect f where f.kind = ended.kind and f.id = ended.id and f.n = ended.n and not f.done)
      union all select place, null, name, n from fired where not exists
        (select 1 from reminder r where r.kind = fired.kind and r.id = fired.id and r.name = fired.name and r.n = fired.n))`);
    spared.push("gone");
  }
  ctes.push(
    `good as materialized (select e.* from e join own on own.id = e.partition and own.epoch = e.epoch${
      spared.length === 0 ? "" : " where "
    }${spared.map((name) => `not exists (select 1 from ${name} s where s.place = e.place)`).join(" and ")})`,
  );

  ctes.push(`changed as (update actor a set version = g.version, input_seq = g.input_seq, changed = now(),
      snapshot = coalesce(g.snapshot::jsonb, a.snapshot),
      machine_version = case when g.snapshot is null then a.machine_version else g.machine_version end
    from good g where g.was > 0 and g.light = 0 and a.kind = g.kind and a.id = g.id and a.version = g.was
    returning g.place)`);
  ctes.push(`created as (insert into actor (kind, id, partition, version, input_seq, snapshot, machine_version)
    select kind, id, partition, version, input_seq, snapshot::jsonb, machine_version from good where was = 0 and version > 0
    on conflict do nothing returning kind, id)`);
  ctes.push(
    `w as materialized (select place, g.kind, g.id, g.partition from good g where place in (select place from changed)
    or (kind, id) in (select kind, id from created) or version = 0 or light = 1)`,
  );

  if (commands.length > 0) {
    ctes.push(`results as (insert into command_result (kind, id, command, result)
      select c.kind, c.id, c.command, c.result::jsonb from c join w using (place))`);
  }
  const answers = spread(({ folded }) => folded.answers);
  if (answers.length > 0) {
    ctes.push(`answers as (update command_result r set result = x.result::jsonb from ${
      relation([
        ["place", "int", answers.map(([place]) => place)],
        ["command", "text", answers.map(([, [id]]) => id)],
        ["result", "text", answers.map(([, [, result]]) => toJson(result))],
      ])
    } join w using (place) where r.kind = w.kind and r.id = w.id and r.command = x.command and r.result is null)`);
  }
  const events = spread(({ folded }) =>
    folded.transitions.map((transition, i) => [transition, folded.bodies[i]] as const)
  );
  if (events.length > 0) {
    ctes.push(`log as (insert into outbox (kind, id, partition, version, from_state, to_state, type, cause, body, at)
      select w.kind, w.id, w.partition, x.version, x.from_state, x.to_state, x.type, x.cause, x.body::jsonb,
        to_timestamp(x.at / 1000.0) from ${
      relation([
        ["place", "int", events.map(([place]) => place)],
        ["version", "bigint", events.map(([, [event]]) => event.version)],
        ["from_state", "text", events.map(([, [event]]) => event.from)],
        ["to_state", "text", events.map(([, [event]]) => event.to)],
        ["type", "text", events.map(([, [event]]) => event.type)],
        ["cause", "text", events.map(([, [event]]) => event.cause)],
        ["body", "text", events.map(([, [, body]]) => body)],
        ["at", "float8", events.map(([, [event]]) => event.at)],
      ])
    } join w using (place))`);
  }
  const effects = spread(({ folded }) => folded.effects);
  if (effects.length > 0) {
    ctes.push(`effects as (insert into effect (kind, id, n, partition, name, input, next_attempt)
      select w.kind, w.id, x.n, w.partition, x.name, x.input::jsonb, to_timestamp(x.at / 1000.0) from ${
      relation([
        ["place", "int", effects.map(([place]) => place)],
        ["n", "bigint", effects.map(([, { n }]) => n)],
        ["name", "text", effects.map(([, { name }]) => name)],
        ["input", "text", effects.map(([, { input }]) => toJson(input))],
        ["at", "float8", effects.map(([, , turn]) => turn.at)],
      ])
    } join w using (place))`);
  }
  if (ended.length > 0) {
    ctes.push(`ends as (update effect f set done = true, error = null from ended x join w using (place)
      where f.kind = w.kind and f.id = w.id and f.n = x.n)`);
  }
  const reminders = spread(({ folded }) => folded.reminders);
  const set = reminders.filter(([, [, reminder]]) => reminder !== undefined);
  if (set.length > 0) {
    ctes.push(`remind as (insert into reminder as r (kind, id, name, n, partition, at, event)
      select w.kind, w.id, x.name, x.n, w.partition, to_timestamp(x.at / 1000.0), x.event::jsonb from ${
      relation([
        ["place", "int", set.map(([place]) => place)],
        ["name", "text", set.map(([, [name]]) => name)],
        ["n", "bigint", set.map(([, [, reminder]]) => reminder!.n)],
        ["at", "float8", set.map(([, [, reminder]]) => reminder!.at)],
        ["event", "text", set.map(([, [, reminder]]) => toJson(reminder!.event))],
      ])
    } join w using (place)
      on conflict (kind, id, name) do update set n = excluded.n, at = excluded.at, event = excluded.event)`);
  }
  const forgotten = reminders.filter(([, [, reminder]]) => reminder === undefined);
  if (forgotten.length > 0) {
    ctes.push(`forget as (delete from reminder r using ${
      relation([
        ["place", "int", forgotten.map(([place]) => place)],
        ["name", "text", forgotten.map(([, [name]]) => name)],
      ])
    } join w using (place) where r.kind = w.kind and r.id = w.id and r.name = x.name)`);
  }
  const inputs = spread(({ folded }) => folded.inputs);
  if (inputs.length > 0) {
    ctes.push(`inputs as (update input_log i set read = true, outcome = x.outcome from ${
      relation([
        ["place", "int", inputs.map(([place]) => place)],
        ["seq", "bigint", inputs.map(([, { seq }]) => seq)],
        ["outcome", "text", inputs.map(([, { outcome }]) => outcome)],
      ])
    } join w using (place) where i.seq = x.seq)`);
  }
  const dead = spread(({ folded }) => folded.dead);
  if (dead.length > 0) {
    ctes.push(`dead as (insert into dead_letter (kind, id, cause, event, error)
      select w.kind, w.id, x.cause, x.event::json, x.error from ${
      relation([
        ["place", "int", dead.map(([place]) => place)],
        ["cause", "text", dead.map(([, { cause }]) => cause)],
        ["event", "text", dead.map(([, { event }]) => toJson(event))],
        ["error", "text", dead.map(([, { error }]) => error.replaceAll("\0", ""))],
      ])
    } join w using (place))`);
  }
  ownTables(spread(({ folded }) => folded.rows), relation, ctes);

  const list = (name: string) => spared.includes(name) ? `(select json_agg(s) from ${name} s)` : "null::json";
  const text = `with ${ctes.join(",\n")}
select (select coalesce(array_agg(place), '{}') from w) as written, (select coalesce(array_agg(id), '{}') from own) as owned,
  ${list("known")} as known, ${list("gone")} as gone`;
  return { text, parameters };
}

type Row = readonly [place: number, row: Folded["rows"][number], turn: TurnWrite];
type Relation = (columns: readonly (readonly [name: string, type: string, values: readonly unknown[]])[]) => string;

/** Rows of the kinds' own tables, one clause for each table and set of columns; types are those of the table. */
function ownTables(rows: readonly Row[], relation: Relation, ctes: string[]): void {
  const groups = new Map<string, Row[]>();
  for (const entry of rows) {
    const { table, values, remove, key } = entry[1];
    const columns = remove ? [...key] : Object.keys(values).filter((name) => values[name] !== undefined).sort();
    const group = `${remove} ${table} ${columns.join("\0")}`;
    const list = groups.get(group);
    if (list) list.push(entry);
    else groups.set(group, [entry]);
  }
  for (const name of [...groups.keys()].sort()) {
    const group = groups.get(name)!;
    const { table, key, remove, values } = group[0]![1];
    const columns = remove ? [...key] : Object.keys(values).filter((column) => values[column] !== undefined).sort();
    const source = `${
      relation([
        ["place", "int", group.map(([place]) => place)],
        ["body", "text", group.map(([, row]) => toJson(row.values))],
      ])
    } join w using (place) cross join lateral jsonb_populate_record(null::${quote(table)}, x.body::jsonb) v`;
    const clause = `own_${ctes.length}`;
    if (remove) {
      ctes.push(`${clause} as (delete from ${quote(table)} t using ${source}
        where ${columns.map((column) => `t.${quote(column)} = v.${quote(column)}`).join(" and ")})`);
      continue;
    }
    const others = columns.filter((column) => !key.includes(column));
    const update = others.map((column) => `${quote(column)} = excluded.${quote(column)}`).join(", ");
    ctes.push(`${clause} as (insert into ${quote(table)} (${columns.map(quote).join(", ")})
      select ${columns.map((column) => `v.${quote(column)}`).join(", ")} from ${source}
      on conflict (${key.map(quote).join(", ")}) do ${others.length === 0 ? "nothing" : `update set ${update}`})`);
  }
}

/** An SQL name, quoted. */
function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
