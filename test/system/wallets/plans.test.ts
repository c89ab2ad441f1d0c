/** The cost of a wallet's reads does not grow with other wallets, nor that of a page with the rest of its own. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { encodeOutput } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import { memberPositionsQuery } from "#src/chain/index/groups.ts";
import { listedQuery, readListed } from "#src/chain/pending/submissions.ts";
import { unavailableQuery } from "#src/runtime/operations/inspect.ts";
import { migrate } from "#src/store/migrations.ts";
import { LOOKUP_SETTINGS } from "#src/store/readPool.ts";
import { openStore, type Queries, type Store } from "#src/store/store.ts";
import { readTogether } from "#src/store/readTogether.ts";
import { accountQueries } from "#src/wallets/delegation/read.ts";
import { forgedQuery } from "#src/wallets/index/forged.ts";
import { holdingsQuery, readHoldings } from "#src/wallets/index/read.ts";
import { readAddresses } from "#src/wallets/index/readAddresses.ts";
import { readCoins } from "#src/wallets/index/readCoins.ts";
import { readHistory, readTransaction } from "#src/wallets/index/readHistory.ts";
import type { PendingTransaction } from "#src/wallets/index/types.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { migrationsOf } from "../../support/infra/migrationsOf.ts";
import { baseAddress, keyAt, stakeKey, transactionOf } from "../../support/wallets/walletIndexModel.ts";

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;
/** One connection, so that it executes later the plans that it has cached. */
let reading: Store;
beforeEach(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  await migrate(store, migrationsOf("runtime", "chain/index", "wallets/index", "wallets/seen", "wallets/delegation"));
  reading = store.beside({ max: 1, settings: LOOKUP_SETTINGS });
});
afterEach(async () => {
  await store?.close();
  await infra?.stop();
});

const id = (n: number) => n.toString(16).padStart(40, "0");
const hash = (n: number) => n.toString(16).padStart(64, "0");
/** The queried wallet, which has the most rows. */
const OWN = id(1);
const OTHERS = 400;
const MANY = 5_000;

const address = baseAddress("own", 0, 0);
const output = { address, value: lovelace(5_000_000n) };
const cbor = transactionOf({
  inputs: [{ txHash: hash(7), index: 0 }, { txHash: hash(2 ** 40), index: 0 }],
  outputs: [output],
  fee: 1n,
});
const scanned = scanTransaction(cbor);
const pending: PendingTransaction = {
  transaction: scanned,
  status: "pending",
  since: { slot: MANY + 1, height: MANY + 1 },
};

/** All reads of one wallet that return a page, or one object. */
const READS: Readonly<Record<string, (sql: Queries) => Promise<unknown>>> = {
  events: (sql) =>
    readTogether(sql, {
      listed: listedQuery(sql, [OWN]),
      forged: forgedQuery(sql, [OWN]),
      holdings: holdingsQuery(sql, [OWN]),
      ...accountQueries(sql, [OWN]),
      places: memberPositionsQuery(sql, "wallet", [OWN]),
      silent: unavailableQuery(sql, "wallet", [OWN]),
    }),
  listed: (sql) => readListed(sql, [OWN]),
  "what is pending": (sql) => readHoldings(sql, [OWN], new Map([[OWN, [scanned]]])),
  coins: (sql) => readCoins(sql, OWN, [`${hash(3)}#0`], [scanned]),
  addresses: (sql) => readAddresses(sql, OWN, { limit: 10 }),
  "unused addresses": (sql) =>
    readAddresses(sql, OWN, { limit: 10, state: "unused", after: { role: 0, index: 2_600 } }),
  history: (sql) => readHistory(sql, OWN, { limit: 10 }, [pending]),
  "oldest first": (sql) => readHistory(sql, OWN, { limit: 10, order: "ascending", from: 100 }, []),
  "a later page": (sql) =>
    readHistory(sql, OWN, { limit: 10, after: { slot: 2_500, index: 0, hash: hash(2_500) } }, []),
  transaction: (sql) => readTransaction(sql, OWN, hash(2_000), []),
};

/** Rows that a read fetched, from tables or through their indexes. */
async function fetched(read: (sql: Queries) => Promise<unknown>): Promise<number> {
  return await reading.sql.begin("read only", async (sql) => {
    // some fetches of earlier transactions may still be counted here
    const before = await count(sql);
    await read(sql);
    return await count(sql) - before;
  }) as number;
}

