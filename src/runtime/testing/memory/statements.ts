/** The statements of the runtime besides that of turns, each by its text, with white space as single spaces. */
import { isObject, type Json, toJson } from "#src/base/json.ts";
import type { MemoryDatabase } from "#src/runtime/testing/memory/database.ts";
import { rowKey } from "#src/runtime/testing/memory/locks.ts";
import { DatabaseError, type Rows, type Tables } from "#src/runtime/testing/memory/table.ts";
import { date, flat, jsonb, text } from "#src/runtime/testing/memory/values.ts";

/** A parameter of a statement. The text of the statement decides its type. */
type Parameter = string & number & boolean & null & Date & readonly (string & number)[];

/** A statement: what it does at a moment, `at` being when it began. */
export interface Statement {
  run(db: MemoryDatabase, parameters: readonly Parameter[], at: number): readonly object[];
  /** Whether a row that it changes is locked. */
  waits?(db: MemoryDatabase, parameters: readonly Parameter[]): boolean;
}

const big = (n: number): bigint => BigInt(n);
const milliseconds = (interval: string): number => Number(interval.replace(/ ms$/, ""));
const isPaused = (db: MemoryDatabase, { kind, id }: { readonly kind: string; readonly id: string }) =>
  db.tables.actor.get(kind, id)?.paused === true;
const reminderRow = ({ kind, id, name, n, at, event }: Rows["reminder"]) => ({
  kind,
  id,
  name,
  n: big(n),
  at: date(at),
  event,
});
const unread = (db: MemoryDatabase, kind: string, id: string, partition: number) =>
  db.tables.input_log.all().filter((row) =>
    !row.read && row.partition === partition && row.kind === kind && row.id === id
  );

/** Rows of an order of several columns. */
function sorted<Row extends object>(rows: readonly Row[], ...columns: readonly (keyof Row)[]): Row[] {
  const compare = (a: Row, b: Row) => {
    const column = columns.find((name) => a[name] !== b[name]);
    return column === undefined ? 0 : a[column] < b[column] ? -1 : 1;
  };
  return [...rows].sort(compare);
}

/** The unpublished transitions that pass, as the publisher reads them. */
function unpublished(
  { tables }: MemoryDatabase,
  passes: (row: Rows["outbox_unpublished"]) => boolean,
  limit: number,
): object[] {
  const marks = [...tables.outbox_unpublished.all(), ...tables.outbox.all().filter(({ published }) => !published)];
  const unique = new Map(marks.filter(passes).map((row) => [`${row.kind}\0${row.id}\0${row.version}`, row]));
  return sorted([...unique.values()], "partition", "kind", "id", "version").slice(0, limit)
    .flatMap(({ kind, id, version }) => {
      const row = tables.outbox.get(kind, id, version);
      if (row === undefined) return [];
      const { from_state, to_state, type, cause, at, body, generation } = row;
      return [{ kind, id, version: big(version), from_state, to_state, type, cause, at: date(at), body, generation }];
    });
}

/** As `outdatedQuery` of `placement/leaseRows.ts`. */
const OUTDATED = (first: string, second: string) =>
  `(${first} is null or exists (select 1 from kind_version v where (${second}->>v.kind)::int < v.version))`;

function isOutdated({ kind_version }: Tables, versions: Json): boolean {
  return !isObject(versions) ||
    kind_version.all().some(({ kind, version }) => Number(versions[kind] ?? version) < version);
}

const UNPUBLISHED = (condition: (table: "u" | "o", first: number) => string, each: number) => {
  const order = (table: string) => `order by ${table}.partition, ${table}.kind, ${table}.id, ${table}.version`;
  return `select o.kind, o.id, o.version, o.from_state, o.to_state, o.type, o.cause, o.at, o.body, o.generation from (
    (select partition, kind, id, version from outbox_unpublished u where ${condition("u", 1)} ${order("u")}
      limit $${each + 1}) union (select partition, kind, id, version from outbox o where not published and
      ${condition("o", each + 2)} ${order("o")} limit $${2 * each + 2})) u
    join outbox o using (kind, id, version) ${order("u")} limit $${2 * each + 3}`;
};

