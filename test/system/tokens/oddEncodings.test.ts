/**
 * Outputs in every encoding that the ledger's decoder accepts, sent over HTTP to a token, to its owner and to a wallet:
 * every build succeeds, and its transaction is accepted. A transaction in an unusual encoding is accepted too, if its
 * scripts accept. Encodings that the decoder refuses never come to the services.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { hexAddressText, parseAddress, scriptAddress } from "#src/cardano/address.ts";
import { as, decode, encode, Encoded, raw } from "#src/cardano/cbor.ts";
import { constr, encodeData } from "#src/cardano/data.ts";
import { publicKey, sign } from "#src/cardano/keys/signingKey.ts";
import { type OutRef, readOutput } from "#src/cardano/output.ts";
import { addWitness, encodeOutput, encodeTransaction, transactionHash } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import { encodeRequest } from "#src/contract/datum.ts";
import { keyAddress } from "#src/contract/plutusAddress.ts";
import { cageScript } from "#src/contract/script.ts";
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import { taken } from "../../support/ledger/editableTransactions.ts";
import { oddEncodings } from "../../support/ledger/oddEncodings.ts";
import { ADA, Scenario } from "../../support/service/scenario.ts";
import { agrees, plutusHash } from "../../support/plutus/scripts.ts";
import { http, land, User } from "../../support/service/user.ts";
import { until } from "../../support/base/until.ts";
import { person } from "../../support/wallets/person.ts";

/** Outputs of one transaction: it has 16,384 bytes at most. */
const AT_ONCE = 40;
const FEE = 2n * ADA;

const sender = person("a sender of odd outputs");
const senderAddress = hexAddressText(sender.enterprise)!;
const hexOf = (address: string) => {
  const read = parseAddress(address);
  if (!read.ok) throw new Error(read.error.message);
  return read.value.hex;
};

/** Whether the ledger's decoder accepts an output. */
const isAccepted = (output: Uint8Array) =>
  readTransaction(transactionOf({ txHash: "00".repeat(32), index: 0 }, [output])).ok;

const transactionOf = (input: OutRef, outputs: readonly Uint8Array[]) =>
  encodeTransaction({ inputs: [input], outputs: outputs.map((bytes) => new Encoded(bytes)), fee: FEE });

/** The output in every encoding that the ledger's decoder accepts, as many as there are of `made(0)`. */
function everyForm(made: (i: number) => Uint8Array): Uint8Array[] {
  return [...oddEncodings(made(0))].map((_, i) => [...oddEncodings(made(i))][i]!.bytes).filter(isAccepted);
}

/** A transaction without the slot in which it ends: its fee then pays for a byte more. */
function withoutEnd(transaction: Uint8Array): Uint8Array {
  const { body } = taken(transaction);
  const [, witnesses] = as(decode(transaction), "array").value;
  body.delete(3n);
  return encode([body, new Encoded(raw(witnesses!)), true, null]);
}

