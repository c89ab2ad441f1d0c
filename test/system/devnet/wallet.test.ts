/** The development wallet's endpoints: every answer, on a chain, and refusals of nonsense. */
import CSL from "@emurgo/cardano-serialization-lib-nodejs";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PAGES } from "#src/app/pages.ts";
import { silentLog } from "#src/base/log.ts";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { addressText, enterpriseAddress, scriptAddress } from "#src/cardano/address.ts";
import { encode } from "#src/cardano/cbor.ts";
import { encodeValue } from "#src/cardano/value.ts";
import { type Devnet, startDevnet } from "#src/devnet/devnet.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { devnetApp } from "#src/devnet/serve/admin/app.ts";
import { walletRoutes } from "#src/devnet/serve/admin/wallet.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";
import { devnetStore } from "../../support/devnet/devnet.ts";
import { sharedInfra } from "../../support/infra/infra.ts";
import { person } from "../../support/wallets/person.ts";

let infra: Awaited<ReturnType<typeof sharedInfra>>;
let store: Store;
let bus: Bus;
let devnet: Devnet;
let app: ReturnType<typeof devnetApp>;

beforeAll(async () => {
  infra = await sharedInfra();
  store = await devnetStore(infra.databaseUrl);
  bus = await connectBus({ url: infra.natsUrl, ...(infra.natsToken ? { token: infra.natsToken } : {}) });
  const started = await startDevnet({
    store,
    bus,
    evaluate: () => Promise.reject(new Error("no script was expected")),
    log: silentLog,
    options: { slotLength: 50, blockMs: 50, securityParameter: 20, epochLength: 10_000 },
  });
  if (!started.ok) throw new Error(started.error.message);
  devnet = started.value;
  const port = devnetPort({ store, bus, log: silentLog });
  app = devnetApp({ devnet, store, port, files: [], health: () => {}, log: silentLog });
  walletRoutes(app, { devnet, port, pages: PAGES });
});
afterAll(async () => {
  await devnet?.stop();
  await bus?.close();
  await store?.close();
  await infra?.stop();
});

interface Answer {
  readonly status: number;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}
const PREFIX = "/api/v1/wallet";

async function call(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const text = typeof body === "string" ? body : body === undefined ? undefined : JSON.stringify(body);
  const response = await app.request(PREFIX + path, { method, headers, ...(text === undefined ? {} : { body: text }) });
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return { status: response.status, body: isJson ? await response.json() : await response.text() };
}
const get = (path: string) => call("GET", path);
const post = (path: string, body: unknown) => call("POST", path, body);

/** Pays an account from the faucet, and waits until the wallet has it. */
async function fund(account: string, lovelace: bigint): Promise<void> {
  const { body: hex } = await get(`/cip30/${account}/change-address`);
  const paid = await devnet.faucet.pay(hex, lovelace);
  if (!paid.ok) throw new Error(paid.error.message);
}
const balanceOf = async (account: string) =>
  BigInt((await get(`/decode/value?cborHex=${(await get(`/cip30/${account}/balance`)).body}`)).body.lovelace);
const coin = (lovelace: bigint) => toHex(encode(lovelace));
const someone = addressText(enterpriseAddress(0, { kind: "key", hash: person("alice").key }));