async function count(sql: Queries): Promise<number> {
  const [row] = await sql<{ rows: number }[]>`
    select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::int as rows from pg_stat_xact_user_tables`;
  return row!.rows;
}

/** Rows as the follower writes them: few for each of the others, many for the wallet. */
async function fill(): Promise<void> {
  const { sql } = store;
  const bytes = { output: encodeOutput(output), body: bodyOf(cbor) };
  await sql.begin(async (sql) => {
    await sql`create temporary table w on commit drop as select lpad(to_hex(n), 40, '0') as wallet, n,
        case when n = 1 then ${MANY}::int else 10 end as many from generate_series(1, ${OTHERS}::int) n`;
    await sql`insert into wallet_index (wallet, kind, network, gap, prefix, account, stake)
      select wallet, case when n % 2 = 0 then 'random' else 'shelley' end, 0, 20, '1852H/1815H/0H', 'own', ${`key-${
      stakeKey("own")
    }`} from w`;
    await sql`insert into wallet_address (wallet, role, index, credential)
      select wallet, role, i, case when n = 1 and role = 0 and i = 0 then ${`key-${keyAt("own", 0, 0)}`}
        else 'key-' || md5(wallet || role || i) end
      from w, generate_series(0, 1) role, generate_series(0, many - 1) i`;
    await sql`insert into wallet_pool (wallet, role, size, used, from_slot)
      select wallet, role, many, many / 2, 1 from w, generate_series(0, 1) role`;
    await sql`insert into wallet_use (wallet, role, index, credential, from_slot)
      select wallet, role, i, 'key-' || md5(wallet || role || i), 1
      from w, generate_series(0, 1) role, generate_series(0, many / 2) i`;
    await sql`insert into wallet_utxo (wallet, ref, role, index, coin, output, from_slot)
      select wallet, lpad(to_hex(n * 100000::bigint * (n - 1) + i), 64, '0') || '#0', 0, i, 5000000, ${bytes.output}::bytea, i
      from w, generate_series(1, many) i`;
    await sql`insert into wallet_holding (entry, wallet, asset, quantity, from_slot)
      select wallet || ':', wallet, '', many * 5000000::bigint, 1 from w`;
    await sql`insert into wallet_transaction (wallet, hash, height, index, block_hash, era, valid, body, witnesses, net,
        deposit_taken, deposit_returned, addresses, from_slot)
      select wallet, lpad(to_hex(n * 100000::bigint * (n - 1) + i), 64, '0'), i, 0, 'b', 7, true, ${bytes.body}::bytea,
        '\\xa0'::bytea, 5000000, 0, 0, array[]::text[], i from w, generate_series(1, many) i`;
    await sql`insert into wallet_reward (wallet, credential, epoch, rewards, from_slot)
      select wallet, 'key', 1, 1, 1 from w`;
    await sql`insert into wallet_delegation (wallet, credential, epoch, registered, from_slot)
      select wallet, 'key', 1, true, 1 from w`;
    await sql`insert into chain_member (projection, member, birth_slot, birth_hash, cursor) select 'wallet', wallet, -1, '', 'main' from w`;
    await sql`insert into actor (kind, id, partition, version, input_seq, snapshot, machine_version, state)
      select 'wallet', wallet, 1, 1, 0, '{}', 1, 'active' from w`;
    await sql`insert into submission (hash, cbor, inputs, addresses)
      select lpad(to_hex(s.n), 64, '0'), ${cbor}::bytea, array[]::text[], array[]::text[] from generate_series(1, 400) s(n)`;
    await sql`insert into submission_status (hash, status) select hash, 'pending' from submission`;
    await sql`insert into submission_wallet (hash, wallet, since_slot, since_height)
      select lpad(to_hex(n), 64, '0'), wallet, 1, 1 from w`;
  });
}

/** The body of a transaction's bytes, which are an array of four. */
function bodyOf(bytes: Uint8Array): Uint8Array {
  const text = toHex(bytes);
  const end = text.lastIndexOf("a0f5f6");
  return fromHex(text.slice(2, end));
}

it("fetch by keys alone, also through plans that were made when all tables were empty", async () => {
  for (const read of Object.values(READS)) await fetched(read);
  await fill();
  for (const [name, read] of Object.entries(READS)) {
    const rows = await fetched(read);
    expect(rows, name).toBeGreaterThan(0);
    expect(rows, name).toBeLessThan(60);
  }
});