const STATEMENTS: { readonly [text: string]: Statement } = {
  // store/clock.ts
  "select (extract(epoch from clock_timestamp()) * 1000)::float8 as now": { run: (db) => [{ now: db.now() }] },

  // placement/partitions.ts
  "select pg_advisory_xact_lock($1)": { run: () => [{}] },
  "select count(*)::int as count from partition": { run: ({ tables }) => [{ count: tables.partition.all().length }] },
  "insert into partition (id) select generate_series(0, $1::int)": {
    run: ({ tables }, [last = 0]) => {
      for (let id = 0; id <= Number(last); id++) {
        tables.partition.insert({ id, epoch: 0, checked: 0, owner: null, expires: -Infinity, wanted: null });
      }
      return [];
    },
  },

  // placement/owners.ts
  "select owner from partition order by id": {
    run: ({ tables }) => sorted(tables.partition.all(), "id").map(({ owner }) => ({ owner })),
  },

  // placement/failureDetector.ts
  "update worker set suspect = now() where id = $1 and suspect is null and not draining returning 1": {
    run: ({ tables }, [id], at) =>
      tables.worker.change([text(id)], (row) => row.suspect === null && !row.draining, () => ({ suspect: at }))
        ? [{ "?column?": 1 }]
        : [],
  },

  // placement/leaseRows.ts
  [
    `with me as (insert into worker (id, seen, kinds) values ($1, now(), $2::text::jsonb)
      on conflict (id) do update set seen = excluded.seen, kinds = excluded.kinds
      returning suspect is not null as suspect),
    kept as (update partition p set expires = now() + $3::interval
      from unnest($4::int[], $5::bigint[]) as x(id, epoch)
      where p.id = x.id and p.epoch = x.epoch and p.owner = $6 returning p.id, p.wanted),
    others as (select id as worker, suspect is not null as suspect,
        (select count(*)::int from partition p where p.owner = w.id) as partitions,
        ${OUTDATED("w.kinds", "w.kinds")} as outdated
      from worker w where seen > now() - $7::interval and id <> $8 and not draining)
    select (select suspect from me) as suspect, ${OUTDATED("$9::text::jsonb", "$10::text::jsonb")} as outdated,
      (select json_agg(kept) from kept) as kept, (select json_agg(others) from others) as others,
      (select count(*)::int from partition where owner = $11) as mine,
      (select count(*)::int from partition where wanted = $12 and owner is distinct from $13) as called,
      (select (extract(epoch from min(expires) - now()) * 1000)::float8 from partition
        where owner <> $14 and expires >= now()) as free_in`
  ]: {
    run: ({ tables }, [worker = "", kinds = "", ttl = "", ids = [], epochs = []], at) => {
      const partitions = tables.partition.all();
      const others = tables.worker.all()
        .filter(({ id, seen, draining }) => seen > at - milliseconds(ttl) && id !== worker && !draining)
        .map(({ id, suspect, kinds: versions }) => ({
          worker: id,
          suspect: suspect !== null,
          outdated: isOutdated(tables, versions),
          partitions: partitions.filter(({ owner }) => owner === id).length,
        }));
      const mine = partitions.filter(({ owner }) => owner === worker).length;
      const called = partitions.filter(({ wanted, owner }) => wanted === worker && owner !== worker).length;
      const later = partitions.filter(({ owner, expires }) => owner !== null && owner !== worker && expires >= at);
      const outdated = isOutdated(tables, jsonb(kinds));
      const known = tables.worker.get(worker) ?? { id: worker, draining: false, suspect: null };
      tables.worker.put({ ...known, seen: at, kinds: jsonb(kinds) });
      const kept = ids.flatMap((id, i) => {
        const row = tables.partition.change(
          [id],
          ({ epoch, owner }) => epoch === Number(epochs[i]) && owner === worker,
          () => ({ expires: at + milliseconds(ttl) }),
        );
        return row === undefined ? [] : [{ id: row.id, wanted: row.wanted }];
      });
      return [{
        suspect: known.suspect !== null,
        outdated,
        kept: kept.length === 0 ? null : kept,
        others: others.length === 0 ? null : others,
        mine,
        called,
        free_in: later.length === 0 ? null : Math.min(...later.map(({ expires }) => expires)) - at,
      }];
    },
  },
  [
    `with taken as (update partition p set epoch = p.epoch + 1, checked = p.epoch + 1, owner = $1,
      expires = now() + $2::interval, wanted = case when p.wanted = $3 then p.wanted end
    from (select id from partition
      where not ${OUTDATED("$4::text::jsonb", "$5::text::jsonb")}
        and (owner is null or expires < now() or owner = $6 or owner = any($7::text[]))
        and id <> all($8::int[])
        and case when $9 then wanted = $10
          else wanted is null or wanted <> all($11::text[]) end
      order by id limit $12 for update skip locked) free
    where p.id = free.id returning p.id, p.epoch, p.wanted),
      versions as (insert into kind_version as v (kind, version)
        select key, value::int from jsonb_each_text($13::text::jsonb) where exists (select 1 from taken)
        on conflict (kind) do update set version = excluded.version where v.version < excluded.version)
    select id, epoch, wanted from taken`
  ]: {
    run: ({ tables, locks }, parameters, at) => {
      const [worker = "", ttl = "", , kinds = "", , , gone = [], held = [], isWanted, , others = [], most = 0] =
        parameters;
      const versions = jsonb(kinds);
      if (isOutdated(tables, versions)) return [];
      const texts: readonly string[] = others;
      const lost: readonly string[] = gone;
      return sorted(tables.partition.all(), "id").filter(({ id, owner, expires, wanted }) =>
        (owner === null || expires < at || owner === worker || lost.includes(owner)) &&
        !held.some((one) => Number(one) === id) &&
        (isWanted ? wanted === worker : wanted === null || !texts.includes(wanted)) &&
        !locks.isShared(id)
      ).slice(0, most).map((row) => {
        const wanted = row.wanted === worker ? row.wanted : null;
        for (const [kind, version] of Object.entries(isObject(versions) ? versions : {})) {
          const known = tables.kind_version.get(kind)?.version ?? -Infinity;
          tables.kind_version.put({ kind, version: Math.max(known, Number(version)) });
        }
        const epoch = row.epoch + 1;
        const next = { ...row, epoch, checked: epoch, owner: worker, expires: at + milliseconds(ttl), wanted };
        tables.partition.put(next);
        return { id: row.id, epoch: big(next.epoch), wanted };
      });
    },
  },
  [
    `with gone as (delete from worker where id = $1 and $2)
    update partition p set owner = null, expires = '-infinity', wanted = nullif(p.wanted, $3)
    from unnest($4::int[], $5::bigint[]) as x(id, epoch)
    where p.id = x.id and p.epoch = x.epoch and p.owner = $6`
  ]: {
    run: ({ tables }, [worker = "", ends, , ids = [], epochs = []]) => {
      if (ends) tables.worker.delete(worker);
      ids.forEach((id, i) =>
        tables.partition.change(
          [id],
          ({ epoch, owner }) => epoch === Number(epochs[i]) && owner === worker,
          ({ wanted }) => ({ owner: null, expires: -Infinity, wanted: wanted === worker ? null : wanted }),
        )
      );
      return [];
    },
  },
  "update worker set suspect = null where id = $1": {
    run: ({ tables }, [id = ""]) => (tables.worker.change([id], () => true, () => ({ suspect: null })), []),
  },
  "update worker set draining = true where id = $1": {
    run: ({ tables }, [id = ""]) => (tables.worker.change([id], () => true, () => ({ draining: true })), []),
  },

  // placement/namedLease.ts
  [
    `with taken as (insert into lease as l (name, epoch, checked, owner, expires)
      values ($1, 1, 1, $2, now() + $3 * interval '1 ms')
      on conflict (name) do update set epoch = l.epoch + 1, checked = l.epoch + 1, owner = excluded.owner, expires = excluded.expires
      where l.owner is null or l.expires < now() or l.epoch = $4
      returning epoch)
    select (select epoch from taken) as taken, l.epoch,
      case when isfinite(l.expires) then (extract(epoch from l.expires - now()) * 1000)::float8 end as left
    from (select 1) one left join lease l on l.name = $5`
  ]: {
    run: ({ tables }, [name = "", owner = "", ttl = 0, gone = -1], at) => {
      const before = tables.lease.get(name);
      const isFree = before === undefined || before.owner === null || before.expires < at || before.epoch === gone;
      const epoch = (before?.epoch ?? 0) + 1;
      if (isFree) tables.lease.put({ name, epoch, checked: epoch, owner, expires: at + ttl });
      return [{
        taken: isFree ? big(epoch) : null,
        epoch: before === undefined ? null : big(before.epoch),
        left: before !== undefined && Number.isFinite(before.expires) ? before.expires - at : null,
      }];
    },
  },
  [
    `update lease set expires = now() + $1 * interval '1 ms'
    where name = $2 and epoch = $3 and owner = $4 returning 1`
  ]: {
    run: ({ tables }, [ttl = 0, name = "", epoch, owner], at) =>
      tables.lease.change([name], (row) => row.epoch === epoch && row.owner === owner, () => ({ expires: at + ttl }))
        ? [{ "?column?": 1 }]
        : [],
  },
  [
    `update lease set owner = null, expires = '-infinity'
    where name = $1 and epoch = $2 and owner = $3`
  ]: {
    run: ({ tables }, [name = "", epoch, owner]) => {
      const release = () => ({ owner: null, expires: -Infinity });
      tables.lease.change([name], (row) => row.epoch === epoch && row.owner === owner, release);
      return [];
    },
  },
  "select 1 as held from lease where name = $1 and epoch = $2 for key share": {
    run: ({ tables }, [name = "", epoch]) => tables.lease.get(name)?.epoch === epoch ? [{ held: 1 }] : [],
  },

  // turns/loader.ts
  [
    `select a.version, a.input_seq, a.snapshot::text as snapshot, a.machine_version, a.paused,
      exists (select 1 from input_log i where i.partition = e.partition and i.kind = e.kind and i.id = e.id and not i.read)
        as unread
    from unnest($1::text[], $2::text[], $3::int[]) with ordinality as e(kind, id, partition, place)
    left join actor a on a.kind = e.kind and a.id = e.id
    order by e.place`
  ]: {
    run: (db, [kinds = [], ids = [], partitions = []]) =>
      kinds.map((kind, i) => {
        const id = ids[i] ?? "";
        const row = db.tables.actor.get(kind, id);
        return {
          version: row === undefined ? null : big(row.version),
          input_seq: row === undefined ? null : big(row.input_seq),
          snapshot: row === undefined ? null : toJson(row.snapshot),
          machine_version: row?.machine_version ?? null,
          paused: row?.paused ?? null,
          unread: unread(db, kind, id, Number(partitions[i])).length > 0,
        };
      }),
  },

  // operations/control.ts
  "update actor set paused = $1 where kind = $2 and id = $3 returning 1": {
    waits: ({ locks }, [, kind = "", id = ""]) => locks.isLocked(rowKey("actor", kind, id)),
    run: ({ tables }, [paused, kind = "", id = ""]) =>
      tables.actor.change([kind, id], () => true, () => ({ paused: paused === true })) ? [{ "?column?": 1 }] : [],
  },

  // effects/openRows.ts
  [
    `select kind, id, name, n, at, event from reminder r
    where partition = any($1::int[]) and at <= $2
      and not exists (select 1 from actor a where a.kind = r.kind and a.id = r.id and a.paused)
    order by at limit $3`
  ]: {
    run: (db, [partitions = [], until = new Date(0), most = 0]) => {
      const own: readonly number[] = partitions;
      const due = db.tables.reminder.all().filter((row) =>
        own.includes(row.partition) && row.at <= until.getTime() && !isPaused(db, row)
      );
      return sorted(due, "at").slice(0, most).map(reminderRow);
    },
  },
  "select kind, id, name, n, at, event from reminder where kind = $1 and id = $2 and name = $3": {
    run: ({ tables }, [kind = "", id = "", name = ""]) =>
      [tables.reminder.get(kind, id, name) ?? []].flat().map(reminderRow),
  },
  [
    `select kind, id, partition, n, name, input, attempts from effect f
    where not done and not queued and partition = any($1::int[])
      and next_attempt <= now()
      and not exists (select 1 from actor a where a.kind = f.kind and a.id = f.id and a.paused)
    order by next_attempt limit $2`
  ]: {
    run: (db, [partitions = [], most = 0], at) => {
      const own: readonly number[] = partitions;
      const due = db.tables.effect.all().filter((row) =>
        !row.done && !row.queued && own.includes(row.partition) && row.next_attempt <= at && !isPaused(db, row)
      );
      return sorted(due, "next_attempt").slice(0, most)
        .map(({ kind, id, partition, n, name, input, attempts }) => ({
          kind,
          id,
          partition,
          n: big(n),
          name,
          input,
          attempts,
        }));
    },
  },
  [
    `with postponed as (
      update effect set attempts = case when $1::text is null then 0 else attempts + 1 end, error = $2,
        next_attempt = now() + $3 * interval '1 ms'
      where kind = $4 and id = $5 and n = $6 and not done
        and exists (select 1 from partition where id = $7 and epoch = $8)
      returning kind, id, n, partition),
      freed as (update effect_queue q set epoch = null from postponed p
        where q.kind = p.kind and q.id = p.id and q.n = p.n and $9::text is not null)
    insert into effect_failure as f (minute, partition, failures)
    select floor(extract(epoch from now()) / 60)::int, partition, 1 from postponed where $10::text is not null
    on conflict (minute, partition) do update set failures = f.failures + 1`
  ]: {
    waits: ({ locks }, [, , , kind = "", id = "", n = 0]) => locks.isLocked(rowKey("effect", kind, id, n)),
    run: ({ tables }, [error, , ms = 0, kind = "", id = "", n = 0, partition = 0, epoch], at) => {
      if (tables.partition.get(partition)?.epoch !== epoch) return [];
      const isFailure = error !== null;
      const row = tables.effect.change([kind, id, n], ({ done }) => !done, ({ attempts }) => ({
        attempts: isFailure ? attempts + 1 : 0,
        error: isFailure ? text(error) : null,
        next_attempt: at + ms,
      }));
      if (row === undefined || !isFailure) return [];
      tables.effect_queue.change([kind, id, n], () => true, () => ({ epoch: null }));
      const minute = Math.floor(at / 60_000);
      const failures = tables.effect_failure.get(minute, row.partition)?.failures ?? 0;
      tables.effect_failure.put({ minute, partition: row.partition, failures: failures + 1 });
      return [];
    },
  },
  [
    `select distinct kind, id from input_log i
    where not read and partition = any($1::int[])
      and not exists (select 1 from actor a where a.kind = i.kind and a.id = i.id and a.paused)
    limit $2`
  ]: {
    run: (db, [partitions = [], most = 0]) => {
      const own: readonly number[] = partitions;
      const found = db.tables.input_log.all().filter((row) =>
        !row.read && own.includes(row.partition) && !isPaused(db, row)
      );
      return [...new Map(found.map(({ kind, id }) => [`${kind}\0${id}`, { kind, id }])).values()].slice(0, most);
    },
  },
  [
    `select seq, event from input_log
    where not read and partition = $1 and kind = $2 and id = $3 order by seq limit $4`
  ]: {
    run: (db, [partition = 0, kind = "", id = "", most = 0]) =>
      sorted(unread(db, kind, id, partition), "seq").slice(0, most).map(({ seq, event }) => ({ seq: big(seq), event })),
  },

  // effects/slots.ts
  "select distinct kind, name, key from effect_queue where partition = any($1::int[])": {
    run: ({ tables }, [partitions = []]) => {
      const own: readonly number[] = partitions;
      const rows = tables.effect_queue.all().filter(({ partition }) => own.includes(partition));
      return [
        ...new Map(rows.map(({ kind, name, key }) => [`${kind}\0${name}\0${key}`, { kind, name, key }])).values(),
      ];
    },
  },

  // inputLog.ts
  [
    `insert into input_log (kind, id, partition, event)
    select kind, id, (hash % (select count(*) from partition))::int, event::jsonb
    from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::int[])
      with ordinality as x(kind, id, hash, event, one_unread, place)
    where one_unread = 0 or not exists (select 1 from input_log i
      where not i.read and i.partition = (hash % (select count(*) from partition))::int and i.kind = x.kind and i.id = x.id
        and i.event->>'type' = x.event::jsonb->>'type')
    order by place`
  ]: {
    run: (db, [kinds = [], ids = [], hashes = [], events = [], onlyUnread = []], created) => {
      const { input_log, partition: partitions } = db.tables;
      const count = partitions.all().length;
      if (count === 0) throw new DatabaseError("22012", "division by zero");
      const rows = kinds.flatMap((kind, i) => {
        const row = { kind, id: ids[i] ?? "", partition: Number(hashes[i]) % count, event: jsonb(events[i] ?? "") };
        const isRepeated = Number(onlyUnread[i]) === 1 &&
          unread(db, kind, row.id, row.partition).some(({ event }) => typeOf(event) === typeOf(row.event));
        return isRepeated ? [] : [row];
      });
      for (const row of rows) {
        input_log.insert({ seq: db.next("input_log"), ...row, read: false, outcome: null, created });
      }
      return [];
    },
  },

  // events/streamRecord.ts
  "select exists(select from event_stream) as known": {
    run: ({ tables }) => [{ known: tables.event_stream.all().length > 0 }],
  },
  [
    `insert into event_stream as e (name, created) values ($1, $2)
    on conflict (name) do update set created = excluded.created, incomplete = true
      where e.created <> excluded.created or ($3 and not e.incomplete)
    returning incomplete`
  ]: {
    run: ({ tables }, [name = "", created = "", lost]) => {
      const before = tables.event_stream.get(name);
      if (before !== undefined && before.created === created && !(lost && !before.incomplete)) return [];
      const row = { name, created, incomplete: before !== undefined };
      tables.event_stream.put(row);
      return [{ incomplete: row.incomplete }];
    },
  },

  // The model has the first generation alone, and no deleted rows.
  [
    `select exists(select from event_stream where name = $1 and created = $2)
      and not (select streams_due from event_generation order by n desc limit 1)
      and coalesce(
        (select generation <> $3 or cause <> $4
            or date_trunc('milliseconds', at) <> $5 from outbox
          where kind = $6 and id = $7 and version = $8),
        (select version < $9 from actor where kind = $10 and id = $11),
        (select created < $12 from outbox order by tx limit 1),
        (select rows = 0 from outbox_pruned)) as lacks`
  ]: {
    run: (
      { tables },
      [stream = "", created, generation, cause, time = new Date(0), kind = "", id = "", version = 0],
    ) => {
      const row = tables.outbox.get(kind, id, version);
      const actor = tables.actor.get(kind, id);
      const oldest = sorted(tables.outbox.all(), "tx")[0];
      const isOther = row === undefined
        ? actor === undefined ? oldest === undefined || oldest.created < time.getTime() : actor.version < version
        : row.generation !== generation || row.cause !== cause || Math.floor(row.at) !== time.getTime();
      return [{ lacks: tables.event_stream.get(stream)?.created === created && isOther }];
    },
  },

  // events/publisher.ts
  [
    `delete from outbox_unpublished o
    using unnest($1::int[], $2::text[], $3::text[], $4::bigint[]) as x(partition, kind, id, version)
    where o.partition = x.partition and o.kind = x.kind and o.id = x.id and o.version = x.version`
  ]: {
    run: ({ tables }, [partitions = [], kinds = [], ids = [], versions = []]) => {
      kinds.forEach((kind, i) =>
        tables.outbox_unpublished.delete(Number(partitions[i]), kind, ids[i] ?? "", Number(versions[i]))
      );
      return [];
    },
  },
  [
    `update outbox o set published = true
    from unnest($1::int[], $2::text[], $3::text[], $4::bigint[]) as x(partition, kind, id, version)
    where o.kind = x.kind and o.id = x.id and o.version = x.version and not published`
  ]: {
    run: ({ tables }, [, kinds = [], ids = [], versions = []]) => {
      kinds.forEach((kind, i) =>
        tables.outbox.change(
          [kind, ids[i] ?? "", Number(versions[i])],
          ({ published }) => !published,
          () => ({ published: true }),
        )
      );
      return [];
    },
  },
  [
    UNPUBLISHED(
      (table, n) =>
        `${table}.partition = any($${n}::int[]) and ${table}.created <= now() - $${n + 1} * interval '1 ms'`,
      2,
    )
  ]: {
    run: (db, [partitions = [], olderMs = 0, limit = 0], at) => {
      const own: readonly number[] = partitions;
      return unpublished(db, ({ partition, created }) => own.includes(partition) && created <= at - olderMs, limit);
    },
  },
  [UNPUBLISHED((table, n) => `${table}.kind = $${n} and ${table}.id = $${n + 1} and ${table}.version > $${n + 2}`, 3)]:
    {
      run: (db, [kind, id, after = 0, limit = 0]) =>
        unpublished(db, (row) => row.kind === kind && row.id === id && row.version > after, limit),
    },
};

function typeOf(event: Json): Json {
  return typeof event === "object" && event !== null && "type" in event ? event.type : null;
}

const byText = new Map(Object.entries(STATEMENTS).map(([sql, statement]) => [flat(sql), statement]));

/** The statement of a text. @throws Error when it is not known. */
export function statementOf(sql: string): Statement {
  const statement = byText.get(sql);
  if (statement === undefined) throw new Error(`the model of the database does not know the statement: ${sql}`);
  return statement;
}