describe("accounts", () => {
  test("are the 20 default ones of Yaci DevKit", async () => {
    const { body: { accounts } } = await get("/accounts");
    expect(accounts).toHaveLength(20);
    const stake = CSL.BaseAddress.from_address(CSL.Address.from_bech32(accounts[0].address))!.stake_cred();
    expect(accounts[0]).toEqual({
      id: "0",
      name: "Account 0",
      address:
        "addr_test1qryvgass5dsrf2kxl3vgfz76uhp83kv5lagzcp29tcana68ca5aqa6swlq6llfamln09tal7n5kvt4275ckwedpt4v7q48uhex",
      stakeAddress: CSL.RewardAddress.new(0, stake).to_address().to_bech32(),
      default: true,
    });
    expect(accounts[19].address).toMatch(/^addr_test1q/);
    expect(await get("/accounts/7")).toEqual({ status: 200, body: accounts[7] });
  });

  test("give no secret: neither a mnemonic nor a key", async () => {
    const { body } = await get("/accounts");
    expect(JSON.stringify(body)).not.toMatch(/mnemonic|secret|private|xprv|test test/i);
  });

  test("one is active, and pages can choose another one", async () => {
    expect((await get("/active-account")).body).toMatchObject({ accountId: "0", name: "Account 0" });
    expect(await call("PUT", "/active-account", { accountId: "3" })).toEqual({
      status: 200,
      body: { accountId: "3", status: "active" },
    });
    expect((await get("/active-account")).body).toMatchObject({ accountId: "3", name: "Account 3" });
    expect(await call("PUT", "/active-account", { accountId: "20" })).toMatchObject({
      status: 404,
      body: { code: -1, type: "APIError", reason: "account_unknown" },
    });
    await call("PUT", "/active-account", { accountId: "0" });
  });

  test("have addresses that a library reads", async () => {
    const { body: { accounts } } = await get("/accounts");
    const { body: used } = await get("/cip30/4/used-addresses");
    const { body: rewards } = await get("/cip30/4/reward-addresses");
    expect(used.map((hex: string) => CSL.Address.from_hex(hex).to_bech32())).toEqual([accounts[4].address]);
    expect(rewards.map((hex: string) => CSL.Address.from_hex(hex).to_bech32())).toEqual([accounts[4].stakeAddress]);
    expect((await get("/cip30/4/change-address")).body).toBe(used[0]);
    expect((await get(`/decode/address?cborHex=${used[0]}`)).body).toBe(accounts[4].address);
    expect((await get("/cip30/network-id")).body).toBe(0);
  });
});

describe("outputs", () => {
  const ACCOUNT = "5";
  let before: bigint;
  beforeAll(async () => {
    before = await balanceOf(ACCOUNT);
    for (const ada of [2n, 7n, 3n]) await fund(ACCOUNT, ada * 1_000_000n);
  });
  const utxos = async (query = "") => (await get(`/cip30/${ACCOUNT}/utxos${query}`)).body as string[];
  const amounts = (list: string[]) =>
    list.map((hex) => BigInt(CSL.TransactionUnspentOutput.from_hex(hex).output().amount().coin().to_str()));

  test("are there at once, from the mempool, and stay there in blocks", async () => {
    const all = amounts(await utxos());
    expect(all).toEqual(expect.arrayContaining([2_000_000n, 7_000_000n, 3_000_000n]));
    expect(await balanceOf(ACCOUNT)).toBe(before + 12_000_000n);
    await expect.poll(() => devnet.mempool().length, { timeout: 10_000 }).toBe(0);
    expect(amounts(await utxos()).sort()).toEqual(all.sort());
  });

  test("cover an amount, or there are none", async () => {
    const all = await utxos();
    const chosen = await utxos(`?amount=${coin(1_500_000n)}`);
    expect(chosen).toHaveLength(1);
    expect(all).toContain(chosen[0]);
    const most = before + 12_000_000n;
    expect((await utxos(`?amount=${coin(most)}`)).toSorted()).toEqual(all.toSorted());
    expect(await utxos(`?amount=${coin(most + 1n)}`)).toBeNull();
    expect(await utxos("?amount=00")).toEqual([]);
    const asset = { lovelace: 0n, assets: new Map([["ab".repeat(28), 1n]]) };
    expect(await utxos(`?amount=${toHex(encode(encodeValue(asset)))}`)).toBeNull();
  });

  test("come in pages", async () => {
    const all = await utxos();
    const pages = await Promise.all(all.map((_one, page) => utxos(`?page=${page}&limit=1`)));
    expect(pages.flat()).toEqual(all);
    expect(await utxos("?page=0&limit=1000")).toEqual(all);
    expect(await get(`/cip30/${ACCOUNT}/utxos?page=${all.length}&limit=1`)).toMatchObject({
      status: 400,
      body: { type: "PaginateError", maxSize: all.length, reason: "page_out_of_range" },
    });
    expect((await get(`/cip30/${ACCOUNT}/used-addresses?page=1&limit=1`)).body).toMatchObject({ maxSize: 1 });
    for (const query of ["page=-1", "limit=0", "page=x", "limit=1.5", "page=1e3", "size=3"]) {
      expect(await get(`/cip30/${ACCOUNT}/utxos?${query}`)).toMatchObject({
        status: 400,
        body: { code: "bad_request" },
      });
    }
  });

  test("for a collateral hold nothing but lovelace, and no more than needed", async () => {
    const of = async (query = "") => (await get(`/cip30/${ACCOUNT}/collateral${query}`)).body;
    expect(amounts(await of())).toEqual([7_000_000n]);
    expect(amounts(await of(`?amount=${coin(2_500_000n)}`))).toEqual([3_000_000n]);
    expect(await of(`?amount=${coin(1n << 60n)}`)).toBeNull();
  });
});

