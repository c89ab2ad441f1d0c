/** What the index does with unexpected outputs at the contract's address. */
import { describe, expect, it } from "vitest";
import { concat, fromHex, utf8 } from "#src/base/bytes.ts";
import { baseAddress } from "#src/cardano/address.ts";
import { encode } from "#src/cardano/cbor.ts";
import { constr, encodeData } from "#src/cardano/data.ts";
import type { Utxo } from "#src/cardano/output.ts";
import { encodeTransaction, type NewOutput, transactionHash, type TransactionParts } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import { EMPTY_ROOT, encodeRequest, type Request } from "#src/contract/datum.ts";
import { spendData } from "#src/contract/redeemer.ts";
import { op } from "../../../support/contract/contractLedger.ts";
import { CageIndex } from "../../../support/tokens/tokenIndex.ts";
import { newRef, person, utxo } from "../../../support/wallets/person.ts";
import {
  alice,
  bob,
  cage,
  owner,
  partsOf,
  policy,
  requestFields,
  stateOf,
  updating,
} from "../../../support/contract/wholeTransaction.ts";

const TOKEN = "5a".repeat(32);
const FOREIGN = "09".repeat(28);
const empty = fromHex(EMPTY_ROOT);
const mallory = person("mallory");

const make = (parts: Partial<TransactionParts>) =>
  encodeTransaction({ inputs: [newRef()], outputs: [], fee: 0n, ...parts });
const at = (transaction: Uint8Array, index: number, output: NewOutput): Utxo =>
  utxo(output, { txHash: transactionHash(transaction), index });

/** A token without facts, and requests for it, on the ledger. */
function begun(requests: readonly NewOutput[] = []) {
  const index = new CageIndex();
  const state = stateOf(TOKEN, empty);
  const boot = make({ outputs: [state], mint: new Map([[policy + TOKEN, 1n]]) });
  const asking = make({ outputs: requests });
  expect(index.follow(boot)).toEqual(["BOOTED"]);
  return { index, state: at(boot, 0, state), events: index.follow(asking), asking };
}

const request = (more: Partial<Request> = {}): Uint8Array =>
  encodeRequest({
    policy,
    name: TOKEN,
    refund: { payment: alice.key },
    fee: 500_000n,
    key: utf8("a"),
    operation: op.insert("1"),
    ...more,
  });
const output = (more: Partial<NewOutput> = {}): NewOutput => ({
  address: cage,
  value: lovelace(2_000_000n),
  datum: request(),
  ...more,
});

describe("a request in the index", () => {
  const open = (one: NewOutput) => begun([one]).index.live("token_request").length;
  it("is at the contract's address, with any stake part", () => {
    expect(open(output())).toBe(1);
    const stake = { kind: "key", hash: mallory.key } as const;
    expect(open(output({ address: baseAddress(0, { kind: "script", hash: policy }, stake).hex }))).toBe(1);
    expect(open(output({ address: baseAddress(0, { kind: "key", hash: policy }, stake).hex }))).toBe(0);
    expect(open(output({ address: mallory.enterprise }))).toBe(0);
  });
  it("is one that the contract could apply", () => {
    expect(open(output({ datum: request({ policy: FOREIGN }) }))).toBe(0);
    expect(open(output({ value: { lovelace: 2_000_000n, assets: new Map([[FOREIGN + "00", 1n]]) } }))).toBe(0);
    expect(open(output({ datum: encodeData(5n) }))).toBe(0);
  });
  it("offers no fee beyond the total lovelace supply, which no row could hold", () => {
    expect(open(output({ datum: request({ fee: 45_000_000_000_000_000n }) }))).toBe(1);
    for (const fee of [45_000_000_000_000_001n, 1n << 63n, (1n << 64n) - 1n]) {
      expect(open(output({ datum: request({ fee }) }))).toBe(0);
    }
  });
  it("may be the collateral return of a transaction whose scripts fail, which changes nothing else", () => {
    const { index, state } = begun();
    const parts = {
      inputs: [state.ref],
      outputs: [stateOf(TOKEN, new Uint8Array(32).fill(1), mallory.key), output()],
      collateral: [newRef()],
      collateralReturn: output(),
      redeemers: [{
        for: { purpose: "spend" as const, ref: state.ref },
        data: encodeData(spendData({ type: "modify", actions: [] })),
        units: { memory: 1n, steps: 1n },
      }],
    };
    const failing = make(parts);
    const marker = failing.lastIndexOf(0xf5);
    expect(index.follow(failing.with(marker, 0xf4))).toEqual(["REQUESTED"]);
    expect(index.live("token_request").map((row) => row.ref)).toEqual([`${transactionHash(failing)}#2`]);
    expect(index.live("token_state").map((row) => row.owner)).toEqual([owner.key]);
  });
});

