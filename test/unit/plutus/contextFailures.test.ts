/**
 * What a language cannot represent, by the ledger's names (`ConwayContextError`), and which of several failures comes
 * first.
 */
import { describe, expect, it } from "vitest";
import { CborError, type Encodable } from "#src/cardano/cbor.ts";
import { readTransaction } from "#src/cardano/conway/transaction.ts";
import { refKey } from "#src/cardano/output.ts";
import { posixTime } from "#src/plutus/context/interval.ts";
import { translate } from "#src/plutus/context/translate.ts";
import { ada, alice, bob, type Draft, output, slots, World } from "../../support/ledger/draft.ts";
import { byronAddress as byronOf } from "../../support/chain/byron.ts";
import { hash, read, shown } from "../../support/plutus/draftContexts.ts";

const byronAddress = byronOf({ root: new Uint8Array(28) });
const LANGUAGES = [1, 2, 3] as const;
const K = "0a".repeat(28);
const account = Uint8Array.of(0xe0, ...hash(K));
const anchor: Encodable = ["https://example.org", hash("0e".repeat(32))];
const votes = new Map<Encodable, Encodable>([
  [[4, hash(K)], new Map<Encodable, Encodable>([[[hash("0c".repeat(32)), 0], [1, null]]])],
]);
const proposals: Encodable = [[1, account, [6], anchor]];
const spend = { purpose: "spend" as const, index: 0 };

/** For each language, the failure or nothing. */
function failures(draft: Draft, world = new World(), major = 10) {
  return LANGUAGES.map((language) => {
    const args = shown(language, world, draft, spend, { major });
    return typeof args === "string" ? args : undefined;
  });
}

describe("fields of Conway under Plutus V1 and V2", () => {
  const none = undefined;
  it.each<[string, Record<number, Encodable>, string]>([
    ["votes", { 19: votes }, "VotingProceduresFieldNotSupported"],
    ["proposals", { 20: proposals }, "ProposalProceduresFieldNotSupported"],
    ["a donation", { 22: 1 }, "TreasuryDonationFieldNotSupported"],
    ["the treasury, also when it is said to be empty", { 21: 0 }, "CurrentTreasuryFieldNotSupported"],
  ])("%s", (_, fields, name) => expect(failures({ fields })).toEqual([name, name, none]));

  it("fail in the order of guardConwayFeaturesForPlutusV1V2, before everything else", () => {
    const world = new World();
    const inputs = [world.fund(byronAddress)];
    const certificates: Encodable[] = [[9, [0, hash(K)], [2]]];
    const all: Record<number, Encodable> = { 19: votes, 20: proposals, 22: 1, 21: 0 };
    const seen: (string | undefined)[] = [];
    for (const field of ["19", "20", "22", "21", undefined]) {
      seen.push(failures({ inputs, certificates, fields: all }, world)[1]);
      if (field) delete all[Number(field)];
    }
    expect(seen).toEqual([
      "VotingProceduresFieldNotSupported",
      "ProposalProceduresFieldNotSupported",
      "TreasuryDonationFieldNotSupported",
      "CurrentTreasuryFieldNotSupported",
      "ByronTxOutInContext",
    ]);
  });
});

describe("a slot beyond the horizon", () => {
  it("comes after the fields of Conway and before inputs", () => {
    const world = new World();
    const inputs = [world.fund(byronAddress)];
    const terms = { time: () => undefined };
    const seen = (fields: Record<number, Encodable>) =>
      LANGUAGES.map((language) => shown(language, world, { inputs, fields: { 3: 1, ...fields } }, spend, terms));
    expect(seen({})).toEqual(new Array(3).fill("TimeTranslationPastHorizon"));
    expect(seen({ 22: 1 }).slice(0, 2)).toEqual(new Array(2).fill("TreasuryDonationFieldNotSupported"));
  });
});