describe("payments", () => {
  test("are built, signed, assembled and submitted", async () => {
    await fund("6", 50_000_000n);
    const { body: { address } } = await get("/accounts/6");
    const built = await post("/build-tx", {
      senderAddress: address,
      receiverAddress: someone,
      amounts: [{ unit: "lovelace", quantity: "3000000" }, { unit: "lovelace", quantity: "1000000" }],
    });
    expect(built).toMatchObject({ status: 200, body: { success: true } });
    const { txCbor, txHash } = built.body;
    expect(CSL.FixedTransaction.from_hex(txCbor).transaction_hash().to_hex()).toBe(txHash);
    const signed = await post("/sign-tx", { txCbor, accountId: "6" });
    expect(signed).toMatchObject({ status: 200, body: { txHash } });
    expect(CSL.TransactionWitnessSet.from_hex(signed.body.witnessSet).vkeys()!.len()).toBe(1);
    const assembled = await post("/assemble-tx", { txCbor, witnessCbor: signed.body.witnessSet });
    expect(assembled).toMatchObject({ status: 200, body: { success: true } });
    expect(await post("/submit-tx", { txCbor: assembled.body.signedTxCbor })).toEqual({ status: 200, body: txHash });
    // refused again, as by a node: it is in the mempool, or on the chain
    expect(await post("/submit-tx", { txCbor: assembled.body.signedTxCbor })).toMatchObject({
      status: 400,
      body: { type: "TxSendError", code: 2, details: [{ name: "ConwayMempoolFailure" }] },
    });
  });

  test("of another account's address are signed by nobody else, and partially by nothing", async () => {
    await fund("7", 10_000_000n);
    const { body: { address } } = await get("/accounts/7");
    const payment = {
      senderAddress: address,
      receiverAddress: someone,
      amounts: [{ unit: "lovelace", quantity: "2000000" }],
    };
    const { body: { txCbor } } = await post("/build-tx", payment);
    expect(await post("/sign-tx", { txCbor, accountId: "8", partialSign: false })).toMatchObject({
      status: 400,
      body: { type: "TxSignError", code: 1, reason: "cannot_sign", info: expect.stringContaining("keys") },
    });
    expect((await post("/sign-tx", { txCbor, accountId: "8", partialSign: true })).body.witnessSet).toBe("a0");
    expect(await post("/submit-tx", { txCbor })).toMatchObject({
      status: 400,
      body: {
        type: "TxSendError",
        code: 2,
        reason: "refused_by_ledger",
        details: [{ name: "MissingVKeyWitnessesUTXOW" }],
      },
    });
  });

  test("transfers arrive", async () => {
    await fund("9", 20_000_000n);
    const { body: { address } } = await get("/accounts/10");
    const before = await balanceOf("10");
    const amounts = [{ unit: "lovelace", quantity: "4000000" }];
    const done = await post("/transfer", { accountId: "9", receiverAddress: address, amounts });
    expect(done).toMatchObject({
      status: 200,
      body: { success: true, txHash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(devnet.mempool().some(({ transaction }) => transaction.hash === done.body.txHash)).toBe(false);
    expect(await balanceOf("10")).toBe(before + 4_000_000n);
  });

  test("that are not possible are refused with Yaci DevKit's codes", async () => {
    const ask = (amounts: unknown, to = someone, accountId = "9") =>
      post("/transfer", { accountId, receiverAddress: to, amounts });
    const lovelace = (quantity: string) => [{ unit: "lovelace", quantity }];
    const { body: { stakeAddress } } = await get("/accounts/0");
    const asset = "ab".repeat(28) + "cd";
    for (
      const [answer, status, errorCode] of [
        [await ask(lovelace("18446744073709551615")), 422, "INSUFFICIENT_FUNDS"],
        [await ask([{ unit: asset, quantity: "1" }]), 422, "INSUFFICIENT_FUNDS"],
        [await ask(lovelace("18446744073709551616")), 400, "INVALID_AMOUNT"],
        [await ask(lovelace("0")), 400, "INVALID_AMOUNT"],
        [await ask(lovelace("1000")), 400, "MIN_UTXO_NOT_MET"],
        [await ask(lovelace("2000000"), "nonsense"), 400, "INVALID_ADDRESS"],
        [await ask(lovelace("2000000"), stakeAddress), 400, "INVALID_ADDRESS"],
        [await ask(lovelace("2000000"), someone, "21"), 404, "ACCOUNT_NOT_FOUND"],
      ] as const
    ) {
      expect(answer).toMatchObject({ status, body: { success: false, errorCode, message: expect.any(String) } });
    }
    const script = addressText(scriptAddress(0, "ab".repeat(28)));
    expect(await post("/build-tx", { senderAddress: script, receiverAddress: someone, amounts: lovelace("2000000") }))
      .toMatchObject({ status: 400, body: { errorCode: "INVALID_ADDRESS", code: "sender_without_key" } });
    expect(await post("/assemble-tx", { txCbor: "00", witnessCbor: "a0" })).toMatchObject({
      status: 400,
      body: { errorCode: "INVALID_TX" },
    });
    expect(await post("/assemble-tx", { txCbor: "84a3008001800200a0f5f6", witnessCbor: "00" })).toMatchObject({
      status: 400,
      body: { errorCode: "INVALID_WITNESS" },
    });
  });
});

describe("data", () => {
  const sign = (address: string | undefined, accountId = "0") =>
    post("/sign-data", { ...(address === undefined ? {} : { address }), payload: "68656c6c6f", accountId });

  test("is signed for base, enterprise and reward addresses of the account, as bytes and as text", async () => {
    const { body: { address, stakeAddress } } = await get("/accounts/0");
    const hex = CSL.Address.from_bech32(address).to_hex();
    const enterprise = "60" + hex.slice(2, 58);
    const reward = CSL.Address.from_bech32(stakeAddress).to_hex();
    for (const one of [undefined, address, hex, hex.toUpperCase(), enterprise, stakeAddress, reward]) {
      const { status, body } = await sign(one);
      expect([one, status]).toEqual([one, 200]);
      const of = one === undefined ? hex : one.startsWith("stake") ? reward : one.startsWith("addr") ? hex : one;
      expect(body.signature).toContain(of.toLowerCase());
      const key = CSL.PublicKey.from_hex(body.key.slice(-64)).hash().to_hex();
      expect(of.toLowerCase()).toContain(key);
      expect(key).toBe(of.startsWith("e0") ? hex.slice(58) : hex.slice(2, 58));
    }
  });

  test("of other addresses is refused with CIP-30's errors", async () => {
    const { body: { address } } = await get("/accounts/1");
    const mainnet = "01" + CSL.Address.from_bech32(address).to_hex().slice(2);
    const script = scriptAddress(0, "ab".repeat(28)).hex;
    const byron =
      "37btjrVyb4KDXBNC4haBVPCrro8AQPHwvCMp3RFhhSVWwfFmZ6wwzSK6JK1hY6wHNmtrpTf1kdbva8TCneM2YsiXT7mrzT21EacHnPpz5YyUdj64na";
    expect(await sign(address)).toMatchObject({ status: 400, body: { type: "DataSignError", code: 1 } });
    expect(await sign(mainnet, "1")).toMatchObject({ status: 400, body: { type: "DataSignError", code: 1 } });
    expect(await sign(script)).toMatchObject({ status: 400, body: { type: "DataSignError", code: 2 } });
    expect(await sign(byron)).toMatchObject({ status: 400, body: { type: "DataSignError", code: 1 } });
    expect(await sign("nonsense")).toMatchObject({ status: 400, body: { type: "APIError", code: -1 } });
  });
});

describe("nonsense", () => {
  const paths = {
    GET: [
      "/accounts/@",
      "/cip30/@/balance",
      "/cip30/@/utxos",
      "/cip30/@/collateral",
      "/cip30/@/used-addresses",
      "/cip30/@/change-address",
      "/cip30/@/reward-addresses",
      "/cip30/0/utxos?amount=@",
      "/cip30/0/utxos?limit=@",
      "/cip30/0/collateral?amount=@",
      "/decode/address?cborHex=@",
      "/decode/value?cborHex=@",
    ],
    POST: ["/sign-tx", "/sign-data", "/submit-tx", "/build-tx", "/assemble-tx", "/transfer"],
    PUT: ["/active-account"],
  };
  const clear = ({ status, body }: Answer) => {
    expect([status, typeof body?.error]).toEqual([expect.any(Number), "string"]);
    expect([400, 404, 413]).toContain(status);
    expect(JSON.stringify(body)).not.toMatch(/\.ts\b|\bat \w+ \(|TypeError/);
  };

  test("in paths and queries is refused with a code", async () => {
    for (const path of paths.GET) {
      for (
        const wrong of [
          "-1",
          "20",
          "x",
          "0x0",
          "%00",
          "ff",
          "a1",
          "f6".repeat(40),
          "9f".repeat(500),
          "%F0%9F%92%A9",
          "1b".repeat(5),
        ]
      ) {
        // a value that one of the endpoints takes
        if (path.endsWith("limit=@") && wrong === "20") continue;
        const answer = await get(path.replace("@", wrong));
        if (answer.status === 200) expect([path, wrong, answer.body]).toEqual([path, wrong, expect.anything()]);
        else clear(answer);
      }
    }
  });

  test("in bodies is refused with a code", async () => {
    const bodies = [
      "",
      "{",
      "null",
      "[]",
      '"text"',
      "{}",
      "[".repeat(100),
      "\xff",
      JSON.stringify({ txCbor: "zz", accountId: 0, payload: "0", address: "", witnessCbor: 1, amounts: {} }),
      JSON.stringify({ txCbor: "ab".repeat(40_000), accountId: "0" }),
    ];
    for (const [method, list] of [["POST", paths.POST], ["PUT", paths.PUT]] as const) {
      for (const path of list) for (const body of bodies) clear(await call(method, path, body));
    }
  });

  test("in place of transactions, values and witness sets is refused with a code", async () => {
    const { body: { address } } = await get("/accounts/6");
    const { body: { txCbor } } = await post("/build-tx", {
      senderAddress: address,
      receiverAddress: someone,
      amounts: [{ unit: "lovelace", quantity: "2000000" }],
    });
    const bytes = fromHex(txCbor);
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.uint8Array({ minLength: 1, maxLength: 60 }),
          fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)).map(([at, value]) => bytes.with(at, value)),
          fc.nat(bytes.length - 2).map((length) => bytes.slice(0, length + 1)),
        ),
        async (wrong) => {
          const hex = toHex(wrong);
          for (
            const answer of [
              await post("/sign-tx", { txCbor: hex, accountId: "0" }),
              await post("/sign-tx", { txCbor: hex, accountId: "6", partialSign: true }),
              await post("/submit-tx", { txCbor: hex }),
              await post("/assemble-tx", { txCbor: hex, witnessCbor: "a0" }),
              await post("/assemble-tx", { txCbor, witnessCbor: hex }),
              await get(`/decode/value?cborHex=${hex}`),
              await get(`/decode/address?cborHex=${hex}`),
              await get(`/cip30/0/utxos?amount=${hex}`),
              await get(`/cip30/0/collateral?amount=${hex}`),
            ]
          ) {
            if (answer.status !== 200) clear(answer);
          }
        },
      ),
      { numRuns: 60 },
    );
  });
});

