/** Pure parts of the explorer: names of assets, ids in sentences, Plutus data as a tree. */
import { describe, expect, it } from "vitest";
import { toHex, utf8 } from "#src/base/bytes.ts";
import { describeFailure } from "#src/cardano/failureText.ts";
import type { Transaction } from "#src/pages/explorer/api.ts";
import { bandsOf, flowOf } from "#src/pages/explorer/flowShape.ts";
import { assetParts, causesFirst, pageOf, pageOfText, sentenceParts, shownText } from "#src/pages/explorer/names.ts";
import { plutusNode } from "#src/pages/explorer/plutusTree.ts";

const hash = "ab".repeat(32);
const policy = "0c".repeat(28);
const hex = (text: string) => toHex(utf8(text));

describe("names of assets", () => {
  it.each([
    [policy, { policy, name: "" }],
    [policy + hex("Token"), { policy, name: "Token" }],
    [policy + "ff00", { policy, name: "ff00" }],
    [`${policy}000de140${hex("Art")}`, { policy, name: "Art", role: "NFT" }],
    [`${policy}000643b0${hex("Art")}`, { policy, name: "Art", role: "reference token" }],
  ])("%s", (unit, parts) => expect(assetParts(unit)).toEqual(parts));

  it("does not show bytes as text that would change how the page is read", () => {
    for (const text of ["\u202eabc", "a\nb", "\u0000", "\u200b", "\ufeffx"]) {
      expect(shownText(hex(text))).toBeUndefined();
    }
    for (const bytes of ["c3", "c", "zz"]) expect(shownText(bytes)).toBeUndefined();
    expect(shownText(hex("مرحبا <b>"))).toBe("مرحبا <b>");
  });
});

describe("the flow of a transaction", () => {
  const output = (lovelace: number, assets = {}) => ({ address: "addr_test1x", lovelace, assets });
  const input = (lovelace?: number) => ({
    txHash: hash,
    index: 1,
    ...(lovelace === undefined ? {} : { output: output(lovelace) }),
  });
  const transaction = (more: object) =>
    ({
      inputs: [],
      outputs: [],
      collateral: [],
      withdrawals: [],
      fee: 2,
      valid: true,
      ...more,
    }) as unknown as Transaction;
  const sum = (ends: ReturnType<typeof flowOf>["to"]) => ends.reduce((all, { lovelace = 0n }) => all + lovelace, 0n);

  it("has the same at both sides: deposits, withdrawals and the fee as well", () => {
    const flow = flowOf(transaction({
      inputs: [input(60), input(50)],
      outputs: [output(100, { [policy]: 1 }), output(9)],
      deposit: 4,
      withdrawals: [{ address: "stake_test1x", lovelace: 5 }],
    }));
    expect(flow.from.map(({ name }) => name)).toEqual(["abababab…#1", "abababab…#1", "Withdrawn rewards"]);
    expect(flow.to.map(({ name, assets }) => [name, assets])).toEqual([["#0", 1], ["#1", 0], ["Deposits", 0], [
      "Fee",
      0,
    ]]);
    expect([sum(flow.from), sum(flow.to)]).toEqual([115n, 115n]);
    const back = flowOf(transaction({ inputs: [input(1)], outputs: [output(4)], deposit: -5 }));
    expect(back.from.at(-1)).toEqual({ name: "Returned deposits", lovelace: 5n, assets: 0 });
  });

  it("is that of the collateral where a script failed", () => {
    const { from, to } = flowOf(transaction({
      valid: false,
      inputs: [input(60)],
      collateral: [input(10)],
      collateralReturn: output(7),
    }));
    expect(from.map(({ lovelace }) => lovelace)).toEqual([10n]);
    expect(to.map(({ name, lovelace }) => [name, lovelace])).toEqual([["Returned collateral", 7n], ["Fee", 3n]]);
  });

  it("sums what there is no room for, and has a band for each end, also for unknown and small ones", () => {
    const many = flowOf(transaction({ inputs: [input()], outputs: Array.from({ length: 30 }, () => output(3)) }));
    expect(many.to.slice(-2)).toEqual([
      { name: "23 more", lovelace: 69n, assets: 0 },
      { name: "Fee", lovelace: 2n, assets: 0 },
    ]);
    const { paths, height } = bandsOf(many);
    expect(paths).toHaveLength(10);
    for (const path of paths) {
      const ys = [...path.matchAll(/(?<=[ V])[\d.-]+(?=[VCZ]|$)/g)].map(Number);
      expect(ys.every((y) => y >= 0 && y <= height)).toBe(true);
    }
    expect(paths.join("")).not.toContain("NaN");
  });
});

