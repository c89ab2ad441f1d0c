/** Wallets that are created again while they are being deleted. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { ApiError } from "#src/client/http.ts";
import { WalletClient } from "#src/client/wallets.ts";
import { openStore, type Store } from "#src/store/store.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { until } from "../../support/base/until.ts";

describe("a wallet that is created again", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let store: Store;
  let arbor: Arbor;
  let client: WalletClient;
  const words = newMnemonic();
  const create = () =>
    client.create({ name: "Again", mnemonic_sentence: words, passphrase: "Secure Passphrase", address_pool_gap: 10 });
  const ready = (id: string) => until("ready", async () => (await client.wallet(id)).state.status === "ready");
  const codeOf = (request: Promise<unknown>) =>
    request.then(
      () => "done",
      (error: unknown) => error instanceof ApiError ? `${error.status} ${error.code}` : "lost",
    );

  beforeAll(async () => {
    infra = await sharedInfra();
    store = openStore(infra.databaseUrl);
    arbor = await Arbor.start({ infra, mining: "submit" });
    client = new WalletClient(arbor.wallets);
  });
  afterAll(async () => {
    await arbor?.end();
    await store?.close();
    await infra?.stop();
  });

  it("waits until the previous one is gone", async () => {
    const { id } = await create();
    await ready(id);
    let deleting: Promise<string> | undefined;
    let creating: Promise<string> | undefined;
    let isDone = false;
    // a lock on the wallet's row in the index delays its end
    await store.sql.begin(async (sql) => {
      await sql`select 1 from chain_member where member = ${id} for update`;
      deleting = codeOf(client.delete(id));
      await until("it is going", async () => {
        const [row] = await store.sql<{ state: string }[]>`
          select snapshot->>'value' as state from actor where kind = 'wallet' and id = ${id}`;
        return row?.state === "deleting";
      });
      expect(await codeOf(client.wallet(id))).toBe("404 no_such_wallet");
      creating = codeOf(create()).finally(() => isDone = true);
      // it stretches a passphrase first: nothing here depends on its progress
      await Promise.race([creating, new Promise((resolve) => setTimeout(resolve, 1_500))]);
      expect(isDone).toBe(false);
    });
    expect([await deleting, await creating]).toEqual(["done", "done"]);
    expect((await client.wallet(id)).id).toBe(id);
    await ready(id);
    expect(await codeOf(create())).toBe("409 wallet_already_exists");
  });

  it("exists or does not, in any order of the requests", async () => {
    const { id } = await create().catch(() => client.wallets().then(([one]) => one!));
    for (let round = 0; round < 6; round++) {
      const [deleted, created] = await Promise.all([codeOf(client.delete(id)), codeOf(create())]);
      const isThere = await codeOf(client.wallet(id));
      const outcome = `${deleted}, ${created}, ${isThere}`;
      expect(["done", "404 no_such_wallet"], outcome).toContain(deleted);
      // one that existed when it was to be created is gone; so is one that was deleted during its creation
      if (created !== "done") {
        expect(["409 wallet_already_exists", "404 no_such_wallet"], outcome).toContain(created);
        expect([deleted, isThere], outcome).toEqual(["done", "404 no_such_wallet"]);
      } else if (deleted !== "done") expect(isThere, outcome).toBe("done");
    }
    await create().catch(() => {});
    await ready(id);
    const [row] = await store.sql<{ rows: number; members: number }[]>`select
      (select count(*)::int from wallet where id = ${id}) as rows,
      (select count(*)::int from chain_member where member = ${id} and not gone) as members`;
    expect(row).toEqual({ rows: 1, members: 1 });
  });
});