describe("outputs", () => {
  it("at an address of Byron fail in every position", () => {
    const world = new World();
    const byron = world.fund(byronAddress);
    const each = new Array(3).fill("ByronTxOutInContext");
    expect(failures({ inputs: [byron] }, world)).toEqual(each);
    expect(failures({ fields: { 18: [[hash(byron.ref.txHash), 0]] } }, world)).toEqual(each);
    expect(failures({ outputs: [output(byronAddress, ada)], paid: ada })).toEqual(each);
  });
  it("with an inline datum fail under Plutus V1, also where the context omits them", () => {
    const world = new World();
    const inline = world.fund(bob.address, ada, { datum: 1n });
    const name = ["InlineDatumsNotSupported", undefined, undefined];
    expect(failures({ inputs: [world.fund(alice.address), inline] }, world)).toEqual(name);
    expect(failures({ fields: { 18: [[hash(inline.ref.txHash), 0]] } }, world)).toEqual(name);
    expect(failures({ outputs: [output(bob.address, ada, { datum: 1n })], paid: ada })).toEqual(name);
  });
  it("with a reference script, and reference inputs, do not fail under Plutus V1: that ended with Babbage", () => {
    const world = new World();
    const holding = world.fund(bob.address, ada, { script: [1, hash("4101")] });
    expect(failures({ fields: { 18: [[hash(holding.ref.txHash), 0]] } }, world)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
  it("that are unknown fail", () => {
    const world = new World();
    const gone = world.fund(alice.address);
    world.outputs.delete(refKey(gone.ref));
    expect(failures({ inputs: [gone] }, world)).toEqual(new Array(3).fill("TranslationLogicMissingInput"));
    const fields = { 18: [[hash(gone.ref.txHash), 0]] };
    expect(failures({ fields }, world)).toEqual(new Array(3).fill("TranslationLogicMissingInput"));
  });
});

describe("an output that is spent and referred to", () => {
  const world = new World();
  const both = world.fund(alice.address);
  const draft = { inputs: [both], fields: { 18: [[hash(both.ref.txHash), 0]] } };
  it("fails under Plutus V3 from protocol version 11 on, since the rule that refused it before has ended", () => {
    const name = "ReferenceInputsNotDisjointFromInputs";
    expect(failures(draft, world, 11)).toEqual([undefined, undefined, name]);
    expect(failures(draft, world, 10)).toEqual([undefined, undefined, undefined]);
  });
});

describe("a redeemer that points to nothing", () => {
  it.each([0, 1, 2, 3, 4, 5])("fails by itself, and in the map of redeemers (purpose %s)", (tag) => {
    const purpose = (["spend", "mint", "cert", "reward", "vote", "propose"] as const)[tag]!;
    const name = "RedeemerPointerPointsToNothing";
    expect(shown(1, new World(), {}, { purpose, index: 9 })).toBe(name);
    const named = failures({ redeemers: [[tag, 9]] });
    expect(named).toEqual([undefined, name, name]);
  });
});

describe("the three results", () => {
  it("bytes that are not a transaction are the decoder's failure, and so is an output that holds no data", () => {
    expect(readTransaction(Uint8Array.of(0x80))).toMatchObject({ ok: false, error: { code: "undecodable" } });
    const world = new World();
    const malformed = world.fund(bob.address, ada, { datum: "a text" });
    const input = {
      transaction: read(world.write({ inputs: [malformed] })),
      resolved: world.outputs,
      time: posixTime(slots),
      protocolMajor: 10,
    };
    expect(() => translate(2, input)).toThrow(CborError);
    expect(translate(1, input)).toMatchObject({ ok: false, error: { reason: "InlineDatumsNotSupported" } });
  });
  it("the failure of a language has its position, also in the ledger's encoding (EncCBOR of the errors)", () => {
    const world = new World();
    const transaction = read(world.write({ outputs: [output(bob.address, ada, { datum: 1n })], paid: ada }));
    const input = { transaction, resolved: world.outputs, time: posixTime(slots), protocolMajor: 10 };
    expect(translate(1, input)).toEqual({
      ok: false,
      error: { reason: "InlineDatumsNotSupported", about: "output 0", detail: "820100" },
    });
    const byron = world.fund(byronAddress);
    const details = (draft: Draft, protocolMajor = 11) => {
      const made = translate(3, { ...input, transaction: read(world.write(draft)), protocolMajor });
      return made.ok ? undefined : made.error.detail;
    };
    const ref = "825820" + byron.ref.txHash + "00";
    expect(details({ inputs: [byron] })).toBe("8200" + ref);
    const both = world.fund(alice.address);
    const twice = details({ inputs: [both], fields: { 18: [[hash(both.ref.txHash), 0]] } });
    expect(twice).toBe("81825820" + both.ref.txHash + "00");
    world.outputs.delete(refKey(byron.ref));
    expect(details({ inputs: [byron] })).toBe(ref);
    const donating = { ...input, transaction: read(world.write({ fields: { 22: 500 } })) };
    expect(translate(2, donating)).toMatchObject({ error: { detail: "1901f4" } });
  });
});
