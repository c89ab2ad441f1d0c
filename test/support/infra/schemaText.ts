/**
 * The schema of a database as text, from PostgreSQL's catalogues: the same for the same schema, independent of the
 * server's version.
 */
import type { Queries } from "#src/store/store.ts";

/** Lines about every table, view, type, function and trigger of the schema `public`, sorted by their objects. */
export async function schemaText(sql: Queries): Promise<string> {
  const lines = await sql<{ line: string }[]>`
    with own as (
      select oid, relname, relkind, reloptions from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S', 'f')
    )
    select line from (
    select o.relname as object, 0 as part, 0 as n,
      'relation ' || o.relname || ' kind ' || o.relkind::text || coalesce(' with ' || array_to_string(o.reloptions, ', '), '')
        || case when o.relkind in ('v', 'm') then ' as' ||
          -- older servers name the table of every column
          regexp_replace(regexp_replace(pg_get_viewdef(o.oid), '\\m\\w+\\.', '', 'g'), '\\s+', ' ', 'g') else '' end as line
    from own o
    union all
    select o.relname, 1, a.attnum,
      '  column ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
        || case when a.attnotnull then ' not null' else '' end
        || case a.attidentity when 'a' then ' identity always' when 'd' then ' identity by default' else '' end
        || case when a.attgenerated <> '' then ' generated' else '' end
        || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
        || case when c.collname in ('default') or c.collname is null then '' else ' collate ' || c.collname end
    from own o join pg_attribute a on a.attrelid = o.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = o.oid and d.adnum = a.attnum
      left join pg_collation c on c.oid = a.attcollation
    where o.relkind <> 'S'
    union all
    -- PostgreSQL 18 lists "not null" here as well; it stands with the column
    select o.relname, 2, 0, '  constraint ' || k.conname || ' ' || pg_get_constraintdef(k.oid)
    from own o join pg_constraint k on k.conrelid = o.oid where k.contype <> 'n'
    union all
    select o.relname, 3, 0, '  index ' || pg_get_indexdef(i.indexrelid)
    from own o join pg_index i on i.indrelid = o.oid
    union all
    select o.relname, 4, 0, '  trigger ' || pg_get_triggerdef(t.oid)
    from own o join pg_trigger t on t.tgrelid = o.oid where not t.tgisinternal
    union all
    select p.proname, 5, 0, 'function ' || pg_get_functiondef(p.oid)
    from pg_proc p where p.pronamespace = 'public'::regnamespace and p.prokind in ('f', 'p')
    union all
    select t.typname, 6, 0, 'type ' || t.typname || ' ' || t.typtype::text || ' ' || coalesce(
      (select string_agg(e.enumlabel, ', ' order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid),
      format_type(t.typbasetype, t.typtypmod))
    from pg_type t where t.typnamespace = 'public'::regnamespace and t.typtype in ('e', 'd')
    ) found order by object collate "C", part, n, line collate "C"`;
  // the comments of a function are not part of the schema
  return lines.map(({ line }) => line.replace(/--.*$/gm, "").replace(/\n\s*\n/g, "\n").trimEnd()).join("\n");
}