describe("outputs in unusual encodings", () => {
  let scenario: Scenario;
  let tokens: string;
  let wallet: string;
  let token: string;
  const owner = new User("base");
  let requests: Uint8Array[];

  const signedBySender = (transaction: Uint8Array) => {
    const signature = sign(sender.seed, fromHex(transactionHash(transaction)));
    return toHex(addWitness(transaction, { key: publicKey(sender.seed), signature }));
  };

  /** A transaction with these outputs, by a person who signs independently. */
  async function paying(outputs: readonly Uint8Array[]): Promise<string> {
    const needed = outputs.reduce((sum, bytes) => sum + readOutput(decode(bytes)).value.lovelace, FEE);
    const paid = await scenario.faucet(senderAddress, needed);
    const { index } = await until("the sender's money", async () => {
      const { body } = await http(scenario.devnet, "GET", `/utxos/${senderAddress}`);
      return body.utxos.find(({ txHash }: { txHash: string }) => txHash === paid);
    });
    return signedBySender(transactionOf({ txHash: paid, index }, outputs));
  }

  /** Sends outputs to their targets. */
  async function send(outputs: readonly Uint8Array[]): Promise<void> {
    for (let at = 0; at < outputs.length; at += AT_ONCE) {
      await land(tokens, await paying(outputs.slice(at, at + AT_ONCE)));
    }
  }
  const get = (path: string) => http(tokens, "GET", path);

  beforeAll(async () => {
    scenario = await Scenario.start({ provider: "devnet" });
    tokens = scenario.arbor.tokens;
    ({ id: wallet } = await scenario.createWallet());
    await scenario.faucet(owner.address, 100n * ADA);
    const built = await until("a boot", async () => {
      const answer = await get(`/transaction/${owner.address}/boot-token`);
      return answer.status === 200 ? answer.body : undefined;
    });
    token = built.value;
    await land(tokens, owner.sign(built.unsignedTransaction));
    requests = everyForm((i) =>
      encodeOutput({
        address: scriptAddress(0, cageScript.hash).hex,
        value: lovelace(3n * ADA),
        datum: encodeRequest({
          policy: cageScript.hash,
          name: token,
          refund: keyAddress(sender.enterprise)!,
          fee: 300_000n,
          key: utf8(`key ${i}`),
          operation: { type: "insert", value: utf8("value") },
        }),
      })
    );
  });
  afterAll(() => scenario?.stop());

  it("block no update", async () => {
    expect(requests.length).toBeGreaterThan(60);
    await send(requests);
    const listed = await get(`/token/${token}`);
    expect(listed.body.requests.length).toBe(requests.length);
    const dry = await get(`/transaction/${owner.address}/update-token/${token}?dryRun=true`);
    expect(dry.status).toBe(200);
    let applied = 0;
    while (applied < requests.length) {
      const built = await get(`/transaction/${owner.address}/update-token/${token}`);
      expect([built.status, built.body]).toEqual([
        200,
        expect.objectContaining({ unsignedTransaction: expect.any(String) }),
      ]);
      const hash = await land(tokens, owner.sign(built.body.unsignedTransaction));
      const left = (await get(`/token/${token}`)).body;
      expect(left.outputRefId).toBe(`${hash}-0`);
      expect(left.requests.length).toBeLessThan(requests.length - applied);
      applied = requests.length - left.requests.length;
    }
    expect(Object.keys((await get(`/token/${token}/facts`)).body).length).toBe(requests.length);
  });

  it("sent to the owner block no boot", async () => {
    const to = new User("base");
    const datum = encodeData(constr(1, 5n, new Uint8Array(40), [constr(0), 7n]));
    const deep = Uint8Array.from([...new Array<number>(200).fill(0x81), 5]);
    const gift = (datum?: Uint8Array) =>
      encodeOutput({ address: hexOf(to.address), value: lovelace(20n * ADA), datum });
    await send([...everyForm(() => gift()), ...everyForm(() => gift(datum)), gift(deep)]);
    for (let boots = 0; boots < 5; boots++) {
      const built = await get(`/transaction/${to.address}/boot-token`);
      expect([built.status, built.body]).toEqual([200, expect.objectContaining({ value: expect.any(String) })]);
      await land(tokens, to.sign(built.body.unsignedTransaction));
    }
  });

  it("sent to a wallet block none of its transactions", async () => {
    const address = await scenario.address(wallet);
    const datum = encodeData(constr(1, 5n));
    const gift = (datum?: Uint8Array) => encodeOutput({ address: hexOf(address), value: lovelace(3n * ADA), datum });
    const gifts = [...everyForm(() => gift()), ...everyForm(() => gift(datum))];
    await send(gifts);
    await scenario.untilAvailable(wallet, BigInt(gifts.length) * 3n * ADA);
    const all = { payments: [{ address, amount: { quantity: 60_000_000, unit: "lovelace" as const } }] };
    const built = await scenario.client.construct(wallet, all);
    expect(built.coin_selection.inputs.length).toBeGreaterThan(20);
    const policy = plutusHash(3, agrees);
    const partial = encodeTransaction({
      inputs: [],
      outputs: [{ address: hexOf(address), value: lovelace(40n * ADA) }],
      fee: 0n,
      mint: new Map([[policy + "aa", 1n]]),
      scripts: [agrees],
    });
    const balanced = await scenario.client.balance(wallet, {
      transaction: toHex(partial),
      redeemers: [{ purpose: "minting", data: "182a", policy_id: policy }],
    });
    expect(balanced.coin_selection.inputs.length).toBeGreaterThan(10);
  });

  it("that the decoder refuses are refused by the devnet and by the services in front of it", async () => {
    const forms = [...oddEncodings(requests[0]!)].filter(({ path, bytes }) => path !== undefined && !isAccepted(bytes));
    const pieces = forms.filter(({ style }) => style.endsWith("pieces") || style === "one piece");
    expect(pieces.map(({ path }) => path)).toEqual(expect.arrayContaining(["/0", "/2/1/tag 24"]));
    const refused = await paying([pieces[0]!.bytes]);
    const byTokens = await http(tokens, "POST", "/transaction", { signedTransaction: refused });
    expect([byTokens.status, byTokens.body]).toMatchObject([400, { code: "undecodable" }]);
    const byDevnet = await fetch(`${scenario.devnet}/local-cluster/api/tx/submit`, {
      method: "POST",
      headers: { "content-type": "application/cbor" },
      body: Uint8Array.from(fromHex(refused)),
    });
    expect([byDevnet.status, await byDevnet.json()]).toMatchObject([400, {
      code: "refused_by_ledger",
      details: { failures: [{ name: "DeserialiseFailure" }] },
    }]);
  });

  it("and unusual encodings of everything else change no verdict on a transaction that runs scripts", async () => {
    const boot = async () => {
      await scenario.faucet(senderAddress, 50n * ADA);
      const built = await until("a boot", async () => {
        const answer = await get(`/transaction/${senderAddress}/boot-token`);
        return answer.status === 200 ? answer.body : undefined;
      });
      return fromHex(built.unsignedTransaction);
    };
    for (const form of ["/0 indefinite", "/0 reversed"]) {
      const odd = [...oddEncodings(withoutEnd(await boot()))].find(({ name }) => name === form)!.bytes;
      // flagged as failing: the flag is before the absent auxiliary data
      const answer = await http(tokens, "POST", "/transaction", {
        signedTransaction: signedBySender(odd.with(odd.length - 2, 0xf4)),
      });
      expect([form, answer.status, answer.body.details]).toMatchObject([
        form,
        422,
        [{ name: "ValidationTagMismatch", kind: "PassedUnexpectedly" }],
      ]);
      await land(tokens, signedBySender(odd));
    }
  });
});
