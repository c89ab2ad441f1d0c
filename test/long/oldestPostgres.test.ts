/** The whole service on the installed PostgreSQL: with Debian's 15, the oldest that a start accepts. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import { lovelace, WalletClient } from "#src/client/wallets.ts";
import { OLDEST_POSTGRES } from "#src/store/server.ts";
import { openStore } from "#src/store/store.ts";
import { Arbor } from "../support/service/arbor.ts";
import { type Infra, sharedInfra } from "../support/infra/infra.ts";
import { findPostgres, type PostgresServer, startInstalledServer } from "../support/infra/postgresServer.ts";
import { until } from "../support/base/until.ts";
import { fund, http, land, User } from "../support/service/user.ts";

const native = findPostgres();

describe.skipIf(native === undefined)("on an installed PostgreSQL", () => {
  let infra: Infra;
  let server: PostgresServer;
  let arbor: Arbor;

  beforeAll(async () => {
    [infra, server] = await Promise.all([sharedInfra(), startInstalledServer(native!)]);
    arbor = await Arbor.start({ infra: { ...infra, databaseUrl: server.url } });
  });
  afterAll(async () => {
    await arbor?.end();
    await server?.stop();
    await infra?.stop();
  });

  test("a token is booted, and a fact requested and applied", async () => {
    const store = openStore(server.url, { max: 1 });
    const [row] = await store.sql<{ version: string }[]>`select current_setting('server_version') as version`;
    await store.close();
    console.log(`PostgreSQL ${row!.version}; the oldest that is accepted is ${OLDEST_POSTGRES}`);
    const user = new User();
    await fund(arbor.devnet, arbor.tokens, user);
    const built = async (method: string, path: string, body?: unknown) => {
      const answer = await http(arbor.tokens, method, `/transaction/${user.address}/${path}`, body);
      expect([path, answer.status, answer.body]).toEqual([path, 200, expect.anything()]);
      await land(arbor.tokens, user.sign(answer.body.unsignedTransaction));
      return answer.body;
    };
    const token = (await built("GET", "boot-token")).value as string;
    await built("POST", `request-insert/${token}`, { key: "a", value: "1" });
    await built("GET", `update-token/${token}`);
    await until("the fact", async () => (await http(arbor.tokens, "GET", `/token/${token}/facts`)).body.a === "1");
  });

  test("a wallet is created, refuses a wrong passphrase, and pays", async () => {
    const client = new WalletClient(arbor.wallets);
    const passphrase = "Secure Passphrase";
    const { id } = await client.create({ name: "W", mnemonic_sentence: newMnemonic(15), passphrase });
    const address = (await client.addresses(id))[0]!.id;
    expect((await http(arbor.devnet, "POST", "/faucet", { address, lovelace: 100_000_000 })).status).toBe(200);
    await until("the money", async () => Number((await client.wallet(id)).balance.available.quantity) === 100_000_000);
    const payments = [{ address: new User().address, amount: lovelace(2_000_000) }];
    await expect(client.pay(id, { passphrase: "Another Passphrase", payments })).rejects.toMatchObject({ status: 403 });
    const paid = await client.pay(id, { passphrase, payments });
    await until("the payment", async () => (await client.transaction(id, paid.id)).status === "in_ledger");
    await client.changePassphrase(id, { old_passphrase: passphrase, new_passphrase: "Another Passphrase" });
    await client.pay(id, { passphrase: "Another Passphrase", payments });
  });
});
