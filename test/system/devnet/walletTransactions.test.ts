/** Transactions that the development wallet signs, on the ledger: one after the other without blocks, mints, certificates. */
import CSL from "@emurgo/cardano-serialization-lib-nodejs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PAGES } from "#src/app/pages.ts";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { silentLog } from "#src/base/log.ts";
import { encode } from "#src/cardano/cbor.ts";
import { drepId } from "#src/cardano/drepId.ts";
import { encodeCertificate } from "#src/cardano/encodeCertificate.ts";
import { encodeVotes } from "#src/cardano/encodeVotes.ts";
import { keyHash } from "#src/cardano/keys/signingKey.ts";
import { encodeNative, nativeHash } from "#src/cardano/nativeScript.ts";
import { encodeTransaction, type TransactionParts } from "#src/cardano/transaction.ts";
import { encodeValue, lovelace } from "#src/cardano/value.ts";
import { type Devnet, startDevnet } from "#src/devnet/devnet.ts";
import { devnetPort } from "#src/devnet/port.ts";
import { devnetApp } from "#src/devnet/serve/admin/app.ts";
import { walletRoutes } from "#src/devnet/serve/admin/wallet.ts";
import { type Bus, connectBus } from "#src/runtime/bus/bus.ts";
import type { Store } from "#src/store/store.ts";
import { devnetStore } from "../../support/devnet/devnet.ts";
import { sharedInfra } from "../../support/infra/infra.ts";

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
    options: { slotLength: 50, blockMs: 0, epochLength: 100_000 },
  });
  if (!started.ok) throw new Error(started.error.message);
  devnet = started.value;
  const port = devnetPort({ store, bus, log: silentLog });
  app = devnetApp({ devnet, store, port, files: [], health: () => {}, log: silentLog });
  walletRoutes(app, { devnet, port, pages: PAGES });
  // the faucet has split its funds
  await devnet.makeBlock();
});
afterAll(async () => {
  await devnet?.stop();
  await bus?.close();
  await store?.close();
  await infra?.stop();
});

// deno-lint-ignore no-explicit-any
async function call(path: string, body?: unknown): Promise<any> {
  const request = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await app.request(`/api/v1/wallet${path}`, request);
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return isJson ? await response.json() : await response.text();
}
const balanceOf = async (account: string) =>
  await call(`/decode/value?cborHex=${await call(`/cip30/${account}/balance`)}`);

/** An account's first output, with the hashes of its keys. */
async function coinOf(account: string) {
  const [hex] = await call(`/cip30/${account}/utxos`) as string[];
  const output = CSL.TransactionUnspentOutput.from_hex(hex!);
  const address = output.output().address().to_hex();
  return {
    ref: { txHash: output.input().transaction_id().to_hex(), index: output.input().index() },
    amount: BigInt(output.output().amount().coin().to_str()),
    address,
    payment: address.slice(2, 58),
    stake: address.slice(58),
  };
}

/** Signs with one account, all signatures required, and submits; gives the number of signatures. */
async function signAndSubmit(account: string, parts: TransactionParts): Promise<number> {
  const txCbor = toHex(encodeTransaction(parts));
  const { witnessSet, txHash, ...refused } = await call("/sign-tx", { txCbor, accountId: account });
  expect(refused).toEqual({});
  const { signedTxCbor } = await call("/assemble-tx", { txCbor, witnessCbor: witnessSet });
  expect(await call("/submit-tx", { txCbor: signedTxCbor })).toBe(txHash);
  return CSL.TransactionWitnessSet.from_hex(witnessSet).vkeys()!.len();
}

test("payments follow each other in the mempool; blocks and rollbacks change no balance", async () => {
  const before = [await balanceOf("1"), await balanceOf("2")].map((one) => BigInt(one.lovelace));
  const { address } = await call("/accounts/2");
  for (let i = 0; i < 3; i++) {
    const amounts = [{ unit: "lovelace", quantity: "5000000" }];
    expect(await call("/transfer", { accountId: "1", receiverAddress: address, amounts })).toMatchObject({
      success: true,
    });
  }
  expect(devnet.mempool()).toHaveLength(3);
  const fees = devnet.mempool().reduce((sum, { transaction }) => sum + transaction.fee!, 0n);
  const after = async () => [await balanceOf("1"), await balanceOf("2")].map((one) => BigInt(one.lovelace));
  const expected = [before[0]! - 15_000_000n - fees, before[1]! + 15_000_000n];
  expect(await after()).toEqual(expected);
  await devnet.makeBlock();
  expect(devnet.mempool()).toHaveLength(0);
  expect(await after()).toEqual(expected);
  expect(await devnet.rollback({ blocks: 1 })).toMatchObject({ ok: true });
  expect(devnet.mempool()).toHaveLength(3);
  expect(await after()).toEqual(expected);
});

