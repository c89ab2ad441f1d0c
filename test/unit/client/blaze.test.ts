/** Blaze's provider and wallet at a service that lies: what they take from its answers. */
import { Core, HotSingleWallet } from "@blaze-cardano/sdk";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { toHex } from "#src/base/bytes.ts";
import { ArborProvider } from "#src/client/blaze/provider.ts";
import { signChecked } from "#src/client/blaze/signChecked.ts";
import { ArborWallet } from "#src/client/blaze/wallet.ts";
import { signUnchecked } from "#src/client/checkedTransaction.ts";
import { ApiError } from "#src/client/http.ts";
import { transactionHash } from "#src/client/witnesses.ts";
import { person } from "../../support/wallets/person.ts";

const HASH = "ab".repeat(32);
const alice = person("alice");
/** A transaction of one input and a fee, without outputs. */
const body = (fee: string) => `84a30081825820${HASH}00018002${fee}a0f5f6`;
const [wanted, other] = [body("05"), body("06")];

const ratio = { numerator: 1, denominator: 2 };
const parameters = {
  network: { id: 0, magic: 42 },
  slots: { zeroSlot: 10, zeroTime: 1_000, slotLength: 50, slotsAhead: 0 },
  at: { slot: 1, hash: HASH },
  parameters: {
    pledgeInfluence: ratio,
    monetaryExpansion: ratio,
    treasuryGrowth: ratio,
    prices: { memory: ratio, steps: ratio },
    maxTxUnits: { memory: 1, steps: 1 },
    maxBlockUnits: { memory: 1, steps: 1 },
    refScriptCostPerByte: ratio,
    costModels: [
      { language: "PlutusV1", costs: [1, 2] },
      { language: "PlutusV3", costs: [3, "past 2^53"] },
    ],
  },
};

let server: Server | undefined;
afterEach(() => server?.close());

/** A service with an answer for each path. */
async function service(answers: Readonly<Record<string, unknown>>): Promise<string> {
  server = createServer((request, response) => {
    const text = JSON.stringify(answers[request.url!] ?? { code: "not_found" }).replace(
      '"past 2^53"',
      "9223372036854775807",
    );
    response.writeHead(request.url! in answers ? 200 : 404, { "content-type": "application/json" }).end(text);
  });
  await new Promise<void>((resolve) => server!.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(() => undefined, (error: unknown) => error);
  expect(error).toBeInstanceOf(ApiError);
  return (error as ApiError).code;
}

const read = (cbor: string) => Core.Transaction.fromCbor(Core.TxCBOR(cbor));

describe("ArborWallet", () => {
  const walletAt = (base: string) =>
    new ArborWallet({ wallets: base, id: "w", passphrase: () => "words", provider: { network: 0 } });

  it("takes the signatures of the same transaction, and none of another one", async () => {
    const signed = signUnchecked(wanted, alice.seed);
    const path = "/wallets/w/transactions-sign";
    const good = walletAt(await service({ [path]: { transaction: Buffer.from(signed, "hex").toString("base64") } }));
    const witnesses = await good.signTransaction(read(wanted), true);
    const theirs = read(signed).witnessSet().vkeys()!.toCore();
    expect(witnesses.vkeys()!.toCore()).toEqual(theirs);
    // what it has already is not given again: Blaze refuses a second signature of a key
    expect((await good.signTransaction(read(signed), true)).vkeys()?.toCore() ?? []).toEqual([]);
    server!.close();
    const bad = walletAt(await service({ [path]: { transaction: signUnchecked(other, alice.seed) } }));
    expect(await refusal(bad.signTransaction(read(wanted), true))).toBe("wrong_hash");
  });

  it("refuses outputs without their bytes, which a service before this release gives", async () => {
    const entries = [{ id: HASH, index: 0, ada: { quantity: 5, unit: "lovelace" }, assets: [] }];
    const wallet = walletAt(await service({ "/wallets/w/utxo?references=true&pending=true": { entries } }));
    expect(await refusal(wallet.getUnspentOutputs())).toBe("malformed_answer");
  });
});

describe("signChecked", () => {
  const key = Core.Ed25519PrivateNormalKeyHex(toHex(alice.seed));
  const checked = (cbor: string, hash: string) => ({ cbor, hash, withWitnessSet: (set: string) => `${cbor} ${set}` });

  it("has the checked bytes signed, and takes the witness set", async () => {
    const provider = await ArborProvider.connect(await service({ "/chain/parameters": parameters }));
    const wallet = new HotSingleWallet(key, provider.network, provider);
    const [cbor, set] = (await signChecked(checked(wanted, transactionHash(wanted)), wallet)).split(" ");
    expect(cbor).toBe(wanted);
    const [[signer, signature]] = Core.TransactionWitnessSet.fromCbor(Core.HexBlob(set!)).vkeys()!.toCore() as [
      [string, string],
    ];
    expect(signUnchecked(wanted, alice.seed)).toContain(`5820${signer}5840${signature}`);
    await expect(signChecked(checked(wanted, transactionHash(other)), wallet)).rejects.toThrow(TypeError);
  });
});

describe("ArborProvider", () => {
  it("leaves out a cost model that Blaze could not hash", async () => {
    const provider = await ArborProvider.connect(await service({ "/chain/parameters": parameters }));
    expect((await provider.getParameters()).costModels).toEqual(new Map([[0, [1, 2]]]));
    expect(provider.getSlotConfig()).toEqual({ zeroSlot: 10, zeroTime: 1_000, slotLength: 50 });
  });

  it("refuses an answer that leaves a redeemer out, and the hash of another transaction", async () => {
    const provider = await ArborProvider.connect(
      await service({
        "/chain/parameters": parameters,
        "/chain/evaluate": { redeemers: [{ purpose: "spend", index: 1, memory: 1, steps: 1 }] },
        "/transaction": { txHash: HASH },
      }),
    );
    const tx = read(`84a30081825820${HASH}0001800205a10581840000182a820000f5f6`);
    expect([...tx.witnessSet().redeemers()!.values()]).toHaveLength(1);
    expect(await refusal(provider.evaluateTransaction(tx, []))).toBe("malformed_answer");
    expect(await refusal(provider.postTransactionToChain(read(wanted)))).toBe("wrong_hash");
  });
});
