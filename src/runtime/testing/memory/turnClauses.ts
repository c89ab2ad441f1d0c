/**
 * The clauses of the statement of turns (`turns/statement.ts`), each by its text. `{rows}` stands for the relation `x` of
 * its parameters, whose columns are the members of its rows. Clauses with `read` run when the statement begins, those
 * with `write` when it ends, all in the order of the statement.
 */
import { isObject, type Json, toJson } from "#src/base/json.ts";
import type { MemoryDatabase } from "#src/runtime/testing/memory/database.ts";
import type { Rows } from "#src/runtime/testing/memory/table.ts";
import { json, jsonb } from "#src/runtime/testing/memory/values.ts";

/** A row of a clause's parameters: the columns of all clauses, of which it has those that its clause names. */
export interface Row {
  readonly place: number;
  readonly kind: string;
  readonly id: string;
  readonly version: number;
  readonly machine_version: number;
  readonly command: string;
  readonly result: string | null;
  readonly n: number;
  readonly name: string;
  readonly at: number;
  readonly event: string;
  readonly cause: string;
  readonly body: string;
  readonly from_state: string;
  readonly to_state: string;
  readonly type: string;
  readonly input: string;
  readonly key: string;
  readonly text: string | null;
  readonly number: string | null;
  readonly seq: number;
  readonly source: string;
  readonly error: string;
}

/** A row of `e`: a turn. */
export interface TurnRow extends Row {
  readonly partition: number;
  readonly epoch: number;
  readonly was: number;
  readonly seen: number;
  readonly input_seq: number;
  /** Missing when no event was applied. */
  readonly snapshot: string | null;
  readonly state: string | null;
  readonly light: number;
}

/** What the clauses of one statement share: its relations by their names. */
export interface TurnStatement {
  readonly db: MemoryDatabase;
  /** When it began. */
  readonly at: number;
  readonly e: Map<number, TurnRow>;
  own: readonly { readonly id: number; readonly epoch: number }[];
  c: readonly Row[];
  ended: readonly Row[];
  fired: readonly Row[];
  readonly known: { place: number; command: string; result: Json }[];
  readonly gone: { place: number; effect: number | null; reminder: string | null; n: number | null }[];
  good: readonly TurnRow[];
  /** Places of turns that apply nothing, and may be written by the rows as they were when it began. */
  readonly refused: Set<number>;
  readonly cancelled: { readonly kind: string; readonly id: string; readonly n: number }[];
  /** Places that are changed or created. */
  readonly stored: Set<number>;
  readonly w: Map<number, TurnRow>;
  log: readonly Rows["outbox_unpublished"][];
}

/** A clause. `{rows}` in its text are rows of `T`. */
export interface Clause {
  readonly sql: string;
  read?(statement: TurnStatement, rows: readonly TurnRow[]): void;
  write?(statement: TurnStatement, rows: readonly TurnRow[]): void;
}

/** The rows whose turns are written, with the turn. */
function joined({ w }: TurnStatement, rows: readonly Row[]): { x: Row; w: TurnRow }[] {
  return rows.flatMap((x) => {
    const turn = w.get(x.place);
    return turn === undefined ? [] : [{ x, w: turn }];
  });
}

/** Gives the rows the entities of their turns. */
function ofEntities({ e }: TurnStatement, rows: readonly Row[]): Row[] {
  return rows.flatMap((x) => {
    const turn = e.get(x.place);
    return turn === undefined ? [] : [{ ...x, kind: turn.kind, id: turn.id }];
  });
}

const readGood: NonNullable<Clause["read"]> = (statement) => {
  const owned = new Set(statement.own.map(({ id, epoch }) => `${id} ${epoch}`));
  const skipped = new Set([...statement.known, ...statement.gone].map(({ place }) => place));
  statement.good = [...statement.e.values()]
    .filter(({ partition, epoch, place }) => owned.has(`${partition} ${epoch}`) && !skipped.has(place));
  const { tables: { actor } } = statement.db;
  for (const { place, kind, id, version, light } of statement.good) {
    const row = actor.get(kind, id);
    const isFree = row === undefined || !row.paused && light === 1;
    if ((version === 0 || light === 1) && isFree) statement.refused.add(place);
  }
};

const GOOD = "select e.* from e join own on own.id = e.partition and own.epoch = e.epoch";
const without = (name: string) => `not exists (select 1 from ${name} s where s.place = e.place)`;