test("a mint with the account's policy, and a payment of the asset with the least lovelace", async () => {
  const { ref, amount, address, payment } = await coinOf("3");
  const policy = encodeNative({ kind: "key", hash: payment });
  const asset = nativeHash(policy) + toHex(new TextEncoder().encode("coin"));
  const fee = 300_000n;
  const signers = await signAndSubmit("3", {
    inputs: [ref],
    outputs: [{ address, value: { lovelace: amount - fee, assets: new Map([[asset, 10n]]) } }],
    fee,
    mint: new Map([[asset, 10n]]),
    nativeScripts: [policy],
  });
  expect(signers).toBe(1);
  const described = { policyId: asset.slice(0, 56), assetName: `0x${asset.slice(56)}` };
  expect((await balanceOf("3")).assets).toEqual([{ ...described, quantity: "10" }]);
  const wanted = (quantity: bigint) =>
    toHex(encode(encodeValue({ lovelace: 0n, assets: new Map([[asset, quantity]]) })));
  expect(await call(`/cip30/3/utxos?amount=${wanted(10n)}`)).toHaveLength(1);
  expect(await call(`/cip30/3/utxos?amount=${wanted(11n)}`)).toBeNull();
  // an output with assets is no collateral
  expect(await call("/cip30/3/collateral")).toBeNull();

  const before = BigInt((await balanceOf("4")).lovelace);
  const paid = await call("/transfer", {
    accountId: "3",
    receiverAddress: (await call("/accounts/4")).address,
    amounts: [{ unit: asset.toUpperCase(), quantity: "4" }],
  });
  expect(paid).toMatchObject({ success: true });
  const { lovelace: now, assets } = await balanceOf("4");
  expect(assets).toEqual([{ ...described, quantity: "4" }]);
  expect(BigInt(now) - before).toBeGreaterThan(1_000_000n);
  expect(BigInt(now) - before).toBeLessThan(1_300_000n);
  expect((await balanceOf("3")).assets).toEqual([{ ...described, quantity: "6" }]);
});

test("a registration and a delegation, signed by payment key and stake key", async () => {
  const { ref, amount, address, stake } = await coinOf("5");
  const [pool] = devnet.genesis.pools;
  const [fee, deposit] = [300_000n, 2_000_000n];
  const credential = [0, fromHex(stake)];
  const signers = await signAndSubmit("5", {
    inputs: [ref],
    outputs: [{ address, value: lovelace(amount - fee - deposit) }],
    fee,
    certificates: [encode([7, credential, deposit]), encode([2, credential, fromHex(pool!.id)])],
    requiredSigners: [stake],
  });
  expect(signers).toBe(2);
  await devnet.makeBlock();
  const { stakeAddress } = await call("/accounts/5");
  const account = await (await app.request(`/accounts/${stakeAddress}`)).json();
  expect(account).toMatchObject({ registered: true, deposit: 2_000_000, pool: expect.stringMatching(/^pool1/) });
});

test("an account registers as a representative, votes, and signs data as one (CIP-95)", async () => {
  const key = await call("/cip95/6/pub-drep-key") as string;
  const drep = keyHash(fromHex(key));
  const stakeKeys = async () => [
    await call("/cip95/6/registered-pub-stake-keys"),
    await call("/cip95/6/unregistered-pub-stake-keys"),
  ];
  const first = await coinOf("6");
  const [, [stakeKey]] = await stakeKeys();
  expect(keyHash(fromHex(stakeKey))).toBe(first.stake);
  expect(await stakeKeys()).toEqual([[], [stakeKey]]);

  const fee = 300_000n;
  const register = { kind: "register", credential: { kind: "key", hash: first.stake }, deposit: 2_000_000n } as const;
  const to = { drep: { kind: "key", hash: drep } } as const;
  const signers = await signAndSubmit("6", {
    inputs: [first.ref],
    outputs: [{ address: first.address, value: lovelace(first.amount - fee - 502_000_000n) }],
    fee,
    certificates: [
      { kind: "register drep", credential: { kind: "key", hash: drep }, deposit: 500_000_000n } as const,
      { ...register, to },
    ].map(encodeCertificate),
  });
  expect(signers).toBe(3);
  expect(await stakeKeys()).toEqual([[stakeKey], []]);
  await devnet.makeBlock();

  const info = { action: { kind: "info" }, anchor: { url: "", hash: "00".repeat(32) }, follows: false } as const;
  const proposed = await devnet.governing.propose(info);
  if (!proposed.ok) throw new Error(proposed.error.message);
  const { ref, amount, address } = await coinOf("6");
  const votes = encodeVotes([{
    role: "drep",
    credential: { kind: "key", hash: drep },
    votes: [{ action: proposed.value, vote: "yes" }],
  }]);
  const voting = { inputs: [ref], outputs: [{ address, value: lovelace(amount - fee) }], fee, votes };
  expect(await signAndSubmit("6", voting)).toBe(2);
  await devnet.makeBlock();
  const { txHash, index } = proposed.value;
  expect(await devnet.query((state) => state.votes.get(`${txHash}#${index} drep k${drep}`))).toBe("yes");

  for (const id of [drep, drepId({ kind: "key", hash: drep })]) {
    const { signature, key: cose } = await call("/sign-data", { address: id, payload: "68656c6c6f", accountId: "6" });
    expect(cose).toContain(key);
    expect(signature).toContain(drep);
  }
  expect(await call("/sign-data", { address: drep, payload: "00", accountId: "7" })).toMatchObject({
    type: "DataSignError",
    reason: "key_unknown",
  });
});
