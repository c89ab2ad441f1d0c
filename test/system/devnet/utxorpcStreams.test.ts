/** Streams of UTxO RPC: blocks and transactions with rollbacks, the mempool, deadlines, and their ends. */
import { connect } from "node:http2";
import { ConnectError, createConnectRouter } from "@connectrpc/connect";
import { submitConnect, sync, type watch } from "@utxorpc/spec/lib/index.mjs";
import { expect, test } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import type { Tip } from "#src/cardano/block.ts";
import { chainEvents } from "#src/devnet/serve/utxorpc/chainEvents.ts";
import { asBigIntegers } from "#src/devnet/serve/utxorpc/messages/form.ts";
import { RecentBlocks } from "#src/devnet/serve/utxorpc/recentBlocks.ts";
import { listenToBoth } from "#src/devnet/serve/utxorpc/transport/listener.ts";
import { routing } from "#src/devnet/serve/utxorpc/transport/routing.ts";
import { until } from "../../support/base/until.ts";
import { servedWorld, TRANSPORTS, utxorpcClients } from "../../support/utxorpc/utxorpcChain.ts";

const world = servedWorld(37);

const hex = (bytes: Uint8Array | undefined) => toHex(bytes ?? new Uint8Array());
const ref = ({ slot, hash }: Pick<Tip, "slot" | "hash">) => ({
  slot: BigInt(slot),
  hash: new Uint8Array(fromHex(hash)),
});

/** Reads a stream message by message. */
function reader<T>(stream: AsyncIterable<T>) {
  const messages = stream[Symbol.asyncIterator]();
  return {
    take: async (count: number) => {
      const taken: T[] = [];
      while (taken.length < count) {
        const { done, value } = await messages.next();
        if (done) throw new Error("the stream has ended");
        taken.push(value);
      }
      return taken;
    },
    end: async () => void await messages.return?.(),
  };
}

/** An event of `followTip` in short. */
const short = ({ action: { case: kind, value } }: sync.FollowTipResponse) => {
  if (kind === "reset") return `reset ${hex(value.hash)}`;
  return `${kind} ${hex(value?.chain.value?.header?.hash)}`;
};

async function blocks(count: number): Promise<string[]> {
  const hashes: string[] = [];
  for (let i = 0; i < count; i++) {
    await world.served.chain.block(1);
    hashes.push(world.served.chain.devnet.tip().hash);
  }
  return hashes;
}

async function back(height: number): Promise<void> {
  const done = await world.served.chain.devnet.rollback({ height }, { drop: true });
  if (!done.ok) throw new Error(done.error.message);
}

test("a client sees blocks, and those that are undone, newest first", async () => {
  const { devnet } = world.served.chain;
  const start = devnet.tip();
  const events = reader(world.grpc.sync.followTip({ intersect: [ref(start)] }));
  const [reset] = await events.take(1);
  expect(short(reset!)).toBe(`reset ${start.hash}`);
  expect(reset!.tip?.height).toBe(BigInt(start.height));
  const [a, b, c] = await blocks(3);
  const applied = await events.take(3);
  expect(applied.map(short)).toEqual([`apply ${a}`, `apply ${b}`, `apply ${c}`]);
  await back(start.height + 1);
  const undone = await events.take(2);
  expect(undone.map(short)).toEqual([`undo ${c}`, `undo ${b}`]);
  // with the content of the blocks
  expect(undone.map(({ action }) => (action.value as sync.AnyChainBlock).nativeBytes)).toEqual(
    applied.slice(1).reverse().map(({ action }) => (action.value as sync.AnyChainBlock).nativeBytes),
  );
  const [d] = await blocks(1);
  expect((await events.take(1)).map(short)).toEqual([`apply ${d}`]);
  // below the block at which the client began, there is a reset
  await back(start.height - 1);
  const [e] = await blocks(1);
  const later = (await events.take(2)).map(short);
  const [fork] = await world.served.chain.store.sql<{ hash: string }[]>`
    select hash from devnet_block where height = ${start.height - 1}`;
  expect(later).toEqual([`reset ${fork?.hash}`, `apply ${e}`]);
  await events.end();
});

