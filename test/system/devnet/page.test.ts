/** The explorer in a browser, on a devnet that makes a block on request. */
/// <reference lib="dom" />
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { EMPTY_ROOT, encodeState } from "#src/contract/datum.ts";
import { cageScript } from "#src/contract/script.ts";
import { addressText, hexAddressText, rewardAddress, scriptAddress } from "#src/cardano/address.ts";
import { type Encodable, encode, Encoded, Tagged } from "#src/cardano/cbor.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { fingerprint } from "#src/cardano/fingerprint.ts";
import { actionText } from "#src/cardano/governanceId.ts";
import { blake2b256, hash256 } from "#src/cardano/hash.ts";
import { publicKey, sign } from "#src/cardano/keys/signingKey.ts";
import type { Utxo } from "#src/cardano/output.ts";
import type { Devnet } from "#src/devnet/devnet.ts";
import type { Listener } from "#src/http/serve.ts";
import { sharedBrowser } from "../../support/pages/sharedBrowser.ts";
import {
  certificates,
  PROPOSAL_DEPOSIT,
  proposing,
  spend,
  type Spending,
  voting,
} from "../../support/devnet/devnet.ts";
import { give, makeBlock, valueOf } from "../../support/devnet/devnetWorld.ts";
import { type ExplorerWorld, startExplorer, urlOf } from "../../support/explorer/explorerWorld.ts";
import { itLong } from "../../support/base/longTests.ts";
import { minting } from "../../support/ledger/minting.ts";
import {
  expectAccessible,
  expectAligned,
  expectFits,
  expectFocusVisible,
  Pages,
  PHONE,
} from "../../support/pages/pages.ts";
import { agrees, plutusHash, refusesSaying } from "../../support/plutus/scripts.ts";
import { until } from "../../support/base/until.ts";
import { person } from "../../support/wallets/person.ts";

const browser = await sharedBrowser();
const ada = 1_000_000n;
const alice = person("alice");
const bob = person("bob");
const aliceText = hexAddressText(alice.base)!;
/** Markup, and an override of the writing direction. */
const EVIL = `<img src=x onerror="globalThis.taken=1">\u202ereversed`;
const units = { "mint:0": { memory: 100_000, steps: 40_000_000 } };

