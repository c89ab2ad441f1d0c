/**
 * Workers killed during the creation of wallets and submissions for them: nothing is lost, duplicated or incomplete.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { lovelace, WalletClient } from "#src/client/wallets.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";
import { http } from "../../support/service/user.ts";

const LEASE = { ARBOR_LEASE_MS: "1500" };
/**
 * A restored wallet joins the others when both are at one block: on a busy machine blocks in quick succession prevent
 * that.
 */
const BLOCKS = { ARBOR_BLOCK_MS: "500" };
const PASSPHRASE = "Secure Passphrase";
/** Created or paying at once, so that some belong to the victim's partitions. */
const COUNT = 6;

describe("kill -9", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let store: Store;
  let front: Arbor;
  let steady: Arbor;
  let client: WalletClient;

  beforeAll(async () => {
    infra = await sharedInfra();
    store = openStore(infra.databaseUrl);
    front = await Arbor.start({ infra, roles: "edge,devnet,follower", env: { ...LEASE, ...BLOCKS } });
    steady = await Arbor.start({ infra, roles: "worker", env: LEASE });
    client = new WalletClient(front.wallets);
  });
  afterAll(async () => {
    for (const one of [steady, front]) await one?.end();
    await store?.close();
    await infra?.stop();
  });

  /** A worker that has its share of the partitions, and dies at the n-th step of its kind. */
  const victim = async (step: string, kind: string) => {
    const started = await Arbor.start({
      infra,
      roles: "worker",
      entry: "test/support/service/faultyProcess.ts",
      env: { ...LEASE, ARBOR_FAULT: `worker:${step}:${kind}:2` },
    });
    await until("a share for the victim", async () => {
      const [row] = await store.sql<{ owners: number }[]>`select count(distinct owner)::int as owners from partition`;
      return row!.owners === 2;
    });
    return started;
  };
  const create = () =>
    client.create({ name: "W", mnemonic_sentence: newMnemonic(15), passphrase: PASSPHRASE, address_pool_gap: 10 });
  const versions = async (id: string) => {
    const rows = await store.sql<{ version: bigint }[]>`select version from outbox where id = ${id} order by version`;
    return rows.map((row) => Number(row.version));
  };
  const counted = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

  it.each(["before-commit", "before-effect", "after-effect"])("a worker %s of a wallet's creation", async (step) => {
    const dying = await victim(step, "wallet");
    try {
      const made: string[] = [];
      for (let round = 0; dying.child.signalCode === null && round < 6; round++) {
        made.push(...(await Promise.all(Array.from({ length: COUNT }, create))).map(({ id }) => id));
      }
      expect(dying.child.signalCode).toBe("SIGKILL");
      for (const id of made) {
        await until(`wallet ${id}`, async () => (await client.wallet(id)).state.status === "ready");
        expect((await client.addresses(id)).length).toBe(10);
        const [row] = await store.sql<{ rows: number; keys: number; members: number }[]>`select
          (select count(*)::int from wallet where id = ${id}) as rows,
          (select count(*)::int from vault_adoption join vault_key using (attempt) where wallet = ${id}) as keys,
          (select count(*)::int from chain_member where member = ${id} and not gone) as members`;
        expect(row).toEqual({ rows: 1, keys: 1, members: 1 });
        const seen = await versions(id);
        expect(seen).toEqual(counted(seen.length));
      }
    } finally {
      await dying.end("SIGKILL");
    }
  });

  it.each(["before-commit", "after-effect"])("a worker %s of a payment's submission", async (step) => {
    const wallets = await Promise.all(Array.from({ length: COUNT }, create));
    const ready = (id: string) => until("it is ready", async () => (await client.wallet(id)).state.status === "ready");
    await Promise.all(wallets.map(({ id }) => ready(id)));
    const homes = await Promise.all(wallets.map(async ({ id }) => (await client.addresses(id))[0]!.id));
    for (const address of homes) {
      for (let i = 0; i < 6; i++) {
        const paid = await http(front.devnet, "POST", "/faucet", { address, lovelace: 20_000_000 });
        expect(paid.status).toBe(200);
      }
    }
    for (const { id } of wallets) {
      await until(
        "the money",
        async () => Number((await client.wallet(id)).balance.available.quantity) === 120_000_000,
      );
    }
    const dying = await victim(step, "transaction");
    try {
      const sent: { id: string; hash: string }[] = [];
      for (let round = 0; dying.child.signalCode === null && round < 5; round++) {
        sent.push(
          ...await Promise.all(wallets.map(async ({ id }, i) => {
            const payments = [{ address: homes[(i + 1) % COUNT]!, amount: lovelace(2_000_000) }];
            return { id, hash: (await client.pay(id, { passphrase: PASSPHRASE, payments })).id };
          })),
        );
      }
      expect(dying.child.signalCode).toBe("SIGKILL");
      for (const { id, hash } of sent) {
        await until(`payment ${hash}`, async () => (await client.transaction(id, hash)).status === "in_ledger");
        const transitions = await until("its transitions", async () => {
          const seen = await versions(hash);
          const [actor] = await store.sql<{ state: string }[]>`
            select snapshot->>'value' as state from actor where kind = 'transaction' and id = ${hash}`;
          return actor?.state === "in_ledger" ? seen : undefined;
        });
        expect(transitions).toEqual(counted(transitions.length));
      }
      for (const { id } of wallets) {
        expect((await client.transactions(id)).filter((one) => one.status !== "in_ledger")).toEqual([]);
      }
    } finally {
      await dying.end("SIGKILL");
    }
  });
});
