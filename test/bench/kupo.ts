/**
 * Benchmark of the devnet's Kupo API over HTTP on loopback: each form of pattern over 1,000,000 outputs, one request
 * after the other, beside the least SQL that finds the same rows; and the memory of an answer with all of them. The
 * rows are made by SQL, on the server of DATABASE_URL or an embedded one.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { silentLog } from "#src/base/log.ts";
import { present } from "#src/base/present.ts";
import { startNatsEndpoint } from "#src/embedded/nats/endpoint.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { kupoApp } from "#src/devnet/serve/kupo/service.ts";
import { serve } from "#src/http/serve.ts";
import { connectBus } from "#src/runtime/bus/bus.ts";
import { onlyRow } from "#src/store/rows.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { devnetStore } from "../support/devnet/devnet.ts";
import { percentile, table } from "./machine.ts";
import { benchDevnetOf } from "./benchDevnet.ts";

const OUTPUTS = 1_000_000;
/** Outputs of a transaction, and transactions of a block. */
const [OF_TRANSACTION, OF_BLOCK] = [4, 50];
const TRANSACTIONS = OUTPUTS / OF_TRANSACTION;
const BLOCKS = TRANSACTIONS / OF_BLOCK;
/** Addresses with as many outputs each, but those of the large one. */
const ADDRESSES = 100_000;
const POLICIES = 1_000;
const REQUESTS = 300;
/** Requests before those that are measured. */
const WARM_UP = 30;

