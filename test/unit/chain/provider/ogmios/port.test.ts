/** Queries of an Ogmios server and of Kupo: at one point, over connections that break, and of servers that answer wrongly. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { fromHex } from "#src/base/bytes.ts";
import type { Json } from "#src/base/json.ts";
import { createLog } from "#src/base/log.ts";
import { ok } from "#src/base/result.ts";
import type { Point } from "#src/cardano/block.ts";
import { type Encodable, encode, Tagged } from "#src/cardano/cbor.ts";
import { refKey } from "#src/cardano/output.ts";
import { scanTransaction } from "#src/cardano/scan.ts";
import { type OgmiosPort, ogmiosPort, type OgmiosPortSettings } from "#src/chain/provider/ogmios/port.ts";
import type { TransactionForm } from "#src/ogmios/transaction.ts";
import { addressJson, refJson } from "#src/ogmios/values.ts";
import { MemoryChain } from "../../../../support/chain/memoryChain.ts";
import { type OgmiosChain, type OgmiosRequest, serveOgmiosChain } from "../../../../support/chain/ogmiosChain.ts";
import { newRef, person } from "../../../../support/wallets/person.ts";

const anna = person("anna");
const bert = person("bert");

let served: OgmiosChain;
let port: OgmiosPort;
let kupo: Server | undefined;
let said: string[] = [];

afterEach(async () => {
  port?.close();
  await served?.stop();
  kupo?.close();
  [kupo, said] = [undefined, []];
});

function payment(to: string, lovelace = 4_800_000): Uint8Array {
  const { txHash, index } = newRef();
  const body = new Map<number, Encodable>([
    [0, new Tagged(258, [[fromHex(txHash), index]])],
    [1, [new Map<number, Encodable>([[0, fromHex(to)], [1, lovelace]])]],
    [2, 200_000],
  ]);
  return encode([body, new Map(), true, null]);
}

function serve(chain: MemoryChain, settings: Partial<OgmiosPortSettings> = {}, form?: TransactionForm): void {
  served = serveOgmiosChain(chain, form);
  const log = createLog("info", {}, (line) => void said.push(line));
  port = ogmiosPort({ url: served.url, magic: 42, log, firstWaitMs: 2, answerMs: 5_000, ...settings });
}

const paid = (): MemoryChain => {
  const chain = new MemoryChain();
  for (let i = 0; i < 6; i++) chain.add(payment(anna.enterprise), payment(bert.enterprise));
  return chain;
};
const pointOf = ({ slot, hash }: Point): Point => ({ slot, hash });
const methods = () => served.requests.map(({ method }) => method);
const unreachable = (message: RegExp) => ({
  ok: false,
  error: { code: "network_unreachable", message: expect.stringMatching(message) },
});

describe("queries", () => {
  it("state the network, its genesis and the tip", async () => {
    const chain = paid();
    serve(chain);
    expect(await port.check()).toEqual(ok({
      magic: 42,
      id: 0,
      slots: { zeroTime: 0, zeroSlot: 0, slotLength: 1_000 },
      securityParameter: 2160,
    }));
    expect(await port.genesis()).toEqual(ok({
      hash: undefined,
      systemStart: 0,
      activeSlots: { numerator: 1n, denominator: 20n },
      securityParameter: 2160,
      epochLength: 432_000,
      slotLength: 1_000,
      maxSupply: 45_000_000_000_000_000n,
    }));
    expect(await port.tip()).toEqual(ok({ ...pointOf(chain.tip), height: 6 }));
    expect(await port.eras()).toMatchObject(ok({ point: pointOf(chain.tip), value: { current: "Conway" } }));
    expect(await port.epoch()).toMatchObject(ok({ value: { number: 0, firstSlot: 0, length: 432_000 } }));
    expect(served.connections()).toBe(2);
  });

  it("before the first block, the tip is the origin", async () => {
    serve(new MemoryChain());
    expect(await port.tip()).toEqual(ok({ slot: -1, hash: "", height: 0 }));
    expect(await port.utxosByRef([newRef()])).toEqual(ok({ point: { slot: -1, hash: "" }, value: [] }));
  });

  it("hold at one point, whose state is released", async () => {
    const chain = paid();
    serve(chain);
    const [first] = [...chain.utxos().values()];
    served.alter = ({ method }) => {
      // the chain moves on during the query
      if (method === "acquireLedgerState") chain.add(payment(anna.enterprise));
      return undefined;
    };
    const before = pointOf(chain.tip);
    const answer = await port.utxosByRef([first!.ref, first!.ref, newRef()]);
    expect(answer).toMatchObject(ok({ point: before, value: [{ ref: first!.ref }] }));
    const there = await port.utxosByAddress([anna.enterprise]);
    expect(there.ok && there.value.value.map(({ ref }) => refKey(ref)).length).toBe(7);
    expect(methods().filter((method) => method === "acquireLedgerState")).toHaveLength(2);
    expect(methods().filter((method) => method === "releaseLedgerState")).toHaveLength(2);
  });

  it("acquire another state after a rollback, and give up where none can be acquired", async () => {
    const chain = paid();
    serve(chain);
    let rollbacks = 0;
    served.alter = ({ method }) => {
      if (method === "queryNetwork/tip" && rollbacks++ < 2) chain.rollback(1);
      return undefined;
    };
    expect(await port.utxosByRef([])).toEqual(ok({ point: pointOf(chain.tip), value: [] }));
    expect(rollbacks).toBe(3);
    const gone = { code: 2000, message: "Failed to acquire requested point.", data: "Acquired point is now too old." };
    served.alter = ({ method }, { result: _, ...answer }) =>
      method === "acquireLedgerState" ? { ...answer, error: gone } : undefined;
    expect(await port.utxosByRef([])).toMatchObject(unreachable(/acquireLedgerState: Failed to acquire/));
  });

  it("are repeated once over a new connection where the server has restarted", async () => {
    const chain = paid();
    serve(chain);
    await port.tip();
    served.drop();
    expect(await port.tip()).toMatchObject(ok({ height: 6 }));
    served.alter = ({ method }) => method === "findIntersection" ? "close" : undefined;
    expect(await port.tip()).toMatchObject(unreachable(/closed the connection \(.*The node was lost/));
  });

  it("fail where no server listens, and follow once one does", async () => {
    serve(paid());
    const { url } = served;
    await served.stop();
    expect(await port.tip()).toMatchObject(unreachable(/cannot be reached/));
    expect(said.join("\n")).toContain("Ogmios did not respond");
    expect(said.join("\n")).toContain(new URL(url).host);
  });

  it("end after the deadline, and with their port", async () => {
    serve(paid(), { answerMs: 60 });
    await port.check();
    served.alter = ({ method }) => method === "findIntersection" ? "nothing" : undefined;
    expect(await port.tip()).toMatchObject(unreachable(/did not answer findIntersection within 0.06 s/));
    port.close();
    expect(await port.tip()).toMatchObject(unreachable(/was closed/));
  });

  it.each<[string, string, Json, RegExp]>([
    ["a point that is none", "queryNetwork/tip", { slot: "x" }, /slot is not an integer/],
    ["outputs that are none", "queryLedgerState/utxo", [{ transaction: {} }], /cannot be read/],
    ["no list", "queryLedgerState/utxo", { 1: 2 }, /outputs is not a list/],
  ])("report %s, and the next one is answered", async (_what, method, result, message) => {
    const chain = paid();
    serve(chain);
    let misdeeds = 0;
    served.alter = (request, answer) =>
      request.method === method && misdeeds++ === 0 ? { ...answer, result } : undefined;
    const refs = [...chain.utxos().values()].map(({ ref }) => ref);
    expect(await port.utxosByRef(refs)).toMatchObject(unreachable(message));
    expect(await port.utxosByRef(refs)).toMatchObject({ ok: true });
  });

  it("are unsupported where the server's version or era does not have them", async () => {
    serve(paid());
    expect(await port.accounts([{ kind: "key", hash: "ab".repeat(28) }])).toMatchObject({
      ok: false,
      error: { code: "query_unsupported", message: expect.stringContaining("rewardAccountSummaries") },
    });
    served.alter = ({ method }, { result: _, ...answer }) =>
      method === "queryLedgerState/eraSummaries"
        ? { ...answer, error: { code: 2002, message: "Unavailable query in this era." } }
        : undefined;
    expect(await port.eras()).toMatchObject({ ok: false, error: { code: "query_unsupported" } });
  });
});

it("requests that wait for a server are bounded", async () => {
  serve(paid());
  await port.check();
  served.alter = ({ method }) => method === "findIntersection" ? "nothing" : undefined;
  const tips = Array.from({ length: 501 }, () => port.tip());
  expect(await tips.at(-1)).toMatchObject(unreachable(/500 requests wait for Ogmios/));
  port.close();
  expect((await Promise.all(tips)).every(({ ok }) => !ok)).toBe(true);
});

it("a query whose answer is larger than a message may be is unsupported, and is not sent again at once", async () => {
  serve(paid());
  let sent = 0;
  served.alter = ({ method }) =>
    method === "queryLedgerState/delegateRepresentatives" && ++sent > 0 ? { text: " ".repeat(67_200_000) } : undefined;
  for (let i = 0; i < 2; i++) {
    expect(await port.dreps()).toMatchObject({
      ok: false,
      error: { code: "query_unsupported", message: expect.stringMatching(/too large .*delegateRepresentatives/) },
    });
  }
  expect(sent).toBe(1);
  expect(await port.tip()).toMatchObject({ ok: true });
});

/** Answers that the server gives instead of its own, by method. */
const answering = (answers: Readonly<Record<string, Json | ((request: OgmiosRequest) => Json)>>) => {
  served.alter = (request, answer) => {
    const result = answers[request.method];
    if (result === undefined) return undefined;
    const { error: _, ...rest } = answer;
    return { ...rest, result: typeof result === "function" ? result(request) : result };
  };
};