describe("a token in the index", () => {
  it("is unaffected by outputs that imitate it and by tokens of the same name (C2)", () => {
    const { index } = begun();
    const stub = { ...stateOf(TOKEN, new Uint8Array(32).fill(1), mallory.key), value: lovelace(2_000_000n) };
    const foreign = { ...stub, value: { lovelace: 2_000_000n, assets: new Map([[FOREIGN + TOKEN, 1n]]) } };
    expect(index.follow(make({ outputs: [stub, foreign] }))).toEqual([]);
    expect(index.live("token_state").map((row) => row.owner)).toEqual([owner.key]);
  });
  it("records contributed requests as applied, and retracted ones as retracted", () => {
    const [one, two] = [
      output({ datum: request() }),
      output({ datum: request({ key: utf8("b"), refund: { payment: bob.key } }) }),
    ];
    const { index, state, asking } = begun([one, two]);
    const applied = requestFields(TOKEN, "a", op.insert("1"), { ref: { txHash: transactionHash(asking), index: 0 } });
    const plan = updating(TOKEN, [applied]);
    const spends = [
      { utxo: state, redeemer: { type: "modify", actions: [...plan.actions, { type: "skip" }] } as const },
      ...plan.contributed,
      { utxo: at(asking, 1, two), redeemer: { type: "retract" } as const },
    ];
    const whole = { ...plan.whole, spends, signers: [owner.key, bob.key] };
    const update = encodeTransaction(partsOf(whole, { fee: 1n }));
    expect(index.follow(update)).toEqual(["RETRACTED", "UPDATED"]);
    expect(index.live("token_quarantine")).toEqual([]);
    expect(index.live("fact").map((row) => row.key)).toEqual([utf8("a")]);
  });
  it("records refused requests as refused, in the ledger's order with those that are applied", () => {
    const outputs = ["a", "b", "c"].map((key) => output({ datum: request({ key: utf8(key) }) }));
    const { index, state, asking } = begun(outputs);
    const requests = ["a", "b", "c"].map((key, i) => ({
      ...requestFields(TOKEN, key, op.insert("1"), { ref: { txHash: transactionHash(asking), index: i } }),
      refused: key !== "b",
    }));
    const plan = updating(TOKEN, requests);
    const spends = [{ ...plan.whole.spends[0]!, utxo: state }, ...plan.whole.spends.slice(1)];
    const update = encodeTransaction(partsOf({ ...plan.whole, spends }, { fee: 1n }));
    expect(index.follow(update)).toEqual(["REFUSED", "REFUSED", "UPDATED"]);
    expect(index.live("token_quarantine")).toEqual([]);
    expect(index.live("fact").map((row) => row.key)).toEqual([utf8("b")]);
    expect(index.live("token_request")).toEqual([]);
    const ends = index.live("token_request_end").toSorted((a, b) => Number(a.position) - Number(b.position));
    expect(ends.map(({ ref, status }) => [String(ref).at(-1), status])).toEqual([
      ["0", "refused"],
      ["1", "applied"],
      ["2", "refused"],
    ]);
    index.undo(1);
    expect(index.live("token_request")).toHaveLength(3);
  });
  it("reads a redeemer that is a number in every form that the ledger reads", () => {
    // CBOR of 2 and of -3 in more bytes than needed, and as great integers (tags 2 and 3)
    const forms = [
      ["applied", "02 1802 190002 1b0000000000000002 c24102 c2420002 c25f4102ff"],
      ["refused", "22 3802 390002 3b0000000000000002 c34102 c3420002 c35f4102ff"],
    ] as const;
    for (const [status, texts] of forms) {
      for (const text of texts.split(" ")) {
        const { index, state, asking } = begun([output()]);
        const redeemers = [
          { ref: state.ref, data: encodeData(constr(2, [])) },
          { ref: { txHash: transactionHash(asking), index: 0 }, data: fromHex(text) },
        ];
        index.follow(make({
          inputs: redeemers.map(({ ref }) => ref),
          outputs: [stateOf(TOKEN, empty)],
          redeemers: redeemers.map(({ ref, data }) => ({
            for: { purpose: "spend", ref },
            data,
            units: { memory: 1n, steps: 1n },
          })),
        }));
        expect([text, index.live("token_request_end").map((row) => row.status)]).toEqual([text, [status]]);
      }
    }
  });
  const retracting = (asking: Uint8Array, data: Uint8Array, beside: readonly Uint8Array[] = []): Uint8Array => {
    const spend = { txHash: transactionHash(asking), index: 0 };
    const others = beside.map((data) => ({ ref: newRef(), data }));
    return make({
      inputs: [spend, ...others.map(({ ref }) => ref)],
      redeemers: [{ ref: spend, data }, ...others].map(({ ref, data }) => ({
        for: { purpose: "spend", ref },
        data,
        units: { memory: 1n, steps: 1n },
      })),
    });
  };
  it("is followed through data nested as deeply as bytes allow", () => {
    const { index, asking } = begun([output()]);
    const nested = concat(new Uint8Array(5_000).fill(0x81), new Uint8Array(5_000).fill(0x9f), encode(0));
    const deep = concat(Uint8Array.of(0xd8, 0x7c, 0x81), nested, new Uint8Array(5_000).fill(0xff));
    expect(index.follow(retracting(asking, deep))).toEqual(["RETRACTED"]);
    expect(index.live("token_request")).toEqual([]);
  });
  it("is followed through redeemers of other scripts, in any form", () => {
    const { index, asking } = begun([output()]);
    const odd = [encodeData(5n), encodeData(1n << 80n), encodeData(utf8("x")), encodeData(constr(200))];
    expect(index.follow(retracting(asking, encodeData(constr(3)), odd))).toEqual(["RETRACTED"]);
  });
});
