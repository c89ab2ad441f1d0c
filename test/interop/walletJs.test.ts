/** A wallet's life driven by npm's `cardano-wallet-js`, an independent client of wallet servers. */
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { newMnemonic } from "#src/cardano/keys/mnemonic.ts";
import type {} from "./build.ts";
import { Arbor } from "../support/service/arbor.ts";
import { sharedInfra } from "../support/infra/infra.ts";
import { until } from "../support/base/until.ts";
import { http } from "../support/service/user.ts";

/** The used part of the package; it has no types that a strict compiler accepts. */
interface Server {
  getNetworkInformation(): Promise<{ sync_progress: { status: string }; node_tip: { absolute_slot_number: number } }>;
  getNetworkParameters(): Promise<{ eras: { shelley: { epoch_number: number } } }>;
  getNetworkClock(): Promise<{ status: string }>;
  wallets(): Promise<Wallet[]>;
  createOrRestoreShelleyWallet(
    name: string,
    words: string[],
    passphrase: string,
    secondFactor?: string[],
    gap?: number,
  ): Promise<Wallet>;
  getShelleyWallet(id: string): Promise<Wallet>;
  getStakePools(stake?: number): Promise<{ id: string }[]>;
  stakePoolMaintenanceActions(): Promise<{ gc_stake_pools: { status: string } }>;
  triggerStakePoolGarbageCollection(): Promise<void>;
  updateMetadataSource(source: string): Promise<void>;
  getMetadataSource(): Promise<string>;
  submitTx(hex: string): Promise<string>;
}
interface Amount {
  quantity: number;
}
interface Asset {
  policy_id: string;
  asset_name: string;
  quantity: number;
}
interface Transaction {
  id: string;
  status: string;
  direction: string;
  metadata: unknown;
  fee: Amount;
  inputs: { amount: Amount }[];
  outputs: { address: string; amount: Amount; assets?: Asset[] }[];
  withdrawals: { amount: Amount }[];
}
interface Selection {
  inputs: { derivation_path: string[] }[];
  outputs: { address: string; assets?: Asset[] }[];
  change: unknown[];
}
interface Fee {
  estimated_min: Amount;
  deposit: Amount;
}
interface Wallet {
  id: string;
  name: string;
  address_pool_gap: number;
  assets: { total: Asset[] };
  refresh(): Promise<Wallet>;
  rename(name: string): Promise<Wallet>;
  updatePassphrase(old: string, next: string): Promise<Wallet>;
  delete(): Promise<unknown>;
  getAvailableBalance(): number;
  getTotalBalance(): number;
  getRewardBalance(): number;
  getDelegation(): { active: { status: string; target?: string }; next: { status: string; target?: string }[] };
  getAddresses(): Promise<{ id: string }[]>;
  getUsedAddresses(): Promise<{ id: string }[]>;
  getUnusedAddresses(): Promise<{ id: string }[]>;
  getAddressAt(index: number): Promise<{ id: string }>;
  getNextAddress(): Promise<{ id: string }>;
  getAddressExternalVerificationKey(index: number): Promise<{ key: string }>;
  getStakeVerificationKey(index: number): Promise<{ key: string }>;
  getUtxoStatistics(): Promise<{ total: Amount }>;
  getTransactions(start?: Date, end?: Date): Promise<Transaction[]>;
  getTransaction(id: string): Promise<Transaction>;
  forgetTransaction(id: string): Promise<boolean>;
  estimateFee(to: unknown[], amounts: number[]): Promise<Fee>;
  sendPayment(
    passphrase: string,
    to: unknown[],
    amounts: number[],
    data?: unknown,
    assets?: Record<string, Asset[]>,
    ttl?: number,
  ): Promise<Transaction>;
  getCoinSelection(to: unknown[], amounts: number[], data?: unknown): Promise<Selection>;
  estimateDelegationFee(): Promise<Fee>;
  delegate(pool: string, passphrase: string): Promise<Transaction>;
  withdraw(passphrase: string, to: unknown[], amounts: number[]): Promise<Transaction>;
  stopDelegation(passphrase: string): Promise<Transaction>;
}
interface Key {
  to_raw_key(): unknown;
}
/** The package's builder and signer of transactions, on an old release of Emurgo's library. */
interface OfflineSigner {
  deriveRootKey(words: string[]): Key;
  deriveKey(root: Key, path: string[]): Key;
  generateKeyPair(): { privateKey: Key; publicKey: Key };
  getKeyHash(key: Key): unknown;
  buildSingleIssuerScript(hash: unknown): unknown;
  getScriptHash(script: unknown): unknown;
  getPolicyId(hash: unknown): string;
  buildTransactionMetadata(data: unknown): unknown;
  buildTransaction(selection: Selection, ttl: number, options?: unknown): unknown;
  buildTransactionWithToken(
    selection: Selection,
    ttl: number,
    tokens: unknown[],
    keys: unknown[],
    options: unknown,
    encoding: string,
  ): unknown;
  sign(body: unknown, keys: unknown[], metadata?: unknown, scripts?: unknown[]): { to_bytes(): Uint8Array };
}
interface Package {
  WalletServer: { init(url: string): Server };
  Seed: OfflineSigner;
  AddressWallet: new (id: string) => unknown;
  AssetWallet: new (policy: string, name: string, quantity: number) => Asset;
  TokenWallet: new (asset: Asset, script: unknown, keys: unknown[]) => unknown;
}

