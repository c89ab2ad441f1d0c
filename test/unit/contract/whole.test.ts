/**
 * Complete transactions, honest ones and attacks, run by two evaluators that must agree on the verdict and on the
 * units.
 */
import { describe, expect, it } from "vitest";
import { type NewOutput } from "#src/cardano/transaction.ts";
import { baseAddress } from "#src/cardano/address.ts";
import { lovelace } from "#src/cardano/value.ts";
import { EMPTY_ROOT, tokenName } from "#src/contract/datum.ts";
import type { Action } from "#src/contract/redeemer.ts";
import type { Proof } from "#src/forestry/proof.ts";
import { scriptHash } from "#src/contract/uplc/program.ts";
import { Forestry, leafOf } from "#src/forestry/trie.ts";
import { fromHex, utf8 } from "#src/base/bytes.ts";
import { op } from "../../support/contract/contractLedger.ts";
import { forgeries } from "../../support/contract/forgedProofs.ts";
import { coin, person, utxo } from "../../support/wallets/person.ts";
import {
  accepted,
  alice,
  bob,
  cage,
  changing,
  owner,
  paying,
  policy,
  refundOf,
  requestFields,
  stateOf,
  updating,
  type Whole,
  yes,
} from "../../support/contract/wholeTransaction.ts";

const TOKEN = "5a".repeat(32);
const OTHER = "5b".repeat(32);
const FOREIGN = "09".repeat(28);
const empty = fromHex(EMPTY_ROOT);
const mallory = person("mallory");
const thief: NewOutput = { address: mallory.enterprise, value: lovelace(2_000_000n) };

const facts = Forestry.from(Array.from({ length: 1000 }, (_, i) => leafOf(utf8(`fact-${i}`), utf8(`value-${i}`))));
const one = requestFields(TOKEN, "a", op.insert("1"));
const two = requestFields(TOKEN, "b", op.insert("2"), {
  refund: { payment: bob.key, stake: { kind: "key", hash: bob.key } },
});
const honest = updating(TOKEN, [one, two]);
const with0 = (first: NewOutput): Whole => ({ ...honest.whole, outputs: [first, ...honest.whole.outputs.slice(1)] });

describe("a token's life", () => {
  const seed = coin(owner.enterprise, 60_000_000n);
  const token = tokenName(seed.ref);
  const birth: Whole = {
    spends: [{ utxo: seed }],
    outputs: [stateOf(token, empty), changing],
    mint: new Map([[policy + token, 1n]]),
    seed: seed.ref,
    signers: [owner.key],
  };
  it("starts", () => expect(accepted(birth)).toBe(true));
  it("starts once and alone (C1, C5)", () => {
    expect(accepted({ ...birth, mint: new Map([[policy + token, 1000n]]) })).toBe(false);
    expect(accepted({ ...birth, mint: new Map([[policy + token, 1n], [policy + OTHER, 1n]]) })).toBe(false);
    expect(accepted({ ...birth, outputs: [{ ...stateOf(token, empty), value: lovelace(2_000_000n) }, changing] })).toBe(
      false,
    );
    expect(accepted({ ...birth, signers: [mallory.key] })).toBe(false);
  });
  it("has updates of twenty requests on a thousand facts", () => {
    const requests = Array.from({ length: 20 }, (_, i) =>
      requestFields(
        TOKEN,
        i % 3 === 0 ? `new-${i}` : `fact-${i}`,
        i % 3 === 0 ? op.insert("v") : i % 3 === 1 ? op.update(`value-${i}`, "w") : op.remove(`value-${i}`),
      ));
    expect(accepted(updating(TOKEN, requests, facts).whole)).toBe(true);
  });
  it("has retracted requests", () => {
    const back = { spends: [{ utxo: one.utxo, redeemer: { type: "retract" as const } }, paying], outputs: [changing] };
    expect(accepted({ ...back, signers: [alice.key] })).toBe(true);
    expect(accepted({ ...back, signers: [owner.key] })).toBe(false);
  });
  const ended: Whole = {
    spends: [{ utxo: honest.state, redeemer: { type: "end" } }, paying],
    outputs: [changing],
    mint: new Map([[policy + TOKEN, -1n]]),
    signers: [owner.key],
  };
  it("ends", () => expect(accepted(ended)).toBe(true));
  it("ends only by its owner, without requests' deposits (C6, F)", () => {
    expect(accepted({ ...ended, signers: [mallory.key] })).toBe(false);
    expect(accepted({ ...ended, spends: [...ended.spends, ...honest.contributed] })).toBe(false);
    const kept = { ...ended, spends: [...ended.spends, ...honest.contributed], outputs: [honest.next, changing] };
    expect(accepted(kept)).toBe(false);
  });
  it("is not extended by minting under a burn (E)", () => {
    const mint: Whole = { spends: [paying], outputs: [changing], mint: new Map([[policy + TOKEN, -1n]]), signers: [] };
    expect(accepted(mint)).toBe(true);
    expect(accepted({ ...mint, mint: new Map([[policy + TOKEN, 5n]]) })).toBe(false);
  });
});