describe("the ledger", () => {
  const key = { kind: "key", hash: "ab".repeat(28) } as const;
  const script = { kind: "script", hash: "cd".repeat(28) } as const;
  const ada = (lovelace: number) => ({ ada: { lovelace } });
  const POOL = "pool1qqqqqdk4zhsjuxxd8jyvwncf5eucfskz0xjjj64fdmlgj735lr9";

  it("gives accounts, whether the version lists them or has a map", async () => {
    serve(paid());
    const account = {
      stakePool: { id: POOL },
      delegateRepresentative: { type: "abstain" },
      rewards: ada(7),
      deposit: ada(2),
    };
    const registered = {
      credential: key,
      registered: true,
      rewards: 7n,
      deposit: 2n,
      pool: expect.stringMatching(/^00000036d515/),
      drep: { kind: "abstain" },
    };
    const none = {
      credential: script,
      registered: false,
      rewards: 0n,
      deposit: undefined,
      pool: undefined,
      drep: undefined,
    };
    for (const answer of [[{ from: "verificationKey", credential: key.hash, ...account }], { [key.hash]: account }]) {
      answering({ "queryLedgerState/rewardAccountSummaries": answer });
      expect(await port.accounts([key, script, key])).toMatchObject(ok({ value: [registered, none] }));
    }
    const { params } = served.requests.findLast(({ method }) =>
      method.endsWith("Summaries") && method.includes("reward")
    )!;
    expect(params).toEqual({ keys: [key.hash], scripts: [script.hash] });
    const before = served.requests.length;
    expect(await port.accounts([])).toMatchObject(ok({ value: [] }));
    expect(served.requests.slice(before).map(({ method }) => method)).not.toContain(
      "queryLedgerState/rewardAccountSummaries",
    );
  });

  it("gives representatives, registered or not, and none where none are wanted", async () => {
    serve(paid());
    const registered = { from: "verificationKey", id: key.hash, mandate: { epoch: 9 }, deposit: ada(5), stake: ada(6) };
    answering({
      "queryLedgerState/epoch": 10,
      "queryLedgerState/delegateRepresentatives": [
        { type: "registered", ...registered, delegators: [] },
        { type: "abstain", stake: ada(1), delegators: [] },
      ],
    });
    expect(await port.drepStatus([script, key])).toMatchObject(ok({
      value: [
        { credential: script, registered: false, active: false, stake: 0n },
        { credential: key, registered: true, active: false, expiry: 9, deposit: 5n, stake: 6n },
      ],
    }));
    expect(await port.dreps()).toMatchObject(ok({ value: { epoch: 10, all: [{ credential: key, stake: 6n }] } }));
    expect(await port.drepStatus([])).toMatchObject(ok({ value: [] }));
  });

  it("gives actions that are open, and none of a set of which one may be new", async () => {
    serve(paid());
    const id = { txHash: "ef".repeat(32), index: 0 };
    const proposal = { proposal: { transaction: { id: id.txHash }, index: 0 }, until: { epoch: 12 } };
    answering({ "queryLedgerState/governanceProposals": [proposal] });
    expect(await port.actions([id])).toMatchObject(ok({ value: [{ id, state: "open", lastEpoch: 12 }] }));
    expect(await port.actions([id, { ...id, index: 1 }])).toMatchObject({
      ok: false,
      error: { code: "query_unsupported", message: expect.stringContaining("at the last epoch boundary") },
    });
  });

  it("gives pools with their share of the stake, and their ranking", async () => {
    serve(paid());
    const terms = {
      id: POOL,
      vrfVerificationKeyHash: "ab".repeat(32),
      pledge: ada(1),
      cost: ada(2),
      margin: "1/20",
      rewardAccount: "stake_test1uzcyqpps7ycml9qsyey6xhhvr7pm296kdhqk0hwlwe93e7s7jm50j",
      owners: [],
      relays: [],
    };
    answering({
      "queryLedgerState/stakePools": { [POOL]: terms },
      "queryLedgerState/liveStakeDistribution": { [POOL]: { stake: "1/3", vrf: "ab".repeat(32) } },
      "queryLedgerState/projectedRewards": { "9007199254740993": { [POOL]: ada(11) } },
    });
    expect(await port.pools()).toMatchObject(ok({
      value: [{ pledge: 1n, cost: 2n, margin: { denominator: 20n }, share: { numerator: 1n, denominator: 3n } }],
    }));
    // an amount beyond 2^53 keeps its digits
    const ranking = await port.poolRanking(9_007_199_254_740_993n);
    expect(ranking.ok && [...ranking.value.value.values()]).toEqual([11n]);
    expect(served.requests.find(({ method }) => method.endsWith("projectedRewards"))!.params).toEqual({
      stake: [{ ada: { lovelace: 9_007_199_254_740_993n } }],
    });
  });
});

