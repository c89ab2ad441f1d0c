/** What a transition costs on disk, by table and index: a service's own actors, with requests, updates and wallets. */
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { createLog } from "#src/base/log.ts";
import { addressText, enterpriseAddress } from "#src/cardano/address.ts";
import { keyHash, newSeed, publicKey } from "#src/cardano/keys/signingKey.ts";
import { call } from "#src/client/http.ts";
import { signTransaction, TokenClient } from "#src/client/tokens.ts";
import { startPostgres } from "#src/embedded/postgres/postgres.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { startArbor } from "./arbor.ts";
import { table } from "./machine.ts";

/** The tables that turns of actors write, and the queue of unpublished transitions. */
const TABLES = [
  "outbox",
  "outbox_unpublished",
  "actor",
  "actor_snapshot",
  "command_result",
  "effect",
  "input_log",
  "reminder",
  "dead_letter",
];

/** Requests of one update. */
const REQUESTS = 20;

/** Prints bytes per transition of each table and index after a number of updates. */
export async function benchDisk(print: (line: string) => void = console.log): Promise<void> {
  const rounds = process.argv.includes("--quick") ? 5 : 40;
  const folder = mkdtempSync(path.join(os.tmpdir(), "arbor-bench-"));
  const server = await startPostgres({ folder: path.join(folder, "server"), log: createLog("warn") });
  try {
    const store = openStore(server.url, { max: 1, application: "bench" });
    const running = await startArbor(path.join(folder, "service"), [
      "--database-url",
      server.url,
      "--block-ms",
      "200",
      "--slot-ms",
      "100",
    ]);
    try {
      await work(running, rounds);
      (await sizes(store)).forEach((line) => print(line));
    } finally {
      await running.end();
      await store.close();
    }
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Facts of one token, `REQUESTS` an update; each transaction is submitted here. */
async function work({ tokens, devnet }: { tokens: string; devnet: string }, rounds: number): Promise<void> {
  const client = new TokenClient(tokens);
  const key = newSeed();
  const address = addressText(enterpriseAddress(0, { kind: "key", hash: keyHash(publicKey(key)) }));
  const paid = await call(devnet, "POST", "/faucet", { address, lovelace: 20_000_000_000 }) as { txHash: string };
  while (!(await client.transaction(paid.txHash))) await client.waitBlocks(1);
  const booted = await client.boot(address);
  await client.submitAndWait(signTransaction(booted.checked, key));
  for (let round = 0; round < rounds; round++) {
    const hashes: string[] = [];
    for (let i = 0; i < REQUESTS; i++) {
      const built = await client.insert(address, booted.value, `key-${round}-${i}`, "v".repeat(40));
      hashes.push(await client.submit(signTransaction(built.checked, key)));
    }
    while (!(await client.transaction(hashes.at(-1)!))) await client.waitBlocks(1);
    const update = await client.apply(address, booted.value, hashes.map((hash) => `${hash}-0`));
    await client.submitAndWait(signTransaction(update.checked, key));
  }
  await client.waitBlocks(3);
}

async function sizes({ sql }: Store): Promise<string[]> {
  const [counted] = await sql<{ transitions: number; actors: number; body: number; commands: number }[]>`
    select count(*)::int as transitions, (select count(*)::int from actor) as actors, avg(pg_column_size(body))::int as body,
      (select count(*)::int from command_result) as commands from outbox`;
  const { transitions, actors, body, commands } = counted!;
  const relations = await sql<{ owner: string; name: string; bytes: number; rows: number }[]>`
    select t.relname as owner, t.relname as name, (pg_table_size(t.oid))::int8::float8 as bytes from pg_class t
    where t.relname = any(${sql.array(TABLES)}) and t.relkind = 'r'
    union all select t.relname, i.relname, pg_relation_size(i.oid)::float8 from pg_class t
      join pg_index x on x.indrelid = t.oid join pg_class i on i.oid = x.indexrelid where t.relname = any(${
    sql.array(TABLES)
  }) order by 1, 3 desc`;
  const each = (bytes: number) => Math.round(bytes / transitions).toLocaleString("en");
  const sum = relations.reduce((total, { bytes }) => total + bytes, 0);
  return [
    `${transitions.toLocaleString("en")} transitions of ${actors.toLocaleString("en")} actors, ${
      commands.toLocaleString("en")
    } commands, bodies of ${body} bytes`,
    ...table(["table", "of it", "bytes a transition"], [
      ...relations.map(({ owner, name, bytes }) => [owner, name === owner ? "rows" : name, each(bytes)]),
      ["all", "", each(sum)],
    ]),
  ];
}
