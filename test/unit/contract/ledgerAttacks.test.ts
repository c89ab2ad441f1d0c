/**
 * Every known attack on contracts of this kind, tried on the ledger: a complete transaction, balanced, with its fee and
 * signatures, that all rules except the scripts accept. For each there is an honest one that differs in one thing and
 * is accepted.
 */
import { describe, expect, it } from "vitest";
import { fromHex, toHex, utf8 } from "#src/base/bytes.ts";
import { baseAddress } from "#src/cardano/address.ts";
import { constr } from "#src/cardano/data.ts";
import type { NewOutput } from "#src/cardano/transaction.ts";
import { lovelace } from "#src/cardano/value.ts";
import { EMPTY_ROOT, encodeState, tokenName } from "#src/contract/datum.ts";
import type { Action } from "#src/contract/redeemer.ts";
import type { Proof } from "#src/forestry/proof.ts";
import { scriptHash } from "#src/contract/uplc/program.ts";
import { op } from "../../support/contract/contractLedger.ts";
import { theBuild } from "../../support/contract/contractBuild.ts";
import { forgeries } from "../../support/contract/forgedProofs.ts";
import { judged } from "../../support/contract/judgedTransaction.ts";
import { coin, person, utxo } from "../../support/wallets/person.ts";
import {
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
const FOREIGN = scriptHash(yes);
const empty = fromHex(EMPTY_ROOT);
const mallory = person("mallory");
const thief: NewOutput = { address: mallory.enterprise, value: lovelace(2_000_000n) };
const contribute = { type: "contribute" as const };
const retract = { type: "retract" as const };

const taken = async (whole: Whole) => expect(await judged(whole)).toEqual([]);

/** The scripts refuse it, and nothing else does: its units suffice, and everything else in it is valid. */
async function refused(whole: Whole) {
  const [failure, ...others] = await judged(whole);
  expect(others).toEqual([]);
  expect(failure).toMatchObject({ name: "ValidationTagMismatch", kind: "FailedUnexpectedly" });
  expect(failure).not.toMatchObject({ message: expect.stringMatching(/takes \d+ memory/) });
}

const requests = [
  requestFields(TOKEN, "a", op.insert("1")),
  requestFields(TOKEN, "b", op.insert("2"), { refund: { payment: bob.key, stake: { kind: "key", hash: bob.key } } }),
];
const honest = updating(TOKEN, requests);
const first = (output: NewOutput, plan = honest): Whole => ({
  ...plan.whole,
  outputs: [output, ...plan.whole.outputs.slice(1)],
});
const seed = coin(owner.enterprise, 60_000_000n);
const named = tokenName(seed.ref);
const birth: Whole = {
  spends: [{ utxo: seed }],
  outputs: [stateOf(named, empty), changing],
  mint: new Map([[policy + named, 1n]]),
  seed: seed.ref,
  signers: [owner.key],
};
const ending: Whole = {
  spends: [{ utxo: honest.state, redeemer: { type: "end" } }, paying],
  outputs: [changing],
  mint: new Map([[policy + TOKEN, -1n]]),
  signers: [owner.key],
};
const also = (whole: Whole, ...spends: Whole["spends"]): Whole => ({ ...whole, spends: [...whole.spends, ...spends] });
const plain = { ...honest.next, value: lovelace(2_000_000n) };

describe("a token exists once", () => {
  const held = coin(mallory.enterprise, 5_000_000n, new Map([[policy + TOKEN, 3n]]));
  const burn: Whole = {
    spends: [{ utxo: held }],
    outputs: [thief],
    mint: new Map([[policy + TOKEN, -1n]]),
    signers: [],
  };
  it("although everybody may burn (C1, E)", async () => {
    await taken(burn);
    await refused({ ...burn, mint: new Map([[policy + TOKEN, 1000n]]) });
    await refused({ ...burn, mint: new Map([[policy + TOKEN, -1n], [policy + OTHER, 1n]]) });
  });
  it("and the contract's address has no copy of it (C2)", async () => {
    const copy = stateOf(TOKEN, empty, mallory.key);
    const by: Whole = { ...burn, spends: [paying], outputs: [copy], signers: [mallory.key] };
    await taken({ ...by, outputs: [{ ...copy, value: lovelace(2_000_000n) }], mint: new Map() });
    await refused({ ...by, mint: new Map([[policy + TOKEN, 1n]]) });
    await refused({ ...by, mint: new Map([[policy + TOKEN, 1n]]), spends: [{ utxo: seed }], seed: seed.ref });
    const stub = {
      utxo: utxo({ ...copy, value: lovelace(2_000_000n) }),
      redeemer: { type: "modify", actions: [] } as const,
    };
    await refused({ spends: [stub, { utxo: held }], outputs: [copy], signers: [mallory.key] });
  });
  it("in its state, from its boot on (C5)", async () => {
    await taken(birth);
    await refused({ ...birth, outputs: [{ ...stateOf(named, empty), value: lovelace(2_000_000n) }, changing] });
    await refused({ ...birth, outputs: [{ ...stateOf(named, empty), address: owner.enterprise }, changing] });
    await refused({ ...birth, outputs: [stateOf(named, new Uint8Array(32).fill(1)), changing] });
    await refused({ ...birth, mint: new Map([[policy + named, 1n], [policy + OTHER, 1n]]) });
    await refused({ ...birth, mint: new Map([[policy + named, 2n]]) });
  });
  it("which cannot move elsewhere (C4, D)", async () => {
    await taken(honest.whole);
    await refused(first(plain));
    await refused(first({ ...stateOf(TOKEN, honest.after), address: owner.enterprise }));
    const nothing = updating(TOKEN, []);
    await taken(nothing.whole);
    await refused({ ...nothing.whole, outputs: [plain, { ...stateOf(TOKEN, empty), address: owner.enterprise }] });
    await refused(first(stateOf(TOKEN, new Uint8Array(32).fill(0xab)), nothing));
  });
  it("and no second one comes from another policy (N1)", async () => {
    const minting = (redeemer = constr(0, constr(0, constr(0, fromHex(seed.ref.txHash), 0n)))): Whole => ({
      ...birth,
      minting: redeemer,
    });
    await taken(minting());
    await refused(minting(constr(2, fromHex(FOREIGN), constr(0, fromHex(named)))));
    await refused(minting(constr(1)));
    const migrating = stateOf(OTHER, empty, mallory.key);
    const mint = new Map([[policy + OTHER, 1n], [FOREIGN + OTHER, -1n]]);
    const old = coin(mallory.enterprise, 5_000_000n, new Map([[FOREIGN + OTHER, 1n]]));
    await refused({
      spends: [{ utxo: old }],
      outputs: [migrating],
      mint,
      running: [FOREIGN],
      minting: constr(1, fromHex(FOREIGN), constr(0, fromHex(OTHER))),
      signers: [mallory.key],
    });
  });
});

describe("facts come from requests", () => {
  for (const { title, facts, key, value, forged, after } of forgeries()) {
    it(`which a false proof does not apply: ${title}`, async () => {
      const control = updating(TOKEN, [requestFields(TOKEN, key, op.insert(value))], facts);
      await taken(control.whole);
      const by = (proof: Proof): Whole => ({
        ...control.whole,
        spends: [control.modified([{ type: "apply", proof }]), ...control.contributed, paying],
        outputs: [stateOf(TOKEN, after), ...control.refunds, changing],
      });
      await refused(by(forged));
    });
  }
  it("at the contract's address (C9, N6)", async () => {
    const plan = (address?: string) => {
      const request = requestFields(TOKEN, "a", op.insert("1"), address ? { address } : {});
      const made = updating(TOKEN, [request]);
      const spend = address === undefined ? made.contributed : [{ utxo: request.utxo }];
      return { ...made.whole, spends: [made.modified(made.actions), ...spend, paying] };
    };
    await taken(plan());
    await refused(plan(owner.enterprise));
  });
  it("each once, none without a request (N6)", async () => {
    const plan = updating(TOKEN, [requests[0]!]);
    await taken(plan.whole);
    const twice = [plan.modified([...plan.actions, ...plan.actions]), ...plan.contributed, paying];
    await refused({ ...plan.whole, spends: twice });
    await refused(first(stateOf(TOKEN, honest.after), plan));
  });
});

describe("a deposit", () => {
  const request = { utxo: requests[0]!.utxo, redeemer: contribute };
  it("cannot be taken with a token of the same name (C3)", async () => {
    const fake = { ...thief, value: { lovelace: 2_000_000n, assets: new Map([[FOREIGN + TOKEN, 1n]]) } };
    const by: Whole = { spends: [{ utxo: utxo(fake) }], outputs: [fake], signers: [mallory.key] };
    await taken(by);
    await refused(also(by, request));
    const minting: Whole = { ...by, spends: [paying], mint: new Map([[FOREIGN + TOKEN, 1n]]), running: [FOREIGN] };
    await taken(minting);
    await refused(also(minting, request));
    const naming = { utxo: requestFields(TOKEN, "a", op.insert("1"), { policy: FOREIGN }).utxo, redeemer: contribute };
    await refused(also(by, naming));
  });
  it("cannot be taken by ending the token (C6, F)", async () => {
    await taken(ending);
    await refused({ ...ending, signers: [mallory.key] });
    await refused(also(ending, request));
    await refused({ ...also(ending, request), outputs: [plain, changing] });
  });
  it("cannot be taken by an update that does not apply its request (F)", async () => {
    await taken(updating(TOKEN, [requests[0]!]).whole);
    await refused(also(updating(TOKEN, []).whole, request));
    await refused(also(updating(OTHER, []).whole, request));
  });
  it("is refunded, each in full to the whole address (C7, N4, N5)", async () => {
    const [one, two] = honest.refunds as [NewOutput, NewOutput];
    const paid = (...refunds: NewOutput[]): Whole => ({
      ...honest.whole,
      outputs: [honest.next, ...refunds, changing],
    });
    await taken(paid(one, two));
    await taken(paid({ ...one, value: lovelace(1_500_001n) }, two));
    await refused(paid());
    await refused(paid(one));
    await refused(paid(two, one));
    await refused(paid({ ...one, value: lovelace(1_000_000n) }, { ...two, value: lovelace(2_000_000n) }));
    const ours = baseAddress(0, { kind: "key", hash: alice.key }, { kind: "key", hash: owner.key }).hex;
    await refused(paid({ ...one, address: ours }, two));
    await refused(paid(one, { ...two, address: bob.enterprise }));
    await refused(paid({ ...one, datum: encodeState({ owner: alice.key, root: EMPTY_ROOT }) }, two));
  });
  it("can always be retracted, even if the token ended or its owner is gone (N2, N3)", async () => {
    const back: Whole = { spends: [{ ...request, redeemer: retract }], outputs: [], signers: [alice.key] };
    await taken(back);
    await refused({ ...back, signers: [owner.key] });
    await refused({ ...back, signers: [mallory.key], outputs: [thief] });
    await taken({ ...also(ending, { ...request, redeemer: retract }), signers: [owner.key, alice.key] });
  });
  it("cannot be taken by anybody else (N2)", async () => {
    const sweep = (tag: number): Whole => ({
      spends: [{ utxo: request.utxo, redeemer: constr(tag, constr(0, utf8("x"))) }, paying],
      outputs: [],
      signers: [owner.key, alice.key],
    });
    // version 2 ignores the field
    await (theBuild().name === "2.0.0" ? taken : refused)(sweep(3));
    for (const tag of [0, 1, 2, 4, 5]) await refused(sweep(tag));
  });
});

describe("an update", () => {
  it("is of one token (C8)", async () => {
    const plan = updating(TOKEN, []);
    const second = { utxo: utxo(stateOf(OTHER, empty)), redeemer: { type: "modify", actions: [] } as const };
    await taken(plan.whole);
    await refused(also(plan.whole, second));
    await refused({ ...also(plan.whole, second), outputs: [plan.next, stateOf(OTHER, empty), changing] });
    const pair = updating(OTHER, [requestFields(OTHER, "a", op.insert("1"))]);
    const both = [...honest.whole.spends, ...pair.whole.spends.slice(0, -1)];
    await refused({ ...honest.whole, spends: both, outputs: [honest.next, pair.next, ...honest.refunds, changing] });
    await refused({
      ...also(plan.whole, { ...second, redeemer: { type: "end" } }),
      mint: new Map([[policy + OTHER, -1n]]),
    });
  });
  it("hands over only to an owner who signs (C10)", async () => {
    const handed = first(stateOf(TOKEN, honest.after, bob.key));
    await taken({ ...handed, signers: [owner.key, bob.key] });
    await refused(handed);
    await refused({ ...handed, signers: [bob.key] });
    await refused({ ...honest.whole, signers: [mallory.key] });
  });
  it("puts nothing else into the state (C10)", async () => {
    const held = { utxo: coin(owner.enterprise, 5_000_000n, new Map([[FOREIGN + "00", 1n]])) };
    const { lovelace: amount, assets } = honest.next.value;
    await taken(also(honest.whole, held));
    await refused(
      also(
        first({ ...honest.next, value: { lovelace: amount, assets: new Map([...assets, [FOREIGN + "00", 1n]]) } }),
        held,
      ),
    );
    const staked = baseAddress(0, { kind: "script", hash: policy }, { kind: "key", hash: owner.key }).hex;
    await refused(first(stateOf(TOKEN, honest.after, owner.key, staked)));
    await refused({ ...birth, outputs: [stateOf(named, empty, owner.key, staked), changing] });
    await refused({ ...birth, signers: [mallory.key] });
  });
  it("may have a request in the name of a person who never made it, whom alone it refunds (C10)", async () => {
    const given = updating(TOKEN, [requestFields(TOKEN, "a", op.insert("1"), { refund: { payment: mallory.key } })]);
    await taken(given.whole);
    await refused({
      ...given.whole,
      outputs: [given.next, { ...given.refunds[0]!, address: owner.enterprise }, changing],
    });
  });
  it("is not blocked by outputs without a valid datum, which stay (C10)", async () => {
    const lost = utxo({ address: cage, value: lovelace(2_000_000n) });
    const odd = utxo({ address: cage, value: lovelace(2_000_000n), datum: encodeState({ owner: "00", root: "00" }) });
    await taken(honest.whole);
    for (const one of [lost, odd]) {
      await refused(also(honest.whole, { utxo: one, redeemer: retract }));
      await refused({ spends: [{ utxo: one, redeemer: { type: "end" } }], outputs: [], signers: [owner.key] });
    }
  });
  it("may include a retraction of a request, whose output refunds no other request (C11)", async () => {
    const gone = requestFields(TOKEN, "z", op.insert("1"), {
      refund: { payment: bob.key },
      ref: { txHash: "ff".repeat(32), index: 0 },
    });
    await taken({ spends: [{ utxo: gone.utxo, redeemer: retract }], outputs: [], signers: [bob.key] });
    const acts: Action[] = [...honest.actions, { type: "skip" }];
    const beside: Whole = {
      ...honest.whole,
      spends: [honest.modified(acts), ...honest.contributed, { utxo: gone.utxo, redeemer: retract }, paying],
      signers: [owner.key, bob.key],
    };
    await taken(beside);
    await refused({ ...beside, signers: [owner.key] });
    await refused({ ...beside, outputs: [honest.next, honest.refunds[0]!, refundOf(gone, 2_000_000n), changing] });
  });
  it("treats a request according to the redeemers of both the state and the request", async () => {
    const plan = updating(TOKEN, [requests[0]!]);
    const spends = (action: Action, redeemer: typeof contribute | typeof retract): Whole => ({
      ...plan.whole,
      spends: [plan.modified([action]), { utxo: requests[0]!.utxo, redeemer }, paying],
      outputs: [stateOf(TOKEN, action.type === "apply" ? plan.after : empty), ...plan.refunds, changing],
      signers: [owner.key, alice.key],
    });
    await taken(spends(plan.actions[0]!, contribute));
    await taken(spends({ type: "skip" }, retract));
    await refused(spends({ type: "skip" }, contribute));
    await refused(spends(plan.actions[0]!, retract));
  });
  it("is no birth, and nothing at the contract bears a token (C1, C5)", async () => {
    const plan = updating(TOKEN, []);
    const bearing = (by: Whole, ref = seed.ref): Whole => {
      const name = tokenName(ref);
      return { ...by, seed: ref, mint: new Map([...by.mint ?? [], [policy + name, 1n]]) };
    };
    const beside = also(plan.whole, { utxo: seed });
    await taken(beside);
    const child = stateOf(named, empty);
    await refused(bearing({ ...beside, outputs: [plan.next, child, changing] }));
    await refused(bearing({ ...beside, outputs: [child, plan.next, changing] }));
    // the state itself as the seed, kept or ended
    const own = stateOf(tokenName(plan.state.ref), empty);
    await refused(bearing({ ...plan.whole, outputs: [own, plan.next, changing] }, plan.state.ref));
    await refused(
      bearing(
        { ...ending, spends: [{ utxo: plan.state, redeemer: { type: "end" } }, paying], outputs: [own] },
        plan.state.ref,
      ),
    );
    // a request that is retracted may be one: it is its requester's money
    const request = requests[0]!.utxo;
    const freed: Whole = {
      spends: [{ utxo: request, redeemer: retract }],
      outputs: [stateOf(tokenName(request.ref), empty, alice.key)],
      signers: [alice.key],
    };
    await taken(bearing(freed, request.ref));
    await refused(bearing({ ...freed, spends: [{ utxo: request, redeemer: contribute }] }, request.ref));
  });
  it("runs no other script", async () => {
    const minting: Whole = { ...honest.whole, mint: new Map([[FOREIGN + toHex(utf8("x")), 1n]]), running: [FOREIGN] };
    await taken({ ...minting, spends: [paying], outputs: [changing] });
    await refused(minting);
  });
});

describe("a request that the owner refuses", () => {
  const isVersion3 = theBuild().name === "3.0.0";
  const [one, two] = requests as [typeof requests[0], typeof requests[0]];
  const junk = { ...one, refused: true };
  const plan = updating(TOKEN, [junk, two]);
  const refuse = { type: "refuse" as const };
  it("gets its whole deposit back, beside others that are applied, from version 3 on", async () => {
    if (isVersion3) await taken(plan.whole);
    else await refused(plan.whole);
    const alone = updating(TOKEN, [junk]);
    expect(alone.after).toEqual(empty);
    if (isVersion3) await taken(alone.whole);
    else await refused(alone.whole);
  });
  it("gets nothing less, nowhere else, and no output that is another's", async () => {
    const at = plan.refunds.findIndex(({ value }) => value.lovelace === 2_000_000n);
    const [whole] = plan.refunds.slice(at);
    const refunds = (...changed: NewOutput[]): Whole => ({
      ...plan.whole,
      outputs: [plan.next, ...changed, changing],
    });
    const instead = (other: NewOutput) => refunds(...plan.refunds.with(at, other));
    await refused(instead({ ...whole!, value: lovelace(1_999_999n) }));
    await refused(instead(refundOf(one)));
    await refused(instead({ ...whole!, address: owner.enterprise }));
    await refused(instead({ ...whole!, address: mallory.enterprise }));
    await refused(refunds(...[...plan.refunds].reverse()));
    await refused(refunds(whole!));
    const both = updating(TOKEN, [junk, { ...two, refused: true }]);
    if (isVersion3) await taken(both.whole);
    await refused({ ...both.whole, outputs: [both.next, both.refunds[0]!, changing] });
  });
  it("is refused by the owner of its token, in an update of it", async () => {
    await refused({ ...plan.whole, signers: [mallory.key] });
    await refused({ ...plan.whole, signers: [alice.key] });
    const spent = { utxo: one.utxo, redeemer: refuse };
    await refused({ spends: [spent, paying], outputs: [refundOf(one, 2_000_000n), changing], signers: [owner.key] });
    await refused(also(ending, spent));
    const other = requestFields(OTHER, "a", op.insert("1"));
    const alone = updating(TOKEN, []);
    await taken(alone.whole);
    await refused({
      ...alone.whole,
      spends: [alone.modified([{ type: "refuse" }]), { utxo: other.utxo, redeemer: refuse }, paying],
      outputs: [alone.next, refundOf(other, 2_000_000n), changing],
    });
  });
  it("is what both redeemers say", async () => {
    const alone = updating(TOKEN, [junk]);
    const applied = updating(TOKEN, [one]);
    const saying = (
      by: typeof alone,
      action: Action,
      redeemer: typeof contribute | typeof retract | typeof refuse,
    ) => ({
      ...by.whole,
      spends: [{ ...by.modified([action]) }, { utxo: one.utxo, redeemer }, paying],
      signers: [owner.key, alice.key],
    });
    await refused(saying(alone, { type: "refuse" }, contribute));
    await refused(saying(alone, { type: "refuse" }, retract));
    await refused(saying(alone, { type: "skip" }, refuse));
    await refused(saying(applied, applied.actions[0]!, refuse));
    if (isVersion3) await taken(saying(alone, { type: "refuse" }, refuse));
  });
});