describe("the mempool", () => {
  it.each([true, false])("is read whole, again and again (with CBOR: %s)", async (cbor) => {
    const chain = paid();
    serve(chain, {}, { version: 7, cbor });
    const [one, two] = [payment(anna.enterprise), payment(bert.enterprise)];
    const [first, second] = [one, two].map((cbor) => scanTransaction(cbor).hash) as [string, string];
    chain.mempool.set(first, one);
    for (let i = 0; i < 3; i++) {
      const read = await port.mempool(new Set());
      expect(read.ok && read.value.transactions.map(({ hash }) => hash)).toEqual([first]);
    }
    chain.mempool.set(second, two);
    const read = await port.mempool(new Set([first]));
    expect(read).toMatchObject(
      ok({ complete: true, transactions: [{ hash: second }], hashes: new Set([first, second]) }),
    );
    expect(await port.inMempool(second)).toEqual(ok(true));
    expect(await port.inMempool("00".repeat(32))).toEqual(ok(false));
    expect(methods().filter((method) => method === "releaseMempool")).toHaveLength(6);
  });

  it("is released after an answer that cannot be read", async () => {
    const chain = paid();
    serve(chain);
    answering({ hasTransaction: "perhaps" });
    expect(await port.inMempool("00".repeat(32))).toMatchObject(unreachable(/did not say whether/));
    served.alter = undefined;
    expect(await port.inMempool("00".repeat(32))).toEqual(ok(false));
    expect(methods().filter((method) => method === "releaseMempool")).toHaveLength(2);
  });
});

