/** A wallet's life driven by npm's `cardano-wallet-js`, an independent client of wallet servers. */
import { createRequire } from "node:module";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { newMnemonic } from "#src/cardano/mnemonic.ts";
import type {} from "./build.ts";
import { Arbor } from "../support/arbor.ts";
import { sharedInfra } from "../support/infra.ts";
import { until } from "../support/until.ts";
import { http } from "../support/user.ts";

/** The used part of the package; it has no types that a strict compiler accepts. */
interface Server {
  getNetworkInformation(): Promise<{ sync_progress: { status: string } }>;
  getNetworkParameters(): Promise<{ eras: { shelley: { epoch_number: number } } }>;
  getNetworkClock(): Promise<{ status: string }>;
  wallets(): Promise<Wallet[]>;
  createOrRestoreShelleyWallet(name: string, words: string[], passphrase: string): Promise<Wallet>;
  getShelleyWallet(id: string): Promise<Wallet>;
  getStakePools(stake?: number): Promise<{ id: string }[]>;
}
interface Wallet {
  id: string;
  name: string;
  refresh(): Promise<Wallet>;
  rename(name: string): Promise<Wallet>;
  updatePassphrase(old: string, next: string): Promise<Wallet>;
  delete(): Promise<unknown>;
  getAvailableBalance(): number;
  getTotalBalance(): number;
  getAddresses(): Promise<{ id: string }[]>;
  getUsedAddresses(): Promise<{ id: string }[]>;
  getUnusedAddresses(): Promise<{ id: string }[]>;
  getAddressAt(index: number): Promise<{ id: string }>;
  getAddressExternalVerificationKey(index: number): Promise<{ key: string }>;
  getUtxoStatistics(): Promise<{ total: { quantity: number } }>;
  getTransactions(): Promise<{ id: string; status: string; direction: string }[]>;
  getTransaction(id: string): Promise<{ id: string; status: string; metadata: unknown }>;
  estimateFee(to: unknown[], amounts: number[]): Promise<{ estimated_min: { quantity: number } }>;
  sendPayment(passphrase: string, to: unknown[], amounts: number[], data?: unknown): Promise<{ id: string }>;
}
interface Package {
  WalletServer: { init(url: string): Server };
  AddressWallet: new (id: string) => unknown;
}

const PASSPHRASE = "Secure Passphrase";
const folder = inject("walletJs");

describe.skipIf(folder === "")("cardano-wallet-js", () => {
  let infra: Awaited<ReturnType<typeof sharedInfra>>;
  let arbor: Arbor;
  let server: Server;
  const { WalletServer, AddressWallet } = (folder === "" ? {} : createRequire(import.meta.url)(folder)) as Package;

  beforeAll(async () => {
    infra = await sharedInfra();
    arbor = await Arbor.start({ infra });
    server = WalletServer.init(arbor.wallets);
  });
  afterAll(async () => {
    await arbor?.end();
    await infra?.stop();
  });

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
});
