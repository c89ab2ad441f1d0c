/** The sweep of pending transactions: each is submitted once, parents first; those to check are reported. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { transactionActor } from "#actors/transaction.ts";
import type { EffectContext } from "#src/runtime/types.ts";
import type { ChainPort, Submission } from "#src/chain/provider/port.ts";
import { ok } from "#src/base/result.ts";
import { fetchRows, scopeOf } from "#src/chain/index/rows.ts";
import { readSubmissionStatus, releaseSubmissions, resubmitPending } from "#src/chain/pending/submissions.ts";
import { prune } from "#src/chain/index/prune.ts";
import { findTransaction, transactionProjection } from "#src/chain/index/transactions.ts";
import { migrate } from "#src/store/migrations.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { sharedInfra } from "../../../support/infra/infra.ts";
import { migrationsOf } from "../../../support/infra/migrationsOf.ts";

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;
beforeAll(async () => {
  infra = await sharedInfra();
  store = openStore(infra.databaseUrl);
  await migrate(store, migrationsOf("chain/index"));
});
afterAll(async () => {
  await store?.close();
  await infra?.stop();
});

/**
 * Hashes whose order is the reverse of their dependencies: each transaction spends the outputs of the next one in this
 * order.
 */
const COUNT = 450;
const hash = (i: number) => (COUNT - i).toString(16).padStart(64, "0");

it("submits a long chain of pending transactions in order", async () => {
  for (let i = 0; i < COUNT; i++) {
    const inputs = i === 0 ? [`${"f".repeat(64)}#0`] : [`${hash(i - 1)}#0`];
    await store.sql`insert into submission (hash, cbor, inputs, addresses)
      values (${hash(i)}, decode(${hash(i)}, 'hex'), ${store.sql.array(inputs)}, '{}')`;
    if (i !== 7) await store.sql`insert into submission_open (hash, open_until) values (${hash(i)}, 100)`;
  }
  // one expired before its last slot, and one whose last slot has passed
  await store.sql`insert into submission_status (hash, status, lapsed_until) values (${hash(7)}, 'expired', 100)`;
  await store.sql`insert into submission (hash, cbor, inputs, addresses) values ('past', '\\x00', '{}', '{}')`;
  await store.sql`insert into submission_status (hash, status, lapsed_until) values ('past', 'expired', -1)`;
  const offered: string[] = [];
  const refused = new Set([hash(COUNT - 10)]);
  const inMempool = new Set([hash(3)]);
  const swept = await resubmitPending(store, {
    inMempool: async (one) => ok(inMempool.has(one)),
    submit: async (cbor) => {
      const one = Array.from(cbor, (byte) => byte.toString(16).padStart(2, "0")).join("");
      offered.push(one);
      return ok(refused.has(one) ? { outcome: "refused", failures: [] } : { outcome: "accepted" });
    },
  }, new AbortController().signal);
  // what depends on a refused one is not offered: its actor informs them
  const all = Array.from({ length: COUNT - 9 }, (_, i) => hash(i));
  expect(offered).toEqual(all.filter((one) => !inMempool.has(one)));
  expect(swept.resubmitted).toBe(all.length);
  expect(swept.toCheck).toEqual([hash(7), hash(COUNT - 10)]);
});

describe("a transaction that the mempool says was included, and no block has", () => {
  const included = {
    name: "ConwayMempoolFailure",
    message: "All inputs are spent. Transaction has probably already been included",
  } as const;
  const refused = { outcome: "refused", failures: [included] } as unknown as Submission;

  it.each(
    [
      ["is offered again: a rollback took it out of its block", "1", [refused, { outcome: "accepted" }], {
        type: "ACCEPTED",
        attempt: 1,
      }],
      ["is refused when it is refused again", "2", [refused, refused], { type: "REFUSED", attempt: 1 }],
    ] as const,
  )("%s", async (_title, id, answers, event) => {
    const body = id.repeat(64);
    await store.sql`insert into submission (hash, cbor, inputs, addresses)
      values (${body}, decode(${body}, 'hex'), ${store.sql.array([`${"f".repeat(64)}#1`])}, '{}')`;
    const left = [...answers];
    const port = {
      submit: async () => ok(left.shift()!),
      inMempool: async () => ok(false),
      tip: async () => ok({ slot: -1, hash: "", height: -1 }),
    } as unknown as ChainPort;
    const { effects } = transactionActor({ store, port, append: async () => {}, ring: () => {} });
    const context = { signal: new AbortController().signal } as EffectContext;
    expect(await effects!.submit!({ hash: body, attempt: 1 }, context)).toMatchObject(event);
    expect(left).toEqual([]);
  });
});