test("pages of other sites may read and not sign", async () => {
  const headers = { origin: "https://example.org", host: "127.0.0.1:10000" };
  const rebound = { origin: "http://rebound.example:10000", host: "rebound.example:10000" };
  const body = { txCbor: "84a3008001800200a0f5f6", accountId: "0", payload: "00", partialSign: true };
  for (const [from, code] of [[headers, "bad_origin"], [rebound, "bad_host"]] as const) {
    for (const path of ["/sign-tx", "/sign-data", "/submit-tx", "/build-tx", "/assemble-tx", "/transfer"]) {
      expect(await call("POST", path, body, from)).toMatchObject({ status: 403, body: { code } });
    }
    expect(await call("PUT", "/active-account", { accountId: "1" }, from)).toMatchObject({ status: 403 });
  }
  expect(await call("GET", "/accounts", undefined, headers)).toMatchObject({ status: 200 });
  // a page that binds its name to this machine may not even read
  expect(await call("GET", "/accounts", undefined, rebound)).toMatchObject({ status: 403, body: { code: "bad_host" } });
  expect((await get("/active-account")).body.accountId).toBe("0");
  const local = { origin: "http://localhost:5173", host: "127.0.0.1:10000" };
  expect(await call("POST", "/sign-data", body, local)).toMatchObject({ status: 200 });
  const preflight = await app.request(`${PREFIX}/active-account`, {
    method: "OPTIONS",
    headers: { ...local, "access-control-request-method": "PUT", "access-control-request-headers": "content-type" },
  });
  expect(preflight.headers.get("access-control-allow-methods")).toContain("PUT");
});

