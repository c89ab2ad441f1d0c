/** A wallet of the first era over HTTP: its addresses made one by one, brought along, found on the chain, and spent from. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { newMnemonic } from "#src/cardano/mnemonic.ts";
import { ApiError } from "#src/client/http.ts";
import { lovelace, WalletClient } from "#src/client/wallets.ts";
import { Arbor } from "../../support/arbor.ts";
import { sharedInfra } from "../../support/infra.ts";
import { until } from "../../support/until.ts";
import { http } from "../../support/user.ts";

const PASSPHRASE = "Secure Passphrase";
const BYRON = "byron-wallets";

describe("a random wallet", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let arbor: Arbor;
  let client: WalletClient;
  const words = newMnemonic(12);

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await Arbor.start({ infra });
    client = new WalletClient(arbor.wallets);
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  it("makes addresses, is paid, pays, and is found again from its words", async () => {
    const create = () =>
      client.createByron({ style: "random", name: "Old", mnemonic_sentence: words, passphrase: PASSPHRASE });
    const { id, discovery } = await create();
    expect(discovery).toBe("random");
    expect(await client.addresses(id, {}, BYRON)).toEqual([]);
    const make = (body: object) =>
      client.send<{ id: string; state: string }>("POST", `/${BYRON}/${id}/addresses`, body);
    const one = await make({ passphrase: PASSPHRASE, address_index: 2_147_483_648 });
    expect(one).toMatchObject({ state: "unused", derivation_path: ["0H", "0H"] });
    const again = await make({ passphrase: PASSPHRASE, address_index: 2_147_483_648 }).catch((error: unknown) => error);
    expect([(again as ApiError).status, (again as ApiError).code]).toEqual([409, "address_already_exists"]);
    const soft = await make({ passphrase: PASSPHRASE, address_index: 5 }).catch((error: unknown) => error);
    expect((soft as ApiError).code).toBe("hardened_derivation_required");
    const two = await make({ passphrase: PASSPHRASE });
    expect((await client.addresses(id, {}, BYRON)).map((address) => address.id).sort()).toEqual(
      [one.id, two.id].sort(),
    );

    const paid = await http(arbor.devnet, "POST", "/faucet", { address: two.id, lovelace: 20_000_000 });
    expect(paid.status, JSON.stringify(paid.body)).toBe(200);
    await until("paid", async () => (await client.byronWallet(id)).balance.available.quantity === 20_000_000);
    const other = await client.create({ name: "New", mnemonic_sentence: newMnemonic(), passphrase: PASSPHRASE });
    const address = (await client.addresses(other.id))[0]!.id;
    const body = { payments: [{ address, amount: lovelace(3_000_000) }] };
    expect(Number((await client.fees(id, body, BYRON)).estimated_min.quantity)).toBeGreaterThan(150_000);
    const sent = await client.pay(id, { ...body, passphrase: PASSPHRASE }, { prefix: BYRON });
    await until("sent", async () => (await client.transaction(id, sent.id, {}, BYRON)).status === "in_ledger");
    await until("received", async () => (await client.wallet(other.id)).balance.total.quantity === 3_000_000);
    const left = (await client.byronWallet(id)).balance.available.quantity;
    expect(left).toBe(20_000_000 - 3_000_000 - Number(sent.fee.quantity));

    const three = await make({ passphrase: PASSPHRASE });
    await client.delete(id, BYRON);
    expect((await create()).id).toBe(id);
    await until("found again", async () => (await client.byronWallet(id)).balance.available.quantity === left);
    expect((await client.addresses(id, {}, BYRON)).map((found) => found.id)).not.toContain(three.id);
    await client.send("PUT", `/${BYRON}/${id}/addresses/${three.id}`);
    expect((await client.addresses(id, { state: "unused" }, BYRON)).map((found) => found.id)).toEqual([three.id]);
    const foreign = await client.send("PUT", `/${BYRON}/${id}/addresses`, { addresses: [address] })
      .catch((error: unknown) => error);
    expect([(foreign as ApiError).status, (foreign as ApiError).code]).toEqual([403, "key_not_found_for_address"]);
  });
});
