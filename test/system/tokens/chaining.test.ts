/** Builds on outputs of pending transactions: a token's life without a block, then one block that holds all of it. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readCursor } from "#src/chain/index/cursor.ts";
import { openStore } from "#src/store/store.ts";
import type { Arbor } from "../../support/service/arbor.ts";
import { OWN_DEVNET, startService } from "../../support/service/provider.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { SignerClient, signerEnv } from "../../support/service/signerClient.ts";
import { until } from "../../support/base/until.ts";
import { type Answer, http, User } from "../../support/service/user.ts";

describe("transactions on pending ones", () => {
  let infra: Infra;
  let arbor: Arbor;
  const [owner, next, bob, carol] = [new User(), new User(), new User("base"), new User()];

  const get = (path: string) => http(arbor.tokens, "GET", path);
  const build = (user: User, action: string, subject: string) =>
    get(`/transaction/${user.address}/${action}/${subject}`);
  const request = (user: User, token: string, type: "insert" | "update" | "delete", body: Record<string, string>) =>
    http(arbor.tokens, "POST", `/transaction/${user.address}/request-${type}/${token}`, body);
  const sent = async (built: Answer, ...signers: readonly User[]): Promise<string> => {
    expect(built).toMatchObject({ status: 200 });
    const signed = signers.reduce((text, user) => user.sign(text), built.body.unsignedTransaction as string);
    const answer = await http(arbor.tokens, "POST", "/transaction", { signedTransaction: signed });
    expect(answer).toMatchObject({ status: 200 });
    return answer.body.txHash;
  };
  const block = async (...hashes: readonly string[]) => {
    expect((await http(arbor.devnet, "POST", "/blocks", { count: 1 })).status).toBe(200);
    for (const hash of hashes) {
      await until(`transaction ${hash}`, async () => (await get(`/transaction?txHash=${hash}`)).status === 200);
    }
  };
  /** Block and place of transactions, in order. */
  const places = (hashes: readonly string[]) =>
    Promise.all(hashes.map(async (hash) => {
      const { body } = await get(`/transaction?txHash=${hash}`);
      return [body.block, body.index] as const;
    }));
  const inOneBlockInOrder = async (hashes: readonly string[]) => {
    const found = await places(hashes);
    expect(new Set(found.map(([hash]) => hash)).size).toBe(1);
    const order = found.map(([, index]) => index);
    expect(order).toEqual([...order].sort((a, b) => a - b));
  };
  const booted = async (): Promise<{ token: string; hash: string }> => {
    const boot = await get(`/transaction/${owner.address}/boot-token`);
    return { token: boot.body.value, hash: await sent(boot, owner) };
  };

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await startService({ infra, blockMs: 0, env: signerEnv("signer") });
    const paid: string[] = [];
    for (const { address } of [owner, next, bob, carol]) {
      paid.push((await http(arbor.devnet, "POST", "/faucet", { address, lovelace: 1_000_000_000 })).body.txHash);
    }
    await block(...paid);
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  it("build a token's whole life before one block, which holds it in order", async () => {
    const { token, hash } = await booted();
    await block(hash);
    const hashes: string[] = [];
    const did = async (built: Answer, ...signers: readonly User[]) => {
      hashes.push(await sent(built, ...signers));
      return hashes.at(-1)!;
    };
    const applied = async (...requests: readonly string[]) => {
      const query = requests.map((one) => `request=${one}`).join("&");
      const built = await build(owner, "update-token", `${token}?${query}`);
      expect(built.body.applied).toEqual(expect.arrayContaining([...requests]));
      return await did(built, owner);
    };
    const planet = `${await did(await request(bob, token, "insert", { key: "planet", newValue: "Earth" }), bob)}-0`;
    const comet = `${await did(await request(carol, token, "insert", { key: "comet", newValue: "Halley" }), carol)}-0`;
    const first = await applied(planet, comet);
    // a request on a fact that only a pending update has
    const change = await request(bob, token, "update", { key: "planet", oldValue: "Earth", newValue: "Mars" });
    expect(change.body.warnings).toEqual([]);
    const mars = `${await did(change, bob)}-0`;
    const again = await request(carol, token, "insert", { key: "comet", newValue: "Encke" });
    expect(again.body.warnings).toMatchObject([{ code: "fact_exists" }]);
    const encke = `${await did(again, carol)}-0`;
    const second = await applied(mars);
    expect(await build(owner, "update-token", `${token}?request=${mars}`)).toMatchObject({
      status: 409,
      body: { code: "requests_fail", details: { requests: [{ request: mars, code: "request_pending" }] } },
    });
    expect(await build(bob, "retract-change", encke)).toMatchObject({ status: 403, body: { code: "not_owner" } });
    const retract = await did(await build(carol, "retract-change", encke), carol);
    expect(await build(carol, "retract-change", encke)).toMatchObject({
      status: 409,
      body: { code: "request_pending", details: { transaction: retract } },
    });
    expect(await build(carol, "retract-change", planet)).toMatchObject({
      status: 409,
      body: { code: "request_pending", details: { transaction: first } },
    });
    await did(await build(owner, "transfer-token", `${token}?to=${next.address}`), owner, next);
    expect(await build(owner, "update-token", token)).toMatchObject({ status: 403, body: { code: "not_owner" } });
    const removal = `${await did(await request(bob, token, "delete", { key: "comet", oldValue: "Halley" }), bob)}-0`;
    const batch = await build(next, "update-token", token);
    expect(batch.body).toMatchObject({ applied: [removal], left: [] });
    const last = await did(batch, next);
    expect((await get(`/token/${token}`)).body).toMatchObject({ requests: [] });
    expect((await get(`/token/${token}/facts`)).body).toEqual({});
    await block(...hashes);
    await inOneBlockInOrder(hashes);
    expect((await get(`/token/${token}/facts`)).body).toEqual({ planet: "Mars" });
    expect((await get(`/token/${token}`)).body).toMatchObject({
      root: batch.body.mpfRoot,
      outputRefId: `${last}-0`,
      requests: [],
    });
    const history = await get(`/token/${token}/history`);
    expect(JSON.stringify(history.body)).toContain(second);
  });

  it("name the pending end of a token, which nothing can follow", async () => {
    const { token, hash } = await booted();
    await block(hash);
    const made = await sent(await request(bob, token, "insert", { key: "late", newValue: "v" }), bob);
    const end = await sent(await build(owner, "end-token", token), owner);
    const pending = { status: 409, body: { code: "token_pending", details: { transaction: end } } };
    for (const action of ["update-token", "end-token"]) {
      expect(await build(owner, action, token)).toMatchObject(pending);
    }
    expect(await request(bob, token, "insert", { key: "later", newValue: "v" })).toMatchObject(pending);
    const back = await sent(await build(bob, "retract-change", `${made}-0`), bob);
    await block(made, end, back);
    await inOneBlockInOrder([made, end]);
    expect(await get(`/token/${token}`)).toMatchObject({ status: 404, body: { code: "token_ended" } });
  });

  it("follow the boot of a token that no block has, until its end", async () => {
    const { token, hash } = await booted();
    const made = await sent(await request(bob, token, "insert", { key: "early", newValue: "v" }), bob);
    const update = await build(owner, "update-token", token);
    expect(update.body).toMatchObject({ applied: [`${made}-0`] });
    const hashes = [hash, made, await sent(update, owner)];
    hashes.push(await sent(await request(bob, token, "delete", { key: "early", oldValue: "v" }), bob));
    hashes.push(await sent(await build(bob, "retract-change", `${hashes.at(-1)}-0`), bob));
    expect(await get(`/token/${token}`)).toMatchObject({ status: 404, body: { code: "token_unknown" } });
    hashes.push(await sent(await build(owner, "end-token", token), owner));
    await block(...hashes);
    await inOneBlockInOrder(hashes);
    expect(await get(`/token/${token}`)).toMatchObject({ status: 404, body: { code: "token_ended" } });
  });

  it("are what a signing service makes, until a block has all of them in order", async () => {
    const signer = new SignerClient(arbor.signer);
    if (OWN_DEVNET) await signer.good("PUT", "/wallet/topup", { amount: 1_000 });
    else {
      const { address } = await signer.good("GET", "/wallet");
      expect((await http(arbor.devnet, "POST", "/faucet", { address, lovelace: 1_000_000_000 })).status).toBe(200);
    }
    await block();
    await until("the wallet's coin", async () => await signer.lovelace() > 0n);
    const token = await signer.boot();
    const insert = (key: string) => signer.request(token, { type: "insert", key, value: "v" });
    const [applied, retracted] = [await insert("a"), await insert("b")];
    const hashes = [applied, retracted].map((request) => request.slice(0, 64));
    hashes.push((await signer.apply(token, [applied])).txHash);
    hashes.push((await signer.good("DELETE", `/request/${retracted}`)).txHash);
    hashes.push((await signer.good("DELETE", `/token/${token}`)).txHash);
    await block(...hashes);
    await inOneBlockInOrder(hashes);
    expect(await signer.refused("DELETE", `/request/${retracted}`)).toEqual([404, "request_unknown"]);
  });

  it("know a pending token while a block takes it into the ledger", async () => {
    const { token, hash } = await booted();
    const store = openStore(infra.databaseUrl, { max: 2, application: "test" });
    try {
      let made: Promise<Answer> | undefined;
      // the build has read that the ledger has no such token; it reads the pending ones after the block
      await store.sql.begin(async (sql) => {
        await sql`lock table submission_status in access exclusive mode`;
        made = request(bob, token, "insert", { key: "between", newValue: "v" });
        await until("the build waits", async () => {
          const [waiting] = await store
            .sql`select 1 from pg_locks where relation = 'submission_status'::regclass and mode = 'AccessShareLock' and not granted`;
          return waiting !== undefined;
        }, 20_000);
        const { at: { height } } = await readCursor(store.sql);
        await block();
        await until("the index has the block", async () => (await readCursor(store.sql)).at.height > height, 20_000);
      });
      await sent(await made!, bob);
      await block(hash);
    } finally {
      await store.close();
    }
  });
});