describe("a submitted transaction", () => {
  const cbor = payment(anna.enterprise);
  const { hash } = scanTransaction(cbor);
  const input = { txHash: "ab".repeat(32), index: 3 };
  const refusal = {
    code: 3117,
    message: "The transaction contains unknown UTxO references as inputs.",
    data: { unknownOutputReferences: [refJson(input)] },
  };
  const refusing = (chain: MemoryChain, code: number = refusal.code) => {
    served.alter = ({ method }, { result: _, ...answer }) => {
      if (method !== "submitTransaction") return undefined;
      chain.mempool.clear();
      return { ...answer, error: { ...refusal, code } };
    };
  };

  it("is accepted, and once more where the mempool or the ledger has it", async () => {
    const chain = paid();
    serve(chain);
    expect(await port.submit(cbor)).toEqual(ok({ outcome: "accepted" }));
    expect(await port.submit(cbor)).toEqual(ok({ outcome: "accepted" }));
    refusing(chain);
    expect(await port.submit(cbor)).toEqual(
      ok({ outcome: "refused", failures: [{ name: "BadInputsUTxO", inputs: [input] }] }),
    );
    chain.add(cbor);
    expect(await port.submit(cbor)).toEqual(ok({ outcome: "accepted" }));
  });

  it("is refused without the server where its bytes are no transaction", async () => {
    serve(paid());
    expect(await port.submit(Uint8Array.of(0x80))).toMatchObject(
      ok({ outcome: "refused", failures: [{ name: "DeserialiseFailure" }] }),
    );
    expect(served.requests).toEqual([]);
  });

  it("is neither where the server fails, or answers with another hash", async () => {
    const chain = paid();
    serve(chain);
    refusing(chain, -32_603);
    expect(await port.submit(cbor)).toMatchObject(unreachable(/-32603/));
    answering({ submitTransaction: { transaction: { id: "00".repeat(32) } } });
    expect(await port.submit(cbor)).toMatchObject(unreachable(new RegExp(`another hash .* ${hash}`)));
  });
});