describe("proofs that hide facts (A, B, C, G)", () => {
  for (const { title, facts, key, value, forged, after } of forgeries()) {
    it(title, () => {
      const control = updating(TOKEN, [requestFields(TOKEN, key, op.insert(value))], facts);
      expect(accepted(control.whole)).toBe(true);
      const by = (proof: Proof): Whole => ({
        ...control.whole,
        spends: [control.modified([{ type: "apply", proof }]), ...control.contributed, paying],
        outputs: [stateOf(TOKEN, after), ...control.refunds, changing],
      });
      expect(accepted(by(forged))).toBe(false);
    });
  }
});

describe("an update", () => {
  it("is the control", () => expect(accepted(honest.whole)).toBe(true));
  it("keeps the token where it is (C4, D)", () => {
    const wallet = { ...stateOf(TOKEN, honest.after), address: owner.enterprise };
    expect(accepted(with0(wallet))).toBe(false);
    expect(accepted(with0({ ...honest.next, value: lovelace(2_000_000n) }))).toBe(false);
    const moved: Whole = {
      ...updating(TOKEN, []).whole,
      outputs: [{ ...honest.next, value: lovelace(2_000_000n) }, wallet],
    };
    expect(accepted(moved)).toBe(false);
    const staked = baseAddress(0, { kind: "script", hash: policy }, { kind: "key", hash: owner.key }).hex;
    expect(accepted(with0(stateOf(TOKEN, honest.after, owner.key, staked)))).toBe(false);
  });
  it("has the computed root, and an owner who signed (C10)", () => {
    expect(accepted(with0(stateOf(TOKEN, new Uint8Array(32).fill(0xab))))).toBe(false);
    const handed = with0(stateOf(TOKEN, honest.after, bob.key));
    expect(accepted(handed)).toBe(false);
    expect(accepted({ ...handed, signers: [owner.key, bob.key] })).toBe(true);
    expect(accepted({ ...honest.whole, signers: [mallory.key] })).toBe(false);
  });
  it("puts no junk into the state (C10)", () => {
    const { lovelace: amount, assets } = honest.next.value;
    const junk = { ...honest.next, value: { lovelace: amount, assets: new Map([...assets, [FOREIGN + "00", 1n]]) } };
    const held = { utxo: coin(owner.enterprise, 5_000_000n, new Map([[FOREIGN + "00", 1n]])) };
    expect(accepted({ ...with0(junk), spends: [...honest.whole.spends, held] })).toBe(false);
    expect(accepted({ ...honest.whole, spends: [...honest.whole.spends, held] })).toBe(true);
  });
  it("refunds each request in full (C7, N4, N5)", () => {
    const [first, second] = honest.whole.outputs.slice(1, 3) as [NewOutput, NewOutput];
    const paid = (...refunds: NewOutput[]) =>
      accepted({ ...honest.whole, outputs: [honest.next, ...refunds, changing] });
    expect(paid(first, second)).toBe(true);
    expect(paid(second, first)).toBe(false);
    expect(paid(first)).toBe(false);
    expect(paid()).toBe(false);
    expect(paid({ ...first, value: lovelace(1_000_000n) }, { ...second, value: lovelace(2_000_000n) })).toBe(false);
    const ours = baseAddress(0, { kind: "key", hash: alice.key }, { kind: "key", hash: owner.key }).hex;
    expect(paid({ ...first, address: ours }, second)).toBe(false);
    expect(paid(first, { ...second, address: bob.enterprise })).toBe(false);
  });
  it("spends no second state (C8)", () => {
    const plan = updating(TOKEN, []);
    const second = utxo(stateOf(OTHER, empty));
    const both = [...plan.whole.spends, { utxo: second, redeemer: { type: "modify" as const, actions: [] } }];
    expect(accepted({ ...plan.whole, spends: both })).toBe(false);
    expect(accepted({ ...plan.whole, spends: both, outputs: [plan.next, stateOf(OTHER, empty), changing] })).toBe(
      false,
    );
    expect(accepted(plan.whole)).toBe(true);
  });
  it("runs no other script, which could count a refund as a payment to itself", () => {
    const foreign = scriptHash(yes);
    const minting: Whole = { ...honest.whole, mint: new Map([[foreign + "00", 1n]]), running: [foreign] };
    expect(accepted(minting)).toBe(false);
    expect(accepted({ ...minting, spends: [paying], outputs: [changing] })).toBe(true);
  });
  it("applies no request at another address (C9)", () => {
    const here = requestFields(TOKEN, "a", op.insert("1"), { address: owner.enterprise });
    const plan = updating(TOKEN, [here]);
    const spends = [plan.modified(plan.actions), { utxo: here.utxo }, paying];
    expect(accepted({ ...plan.whole, spends })).toBe(false);
  });
  it("may include a retraction, which counts for no other request (C11)", () => {
    const gone = requestFields(TOKEN, "z", op.insert("1"), {
      refund: { payment: bob.key },
      ref: { txHash: "ff".repeat(32), index: 0 },
    });
    const acts: Action[] = [...honest.actions, { type: "skip" }];
    const spends = [
      honest.modified(acts),
      ...honest.contributed,
      { utxo: gone.utxo, redeemer: { type: "retract" as const } },
      paying,
    ];
    const beside: Whole = { ...honest.whole, spends, signers: [owner.key, bob.key] };
    expect(accepted(beside)).toBe(true);
    expect(accepted({ ...beside, signers: [owner.key] })).toBe(false);
    const [first] = honest.refunds;
    expect(accepted({ ...beside, outputs: [honest.next, first!, refundOf(gone, 2_000_000n), changing] })).toBe(false);
  });
});

