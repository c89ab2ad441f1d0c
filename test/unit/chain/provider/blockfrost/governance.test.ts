/** Representatives and governance actions as a Blockfrost service reports them. */
import { afterEach, expect, test } from "vitest";
import { silentLog } from "#src/base/log.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { type BlockfrostPort, blockfrostPort } from "#src/chain/provider/blockfrost/port.ts";
import { serveBlockfrost, type Served } from "../../../../support/blockfrost/blockfrostServer.ts";
import { MemoryChain, memoryPort } from "../../../../support/chain/memoryChain.ts";
import { until } from "../../../../support/base/until.ts";

let served: Served | undefined;
let port: BlockfrostPort | undefined;
afterEach(async () => {
  port?.close();
  await served?.close();
});

const HASH = "1b".repeat(28);
const credential = { kind: "key", hash: HASH } as const;
const script = { kind: "script", hash: HASH } as const;

/** A service that answers some paths with these documents, and others below `/governance` with 404. */
async function answering(documents: Readonly<Record<string, object>>): Promise<BlockfrostPort> {
  const chain = new MemoryChain();
  chain.add();
  served = await serveBlockfrost(memoryPort(chain, { random: () => 0.5 }));
  await until("the service", async () => served!.reached(chain.tip.hash));
  served.fault = (path) => {
    const [, found] = Object.entries(documents).find(([end]) => path.endsWith(end)) ?? [];
    if (found) return { body: JSON.stringify(found) };
    return path.includes("/governance/") ? { status: 404, body: "{}" } : undefined;
  };
  return port = blockfrostPort({ url: served.url, magic: 42, log: silentLog, firstWaitMs: 1 });
}

test.each([
  ["active", {}, { registered: true, active: true, stake: 7n, anchor: { url: "https://example.org", hash: "aa" } }],
  ["expired", { expired: true }, { registered: true, active: false, stake: 7n }],
  ["retired", { retired: true, active: false }, { registered: false, active: false, stake: 7n, anchor: undefined }],
])("a representative that is %s", async (_, more, expected) => {
  const id = drepId(credential);
  const port = await answering({
    [`/governance/dreps/${id}`]: { amount: "7", active: true, retired: false, expired: false, ...more },
    [`/governance/dreps/${id}/metadata`]: { url: "https://example.org", hash: "aa" },
  });
  const answer = await port.drepStatus([credential, script]);
  expect(answer).toMatchObject({
    ok: true,
    value: { value: [{ credential, ...expected }, { credential: script, registered: false, active: false }] },
  });
});

test("an action is open, has ended in one of four ways, or is unknown", async () => {
  const action = (index: number) => ({ txHash: "cd".repeat(32), index });
  const none = { ratified_epoch: null, enacted_epoch: null, dropped_epoch: null, expired_epoch: null, expiration: 11 };
  const of = (index: number, more: object) => ({ [`/${"cd".repeat(32)}/${index}`]: { ...none, ...more } });
  const port = await answering({
    "/epochs/latest": { epoch: 10 },
    ...of(0, {}),
    ...of(1, { expiration: 10, ratified_epoch: 10 }),
    ...of(2, { expiration: 9 }),
    ...of(3, { enacted_epoch: 9 }),
    ...of(4, { dropped_epoch: 9 }),
    ...of(5, { expired_epoch: 9 }),
  });
  const answer = await port.actions([0, 1, 2, 3, 4, 5, 6].map(action));
  expect(answer.ok && answer.value.value).toEqual([
    { id: action(0), state: "open", lastEpoch: 11 },
    { id: action(1), state: "open", lastEpoch: 10 },
    ...[2, 3, 4, 5].map((index) => ({ id: action(index), state: "ended" })),
    { id: action(6), state: "unknown" },
  ]);
});