test("a client begins at the newest of its blocks that is on the chain, at the origin, or at the tip", async () => {
  const { devnet } = world.served.chain;
  const [first] = await blocks(2);
  const unknown = { slot: 5n, hash: new Uint8Array(32).fill(7) };
  const begin = async (intersect: { slot: bigint; hash: Uint8Array<ArrayBuffer> }[]) => {
    const events = reader(world.grpc.sync.followTip({ intersect }));
    const taken = await events.take(1);
    await events.end();
    return taken.map(short)[0];
  };
  const { height } = devnet.tip();
  const [known] = await world.served.chain.store.sql<{ slot: bigint; hash: string }[]>`
    select slot, hash from devnet_block where height = ${height - 1}`;
  expect(known?.hash).toBe(first);
  expect(await begin([unknown, ref({ slot: Number(known!.slot), hash: known!.hash })])).toBe(`reset ${first}`);
  expect(await begin([{ slot: 0n, hash: new Uint8Array() }])).toBe("reset ");
  expect(await begin([])).toBe(`reset ${devnet.tip().hash}`);
  await expect(begin([unknown])).rejects.toMatchObject({ code: 5 });
  await expect(begin([{ slot: 1n, hash: new Uint8Array(3) }])).rejects.toMatchObject({ code: 3 });
});

test("without the bytes of the undone blocks there is a reset", async () => {
  const { devnet, store, bus } = world.served.chain;
  const ending = new AbortController();
  const of = { devnet, store, bus, log: silentLog, form: asBigIntegers, indexed: true, pollMs: 50 };
  const events = reader(
    chainEvents(
      { ...of, measure: () => Promise.reject(), recent: new RecentBlocks(0) },
      [devnet.tip()],
      ending.signal,
    ),
  );
  const { height, hash } = devnet.tip();
  await events.take(1);
  await blocks(2);
  await events.take(2);
  await back(height);
  expect(await events.take(1)).toMatchObject([{ kind: "reset", at: { hash } }]);
  ending.abort();
  await events.end();
});

test("a restored snapshot is a rollback and the blocks after it", async () => {
  const { devnet } = world.served.chain;
  expect(await devnet.snapshots.save("streams", { replace: false })).toMatchObject({ ok: true });
  const events = reader(world.grpc.sync.followTip({ intersect: [ref(devnet.tip())] }));
  await events.take(1);
  const [a] = await blocks(1);
  expect((await events.take(1)).map(short)).toEqual([`apply ${a}`]);
  expect(await devnet.snapshots.restore("streams")).toMatchObject({ ok: true });
  expect((await events.take(1)).map(short)).toEqual([`undo ${a}`]);
  await events.end();
});

test("transactions are watched by a predicate, also when they are undone", async () => {
  const { chain } = world.served;
  const { height } = chain.devnet.tip();
  const cbor = (await chain.draft("pay"))!;
  const { hash, outputs } = scanTransaction(cbor);
  const address = new Uint8Array(fromHex(outputs[0]!.address));
  const predicate = {
    match: { chain: { case: "cardano" as const, value: { produces: { address: { exactAddress: address } } } } },
  };
  const events = reader(world.grpc.watch.watchTx({ predicate, intersect: [ref(chain.devnet.tip())] }));
  const nothing = reader(
    world.grpc.watch.watchTx({ predicate: { not: [predicate] }, intersect: [ref(chain.devnet.tip())] }),
  );
  const kind = ({ action }: watch.WatchTxResponse) =>
    action.case === "idle" ? "idle" : `${action.case} ${hex(action.value?.chain.value?.hash)}`;
  await chain.devnet.makeBlock();
  expect((await events.take(1)).map(kind)).toEqual(["idle"]);
  const submitted = await chain.devnet.submit(cbor);
  expect(submitted).toMatchObject({ ok: true, value: { outcome: "accepted" } });
  await chain.devnet.makeBlock();
  expect((await events.take(1)).map(kind)).toEqual([`apply ${hash}`]);
  expect((await nothing.take(2)).map(kind)).toEqual(["idle", "idle"]);
  await back(height);
  expect((await events.take(1)).map(kind)).toEqual([`undo ${hash}`]);
  await Promise.all([events.end(), nothing.end()]);
});

test("a transaction is waited for from before it is submitted, through a rollback that returns it to the mempool", async () => {
  const { devnet } = world.served.chain;
  const cbor = (await world.served.chain.draft("pay"))!;
  const { hash } = scanTransaction(cbor);
  const other = scanTransaction((await world.served.chain.draft("pay"))!).hash;
  const stages = reader(world.grpc.submit.waitForTx({ ref: [hash, other].map((of) => new Uint8Array(fromHex(of))) }));
  const stage = ({ ref, stage }: { ref: Uint8Array; stage: number }) => [hex(ref) === hash, stage];
  expect((await stages.take(2)).map(stage)).toEqual([[true, 0], [false, 0]]);
  await devnet.submit(cbor);
  expect((await stages.take(1)).map(stage)).toEqual([[true, 2]]);
  await devnet.makeBlock();
  expect((await stages.take(1)).map(stage)).toEqual([[true, 4]]);
  await stages.end();
  const { items } = await world.grpc.submit.readMempool({});
  expect(items).toEqual([]);
});