test("the script is served for every page, and names no secret", async () => {
  const response = await app.request("/wallet-sdk.js");
  const text = await response.text();
  expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(response.headers.get("cross-origin-resource-policy")).toBe("cross-origin");
  expect(text).toContain("Arbor devnet wallet (development)");
  expect(text).not.toMatch(/sauce|mnemonic/);
});

test("the document has every endpoint", async () => {
  const { paths } = await (await app.request("/openapi.json")).json() as { paths: object };
  expect(Object.keys(paths).filter((path) => path.startsWith(PREFIX)).map((path) => path.slice(PREFIX.length)).sort())
    .toEqual([
      "/accounts",
      "/accounts/{id}",
      "/active-account",
      "/assemble-tx",
      "/build-tx",
      "/cip30/network-id",
      "/cip30/{account}/balance",
      "/cip30/{account}/change-address",
      "/cip30/{account}/collateral",
      "/cip30/{account}/reward-addresses",
      "/cip30/{account}/used-addresses",
      "/cip30/{account}/utxos",
      "/cip95/{account}/pub-drep-key",
      "/cip95/{account}/registered-pub-stake-keys",
      "/cip95/{account}/unregistered-pub-stake-keys",
      "/decode/address",
      "/decode/value",
      "/health",
      "/sign-data",
      "/sign-tx",
      "/submit-tx",
      "/transfer",
    ]);
});
