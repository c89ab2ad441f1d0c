/** Hostile input to a devnet: randomly altered transactions, oversized queries, clients that do not release states. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { concat, equalBytes } from "#src/base/bytes.ts";
import { VirtualClock } from "#src/base/clock.ts";
import { silentLog } from "#src/base/log.ts";
import { enterpriseAddress } from "#src/cardano/address.ts";
import { type Encodable, encode, Encoded, head } from "#src/cardano/cbor.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { type Devnet, startDevnet } from "#src/devnet/devnet.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { type NodeService, nodeService } from "#src/devnet/serve/socket.ts";
import { connectNode, type NodeConnection } from "#src/node/client/connection.ts";
import { sendEraQuery } from "#src/node/queries/sendQuery.ts";
import { CONWAY } from "#src/node/protocols/values.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";
import { certificates, checkRows, devnetStore, ledgerInRows, ledgerOf, spend } from "../../support/devnet/devnet.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { socketPath } from "../../support/chain/nodeChain.ts";
import { seeded } from "../../support/base/seededRandom.ts";
import { person } from "../../support/wallets/person.ts";

const ada = 1_000_000n;
const alice = person("alice"), bob = person("bob");

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;
let bus: Bus;
let devnet: Devnet;
let service: NodeService;
let coins: Utxo[];
const path = socketPath();

beforeAll(async () => {
  infra = await sharedInfra();
  store = await devnetStore(infra.databaseUrl);
  bus = await connectBus({ url: infra.natsUrl, ...(infra.natsToken ? { token: infra.natsToken } : {}) });
  devnet = valueOf(
    await startDevnet({
      store,
      bus,
      evaluate: () => Promise.reject(new Error("no script was expected")),
      log: silentLog,
      clock: new VirtualClock(1_800_000_000_000),
      options: { blockMs: 0 },
    }),
  );
  service = nodeService({ devnet, store, bus, log: silentLog, idleMs: 1_500 });
  valueOf(await service.listen({ path }));
  for (let i = 0; i < 3; i++) valueOf(await devnet.faucet.pay(alice.enterprise, 100n * ada));
  coins = devnet.mempool().flatMap(({ applied }) =>
    applied.created.filter(({ output }) => output.address === alice.enterprise)
  );
  valueOf(await devnet.makeBlock());
});
afterAll(async () => {
  await service?.close();
  await devnet?.stop();
  await bus?.close();
  await store?.close();
  await infra?.stop();
});

function valueOf<T>(result: { ok: true; value: T } | { ok: false; error: { code: string; message: string } }): T {
  if (result.ok) return result.value;
  throw new Error(`${result.error.code}: ${result.error.message}`);
}

async function connect(): Promise<NodeConnection> {
  return valueOf(await connectNode({ path }, { magic: 42 }));
}

/** Everything that a refused transaction must not change: memory, mempool, rows. */
async function picture() {
  const { unspent, mempool } = await checkRows(store);
  const inMemory = await devnet.query((state) => ({
    ledger: ledgerOf(state),
    outputs: [...state.utxo.outputs()].length,
  }));
  const waiting = devnet.mempool().map(({ transaction: { hash } }) => hash);
  return { unspent, mempool, waiting, inMemory, ledger: await ledgerInRows(store) };
}

/** A transaction with most kinds of fields. */
const whole = () =>
  spend({
    from: alice,
    inputs: coins.slice(0, 2),
    outputs: [[bob.base, 5n * ada], [alice.enterprise, 192n * ada]],
    deposit: 2n * ada,
    certificates: [certificates.register(alice), certificates.abstain(alice)],
    validTo: 1_000_000,
    signers: [alice.stakeSeed],
  });

