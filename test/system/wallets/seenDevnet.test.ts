/** Payments in the mempool of a devnet without a block producer, over its rows and over its node's socket. */
import { afterEach, describe, expect, it } from "vitest";
import type { RawChainPort } from "#src/chain/provider/port.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import { spend } from "../../support/devnet/devnet.ts";
import { devnetWorld, give, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";
import { beginSeen, eventsOf, seenTables, storyOf, watchedChain } from "../../support/wallets/watchedMempool.ts";
import { person } from "../../support/wallets/person.ts";
import { baseAddress } from "../../support/wallets/walletIndexModel.ts";

const ada = 1_000_000n;
const alice = person("alice");
const ann = (index: number) => baseAddress("ann", 0, index);
const world = devnetWorld();

describe.each(["its rows", "its socket"])("over %s", (kind) => {
  let devnet: Devnet;
  let port: RawChainPort;
  let wallet: string;
  let watched: ReturnType<typeof watchedChain> | undefined;
  afterEach(async () => {
    await watched?.end();
    watched = undefined;
  });

  async function begin(): Promise<void> {
    await seenTables(world.store);
    devnet = await world.start();
    port = { ...(kind === "its rows" ? world.rows : (await world.serve(devnet)).node) };
    watched = watchedChain(world.store, port);
    wallet = await beginSeen(world.store, "ann");
    await block();
  }
  async function block(): Promise<void> {
    await makeBlock(devnet);
    await watched!.atTip();
  }
  async function read(times = 2): Promise<void> {
    for (let i = 0; i < times; i++) expect(await watched!.watch.poll()).toBe(true);
  }
  async function restart(): Promise<void> {
    await watched!.end();
    watched = watchedChain(world.store, port);
    await watched.atTip();
  }
  const submit = async (cbor: Uint8Array) =>
    expect(valueOf(await devnet.submit(cbor))).toEqual({ outcome: "accepted" });
  const mempool = () => devnet.mempool().map(({ transaction }) => transaction.hash);

  it("a payment is seen once, then in a block, and seen again after a rollback", async () => {
    await begin();
    const { ref: { txHash: hash } } = await give(devnet, ann(0), 5n * ada);
    await read();
    await restart();
    await read();
    expect(await storyOf(world.store, wallet)).toEqual(["SEEN"]);
    expect((await eventsOf(world.store, wallet)).at(-1)).toMatchObject({
      hash,
      direction: "incoming",
      amount: "5000000",
      at: { slot: devnet.tip().slot, height: devnet.tip().height },
    });
    await block();
    await read();
    expect(await storyOf(world.store, wallet)).toEqual(["SEEN", "TRANSACTION"]);
    valueOf(await devnet.rollback({ blocks: 1 }));
    expect(mempool()).toEqual([hash]);
    await watched!.atTip();
    await read();
    await block();
    await read();
    const round = ["SEEN", "TRANSACTION"];
    expect(await storyOf(world.store, wallet)).toEqual([...round, "ROLLED_BACK", ...round]);
  });

  it("a payment that a rollback drops and another one replaces is withdrawn once", async () => {
    await begin();
    const coin = await give(devnet, alice.enterprise, 100n * ada);
    const funding = devnet.mempool().find(({ transaction }) => transaction.hash === coin.ref.txHash)!.cbor;
    await block();
    const paid = spend({ from: alice, inputs: [coin], outputs: [[ann(0), 99n * ada]] });
    await submit(paid.cbor);
    await read();
    valueOf(await devnet.rollback({ blocks: 1 }, { drop: true }));
    expect(mempool()).toEqual([]);
    await submit(funding);
    await submit(spend({ from: alice, inputs: [coin], outputs: [[alice.base, 99n * ada]] }).cbor);
    // a read while the index is behind counts nothing
    await makeBlock(devnet);
    await watched!.atTip();
    await read(1);
    await restart();
    await read(3);
    expect(await storyOf(world.store, wallet, paid.hash)).toEqual(["SEEN", "WITHDRAWN conflict"]);
  });

  it("a payment whose last slot passes is withdrawn once", async () => {
    await begin();
    const coin = await give(devnet, alice.enterprise, 100n * ada);
    await block();
    const validTo = devnet.slot() + 3;
    const paid = spend({ from: alice, inputs: [coin], outputs: [[ann(0), 99n * ada]], validTo });
    await submit(paid.cbor);
    await read();
    expect((await eventsOf(world.store, wallet)).at(-1)).toMatchObject({ type: "SEEN", validTo });
    world.clock.advance(10_000);
    await block();
    expect(mempool()).toEqual([]);
    await read(3);
    expect(await storyOf(world.store, wallet)).toEqual(["SEEN", "WITHDRAWN expired"]);
  });

  it("nothing is withdrawn while the network is away", async () => {
    await begin();
    const { ref: { txHash: hash } } = await give(devnet, ann(0), 5n * ada);
    await read();
    const { mempool } = port;
    // a network of another magic is refused; a table that is gone cannot be read
    if (kind === "its socket") port.mempool = (await world.serve(devnet, {}, { magic: 41 })).node.mempool;
    else await world.store.sql`alter table devnet_mempool rename to devnet_away`;
    await read(4);
    port.mempool = mempool;
    if (kind === "its rows") await world.store.sql`alter table devnet_away rename to devnet_mempool`;
    await read();
    expect(await storyOf(world.store, wallet)).toEqual(["SEEN"]);
    await block();
    await read();
    expect(await storyOf(world.store, wallet, hash)).toEqual(["SEEN", "TRANSACTION"]);
  });
});