/** Prints the tables. */
export async function benchKupo(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "arbor-bench-"));
  const given = process.env.DATABASE_URL;
  const postgres = given === undefined ? await startPostgres({ folder, log: silentLog }) : undefined;
  const server = openStore(given ?? present(postgres, "the server").url, { max: 1 });
  const name = `arbor_bench_kupo_${process.pid}`;
  await server.sql.unsafe(`create database ${name}`);
  const url = new URL(given ?? present(postgres, "the server").url);
  url.pathname = `/${name}`;
  const nats = await startNatsEndpoint({ port: 0, token: "bench", log: silentLog });
  const store = await devnetStore(url.href);
  const bus = await connectBus({ url: nats.url, token: "bench" });
  const devnet = await benchDevnetOf({ store, bus });
  try {
    await fill(store);
    const app = kupoApp({ devnet, store, log: silentLog });
    const listener = await serve(app, { host: "127.0.0.1", port: 0 });
    const base = `http://127.0.0.1:${listener.port}`;
    const { version } = await onlyRow(
      store.sql<{ version: string }[]>`select current_setting('server_version') as version`,
    );
    console.log(
      `PostgreSQL ${version}; ${OUTPUTS} outputs in ${TRANSACTIONS} transactions of ${BLOCKS} blocks, half of them spent\n`,
    );
    for (const line of await requests(store, base)) console.log(line);
    console.log("");
    for (const line of await wholeChain(base)) console.log(line);
    await listener.stop();
  } finally {
    await devnet.stop();
    await bus.close();
    await store.close();
    await nats.stop();
    await server.sql.unsafe(`drop database ${name} with (force)`);
    await server.close();
    await postgres?.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Hash of 32 bytes for a number, in SQL. */
const hash32 = (kind: string, n: string) => `md5('${kind}' || ${n}) || md5('${kind}2' || ${n})`;
const hash28 = (kind: string, n: string) => `left(${hash32(kind, n)}, 56)`;

/** Fills the index. The second half of the transactions spends the outputs of the first half, all of one transaction. */
async function fill({ sql }: Store): Promise<void> {
  const half = TRANSACTIONS / 2;
  const statements = [
    "truncate devnet_block, devnet_index_block, devnet_index_tx, devnet_index_output, devnet_index_asset, devnet_index_redeemer, devnet_index_datum",
    `insert into devnet_block (height, slot, hash, previous, issuer, major, minor, transactions)
      select n, 20 + n * 20, ${hash32("block", "n")}, ${hash32("block", "(n - 1)")}, '\\x00', 9, 0, ${OF_BLOCK}
      from generate_series(0, ${BLOCKS - 1}) n`,
    // a body with the inputs alone; the first half has one input, which is of the genesis
    `insert into devnet_index_tx (height, tx_index, hash, fee, deposit, size, valid, cbor)
      select n / ${OF_BLOCK}, n % ${OF_BLOCK}, ${hash32("tx", "n")}, 200000, 0, 300, true, decode('84a300' || (
        case when n < ${half} then '81825820' || ${hash32("none", "n")} || '00'
        else '84' || (select string_agg('825820' || ${hash32("tx", `(n - ${half})`)} || '0' || i, '' order by i)
          from generate_series(0, ${OF_TRANSACTION - 1}) i) end) || '018002' || '00' || 'a0f5f6', 'hex')
      from generate_series(0, ${TRANSACTIONS - 1}) n`,
    // of each 100 outputs one is at one address, one at a script's
    `insert into devnet_index_output (tx_hash, index, height, tx_index, address, payment, stake, lovelace, datum_hash,
        datum, spent_height, spent_index, spent_tx)
      select hash, i, height, tx_index, case when payment like 's%' then '10' else '00' end || substr(payment, 2) || stake,
        payment, 'k' || stake, 2000000 + n, case when payment like 's%' then ${hash32("datum", "(n % 1000)")} end,
        case when payment like 's%' then '\\xd87980'::bytea end, spent / ${OF_BLOCK}, spent % ${OF_BLOCK},
        case when spent is not null then ${hash32("tx", "spent")} end
      from (
        select t.*, i, t.t * ${OF_TRANSACTION} + i as n, case when t.t < ${half} then t.t + ${half} end as spent,
          case (t.t * ${OF_TRANSACTION} + i) % 100 when 7 then 'k' || ${hash28("large", "1")}
          when 8 then 's' || ${hash28("script", "(t.t / 25 % 100)")}
          else 'k' || ${hash28("key", `((t.t * ${OF_TRANSACTION} + i) % ${ADDRESSES})`)} end as payment,
          ${hash28("stake", `((t.t * ${OF_TRANSACTION} + i) % 50000)`)} as stake
        from (select hash, height, tx_index, height * ${OF_BLOCK} + tx_index as t from devnet_index_tx) t,
          generate_series(0, ${OF_TRANSACTION - 1}) i) x`,
    `insert into devnet_index_asset (tx_hash, index, unit, quantity, height)
      select tx_hash, index, ${
      hash28("policy", `(lovelace % ${POLICIES})`)
    } || lpad(to_hex(lovelace % 10000), 8, '0'), 5, height
      from devnet_index_output where lovelace % 5 = 0`,
    `insert into devnet_index_datum (hash, height, cbor)
      select ${hash32("datum", "n")}, 0, '\\xd87980' from generate_series(0, 999) n`,
    // every transaction of the second half has a redeemer for each input
    `insert into devnet_index_redeemer (height, tx_index, purpose, index, tx_hash, script_hash, data_hash, memory, steps, fee)
      select height, tx_index, 'spend', i, hash, '', ${hash32("datum", "0")}, 1, 1, 1
      from devnet_index_tx, generate_series(0, ${
      OF_TRANSACTION - 1
    }) i where height * ${OF_BLOCK} + tx_index >= ${half}`,
    `update devnet_index set height = ${BLOCKS - 1}, hash = ${hash32("block", String(BLOCKS - 1))}`,
  ];
  for (const statement of statements) await sql.unsafe(statement);
  await sql.unsafe("vacuum analyze");
}

/** A question, and the least SQL for its rows. */
interface Question {
  readonly path: string;
  readonly sql: string;
}

async function questions({ sql }: Store): Promise<Record<string, Question>> {
  const { payment, stake, address, tx, unit, large, script } = await onlyRow(
    sql.unsafe<Record<"payment" | "stake" | "address" | "tx" | "unit" | "large" | "script", string>[]>(`
      select substr(payment, 2) as payment, substr(stake, 2) as stake, address, tx_hash as tx,
        ${hash28("large", "1")} as large, ${hash28("script", "7")} as script,
        (select unit from devnet_index_asset order by tx_hash limit 1) as unit
      from devnet_index_output where payment like 'k%' and payment <> 'k' || ${
      hash28("large", "1")
    } order by tx_hash limit 1`),
  );
  const policy = unit.slice(0, 56);
  const from = (where: string) => `select tx_hash, index, lovelace from devnet_index_output o where ${where}`;
  const held = (where: string) =>
    `select o.tx_hash, o.index, o.lovelace from devnet_index_asset a
    join devnet_index_output o on o.tx_hash = a.tx_hash and o.index = a.index where ${where}`;
  const late = 20 + (BLOCKS - 10) * 20;
  const of = `payment = 'k${payment}'`;
  return {
    "an address": { path: `/matches/${address}`, sql: from(`${of} and address = '${address}'`) },
    "an address, unspent": {
      path: `/matches/${address}?unspent`,
      sql: from(`${of} and address = '${address}' and spent_height is null`),
    },
    "a payment credential": { path: `/matches/${payment}/*`, sql: from(of) },
    "a payment credential, unspent, resolved": {
      path: `/matches/${payment}/*?unspent&resolve_hashes`,
      sql: from(`${of} and spent_height is null`),
    },
    "a delegation credential": { path: `/matches/*/${stake}`, sql: from(`stake = 'k${stake}'`) },
    "both credentials": { path: `/matches/${payment}/${stake}`, sql: from(`${of} and stake = 'k${stake}'`) },
    "a script, spent, with redeemers": {
      path: `/matches/${script}/*?spent`,
      sql: from(`payment = 's${script}' and spent_height is not null`),
    },
    "a payment credential with 10,000": { path: `/matches/${large}/*`, sql: from(`payment = 'k${large}'`) },
    "a policy": {
      path: `/matches/${policy}.*`,
      sql: held(`a.unit >= '${policy}' and a.unit < '${policy}g'`),
    },
    "an asset": {
      path: `/matches/${policy}.${unit.slice(56)}?unspent`,
      sql: held(`a.unit = '${unit}' and o.spent_height is null`),
    },
    "a transaction": { path: `/matches/*@${tx}`, sql: from(`tx_hash = '${tx}'`) },
    "an output": { path: `/matches/0@${tx}`, sql: from(`tx_hash = '${tx}' and index = 0`) },
    "all of the last 10 blocks": {
      path: `/matches?created_after=${late}`,
      sql: `select o.tx_hash, o.index, o.lovelace from devnet_index_tx t
        join devnet_index_output o on o.tx_hash = t.hash where t.height >= ${BLOCKS - 10}`,
    },
  };
}

async function requests(store: Store, base: string): Promise<string[]> {
  const rows: (string | number)[][] = [];
  for (const [name, { path, sql }] of Object.entries(await questions(store))) {
    let found = 0;
    const times = await timed(async () => {
      const response = await fetch(base + path);
      const text = await response.text();
      if (!response.ok) throw new Error(`${name}: ${response.status} ${text}`);
      found = text.split('"transaction_index"').length - 1;
    });
    const bare = await timed(async () => {
      const read = await store.sql.unsafe(sql);
      if (read.length !== found) throw new Error(`${name}: ${read.length} rows instead of ${found}`);
    });
    const ms = (values: readonly number[], share: number) => percentile(values, share).toFixed(1);
    rows.push([name, found, ms(times, 0.5), ms(times, 0.95), ms(bare, 0.5)]);
  }
  return table(["matches of", "rows", "p50, ms", "p95, ms", "least SQL, p50, ms"], rows);
}

/** Milliseconds of some work, again and again; long work less often. */
async function timed(work: () => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  const until = performance.now() + 15_000;
  for (let i = -WARM_UP; i < REQUESTS && (times.length < 20 || performance.now() < until); i++) {
    const begun = performance.now();
    await work();
    if (i >= 0) times.push(performance.now() - begun);
  }
  return times;
}

/** Reads every match, and how much more memory that takes. */
async function wholeChain(base: string): Promise<string[]> {
  const rss = () => process.memoryUsage().rss / 2 ** 20;
  const before = rss();
  const begun = performance.now();
  const response = await fetch(`${base}/matches`);
  const first = performance.now() - begun;
  let bytes = 0;
  let most = before;
  for await (const part of present(response.body, "a body")) {
    bytes += part.length;
    most = Math.max(most, rss());
  }
  const seconds = (performance.now() - begun) / 1_000;
  return table(["every match", ""], [
    ["outputs", OUTPUTS],
    ["size, MB", Math.round(bytes / 1e6)],
    ["first bytes, ms", Math.round(first)],
    ["whole answer, s", seconds.toFixed(1)],
    ["outputs a second", Math.round(OUTPUTS / seconds)],
    ["memory, MB more than before (server and client)", Math.round(most - before)],
  ]);
}