describe("a request", () => {
  it("cannot be taken with a token of the same name (C3)", () => {
    const fake = { ...stateOf(TOKEN, empty, mallory.key, mallory.enterprise) };
    const foreign = { ...fake, value: { lovelace: 2_000_000n, assets: new Map([[FOREIGN + TOKEN, 1n]]) } };
    const held = { utxo: utxo(foreign) };
    const spends = [...honest.contributed, held, paying];
    expect(accepted({ spends, outputs: [foreign, thief], signers: [mallory.key] })).toBe(false);
    // nor when it names that policy itself
    const named = requestFields(TOKEN, "a", op.insert("1"), { policy: FOREIGN });
    const naming = [{ utxo: named.utxo, redeemer: { type: "contribute" as const } }, held, paying];
    expect(accepted({ spends: naming, outputs: [foreign, thief], signers: [mallory.key] })).toBe(false);
  });
  it("cannot be taken with an update that ignores it", () => {
    const plan = updating(TOKEN, []);
    expect(accepted({ ...plan.whole, spends: [...plan.whole.spends, ...honest.contributed] })).toBe(false);
    const other = updating(OTHER, []);
    expect(accepted({ ...other.whole, spends: [...other.whole.spends, ...honest.contributed] })).toBe(false);
  });
  it("is at the contract's address", () => expect(one.utxo.output.address).toBe(cage));
});