test("the mempool is watched by a predicate, and read", async () => {
  const { devnet } = world.served.chain;
  const cbor = (await world.served.chain.draft("pay"))!;
  const { hash, outputs } = scanTransaction(cbor);
  const hasAddress = { exactAddress: new Uint8Array(fromHex(outputs[0]!.address)) };
  const predicate = { match: { chain: { case: "cardano" as const, value: { hasAddress } } } };
  const events = reader(world.grpc.submit.watchMempool({ predicate }));
  const taking = events.take(2);
  await devnet.submit(cbor);
  const read = await world.grpc.submit.readMempool({});
  expect(read.items.map(({ ref, nativeBytes }) => [hex(ref), hex(nativeBytes)])).toEqual([[hash, toHex(cbor)]]);
  expect(read.items[0]?.parsedState.value?.inputs[0]?.asOutput?.address.length).toBeGreaterThan(0);
  // the stream sees it in the mempool before it sees it in a block
  await until(
    "the transaction was sent",
    async () => (await world.grpc.submit.readMempool({})).items.length === 1,
    5_000,
  );
  await new Promise((resolve) => setTimeout(resolve, 200));
  await devnet.makeBlock();
  expect((await taking).map(({ tx }) => [hex(tx?.ref), tx?.stage])).toEqual([[hash, 2], [hash, 4]]);
  await events.end();
});

/** A request of gRPC, frame by frame; gives status and trailers. */
async function raw(url: string, path: string, headers: Record<string, string>, body = "0000000000") {
  const session = connect(url);
  try {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    let status = 0;
    let trailers: Record<string, unknown> = {};
    stream.on("response", (of) => {
      status = Number(of[":status"]);
      trailers = of;
    });
    stream.on("trailers", (of) => trailers = of);
    stream.on("data", () => {});
    stream.end(fromHex(body));
    await new Promise((resolve, reject) => stream.on("close", resolve).on("error", reject));
    return { status, grpcStatus: trailers["grpc-status"] };
  } finally {
    session.destroy();
  }
}

test("the deadline of a client ends a stream with its status in the trailers", async () => {
  const path = "/utxorpc.v1alpha.sync.SyncService/FollowTip";
  expect(await raw(world.served.messages, path, { "grpc-timeout": "150m" })).toEqual({ status: 200, grpcStatus: "4" });
  const { query } = utxorpcClients(TRANSPORTS.gRPC!(world.served.messages));
  expect((await query.readParams({}, { timeoutMs: 5_000 })).ledgerTip).toBeDefined();
});

test("streams end when the service stops, with a status", async () => {
  const listener = await world.served.serve();
  const { sync } = utxorpcClients(TRANSPORTS.gRPC!(`http://127.0.0.1:${listener.port}`));
  const events = reader(sync.followTip({}));
  await events.take(1);
  const ended = events.take(1).catch(ConnectError.from);
  await listener.stop();
  expect(await ended).toMatchObject({ code: 14 });
});

test("a client that does not read gets no more than its window, and all once it reads", async () => {
  // what a client does not take is not made: streams are read on demand
  let made = 0;
  const router = createConnectRouter({}).service(submitConnect.SubmitService, {
    watchMempool: async function* () {
      for (; made < 400;) {
        made++;
        yield { tx: { nativeBytes: new Uint8Array(100_000) } };
      }
    },
  });
  const port = await listenToBoth({ host: "127.0.0.1", port: 0 }, routing(router, silentLog));
  const session = connect(`http://127.0.0.1:${port.port}`);
  const path = "/utxorpc.v1alpha.submit.SubmitService/WatchMempool";
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
  });
  stream.end(fromHex("0000000000"));
  await new Promise((resolve) => stream.on("response", resolve));
  let before = -1;
  await until(
    "it stands still",
    async () => {
      const still = before === made;
      before = made;
      return still;
    },
    20_000,
    500,
  );
  expect(made).toBeLessThan(100);
  let read = 0;
  stream.on("data", (chunk: Uint8Array) => read += chunk.length);
  await new Promise((resolve) => stream.on("end", resolve));
  expect(made).toBe(400);
  expect(read).toBeGreaterThan(40_000_000);
  session.destroy();
  await port.stop();
});
