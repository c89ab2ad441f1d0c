/** Matches of Kupo are found by indexes, also where the tables hold many rows of others. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eachMatch, type MatchQuestion } from "#src/devnet/index/kupo/matches.ts";
import { parsePattern } from "#src/devnet/index/kupo/pattern.ts";
import { readState } from "#src/devnet/index/kupo/points.ts";
import { noChanges } from "#src/devnet/index/rows.ts";
import { credentialsOf } from "#src/devnet/index/outputRows.ts";
import { writeChanges } from "#src/devnet/index/write.ts";
import { planLookups } from "#src/store/readPool.ts";
import { onlyRow } from "#src/store/rows.ts";
import type { Store } from "#src/store/store.ts";
import { devnetStore } from "../../support/devnet/devnet.ts";
import { sharedInfra } from "../../support/infra/infra.ts";

/** Transactions, one a block, each with one output. */
const TRANSACTIONS = 600;
const digits = (n: number, length: number) => n.toString(16).padStart(length, "0");
const hashOf = (height: number) => digits(height, 64);
const addressOf = (n: number) => `00${digits(n, 56)}${digits(n + 1_000_000, 56)}`;
const byron = (n: number) => `82d818${digits(n, 60)}`;
const policyOf = (n: number) => digits(n + 2_000_000, 56);

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;

beforeAll(async () => {
  infra = await sharedInfra();
  store = await devnetStore(infra.databaseUrl);
  const { rows, spent } = noChanges();
  for (let height = 0; height < TRANSACTIONS; height++) {
    const place = { height, tx_index: 0, tx_hash: hashOf(height) };
    const address = height % 50 === 49 ? byron(height) : addressOf(height);
    rows.output.push({ ...place, index: 0, address, ...credentialsOf(address), lovelace: 5n });
    rows.asset.push({ tx_hash: place.tx_hash, index: 0, unit: `${policyOf(height)}00`, quantity: 1n, height });
    rows.tx.push({
      height,
      tx_index: 0,
      hash: place.tx_hash,
      fee: 1n,
      deposit: 0n,
      size: 1,
      valid: true,
      cbor: new Uint8Array(),
    });
  }
  await writeChanges(store.sql, { rows, spent }, { height: TRANSACTIONS - 1, hash: hashOf(0) });
  await store.sql`insert into devnet_block (height, slot, hash, issuer, major, minor, transactions)
    select n, n * 20, lpad(to_hex(n), 64, '0'), '\\x', 9, 0, 1 from generate_series(0, ${TRANSACTIONS - 1}::int) n`;
});
afterAll(async () => {
  await store.close();
  await infra.stop();
});

/** Matches of a question, and rows of outputs, assets and transactions that were read for them. */
async function read(question: MatchQuestion): Promise<{ found: number; rows: number }> {
  return await store.sql.begin(async (sql) => {
    await planLookups(sql);
    const count = async () =>
      Number(
        (await onlyRow(sql<{ count: bigint }[]>`
          select sum(seq_tup_read + idx_tup_fetch)::bigint as count from pg_stat_xact_user_tables
          where relname in ('devnet_index_output', 'devnet_index_asset', 'devnet_index_tx')`)).count,
      );
    const { patterns } = await readState(sql);
    const before = await count();
    let found = 0;
    await eachMatch(sql, question, { patterns, genesis: [] }, async (rows) => void (found += rows.length));
    return { found, rows: await count() - before };
  });
}

const pattern = (text: string) => parsePattern(text) as MatchQuestion["pattern"];

test.each<[string, MatchQuestion]>([
  ["an address", { pattern: pattern(addressOf(5)) }],
  ["an address of Byron", { pattern: { kind: "address", address: byron(99) } }],
  ["a payment credential", { pattern: pattern(`${digits(5, 56)}/*`) }],
  ["a delegation credential", { pattern: pattern(`*/${digits(1_000_005, 56)}`) }],
  ["both credentials", { pattern: pattern(`${digits(5, 56)}/${digits(1_000_005, 56)}`) }],
  ["a policy", { pattern: pattern(`${policyOf(5)}.*`) }],
  ["an asset", { pattern: pattern(`${policyOf(5)}.00`) }],
  ["a transaction", { pattern: pattern(`*@${hashOf(5)}`) }],
  ["an output", { pattern: pattern(`0@${hashOf(5)}`) }],
  ["all of the newest block", { pattern: { kind: "any" }, created: { from: TRANSACTIONS - 1 } }],
  ["all of the oldest block", { pattern: { kind: "any" }, created: { to: 0 }, oldestFirst: true }],
  ["all with a policy", { pattern: { kind: "any" }, filter: { kind: "asset", policy: policyOf(5) } }],
  ["all of a transaction", { pattern: { kind: "shelley" }, filter: { kind: "output", txHash: hashOf(5) } }],
])("%s", async (_, question) => {
  for (const more of [{}, { status: "unspent" }, { resolve: true }] as const) {
    const { found, rows } = await read({ ...question, ...more });
    expect(found).toBe(1);
    expect(rows).toBeLessThan(12);
  }
});

test("the rows of everything are each read once", async () => {
  const { found, rows } = await read({ pattern: { kind: "any" } });
  expect(found).toBe(TRANSACTIONS);
  // an output, its asset and its transaction
  expect(rows).toBeLessThan(3 * TRANSACTIONS + 20);
});