const CANCELLED = `update effect f set done = true, error = 'cancelled' from {rows} join w using (place)
  where f.kind = w.kind and f.id = w.id and f.name = x.name and not f.done
    and (x.input is null or f.input = x.input::jsonb)`;

/** Cancels the open effects of a name, all or those of an input, except those that the turn ends. */
const cancel: NonNullable<Clause["write"]> = (statement, rows) => {
  const { db: { tables: { effect } }, ended } = statement;
  for (const { x, w } of joined(statement, rows)) {
    const input = x.input as string | null;
    const isMeant = ({ n, name, done, input: given }: Rows["effect"]) =>
      name === x.name && !done && (input === null || canonical(given) === canonical(jsonb(input))) &&
      !ended.some((one) => one.place === w.place && one.n === n);
    for (const one of effect.all()) {
      if (one.kind !== w.kind || one.id !== w.id || !isMeant(one)) continue;
      effect.put({ ...one, done: true, error: "cancelled" });
      statement.cancelled.push({ kind: one.kind, id: one.id, n: one.n });
    }
  }
};

/** A value as text in which equal values of `jsonb` are equal. */
function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(canonical)}]`;
  if (!isObject(value)) return toJson(value);
  return `{${Object.keys(value).sort().map((name) => `${toJson(name)}:${canonical(value[name] ?? null)}`)}}`;
}

export const CLAUSES: { readonly [name: string]: Clause | readonly Clause[] } = {
  e: {
    sql: "select * from {rows}",
    read: ({ e }, rows) => {
      for (const row of rows) e.set(row.place, row);
    },
  },
  own: {
    sql: "select p.id, p.epoch from partition p join {rows} on p.id = x.id and p.epoch = x.epoch for key share of p",
    read: (statement, rows) => {
      const { tables, locks } = statement.db;
      statement.own = rows.map(({ id, epoch }) => ({ id: Number(id), epoch }))
        .filter(({ id, epoch }) => tables.partition.get(id)?.epoch === epoch);
      locks.share(statement.own.map(({ id }) => id));
    },
  },
  c: {
    sql: "select x.place, e.kind, e.id, x.command, x.result from {rows} join e using (place)",
    read: (statement, rows) => void (statement.c = ofEntities(statement, rows)),
  },
  known: {
    sql: `select c.place, c.command, r.result from c
      join command_result r on r.kind = c.kind and r.id = c.id and r.command = c.command`,
    read: ({ db, c, known }) => {
      for (const { place, kind, id, command } of c) {
        const row = db.tables.command_result.get(kind, id, command);
        if (row !== undefined) known.push({ place, command, result: row.result });
      }
    },
  },
  ended: {
    sql: "select x.place, e.kind, e.id, x.n from {rows} join e using (place)",
    read: (statement, rows) => void (statement.ended = ofEntities(statement, rows)),
  },
  fired: {
    sql: "select x.place, e.kind, e.id, x.name, x.n from {rows} join e using (place)",
    read: (statement, rows) => void (statement.fired = ofEntities(statement, rows)),
  },
  gone: {
    sql: `select place, n as effect, null::text as reminder, null::bigint as n from ended where
        (select f.done from effect f where f.kind = ended.kind and f.id = ended.id and f.n = ended.n) is not false
      union all select place, null, name, n from fired where n is distinct from
        (select r.n from reminder r where r.kind = fired.kind and r.id = fired.id and r.name = fired.name)`,
    read: ({ db: { tables }, ended, fired, gone }) => {
      for (const { place, kind, id, n } of ended) {
        const isOpen = tables.effect.get(kind, id, n)?.done === false;
        if (!isOpen) gone.push({ place, effect: n, reminder: null, n: null });
      }
      for (const { place, kind, id, name, n } of fired) {
        const isSet = tables.reminder.get(kind, id, name)?.n === n;
        if (!isSet) gone.push({ place, effect: null, reminder: name, n });
      }
    },
  },
  good: [
    { sql: GOOD, read: readGood },
    { sql: `${GOOD} where ${without("known")}`, read: readGood },
    { sql: `${GOOD} where ${without("gone")}`, read: readGood },
    { sql: `${GOOD} where ${without("known")} and ${without("gone")}`, read: readGood },
  ],
  changed: {
    sql: `update actor a set version = g.version, input_seq = g.input_seq, changed = now(),
        snapshot = coalesce(g.snapshot::jsonb, a.snapshot), state = coalesce(g.state, a.state),
        since = case when coalesce(g.state, a.state) = a.state then a.since else now() end,
        machine_version = case when g.snapshot is null then a.machine_version else g.machine_version end
      from good g where g.was > 0 and g.light = 0 and a.kind = g.kind and a.id = g.id
        and a.version = g.was and a.input_seq = g.seen and not a.paused
      returning g.place`,
    write: ({ db, at, good, stored }) => {
      for (const g of good) {
        if (g.was === 0 || g.light !== 0) continue;
        const changed = db.tables.actor.change(
          [g.kind, g.id],
          (a) => a.version === g.was && a.input_seq === g.seen && !a.paused,
          (a) => ({
            version: g.version,
            input_seq: g.input_seq,
            changed: at,
            snapshot: g.snapshot === null ? a.snapshot : jsonb(g.snapshot),
            state: g.state ?? a.state,
            since: (g.state ?? a.state) === a.state ? a.since : at,
            machine_version: g.snapshot === null ? a.machine_version : g.machine_version,
          }),
        );
        if (changed !== undefined) stored.add(g.place);
      }
    },
  },
  created: {
    sql: `insert into actor (kind, id, partition, version, input_seq, snapshot, state, machine_version)
      select kind, id, partition, version, input_seq, snapshot::jsonb, state, machine_version from good where was = 0 and version > 0
      on conflict do nothing returning kind, id`,
    write: ({ db, at, good, stored }) => {
      for (const { kind, id, place, partition, was, version, input_seq, snapshot, state, machine_version } of good) {
        if (was > 0 || version === 0) continue;
        const row = { kind, id, partition, version, input_seq, machine_version, paused: false, changed: at, since: at };
        const stateful = { snapshot: jsonb(snapshot ?? "null"), state: state ?? "" };
        if (db.tables.actor.insertNew({ ...row, ...stateful })) stored.add(place);
      }
    },
  },
  w: {
    sql: `select place, kind, id, partition from good where place in (select place from changed)
      or (kind, id) in (select kind, id from created) or (version = 0 or light = 1) and not exists
        (select 1 from actor a where a.kind = good.kind and a.id = good.id and (a.paused or good.light = 0))`,
    write: ({ good, stored, refused, w }) => {
      for (const turn of good) if (stored.has(turn.place) || refused.has(turn.place)) w.set(turn.place, turn);
    },
  },
  results: {
    sql: `insert into command_result (kind, id, command, result)
        select c.kind, c.id, c.command, c.result::jsonb from c join w using (place)`,
    write: (statement) => {
      for (const { x } of joined(statement, statement.c)) {
        const result: Json = x.result === null ? null : jsonb(x.result);
        statement.db.tables.command_result.insert({
          kind: x.kind,
          id: x.id,
          command: x.command,
          result,
          created: statement.at,
        });
      }
    },
  },
  answers: {
    sql: `update command_result r set result = x.result::jsonb
      from (select w.kind, w.id, x.command, x.result from {rows} join w using (place) offset 0) x
      where r.kind = x.kind and r.id = x.id and r.command = x.command and r.result is null`,
    write: (statement, rows) => {
      for (const { x, w } of joined(statement, rows)) {
        statement.db.tables.command_result.change(
          [w.kind, w.id, x.command],
          ({ result }) => result === null,
          () => ({ result: jsonb(x.result ?? "null") }),
        );
      }
    },
  },
  log: {
    sql: `insert into outbox (kind, id, partition, version, from_state, to_state, type, cause, body, at, published)
      select w.kind, w.id, w.partition, x.version, x.from_state, x.to_state, x.type, x.cause, x.body::jsonb,
        to_timestamp(x.at / 1000.0), true from {rows} join w using (place) returning kind, id, version, partition`,
    write: (statement, rows) => {
      const { db, at: created } = statement;
      const tx = db.next("transaction");
      statement.log = joined(statement, rows).map(({ x, w: { kind, id, partition } }) => {
        const { version, from_state, to_state, type, cause, at } = x;
        const what = { from_state, to_state, type, cause, body: jsonb(x.body), at };
        db.tables.outbox.insert({
          kind,
          id,
          partition,
          version,
          ...what,
          created,
          tx,
          published: true,
          generation: "",
        });
        return { kind, id, version, partition, created };
      });
    },
  },
  queued: {
    sql: "insert into outbox_unpublished (kind, id, version, partition) select kind, id, version, partition from log",
    write: ({ db, log }) => {
      for (const row of log) db.tables.outbox_unpublished.insert(row);
    },
  },
  checkpoints: {
    sql: `insert into actor_snapshot (kind, id, version, machine_version, snapshot)
      select g.kind, g.id, g.version, g.machine_version, g.snapshot::jsonb from good g join w using (place)
      where g.version / 64 > g.was / 64 on conflict do nothing`,
    write: (statement) => {
      for (const { w: { kind, id, version, was, machine_version, snapshot } } of joined(statement, statement.good)) {
        if (Math.floor(version / 64) <= Math.floor(was / 64)) continue;
        const row = { kind, id, version, machine_version, snapshot: jsonb(snapshot ?? "null") };
        statement.db.tables.actor_snapshot.insertNew(row);
      }
    },
  },
  effects: {
    sql: `insert into effect (kind, id, n, partition, name, input, next_attempt)
      select w.kind, w.id, x.n, w.partition, x.name, x.input::jsonb, now() from {rows} join w using (place)`,
    write: (statement, rows) => {
      for (const { x: { n, name, input }, w: { kind, id, partition } } of joined(statement, rows)) {
        const state = { attempts: 0, next_attempt: statement.at, error: null, done: false, queued: false };
        statement.db.tables.effect.insert({ kind, id, n, partition, name, input: jsonb(input), ...state });
      }
    },
  },
  effects_queued: {
    sql: `insert into effect (kind, id, n, partition, name, input, next_attempt, queued)
      select w.kind, w.id, x.n, w.partition, x.name, x.input::jsonb, now(), true from {rows} join w using (place)`,
    write: (statement, rows) => {
      for (const { x: { n, name, input }, w: { kind, id, partition } } of joined(statement, rows)) {
        const state = { attempts: 0, next_attempt: statement.at, error: null, done: false, queued: true };
        statement.db.tables.effect.insert({ kind, id, n, partition, name, input: jsonb(input), ...state });
      }
    },
  },
  queue: {
    sql: `insert into effect_queue (kind, id, n, partition, name, key)
      select w.kind, w.id, x.n, w.partition, x.name, x.key from {rows} join w using (place) order by place, x.n`,
    write: (statement, rows) => {
      const { db, at: created } = statement;
      for (const { x: { n, name, key }, w: { kind, id, partition } } of joined(statement, rows)) {
        const place = { seq: db.next("effect_queue"), epoch: null, started: null, created };
        db.tables.effect_queue.insert({ kind, id, n, partition, name, key, ...place });
      }
    },
  },
  ends: {
    sql: `update effect f set done = true, error = null from (select x.* from ended x join w using (place) offset 0) x
      where f.kind = x.kind and f.id = x.id and f.n = x.n`,
    write: (statement) => {
      for (const { x, w } of joined(statement, statement.ended)) {
        statement.db.tables.effect.change([w.kind, w.id, x.n], () => true, () => ({ done: true, error: null }));
      }
    },
  },
  cancelled: [
    { sql: `${CANCELLED} returning f.kind, f.id, f.n`, write: cancel },
    {
      sql: `${CANCELLED} and not exists (select 1 from ended d where d.place = w.place and d.n = f.n)
        returning f.kind, f.id, f.n`,
      write: cancel,
    },
  ],
  ends_queued: {
    sql: `delete from effect_queue q using (select x.* from ended x join w using (place) offset 0) x
      where q.kind = x.kind and q.id = x.id and q.n = x.n`,
    write: (statement) => {
      const { effect_queue } = statement.db.tables;
      for (const { x, w } of joined(statement, statement.ended)) effect_queue.delete(w.kind, w.id, x.n);
    },
  },
  cancelled_queued: {
    sql: "delete from effect_queue q using cancelled c where q.kind = c.kind and q.id = c.id and q.n = c.n",
    write: ({ db, cancelled }) => {
      for (const { kind, id, n } of cancelled) db.tables.effect_queue.delete(kind, id, n);
    },
  },
  attributes: {
    sql: `insert into actor_attribute (kind, id, name, text, number)
      select w.kind, w.id, x.name, x.text, x.number::numeric from {rows} join w using (place)
      on conflict (kind, id, name) do update set text = excluded.text, number = excluded.number`,
    write: (statement, rows) => {
      for (const { x: { name, text, number }, w: { kind, id } } of joined(statement, rows)) {
        statement.db.tables.actor_attribute.put({ kind, id, name, text, number });
      }
    },
  },
  attributes_gone: {
    sql: `delete from actor_attribute a using {rows} join w using (place)
      where a.kind = w.kind and a.id = w.id and a.name = x.name`,
    write: (statement, rows) => {
      for (const { x, w } of joined(statement, rows)) {
        statement.db.tables.actor_attribute.delete(w.kind, w.id, x.name);
      }
    },
  },
  remind: {
    sql: `insert into reminder as r (kind, id, name, n, partition, at, event)
      select w.kind, w.id, x.name, x.n, w.partition, to_timestamp(x.at / 1000.0), x.event::jsonb from {rows} join w using (place)
      on conflict (kind, id, name) do update set n = excluded.n, at = excluded.at, event = excluded.event`,
    write: (statement, rows) => {
      const { reminder } = statement.db.tables;
      for (const { x: { name, n, at, event }, w: { kind, id, partition } } of joined(statement, rows)) {
        const row = { kind, id, name, n, at, event: jsonb(event) };
        reminder.put({ ...row, partition: reminder.get(kind, id, name)?.partition ?? partition });
      }
    },
  },
  forget: {
    sql: `delete from reminder r using (select w.kind, w.id, x.name from {rows} join w using (place) offset 0) x
      where r.kind = x.kind and r.id = x.id and r.name = x.name`,
    write: (statement, rows) => {
      for (const { x, w } of joined(statement, rows)) statement.db.tables.reminder.delete(w.kind, w.id, x.name);
    },
  },
  inputs: {
    sql: "delete from input_log i using {rows} join w using (place) where i.seq = x.seq",
    write: (statement, rows) => {
      for (const { x } of joined(statement, rows)) statement.db.tables.input_log.delete(x.seq);
    },
  },
  inputs_failed: {
    sql: "update input_log i set read = true, outcome = 'failed' from {rows} join w using (place) where i.seq = x.seq",
    write: (statement, rows) => {
      for (const { x } of joined(statement, rows)) {
        statement.db.tables.input_log.change([x.seq], () => true, () => ({ read: true, outcome: "failed" }));
      }
    },
  },
  dead: {
    sql: `insert into dead_letter (kind, id, source, cause, event, error)
      select w.kind, w.id, x.source, x.cause, x.event::json, x.error from {rows} join w using (place)`,
    write: (statement, rows) => {
      const { db, at: created } = statement;
      for (const { x: { source, cause, event, error }, w: { kind, id } } of joined(statement, rows)) {
        const row = { kind, id, source, cause, event: json(event), error, created };
        db.tables.dead_letter.insert({ n: db.next("dead_letter"), ...row });
      }
    },
  },
};

const OWN = `(?<source>\\{rows\\}) join w using \\(place\\) cross join lateral ` +
  `jsonb_populate_record\\(null::"(?<type>\\w+)", x\\.body::jsonb\\) v`;
const PUT = new RegExp(
  `^insert into "(?<table>\\w+)" \\([^)]*\\) select [^()]* from ${OWN} on conflict \\((?<key>[^)]*)\\) do ` +
    `(?:nothing|update set .*)$`,
);
const REMOVE = new RegExp(`^delete from "(?<table>\\w+)" t using ${OWN} where .*$`);

/** A clause that writes an own table (`turns/ownRows.ts`); `undefined` when the text is none. */
export function ownClause(sql: string): Clause | undefined {
  const put = PUT.exec(sql)?.groups;
  const table = put?.table ?? REMOVE.exec(sql)?.groups?.table;
  if (table === undefined) return undefined;
  const key = put?.key?.split(", ").map((column) => column.slice(1, -1));
  return {
    sql,
    write: (statement, rows) => {
      for (const { x } of joined(statement, rows)) {
        const values = jsonb(x.body) as { readonly [column: string]: Json };
        const columns = key ?? Object.keys(values);
        const name = JSON.stringify([...columns].sort().map((column) => String(values[column])));
        statement.db.changeOwn(table, name, (row) => put === undefined ? undefined : { ...row, ...values });
      }
    },
  };
}
