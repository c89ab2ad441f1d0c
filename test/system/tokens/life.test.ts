/**
 * Every row of the token service's transition table over HTTP, successes and refusals, on a real ledger; clients sign
 * with a library that the service does not use.
 */
import { connect, type NatsConnection } from "nats";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Arbor } from "../../support/service/arbor.ts";
import { startService } from "../../support/service/provider.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { fund, http, land, User } from "../../support/service/user.ts";
import { until } from "../../support/base/until.ts";

const EMPTY = "0".repeat(64);

describe("a token's life", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let arbor: Arbor;
  let outside: NatsConnection;
  const events: string[] = [];
  const owner = new User("base");
  const other = new User("enterprise");
  const poor = new User();
  let token: string;

  const get = (path: string) => http(arbor.tokens, "GET", path);
  const post = (path: string, body: unknown) => http(arbor.tokens, "POST", path, body);
  /** Builds successfully, signs, submits, waits. */
  const carry = async (user: User, build: Promise<{ status: number; body: { unsignedTransaction: string } }>) => {
    const built = await build;
    expect([built.status, built.body]).toEqual([
      200,
      expect.objectContaining({ unsignedTransaction: expect.any(String) }),
    ]);
    return await land(arbor.tokens, user.sign(built.body.unsignedTransaction));
  };
  const request = (user: User, type: string, body: unknown) =>
    carry(user, post(`/transaction/${user.address}/request-${type}/${token}`, body)).then((hash) => `${hash}-0`);
  const update = (...requests: string[]) =>
    get(`/transaction/${owner.address}/update-token/${token}?${requests.map((one) => `request=${one}`).join("&")}`);

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await startService({ infra });
    outside = await connect({ servers: infra.natsUrl });
    outside.subscribe("arbor.event.>", { callback: (_error, message) => void events.push(message.subject) });
    await outside.flush();
    await Promise.all([fund(arbor.devnet, arbor.tokens, owner), fund(arbor.devnet, arbor.tokens, other)]);
  });
  afterAll(async () => {
    await outside?.close();
    await arbor?.end();
    await infra?.stop();
  });

  it("refuses to boot for invalid and for empty addresses", async () => {
    const boot = (address: string) => get(`/transaction/${address}/boot-token`);
    for (
      const address of [
        "nonsense",
        "addr_test1vz",
        owner.address.replace(/.$/, (last) => last === "q" ? "p" : "q"),
        "Ae2tdPwUPEZFRbyhz3cpfC2CumGzNkFBN2L42rcUc2yjQpEkxDbkPodpMAi",
        "addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz",
        "addr_test1wrq78yhw0k55zhu5dh5a9thevpej9drad6zws9pw7rp5p0cdxv5ev",
      ]
    ) {
      expect(await boot(address)).toMatchObject({ status: 400, body: { code: "bad_address" } });
    }
    expect(await boot(poor.address)).toMatchObject({ status: 422, body: { code: "not_enough_money" } });
  });

  it("boots a token with an empty root and its booting key as owner", async () => {
    const built = await get(`/transaction/${owner.address}/boot-token`);
    expect(built.status).toBe(200);
    token = built.body.value;
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(await get(`/token/${token}`)).toMatchObject({ status: 404, body: { code: "token_unknown" } });
    await land(arbor.tokens, owner.sign(built.body.unsignedTransaction));
    const { status, body } = await get(`/token/${token}`);
    expect(status).toBe(200);
    expect(body).toEqual({
      tokenId: token,
      owner: owner.keyHash,
      root: EMPTY,
      state: { owner: owner.keyHash, root: EMPTY },
      outputRefId: expect.stringMatching(/^[0-9a-f]{64}-0$/),
      status: "live",
      counts: { facts: 0, requests: 0 },
      requests: [],
    });
    expect((await get(`/token/${token}/facts`)).body).toEqual({});
    const listed = await get("/tokens");
    const booted = { slot: expect.any(Number), txHash: body.outputRefId.slice(0, 64) };
    expect(listed.body.tokens.find((one: { tokenId: string }) => one.tokenId === token)).toMatchObject({
      counts: { facts: 0, requests: 0 },
      booted,
      changed: booted,
    });
    expect(listed.body.indexerStatus).toEqual({
      ready: expect.any(Boolean),
      networkTip: expect.any(Number),
      indexerTip: expect.any(Number),
    });
  });

  it("answers an unknown transaction with 404 Not Found in its text", async () => {
    const answer = await fetch(`${arbor.tokens}/transaction?txHash=${EMPTY}`);
    expect(answer.status).toBe(404);
    expect(await answer.text()).toContain("404 Not Found");
  });

  it("inserts, updates and deletes facts; strings are returned exactly", async () => {
    const pairs = {
      "2024": "42",
      abcd: "deadbeef",
      "": "",
      "ключ 🗝": "значение\n\u0000\u{10FFFF}",
      constructor: "x",
      "e\u0301": "é",
    };
    const requests: string[] = [];
    for (const [key, value] of Object.entries(pairs)) requests.push(await request(other, "insert", { key, value }));
    const open = (await get(`/token/${token}`)).body.requests;
    expect(new Set(open.map((one: { outputRefId: string }) => one.outputRefId))).toEqual(new Set(requests));
    expect(open.find((one: { outputRefId: string }) => one.outputRefId === requests[1])).toEqual({
      outputRefId: requests[1],
      outputRef: requests[1],
      owner: other.keyHash,
      change: { type: "insert", operation: "insert", key: "abcd", value: "deadbeef", newValue: "deadbeef" },
    });
    const built = await update(...requests);
    expect(built.status).toBe(200);
    await land(arbor.tokens, owner.sign(built.body.unsignedTransaction));
    expect((await get(`/token/${token}/facts`)).body).toEqual(pairs);
    expect((await get(`/token/${token}`)).body).toMatchObject({ root: built.body.mpfRoot, requests: [] });

    const changed = await request(other, "update", { key: "abcd", oldValue: "deadbeef", newValue: "cafe" });
    const gone = await request(owner, "delete", { key: "", value: "" });
    await carry(owner, update(changed, gone));
    const { "": _dropped, ...rest } = pairs;
    expect((await get(`/token/${token}/facts`)).body).toEqual({ ...rest, abcd: "cafe" });

    const all: string[] = [];
    for (const [key, value] of Object.entries({ ...rest, abcd: "cafe" })) {
      all.push(await request(other, "delete", { key, oldValue: value }));
    }
    await carry(owner, update(...all));
    expect((await get(`/token/${token}/facts`)).body).toEqual({});
    expect((await get(`/token/${token}`)).body.root).toBe(EMPTY);
  });

  it("returns deposits less the offered fee", async () => {
    const before = await lovelaceOf(other);
    const ref = await request(other, "insert", { key: "deposit", value: "v" });
    const locked = before - await lovelaceOf(other);
    await carry(owner, update(ref));
    const lost = before - await lovelaceOf(other);
    console.log(`a request locks ${locked} lovelace with its fee; ${lost} are gone for good once it is applied`);
    expect(lost).toBeLessThan(locked);
    await carry(owner, update(await request(other, "delete", { key: "deposit", value: "v" })));
  });

  it("builds requests that cannot apply with a warning, and names them on an update", async () => {
    const warn = async (type: string, body: unknown) => {
      const { status, body: answer } = await post(`/transaction/${other.address}/request-${type}/${token}`, body);
      expect(status).toBe(200);
      return answer.warnings.map((one: { code: string }) => one.code);
    };
    expect(await warn("delete", { key: "nobody", value: "x" })).toEqual(["fact_missing"]);
    expect(await warn("insert", { key: "somebody", value: "x" })).toEqual([]);
    const good = await request(other, "insert", { key: "k", value: "v" });
    expect(await warn("insert", { key: "k", value: "w" })).toEqual(["fact_exists"]);
    expect(await warn("update", { key: "k", oldValue: "u", newValue: "w" })).toEqual(["fact_differs"]);
    const bad = await request(other, "delete", { key: "nobody", value: "x" });
    expect(await update(good, bad)).toMatchObject({
      status: 409,
      body: { code: "requests_fail", details: { requests: [{ request: bad, code: "fact_missing" }] } },
    });
    expect(await update(`${EMPTY}-0`)).toMatchObject({
      status: 409,
      body: { details: { requests: [{ request: `${EMPTY}-0`, code: "request_unknown" }] } },
    });
    await carry(owner, update(good));
    await carry(other, get(`/transaction/${other.address}/retract-change/${bad}`));
    expect((await get(`/token/${token}`)).body.requests).toEqual([]);
  });

  it("lets no user act for another", async () => {
    const ref = await request(other, "insert", { key: "mine", value: "v" });
    expect(await get(`/transaction/${owner.address}/retract-change/${ref}`)).toMatchObject({
      status: 403,
      body: { code: "not_owner" },
    });
    expect(await get(`/transaction/${other.address}/update-token/${token}?request=${ref}`)).toMatchObject({
      status: 403,
      body: { code: "not_owner" },
    });
    expect(await get(`/transaction/${other.address}/end-token/${token}`)).toMatchObject({
      status: 403,
      body: { code: "not_owner" },
    });
    await carry(other, get(`/transaction/${other.address}/retract-change/${ref}`));
    expect(await get(`/transaction/${other.address}/retract-change/${ref}`)).toMatchObject({
      status: 404,
      body: { code: "request_unknown" },
    });
  });

  it("refuses what the ledger refuses, with the failures named, and accepts it once it is valid", async () => {
    const built = await get(`/transaction/${other.address}/boot-token`);
    const unsigned = built.body.unsignedTransaction;
    const refused = await post("/transaction", { signedTransaction: owner.sign(unsigned) });
    expect(refused).toMatchObject({ status: 422, body: { code: "refused_by_ledger" } });
    expect(refused.body.details.map((one: { name: string }) => one.name)).toContain("MissingVKeyWitnessesUTXOW");
    const signed = other.sign(unsigned);
    const hash = await land(arbor.tokens, signed);
    expect(await post("/transaction", { signedTransaction: signed })).toEqual({ status: 200, body: { txHash: hash } });
    expect(await post("/transaction", { signedTransaction: "80" })).toMatchObject({
      status: 400,
      body: { code: "undecodable" },
    });
    expect(await post("/transaction", { signedTransaction: "zz" })).toMatchObject({
      status: 400,
      body: { code: "bad_request" },
    });
  });

  it("answers malformed bodies and paths with 400 and unknown tokens with 404", async () => {
    const path = `/transaction/${other.address}/request-insert/${token}`;
    for (
      const body of [
        "",
        "{",
        "[]",
        "null",
        '{"key":1,"value":"v"}',
        '{"key":"k"}',
        '{"key":"k","value":"a","newValue":"b"}',
        '{"key":"\\ud800","value":"v"}',
        '{"value":"v"}',
      ]
    ) {
      const answer = await post(path, body);
      expect([body, answer.status]).toEqual([body, 400]);
      expect(answer.body).toEqual({
        code: expect.any(String),
        error: expect.any(String),
        ...(answer.body.details ? { details: answer.body.details } : {}),
      });
    }
    expect(await post(path.replace(token, EMPTY), { key: "k", value: "v" })).toMatchObject({
      status: 404,
      body: { code: "token_unknown" },
    });
    expect(await get("/token/xyz")).toMatchObject({ status: 400, body: { code: "bad_request" } });
    expect(await get(`/transaction/${owner.address}/update-token/${token}?request=`)).toMatchObject({
      status: 400,
      body: { code: "bad_request" },
    });
    expect(await get("/nowhere")).toMatchObject({ status: 404, body: { code: "not_found" } });
    const large = await post(path, { key: "k", value: "v".repeat(20_000) });
    expect(large).toMatchObject({ status: 422, body: { code: "too_large", details: { limit: expect.any(Number) } } });
    const limit = large.body.details.limit as number;
    expect(await post(path, { key: "k", value: "v".repeat(limit - 1) })).toMatchObject({ status: 200 });
    expect(await post(path, { key: "k", value: "v".repeat(limit + 100) })).toMatchObject({ status: 422 });
    expect((await post(path, { key: "k", value: "v".repeat(100_000) })).status).toBe(413);
  });

  it("waits for blocks, within bounds", async () => {
    const { body } = await post("/indexer/wait-blocks", { n: 2 });
    expect(body.height).toBeGreaterThan(0);
    expect((await get("/wait/1")).body.height).toBeGreaterThanOrEqual(body.height + 1);
    expect((await post("/indexer/wait-blocks", { n: -1 })).status).toBe(400);
    expect((await get("/wait/100000")).status).toBe(400);
  });

  it("builds twice for one address without the same output while others are available", async () => {
    await fund(arbor.devnet, arbor.tokens, other);
    const path = `/transaction/${other.address}/request-insert/${token}`;
    const [a, b] = await Promise.all([post(path, { key: "a", value: "1" }), post(path, { key: "b", value: "2" })]);
    const first = other.sign(a.body.unsignedTransaction);
    const second = other.sign(b.body.unsignedTransaction);
    const hashes = await Promise.all([land(arbor.tokens, first), land(arbor.tokens, second)]);
    await carry(owner, update(...hashes.map((hash) => `${hash}-0`)));
    expect((await get(`/token/${token}/facts`)).body).toEqual({ k: "v", a: "1", b: "2" });
  });

  it("chains builds of an address with a single output before any block", async () => {
    const single = new User();
    await fund(arbor.devnet, arbor.tokens, single, 50_000_000);
    const path = `/transaction/${single.address}/request-insert/${token}`;
    const refs: string[] = [];
    for (const key of ["c1", "c2", "c3"]) {
      const built = await post(path, { key, value: "v" });
      const sent = await post("/transaction", { signedTransaction: single.sign(built.body.unsignedTransaction) });
      expect([sent.status, sent.body]).toEqual([200, { txHash: expect.any(String) }]);
      refs.push(`${sent.body.txHash}-0`);
    }
    await until("the requests", async () => (await get(`/token/${token}`)).body.requests.length === 3);
    for (const ref of refs) {
      await carry(single, get(`/transaction/${single.address}/retract-change/${ref}`));
    }
  });

  it("refuses the second of two transactions that spend the same", async () => {
    const single = new User();
    await fund(arbor.devnet, arbor.tokens, single, 50_000_000);
    const path = `/transaction/${single.address}/request-insert/${token}`;
    const built = [await post(path, { key: "d1", value: "v" }), await post(path, { key: "d2", value: "v" })];
    const [first, second] = built.map(({ body }) => single.sign(body.unsignedTransaction)) as [string, string];
    await land(arbor.tokens, first);
    const refused = await post("/transaction", { signedTransaction: second });
    expect(refused).toMatchObject({ status: 422, body: { code: "refused_by_ledger" } });
    expect(refused.body.details.map((one: { name: string }) => one.name)).toEqual(["ConwayMempoolFailure"]);
    const [a, b] = [new User(), new User()];
    await Promise.all([a, b].map((user) => fund(arbor.devnet, arbor.tokens, user, 20_000_000)));
    const boots = await Promise.all([
      get(`/transaction/${a.address}/boot-token`),
      get(`/transaction/${a.address}/boot-token`),
    ]);
    const both = await Promise.all(
      boots.map(({ body }, i) => post("/transaction", { signedTransaction: a.sign(body.unsignedTransaction), i })),
    );
    expect(both.map(({ status }) => status).filter((status) => status !== 200 && status !== 422)).toEqual([]);
  });

  it("ends a token; its requests can still be retracted", async () => {
    const left = await request(other, "insert", { key: "left", value: "over" });
    await carry(owner, get(`/transaction/${owner.address}/end-token/${token}`));
    for (const path of ["", "/facts", "/facts?since=-1", "/facts/left", "/facts/left?encoding=hex"]) {
      expect(await get(`/token/${token}${path.replace("left?", "6c656674?")}`)).toMatchObject({
        status: 404,
        body: { code: "token_ended" },
      });
    }
    for (const path of ["/history", "/timeline", "/requests", "/facts/left/history"]) {
      expect(await get(`/token/${token}${path}`)).toMatchObject({ status: 200, body: { status: "ended" } });
    }
    expect(await post(`/transaction/${other.address}/request-insert/${token}`, { key: "k", value: "v" })).toMatchObject(
      {
        status: 404,
        body: { code: "token_ended" },
      },
    );
    await carry(other, get(`/transaction/${other.address}/retract-change/${left}`));
  });

  it("published every transition on NATS", async () => {
    const of = (id: string) =>
      events.filter((subject) => subject.includes(id)).map((subject) => subject.split(".").at(-1));
    await until(
      "the last event",
      () => Promise.resolve(of(token).includes("ended") && of(token).at(-1) === "retracted"),
    );
    const transitions = of(token);
    expect(transitions[0]).toBe("booted");
    expect(new Set(transitions)).toEqual(new Set(["booted", "requested", "updated", "retracted", "ended"]));
    expect(events.filter((subject) => subject.endsWith(".submit")).length).toBeGreaterThan(10);
    expect(events.filter((subject) => subject.endsWith(".in-ledger")).length).toBeGreaterThan(10);
  });

  it("describes itself", async () => {
    const { status, body } = await get("/openapi.json");
    expect(status).toBe(200);
    expect(body.openapi).toBe("3.1.0");
    expect(Object.keys(body.paths)).toContain("/transaction/{address}/update-token/{tokenId}");
    const preflight = async (origin: string) => {
      const headers = { origin, "access-control-request-method": "POST" };
      const answer = await fetch(`${arbor.tokens}/transaction`, { method: "OPTIONS", headers });
      await answer.body?.cancel();
      return [answer.status, answer.headers.get("access-control-allow-origin")];
    };
    expect(await preflight("http://localhost:5173")).toEqual([204, "http://localhost:5173"]);
    expect(await preflight("http://example.org")).toEqual([403, null]);
  });

  async function lovelaceOf(user: User): Promise<number> {
    const { body } = await http(arbor.devnet, "GET", `/utxos/${user.address}`);
    const list = (body.utxos ?? body) as { lovelace: number }[];
    return list.reduce((sum, one) => sum + one.lovelace, 0);
  }
});
