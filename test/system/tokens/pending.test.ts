/** Builds while transactions are in no block yet: inputs of those are not used again. Blocks are made on request. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Arbor } from "../../support/service/arbor.ts";
import { startService } from "../../support/service/provider.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";
import { type Answer, http, User } from "../../support/service/user.ts";

describe("a token while its transactions are pending", () => {
  let infra: Infra;
  let arbor: Arbor;
  let token: string;
  const owner = new User();
  const other = new User("base");

  const get = (path: string) => http(arbor.tokens, "GET", path);
  const build = (user: User, action: string, subject: string) =>
    get(`/transaction/${user.address}/${action}/${subject}`);
  const insert = (user: User, key: string, of = token) =>
    http(arbor.tokens, "POST", `/transaction/${user.address}/request-insert/${of}`, { key, newValue: "v" });
  const sent = async (user: User, built: Answer): Promise<string> => {
    expect(built).toMatchObject({ status: 200 });
    const answer = await http(arbor.tokens, "POST", "/transaction", {
      signedTransaction: user.sign(built.body.unsignedTransaction),
    });
    expect(answer).toMatchObject({ status: 200 });
    return answer.body.txHash;
  };
  /** Makes a block and waits until the index has the transactions. */
  const block = async (...hashes: readonly string[]) => {
    expect((await http(arbor.devnet, "POST", "/blocks", { count: 1 })).status).toBe(200);
    for (const hash of hashes) {
      await until(`transaction ${hash}`, async () => (await get(`/transaction?txHash=${hash}`)).status === 200);
    }
  };

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await startService({ infra, blockMs: 0 });
    const paid = await Promise.all(
      [owner, other].map(({ address }) => http(arbor.devnet, "POST", "/faucet", { address, lovelace: 1_000_000_000 })),
    );
    await block(...paid.map(({ body }) => body.txHash as string));
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  it("can be built on while the transaction that creates it is in no block", async () => {
    const boot = await get(`/transaction/${owner.address}/boot-token`);
    token = boot.body?.value;
    expect(await insert(other, "early")).toMatchObject({ status: 404, body: { code: "token_unknown" } });
    const hash = await sent(owner, boot);
    expect(await insert(other, "early")).toMatchObject({ status: 200 });
    expect(await build(owner, "end-token", token)).toMatchObject({ status: 200 });
    expect(await build(owner, "update-token", token)).toMatchObject({
      status: 409,
      body: { code: "nothing_to_apply" },
    });
    expect(await get(`/token/${token}`)).toMatchObject({ status: 404, body: { code: "token_unknown" } });
    await block(hash);
  });

  it("can only be updated by the owner, also if no request is open", async () => {
    const notOwner = { status: 403, body: { code: "not_owner" } };
    expect(await build(other, "update-token", token)).toMatchObject(notOwner);
    expect(await build(other, "update-token", `${token}?request=${"ab".repeat(32)}-0`)).toMatchObject(notOwner);
    expect(await build(owner, "update-token", token)).toMatchObject({
      status: 409,
      body: { code: "nothing_to_apply" },
    });
  });

  it("is updated without a request whose retraction is pending", async () => {
    const made = [];
    for (const key of ["stays", "goes"]) {
      made.push(await sent(other, await insert(other, key)));
      await block(made.at(-1)!);
    }
    const [stays, goes] = made.map((hash) => `${hash}-0`);
    const retract = await sent(other, await build(other, "retract-change", goes!));
    const spent = { request: goes, code: "request_pending", message: expect.stringContaining(retract) };
    expect(await build(owner, "update-token", token)).toMatchObject({
      status: 200,
      body: { applied: [stays], left: [spent] },
    });
    expect(await build(owner, "update-token", `${token}?request=${goes}`)).toMatchObject({
      status: 409,
      body: { code: "requests_fail", details: { requests: [spent] } },
    });
    expect(await build(other, "retract-change", goes!)).toMatchObject({
      status: 409,
      body: { code: "request_pending", details: { transaction: retract } },
    });
    expect(await build(owner, "retract-change", goes!)).toMatchObject({ status: 403, body: { code: "not_owner" } });
    const update = await sent(owner, await build(owner, "update-token", token));
    const left = [stays, goes].map((one) => expect.objectContaining({ request: one, code: "request_pending" }));
    expect(await build(owner, "update-token", token)).toMatchObject({
      status: 409,
      body: { code: "requests_fail", details: { requests: expect.arrayContaining(left) } },
    });
    for (const action of ["update-token", "end-token"]) {
      expect(await build(other, action, token)).toMatchObject({ status: 403, body: { code: "not_owner" } });
    }
    for (const path of [`end-token/${token}`, `transfer-token/${token}?to=${other.address}`]) {
      expect(await get(`/transaction/${owner.address}/${path}`)).toMatchObject({
        status: 200,
        body: { summary: expect.anything() },
      });
    }
    expect(await build(other, "retract-change", stays!)).toMatchObject({
      status: 409,
      body: { code: "request_pending" },
    });
    expect(await insert(other, "next")).toMatchObject({ status: 200 });
    await block(retract, update);
    expect((await get(`/token/${token}/facts`)).body).toEqual({ stays: "v" });
  });

  it("applies the oldest of the inserts of one key, and names it to the others", async () => {
    const inserts: string[] = [];
    for (let i = 0; i < 4; i++) {
      const hash = await sent(other, await insert(other, "name"));
      await block(hash);
      inserts.push(`${hash}-0`);
    }
    const update = await build(owner, "update-token", token);
    const [oldest, ...late] = inserts;
    expect(update).toMatchObject({
      status: 200,
      body: { applied: [oldest], left: late.map((request) => ({ request, code: "fact_exists", lostTo: oldest })) },
    });
    await block(await sent(owner, update));
    for (const request of late) await block(await sent(other, await build(other, "retract-change", request)));
  });

  it.each([["a short key", "k"], ["the empty key", ""], ["a long key", "long ".repeat(100)], [
    "bytes",
    "\udcff\udc80",
  ]])(
    "refuses a strict request that conflicts with a pending or an open one: %s",
    async (_, key) => {
      const request = (user: User, type: string, body: object, query = "?strict=true") =>
        http(arbor.tokens, "POST", `/transaction/${user.address}/request-${type}/${token}${query}`, { key, ...body });
      const first = await sent(other, await request(other, "insert", { value: "1" }));
      const conflict = { status: 409, body: { code: "request_conflicts", details: { request: `${first}-0` } } };
      const look = async () => {
        expect(await request(owner, "insert", { value: "2" })).toMatchObject(conflict);
        expect(await request(owner, "insert", { value: "2" }, "")).toMatchObject({
          status: 200,
          body: { warnings: [{ code: "fact_exists", request: `${first}-0` }] },
        });
        expect(await request(owner, "insert", { key: `${key}2`, value: "2" })).toMatchObject({
          status: 200,
          body: { warnings: [] },
        });
        // it fails, but not because of an open one
        const wrong = await request(owner, "delete", { value: "2" });
        expect(wrong).toMatchObject({ status: 200, body: { warnings: [{ code: "fact_differs" }] } });
        expect(wrong.body.warnings[0]).not.toHaveProperty("request");
      };
      await look();
      const second = await sent(other, await request(other, "update", { oldValue: "1", newValue: "2" }));
      expect(await request(owner, "delete", { value: "1" })).toMatchObject({
        status: 409,
        body: { code: "request_conflicts", details: { request: `${second}-0`, reason: "fact_differs" } },
      });
      await block(first, second);
      expect(await request(owner, "delete", { value: "1" })).toMatchObject({
        status: 409,
        body: { code: "request_conflicts", details: { request: `${second}-0`, reason: "fact_differs" } },
      });
      expect(await request(owner, "delete", { value: "2" })).toMatchObject({ status: 200, body: { warnings: [] } });
      await block(await sent(other, await build(other, "retract-change", `${second}-0`)));
      await look();
      await block(await sent(other, await build(other, "retract-change", `${first}-0`)));
      expect(await request(owner, "insert", { value: "2" })).toMatchObject({ status: 200, body: { warnings: [] } });
    },
  );

  it("answers all concurrent builds and submissions with a result or a reason that a client can act on", async () => {
    const open: string[] = [];
    for (let i = 0; i < 4; i++) {
      const hash = await sent(other, await insert(other, `at once ${i}`));
      await block(hash);
      open.push(`${hash}-0`);
    }
    const statuses: number[] = [];
    const one = async (user: User, request: Promise<Answer>) => {
      const built = await request;
      statuses.push(built.status);
      if (built.status !== 200) return expect(built.body.code).toEqual(expect.any(String));
      const signedTransaction = user.sign(built.body.unsignedTransaction);
      statuses.push((await http(arbor.tokens, "POST", "/transaction", { signedTransaction })).status);
    };
    for (let round = 0; round < 3; round++) {
      await Promise.all([
        ...open.map((request) => one(other, build(other, "retract-change", request))),
        ...Array.from({ length: 4 }, () => one(owner, build(owner, "update-token", token))),
        ...Array.from({ length: 4 }, (_, i) => one(other, insert(other, `more ${round} ${i}`))),
        one(owner, get(`/transaction/${owner.address}/boot-token`)),
        one(owner, build(owner, "transfer-token", `${token}?to=${other.address}`)),
      ]);
      await block();
    }
    // 503: an overloaded machine sends Retry-After
    expect(statuses.filter((status) => ![200, 403, 404, 409, 422, 503].includes(status))).toEqual([]);
    expect(statuses).toContain(200);
  });
});