describe("transactions", () => {
  test("altered at random are refused, and change nothing", async () => {
    const random = seeded(5);
    const int = (n: number) => Math.floor(random() * n);
    const good = whole().cbor;
    const heads = ["9f", "bf", "5f", "ff", "9bffffffffffffffff", "5b00000000ffffffff", "d81c", "f97e00", "61ff"];
    const mutated = (): Uint8Array => {
      const at = int(good.length);
      const kind = random();
      if (kind < 0.15) return good.subarray(0, at);
      if (kind < 0.4) {
        const inserted = Uint8Array.from(heads[int(heads.length)]!.match(/../g)!, (pair) => parseInt(pair, 16));
        return concat(good.subarray(0, at), inserted, good.subarray(at + (random() < 0.5 ? 0 : inserted.length)));
      }
      const copy = good.slice();
      for (let changes = 1 + int(3); changes > 0; changes--) copy[int(good.length)]! ^= 1 + int(255);
      return copy;
    };
    const before = await picture();
    const connection = await connect();
    const outcomes = { undecodable: 0, refused: 0, rejected: 0 };
    for (let round = 0; round < 1_500; round++) {
      const bytes = mutated();
      if (equalBytes(bytes, good)) continue;
      if (round % 3 === 0) {
        const verdict = valueOf(await connection.submit(bytes));
        expect(verdict.accepted).toBe(false);
        outcomes.rejected++;
      } else {
        const said = await devnet.submit(bytes);
        if (!said.ok) expect(said.error.code).toBe("undecodable");
        else expect(said.value.outcome).toBe("refused");
        outcomes[said.ok ? "refused" : "undecodable"]++;
      }
    }
    connection.close();
    expect(Math.min(...Object.values(outcomes))).toBeGreaterThan(100);
    expect(await picture()).toEqual(before);
    expect(await devnet.submit(good)).toEqual({ ok: true, value: { outcome: "accepted" } });
  });

  /** A transaction that is valid but for its witnesses. */
  const witnessed = (witnesses: Encodable) => {
    const { cbor } = spend({ from: alice, inputs: [coins[2]!], outputs: [[bob.enterprise, 99n * ada]] });
    // [body, {0: 258([[key, signature]])}, true, nil]: the bytes before the witnesses are the body
    const body = cbor.subarray(0, cbor.length - (1 + 1 + 3 + 1 + 1 + 34 + 66) - 2);
    return concat(body, encode(witnesses), Uint8Array.of(0xf5, 0xf6));
  };

  test("whose witnesses hold an invalid text get that failure", async () => {
    const text = new Encoded(Uint8Array.of(0x61, 0xff));
    const bytes = witnessed(new Map<number, Encodable>([[0, []], [1, text]]));
    expect(await devnet.submit(bytes)).toMatchObject({ ok: false, error: { code: "undecodable" } });
    const connection = await connect();
    expect(valueOf(await connection.submit(bytes)).accepted).toBe(false);
    connection.close();
    const port = devnetPort({ store, bus, log: silentLog });
    expect(await port.submit(bytes)).toMatchObject({ ok: true, value: { outcome: "refused" } });
  });

  test("far larger than the rules allow are refused undecoded", async () => {
    const long = witnessed(
      new Map<number, Encodable>([[0, [new Encoded(concat(head(2, 900_000), new Uint8Array(900_000)))]]]),
    );
    expect(await devnet.submit(long)).toMatchObject({
      ok: false,
      error: { code: "undecodable", message: expect.stringContaining("bytes") },
    });
    // one that is only too large is refused by the ledger's name
    const outputs = Array.from({ length: 400 }, () => [bob.base, 200_000n] as const);
    const some = spend({ from: alice, inputs: [coins[2]!], outputs }).cbor;
    const said = await devnet.submit(some);
    expect(said.ok && said.value.outcome === "refused" && said.value.failures.map(({ name }) => name)).toContain(
      "MaxTxSizeUTxO",
    );
  });
});

describe("clients of the socket", () => {
  test("may query as many addresses as a message holds, and impossible outputs", async () => {
    const connection = await connect();
    const session = valueOf(await connection.acquire("tip"));
    const addresses = Array.from(
      { length: 18_000 },
      (_, i) => enterpriseAddress(0, { kind: "key", hash: i.toString(16).padStart(56, "0") }).hex,
    );
    const found = valueOf(
      await sendEraQuery(session, { kind: "utxoByAddress", era: CONWAY, addresses: [...addresses, alice.enterprise] }),
    );
    expect(found.length).toBeGreaterThan(0);
    session.release();
    connection.close();
  });

  test("that send unsupported queries lose their own connection and state", async () => {
    const steady = await connect();
    const odd: readonly (readonly [string, Encodable])[] = [
      ["an unknown query", [77]],
      ["an index of 2^40", [0, [0, [CONWAY, [15, [[new Uint8Array(32), 2 ** 40]]]]]]],
      ["an address of nothing", [0, [0, [CONWAY, [6, [new Uint8Array(0)]]]]]],
      ["an address of 5,000 bytes", [0, [0, [CONWAY, [6, [new Uint8Array(5_000)]]]]]],
      ["stake of a credential that is a number", [0, [0, [CONWAY, [10, [7]]]]]],
      ["queries within queries", Array.from({ length: 200 }).reduce<Encodable>((inner) => [9, inner], [1])],
      ["rewards of 10^30 lovelace", [0, [0, [CONWAY, [2, [[0, 10n ** 30n]]]]]]],
    ];
    // more clients than states that can be acquired at once
    for (let round = 0; round < 3; round++) {
      for (const [, query] of odd) {
        const connection = await connect();
        const session = valueOf(await connection.acquire("tip"));
        await session.query(encode(query));
        connection.close();
      }
    }
    const session = valueOf(await steady.acquire("tip"));
    expect(valueOf(await session.query(encode([2])))).toBeInstanceOf(Uint8Array);
    session.release();
    steady.close();
  });

  test("that keep a state without queries lose it in time", async () => {
    const holding = await Promise.all(Array.from({ length: 20 }, connect));
    const states = await Promise.all(holding.map((connection) => connection.acquire("tip")));
    expect(states.every(({ ok }) => ok)).toBe(true);
    for (const connection of holding) connection.close();
  });
});