it("reads at a rollback only the transactions concerned, not all pending ones", async () => {
  const { sql } = store;
  const expired = "a".repeat(64);
  const open = "b".repeat(64);
  for (const [one, until] of [[expired, 1_005], [open, 5_000]] as const) {
    await sql`insert into submission_open (hash, open_until) values (${one}, ${until})`;
  }
  const lapsed = "c".repeat(64);
  await sql`insert into submission_status (hash, status, lapsed_until) values (${lapsed}, 'expired', 1002)`;
  const queries = transactionProjection.undoKeys!(new Map(), { from: 1_010, to: 1_000 });
  const rows = await fetchRows(sql, queries, scopeOf([transactionProjection], "main"));
  const hashes = (table: string) => (rows.get(table) ?? []).map(({ hash }) => hash);
  expect([hashes("submission_open"), hashes("submission_status")]).toEqual([[expired], [lapsed]]);
  const events = transactionProjection.undo({ slot: 1_000, hash: "" }, new Map(), rows);
  expect(events.map(({ entity }) => entity.id).sort()).toEqual([expired, lapsed]);
});

it("releases the transactions that nothing needs any more, and the index still finds those in blocks", async () => {
  const { sql } = store;
  await sql`truncate submission, submission_open, submission_status, chain_block`;
  await sql`insert into chain_block (slot, hash, height) values (1000, 'b', 100), (1020, 'c', 101)`;
  await sql`update chain_cursor set slot = 1020, height = 101 where id = 'main'`;
  const add = async (name: string, status: string | null, lapsed: number | null = null) => {
    await sql`insert into submission (hash, cbor, inputs, addresses) values (${name}, '\\x00', '{}', '{}')`;
    if (status !== null) {
      await sql`insert into submission_status (hash, status, lapsed_until) values (${name}, ${status}, ${lapsed})`;
    }
  };
  const inBlock = (name: string, slot: number) =>
    sql`insert into chain_transaction (hash, block_hash, height, index, valid, fee, from_slot)
      values (${name}, 'b', 100, 0, true, 1, ${slot})`;
  await add("deep", "in_ledger");
  await inBlock("deep", 999);
  await add("shallow", "in_ledger");
  await inBlock("shallow", 1000);
  await add("listed", "in_ledger");
  await inBlock("listed", 999);
  await sql`insert into submission_wallet (hash, wallet, since_slot, since_height) values ('listed', 'w', 1, 1)`;
  await add("pending", "pending");
  await sql`insert into submission_open (hash, open_until) values ('pending', null)`;
  // not accepted by the network yet
  await add("submitting", "pending");
  await add("expired", "expired");
  await add("expired-now", "expired", 1010);
  await add("refused", null);
  await add("undone", "pending");
  await sql`insert into chain_rolled_back (hash, slot) values ('undone', 1005)`;
  const all = (await sql<{ hash: string }[]>`select hash from submission`).map(({ hash }) => hash);
  const free = ["deep", "expired", "gone", "refused"];
  expect([...await releaseSubmissions(sql, [...all, "gone"])].sort()).toEqual(free);
  const left = (await sql<{ hash: string }[]>`select hash from submission order by hash`).map(({ hash }) => hash);
  expect(left).toEqual(all.filter((name) => !free.includes(name)).sort());
  // What is deleted with old blocks spares it.
  await inBlock("foreign", 900);
  await prune(sql, 0);
  expect(await findTransaction(sql, "foreign")).toBeUndefined();
  expect(await findTransaction(sql, "deep")).toMatchObject({ slot: 999 });
  expect(await readSubmissionStatus(sql, "expired")).toBe("expired");
});
