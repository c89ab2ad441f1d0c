/**
 * One pending state of wallets and tokens: what was submitted through one service is spent, and its outputs are usable,
 * in every other. Blocks are made on request.
 */
import { Buffer } from "node:buffer";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TokenClient, type Unsigned } from "#src/client/tokens.ts";
import { lovelace, type WalletClient } from "#src/client/wallets.ts";
import { ADA, PASSPHRASE, Scenario } from "../../support/service/scenario.ts";
import { until } from "../../support/base/until.ts";
import { readByCsl } from "../../support/ledger/readByCsl.ts";
import { http, unsignedPayment, User } from "../../support/service/user.ts";
import { WalletTokens } from "../../support/wallets/walletTokens.ts";

describe("the pending state of wallets and tokens", () => {
  let scenario: Scenario;
  let client: WalletClient;
  beforeAll(async () => {
    scenario = await Scenario.start({ blockMs: 0, provider: "devnet" });
    ({ client } = scenario);
  });
  afterAll(() => scenario?.stop());

  const walletWith = async (...coins: bigint[]) => {
    const { id } = await scenario.createWallet({ coins: coins.map((one) => one * ADA) });
    return new WalletTokens(scenario, id, await scenario.address(id));
  };
  const pay = (from: WalletTokens, address: string, ada: bigint, more: object = {}) =>
    client.pay(from.id, { payments: [{ address, amount: lovelace(ada * ADA) }], passphrase: PASSPHRASE, ...more });
  const balance = async ({ id }: WalletTokens) => {
    const { available, total } = (await client.wallet(id)).balance;
    return { available: BigInt(available.quantity), total: BigInt(total.quantity) };
  };
  const landed = async (wallet: WalletTokens, ...hashes: string[]) => {
    await scenario.blocks();
    for (const hash of hashes) await scenario.untilInLedger(wallet.id, hash);
  };

  it("a wallet pays from the change of its pending token transaction, and shows both", async () => {
    const alice = await walletWith(100n);
    const bob = await walletWith();
    const boot = await alice.build("boot-token");
    const booted = await alice.send(boot);
    const shown = await balance(alice);
    expect(shown.available).toBe(0n);
    expect(shown.total).toBeGreaterThan(90n * ADA);
    expect(await client.get(`/wallets/${alice.id}/utxo`)).toMatchObject({ entries: [] });
    const { id: paid } = await pay(alice, bob.address, 5n);
    await landed(alice, booted, paid);
    expect((await balance(bob)).available).toBe(5n * ADA);
  });

  it("a token request is paid from a payment that another wallet has just sent, and so is a payment", async () => {
    const alice = await walletWith(100n);
    const bob = await walletWith(50n);
    const carol = await walletWith();
    const boot = await alice.build("boot-token");
    await landed(alice, await alice.send(boot));
    const { id: first } = await pay(bob, carol.address, 20n);
    const request = await carol.send(
      await carol.build("request-insert", boot.body.value, { key: "k", newValue: "v" }),
    );
    const { id: paid } = await pay(carol, bob.address, 3n);
    await landed(carol, first, request, paid);
  });

  it("a coin that a transaction from elsewhere spends is used by neither", async () => {
    const alice = await walletWith(30n, 40n);
    const bob = await walletWith();
    const built = await client.construct(alice.id, {
      payments: [{ address: bob.address, amount: lovelace(25n * ADA) }],
    });
    const { transaction } = await client.sign(alice.id, built.transaction, PASSPHRASE);
    const { id: proxied } = await client.proxy(Buffer.from(transaction, "base64"));
    const spent = built.coin_selection.inputs.map(({ id, index }) => `${id}#${index}`);
    expect(spent).toHaveLength(1);
    const { id: paid } = await pay(alice, bob.address, 20n);
    const used = (await client.transaction(alice.id, paid)).inputs.map(({ id, index }) => `${id}#${index}`);
    expect(used).not.toContain(spent[0]);
    await landed(alice, proxied, paid);
  });

  it("what the network refuses spends and pays nothing meanwhile, however often it is submitted", async () => {
    const alice = await walletWith(40n);
    const { body: { utxos: [coin] } } = await http(scenario.devnet, "GET", `/utxos/${alice.address}`);
    const mallory = new User();
    // none of them is signed: they spend the only coin, or pay a great one out of nothing
    const attacks: readonly ((n: bigint) => string)[] = [
      (n) => unsignedPayment(coin, [{ address: mallory.address, lovelace: 2n * ADA + n }], 200_000n),
      (n) =>
        unsignedPayment(
          { txHash: "ab".repeat(32), index: 0 },
          [{ address: alice.address, lovelace: 9_000n * ADA + n }],
          200_000n,
        ),
    ];
    for (const attack of attacks) {
      let over = false;
      const refused = new Set<number>();
      const lanes = [0n, 1n, 2n].map(async (lane) => {
        for (let n = lane; !over; n += 3n) refused.add((await alice.submit(attack(n))).status);
      });
      try {
        for (let i = 0; i < 12; i++) {
          const { status, body } = await alice.build("boot-token");
          expect([status, body.code]).toEqual([200, undefined]);
          expect(readByCsl(body.unsignedTransaction).inputs).toEqual([`${coin.txHash}#${coin.index}`]);
        }
      } finally {
        over = true;
        await Promise.all(lanes);
      }
      expect([...refused]).toEqual([422]);
    }
  });

  it("what depends on an expired transaction is dropped with it, and the coins return", async () => {
    const alice = await walletWith(30n);
    const bob = await walletWith();
    const payments = [{ address: bob.address, amount: lovelace(2n * ADA) }];
    // the change of the first is the only coin of the second
    const [first, second] = await until("both are in time", async () => {
      try {
        const brief = { payments, passphrase: PASSPHRASE, time_to_live: { quantity: 3, unit: "second" as const } };
        const one = await client.pay(alice.id, brief);
        return [one, await pay(alice, bob.address, 1n)] as const;
      } catch {
        return false;
      }
    });
    const { expires_at: last } = await client.transaction(alice.id, first.id);
    await until("its last slot is past", async () => (await scenario.tip()).currentSlot > last!.absolute_slot_number);
    await scenario.blocks();
    await scenario.untilStatus(alice.id, first.id, "expired");
    expect(await balance(alice)).toEqual({ available: 30n * ADA, total: 30n * ADA });
    const { id: third } = await pay(alice, bob.address, 20n);
    await landed(alice, third);
    expect(second.id).not.toBe(third);
  });

  it("a token build pays with all coins of the wallet that it names, and returns change to it", async () => {
    const alice = await walletWith(1n, 3n, 4n);
    const bob = await walletWith(30n);
    const short = await alice.build("boot-token");
    const boot = await alice.paying().build("boot-token");
    expect([short.status, boot.status]).toEqual([422, 200]);
    const booted = await alice.send(boot);
    const token = boot.body.value;
    const { total } = await balance(alice);
    // the change is usable at once, also by a payment
    const { id: back } = await pay(bob, alice.address, 5n);
    const { id: paid } = await pay(alice, bob.address, 2n);
    await landed(alice, booted, back, paid);
    const fee = BigInt((await client.transaction(alice.id, paid)).fee.quantity);
    expect((await balance(alice)).available).toBe(total + 3n * ADA - fee);

    const refused = async (wallet: string, address: string) => {
      const { status, body } = await new WalletTokens(scenario, wallet, address, true).build("end-token", token);
      return [status, body.code];
    };
    expect(await refused(bob.id, alice.address)).toEqual([403, "foreign_address"]);
    expect(await refused("ab".repeat(20), alice.address)).toEqual([404, "no_such_wallet"]);
    expect(await refused("nothing", alice.address)).toEqual([400, "bad_request"]);
    // the owner is the address's key: another address of the wallet does not own the token
    expect(await refused(alice.id, await scenario.address(alice.id, 1))).toEqual([403, "not_owner"]);
    const tokens = new TokenClient(scenario.arbor.tokens);
    const own = (transaction: string) => client.ownAddresses(alice.id, transaction);
    const [paying, wrong] = [{ wallet: alice.id, own }, { wallet: bob.id }];
    const { address } = alice;
    const send = ({ unsignedTransaction }: Unsigned) => alice.send({ status: 200, body: { unsignedTransaction } });
    const request = `${await send(await tokens.insert(address, token, "k", "v", paying))}-0`;
    const builds: readonly (() => Promise<unknown>)[] = [
      () => tokens.boot(address, wrong),
      () => tokens.insert(address, token, "l", "v", wrong),
      () => tokens.update(address, token, "k", "v", "w", wrong),
      () => tokens.delete(address, token, "k", "v", wrong),
      () => tokens.apply(address, token, [request], wrong),
      () => tokens.tryApply(address, token, [request], wrong),
      () => tokens.retract(address, request, wrong),
      () => tokens.transfer(address, token, bob.address, wrong),
      () => tokens.end(address, token, wrong),
    ];
    for (const build of builds) {
      expect([String(build), ...await scenario.refused(build())]).toEqual([String(build), 403, "foreign_address"]);
    }
    expect(await tokens.tryApply(address, token, [request], paying)).toMatchObject({
      applied: [request],
      dryRun: true,
    });
    const applied = await send(await tokens.apply(address, token, [request], paying));
    await landed(alice, applied, await send(await tokens.end(address, token, paying)));
  });

  it("builds of both services for one wallet use different coins while there are some", async () => {
    const alice = await walletWith(20n, 20n, 20n, 20n);
    const bob = await walletWith();
    const payments = [{ address: bob.address, amount: lovelace(5n * ADA) }];
    const built = await Promise.all([0, 1].flatMap(() => [
      client.construct(alice.id, { payments }).then(({ coin_selection }) =>
        [...coin_selection.inputs, ...coin_selection.collateral ?? []].map(({ id, index }) => `${id}#${index}`)
      ),
      alice.paying().build("boot-token").then(({ status, body }) => {
        expect(status).toBe(200);
        return body.summary.spends.map(({ outputRef: ref }: { outputRef: string }) =>
          ref.replace("-", "#")
        ) as string[];
      }),
    ]));
    const used = built.flat();
    expect(used.length).toBeGreaterThanOrEqual(4);
    expect(new Set(used).size).toBe(used.length);
  });

  it("a delegation builds on the pending one of the same stake key", async () => {
    const alice = await walletWith(50n, 50n, 50n);
    const [pool] = await client.stakePools(1_000n * ADA);
    const joined = await client.joinPool(alice.id, pool!.id, PASSPHRASE);
    // registered already: another registration would be refused by the ledger
    const voted = await client.joinDrep(alice.id, "no_confidence", PASSPHRASE);
    expect(await scenario.refused(client.joinDrep(alice.id, "no_confidence", PASSPHRASE))).toEqual([403, "same_vote"]);
    const left = await client.quitPool(alice.id, PASSPHRASE);
    expect(await scenario.refused(client.quitPool(alice.id, PASSPHRASE))).toEqual([403, "not_delegating_to"]);
    await landed(alice, joined.id, voted.id, left.id);
    expect((await client.wallet(alice.id)).delegation.active).toMatchObject({ status: "not_delegating" });
  });

  it("change beyond the end of a pool that a rollback shortened is spent and signed", async () => {
    const { id } = await scenario.createWallet({ coins: [100n * ADA], gap: 10 });
    const alice = new WalletTokens(scenario, id, await scenario.address(id));
    const bob = await walletWith();
    const paid: string[] = [];
    for (let i = 0; i < 12; i++) {
      paid.push((await pay(alice, bob.address, 1n)).id);
      await landed(alice, paid.at(-1)!);
    }
    await scenario.rollback(12);
    await scenario.untilStatus(id, paid[0]!, "pending");
    // the change of the last payment is the only coin, at the twelfth change address of ten
    paid.push((await pay(alice, bob.address, 1n)).id);
    await landed(alice, ...paid);
  });
});
