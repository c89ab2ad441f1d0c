/** The review of a transaction on the wallet page: everything is described or a problem, and nothing is taken on trust. */
import { describe, expect, it } from "vitest";
import { fromHex, toHex } from "#src/base/bytes.ts";
import { addressText, baseAddress, parseAddress, rewardAddress } from "#src/cardano/address.ts";
import { toBech32 } from "#src/cardano/bech32.ts";
import { derivePublic } from "#src/cardano/keys/derivation.ts";
import { encode } from "#src/cardano/cbor.ts";
import { encodeCertificate } from "#src/cardano/encodeCertificate.ts";
import { encodeVotes } from "#src/cardano/encodeVotes.ts";
import { actionText } from "#src/cardano/governanceId.ts";
import { refKey } from "#src/cardano/output.ts";
import { keyHash, newSeed, publicKey } from "#src/cardano/keys/signingKey.ts";
import { writeKey } from "#src/cardano/keys/keyText.ts";
import { encodeTransaction, type TransactionParts } from "#src/cardano/transaction.ts";
import { severalOwners, signersAmong, singleOwner } from "#src/pages/wallet/ownKeys.ts";
import { type Requested, reviewTransaction, transactionBytes } from "#src/pages/wallet/review.ts";

const node = () => ({ key: publicKey(newSeed()), chainCode: crypto.getRandomValues(new Uint8Array(32)) });
const account = node();
const accountText = writeKey("acct_xvk", { form: "publicNode", node: account });
const hashAt = (role: number, index: number) => keyHash(derivePublic(derivePublic(account, role), index).key);
const stake = { kind: "key", hash: hashAt(2, 0) } as const;
const ownAt = (role: number, index: number) =>
  addressText(baseAddress(0, { kind: "key", hash: hashAt(role, index) }, stake));
const pathAt = (role: number, index: number) => ["1852H", "1815H", "0H", `${role}`, `${index}`];
const stranger = addressText(baseAddress(0, { kind: "key", hash: "aa".repeat(28) }, stake));

const own = singleOwner(accountText, 0);
const hexOf = (text: string) => {
  const read = parseAddress(text);
  if (!read.ok) throw new TypeError(text);
  return read.value.hex;
};
const output = (address: string, lovelace: bigint, assets: ReadonlyMap<string, bigint> = new Map()) => ({
  address: hexOf(address),
  value: { lovelace, assets },
});
const build = (parts: Partial<TransactionParts>) =>
  encodeTransaction({
    inputs: [{ txHash: "11".repeat(32), index: 0 }],
    outputs: [output(stranger, 5_000_000n), output(ownAt(1, 0), 2_000_000n)],
    fee: 170_000n,
    ...parts,
  });
const paths = new Map([[ownAt(1, 0), pathAt(1, 0)], [ownAt(0, 3), pathAt(0, 3)]]);
const pay = (address: string, lovelace: bigint, assets = new Map<string, bigint>()) => ({ address, lovelace, assets });
const onePayment: Requested = { payments: [pay(stranger, 5_000_000n)] };
const review = (parts: Partial<TransactionParts>, requested: Requested | null = onePayment, claimed = paths) =>
  reviewTransaction(build(parts), { own, paths: claimed, requested: requested ?? undefined });

