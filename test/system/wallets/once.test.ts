/**
 * A request that spends, sent twice under one `Idempotency-Key`, spends once: also if the server is killed between the
 * two.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { ApiError } from "#src/client/http.ts";
import { lovelace, WalletClient } from "#src/client/wallets.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";
import { http } from "../../support/service/user.ts";

const PASSPHRASE = "Secure Passphrase";
const ADA = 1_000_000;

interface Answered {
  readonly id: string;
}

describe("a request with an Idempotency-Key", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let store: Store;
  let back: Arbor;
  let front: Arbor;
  let client: WalletClient;
  let home = "";
  let pools: readonly string[] = [];

  const start = async () => {
    front = await Arbor.start({ infra, ownProcess: true, roles: "edge" });
    client = new WalletClient(front.wallets);
  };
  /** Status, and the id of the (first) transaction or the code of the refusal. */
  const ask = async (method: "POST" | "PUT" | "DELETE", path: string, key: string, body: unknown) => {
    try {
      const answer = await client.send<Answered | readonly Answered[]>(method, path, body, key);
      return { status: 202, said: "id" in answer ? answer.id : answer[0]!.id };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { status: error.status, said: error.code };
    }
  };
  const fund = async (address: string, times: number) => {
    for (let i = 0; i < times; i++) {
      const paid = await http(back.devnet, "POST", "/faucet", { address, lovelace: 20 * ADA });
      expect(paid.status, JSON.stringify(paid.body)).toBe(200);
    }
  };
  const funded = async () => {
    const { id } = await client.create({ name: "W", mnemonic_sentence: newMnemonic(), passphrase: PASSPHRASE });
    await fund((await client.addresses(id))[0]!.id, 3);
    await until("paid", async () => (await client.wallet(id)).balance.available.quantity === 60 * ADA);
    return id;
  };
  const landed = (id: string, hash: string) =>
    until("it is in the ledger", async () => (await client.transaction(id, hash)).status === "in_ledger");
  /** The same twice, then something else under the same key. */
  const twice = async (
    method: "POST" | "PUT" | "DELETE",
    path: string,
    key: string,
    body: object,
    other: { readonly method?: "PUT"; readonly path?: string; readonly body?: object },
  ) => {
    const first = await ask(method, path, key, body);
    expect(first, JSON.stringify(first)).toEqual({ status: 202, said: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(await ask(method, path, key, body)).toEqual(first);
    expect(await ask(other.method ?? method, other.path ?? path, key, other.body ?? body)).toEqual({
      status: 409,
      said: "idempotency_key_reused",
    });
    return first.said;
  };

  beforeAll(async () => {
    infra = await sharedInfra();
    store = openStore(infra.databaseUrl);
    back = await Arbor.start({ infra, roles: "worker,devnet,follower", env: { ARBOR_POOLS: "2" } });
    await start();
    const made = await client.create({ name: "Home", mnemonic_sentence: newMnemonic(), passphrase: PASSPHRASE });
    home = (await client.addresses(made.id))[0]!.id;
    pools = (await client.stakePools(1)).map(({ id }) => id);
  });
  afterAll(async () => {
    await front?.end();
    await back?.end();
    await store?.close();
    await infra?.stop();
  });

  it("joins, votes and quits once", async () => {
    const id = await funded();
    const body = { passphrase: PASSPHRASE };
    const [pool, another] = pools.map((one) => `/stake-pools/${one}/wallets/${id}`);
    await landed(id, await twice("PUT", pool!, "join", body, { path: another! }));
    const [vote, other] = ["no_confidence", "abstain"].map((one) => `/dreps/${one}/wallets/${id}`);
    await landed(id, await twice("PUT", vote!, "vote", body, { path: other! }));
    await landed(
      id,
      await twice("DELETE", `/stake-pools/*/wallets/${id}`, "quit", body, { method: "PUT", path: pool! }),
    );
    expect(await client.transactions(id)).toHaveLength(3 + 3);
  });

  it("submits once, for a wallet, for a shared one and without one", async () => {
    const id = await funded();
    const payments = [{ address: home, amount: lovelace(2 * ADA) }];
    const signed = async () => {
      const { transaction } = await client.construct(id, { payments });
      return (await client.sign(id, transaction, PASSPHRASE)).transaction;
    };
    const [one, two, three] = [await signed(), await signed(), await signed()];
    const submit = `/wallets/${id}/transactions-submit`;
    await twice("POST", submit, "submit", { transaction: one }, { body: { transaction: two } });
    const raw = (text: string) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
    const proxied = await client.proxy(raw(two), "proxy");
    expect(await client.proxy(raw(two), "proxy")).toEqual(proxied);
    await expect(client.proxy(raw(three), "proxy")).rejects.toMatchObject({ status: 409 });

    const shared = await client.send<{ id: string }>("POST", "/shared-wallets", {
      name: "Ours",
      mnemonic_sentence: newMnemonic(),
      passphrase: PASSPHRASE,
      account_index: "0H",
      payment_script_template: { cosigners: { "cosigner#0": "self" }, template: { all: ["cosigner#0"] } },
    });
    const prefix = "shared-wallets";
    const [address] = await until("addresses", async () => {
      const all = await client.addresses(shared.id, {}, prefix).catch(() => []);
      return all.length > 0 && all;
    });
    await fund(address!.id, 2);
    const both: string[] = [];
    for (let i = 0; i < 2; i++) {
      const built = await until("paid", () => client.construct(shared.id, { payments }, prefix).catch(() => undefined));
      both.push((await client.sign(shared.id, built.transaction, PASSPHRASE, prefix)).transaction);
    }
    const path = `/${prefix}/${shared.id}/transactions-submit`;
    await twice("POST", path, "submit", { transaction: both[0] }, { body: { transaction: both[1] } });
  });

  it.each(["join", "migrate"])("to %s survives the death of its server", async (what) => {
    const id = await funded();
    const [method, path, body] = what === "join"
      ? ["PUT", `/stake-pools/${pools[0]}/wallets/${id}`, { passphrase: PASSPHRASE }] as const
      : ["POST", `/wallets/${id}/migrations`, { passphrase: PASSPHRASE, addresses: [home] }] as const;
    const first = ask(method, path, what, body);
    await until("it is made", async () => {
      const rows = await store.sql`select 1 from wallet_request where scope = ${id} and transaction is not null`;
      return rows.length > 0;
    });
    await front.end("SIGKILL");
    const firstAnswer = await first;
    await start();
    const again = await ask(method, path, what, body);
    expect(again.status, JSON.stringify(again)).toBe(202);
    if (firstAnswer.status === 202) expect(again).toEqual(firstAnswer);
    expect(await ask(method, path, what, body)).toEqual(again);
    await landed(id, again.said);
    const outgoing = (await client.transactions(id)).filter(({ direction }) => direction === "outgoing");
    expect(outgoing.map((one) => one.id)).toEqual([again.said]);
  });

  it("that died with its server before anything was signed is done at once by the next one", async () => {
    const id = await funded();
    const body = { passphrase: PASSPHRASE, payments: [{ address: home, amount: lovelace(2 * ADA) }] };
    const send = () => ask("POST", `/wallets/${id}/transactions`, "lost", body);
    const held = () =>
      store.sql`select 1 from wallet_request where scope = ${id} and key = 'lost' and transaction is null`;
    let first: ReturnType<typeof send> | undefined;
    await store.sql.begin(async (sql) => {
      // builds wait for this
      await sql`lock table reservation in access exclusive mode`;
      first = send();
      await until("it has begun", async () => (await held()).length > 0);
      // its own server is working on it
      expect(await send()).toEqual({ status: 409, said: "request_in_progress" });
      await front.end("SIGKILL");
    });
    expect((await first!).status).not.toBe(202);
    await start();
    const again = await send();
    expect(again.status, JSON.stringify(again)).toBe(202);
    expect(await send()).toEqual(again);
    await landed(id, again.said);
    const outgoing = (await client.transactions(id)).filter(({ direction }) => direction === "outgoing");
    expect(outgoing.map((one) => one.id)).toEqual([again.said]);
  });
});