interface KupoState {
  point: Point;
  matches: (address: string) => Json;
  patterns: (address: string) => Json;
  status?: number;
}

/** A Kupo in front of a chain; the members of its state are changed by the test. */
async function serveKupo(
  chain: MemoryChain,
): Promise<{ readonly url: string; readonly state: KupoState; paths: string[] }> {
  const paths: string[] = [];
  const state: KupoState = {
    point: pointOf(chain.tip),
    matches: (address) =>
      [...chain.utxos().values()].filter(({ output }) => addressJson(output.address) === address).map(({ ref }) => ({
        transaction_id: ref.txHash,
        output_index: ref.index,
        spent_at: null,
      })),
    patterns: () => ["*"],
  };
  kupo = createServer(({ url = "" }, response) => {
    paths.push(url);
    const [, kind = "checkpoints", address] = /^\/(matches|patterns)\/([^?]+)/.exec(url) ?? [];
    const body = kind === "matches"
      ? state.matches(address!)
      : kind === "patterns"
      ? state.patterns(address!)
      : { slot_no: 0 };
    const { slot, hash } = state.point;
    response.writeHead(state.status ?? 200, {
      "content-type": "application/json",
      "x-most-recent-checkpoint": String(Math.max(0, slot)),
      ...(hash === "" ? {} : { etag: hash }),
    });
    response.end(JSON.stringify(state.status ? { hint: "no free connection" } : body));
  });
  await new Promise<void>((resolve) => kupo!.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(kupo.address() as AddressInfo).port}/`, state, paths };
}

describe("Kupo", () => {
  const scans = () => served.requests.filter(({ params }) => params.addresses);

  it("names the outputs at addresses; the ledger gives them, at the block that Kupo has reached", async () => {
    const chain = paid();
    const { url, state, paths } = await serveKupo(chain);
    serve(chain, { kupoUrl: url });
    const reached = pointOf(chain.tip);
    const utxos = [...chain.utxos().values()];
    const named = new Map([anna, bert].map(({ enterprise }) => [
      addressJson(enterprise),
      state.matches(addressJson(enterprise)),
    ]));
    state.matches = (address) => named.get(address)!;
    chain.add(payment(anna.enterprise));
    const answer = await port.utxosByAddress([anna.enterprise, bert.enterprise, anna.enterprise]);
    expect(answer).toMatchObject(ok({ point: reached }));
    expect(answer.ok && answer.value.value.map(({ ref }) => refKey(ref)).sort()).toEqual(
      utxos.map(({ ref }) => refKey(ref)).sort(),
    );
    expect(scans()).toEqual([]);
    expect(paths.filter((path) => path.endsWith("?unspent"))).toHaveLength(2);
    expect(await port.kupoTip!()).toEqual(ok(reached));
  });

  it("is not used for addresses that its patterns leave out", async () => {
    const chain = paid();
    const { url, state, paths } = await serveKupo(chain);
    state.patterns = (address) => address === addressJson(anna.enterprise) ? [address] : [];
    serve(chain, { kupoUrl: url });
    expect(await port.utxosByAddress([anna.enterprise, bert.enterprise])).toMatchObject({ ok: true });
    expect(scans()).toHaveLength(1);
    expect(paths.filter((path) => path.endsWith("?unspent"))).toEqual([]);
  });

  it("is waited for while it is on a block that was rolled back", async () => {
    const chain = paid();
    const { url, state } = await serveKupo(chain);
    serve(chain, { kupoUrl: url });
    chain.rollback(2);
    chain.add();
    served.alter = ({ method }) => {
      if (method === "acquireLedgerState") state.point = pointOf(chain.tip);
      return undefined;
    };
    expect(await port.utxosByAddress([anna.enterprise])).toMatchObject(ok({ point: pointOf(chain.tip) }));
    expect(methods().filter((method) => method === "acquireLedgerState")).toHaveLength(2);
  });

  it("is not believed where the ledger of its block does not have its outputs", async () => {
    const chain = paid();
    const { url, state } = await serveKupo(chain);
    state.matches = () => [{ transaction_id: "00".repeat(32), output_index: 0, spent_at: null }];
    serve(chain, { kupoUrl: url });
    expect(await port.utxosByAddress([anna.enterprise])).toMatchObject(
      unreachable(/has 1 outputs at slot 6, and the ledger 0 of them/),
    );
  });

  it.each<[string, (state: KupoState) => void, RegExp]>([
    ["follows another chain", (state) => state.point = { slot: 3, hash: "ab".repeat(32) }, /follows another chain/],
    ["has no free connection", (state) => state.status = 503, /status 503: no free connection/],
    ["refuses the address", (state) => state.status = 400, /status 400/],
    ["gives no list", (state) => state.matches = () => ({}), /the matches is not a list/],
    ["gives a match that is spent", (state) => state.matches = () => [{ spent_at: {} }], /a match is spent/],
    ["states a slot alone", (state) => state.point = { slot: 3, hash: "" }, /states no block hash/],
    ["states an odd block", (state) => state.point = { slot: 3, hash: "ab" }, /the tag is not 64 hexadecimal digits/],
  ])("%s: there is no answer", async (_what, change, message) => {
    const chain = paid();
    const { url, state } = await serveKupo(chain);
    change(state);
    serve(chain, { kupoUrl: url });
    expect(await port.utxosByAddress([anna.enterprise])).toMatchObject(unreachable(message));
    expect(scans()).toEqual([]);
  }, 20_000);

  it("is not there: there is no answer", async () => {
    const chain = paid();
    const { url } = await serveKupo(chain);
    await new Promise((resolve) => kupo!.close(resolve));
    serve(chain, { kupoUrl: url });
    expect(await port.utxosByAddress([anna.enterprise])).toMatchObject(unreachable(/Kupo at .* cannot be reached/));
    expect(await port.kupoTip!()).toMatchObject({ ok: false, error: { code: "unreachable" } });
  });
});