describe("the review of a transaction", () => {
  it("tells recipients from change, and sums up what leaves the wallet", () => {
    const found = review({ validTo: 1_000 });
    expect(found.problems).toEqual([]);
    expect(found.pays.map(({ address, lovelace, own }) => [address, lovelace, own])).toEqual([[
      stranger,
      5_000_000n,
      false,
    ]]);
    expect(found.returns.map(({ address }) => address)).toEqual([ownAt(1, 0)]);
    expect([found.fee, found.cost, found.validTo]).toEqual([170_000n, 5_170_000n, 1_000]);
  });

  it("derives the wallet's addresses itself: a path that the service claims for another address is worth nothing", () => {
    const claimed = new Map([[stranger, pathAt(1, 0)], [ownAt(1, 0), pathAt(1, 0)]]);
    const found = review({ outputs: [output(stranger, 7_000_000n)] }, { payments: [] }, claimed);
    expect(found.problems).toEqual([`It pays ${stranger}, which you did not enter and which is not this wallet's.`]);
    expect(review({}, onePayment, new Map()).problems).toEqual([
      `It pays ${ownAt(1, 0)}, which you did not enter and which is not this wallet's.`,
    ]);
  });

  it("lists a requested payment to the wallet itself as a payment that costs nothing", () => {
    const requested = { payments: [pay(ownAt(0, 3), 5_000_000n)] };
    const found = review({ outputs: [output(ownAt(0, 3), 5_000_000n), output(ownAt(1, 0), 1_000_000n)] }, requested);
    expect(found.problems).toEqual([]);
    expect(found.pays.map(({ own }) => own)).toEqual([true]);
    expect(found.cost).toBe(170_000n);
  });

  it("refuses another amount, another address, missing and double payments", () => {
    const other = addressText(baseAddress(0, { kind: "key", hash: "bb".repeat(28) }, stake));
    expect(review({ outputs: [output(stranger, 4_999_999n)] }).problems.length).toBe(2);
    expect(review({ outputs: [output(other, 5_000_000n)] }).problems.length).toBe(2);
    expect(review({}, { payments: [pay(stranger, 5_000_000n), pay(stranger, 5_000_000n)] }).problems).toEqual([
      `It does not pay what you entered to ${stranger}.`,
    ]);
    expect(review({ outputs: [output(stranger, 5_000_000n), output(stranger, 5_000_000n)] }).problems.length).toBe(1);
    const asset = "cc".repeat(28) + "01";
    expect(review({ outputs: [output(stranger, 5_000_000n, new Map([[asset, 1n]]))] }).problems.length).toBe(2);
    expect(
      review({ outputs: [output(stranger, 5_000_000n, new Map([[asset, 1n]]))] }, {
        payments: [pay(stranger, 5_000_000n, new Map([[asset, 1n]]))],
      }).problems,
    ).toEqual([]);
  });

  it("refuses certificates, withdrawals, mints and metadata that were not requested, and wants those that were", () => {
    const pool = "dd".repeat(28);
    const join = encodeCertificate({ kind: "delegate", credential: stake, to: { pool } });
    const register = encodeCertificate({ kind: "register", credential: stake, deposit: 2_000_000n });
    expect(review({ certificates: [join] }).problems.length).toBe(1);
    const joined = review({ certificates: [register, join] }, null);
    expect(joined.problems).toEqual([]);
    expect([joined.deposit, joined.cost]).toEqual([2_000_000n, 7_170_000n]);
    const pool1 = toBech32("pool", fromHex(pool));
    expect(joined.actions).toEqual(["Registers the stake key, for a deposit", `Delegates the stake to ${pool1}`]);
    expect(review({ certificates: [register, join] }, { ...onePayment, join: pool1 }).problems).toEqual([]);
    expect(review({ certificates: [register] }, { ...onePayment, join: pool1 }).problems).toEqual([
      `It would not join ${pool1}.`,
    ]);
    const foreign = encodeCertificate({
      kind: "delegate",
      credential: { kind: "key", hash: "ee".repeat(28) },
      to: { pool },
    });
    expect(review({ certificates: [foreign] }, null).problems).toEqual([
      "It has a certificate of another account.",
    ]);
    const retire = encode([4, fromHex(pool), 5]);
    expect(review({ certificates: [retire] }, null).problems.length).toBe(1);
    const quit = encodeCertificate({ kind: "unregister", credential: stake, refund: 2_000_000n });
    const left = review({ certificates: [quit] }, { ...onePayment, quit: true });
    expect([left.problems, left.refund]).toEqual([[], 2_000_000n]);
    expect(review({}, { ...onePayment, quit: true }).problems).toEqual(["It would not quit."]);
    const account = rewardAddress(0, stake).hex;
    expect(review({ withdrawals: [{ account, amount: 9n }] }).problems).toEqual([
      "It withdraws rewards, which you did not request.",
    ]);
    expect(review({ withdrawals: [{ account, amount: 9n }] }, { ...onePayment, withdraw: true }).cost).toBe(5_169_991n);
    const theirs = rewardAddress(0, { kind: "key", hash: "ee".repeat(28) }).hex;
    expect(
      review({ withdrawals: [{ account: theirs, amount: 9n }] }, { ...onePayment, withdraw: true }).problems.length,
    )
      .toBe(1);
    const asset = "cc".repeat(28) + "01";
    expect(review({ mint: new Map([[asset, 5n]]) }).problems.length).toBe(1);
    expect(review({ mint: new Map([[asset, -5n]]) }, { ...onePayment, mint: new Map([[asset, -5n]]) }).problems)
      .toEqual([]);
    const auxiliary = encode(new Map([[674, "x"]]));
    expect(review({ auxiliary }).problems).toEqual(["It carries metadata that you did not enter."]);
    expect(review({ auxiliary }, { ...onePayment, message: ["other"] }).problems).toEqual([
      "Its message is not the one that you entered.",
    ]);
    const message = ["Thanks", "for all"];
    const spoken = { auxiliary: encode(new Map([[674, new Map([["msg", message]])]])) };
    expect(review(spoken, { ...onePayment, message })).toMatchObject({ message, problems: [] });
    expect(review(spoken, { ...onePayment, message: ["Thanks"] }).problems.length).toBe(1);
    expect(review({}, { ...onePayment, message }).problems).toEqual(["Its message is not the one that you entered."]);
    const more = encode(new Map<number, unknown>([[674, new Map([["msg", message]])], [675, 1]]) as never);
    expect(review({ auxiliary: more }, { ...onePayment, message }).problems.length).toBe(1);
  });

  it("takes every part that it does not describe for a problem", () => {
    expect(review({ collateral: [{ txHash: "22".repeat(32), index: 1 }] }).problems).toEqual([
      "It has a part that this page does not describe (member 13 of its body).",
    ]);
    expect(review({ outputs: [{ ...output(stranger, 5_000_000n), datum: encode(1) }] }).problems).toContain(
      `The output to ${stranger} carries data or a script.`,
    );
    expect(review({ fee: 6_000_000n }).problems.length).toBe(1);
    const bytes = build({});
    expect(
      reviewTransaction(fromHex(toHex(bytes).replace(/f5f6$/, "f4f6")), { own, paths, requested: onePayment }).problems,
    )
      .toEqual([
        "It is marked as failing its scripts.",
      ]);
  });

  it("reads base64, hexadecimal and line breaks, and no other text", () => {
    const bytes = build({});
    const base64 = Buffer.from(bytes).toString("base64");
    for (const text of [base64, toHex(bytes), toHex(bytes).toUpperCase(), base64.replace(/(.{20})/g, "$1\n")]) {
      expect(transactionBytes(text)).toEqual(new Uint8Array(bytes));
    }
    for (const text of ["", "no transaction!", "abc"]) expect(transactionBytes(text)).toBeUndefined();
  });
});