describe.skipIf(browser === undefined)("the explorer", () => {
  let world: ExplorerWorld;
  let devnet: Devnet;
  let listener: Listener;
  let base: string;
  const pages = browser ? new Pages(browser) : undefined!;

  beforeAll(async () => {
    world = await startExplorer({ pools: 2, epochLength: 200_000, accounts: 6 });
    ({ devnet } = world);
    await makeBlock(devnet);
    listener = await world.listen(true);
    base = urlOf(listener);
  });
  afterEach(() => pages?.close());
  afterAll(async () => {
    await browser?.close();
    await listener?.stop();
    await world?.stop();
  });

  const open = async (path: string, options = {}): Promise<Page> => {
    const page = await pages.open(`${base}#${path}`, options);
    // lost if the page is reloaded
    await page.evaluate(() => Object.assign(globalThis, { here: true }));
    return page;
  };
  const at = (page: Page, path: string) => page.evaluate((hash) => void (location.hash = hash), path);
  const panel = (page: Page, name: string | RegExp) => page.getByRole("region", { name });
  const heading = (page: Page, name: string | RegExp) => page.getByRole("heading", { level: 1, name }).waitFor();
  const submit = async (cbor: Uint8Array) => valueOf(await devnet.submit(cbor)).outcome;
  const coinOfAlice = async (): Promise<Utxo> => {
    const coin = await give(devnet, alice.base, 50n * ada);
    await makeBlock(devnet);
    return coin;
  };
  const paying = (coin: Utxo, validTo?: number) =>
    spend({
      from: alice,
      inputs: [coin],
      outputs: [[bob.base, 10n * ada], [alice.base, 39n * ada]],
      ...(validTo === undefined ? {} : { validTo }),
    });

  /** A token state at the contract's address, and metadata from outside. */
  const stating = ({ ref }: Utxo) => {
    const datum = encodeState({ owner: alice.key, root: EMPTY_ROOT });
    const metadata = encode(new Map([[721n, new Map([["text", EVIL]])]]));
    const body = encode(
      new Map<number, Encodable>([
        [0, new Tagged(258, [[fromHex(ref.txHash), ref.index]])],
        [1, [
          new Map<number, Encodable>([
            [0, fromHex(scriptAddress(0, cageScript.hash).hex)],
            [1, 20n * ada],
            [2, [1, new Tagged(24, datum)]],
          ]),
          new Map<number, Encodable>([[0, fromHex(alice.base)], [1, 29n * ada]]),
        ]],
        [2, ada],
        [7, blake2b256(metadata)],
      ]),
    );
    const witness = [publicKey(alice.seed), sign(alice.seed, blake2b256(body))];
    const cbor = encode([new Encoded(body), new Map([[0, new Tagged(258, [witness])]]), true, new Encoded(metadata)]);
    return { cbor, hash: hash256(body) };
  };
  const mintingOf = ({ ref }: Utxo, script: Uint8Array) =>
    minting({
      input: ref,
      lovelace: 50n * ada,
      scripts: [undefined, undefined, script],
      units,
      complete: { parameters: devnet.genesis.parameters, fee: ada },
    });
  let minted: Promise<{ hash: string; unit: string; policy: string }> | undefined;
  /** A transaction that mints with a script. */
  const someMint = () =>
    minted ??= (async () => {
      expect(await submit(mintingOf(await coinOfAlice(), agrees))).toBe("accepted");
      const { hash } = devnet.mempool()[0]!.transaction;
      await makeBlock(devnet);
      const policy = plutusHash(3, agrees);
      return { hash, policy, unit: policy + toHex(utf8("token")) };
    })();
  let refused: Promise<{ hash: string; spender: string }> | undefined;
  /** A transaction that was refused, because another had spent its input. */
  const someRefusal = () =>
    refused ??= (async () => {
      const coin = await coinOfAlice();
      const first = paying(coin);
      expect(await submit(first.cbor)).toBe("accepted");
      await makeBlock(devnet);
      const second = spend({ from: alice, inputs: [coin], outputs: [[bob.base, 49n * ada]] });
      expect(await submit(second.cbor)).toBe("refused");
      return { hash: second.hash, spender: first.hash };
    })();

  it("shows blocks and transactions as they come", async () => {
    const page = await open("/");
    await page.locator("#link[data-state=live]").waitFor();
    const blocks = page.getByRole("table", { name: "Newest blocks" });
    const { height } = devnet.tip();
    await blocks.getByRole("link", { name: String(height), exact: true }).waitFor();
    const { cbor, hash } = paying(await coinOfAlice());
    await submit(cbor);
    await page.locator(".stat", { hasText: "Mempool" }).getByRole("link", { name: "1", exact: true }).waitFor();
    await page.getByRole("navigation", { name: "Sections" }).getByText("1", { exact: true }).waitFor();
    const tip = await makeBlock(devnet);
    await blocks.getByRole("link", { name: String(tip.height), exact: true }).waitFor();
    await page.getByRole("table", { name: "Newest transactions" }).locator(`a[href="#/tx/${hash}"]`).waitFor();
    // a rollback as well
    valueOf(await devnet.rollback({ blocks: 1 }));
    await blocks.getByRole("link", { name: String(tip.height), exact: true }).waitFor({ state: "detached" });
    await makeBlock(devnet);
    await page.locator(`a[href="#/tx/${hash}"]`).waitFor();
    expect(await page.evaluate(() => "here" in globalThis)).toBe(true);
    const load = panel(page, "Load and fees");
    await load.getByRole("img", { name: "Fees of the newest blocks" }).waitFor();
    await load.getByRole("button", { name: "Epochs" }).click();
    const fees = load.locator("figure", { has: page.getByRole("img", { name: "Fees of the newest epochs" }) });
    await fees.locator("summary").click();
    await fees.getByRole("rowheader", { name: "0", exact: true }).waitFor();
    // the heading of a view that is loaded first has the focus
    await blocks.getByRole("link").first().press("Enter");
    await page.locator("main h1:focus", { hasText: "Block" }).waitFor();
  });

  it("shows a transaction from the mempool to its block, with its parts", async () => {
    const { cbor, hash } = stating(await coinOfAlice());
    await submit(cbor);
    const page = await open(`/tx/${hash}`);
    await heading(page, "Transaction");
    await page.getByText("waiting in the mempool").waitFor();
    await makeBlock(devnet);
    await page.getByText("in a block", { exact: true }).waitFor();
    const inputs = panel(page, "Inputs (1)");
    expect(await inputs.locator(".holding").innerText()).toBe("50.000000 ada");
    await inputs.locator(`a[href="#/address/${aliceText}"]`).waitFor();
    const flow = panel(page, "Flow of ada");
    expect(await flow.getByRole("list", { name: "Comes from" }).locator(".amount").allInnerTexts())
      .toEqual(["50.000000 ada"]);
    expect(await flow.getByRole("list", { name: "Goes to" }).locator(".amount").allInnerTexts())
      .toEqual(["20.000000 ada", "29.000000 ada", "1.000000 ada"]);
    const outputs = panel(page, "Outputs (2)");
    await outputs.getByText(`Arbor token contract ${cageScript.version}`).first().waitFor();
    await outputs.locator("summary", { hasText: "Token state" }).click();
    await outputs.getByText("none: the token has no facts").waitFor();
    await outputs.getByRole("button", { name: "Tree" }).click();
    await outputs.getByText("Constructor 1, 1 field").waitFor();
    await outputs.getByRole("button", { name: "Bytes", exact: true }).click();
    await outputs.getByText(toHex(encodeState({ owner: alice.key, root: EMPTY_ROOT }))).waitFor();
    // text from outside is text
    await panel(page, "Metadata").getByText("onerror").waitFor();
    expect(await page.evaluate(() => "taken" in globalThis)).toBe(false);
    expect(await page.locator("main img").count()).toBe(0);
    await panel(page, "Details").getByText("no limit").first().waitFor();
  });

  it("shows what scripts took and were allowed, and what a failing one says", async () => {
    const { hash, policy, unit } = await someMint();
    const page = await open(`/tx/${hash}`);
    const scripts = panel(page, "Scripts that ran (1)");
    await scripts.getByText("Mint or burn #0").waitFor();
    await scripts.getByRole("meter", { name: "Memory of mint 0" }).waitFor();
    expect(await scripts.innerText()).toMatch(/[\d,]+ of 100,000 \(\d+ %\)/);
    await scripts.locator(`a[href="#/script/${policy}"]`).first().waitFor();
    await scripts.locator("summary", { hasText: "Redeemer" }).click();
    await scripts.getByText("Constructor 0, 1 field").waitFor();
    await panel(page, "Minted and burned").locator(`a[href="#/asset/${unit}"]`).waitFor();

    expect(await submit(mintingOf(await coinOfAlice(), refusesSaying("not today")))).toBe("refused");
    await at(page, `/tx/${devnet.departures()[0]!.hash}`);
    await panel(page, "Why it was refused").waitFor();
    await scripts.getByText("fails", { exact: true }).waitFor();
    await scripts.getByText("not today").waitFor();
  });

  it("leads from the first view to the reason why a transaction is in no block", async () => {
    const { hash, spender } = await someRefusal();
    const page = await open("/");
    const lately = panel(page, "Refused and withdrawn lately");
    await lately.getByText("All inputs are spent").first().waitFor();
    await page.getByRole("link", { name: /^Mempool/ }).click();
    await page.locator(`a[href="#/tx/${hash}"]`).click();
    const why = panel(page, "Why it was refused");
    await why.getByText("ConwayMempoolFailure").waitFor();
    await why.locator(".hint").getByText("One input is spent already").waitFor();
    await why.locator(`.hint a[href="#/tx/${spender}"]`).click();
    await page.getByText("in a block", { exact: true }).waitFor();

    // one that expires, and one that a rollback takes out
    const lateCoin = await coinOfAlice();
    const end = devnet.slot() + 100;
    const late = paying(lateCoin, end);
    await submit(late.cbor);
    await at(page, `/tx/${late.hash}`);
    await page.getByText("This devnet makes blocks only on request").waitFor();
    await until("its end", async () => devnet.slot() > end);
    await makeBlock(devnet);
    await panel(page, "Why it left the mempool").getByText("OutsideValidityIntervalUTxO").waitFor();
    const undone = paying(await coinOfAlice());
    await submit(undone.cbor);
    await makeBlock(devnet);
    await at(page, `/tx/${undone.hash}`);
    await page.getByText("in a block", { exact: true }).waitFor();
    valueOf(await devnet.rollback({ blocks: 1 }, { drop: true }));
    await panel(page, "Why it is in no block").getByText(/A rollback undid its block/).waitFor();
  });

  it("finds by every id from the header, by keyboard", async () => {
    const { hash, unit, policy } = await someMint();
    const page = await open("/tools");
    const search = async (text: string) => {
      const field = page.getByRole("searchbox", { name: "Search the chain" });
      await field.focus();
      await field.fill(text);
      await page.keyboard.press("Enter");
    };
    const { height, hash: block } = devnet.tip();
    const pool = devnet.genesis.pools[0]!.id;
    const account = addressText(rewardAddress(0, { kind: "key", hash: alice.stake }));
    for (
      const [text, path, title] of [
        [hash, `/tx/${hash}`, "Transaction"],
        [block, `/block/${block}`, `Block ${height}`],
        [`block ${height}`, `/block/${block}`, `Block ${height}`],
        ["epoch 0", "/epoch/0", "Epoch 0"],
        [aliceText, `/address/${aliceText}`, "Address"],
        [account, `/address/${account}`, "Stake account"],
        [unit, `/asset/${unit}`, "token"],
        [fingerprint(unit), `/asset/${unit}`, "token"],
        ["token", `/asset/${unit}`, "token"],
      ] as const
    ) {
      await search(text);
      await page.waitForURL(`${base}#${path}`);
      await heading(page, title);
    }
    await search(pool);
    await page.getByText("Blocks made").waitFor();
    await search(policy);
    await page.getByRole("link", { name: "Policy", exact: true }).waitFor();
    await page.getByRole("link", { name: "Script", exact: true }).press("Enter");
    await heading(page, "Script");
    await page.getByRole("table", { name: /^Runs of the script/ }).locator(`a[href="#/tx/${hash}"]`).waitFor();
    await search(EVIL);
    await page.getByText("This devnet has nothing of this name.").waitFor();
    expect(await page.evaluate(() => "taken" in globalThis)).toBe(false);
    await search("ab".repeat(32));
    await page.getByText("This devnet has nothing of this name.").waitFor();
    expect(await page.evaluate(() => "here" in globalThis)).toBe(true);
  });

  it("shows addresses, accounts, assets, pools and epochs with their parts", async () => {
    const { hash, unit } = await someMint();
    const account = addressText(rewardAddress(0, { kind: "key", hash: alice.stake }));
    const page = await open(`/address/${aliceText}`);
    expect(await page.locator(".sections [aria-current]").innerText()).toBe("Chain");
    const row = page.getByRole("row").filter({ has: page.locator(`a[href="#/tx/${hash}"]`) });
    expect(await row.innerText()).toMatch(/\+1 token/);
    await page.getByRole("link", { name: "Unspent outputs" }).click();
    await panel(page, "Unspent outputs").locator(`a[href="#/asset/${unit}"]`).waitFor();
    await page.getByRole("link", { name: "Assets" }).last().click();
    await panel(page, "Assets").locator(`a[href="#/asset/${unit}"]`).waitFor();
    await page.locator(`a[href="#/address/${account}"]`).click();
    await page.getByText("not registered").waitFor();
    await page.getByRole("link", { name: "Addresses" }).click();
    await page.locator(`a[href="#/address/${aliceText}"]`).waitFor();
    await page.getByRole("link", { name: "Transactions" }).click();
    await row.waitFor();
    await at(page, "/assets");
    await page.locator(`a[href="#/asset/${unit}"]`).click();
    await panel(page, "Holders").locator(`a[href="#/address/${aliceText}"]`).waitFor();
    await page.getByRole("link", { name: "Minted and burned" }).click();
    await panel(page, "Minted and burned").locator(`a[href="#/tx/${hash}"]`).waitFor();
    await at(page, "/pools");
    await page.getByRole("table", { name: "Stake pools" }).getByRole("link").first().click();
    await page.getByRole("link", { name: "Delegators" }).click();
    await panel(page, "Delegators").getByRole("row").nth(1).waitFor();
    await at(page, "/epochs");
    await panel(page, "Now").getByRole("link", { name: "0" }).click();
    await page.getByRole("link", { name: "Protocol parameters" }).click();
    await page.getByText("min_fee_a:").waitFor();
    await at(page, "/block/0");
    await page.getByRole("link", { name: "← Before" }).click();
    await heading(page, "Genesis");
    await panel(page, /^Transactions/).getByRole("link").first().click();
    await page.getByText("genesis", { exact: true }).waitFor();
    await at(page, `/tx/${"ab".repeat(32)}`);
    await page.getByText("This devnet has no such transaction.").waitFor();
    await at(page, "/nowhere");
    await heading(page, "No such page");
  });

  it("pays, makes blocks, saves and restores by keyboard alone", async () => {
    const page = await open("/tools");
    const enter = async (label: string, text: string, nth = 0) => {
      const field = page.getByLabel(label, { exact: true }).nth(nth);
      await field.focus();
      await field.fill(text);
      await page.keyboard.press("Enter");
    };
    const agree = async () => {
      await page.locator("dialog[open]").waitFor();
      // what cannot be undone is not under the Enter key at once
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.locator("dialog").waitFor({ state: "detached" });
    };
    await enter("To address", hexAddressText(bob.base)!);
    await page.getByText("Sent in").waitFor();
    expect(devnet.mempool().length).toBe(1);
    await enter("To address", "addr_test1nonsense");
    await page.getByRole("alert").filter({ hasText: /address/ }).waitFor();
    // what the form says of the payment is of this one, and in ada
    expect(await page.getByText("Sent in").count()).toBe(0);
    await page.getByLabel("To address").fill(hexAddressText(bob.base)!);
    await enter("Ada", "0.1");
    await page.getByRole("alert").filter({ hasText: /at least 0\.\d+ ada/ }).waitFor();
    const before = devnet.tip().height;
    await enter("How many", "2");
    await page.getByText("2 blocks were made").waitFor();
    expect(devnet.tip().height).toBe(before + 2);
    await enter("How many", "0");
    await page.getByText("A whole number from 1 to 1,000.").waitFor();
    expect(devnet.tip().height).toBe(before + 2);

    await enter("Name", "before-test");
    await page.getByRole("button", { name: "Restore before-test" }).waitFor();
    await enter("Blocks to undo", "1");
    await agree();
    await until("the rollback", async () => devnet.tip().height === before + 1);
    await page.getByRole("button", { name: "Restore before-test" }).press("Enter");
    // cancelled first
    await page.locator("dialog[open]").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    expect(devnet.tip().height).toBe(before + 1);
    await page.keyboard.press("Enter");
    await agree();
    await until("the restore", async () => devnet.tip().height === before + 2);
    await page.getByRole("button", { name: "Delete before-test" }).press("Enter");
    await agree();
    await page.getByText("No snapshot is saved.").waitFor();

    // a reset needs its word
    await at(page, "/");
    await at(page, "/tools");
    await page.getByRole("button", { name: /^Reset the devnet/ }).press("Enter");
    const dialog = page.locator("dialog[open]");
    expect(await dialog.getByRole("button", { name: "Reset the devnet" }).isDisabled()).toBe(true);
    await page.keyboard.press("Enter");
    expect(devnet.tip().height).toBe(before + 2);
    // the browser's Back takes the question with its view, and what was typed is no matter of spaces
    await page.goBack();
    await dialog.waitFor({ state: "detached" });
    await page.goForward();
    await page.getByRole("button", { name: /^Reset the devnet/ }).press("Enter");
    await page.keyboard.type(" reset ");
    expect(await dialog.getByRole("button", { name: "Reset the devnet" }).isEnabled()).toBe(true);
    await page.keyboard.press("Escape");
  });

  it("waits for a slow devnet, says that one is away, and believes no answer of another form", async () => {
    const page = await pages.newPage();
    const gate = Promise.withResolvers<void>();
    await page.route("**/transactions?count=12", async (route) => {
      await gate.promise;
      await route.continue();
    });
    await page.goto(base);
    await page.getByRole("table", { name: "Newest blocks" }).waitFor();
    const newest = panel(page, "Newest transactions");
    await newest.getByRole("status").waitFor();
    expect(await newest.innerText()).not.toMatch(/No transaction/);
    gate.resolve();
    await newest.getByRole("table").waitFor();

    // away: what is known stays, and is marked
    await page.route("**/live", (route) => route.abort());
    await page.route("**/mempool", (route) => route.abort());
    await at(page, "/mempool");
    await page.getByRole("alert").filter({ hasText: "cannot be reached" }).waitFor();
    await page.unroute("**/mempool");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByText("The mempool is empty").waitFor();

    const { hash } = await someMint();
    await page.route(`**/transactions/${hash}`, (route) => route.fulfill({ body: "<html>", contentType: "text/html" }));
    await at(page, `/tx/${hash}`);
    await page.getByRole("alert").filter({ hasText: "is not JSON" }).waitFor();
    await page.unroute(`**/transactions/${hash}`);
    await page.route(
      `**/transactions/${hash}/runs`,
      (route) =>
        route.fulfill({
          status: 503,
          json: { code: "evaluation_unavailable", error: "The scripts could not be run now." },
        }),
    );
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("alert").filter({ hasText: "could not be run now" }).waitFor();
    // the rest of the transaction is there
    await panel(page, "Inputs (1)").waitFor();
  });

  it("says that a part of the page was not loaded, and loads it again", async () => {
    const page = await pages.newPage();
    await page.route("**/chainViews-*.js", (route) => route.abort());
    await page.goto(base);
    await page.getByRole("link", { name: "Pools", exact: true }).click();
    await page.getByRole("alert").filter({ hasText: "could not be loaded" }).waitFor();
    await page.unroute("**/chainViews-*.js");
    await page.getByRole("button", { name: "Try again" }).click();
    await page.getByRole("heading", { name: "Stake pools" }).waitFor();
  });

  itLong("follows the devnet again after a break", async () => {
    const page = await open("/", PHONE);
    await page.locator("#link[data-state=live]").waitFor();
    const { port } = listener;
    const heightOfHeader = async () => (await page.locator(".bar").boundingBox())!.height;
    const height = await heightOfHeader();
    await listener.stop();
    await page.locator("#link[data-state=stale]").waitFor();
    expect(await heightOfHeader()).toBe(height);
    const tip = await makeBlock(devnet);
    listener = await world.listen(true, port);
    await page.getByRole("table", { name: "Newest blocks" }).getByRole("link", {
      name: String(tip.height),
      exact: true,
    })
      .waitFor();
    await page.locator("#link[data-state=live]").waitFor();
    expect(await page.evaluate(() => "here" in globalThis)).toBe(true);
  });

  itLong("says that the index is off, and shows what needs none", async () => {
    const { hash } = await someMint();
    const without = await world.listen(false);
    try {
      const page = await pages.open(urlOf(without));
      await page.getByText("The index of this devnet is off.").waitFor();
      await page.locator(".stat", { hasText: "Newest block" }).getByRole("link").waitFor();
      await at(page, "/assets");
      await page.getByText("The index of this devnet is off.").waitFor();
      await at(page, `/tx/${hash}`);
      await page.getByText("in a block", { exact: true }).waitFor();
    } finally {
      await without.stop();
    }
  });

  let governed: Promise<{ id: string; drep: string }> | undefined;
  /** A governance action that a representative voted on, twice. */
  const someAction = () =>
    governed ??= (async () => {
      let coin = await give(devnet, alice.base, 300_000n * ada);
      const make = async (spending: Partial<Spending>) => {
        const left = coin.output.value.lovelace - ada - (spending.deposit ?? 0n);
        const outputs = [[alice.base, left]] as const;
        const made = spend({ from: alice, inputs: [coin], outputs, signers: [alice.stakeSeed], ...spending });
        expect(await submit(made.cbor)).toBe("accepted");
        await makeBlock(devnet);
        coin = made.created[0]!;
        return made.hash;
      };
      await makeBlock(devnet);
      const { register, registerDrep, delegateVote } = certificates;
      await make({
        certificates: [register(alice), registerDrep(alice), delegateVote(alice, alice)],
        deposit: 502n * ada,
      });
      const changes = new Map<number, Encodable>([[0, 45], [30, 7_000_000]]);
      const fields = [proposing(alice, [[0, null, changes, null]])];
      const txHash = await make({ fields, deposit: PROPOSAL_DEPOSIT });
      const ref = { txHash, index: 0 };
      await make({ fields: [voting(alice, [[ref, 1]])] });
      await make({ fields: [voting(alice, [[ref, 0]])] });
      return { id: actionText(ref), drep: drepId({ kind: "key", hash: alice.stake }) };
    })();

  it("leads from a proposal to its votes, and from a vote to the representative and its delegators", async () => {
    const { id, drep } = await someAction();
    const page = await open("/");
    await page.getByRole("link", { name: "Governance", exact: true }).click();
    const actions = page.getByRole("table", { name: /^Governance actions/ });
    await actions.getByText("1 no", { exact: true }).waitFor();
    await actions.getByRole("link", { name: "Change of parameters" }).click();
    await heading(page, "Change of parameters");
    await panel(page, "What it proposes").getByText("min_fee_a").waitFor();
    await panel(page, "Details").getByText("https://example.com/document").waitFor();
    const standing = page.getByRole("table", { name: /^Votes against what is needed/ });
    await standing.getByText("75 %", { exact: true }).waitFor();
    expect(await standing.getByText("not reached").count()).toBeGreaterThan(0);
    await panel(page, "How it stands").getByText("at the next boundary: stays open").waitFor();
    const votes = page.getByRole("table", { name: /^Votes on the action/ });
    await votes.getByText("replaced").waitFor();
    expect(await votes.locator(".badge.bad").count()).toBe(1);
    await votes.locator(`a[href="#/representative/${drep}"]`).first().click();
    await heading(page, "Representative");
    await panel(page, "About it").getByText("500.000000 ada").waitFor();
    await page.getByRole("link", { name: "Delegators", exact: true }).click();
    await page.getByRole("table", { name: "Delegators" }).locator(`a[href^="#/address/stake_test1"]`).first().click();
    await panel(page, "Delegation").locator(`a[href="#/representative/${drep}"]`).click();
    await heading(page, "Representative");
    // from the transactions that proposed and voted, and by search
    await page.locator(`a[href="#/action/${id}"]`).first().click();
    await panel(page, "Details").locator('a[href^="#/tx/"]').click();
    await panel(page, "Proposals").getByRole("link", { name: "Votes on it" }).click();
    await heading(page, "Change of parameters");
    await at(page, "/governance?tab=committee");
    await page.getByText("There is no constitutional committee").waitFor();
    await at(page, "/governance?tab=force");
    await page.getByText("Guardrails script").waitFor();
    const search = page.getByRole("searchbox");
    for (const [text, name] of [[drep, "Representative"], [id, "Change of parameters"]] as const) {
      await search.fill(text);
      await search.press("Enter");
      await heading(page, name);
    }
    await at(page, "/governance?tab=representatives");
    await page.getByRole("table", { name: /^Representatives/ }).locator(`a[href="#/representative/${drep}"]`).waitFor();
    await at(page, "/governance?tab=committee");
    await page.getByText("No committee member has voted.").waitFor();
  });

  it("has no axe violation in either theme, shows the focus, and fits a phone", async () => {
    const [{ hash, unit }, refusal] = await Promise.all([someMint(), someRefusal()]);
    const { id, drep } = await someAction();
    const views = [
      "/",
      `/tx/${hash}`,
      `/tx/${refusal.hash}`,
      "/block/1",
      `/address/${aliceText}?tab=outputs`,
      `/address/${aliceText}`,
      "/mempool",
      "/epochs",
      `/asset/${unit}`,
      "/governance",
      "/governance?tab=committee",
      "/governance?tab=force",
      `/action/${id}`,
      `/representative/${drep}`,
      "/search?q=1",
      "/tools",
      "/developers",
    ];
    const page = await open("/");
    const phone = await open("/", PHONE);
    for (const path of views) {
      for (const one of [page, phone]) {
        await at(one, path);
        await one.locator("main h1").waitFor();
        await one.locator("main .placeholder").first().waitFor({ state: "detached" });
      }
      await expectAccessible(page, path);
      await expectAligned(page);
      await expectFits(phone);
    }
    await at(page, "/");
    await page.reload();
    await page.getByRole("table", { name: "Newest blocks" }).waitFor();
    await expectFocusVisible(page);
  });
});
