/** A node that lacks some queries: each is detected once, and then done without or reported. */
import { afterEach, expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { ok } from "#src/base/result.ts";
import type { Credential } from "#src/cardano/address.ts";
import { type NodePort, nodePort } from "#src/chain/provider/node/port.ts";
import { answerQuery, type QueryHandlers } from "#src/node/queries/answering.ts";
import { systemStart } from "#src/node/queries/history.ts";
import { type NodeServer, serveNode } from "#src/node/server/server.ts";
import { CONWAY } from "#src/node/protocols/values.ts";
import { MemoryChain, memoryPort } from "../../../../support/chain/memoryChain.ts";
import { socketPath } from "../../../../support/chain/nodeChain.ts";

const credential: Credential = { kind: "key", hash: "aa".repeat(28) };
const pool = "bb".repeat(28);

let server: NodeServer | undefined;
let port: NodePort | undefined;
afterEach(async () => {
  port?.close();
  await server?.close();
});

/** A node with these answers, which counts the queries it gets. */
async function nodeWith(answers: Partial<QueryHandlers>): Promise<Map<string, number>> {
  const queryCounts = new Map<string, number>();
  const chain = new MemoryChain();
  const { slot, hash, height } = chain.add();
  const all: Record<string, unknown> = {
    systemStart: () => systemStart(0),
    point: () => ({ slot, hash }),
    height: () => height,
    ...answers,
  };
  const counted = new Proxy({ era: CONWAY }, {
    get: (of, kind: string) => {
      if (kind === "era") return of.era;
      queryCounts.set(kind, (queryCounts.get(kind) ?? 0) + 1);
      return all[kind];
    },
  }) as QueryHandlers;
  const path = socketPath();
  const { follow } = memoryPort(chain, { random: () => 0.5 });
  const served = await serveNode({ path }, {
    magic: 42,
    follow,
    acquire: () =>
      Promise.resolve(ok({ query: (query, version, signal) => answerQuery(counted, query, version, signal) })),
  });
  if (!served.ok) throw new Error(served.error.message);
  server = served.value;
  port = nodePort({ address: { path }, magic: 42, log: silentLog, firstWaitMs: 5 });
  return queryCounts;
}

test("accounts lack what the node does not support, and it is not queried again", async () => {
  const node = await nodeWith({
    delegations: () => ({ pools: [{ credential, pool }], rewards: [{ credential, lovelace: 5n }] }),
    stakeDeposits: () => [{ credential, lovelace: 2n }],
  });
  const account = { credential, registered: true, rewards: 5n, deposit: 2n, pool, drep: undefined };
  for (let i = 0; i < 3; i++) {
    expect(await port!.accounts([credential])).toMatchObject({ ok: true, value: { value: [account] } });
  }
  expect(node.get("voteDelegatees")).toBe(2);
});

test("pools lack their shares", async () => {
  const registration = {
    pool,
    vrf: "cc".repeat(32),
    pledge: 1n,
    cost: 2n,
    margin: { numerator: 1n, denominator: 2n },
    rewardAccount: "e0" + "dd".repeat(28),
    owners: [],
    relays: [],
    metadata: undefined,
  };
  await nodeWith({
    poolState: () => ({ current: [registration], future: [], retiring: [], deposits: [{ pool, lovelace: 3n }] }),
  });
  const state = { future: undefined, retiring: undefined, deposit: 3n, share: undefined, stake: undefined };
  expect(await port!.pools()).toMatchObject({ ok: true, value: { value: [{ ...registration, ...state }] } });
});

test("an answer that needs an unsupported query is unsupported, not unreachable", async () => {
  const node = await nodeWith({});
  for (let i = 0; i < 3; i++) {
    expect(await port!.poolRanking(1n)).toMatchObject({
      ok: false,
      error: { code: "query_unsupported", message: expect.stringContaining("nonMyopicRewards") },
    });
  }
  expect(node.get("nonMyopicRewards")).toBe(2);
  expect(await port!.accounts([credential])).toMatchObject({ ok: false, error: { code: "query_unsupported" } });
  expect(await port!.tip()).toMatchObject({ ok: true });
});

test("a stopped node is unreachable", async () => {
  await nodeWith({ delegations: () => ({ pools: [], rewards: [] }) });
  expect(await port!.tip()).toMatchObject({ ok: true });
  await server!.close();
  expect(await port!.accounts([credential])).toMatchObject({ ok: false, error: { code: "network_unreachable" } });
});