describe("the keys of several owners", () => {
  const owners = [node(), node()];
  const cosigners = Object.fromEntries(
    owners.map((one, i) => [`cosigner#${i}`, writeKey("acct_shared_xvk", { form: "publicNode", node: one })]),
  );
  const template = { cosigners, template: { all: ["cosigner#0", "cosigner#1"] } };

  it("make addresses of scripts, with and without stake, and name who has signed", () => {
    const [with_, without] = [severalOwners(template, template, 0), severalOwners(template, undefined, 0)];
    expect(with_.stake()?.kind).toBe("script");
    expect(without.stake()).toBeUndefined();
    expect(with_.isOwn(ownAt(0, 0), pathAt(0, 0))).toBe(false);
    const hash = keyHash(derivePublic(derivePublic(owners[1]!, 0), 4).key);
    expect([...signersAmong(template, new Set([hash]), [["1854H", "1815H", "0H", "0", "4"]])]).toEqual(["cosigner#1"]);
    expect([...signersAmong(template, new Set([hash]), [["1854H", "1815H", "0H", "0", "5"]])]).toEqual([]);
  });
});

describe("the review of a representative's transaction", () => {
  const drep = { kind: "key", hash: hashAt(3, 0) } as const;
  const other = { kind: "key", hash: "aa".repeat(28) } as const;
  const anchor = { url: "https://example.org/drep.jsonld", hash: "17".repeat(32) };
  const action = { txHash: "ab".repeat(32), index: 2 };
  const begin = { kind: "register drep", credential: drep, deposit: 500_000_000n } as const;
  const judge = (parts: Partial<TransactionParts>, governance: Requested["governance"]) =>
    review({ outputs: [output(ownAt(1, 0), 2_000_000n)], ...parts }, governance ? { governance } : {});
  const certified = (...list: Parameters<typeof encodeCertificate>[0][]) => ({
    certificates: list.map(encodeCertificate),
  });
  const voted = (credential: typeof drep | typeof other, more: object = {}) => ({
    votes: encodeVotes([{ role: "drep", credential, votes: [{ action, vote: "yes", ...more }] }]),
  });

  it("describes what was requested, with deposits", () => {
    const registered = judge(certified({ ...begin, anchor }), { drep: { action: "register", anchor } });
    expect(registered).toMatchObject({ problems: [], deposit: 500_000_000n, cost: 500_170_000n });
    expect(registered.actions).toEqual([
      "Registers this wallet as a representative, for a deposit",
      "Names https://example.org/drep.jsonld as its metadata",
    ]);
    const ended = judge(certified({ kind: "unregister drep", credential: drep, refund: 5n }), {
      drep: { action: "deregister" },
    });
    expect(ended).toMatchObject({ problems: [], refund: 5n });
    const vote = judge(voted(drep), { votes: [{ action: refKey(action), vote: "yes" }] });
    expect(vote.problems).toEqual([]);
    expect(vote.actions).toEqual([`Votes Yes on ${actionText(action)}`]);
  });

  it("refuses what is another's, and what differs from the request", () => {
    const register = { drep: { action: "register" } } as const;
    expect(judge(certified({ ...begin, credential: other }), register).problems).toEqual([
      "It has a certificate of another representative.",
    ]);
    expect(judge(voted(other), { votes: [{ action: refKey(action), vote: "yes" }] }).problems).toEqual([
      "It has a vote of another voter.",
    ]);
    for (
      const [parts, governance] of [
        [certified({ ...begin, anchor }), register],
        [certified(begin), { drep: { action: "register", anchor } }],
        [certified(begin), { drep: { action: "update" } }],
        [certified(begin), undefined],
        [voted(drep), { votes: [{ action: refKey(action), vote: "no" }] }],
        [voted(drep), { votes: [{ action: refKey({ ...action, index: 3 }), vote: "yes" }] }],
        [voted(drep, { anchor }), { votes: [{ action: refKey(action), vote: "yes" }] }],
        [voted(drep), undefined],
        [{}, { votes: [{ action: refKey(action), vote: "yes" }] }],
      ] as const
    ) {
      expect(judge(parts, governance).problems, JSON.stringify(governance)).not.toEqual([]);
    }
    expect(judge({}, undefined).problems).toEqual([]);
  });
});
