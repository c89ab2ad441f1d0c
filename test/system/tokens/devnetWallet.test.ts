/** The development wallet of the devnet in a browser: on the token page, and on pages of other origins. */
/// <reference lib="dom" />
import CSL from "@emurgo/cardano-serialization-lib-nodejs";
import MSL from "@emurgo/cardano-message-signing-nodejs";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { publicKey } from "#src/cardano/keys/signingKey.ts";
import { devnetAccounts, governanceKeys } from "#src/devnet/genesis/accounts.ts";
import { Arbor } from "../../support/service/arbor.ts";
import { sharedBrowser } from "../../support/pages/sharedBrowser.ts";
import { type Infra, sharedInfra } from "../../support/infra/infra.ts";
import { expectAccessible } from "../../support/pages/pages.ts";
import { http } from "../../support/service/user.ts";
import { until } from "../../support/base/until.ts";

const browser = await sharedBrowser();
/** Timeout for expected content on a busy machine, in milliseconds. */
const PATIENCE = 150_000;
const NAME = "Arbor devnet wallet (development)";
const ALLOWED = "https://allowed.example";
const FOREIGN = "https://foreign.example";

/** What a page finds under `window.cardano`, as far as the tests use it. */
interface Provider {
  readonly name: string;
  readonly icon: string;
  readonly apiVersion: string;
  isEnabled(): Promise<boolean>;
  enable(options?: { extensions: { cip: number }[] }): Promise<
    & Record<string, (...input: unknown[]) => Promise<unknown>>
    & { cip95?: Record<string, (...input: unknown[]) => Promise<unknown>> }
  >;
}
type WithWallets = { cardano?: Record<string, Provider>; ready?: string[] };

/** An address as the header shows it. */
const shortAddress = (address: string) => `${address.slice(0, 6)}…${address.slice(-4)}`;