const PASSPHRASE = "Secure Passphrase";
/** Slots of 50 ms: a reward takes four epochs. */
const EPOCH_SLOTS = 100;
const folder = inject("walletJs");

describe.skipIf(folder === "")("cardano-wallet-js", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let arbor: Arbor;
  let server: Server;
  const { WalletServer, Seed, AddressWallet, AssetWallet, TokenWallet } =
    (folder === "" ? {} : createRequire(import.meta.url)(folder)) as Package;

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await Arbor.start({ infra, env: { ARBOR_EPOCH_SLOTS: String(EPOCH_SLOTS), ARBOR_POOLS: "2" } });
    server = WalletServer.init(arbor.wallets);
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

  /** A wallet of these words with 100 ada in one output. */
  async function funded(name: string, words: string[]): Promise<Wallet> {
    const wallet = await server.createOrRestoreShelleyWallet(name, words, PASSPHRASE);
    const [first] = await wallet.getAddresses();
    expect((await http(arbor.devnet, "POST", "/faucet", { address: first!.id, lovelace: 100_000_000 })).status).toBe(
      200,
    );
    await until("funded", async () => (await wallet.refresh()).getAvailableBalance() === 100_000_000);
    return wallet;
  }
  /** Waits for a transaction; one that the node's proxy took is 404 until it is in a block. */
  const settled = (wallet: Wallet, id: string) =>
    until(
      "in the ledger",
      async () => (await wallet.getTransactions()).some((tx) => tx.id === id && tx.status === "in_ledger"),
    );
  /** The last slot in which a transaction built now is valid. */
  const lastSlot = async () => (await server.getNetworkInformation()).node_tip.absolute_slot_number + 7200;
  const keysOf = (words: string[], { inputs }: Selection) =>
    inputs.map(({ derivation_path }) => Seed.deriveKey(Seed.deriveRootKey(words), derivation_path).to_raw_key());
  const submit = (signed: { to_bytes(): Uint8Array }) =>
    server.submitTx(Buffer.from(signed.to_bytes()).toString("hex"));

  it("reads the network", async () => {
    expect((await server.getNetworkInformation()).sync_progress.status).toBe("ready");
    expect((await server.getNetworkParameters()).eras.shelley.epoch_number).toBe(0);
    expect(["available", "unavailable"]).toContain((await server.getNetworkClock()).status);
    expect((await server.getStakePools(1_000_000_000)).length).toBeGreaterThan(0);
  });

  it("creates a wallet, is paid, sends, lists, and deletes it", async () => {
    const mine = await server.createOrRestoreShelleyWallet("Mine", newMnemonic(15), PASSPHRASE);
    const other = await server.createOrRestoreShelleyWallet("Other", newMnemonic(24), PASSPHRASE);
    expect((await server.wallets()).map(({ id }) => id)).toEqual([mine.id, other.id]);
    const [address] = await mine.getAddresses();
    expect(await mine.getAddresses()).toHaveLength(20);
    expect((await mine.getAddressExternalVerificationKey(0)).key).toMatch(/^addr_vk1/);

    const paid = await http(arbor.devnet, "POST", "/faucet", { address: address!.id, lovelace: 50_000_000 });
    expect(paid.status).toBe(200);
    await until("paid", async () => (await mine.refresh()).getAvailableBalance() === 50_000_000);
    expect((await mine.getUsedAddresses()).map(({ id }) => id)).toEqual([address!.id]);
    expect((await mine.getUtxoStatistics()).total.quantity).toBe(50_000_000);

    // which it derives from the wallet's keys by itself
    const third = (await other.getUnusedAddresses())[3]!.id;
    expect((await other.getAddressAt(3)).id).toBe(third);
    const to = [new AddressWallet(third)];
    const { estimated_min: fee } = await mine.estimateFee(to, [3_000_000]);
    expect(fee.quantity).toBeGreaterThan(150_000);
    const sent = await mine.sendPayment(PASSPHRASE, to, [3_000_000], { 0: "hello", 1: [1, 2] });
    await until("sent", async () => (await mine.getTransaction(sent.id)).status === "in_ledger");
    expect((await mine.getTransaction(sent.id)).metadata).toEqual({
      0: { string: "hello" },
      1: { list: [{ int: 1 }, { int: 2 }] },
    });
    expect((await mine.getTransactions()).map(({ id, direction }) => [id, direction])[0]).toEqual([
      sent.id,
      "outgoing",
    ]);
    await until("received", async () => (await other.refresh()).getTotalBalance() === 3_000_000);

    expect((await other.rename("Theirs")).name).toBe("Theirs");
    await other.updatePassphrase(PASSPHRASE, "another passphrase");
    await other.delete();
    await expect(server.getShelleyWallet(other.id)).rejects.toMatchObject({ response: { status: 404 } });
  });

  it("keeps the settings of pool metadata, and starts the removal of retired pools", async () => {
    await server.updateMetadataSource("direct");
    expect(await server.getMetadataSource()).toBe("direct");
    await server.triggerStakePoolGarbageCollection();
    expect((await server.stakePoolMaintenanceActions()).gc_stake_pools.status).toMatch(
      /^(has_run|not_started|not_applicable)$/,
    );
    await server.updateMetadataSource("none");
    expect(await server.getMetadataSource()).toBe("none");
  });

  it("restores a wallet with a second factor and another gap, and refuses it a second time", async () => {
    const words = newMnemonic(15), second = newMnemonic(9);
    const made = await server.createOrRestoreShelleyWallet("Two factors", words, PASSPHRASE, second, 33);
    expect([made.name, made.address_pool_gap]).toEqual(["Two factors", 33]);
    const addresses = await made.getAddresses();
    expect(addresses).toHaveLength(33);
    expect((await made.getNextAddress()).id).toBe((await made.getAddressAt(33)).id);
    expect((await made.getStakeVerificationKey(0)).key).toMatch(/^stake_vk1/);
    await expect(server.createOrRestoreShelleyWallet("Again", words, PASSPHRASE, second)).rejects.toMatchObject({
      response: { status: 409, data: { code: "wallet_already_exists" } },
    });
    await made.delete();
    const again = await server.createOrRestoreShelleyWallet("Again", words, PASSPHRASE, second);
    expect(again.id).toBe(made.id);
    expect(await again.getAddresses()).toEqual(addresses.slice(0, 20));
  });

  it("signs a payment outside the service, with metadata", async () => {
    const words = newMnemonic(15);
    const payer = await funded("Offline", words);
    const target = (await payer.getUnusedAddresses())[4]!.id;
    const data = { 0: "hello", 1: Buffer.from("2512a00e9653fe49a44a5886202e24d77eeb998f", "hex"), 4: [1, 2, { 0: 3 }] };
    const selection = await payer.getCoinSelection([new AddressWallet(target)], [5_000_000], data);
    const metadata = () => Seed.buildTransactionMetadata(data);
    const body = Seed.buildTransaction(selection, await lastSlot(), { metadata: metadata() });
    const id = await submit(Seed.sign(body, keysOf(words, selection), metadata()));
    await settled(payer, id);
    const { metadata: shown, outputs } = await payer.getTransaction(id);
    expect(shown).toEqual({
      0: { string: "hello" },
      1: { bytes: "2512a00e9653fe49a44a5886202e24d77eeb998f" },
      4: { list: [{ int: 1 }, { int: 2 }, { map: [{ k: { string: "0" }, v: { int: 3 } }] }] },
    });
    expect(outputs.find(({ address }) => address === target)?.amount.quantity).toBe(5_000_000);
  });

  it("mints with a script of its own, and pays with what it minted", async () => {
    const words = newMnemonic(15);
    const minter = await funded("Minter", words);
    const [holder] = await minter.getUnusedAddresses();
    const policy = Seed.generateKeyPair();
    const script = Seed.buildSingleIssuerScript(Seed.getKeyHash(policy.publicKey));
    const policyId = Seed.getPolicyId(Seed.getScriptHash(script));
    const tokens = [new TokenWallet(new AssetWallet(policyId, "Tango", 1_000_000), script, [policy])];
    const name = Buffer.from("Tango").toString("hex");
    const selection = await minter.getCoinSelection([new AddressWallet(holder!.id)], [2_000_000]);
    for (const output of selection.outputs) output.assets = [new AssetWallet(policyId, name, 1_000_000)];
    const keys = [...keysOf(words, selection), policy.privateKey.to_raw_key()];
    const body = Seed.buildTransactionWithToken(selection, await lastSlot(), tokens, keys, {}, "utf8");
    await settled(minter, await submit(Seed.sign(body, keys, undefined, [script])));
    expect((await minter.refresh()).assets.total).toEqual([
      expect.objectContaining({ policy_id: policyId, asset_name: name, quantity: 1_000_000 }),
    ]);

    const other = await server.createOrRestoreShelleyWallet("Holder", newMnemonic(15), PASSPHRASE);
    const to = (await other.getAddresses())[0]!.id;
    const assets = { [to]: [new AssetWallet(policyId, name, 400_000)] };
    const sent = await minter.sendPayment(PASSPHRASE, [new AddressWallet(to)], [2_000_000], undefined, assets, 600);
    await settled(minter, sent.id);
    await until("received", async () => (await other.refresh()).assets.total[0]?.quantity === 400_000);
    expect((await minter.refresh()).assets.total[0]?.quantity).toBe(600_000);
  });

  it("delegates, withdraws what it earned, and stops", async () => {
    const owner = await funded("Delegator", newMnemonic(24));
    const [best] = await server.getStakePools(100_000_000);
    expect((await owner.estimateDelegationFee()).deposit.quantity).toBe(2_000_000);
    const joined = await owner.delegate(best!.id, PASSPHRASE);
    expect(joined.status).toBe("pending");
    await settled(owner, joined.id);
    const { active, next } = (await owner.refresh()).getDelegation();
    expect([...next, active].map(({ target }) => target)).toContain(best!.id);
    await until("rewarded", async () => (await owner.refresh()).getRewardBalance() > 0, 120_000);
    expect(owner.getDelegation().active.target).toBe(best!.id);

    const to = new AddressWallet((await owner.getUsedAddresses())[0]!.id);
    const withdrawn = await owner.withdraw(PASSPHRASE, [to], [1_500_000]);
    expect(withdrawn.withdrawals[0]!.amount.quantity).toBeGreaterThan(0);
    await settled(owner, withdrawn.id);
    const stopped = await owner.stopDelegation(PASSPHRASE);
    await settled(owner, stopped.id);
    await until("stopped", async () => (await owner.refresh()).getDelegation().active.status === "not_delegating");
  });

  it("forgets no transaction that is in the ledger, and lists those of a time", async () => {
    const payer = await funded("Forgetful", newMnemonic(15));
    const to = [new AddressWallet((await payer.getUnusedAddresses())[1]!.id)];
    const sent = await payer.sendPayment(PASSPHRASE, to, [2_000_000]);
    await settled(payer, sent.id);
    await expect(payer.forgetTransaction(sent.id)).rejects.toMatchObject({
      response: { status: 403, data: { code: "transaction_already_in_ledger" } },
    });
    const hour = 3_600_000;
    const listed = await payer.getTransactions(new Date(Date.now() - hour), new Date(Date.now() + hour));
    expect(listed.map(({ id }) => id)).toContain(sent.id);
    expect(await payer.getTransactions(new Date(0), new Date(Date.now() - 24 * hour))).toEqual([]);
  });
});