it("names missing inputs before what follows from them", () => {
  const names = ["ExtraRedeemers", "NoCollateralInputs", "BadInputsUTxO", "ValueNotConservedUTxO"];
  expect(causesFirst(names.map((name) => ({ name }))).map(({ name }) => name)).toEqual([
    "BadInputsUTxO",
    "ExtraRedeemers",
    "NoCollateralInputs",
    "ValueNotConservedUTxO",
  ]);
});

describe("pages of ids", () => {
  it("encodes ids, so that none leads to another page", () => {
    expect(pageOf("transaction", "../tools?x#y")).toBe("/tx/..%2Ftools%3Fx%23y");
    expect(pageOf("nothing", "x")).toBeUndefined();
  });

  it.each([
    [`${hash}#3`, `/tx/${hash}`],
    ["stake_test1uqevw2xnsc0pvn9t9r9c7qryfqfeerchgrlm3ea2nefr9hqp8n5xl", /^\/address\/stake/],
    ["pool1abc", "/pool/pool1abc"],
    ["drep1abc", "/representative/drep1abc"],
    ["drep_always_abstain", "/representative/drep_always_abstain"],
    ["gov_action1abc", "/action/gov_action1abc"],
    ["addr1 or so", undefined],
    [hash, undefined],
  ])("%s", (text, page) => {
    if (page instanceof RegExp) expect(pageOfText(text)).toMatch(page);
    else expect(pageOfText(text)).toBe(page);
  });
});

describe("sentences of the ledger", () => {
  it("finds ids and amounts in them, and loses nothing", () => {
    const text = describeFailure({ name: "BadInputsUTxO", inputs: [{ txHash: hash, index: 2 }] });
    expect(sentenceParts(text)).toEqual([
      { kind: "words", text: expect.stringMatching(/: $/) },
      { kind: "id", text: `${hash}#2` },
      { kind: "words", text: "." },
    ]);
    expect(sentenceParts("It takes 5 lovelace, not 7 lovelace")).toEqual([
      { kind: "words", text: "It takes " },
      { kind: "lovelace", amount: "5" },
      { kind: "words", text: ", not " },
      { kind: "lovelace", amount: "7" },
    ]);
    expect(sentenceParts("<b>nothing</b>")).toEqual([{ kind: "words", text: "<b>nothing</b>" }]);
  });
});

describe("Plutus data as a tree", () => {
  it.each([
    [{ int: 42 }, { kind: "int", text: "42" }],
    [{ bytes: hex("hello") }, { kind: "bytes", hex: hex("hello"), text: "hello" }],
    [{ bytes: "ff" }, { kind: "bytes", hex: "ff" }],
    [{ bytes: "" }, { kind: "bytes", hex: "" }],
    [{ list: [{ int: 1 }] }, { kind: "list", title: "List of 1 item", children: [{ value: { int: 1 } }] }],
    [{ map: [{ k: { int: 1 }, v: { int: 2 } }] }, {
      kind: "map",
      title: "Map of 1 entry",
      children: [{ key: { int: 1 }, value: { int: 2 } }],
    }],
    [{ constructor: 0, fields: [] }, { kind: "constructor", title: "Constructor 0", children: [] }],
    [{ constructor: 7, fields: [{ int: 1 }, { int: 2 }] }, {
      kind: "constructor",
      title: "Constructor 7, 2 fields",
      children: [{ value: { int: 1 } }, { value: { int: 2 } }],
    }],
    [{}, { kind: "unknown", text: "{}" }],
    [null, { kind: "unknown", text: "null" }],
  ])("%j", (json, node) => expect(plutusNode(json)).toEqual(node));

  it("keeps every digit of an integer", () => {
    expect(plutusNode({ int: -(2n ** 70n) })).toEqual({ kind: "int", text: "-1180591620717411303424" });
  });

  it("reads one level, however deep the data is", () => {
    let json: unknown = { int: 1 };
    for (let i = 0; i < 100_000; i++) json = { list: [json] };
    expect(plutusNode(json)).toMatchObject({ kind: "list", title: "List of 1 item" });
  });
});