describe.skipIf(browser === undefined)("the development wallet in a browser", () => {
  let infra: Infra;
  let arbor: Arbor;
  let server: Server;
  let folder: string;
  /** Path of the devnet's node socket. */
  let socket: string;
  /** A page under development, served by this machine at another port. */
  let local: string;
  const contexts: BrowserContext[] = [];
  const faults: string[] = [];

  beforeAll(async () => {
    infra = await sharedInfra();
    folder = mkdtempSync(path.join(os.tmpdir(), "arbor-wallet-"));
    socket = path.join(folder, "node.socket");
    arbor = await Arbor.start({ infra, env: { ARBOR_DEVNET_ORIGINS: ALLOWED, ARBOR_SOCKET: socket } });
    server = createServer((_request, response) => {
      response.setHeader("content-type", "text/html");
      response.end(pageText());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    local = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const account of ["0", "1", "2", "3"]) await fund(account);
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(faults.splice(0)).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
    await arbor?.end();
    await infra?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const pageText = () =>
    `<!doctype html><title>dapp</title>
    <script>ready = []; for (const name of ["yacidevkit", "arbordevnet"])
      addEventListener(name + ":ready", ({ detail }) => ready.push(name + " " + detail.version));</script>
    <script src="${arbor.devnet}/wallet-sdk.js"></script>`;

  /** Pays an account from the faucet and waits for the block. */
  const fund = async (account: string) => {
    const { body: { address } } = await http(arbor.devnet, "GET", `/api/v1/wallet/accounts/${account}`);
    const paid = await http(arbor.devnet, "POST", "/local-cluster/api/addresses/topup", { address, adaAmount: 500 });
    expect(paid.status).toBe(200);
    await until(
      "the payment in the index",
      async () => (await http(arbor.tokens, "GET", `/transaction?txHash=${paid.body.txHash}`)).status === 200,
    );
  };

  const open = async (url: string): Promise<Page> => {
    const context = await browser!.newContext();
    contexts.push(context);
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    page.on("pageerror", (error) => void faults.push(String(error.stack)));
    page.on("console", (message) => {
      if (message.type() === "error" && !/^Failed to load resource/.test(message.text())) faults.push(message.text());
    });
    await page.goto(url);
    return page;
  };

  describe("on the token page", () => {
    const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
    /** Connects the wallet; its dialog stays open. */
    const connect = async (page: Page) => {
      await press(page, "Connect wallet");
      await press(page, `Connect ${NAME}`);
      await page.getByText(`Connected: ${NAME}.`).waitFor();
    };
    /** Signs the checked transaction and waits until a block has it. */
    const sign = async (page: Page) => {
      const alert = page.locator("dialog [role=alert]:visible");
      await page.getByText("does what you requested and nothing else").or(alert).first().waitFor();
      expect(await alert.allTextContents()).toEqual([]);
      await press(page, `Sign with ${NAME}`);
      await page.getByText("On the ledger, in block").or(alert).first().waitFor();
      expect(await alert.allTextContents()).toEqual([]);
    };
    const addressOf = async (id: number) =>
      (await http(arbor.devnet, "GET", `/api/v1/wallet/accounts/${id}`)).body.address as string;
    /** Selects an account, and waits until its address is the one that pays. */
    const choose = async (page: Page, id: number) => {
      await page.getByLabel("Account of the devnet").selectOption({ label: `Account ${id}` });
      const address = await addressOf(id);
      const paying = page.getByLabel("Address that pays and signs");
      await paying.locator(`option[value="${address}"]`).waitFor({ state: "attached" });
      expect(await paying.inputValue()).toBe(address);
    };

    it("boots a token, requests a fact and applies it, without an extension", async () => {
      const page = await open(`${arbor.tokens}/#/`);
      await press(page, "Connect wallet");
      await page.getByRole("button", { name: `Connect ${NAME}` }).waitFor();
      expect(await page.getByRole("button", { name: /^Connect Arbor/ }).count()).toBe(1);
      await page.getByText("The Arbor devnet wallet is for development: its keys are public").waitFor();
      await expectAccessible(page, "wallets to connect");
      await press(page, `Connect ${NAME}`);
      await page.getByText(`Connected: ${NAME}.`).waitFor();
      await page.getByText("The Arbor devnet wallet is for development: its keys are public").waitFor();
      await choose(page, 2);
      await expectAccessible(page, "the connected wallet");
      await press(page, "Done");

      await press(page, "Boot a token");
      await sign(page);
      await page.getByRole("link", { name: "Open the token" }).click();
      await page.locator("#link[data-state=live]").waitFor();
      await page.getByText("yours", { exact: true }).waitFor();
      await press(page, "Request a change");
      await page.getByLabel("Key", { exact: true }).fill("made");
      await page.getByLabel("New value").fill("without an extension");
      await press(page, "Request");
      await sign(page);
      await press(page, "Done");
      await page.getByRole("link", { name: "Open requests 1" }).click();
      await page.getByText("can be applied now").waitFor();
      await press(page, "Apply all that fit");
      await sign(page);
      await press(page, "Done");
      await page.getByRole("link", { name: "Facts 1" }).click();
      await press(page, "Verify the proof of made");
      await page.getByText("✓ Verified").waitFor();
    });

    it("changes to another account, which owns other tokens, and disconnects", async () => {
      const page = await open(`${arbor.tokens}/#/`);
      await connect(page);
      const account = page.getByLabel("Account of the devnet");
      expect(await account.locator("option").count()).toBe(20);
      expect(await account.inputValue()).toBe("0");
      await choose(page, 3);
      await press(page, "Done");
      await press(page, "Boot a token");
      await sign(page);
      await press(page, "Done");
      await page.locator("tr", { hasText: "yours" }).first().waitFor();
      await press(page, `Wallet: Account 3 ${shortAddress(await addressOf(3))}`);
      await account.selectOption("19");
      await expect.poll(() => page.locator("tr", { hasText: "yours" }).count(), { timeout: PATIENCE }).toBe(0);
      await press(page, "Disconnect");
      await page.getByRole("button", { name: `Connect ${NAME}` }).waitFor();
    });

    it("builds for the new account where a button is pressed at once after the change, by the page or by the wallet", async () => {
      const page = await open(`${arbor.tokens}/#/`);
      await connect(page);
      await press(page, "Done");
      const header = page.locator(".wallet-button");
      for (const [id, byPage] of [[1, true], [2, false]] as const) {
        if (byPage) {
          await header.click();
          await page.getByLabel("Account of the devnet").waitFor();
        }
        // in one task of the page: no time for the wallet to be read
        await page.evaluate(async ([id, byPage]) => {
          const { cardano } = globalThis as unknown as WithWallets;
          const button = (text: string) =>
            [...document.querySelectorAll("button")].find((one) => one.textContent!.includes(text))!;
          if (byPage) {
            const select = document.querySelector<HTMLSelectElement>("dialog select")!;
            select.value = String(id);
            select.dispatchEvent(new Event("change", { bubbles: true }));
            button("Done").click();
          } else await (await cardano!.arbordevnet!.enable()).selectAccount!(id);
          button("Boot a token").click();
        }, [id, byPage] as const);
        await page.getByText("does what you requested and nothing else").waitFor();
        expect(await header.getAttribute("title")).toBe(await addressOf(id));
        await sign(page);
        await press(page, "Done");
      }
    });
  });

  describe("on a page of another origin", () => {
    /** Calls a method of the enabled wallet in the page; the error as an object where there is one. */
    const call = async (page: Page, method: string, ...input: unknown[]): Promise<unknown> =>
      await page.evaluate(async ([method, input]) => {
        const { cardano } = globalThis as unknown as WithWallets;
        const api = await cardano!.yacidevkit!.enable();
        try {
          return await api[method]!(...input);
        } catch (error) {
          const { name, code, info, maxSize } = error as Record<string, unknown>;
          return { error: name, code, info, maxSize };
        }
      }, [method, input] as const);
    const ready = (page: Page) =>
      page.waitForFunction(() => (globalThis as unknown as WithWallets).ready?.length === 2);

    it("has the extension for governance where a page asks for it (CIP-95)", async () => {
      const page = await open(local);
      await ready(page);
      const found = await page.evaluate(async () => {
        const wallet = (globalThis as unknown as WithWallets).cardano!.yacidevkit!;
        const plain = await wallet.enable();
        const before = [await plain.getExtensions!(), plain.cip95 === undefined];
        const api = await wallet.enable({ extensions: [{ cip: 95 }, { cip: 30 }] });
        const { getPubDRepKey, getRegisteredPubStakeKeys, getUnregisteredPubStakeKeys } = api.cip95!;
        const keys = [await getRegisteredPubStakeKeys!(), await getUnregisteredPubStakeKeys!()];
        return { before, extensions: await api.getExtensions!(), key: await getPubDRepKey!(), keys };
      });
      expect(found).toEqual({
        before: [[], true],
        extensions: [{ cip: 95 }],
        key: toHex(publicKey(governanceKeys(0).drep.key)),
        keys: [[], [toHex(publicKey(devnetAccounts(1)[0]!.stakeKey))]],
      });
    });

    it("is offered under both names, and is enabled on request", async () => {
      const page = await open(local);
      await ready(page);
      const offered = await page.evaluate(async () => {
        const { cardano, ready } = globalThis as unknown as WithWallets;
        const described = Object.entries(cardano!).map(([id, { name, apiVersion, icon }]) => [
          id,
          name,
          apiVersion,
          icon.slice(0, 18),
        ]);
        const before = await cardano!.yacidevkit!.isEnabled();
        const api = await cardano!.yacidevkit!.enable();
        const same = api === await cardano!.yacidevkit!.enable();
        return { described, before, same, after: await cardano!.yacidevkit!.isEnabled(), ready };
      });
      expect(offered).toEqual({
        described: [
          ["yacidevkit", "Yaci DevKit", "1", "data:image/svg+xml"],
          ["arbordevnet", NAME, "1", "data:image/svg+xml"],
        ],
        before: false,
        same: true,
        after: true,
        ready: ["yacidevkit 4.0.0", "arbordevnet 4.0.0"],
      });
    });

    it("reads the account: addresses, balance, outputs in pages, collateral", async () => {
      const page = await open(local);
      await ready(page);
      const account = (await http(arbor.devnet, "GET", "/api/v1/wallet/accounts/0")).body;
      const address = await call(page, "getChangeAddress") as string;
      expect(CSL.Address.from_hex(address).to_bech32()).toBe(account.address);
      expect(await call(page, "decodeAddress", address)).toBe(account.address);
      expect(await call(page, "getUsedAddresses")).toEqual([address]);
      expect(await call(page, "getUnusedAddresses")).toEqual([]);
      expect(await call(page, "getExtensions")).toEqual([]);
      expect(await call(page, "getNetworkId")).toBe(0);
      const [reward] = await call(page, "getRewardAddresses") as string[];
      expect(CSL.Address.from_hex(reward!).to_bech32()).toBe(account.stakeAddress);

      const utxos = await call(page, "getUtxos") as string[];
      const sum = utxos.map((hex) => CSL.TransactionUnspentOutput.from_hex(hex).output().amount().coin())
        .reduce((a, b) => a.checked_add(b));
      const balance = await call(page, "getBalance") as string;
      expect(CSL.Value.from_hex(balance).coin().to_str()).toBe(sum.to_str());
      expect(await call(page, "decodeValue", balance)).toMatchObject({ lovelace: sum.to_str() });
      expect(await call(page, "getUtxos", undefined, { page: 0, limit: 1 })).toEqual(utxos.slice(0, 1));
      expect(await call(page, "getUtxos", undefined, { page: utxos.length, limit: 1 })).toMatchObject({
        error: "PaginateError",
        maxSize: utxos.length,
      });
      const more = CSL.Value.new(sum.checked_add(CSL.BigNum.one())).to_hex();
      expect(await call(page, "getUtxos", more)).toBeNull();
      expect(await call(page, "getUtxos", CSL.Value.new(CSL.BigNum.from_str("1000000")).to_hex())).toHaveLength(1);
      expect(await call(page, "getCollateral", { amount: "1a004c4b40" })).toHaveLength(1);
      expect(await call(page, "getCollateral")).toHaveLength(1);
      expect(await call(page, "getUtxos", "nonsense")).toMatchObject({ error: "APIError", code: -1 });
      expect(await call(page, "getUsedAddresses", { page: -1, limit: 1 })).toMatchObject({
        error: "APIError",
        code: -1,
      });
    });

    it("signs data, which another library verifies", async () => {
      const page = await open(local);
      await ready(page);
      const address = await call(page, "getChangeAddress") as string;
      const [reward] = await call(page, "getRewardAddresses") as string[];
      const payload = "7b22616374696f6e223a226c6f67696e227d";
      for (const signer of [address, reward!]) {
        const { signature, key } = await call(page, "signData", signer, payload) as { signature: string; key: string };
        const message = MSL.COSESign1.from_bytes(Buffer.from(signature, "hex"));
        const label = MSL.Label.new_int(MSL.Int.new_negative(MSL.BigNum.from_str("2")));
        const x = MSL.COSEKey.from_bytes(Buffer.from(key, "hex")).header(label)!.as_bytes()!;
        const verifier = CSL.PublicKey.from_bytes(x);
        expect(verifier.verify(message.signed_data().to_bytes(), CSL.Ed25519Signature.from_bytes(message.signature())))
          .toBe(true);
        expect(Buffer.from(message.payload()!).toString("hex")).toBe(payload);
        const named = message.headers().protected().deserialized_headers().header(MSL.Label.new_text("address"))!;
        expect(Buffer.from(named.as_bytes()!).toString("hex")).toBe(signer);
        expect(signer).toContain(verifier.hash().to_hex());
      }
      expect(await call(page, "signData", "70" + "ab".repeat(28), payload)).toMatchObject({
        error: "DataSignError",
        code: 2,
      });
      expect(await call(page, "signData", "60" + "ab".repeat(28), payload)).toMatchObject({
        error: "DataSignError",
        code: 1,
      });
      expect(await call(page, "signData", address, "zz")).toMatchObject({ error: "APIError", code: -1 });
    });

    it("signs and submits a transaction, and refuses those of other accounts", async () => {
      const page = await open(local);
      await ready(page);
      const accounts = (await http(arbor.devnet, "GET", "/api/v1/wallet/accounts")).body.accounts;
      const built = async (sender: number) =>
        (await http(arbor.devnet, "POST", "/api/v1/wallet/build-tx", {
          senderAddress: accounts[sender].address,
          receiverAddress: accounts[4].address,
          amounts: [{ unit: "lovelace", quantity: "3000000" }],
        })).body as { txCbor: string; txHash: string };
      const { txCbor, txHash } = await built(0);
      const set = await call(page, "signTx", txCbor) as string;
      const transaction = CSL.FixedTransaction.from_hex(txCbor);
      transaction.add_vkey_witness(CSL.TransactionWitnessSet.from_hex(set).vkeys()!.get(0));
      expect(await call(page, "submitTx", transaction.to_hex())).toBe(txHash);

      const other = await built(1);
      expect(await call(page, "signTx", other.txCbor, false)).toMatchObject({
        error: "TxSignError",
        code: 1,
        info: expect.stringContaining("does not have these keys"),
      });
      expect(await call(page, "signTx", other.txCbor, true)).toBe("a0");
      expect(await call(page, "submitTx", other.txCbor)).toMatchObject({
        error: "TxSendError",
        code: 2,
        info: expect.stringContaining("The ledger refuses"),
      });
      expect(await call(page, "signTx", "00")).toMatchObject({ error: "APIError", code: -1 });
      expect(await call(page, "selectAccount", "20")).toMatchObject({ error: "APIError", code: -1 });
      await call(page, "selectAccount", 1);
      expect(await call(page, "getAccountId")).toBe("1");
      expect(await call(page, "signTx", other.txCbor, false)).toMatch(/^a1/);
    });

    it.each([[FOREIGN, false], [ALLOWED, true]])("of %s may read; may sign: %s", async (origin, may) => {
      const context = await browser!.newContext({ permissions: ["local-network-access"] });
      contexts.push(context);
      context.setDefaultTimeout(PATIENCE);
      await context.route(`${origin}/**`, (route) => route.fulfill({ contentType: "text/html", body: pageText() }));
      const page = await context.newPage();
      page.on("pageerror", (error) => void faults.push(String(error.stack)));
      await page.goto(`${origin}/`);
      await ready(page);
      const address = await call(page, "getChangeAddress") as string;
      expect(address).toMatch(/^00[0-9a-f]{112}$/);
      const signed = await call(page, "signData", address, "00");
      const refused = { error: "APIError", code: -3, info: expect.stringContaining("--devnet-origins") };
      expect(signed).toMatchObject(may ? { key: expect.stringMatching(/^a4/) } : refused);
      expect(await call(page, "signTx", "84a3008001800200a0f5f6", true)).toEqual(
        may ? "a0" : expect.objectContaining(refused),
      );
    });
  });

  /** The token page of another service, and whether the development wallet is reachable anywhere in that service. */
  const pageOf = async (env: Record<string, string>) => {
    const alone = await sharedInfra();
    const other = await Arbor.start({ infra: alone, env });
    try {
      for (const service of [other.tokens, other.operator, ...env.ARBOR_PROVIDER ? [] : [other.devnet]]) {
        for (const path of ["/wallet-sdk.js", "/api/v1/wallet/accounts", "/api/v1/wallet/cip30/network-id"]) {
          expect([service, path, (await fetch(service + path)).status]).toEqual([service, path, 404]);
        }
      }
      return await fetch(`${other.tokens}/`);
    } finally {
      await other.end();
      await alone.stop();
    }
  };

  it.each([
    ["of a devnet that runs without it", () => ({ ARBOR_DEVNET_WITHOUT: "wallet" })],
    ["of a service on another network, which is a test network as well", () => ({
      ARBOR_PROVIDER: "node",
      ARBOR_NODE_SOCKET: socket,
      ARBOR_NETWORK_MAGIC: "42",
    })],
  ])("is not on the page %s", async (_what, env) => {
    const without = await pageOf(env());
    expect([without.status, await without.text()]).toEqual([200, expect.not.stringContaining("wallet-sdk")]);
    expect(without.headers.get("content-security-policy")).not.toContain("http:");
    const withIt = await fetch(`${arbor.tokens}/`);
    expect(await withIt.text()).toContain("wallet-sdk");
    expect(withIt.headers.get("content-security-policy")).toContain(arbor.devnet);
  });
});
